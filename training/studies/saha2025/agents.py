"""The agents as the code of the study plays them: each deviation from BASELINES.md 2 is a switch of its own."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import as_int64, njit
from paplu_env.bots.published.kernels import RELATED
from paplu_env.cards import FACE_POINTS, PRINTED_JOKER
from paplu_env.melds.fast_distance.distance_kernels import discard_distances_kernel, distance_kernel
from paplu_env.melds.fast_points.deadwood_kernels import deadwood_kernel, points_kernel
from training.studies.saha2025.first_arrangement import MAX_HELD, Cards, first_arrangement

AGENTS: Final = ("minscore", "mindist", "mindist_minscore", "mindist_opp")
MINSCORE, MINDIST, MINDIST_MINSCORE, MINDIST_OPP = range(len(AGENTS))

# What the study's code does in another way than BASELINES.md 2 has it.
ONE_ARRANGEMENT: Final = 1  # left over is what lies outside the one arrangement that its search meets first
NEWEST: Final = 2  # of equal high cards the one held for the shortest time goes, of equal low ones the oldest
LOSES_CARDS: Final = 4  # after a pile pick the thrifty agents lose their lowest left-over card and show the oldest
PILE_HEIGHT: Final = 8  # what the opponent took is guessed from the height of the pile, often wrongly
AS_CODED: Final = ONE_ARRANGEMENT | NEWEST | LOSES_CARDS | PILE_HEIGHT
# After a drop the study's code counts the winner's own hand as well. Its published points don't: this would
# move those against `minscore`, which drops nearly half its hands, by more than twenty.
WINNER_PAYS: Final = 16
# By the name under which the experiment reports them; the last one means nothing without drops.
SWITCHES: Final = {
    "one arrangement": ONE_ARRANGEMENT,
    "newest first": NEWEST,
    "loses cards": LOSES_CARDS,
    "pile height": PILE_HEIGHT,
    "winner pays": WINNER_PAYS,
}

CAP: Final = 80  # points


@njit
def metric(
    agent: int,
    hand: Cards,
    counts: npt.NDArray[np.uint8],
    wild: int,
    after: npt.NDArray[np.uint8],
    switches: int,
    kept: int,
    r: Any,
    table: Any,
    scratch: Any,
) -> tuple[int, int]:
    """An agent's metric of fourteen cards after the best discard, and the places of the cards left over.

    Args:
        kept: a face of which a single copy may not be thrown, since it is the open card; -1: none.
    """
    if agent == MINSCORE:
        return points_after(hand, counts, wild, after, switches, kept, r, scratch)
    best = int(distance_kernel(counts, wild, r, table))
    if switches & ONE_ARRANGEMENT:
        left = int(first_arrangement(hand, as_int64(MAX_HELD), wild, best, as_int64(0), best + 1, scratch))
        if left >= 0:
            return best, left
    discard_distances_kernel(counts, wild, r, table, after)
    return best, _places_at(hand, counts, after, best, kept)


@njit
def points_after(
    hand: Cards,
    counts: npt.NDArray[np.uint8],
    wild: int,
    after: npt.NDArray[np.uint8],
    switches: int,
    kept: int,
    r: Any,
    scratch: Any,
) -> tuple[int, int]:
    """Points after the best discard, and the places of the cards left over.

    The study arranges all fourteen cards with as little left over as possible and throws the highest-value card of what
    is left.
    """
    if switches & ONE_ARRANGEMENT:
        least = int(deadwood_kernel(counts, wild, r))
        left = -1
        while left < 0:  # with groups of at most thirteen cards a little more may have to be left over
            left = int(first_arrangement(hand, as_int64(MAX_HELD), wild, as_int64(0), as_int64(1), least, scratch))
            least += 1
        thrown = _worth(int(hand[pick(hand, left, wild, True, switches)]), wild)
        return min(CAP, least - 1 - thrown), left
    best = 255
    for k in range(MAX_HELD):
        face = int(hand[k])
        if face == kept and int(counts[face]) == 1:
            after[face] = 255
            continue
        counts[face] -= 1
        after[face] = int(points_kernel(counts, wild, r))
        counts[face] += 1
        best = min(best, int(after[face]))
    return best, _places_at(hand, counts, after, best, kept)


@njit
def _places_at(hand: Cards, counts: npt.NDArray[np.uint8], after: npt.NDArray[np.uint8], best: int, kept: int) -> int:
    """Bits of the places whose card leaves the lowest metric when it is thrown."""
    places = 0
    for k in range(MAX_HELD):
        face = int(hand[k])
        if int(after[face]) == best and not (face == kept and int(counts[face]) == 1):
            places |= 1 << k
    return places


@njit
def _worth(face: int, wild: int) -> int:
    return 0 if wild >> face & 1 else int(FACE_POINTS[face])


@njit
def lowest_place(places: int) -> int:
    place = 0
    while not places >> place & 1:
        place += 1
    return place


@njit
def pick(hand: Cards, places: int, wild: int, is_highest: bool, switches: int) -> int:
    """The place of the card of highest or lowest value; of equals the newest or the oldest, or the lowest face."""
    chosen = -1
    for k in range(MAX_HELD):
        if not places >> k & 1:
            continue
        if chosen < 0:
            chosen = k
            continue
        gain = _worth(int(hand[k]), wild) - _worth(int(hand[chosen]), wild)
        gain = gain if is_highest else -gain
        is_first_of_equals = is_highest if switches & NEWEST else int(hand[k]) < int(hand[chosen])
        if gain > 0 or (gain == 0 and is_first_of_equals):
            chosen = k
    return chosen


@njit
def pick_safe(hand: Cards, places: int, wild: int, took: int, threw: int, switches: int) -> int:
    """The highest-value card that is related to what the other threw or to nothing that it took; if there is none, the
    highest-value card of all.
    """
    unwanted = related = 0
    for k in range(MAX_HELD):
        if not places >> k & 1:
            continue
        near = int(RELATED[int(hand[k])])
        if switches & PILE_HEIGHT:
            near &= ~(1 << PRINTED_JOKER)  # the study's printed joker is related to nothing
        if not near & took:
            unwanted |= 1 << k
        if near & threw:
            related |= 1 << k
    safe = unwanted | related
    if not safe:
        return pick(hand, places, wild, True, switches)
    chosen = pick(hand, safe, wild, True, switches)
    if switches & NEWEST and unwanted:  # the study puts these last, so they win ties
        other = pick(hand, unwanted, wild, True, switches)
        if _worth(int(hand[other]), wild) == _worth(int(hand[chosen]), wild):
            chosen = other
    return chosen


@njit
def count(hand: Cards, size: int, counts: npt.NDArray[np.uint8]) -> None:
    counts[:] = 0
    for k in range(size):
        counts[int(hand[k])] += 1
