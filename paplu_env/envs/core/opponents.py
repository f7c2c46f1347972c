"""Who sits at the other seats: line-ups read from what users write, and the pool a deal draws its own from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from paplu_env.bots import Policy, PolicyLike, make_policy
from paplu_env.errors import PapluError
from paplu_env.rules import RuleSet

SELF: Final = "self"  # as opponent: every seat is played from outside

Opponents = PolicyLike | Sequence[PolicyLike]  # one for all other seats, or one for each by relative seat


class LineUp:
    """The policies at the other seats of one deal: ``policies[r - 1]`` plays r turns after the learner."""

    def __init__(self, policies: tuple[Policy, ...]) -> None:
        self.policies = policies
        names = [policy.name for policy in policies]
        self.name = names[0] if len(set(names)) == 1 else ",".join(names)


def read_line_up(opponent: Opponents, rules: RuleSet) -> LineUp:
    """The line-up that a user names.

    Args:
        opponent: a bot by name, path or object, for every other seat; or a list of such, one for each
            seat after the learner's in the order of play.

    Raises:
        PapluError: unknown bots, or a list of the wrong length.
    """
    others = rules.num_players - 1
    if not isinstance(opponent, (list, tuple)):
        return LineUp((_read_policy(opponent, rules),) * others)
    if len(opponent) != others:
        raise PapluError(
            f"{len(opponent)} opponents for {rules.num_players} seats: give one for all others, or a list of {others}"
        )
    return LineUp(tuple(_read_policy(one, rules) for one in opponent))


def _read_policy(opponent: Opponents, rules: RuleSet) -> Policy:
    if not isinstance(opponent, (str, os.PathLike, Policy)):
        raise PapluError(f"opponent={opponent!r}: give a bot's name, a path, a policy, or a list of them")
    if opponent == SELF:
        raise PapluError('opponent="self" plays every seat from outside: it cannot be one of several opponents')
    return make_policy(opponent, rules)


class Pool:
    """Line-ups with weights, of which each deal draws one by its seed; it may change between deals.

    Line-ups are kept under a number for as long as a deal is on that was dealt with them.
    """

    line_ups: list[LineUp]
    names: npt.NDArray[np.object_]  # of the line-ups
    bounds: npt.NDArray[np.float64]  # rising to 1, see `kernels.draw_line_up`

    def __init__(self, line_ups: Sequence[LineUp], weights: Sequence[float] | None = None) -> None:
        self.line_ups = []
        self.set(line_ups, weights, in_use=np.empty(0, dtype=np.int64))

    def set(self, line_ups: Sequence[LineUp], weights: Sequence[float] | None, in_use: npt.NDArray[np.int64]) -> None:
        """Take new line-ups for deals to come.

        Args:
            weights: how often each is drawn, in any unit; equal without.
            in_use: numbers of line-ups that deals under way still need; renumbered in place.

        Raises:
            PapluError: no line-up, or weights that do not fit.
        """
        if not line_ups:
            raise PapluError("no opponents: give at least one")
        try:
            shares = np.ones(len(line_ups)) if weights is None else np.asarray(weights, dtype=np.float64)
        except (TypeError, ValueError):
            raise PapluError(f"opponent weights {weights!r}: give a number for each opponent") from None
        if shares.shape != (len(line_ups),):
            raise PapluError(f"{len(line_ups)} opponents need as many weights, not {shares.shape}")
        if not np.all(np.isfinite(shares)) or shares.min() < 0 or shares.sum() <= 0:
            raise PapluError(f"opponent weights {shares.tolist()}: they must be 0 or more, and not all 0")
        kept = np.unique(in_use)
        self.line_ups = [*line_ups, *(self.line_ups[int(number)] for number in kept)]
        self.names = np.array([line_up.name for line_up in self.line_ups], dtype=object)
        in_use[:] = len(line_ups) + np.searchsorted(kept, in_use)
        self.bounds = np.cumsum(shares / shares.sum())
        # Rounding must never leave a gap above the last opponent that has a weight.
        self.bounds[np.flatnonzero(shares)[-1] :] = 1.0
