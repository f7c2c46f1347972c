"""The unseen cards that bring a hand nearer to complete, of thirteen cards and after each good discard.

A face is an out when a hand that draws it and then discards has a smaller distance than before. In the
words of `distance`: some layout of the hand has an open place for the face, leaves as many natural cards
without a place as the distance says (one of them is thrown now), and, with the face, has fewer open places
in its pure sequence than that. Where the pure sequence doesn't matter these are the faces that raise the
cover, and every wild face: it pays for one gap more.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paplu_env._jit import lowest_bit, njit, popcount
from paplu_env.cards import NUM_FACES, NUM_SUITS, PRINTED_JOKER, Counts
from paplu_env.melds.bits import FACE_BITS, Rules, suit_of, words_of
from paplu_env.melds.cover import COUNT, GAIN, walk
from paplu_env.melds.distance import (
    discard_distances_kernel,
    level_of,
    most_covered,
    pure_matters,
)
from paplu_env.melds.distance_table import MAX_RUN, MIN_RUN, Table
from paplu_env.melds.hand import (
    Naturals,
    naturals_of,
    open_run_starts,
    read_hand,
    run_faces,
    third_copies,
    without_run,
)


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
    ones, _twos, hand, needed = read_hand(counts, wild, r)
    covered = most_covered(hand, r, table)
    level = level_of(ones, hand, needed, covered, r, table)
    outs = _outs(ones, hand, wild, needed, covered, level, asked, r, table)
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
    lowest = discard_distances_kernel(counts, wild, r, table, distances)
    ones, twos, wilds, _num_wild = words_of(counts, wild)
    threes = third_copies(counts) if int(r["num_decks"]) > 2 else 0
    _ones, _twos, all_cards, needed = read_hand(counts, wild, r)
    asked = _asked(counts, unseen, r)
    most = most_covered(all_cards, r, table)
    if lowest and not pure_matters(lowest - 1, needed - 1, most, r):
        # What doesn't even raise the cover of all the cards is no out after any discard.
        for_runs = MIN_RUN * int(r["min_sequences"])
        raising = walk(GAIN, all_cards, int(r["hand_size"]), for_runs, most, asked & ~wild, table)[1]
        asked &= raising | wild
    for face in range(NUM_FACES):
        totals[face] = 0
        if lowest == 0 or int(distances[face]) != lowest:
            continue
        thrown = 0 if face == PRINTED_JOKER else int(FACE_BITS[face])
        ones_left = ones & ~(thrown & ~twos)
        hand = naturals_of(ones_left, twos & ~(thrown & ~threes), threes & ~thrown, wilds)
        naturals = needed + (1 if wild >> face & 1 else 0)
        covered = most_covered(hand, r, table)
        outs = _outs(ones_left, hand, wild, naturals, covered, lowest, asked, r, table)
        total = 0
        while outs:
            total += int(unseen[lowest_bit(outs)])
            outs &= outs - 1
        totals[face] = total
    return lowest


@njit
def _asked(counts: Counts, unseen: npt.NDArray[np.uint8], r: Rules) -> int:
    """Mask of the faces that may still be drawn: those unseen and not held in all copies."""
    asked = 0
    for face in range(NUM_FACES):
        if int(unseen[face]) > 0 and (face == PRINTED_JOKER or int(counts[face]) < int(r["num_decks"])):
            asked |= 1 << face
    return asked


@njit
def _outs(
    ones: int,
    hand: Naturals,
    wild: int,
    naturals: int,
    covered: int,
    level: int,
    asked: int,
    r: Rules,
    table: Table,
) -> int:
    """Mask of the asked faces that lower the distance of a hand from ``level``."""
    if level == 0:
        return 0
    size, for_runs = int(r["hand_size"]), MIN_RUN * int(r["min_sequences"])
    if not pure_matters(level - 1, naturals - 1, covered, r):
        return walk(GAIN, hand, size, for_runs, covered, asked & ~wild, table)[1] | asked & wild
    outs = 0
    for length in range(MIN_RUN, MAX_RUN + 1):
        places = size - length
        beside = walk(COUNT, hand, places, for_runs - MIN_RUN, 1, 0, table)[0]
        for suit in range(NUM_SUITS):
            field = suit_of(ones, suit)
            starts = open_run_starts(field, length, level)
            if length > MIN_RUN:
                starts &= field | field >> length - 1  # of two ends without a card no face fills both
            while starts:
                run = ((1 << length) - 1) << lowest_bit(starts)
                starts &= starts - 1
                goal = naturals - level - popcount(suit_of(hand[0], suit) & run)
                if beside < goal:
                    continue
                gaps = run & ~field
                joining, whole = asked & run_faces(gaps, suit), True
                if length > MIN_RUN and gaps & (run & -run | 1 << lowest_bit(run) + length - 1):
                    # An end without a card: the shorter run serves every face but the one that comes to this end.
                    joining &= run_faces(gaps & (run & -run | 1 << lowest_bit(run) + length - 1), suit)
                    whole = False
                if not (joining & ~outs or (whole and popcount(gaps) < level and asked & ~outs)):
                    continue
                rest = without_run(hand, suit, run)
                if walk(COUNT, rest, places, for_runs - MIN_RUN, goal, 0, table)[0] < goal:
                    continue
                outs |= joining
                if whole and popcount(gaps) < level:
                    outs |= asked & wild
                    todo = asked & ~wild & ~outs
                    outs |= walk(GAIN, rest, places, for_runs - MIN_RUN, goal, todo, table)[1]
    return outs
