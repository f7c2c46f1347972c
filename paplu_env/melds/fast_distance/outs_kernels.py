"""The unseen cards that bring a hand nearer to complete, of thirteen cards and after each good discard.

A face is an out when a hand that draws it and then discards has a smaller distance than before. In the
words of `distance`: some layout of the hand has an open place for the face, leaves as many natural cards
without a place as the distance says (one of them is thrown now), and, with the face, has fewer open places
in its pure sequence than that. Where the pure sequence doesn't matter these are the faces that raise the
cover, and every wild face: it pays for one gap more. Where it does, each run that can be the pure sequence is
laid in turn, and the same is asked of the other groups.

After a discard the same layouts are asked for that don't hold the card thrown, all discards at once: `note_gains`
notes the faces by the card thrown, and thirteen cards are the case that nothing is thrown.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paplu_env._jit import lowest_bit, njit, popcount
from paplu_env.cards import NUM_FACES, PRINTED_JOKER, Counts
from paplu_env.melds.any_options.distance_search import general_distance, general_outs
from paplu_env.melds.bits import FIELD, Rules, suit_of
from paplu_env.melds.dispatch import has_fast_distance
from paplu_env.melds.fast_distance.cover import most_covered, reaching_runs, spare_faces
from paplu_env.melds.fast_distance.distance_kernels import (
    covered_by_all,
    discard_distances_kernel,
    discard_distances_of,
    level_of,
    pure_matters,
)
from paplu_env.melds.fast_distance.distance_table import MAX_RUN, MIN_RUN, Table
from paplu_env.melds.fast_distance.naturals import (
    Hand,
    Naturals,
    open_runs,
    read_hand,
    run_at,
    run_faces,
    with_solid_end,
    without_run,
)
from paplu_env.melds.fast_distance.outs_by_discard import NOTHING, Gained, note_gains


@njit
def outs_kernel(
    counts: Counts,
    wild: int,
    unseen: npt.NDArray[np.uint8],
    r: Rules,
    table: Table,
    out: npt.NDArray[np.uint8],
) -> int:
    """Unseen copies of each face that lowers the distance of thirteen cards; none at distance 0.

    Args:
        unseen: ``(53,)`` uint8, copies of each face that the player hasn't seen.
        out: ``(53,)`` uint8, filled.

    Returns:
        The distance.
    """
    asked = _asked(counts, unseen, r)
    if not has_fast_distance(r):
        level = general_distance(counts, wild, r, table)
        outs = general_outs(counts, wild, asked, level, r, table)
    else:
        hand = read_hand(counts, wild, r)
        covered = covered_by_all(hand, r, table)
        level = level_of(hand, covered, r, table)
        gained = np.zeros(NOTHING + 1, dtype=np.int64)
        _note_outs(hand, covered, wild, level, 1 << NOTHING, asked, r, table, gained)
        outs = int(gained[NOTHING])
    for face in range(NUM_FACES):
        out[face] = unseen[face] if outs >> face & 1 else 0
    return level


@njit
def discard_outs_kernel(
    counts: Counts,
    wild: int,
    unseen: npt.NDArray[np.uint8],
    r: Rules,
    table: Table,
    distances: npt.NDArray[np.uint8],
    totals: npt.NDArray[np.uint8],
) -> int:
    """Distance after each discard from fourteen cards, and how many outs it leaves where that is the lowest.

    Args:
        unseen: ``(53,)`` uint8, copies of each face that the player hasn't seen.
        distances: ``(53,)`` uint8, filled as by `discard_distances_kernel`.
        totals: ``(53,)`` uint8, filled with the outs after throwing each face, counted by copies; 0 for a
            face that isn't held or leaves more than the lowest distance.

    Returns:
        The lowest distance.
    """
    gained = np.zeros(NOTHING + 1, dtype=np.int64)
    lowest = discard_faces_kernel(counts, wild, _asked(counts, unseen, r), r, table, distances, gained)
    _count_outs(unseen, _faces_at(distances, lowest), gained, totals)
    return lowest


@njit
def outs_after_kernel(
    counts: Counts,
    wild: int,
    unseen: npt.NDArray[np.uint8],
    r: Rules,
    table: Table,
    lowest: int,
    thrown: int,
    totals: npt.NDArray[np.uint8],
) -> None:
    """How many outs some discards from fourteen cards leave.

    Args:
        unseen: ``(53,)`` uint8, copies of each face that the player hasn't seen.
        lowest: the lowest distance after a discard.
        thrown: mask of faces that leave this distance.
        totals: ``(53,)`` uint8, filled with the outs after throwing each of them, counted by copies; 0 for others.
    """
    gained, asked = np.zeros(NOTHING + 1, dtype=np.int64), _asked(counts, unseen, r)
    if not has_fast_distance(r):
        _note_general_outs(counts, wild, lowest, thrown, asked, r, table, gained)
    else:
        hand = read_hand(counts, wild, r)
        _note_outs(hand, covered_by_all(hand, r, table), wild, lowest, thrown, asked, r, table, gained)
    _count_outs(unseen, thrown, gained, totals)


@njit
def _count_outs(unseen: npt.NDArray[np.uint8], thrown: int, gained: Gained, totals: npt.NDArray[np.uint8]) -> None:
    """Fill ``totals`` with the unseen copies of the faces noted for each card thrown, 0 for the others."""
    for face in range(NUM_FACES):
        totals[face] = 0
    while thrown:
        face = lowest_bit(thrown)
        thrown &= thrown - 1
        outs = int(gained[face])
        total = 0
        while outs:
            total += int(unseen[lowest_bit(outs)])
            outs &= outs - 1
        totals[face] = total


@njit
def discard_faces_kernel(
    counts: Counts,
    wild: int,
    asked: int,
    r: Rules,
    table: Table,
    distances: npt.NDArray[np.uint8],
    gained: Gained,
) -> int:
    """Distance after each discard from fourteen cards, and which faces are outs where that is the lowest.

    Args:
        asked: mask of the faces that are asked about, none of which all copies are held.
        distances: ``(53,)`` uint8, filled as by `discard_distances_kernel`.
        gained: ``(54,)`` zeros; of each face whose discard leaves the lowest distance the mask of its outs is added.

    Returns:
        The lowest distance.
    """
    if not has_fast_distance(r):
        lowest = discard_distances_kernel(counts, wild, r, table, distances)
        _note_general_outs(counts, wild, lowest, _faces_at(distances, lowest), asked, r, table, gained)
    else:
        hand = read_hand(counts, wild, r)
        covered = covered_by_all(hand, r, table)
        lowest = discard_distances_of(hand, covered, wild, r, table, distances)
        _note_outs(hand, covered, wild, lowest, _faces_at(distances, lowest), asked, r, table, gained)
    return lowest


@njit
def _faces_at(distances: npt.NDArray[np.uint8], level: int) -> int:
    """Mask of the faces whose discard leaves this distance."""
    faces = 0
    for face in range(NUM_FACES):
        faces |= 1 << face if int(distances[face]) == level else 0
    return faces


@njit
def _asked(counts: Counts, unseen: npt.NDArray[np.uint8], r: Rules) -> int:
    """Mask of the faces that may still be drawn: those unseen and not held in all copies."""
    asked = 0
    for face in range(NUM_FACES):
        if int(unseen[face]) > 0 and (face == PRINTED_JOKER or int(counts[face]) < int(r["num_decks"])):
            asked |= 1 << face
    return asked


@njit
def _note_general_outs(
    counts: Counts, wild: int, level: int, thrown: int, asked: int, r: Rules, table: Table, gained: Gained
) -> None:
    """`_note_outs` under the options that are searched, a discard at a time."""
    left = counts.copy()
    while thrown and level:
        face = lowest_bit(thrown)
        thrown &= thrown - 1
        left[face] -= 1
        gained[face] = general_outs(left, wild, asked, level, r, table)
        left[face] += 1


@njit
def _note_outs(
    hand: Hand,
    covered: int,
    wild: int,
    level: int,
    thrown: int,
    asked: int,
    r: Rules,
    table: Table,
    gained: Gained,
) -> None:
    """Note for each card thrown the asked faces that lower the distance from ``level``.

    Args:
        hand: ``hand.needed`` of its natural cards are to cover once a natural card, or nothing, has been thrown.
        covered: the most natural cards that can be covered.
        thrown: mask of the faces that leave this distance, or of `NOTHING`.
        gained: ``(54,)``, added to.
    """
    if level == 0:
        return
    naturals, needed = hand.naturals, hand.needed
    size, for_runs = int(r["hand_size"]), MIN_RUN * int(r["min_sequences"])
    if not pure_matters(level - 1, needed - 1, covered, r):
        note_gains(naturals, size, for_runs, covered, thrown, asked & ~wild, asked & wild, table, gained)
        return
    # Where natural cards without a place keep the distance up, what lowers it raises the cover, with any pure
    # sequence: ask that once, and of each sequence only what is still open.
    bound = np.full(NOTHING + 1, -1, dtype=np.int64)
    if level > 1 and needed - covered == level:
        bound[:] = 0
        note_gains(naturals, size, for_runs, covered, thrown, asked & ~wild, asked & wild, table, bound)
    runs = with_solid_end(open_runs(hand.ones, level), hand.ones)  # of two ends without a card no face fills both
    runs = reaching_runs(naturals, runs, size, for_runs, needed - level, table)
    for length in range(MIN_RUN, MAX_RUN + 1):
        starts = runs[length - MIN_RUN]
        while starts:
            suit, start = lowest_bit(starts) // FIELD, lowest_bit(starts) % FIELD
            starts &= starts - 1
            asked &= _open_faces(thrown, bound, gained)
            if asked == 0:
                return
            run = run_at(start, length)
            gaps = run & ~suit_of(hand.ones, suit)
            ends = gaps & (run & -run | 1 << start + length - 1)
            joining = asked & run_faces(gaps, suit)
            rest, places = without_run(naturals, suit, run), size - length
            goal = needed - level - popcount(suit_of(naturals[0], suit) & run)
            own = run_faces(run & suit_of(hand.ones, suit) & ~suit_of(hand.twos, suit), suit)
            if length > MIN_RUN and ends:
                # The shorter run serves every face but the one that comes to this end.
                _note_joining(
                    rest, places, for_runs, goal, thrown & ~own, joining & run_faces(ends, suit), wild, table, gained
                )
            elif popcount(gaps) == level:
                _note_joining(rest, places, for_runs, goal, thrown & ~own, joining, wild, table, gained)
            else:
                always = joining | asked & wild
                note_gains(rest, places, for_runs - MIN_RUN, goal, thrown & ~own, asked & ~wild, always, table, gained)


@njit
def _open_faces(thrown: int, bound: Gained, gained: Gained) -> int:
    """The faces within some thrown card's bound that haven't been noted for it."""
    faces = 0
    while thrown:
        face = lowest_bit(thrown)
        thrown &= thrown - 1
        faces |= int(bound[face]) & ~int(gained[face])
    return faces


@njit
def _note_joining(
    rest: Naturals,
    places: int,
    for_runs: int,
    goal: int,
    thrown: int,
    joining: int,
    wild: int,
    table: Table,
    gained: Gained,
) -> None:
    """Note faces that fill a gap of the pure sequence for the cards without which the rest still covers the goal."""
    if thrown >> NOTHING & 1:
        gained[NOTHING] = int(gained[NOTHING]) | joining
        return
    open_thrown = 0
    while thrown:
        bit = thrown & -thrown
        thrown &= thrown - 1
        open_thrown |= bit if joining & ~int(gained[lowest_bit(bit)]) else 0
    if open_thrown == 0:
        return
    if most_covered(rest, places, for_runs - MIN_RUN, goal, table) == goal:
        open_thrown = spare_faces(rest, places, for_runs - MIN_RUN, goal, open_thrown & ~wild, table)
    while open_thrown:
        face = lowest_bit(open_thrown)
        open_thrown &= open_thrown - 1
        gained[face] = int(gained[face]) | joining
