"""Which kernels answer under which rules: the fast ones, or the search that knows every option.

Only that. Whether numbers fitted to games hold under some rules is another question, which their files answer.
"""

from __future__ import annotations

from paplu_env._jit import njit
from paplu_env.melds.bits import Rules
from paplu_env.melds.fast_distance.distance_table import MAX_PLACES, MIN_RUN


@njit
def has_fast_points(r: Rules) -> bool:
    """Whether `fast_points` answers for points and finish cards: under `RuleSet.has_standard_groups`."""
    return int(r["standard_groups"]) != 0


@njit
def has_fast_distance(r: Rules) -> bool:
    """Whether `fast_distance` answers for distance and outs under these rules; `any_options` does for all."""
    return not (
        int(r["tanala"]) != 0
        or int(r["min_pure_sequences"]) > 1
        or int(r["min_naturals"]) > 1
        or int(r["hand_size"]) > MAX_PLACES
        or int(r["special_hands"]) != 0
        # Beside a pure sequence there may be nothing but printed jokers, which are no group.
        or int(r["printed_jokers"]) >= int(r["hand_size"]) - MIN_RUN
        or sets_end_growth(r)
        or runs_crowd(r)
    )


@njit
def sets_end_growth(r: Rules) -> bool:
    """Whether a hand of pure sequences and sets may have no group that takes one more wild card."""
    return int(r["max_set_size"]) != 0 and int(r["min_sequences"]) == int(r["min_pure_sequences"])


@njit
def runs_crowd(r: Rules) -> bool:
    """Whether the places that sets leave for sequences may be filled by fewer and longer runs than are wanted."""
    return int(r["min_sequences"]) > int(r["min_pure_sequences"]) + 1
