"""`search`: determinized Monte Carlo, the same likely worlds played on after each of a few candidates."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from paplu_env.bots.outs.agent import OutsAgent
from paplu_env.bots.policy import Policy
from paplu_env.bots.search.budget import DEFAULT_WORLDS, search_name
from paplu_env.bots.search.improve import Comparison, OneStepImprovement, two_seat_rules
from paplu_env.bots.search.kernels import MAX_CANDIDATES, NUM_TALLIES, candidates_kernel, search_kernel
from paplu_env.bots.search.leaf_value import has_fitted_value, shipped_value
from paplu_env.bots.search.playout_policy import SCRATCH_ROWS, TO_THE_END
from paplu_env.bots.search.solver_cache import new_solver_cache
from paplu_env.cards import NUM_FACES
from paplu_env.engine.state import Views, empty_states
from paplu_env.errors import InvalidHand, PapluError
from paplu_env.melds.fast_distance.distance_table import distance_table
from paplu_env.rules import RuleSet

# Of 1, 2, 3 and 5 turns, and of thresholds up to 2.5, the best by what the moves chosen in 2,187 positions of played
# deals bring when the player of `playout_policy` goes on from the deal as it lay; 5 turns were as good and take half
# as long again.
_TURNS: Final = 3  # turns played on before the value is asked
THRESHOLD: Final = 0.5  # standard errors by which a gain must exceed zero
_WORLDS_BETWEEN_LOOKS_AT_THE_CLOCK: Final = 4  # a few milliseconds


class SearchAgent(OneStepImprovement):
    """Leaves its base policy's move where the likely worlds say, with some certainty, that another is better.

    Every decision is searched, drops and draws included, unless there is nothing to compare: a complete hand is
    declared, and an open card that completes one is taken. With thirteen cards and two packs the play is cut after a
    few turns and the rest is a fitted value; elsewhere it goes on to the end, which takes several times as long.

    Args:
        rules: of a table for two.
        worlds: worlds per decision, at most: clear cases stop earlier. The answer is a function of the view, the
            key and this number.
        milliseconds: if given, the search goes on for this time instead, still in at most ``worlds``. Then the
            answer depends on the machine and its load and is **not reproducible**.
        base: made for the same rules; `OutsAgent` if not given.
        threshold: standard errors by which a gain must exceed zero.
        turns: turns played on, the one under way included, before the fitted value is asked; the measured best if
            not given.

    Raises:
        PapluError: numbers out of range, or a table of more seats.
        PolicyMismatch: a base made for other rules.
    """

    def __init__(
        self,
        rules: RuleSet | str = "points",
        worlds: int = DEFAULT_WORLDS,
        milliseconds: float | None = None,
        base: Policy | None = None,
        threshold: float = THRESHOLD,
        turns: int | None = None,
        name: str | None = None,
    ) -> None:
        rules = two_seat_rules(rules, "search")
        if turns is not None and turns < 1:
            raise PapluError(f"turns={turns}: at least the turn under way is played")
        super().__init__(
            name or search_name(worlds, milliseconds),
            rules,
            OutsAgent(rules) if base is None else base,
            threshold,
            worlds,
            milliseconds,
        )
        if turns is None:
            turns = _TURNS if has_fitted_value(self.rules) else TO_THE_END
        self.turns = turns

    def _compare(self, views: Views, j: int, mask: npt.NDArray[np.bool_], key: np.uint64, base: int) -> Comparison:
        table, packed, states = distance_table(), self.rules.packed, empty_states(self.rules, 2)
        scratch, cache = np.empty((SCRATCH_ROWS, NUM_FACES), dtype=np.uint8), new_solver_cache(self.rules)
        tally = np.zeros((NUM_TALLIES, MAX_CANDIDATES), dtype=np.float64)
        actions, count = self._candidates(views, j, mask, base)
        if count > 1:
            # The kernel looks at the tally by itself; only a clock makes it come back earlier.
            portion = self.worlds if self.milliseconds is None else _WORLDS_BETWEEN_LOOKS_AT_THE_CLOCK
            for first, last in self._portions(portion):
                settled = search_kernel(
                    views, j, key, first, last, actions, count, self.turns, shipped_value(), packed, table, states,
                    tally, cache, scratch,
                )  # fmt: skip
                if settled < 0:
                    raise InvalidHand(f"view {j}: its cards do not add up to the pack of {self.rules}")
                if settled:
                    break
        return self._comparison(actions[:count], tally)

    def _candidates(
        self, views: Views, j: int, mask: npt.NDArray[np.bool_], base: int
    ) -> tuple[npt.NDArray[np.int64], int]:
        """The actions to compare in view ``j``, the base's first, ``(MAX_CANDIDATES,)``, and how many they are."""
        actions, scratch = np.zeros(MAX_CANDIDATES, dtype=np.int64), np.empty((SCRATCH_ROWS, NUM_FACES), dtype=np.uint8)
        count = candidates_kernel(views, j, mask, base, self.rules.packed, distance_table(), actions, scratch)
        return actions, int(count)
