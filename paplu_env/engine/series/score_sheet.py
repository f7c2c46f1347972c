"""The score sheet of a series: who is in, each seat's score, who starts the next deal, and the result.

A deal adds to each seat's *total* what it lost by the deal: its return with the sign turned, so a drop, a
wrong declaration and a half or double count weigh what they cost, and a Paplu bonus is set off against
them. The winner of the deal adds 0 whatever it paid for Paplus, and nobody's total ever falls. *Points*
are the sums of the returns themselves. Nobody moves in a deal that is void or cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from paplu_env.engine.arguments import as_whole
from paplu_env.engine.series.format import SeriesFormat
from paplu_env.engine.state import NO_SEAT
from paplu_env.errors import InvalidRules, PapluError
from paplu_env.rules import RuleSet

SeriesEnding = Literal["unfinished", "decided", "split", "truncated"]

_STILL_IN: Final = 0  # as the deal after which a seat was out


@dataclass(frozen=True, kw_only=True)
class DealResult:
    """One line of a score sheet."""

    first: int  # seat that had the first turn
    active: tuple[int, ...]  # seats that were dealt in
    winner: int  # seat, -1 without one
    returns: tuple[int, ...]  # (P,) points of the deal, sum 0
    totals: tuple[int, ...]  # (P,) totals after it, those of seats that came back too
    out: tuple[int, ...]  # seats that are out after it
    rejoined: tuple[int, ...]  # seats that were out after it and came back


@dataclass
class ScoreSheet:
    """The score of one series, a function of the results it was given; equal sheets compare equal.

    Args:
        rules: of the table; see `SeriesFormat.table`.
        format: of the series.
        first: seat that has the first turn of the first deal.

    Raises:
        InvalidRules: there is no such seat.
    """

    rules: RuleSet
    format: SeriesFormat
    first: int = 0  # seat that has the first turn of the deal that is on, or comes next
    active: tuple[int, ...] = field(init=False)  # seats still in: those that are dealt in
    totals: list[int] = field(init=False)  # (P,) points lost
    points: list[int] = field(init=False)  # (P,) sums of the returns
    rejoins: list[int] = field(init=False)  # (P,) times that the seat came back
    results: list[DealResult] = field(init=False, default_factory=list)  # one per deal
    ending: SeriesEnding = field(init=False, default="unfinished")
    winners: tuple[int, ...] = field(init=False, default=())  # more than one in a pool that is split, or a tied session
    _out_after: list[int] = field(init=False, repr=False)  # (P,) number of the deal, from 1, after which a seat was out

    def __post_init__(self) -> None:
        players = self.rules.num_players
        if isinstance(self.first, bool) or not isinstance(self.first, int) or not 0 <= self.first < players:
            raise InvalidRules(f"first={self.first!r}: the seats of this table are 0..{players - 1}")
        self.active = tuple(range(players))
        self.totals, self.points, self.rejoins = [0] * players, [0] * players, [0] * players
        self._out_after = [_STILL_IN] * players

    def add(self, returns: Sequence[int] | npt.NDArray[np.integer], winner: int) -> None:
        """Write down a finished deal: who is out, who comes back, who starts the next, or how the series ends.

        Args:
            returns: ``(P,)`` points of the deal, as `engine.returns` gives them.
            winner: of the deal, -1 without one.

        Raises:
            PapluError: not the result of a deal between the seats still in, or the series is over.
        """
        if self.is_over:
            raise PapluError(f"the series is over ({self.ending}) after {len(self.results)} deals: it takes no more")
        each = self._checked(returns, winner)
        for seat in self.active:
            self.points[seat] += each[seat]
            if seat != winner:
                self.totals[seat] += max(0, -each[seat])
        dealt, number = self.active, len(self.results) + 1
        out = tuple(seat for seat in dealt if self.format.is_out(self.totals[seat]))
        rejoined = self._rejoin(out)
        self._leave([seat for seat in out if seat not in rejoined], number)
        leaders = self._leaders()
        if self.format.name == "deals" and number >= (self.format.num_deals or 0) and len(leaders) > 1:
            self._leave([seat for seat in dealt if seat not in leaders], number)  # the tied play on alone
        self.results.append(
            DealResult(
                first=self.first,
                active=dealt,
                winner=int(winner),
                returns=each,
                totals=tuple(self.totals),
                out=tuple(seat for seat in range(self.rules.num_players) if seat not in self.active),
                rejoined=rejoined,
            )
        )
        self._close(number)
        if not self.is_over:
            self.first = self.seat_after(self.first)

    def _checked(self, returns: Sequence[int] | npt.NDArray[np.integer], winner: int) -> tuple[int, ...]:
        players = self.rules.num_players
        try:
            each = tuple(as_whole(value) for value in returns)
            seat = as_whole(winner)
        except TypeError:
            raise PapluError(f"returns {returns!r}, winner {winner!r}: a deal ends in whole numbers") from None
        if len(each) != players or sum(each) != 0:
            raise PapluError(f"returns {list(each)}: give one number for each of {players} seats, their sum is 0")
        idle = [seat for seat in range(players) if seat not in self.active and each[seat]]
        if idle:
            raise PapluError(f"returns {list(each)}: seat {idle[0]} isn't in, so it can neither win nor lose points")
        if seat != NO_SEAT and seat not in self.active:
            raise PapluError(f"winner={seat}: the seats still in are {list(self.active)}, and -1 is nobody")
        return each

    def _rejoin(self, out: tuple[int, ...]) -> tuple[int, ...]:
        """Bring back seats that have just gone out, if the pool allows it; all or none, at one total.

        Nobody *else* are the seats that stay: seats that go out together don't keep each other out.
        """
        pool = self.format.pool
        if pool is None or not self.format.rejoin or not out:
            return ()
        highest = max(self.totals[seat] for seat in self.active if seat not in out)
        if highest > pool.rejoin_limit:
            return ()
        for seat in out:
            self.totals[seat] = highest + 1
            self.rejoins[seat] += 1
        return out

    def _leave(self, seats: Sequence[int], number: int) -> None:
        for seat in seats:
            self._out_after[seat] = number
        self.active = tuple(seat for seat in self.active if seat not in seats)

    def _close(self, number: int) -> None:
        """End the series if this deal was its last."""
        pool, leaders = self.format.pool, self._leaders()
        if pool is None:
            is_decided = number >= (self.format.num_deals or 0) and (self.format.name == "session" or len(leaders) == 1)
        else:
            leaders, is_decided = self.active, len(self.active) == 1
        if is_decided:
            self.ending, self.winners = "decided", leaders
        elif pool is not None and self.format.split and all(self.totals[s] >= pool.split_from for s in self.active):
            self.ending, self.winners = "split", self.active
        elif number == self.format.max_deals:
            self.ending = "truncated"

    def _leaders(self) -> tuple[int, ...]:
        """The seats still in with the best score."""
        if self.format.name == "session":
            best = max(self.points)
            return tuple(seat for seat in self.active if self.points[seat] == best)
        lowest = min(self.totals[seat] for seat in self.active)
        return tuple(seat for seat in self.active if self.totals[seat] == lowest)

    def seat_after(self, seat: int) -> int:
        """The seat that plays after this one, among those still in."""
        return self._next_in(seat, int(self.rules.packed["step"][0]))

    def _next_in(self, seat: int, step: int) -> int:
        players = self.rules.num_players
        seat = (seat + step) % players
        while seat not in self.active:
            seat = (seat + step) % players
        return seat

    @property
    def is_over(self) -> bool:
        """Whether no deal follows."""
        return self.ending != "unfinished"

    @property
    def dealer(self) -> int:
        """The seat that deals: the one still in before ``first``."""
        return self._next_in(self.first, -int(self.rules.packed["step"][0]))

    @property
    def scores(self) -> tuple[int, ...]:
        """``(P,)`` what the format ranks by: points in a session, where more is better, totals elsewhere."""
        return tuple(self.points if self.format.name == "session" else self.totals)

    @property
    def chips(self) -> tuple[int, ...] | None:
        """``(P,)`` chips in a series of deals: those brought along and the points won; None in other formats."""
        chips = self.format.starting_chips
        return None if chips is None else tuple(chips + points for points in self.points)

    def ranking(self) -> tuple[int, ...]:
        """``(P,)`` the place of each seat as it stands, 1 is best; equal seats share a place (1, 2, 2, 4).

        Seats still in come first, then those that went out later; among them the better score decides.
        """
        keys = [
            (-self.points[seat],)
            if self.format.name == "session"
            else (-(self._out_after[seat] or len(self.results) + 1), self.totals[seat])
            for seat in range(self.rules.num_players)
        ]
        return tuple(1 + sum(other < key for other in keys) for key in keys)

    def returns(self) -> npt.NDArray[np.float64]:
        """What the series brought each seat: 0 until it is over or if it was cut, sum 0 always.

        A session is worth its points. In the other formats every seat pays one entry and another for each
        time it came back, and the winners share them all: a winner has one entry of each other seat, and
        one for each of the others' rejoins.

        Returns:
            ``(P,)`` float64, points or entries.
        """
        if not self.winners:
            return np.zeros(self.rules.num_players)
        if self.format.name == "session":
            return np.array(self.points, dtype=np.float64)
        paid = 1.0 + np.array(self.rejoins)
        shares = np.zeros(self.rules.num_players)
        shares[list(self.winners)] = paid.sum() / len(self.winners)
        returns: npt.NDArray[np.float64] = shares - paid
        return returns
