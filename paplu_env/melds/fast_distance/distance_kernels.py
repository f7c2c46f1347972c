"""How many cards of a hand have to be replaced before it is complete.

Take a complete layout of thirteen places and lay the hand on it, wild cards and blanks filling what stays
open. Every natural card that has no place must be replaced, and every open place of the pure sequence needs
a blank, since wild cards can't stand there; nothing else matters, so

    distance = least over all layouts of max(natural cards without a place, open places of the pure sequence)

and for fourteen cards one natural card less has to find a place. The first number alone is `cover.most_covered`. The
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

from paplu_env._jit import as_int64, lowest_bit, njit, popcount
from paplu_env.cards import NUM_FACES, Counts
from paplu_env.melds.any_options.distance_search import general_discard_distances, general_distance
from paplu_env.melds.bits import FIELD, Rules, suit_of
from paplu_env.melds.dispatch import has_fast_distance
from paplu_env.melds.fast_distance.cover import has_reaching_run, most_covered, reaching_runs, spare_faces
from paplu_env.melds.fast_distance.distance_table import MAX_RUN, MIN_RUN, Table
from paplu_env.melds.fast_distance.naturals import (
    Hand,
    Runs,
    open_runs,
    read_hand,
    run_at,
    run_faces,
    with_solid_ends,
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
    if not has_fast_distance(r):
        return general_distance(counts, wild, r, table)
    hand = read_hand(counts, wild, r)
    return level_of(hand, covered_by_all(hand, r, table), r, table)


@njit
def discard_distances_kernel(counts: Counts, wild: int, r: Rules, table: Table, out: npt.NDArray[np.uint8]) -> int:
    """Distance after each discard from a hand with one card more.

    Args:
        out: ``(53,)`` uint8, filled with the distance after throwing each face, `NOT_HELD` for the others.

    Returns:
        The lowest of them.
    """
    if not has_fast_distance(r):
        return general_discard_distances(counts, wild, r, table, NOT_HELD, out)
    hand = read_hand(counts, wild, r)
    return discard_distances_of(hand, covered_by_all(hand, r, table), wild, r, table, out)


@njit
def discard_distances_of(
    hand: Hand, covered: int, wild: int, r: Rules, table: Table, out: npt.NDArray[np.uint8]
) -> int:
    """`discard_distances_kernel` for a hand that has been read, of which ``covered`` natural cards can be covered."""
    size, for_runs = int(r["hand_size"]), MIN_RUN * int(r["min_sequences"])
    level = level_of(hand, covered, r, table)
    if pure_matters(level, hand.needed, covered, r):
        spare = _spare_beside_pure(hand, wild, level, hand.needed - level, r, table)
    elif hand.needed - covered < level:
        spare = hand.faces  # only the pure sequence keeps the distance up: the layout can do without any one card
    else:
        spare = spare_faces(hand.naturals, size, for_runs, covered, hand.faces & ~wild, table)
    for face in range(NUM_FACES):
        if hand.faces >> face & 1:
            out[face] = level if spare >> face & 1 else level + 1
        else:
            out[face] = NOT_HELD
    return level


@njit
def covered_by_all(hand: Hand, r: Rules, table: Table) -> int:
    """The most natural cards of a hand that a whole layout covers."""
    return most_covered(hand.naturals, int(r["hand_size"]), MIN_RUN * int(r["min_sequences"]), as_int64(1), table)


@njit
def level_of(hand: Hand, covered: int, r: Rules, table: Table) -> int:
    """The distance, given how many natural cards can be covered."""
    size, for_runs = int(r["hand_size"]), MIN_RUN * int(r["min_sequences"])
    level = max(hand.needed - covered, 0)
    while level < _ALWAYS_PURE:
        if not pure_matters(level, hand.needed, covered, r):
            break
        if has_reaching_run(hand.naturals, pure_runs(hand.ones, level), size, for_runs, hand.needed - level, table):
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
def pure_runs(ones: int, gaps: int) -> Runs:
    """The runs worth trying for the pure sequence with at most ``gaps`` open places."""
    return with_solid_ends(open_runs(ones, gaps), ones)


@njit
def _spare_beside_pure(hand: Hand, wild: int, gaps: int, needed: int, r: Rules, table: Table) -> int:
    """The faces without which some layout has at most ``gaps`` gaps in its pure sequence and covers enough.

    Enough is the same number for a natural card thrown, and one more for a wild one, which leaves as many
    natural cards to cover.
    """
    size, for_runs = int(r["hand_size"]), MIN_RUN * int(r["min_sequences"])
    held = hand.faces
    runs = reaching_runs(hand.naturals, pure_runs(hand.ones, gaps), size, for_runs, needed, table)
    spare = 0
    for length in range(MIN_RUN, MAX_RUN + 1):
        starts = runs[length - MIN_RUN]
        while starts:
            suit, start = lowest_bit(starts) // FIELD, lowest_bit(starts) % FIELD
            starts &= starts - 1
            run, field = run_at(start, length), suit_of(hand.ones, suit)
            goal = needed - popcount(suit_of(hand.naturals[0], suit) & run)
            rest = without_run(hand.naturals, suit, run)
            if most_covered(rest, size - length, for_runs - MIN_RUN, goal, table) == goal:
                spare |= spare_faces(rest, size - length, for_runs - MIN_RUN, goal, held & ~wild & ~spare, table)
            else:
                # One card more than enough: any may go, but from the run only if it may have one gap more.
                if length - popcount(field & run) < gaps:
                    return held
                spare |= held & ~run_faces(run & field & ~suit_of(hand.twos, suit), suit)
            if spare == held:
                return held
    return spare
