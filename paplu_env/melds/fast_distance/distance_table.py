"""The most cards of one suit that sequences of a given total length can cover, for every holding of a suit.

A sequence of six or more splits into two, so sequences of three, four and five places are enough, and what
counts is only how many places they have together: 3 to 13 (two is room for none, and a hand has thirteen).
Eleven numbers of at most thirteen, then, for each of the ``3**13`` ways to hold none, one or two copies of a
suit's ranks: a *row* packs them into one int64, five bits a *lane*, the fifth bit kept clear, so that rows
are added, compared and joined lane by lane in ordinary integer arithmetic.

Two rows of different suits join by trying every way to share the places out: `join`. The table is built
once per process when it is first needed (a quarter of a second, 13 MB) and only read after that.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import lowest_bit, njit
from paplu_env.cards import NUM_RANKS

Table = npt.NDArray[np.int64]

MIN_RUN: Final = 3  # places of the shortest sequence
MAX_RUN: Final = 5  # places of the longest one that doesn't split
MAX_PLACES: Final = 13  # places of a whole hand
LANE: Final = 5  # bits of a lane: a number up to 13, and a clear bit above it
_LANES: Final = MAX_PLACES - MIN_RUN + 1  # the lane of ``places`` is the one numbered places - MIN_RUN
ONES: Final = sum(1 << LANE * lane for lane in range(_LANES))  # a one in every lane
CLEAR_BITS: Final = ONES << LANE - 1  # the fifth bit of every lane
_ROW: Final = (1 << LANE * _LANES) - 1  # all lanes

# A holding's place in the table is a number of base three, the ace its first digit, the king its last, so
# that taking a card away subtracts its weight.
WEIGHTS: Final[tuple[int, ...]] = tuple(3 ** (NUM_RANKS - 1 - rank) for rank in range(NUM_RANKS))
_HALF: Final = 7  # ranks whose weights are added up by one look into a list of 128
_LOW_SUMS: Final = tuple(
    sum(WEIGHTS[rank] for rank in range(_HALF) if ranks >> rank & 1) for ranks in range(1 << _HALF)
)
_HIGH_SUMS: Final = tuple(
    sum(WEIGHTS[_HALF + rank] for rank in range(NUM_RANKS - _HALF) if ranks >> rank & 1)
    for ranks in range(1 << NUM_RANKS - _HALF)
)

_building: Final = threading.Lock()


def distance_table() -> Table:
    """The table, ``(3**13,)`` int64, read-only: a row per holding. Built at the first call, then shared."""
    with _building:
        return _built_table()


@njit
def holding(ranks: int) -> int:
    """Place in the table of one copy of each rank in a mask; bit 13, the ace's second bit, is not looked at."""
    return _LOW_SUMS[ranks & ((1 << _HALF) - 1)] + _HIGH_SUMS[ranks >> _HALF & ((1 << NUM_RANKS - _HALF) - 1)]


def _larger(row: Any, other: Any) -> Any:
    """The larger number lane by lane, of two rows or of two arrays of rows."""
    is_less = ((row | CLEAR_BITS) - other) & CLEAR_BITS ^ CLEAR_BITS
    lanes = is_less - (is_less >> LANE - 1)
    return row ^ ((row ^ other) & lanes)


def _with_run(left: Any, length: int, covered: Any) -> Any:
    """The rows of what a run of ``length`` places leaves, and of the cards that it covers, taken together."""
    # Beside the run the lanes length .. length + 2 have no places for another.
    alone = ONES & (((1 << LANE * MIN_RUN) - 1) << LANE * (length - MIN_RUN))
    return (((left + covered * ONES) << LANE * length) & _ROW) + covered * alone


larger: Final[Callable[[int, int], int]] = njit(_larger)
with_run: Final[Callable[[int, int, int], int]] = njit(_with_run)


@njit
def lane(row: int, places: int) -> int:
    """Cards that this row covers with ``places`` places, 0..13."""
    if places < MIN_RUN:
        return 0
    return row >> LANE * (places - MIN_RUN) & ((1 << LANE) - 1)


@njit
def join(row: int, other: int, places: int) -> int:
    """The row of two groups of suits together, right up to the lane of ``places``."""
    joined = larger(row, other)
    if places < 2 * MIN_RUN:
        return joined
    # Only the places with which this row covers a card more than with one place fewer, lane by lane.
    rises = (row - (row << LANE)) & ((1 << LANE * (places - 2 * MIN_RUN + 1)) - 1)
    while rises:
        step = lowest_bit(rises) // LANE * LANE
        rises &= -1 << step + LANE
        cards = row >> step & ((1 << LANE) - 1)
        joined = larger(joined, ((other + cards * ONES) << step + LANE * MIN_RUN) & _ROW)
    return joined


@njit
def backwards(row: int) -> int:
    """The row with its lanes in the opposite order, for `covers`."""
    turned = row & ((1 << LANE) - 1) << LANE * (_LANES // 2)
    for near in range(_LANES // 2):
        step = LANE * (_LANES - 1 - 2 * near)
        low = ((1 << LANE) - 1) << LANE * near
        turned |= (row & low) << step | (row >> step & low)
    return turned


@njit
def covers(row: int, other: int, other_backwards: int, places: int, cards: int) -> bool:
    """Whether two groups of suits together cover ``cards`` cards with ``places`` places.

    With one row backwards, all ways to share the places out stand lane over lane: one addition tries them.
    """
    if cards <= 0:
        return True
    if cards > places:
        return False
    if lane(other, places) >= cards:
        return True
    return shares(row, other_backwards, places, cards) != 0


@njit
def shares(row: int, other_backwards: int, places: int, cards: int) -> int:
    """The ways to share ``places`` out among the row and the other that cover ``cards`` cards (0..16), a bit each."""
    if places < 2 * MIN_RUN:
        return int(lane(row, places) >= cards)
    within = row & ((1 << LANE * (places - MIN_RUN + 1)) - 1)
    sums = within + (other_backwards >> LANE * (MAX_PLACES + MIN_RUN - places))
    return (sums + ((1 << LANE - 1) - cards) * ONES) & CLEAR_BITS


@functools.cache
def _built_table() -> Table:
    """Fill the table from the king down, every holding from those without its lowest rank's first copy.

    That copy is left out, or it stands in a sequence: as its first card, since one that starts lower can be
    moved up (but for queen, king, ace), or, an ace, as its last.
    """
    table = np.zeros(3**NUM_RANKS, dtype=np.int64)
    for rank in reversed(range(NUM_RANKS)):
        weight = WEIGHTS[rank]
        above = np.arange(weight, dtype=np.int64)  # all holdings of the ranks above this one
        runs = [
            (length, *_without(above, [place for place in others if place < NUM_RANKS]))
            for length, others in _runs_with_lowest(rank)
        ]
        for copies in (1, 2):
            fewer = table[(copies - 1) * weight : copies * weight]
            best = fewer
            for length, covered, left in runs:
                best = _larger(best, _with_run(fewer[left], length, covered))
            table[copies * weight : (copies + 1) * weight] = best
    table.setflags(write=False)
    return table


def _runs_with_lowest(rank: int) -> list[tuple[int, range]]:
    """Length and other places (13 is the ace, high) of the runs in which a holding's lowest rank can stand."""
    lengths = range(MIN_RUN, MAX_RUN + 1)
    runs = [(length, range(rank + 1, rank + length)) for length in lengths if rank + length <= NUM_RANKS + 1]
    if rank == 0:
        runs += [(length, range(NUM_RANKS + 1 - length, NUM_RANKS)) for length in lengths]
    if rank == NUM_RANKS - 1:
        runs += [(MIN_RUN, range(0))]  # queen, king, ace with the king alone
    return runs


def _without(holdings: Table, ranks: list[int]) -> tuple[Table, Table]:
    """How many cards a run with these other ranks covers, its lowest card included, and what holdings it leaves."""
    covered = np.ones_like(holdings)
    left = holdings.copy()
    for rank in ranks:
        held = holdings // WEIGHTS[rank] % 3 > 0
        covered += held
        left -= held * WEIGHTS[rank]
    return covered, left
