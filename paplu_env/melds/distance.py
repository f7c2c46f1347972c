"""How many cards of a hand have to be replaced before it is complete.

Take a complete layout of thirteen places and lay the hand on it, wild cards and blanks filling what stays
open. Every natural card that has no place must be replaced, and every open place of the pure sequence needs
a blank, since wild cards can't stand there; nothing else matters, so

    distance = least over all layouts of max(natural cards without a place, open places of the pure sequence)

and for fourteen cards one natural card less has to find a place. The first number alone is `cover.walk`. The
second is at most that if it is three or more: a sequence of three places stands on a card, one of four or
five on a card at either end. So the pure sequence is searched for only when the first number is 0 or 1, or
2 while at most seven cards are covered (two sequences of five standing on their ends alone, and a set, cover
seven). It uses every card that it finds at its places, wild ones too: whoever else used a natural card there
can take a wild card instead.

Of fourteen cards every discard leaves the lowest distance or one more, so that a discard is settled by a
single question: is the lowest still reached without it?
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import lowest_bit, njit, popcount
from paplu_env.cards import NUM_FACES, NUM_SUITS, PRINTED_JOKER, Counts
from paplu_env.melds.bits import Rules, suit_of
from paplu_env.melds.cover import COUNT, SPARE, walk
from paplu_env.melds.distance_table import MAX_RUN, MIN_RUN, Table
from paplu_env.melds.hand import (
    Naturals,
    held_faces,
    open_run_starts,
    read_hand,
    run_faces,
    solid_ends,
    without_run,
)

NOT_HELD: Final = 255  # what a face that can't be thrown has for a distance
_ALWAYS_PURE: Final = 3  # at this distance some sequence of the best layout can be pure


@njit
def distance_kernel(counts: Counts, wild: int, r: Rules, table: Table) -> int:
    """Cards of a hand to replace; of a hand with one card more, the lowest over the discard.

    Args:
        counts: ``(53,)`` uint8, ``hand_size`` cards or one more.
        wild: bitmask of wild faces.
        r: the record of the rules.
        table: `distance_table.distance_table`.
    """
    ones, _twos, hand, needed = read_hand(counts, wild, r)
    return level_of(ones, hand, needed, most_covered(hand, r, table), r, table)


@njit
def discard_distances_kernel(counts: Counts, wild: int, r: Rules, table: Table, out: npt.NDArray[np.uint8]) -> int:
    """Distance after each discard from a hand with one card more.

    Args:
        out: ``(53,)`` uint8, filled with the distance after throwing each face, `NOT_HELD` for the others.

    Returns:
        The lowest of them.
    """
    ones, twos, hand, needed = read_hand(counts, wild, r)
    places, for_runs = int(r["hand_size"]), MIN_RUN * int(r["min_sequences"])
    covered = most_covered(hand, r, table)
    level = level_of(ones, hand, needed, covered, r, table)
    held = held_faces(ones, int(counts[PRINTED_JOKER]))
    if pure_matters(level, needed, covered, r):
        spare = _spare_beside_pure(ones, twos, hand, held, wild, level, needed - level, r, table)
    elif needed - covered < level:
        spare = held  # only the pure sequence keeps the distance up: the layout can do without any one card
    else:
        spare = walk(SPARE, hand, places, for_runs, covered, held & ~wild, table)[1]
    for face in range(NUM_FACES):
        if held >> face & 1:
            out[face] = level if spare >> face & 1 else level + 1
        else:
            out[face] = NOT_HELD
    return level


@njit
def most_covered(hand: Naturals, r: Rules, table: Table) -> int:
    """The most natural cards that the groups of a complete hand can cover."""
    return walk(COUNT, hand, int(r["hand_size"]), MIN_RUN * int(r["min_sequences"]), 1, 0, table)[0]


@njit
def level_of(ones: int, hand: Naturals, needed: int, covered: int, r: Rules, table: Table) -> int:
    """The distance, given how many natural cards have to be covered for distance 0 and how many can be."""
    level = max(needed - covered, 0)
    while level < _ALWAYS_PURE:
        if not pure_matters(level, needed, covered, r) or _has_pure(ones, hand, level, needed - level, r, table):
            break
        level += 1
    return level


@njit
def pure_matters(level: int, needed: int, covered: int, r: Rules) -> bool:
    """Whether layouts of this distance have to be asked for a pure sequence with few enough open places."""
    if level >= _ALWAYS_PURE or int(r["min_pure_sequences"]) == 0:
        return False
    # A sequence of five on its ends alone covers three cards less than it has places, a set as many at most.
    open_cover = int(r["hand_size"]) - 3 * int(r["min_sequences"])
    return level < 2 or needed - covered < level or covered <= open_cover


@njit
def _has_pure(ones: int, hand: Naturals, gaps: int, needed: int, r: Rules, table: Table) -> bool:
    """Whether a layout with at most so many gaps in its pure sequence covers so many natural cards."""
    for_runs = MIN_RUN * (int(r["min_sequences"]) - 1)
    for suit in range(NUM_SUITS):
        held = suit_of(ones, suit)
        for length in range(MIN_RUN, MAX_RUN + 1):
            places = int(r["hand_size"]) - length
            starts = open_run_starts(held, length, gaps) & solid_ends(held, length)
            while starts:
                run = ((1 << length) - 1) << lowest_bit(starts)
                starts &= starts - 1
                goal = needed - popcount(suit_of(hand[0], suit) & run)
                rest = without_run(hand, suit, run)
                if walk(COUNT, rest, places, for_runs, goal, 0, table)[0] >= goal:
                    return True
    return False


@njit
def _spare_beside_pure(
    ones: int,
    twos: int,
    hand: Naturals,
    held: int,
    wild: int,
    gaps: int,
    needed: int,
    r: Rules,
    table: Table,
) -> int:
    """The faces without which some layout has at most so many gaps in its pure sequence and covers enough.

    Enough is the same number for a natural card thrown, and one more for a wild one, which leaves as many
    natural cards to cover.
    """
    for_runs = MIN_RUN * (int(r["min_sequences"]) - 1)
    spare = 0
    for suit in range(NUM_SUITS):
        field = suit_of(ones, suit)
        for length in range(MIN_RUN, MAX_RUN + 1):
            places = int(r["hand_size"]) - length
            starts = open_run_starts(field, length, gaps) & solid_ends(field, length)
            while starts:
                run = ((1 << length) - 1) << lowest_bit(starts)
                starts &= starts - 1
                goal = needed - popcount(suit_of(hand[0], suit) & run)
                rest = without_run(hand, suit, run)
                most = walk(COUNT, rest, places, for_runs, goal, 0, table)[0]
                if most == goal:
                    spare |= walk(SPARE, rest, places, for_runs, goal, held & ~wild & ~spare, table)[1]
                elif most > goal:
                    # One card more than enough: any may go, but from the run only if it may have one gap more.
                    if length - popcount(field & run) < gaps:
                        return held
                    spare |= held & ~run_faces(run & field & ~suit_of(twos, suit), suit)
                if spare == held:
                    return held
    return spare
