"""What runs can do with the cards of one suit, tabulated for every set of ranks held.

A run here is any sequence of three to five positions, cards at their own places and gaps to be paid with
wild cards; a longer one is two of these. Where a run passes a rank that is held it uses that card: a wild
card there could change places with it. So a set of ranks, 13 bits, has one best answer for each number of
wild cards, found from the lowest card up: it is left over, or lies in a run together with all that the run
passes.

The tables are small (64 and 16 KiB, mostly the corner of few cards) and know one copy of each rank. Beside a
pure run thirteen or fourteen cards have room for three other groups, so two copies of a rank in runs means
one run beside at most two that don't meet: `savings_of` and `cost` try that one run.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import lowest_bit, njit, popcount
from paplu_env.cards import NUM_RANKS, RANK_POINTS
from paplu_env.melds.bits import SUIT_RANKS, closed, point_sum

# Eleven cards at most lie beside a pure run: with more wild cards than this no four are natural, and each gets two.
MOST_WILD: Final = 7
BYTE: Final = 0xFF
IMPOSSIBLE: Final = 64  # a cost above any number of wild cards

_RUN_LENGTHS: Final = (3, 4, 5)
_PLACES: Final = NUM_RANKS + 1  # the ace has two
# Every run by its places, 14 bits; then with both bits of its ace; then its length.
_RUNS: Final = [
    ((1 << length) - 1 << start, length) for length in _RUN_LENGTHS for start in range(_PLACES - length + 1)
]


def _close(run: int) -> int:
    """A run with both bits of its ace."""
    return run | (run & 1) << NUM_RANKS | run >> NUM_RANKS


RUN_PLACES: Final[npt.NDArray[np.int64]] = np.array([run for run, _ in _RUNS], dtype=np.int64)
RUN_CLOSED: Final[npt.NDArray[np.int64]] = np.array([_close(run) for run, _ in _RUNS], dtype=np.int64)
RUN_LENGTH: Final[npt.NDArray[np.int64]] = np.array([length for _, length in _RUNS], dtype=np.int64)
NUM_RUNS: Final = len(_RUNS)


def _tabulate() -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """`SAVINGS` and the costs, all sets with the same lowest card at once, kings first."""
    points = np.zeros((MOST_WILD + 1, 1 << NUM_RANKS), dtype=np.int64)
    cost = np.zeros(1 << NUM_RANKS, dtype=np.int64)
    number, value = np.zeros(1 << NUM_RANKS, dtype=np.int64), np.zeros(1 << NUM_RANKS, dtype=np.int64)
    for rank in range(NUM_RANKS):
        held = np.arange(1 << NUM_RANKS) >> rank & 1
        number += held
        value += RANK_POINTS[rank] * held
    for lowest in reversed(range(NUM_RANKS)):
        held = np.arange(1 << lowest, 1 << NUM_RANKS, 2 << lowest)
        best, least = points[:, held ^ 1 << lowest], np.full(held.shape, IMPOSSIBLE)
        for run, length in _RUNS:
            if not _close(run) >> lowest & 1:
                continue
            used = held & _close(run)
            gaps = length - number[used]
            least = np.minimum(least, gaps + cost[held ^ used])
            for wild in range(MOST_WILD + 1):
                left = wild - gaps
                reached = value[used] + points[np.maximum(left, 0), held ^ used]
                best[wild] = np.maximum(best[wild], np.where(left >= 0, reached, 0))
        points[:, held], cost[held] = best, least
    packed = np.zeros(1 << NUM_RANKS, dtype=np.int64)
    for wild in range(MOST_WILD + 1):
        packed |= points[wild] << 8 * wild
    return packed, cost


def _after_removal(cost: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The least of these costs when one of the ranks is taken away."""
    least = np.full(cost.shape, NO_COST)
    for rank in range(NUM_RANKS):
        held = np.flatnonzero(np.arange(1 << NUM_RANKS) >> rank & 1)
        least[held] = np.minimum(least[held], cost[held ^ 1 << rank])
    return least


def _pack_costs(cost: npt.NDArray[np.int64]) -> npt.NDArray[np.uint16]:
    """`COST`: four costs in one number."""
    thrown = _after_removal(cost)
    one = np.minimum(cost, thrown)
    two = np.minimum(one, _after_removal(one))
    return (cost | thrown << AFTER_THROW | one << WITHOUT_ONE | two << WITHOUT_TWO).astype(np.uint16)


# SAVINGS[held]: byte g is the most points that runs can take from these ranks with g wild cards, at most 94.
# COST[held]: four bits each, the fewest wild cards with which runs take all of these ranks, all but some
# one of them, all but at most one, all but at most two.
AFTER_THROW: Final = 4
WITHOUT_ONE: Final = 8
WITHOUT_TWO: Final = 12
NO_COST: Final = 15  # nothing to throw; the highest cost is 6
_TABLES: Final = _tabulate()
SAVINGS: Final = _TABLES[0]
COST: Final = _pack_costs(_TABLES[1])
SAVINGS.setflags(write=False)
COST.setflags(write=False)


@njit
def savings_of(ones: int, twos: int, num_wild: int) -> int:
    """Most points that runs take from a suit with 0, 1, … wild cards, a byte each as in `SAVINGS`.

    Args:
        ones: the suit's field of cards held at least once, both bits of an ace.
        twos: the same of those held twice.
        num_wild: bytes above this one may be too low.
    """
    best = int(SAVINGS[ones & SUIT_RANKS])
    # Two runs through one rank are six cards.
    if twos == 0 or popcount(ones & SUIT_RANKS) + popcount(twos & SUIT_RANKS) + num_wild < 6:
        return best
    return _savings_with_second_run(ones, twos, num_wild, best)


@njit
def _savings_with_second_run(ones: int, twos: int, num_wild: int, best: int) -> int:
    """Every run through a doubled rank, and the tabulated best of what it leaves."""
    for run in range(NUM_RUNS):
        places = int(RUN_PLACES[run])
        gaps = int(RUN_LENGTH[run]) - popcount(places & ones)
        if places & twos == 0 or gaps > num_wild:
            continue
        taken = int(RUN_CLOSED[run])
        gain = point_sum(ones & taken)
        rest = int(SAVINGS[(ones & ~taken | twos & taken) & SUIT_RANKS])
        for wild in range(gaps, num_wild + 1):
            shift = 8 * wild
            reached = gain + (rest >> 8 * (wild - gaps) & BYTE)
            if reached > best >> shift & BYTE:
                best = best & ~(BYTE << shift) | reached << shift
    return best


@njit
def cost(ones: int, twos: int) -> int:
    """Fewest wild cards with which runs take all cards of a suit's fields; `IMPOSSIBLE` if nothing does."""
    if twos == 0:
        return int(COST[ones & SUIT_RANKS]) & NO_COST
    best = _cost_with_second_run(ones, twos, twos & SUIT_RANKS)
    if twos & 1:
        best = min(best, _cost_with_second_run(ones, twos, twos & ~1))
    return best


@njit
def _cost_with_second_run(ones: int, twos: int, doubled: int) -> int:
    """Every run through all doubled ranks, an ace at the one place given, and the tabulated cost of the rest."""
    best = IMPOSSIBLE
    lowest = lowest_bit(doubled)
    for length in range(3, 6):
        for start in range(max(0, lowest - length + 1), min(lowest, _PLACES - length) + 1):
            run = ((1 << length) - 1) << start
            if doubled & ~run == 0:
                gaps = length - popcount(run & ones)
                rest = (ones & ~closed(run) | twos) & SUIT_RANKS
                best = min(best, gaps + (int(COST[rest]) & NO_COST))
    return best


@njit
def add_savings(one: int, other: int, num_wild: int) -> int:
    """The best of two suits together for 0, 1, … wild cards: bytes as in `savings_of`, up to ``num_wild``."""
    both = 0
    for wild in range(num_wild + 1):
        best = 0
        for share in range(wild + 1):
            best = max(best, (one >> 8 * share & BYTE) + (other >> 8 * (wild - share) & BYTE))
        both |= best << 8 * wild
    return both
