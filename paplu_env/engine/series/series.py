"""A series: deals with running scores, played one after the other on one row of states.

Everything follows from (rules, format, seed, first seat) and the actions. Deal number ``k``, from 0, is
dealt from the seed ``chance.mix(seed, 2**32 + k)``, so that a series can share its seed with other uses
of `chance.mix`, which take small numbers.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from paplu_env.engine.arguments import as_seed
from paplu_env.engine.chance import Purpose, mix
from paplu_env.engine.dealing import deal_into
from paplu_env.engine.scoring import is_over, returns
from paplu_env.engine.series.format import SeriesFormat, as_series
from paplu_env.engine.series.score_sheet import ScoreSheet
from paplu_env.engine.state import NO_SEAT, States, empty_states
from paplu_env.engine.transition import apply_action
from paplu_env.errors import IllegalAction, PapluError
from paplu_env.rules import RuleSet


class Series:
    """A series under way: its score sheet and the deal that is on.

    A deal that ends is written on the sheet at once and stays on the table, for whoever wants to look at
    it, until `next_deal`. Copies (`copy.deepcopy`, pickles) go on alike, and equal series compare equal.

    Args:
        rules: of the table, in any form that `as_rules` reads; a pool puts its own prices in place of the
            default game's.
        format: "pool_101", "deals:num_deals=3", … in any form that `as_series` reads.
        seed: 0..2**64-1; all deals follow from it.
        first: seat that has the first turn of the first deal.

    Raises:
        InvalidRules: unknown rules, format or seat, or rules that contradict the format.
    """

    states: States  # (1,), the deal that is on or has just ended
    sheet: ScoreSheet  # scores, seats still in, results

    def __init__(
        self,
        rules: RuleSet | str | Mapping[str, Any] = "points",
        format: SeriesFormat | str | Mapping[str, Any] = "pool_101",
        seed: int = 0,
        first: int = 0,
    ) -> None:
        chosen = as_series(format)
        self.sheet = ScoreSheet(chosen.table(rules), chosen, first)
        self.seed = int(as_seed(seed))
        self.states = empty_states(self.rules, 1)
        self._deal()

    @property
    def rules(self) -> RuleSet:
        """The rules of every deal, a pool's prices put in."""
        return self.sheet.rules

    @property
    def format(self) -> SeriesFormat:
        """The format of the series."""
        return self.sheet.format

    @property
    def deal_number(self) -> int:
        """Number, from 0, of the deal in ``states``."""
        return self._dealt - 1

    @property
    def is_deal_over(self) -> bool:
        """Whether the deal in ``states`` has ended."""
        return is_over(self.states, 0)

    @property
    def is_over(self) -> bool:
        """Whether the last deal has been written down."""
        return self.sheet.is_over

    @property
    def is_truncated(self) -> bool:
        """Whether the series was cut at ``max_deals`` without a result."""
        return self.sheet.ending == "truncated"

    @property
    def active(self) -> tuple[int, ...]:
        """Seats still in the series."""
        return self.sheet.active

    @property
    def scores(self) -> tuple[int, ...]:
        """``(P,)`` running scores, see `ScoreSheet.scores`."""
        return self.sheet.scores

    @property
    def current_player(self) -> int:
        """The seat to move, -1 between deals and at the end."""
        return int(self.states["current_player"][0])

    def ranking(self) -> tuple[int, ...]:
        """``(P,)`` places, see `ScoreSheet.ranking`."""
        return self.sheet.ranking()

    def returns(self) -> npt.NDArray[np.float64]:
        """``(P,)`` what the series brought each seat, see `ScoreSheet.returns`."""
        return self.sheet.returns()

    def apply(self, action: int) -> None:
        """Do an action for the seat to move; the deal that it ends is written down.

        Raises:
            IllegalAction: it may not be done; nothing has changed then.
        """
        if self.is_deal_over:
            what = "the series is over" if self.is_over else "the deal is over: next_deal() deals the next one"
            raise IllegalAction(f"action {action}: {what}")
        apply_action(self.states, 0, action, self.rules)
        if is_over(self.states, 0):
            self.settle()

    def settle(self) -> None:
        """Write down the deal that has just ended; for those who play the row of ``states`` by kernels.

        Raises:
            PapluError: the deal is on, or written down already.
        """
        if not self.is_deal_over:
            seat = self.current_player
            raise PapluError(f"deal {self.deal_number} is on, seat {seat} is to move: play it to its end first")
        if len(self.sheet.results) == self._dealt:
            raise PapluError(f"deal {self.deal_number} is written down already")
        self.sheet.add(returns(self.states, 0), int(self.states["winner"][0]))

    def next_deal(self) -> None:
        """Deal the next deal of a series that is not over, into the same row.

        Raises:
            PapluError: the series is over, or a deal is on or not yet written down.
        """
        if self.is_over:
            raise PapluError(f"the series is over ({self.sheet.ending}): there is no next deal")
        if len(self.sheet.results) < self._dealt:
            raise PapluError(f"deal {self.deal_number} is not written down yet: play it to its end first")
        self._deal()

    def _deal(self) -> None:
        self._dealt = len(self.sheet.results) + 1
        deal_into(self.states, 0, self.rules, deal_seed(self.seed, self.deal_number), self.sheet.first, self.active)

    def copy(self) -> Series:
        """A series of its own that goes on from here."""
        return copy.deepcopy(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Series):
            return NotImplemented
        return (self.seed, self.deal_number, self.sheet) == (
            other.seed,
            other.deal_number,
            other.sheet,
        ) and self.states.tobytes() == other.states.tobytes()

    __hash__ = None  # type: ignore[assignment]  # it changes with every action

    def __repr__(self) -> str:
        mover = "between deals" if self.current_player == NO_SEAT else f"seat {self.current_player} to move"
        state = self.sheet.ending if self.is_over else f"deal {self.deal_number}, {mover}"
        return f"<Series {self.format} of {self.rules}: {state}, scores {list(self.scores)}>"


def deal_seed(seed: int, number: int) -> int:
    """The seed of a series' deal number ``number``, from 0."""
    return int(mix(np.uint64(seed), np.uint64(Purpose.SERIES_DEAL + number)))
