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
from paplu_env.cards import NUM_FACES, NUM_RANKS, NUM_SUITS, PRINTED_JOKER, Counts
from paplu_env.melds.bits import FIELD, SUIT_RANKS, card_count, suit_of, words_of
from paplu_env.melds.cover import COUNT, SPARE, Naturals, naturals_of, walk, without_run
from paplu_env.melds.distance_table import MAX_PLACES, MAX_RUN, MIN_RUN, Table

NOT_HELD: Final = 255  # what a face that can't be thrown has for a distance
_ALWAYS_PURE: Final = 3  # at this distance some sequence of the best layout can be pure
_OPEN_PURE_COVER: Final = 7  # most cards of a layout at distance 2 whose sequences all have three open places


@njit
def distance_kernel(counts: Counts, wild: int, r: npt.NDArray[np.void], table: Table) -> int:
    """Cards of a hand to replace; of fourteen cards, the lowest over the discard.

    Args:
        counts: ``(53,)`` uint8, 13 or 14 cards.
        wild: bitmask of wild faces.
        r: the record of the rules.
        table: `distance_table.distance_table`.
    """
    ones, twos, wilds, num_wild = words_of(counts, wild)
    hand = naturals_of(ones, twos, wilds)
    naturals = card_count(ones & ~wilds) + card_count(twos & ~wilds)
    needed = naturals - (naturals + num_wild - MAX_PLACES)
    return level_of(ones, hand, needed, walk(COUNT, hand, MAX_PLACES, 1, 0, table)[0], table)


@njit
def discard_distances_kernel(
    counts: Counts, wild: int, r: npt.NDArray[np.void], table: Table, out: npt.NDArray[np.uint8]
) -> int:
    """Distance after each discard from fourteen cards.

    Args:
        out: ``(53,)`` uint8, filled with the distance after throwing each face, `NOT_HELD` for the others.

    Returns:
        The lowest of them.
    """
    ones, twos, wilds, _num_wild = words_of(counts, wild)
    hand = naturals_of(ones, twos, wilds)
    needed = card_count(ones & ~wilds) + card_count(twos & ~wilds) - 1
    covered = walk(COUNT, hand, MAX_PLACES, 1, 0, table)[0]
    level = level_of(ones, hand, needed, covered, table)
    held = held_faces(ones, int(counts[PRINTED_JOKER]))
    if pure_matters(level, needed, covered):
        spare = _spare_beside_pure(ones, twos, hand, held, wild, level, needed - level, table)
    else:
        spare = walk(SPARE, hand, MAX_PLACES, covered, held & ~wild, table)[1]
    for face in range(NUM_FACES):
        if held >> face & 1:
            out[face] = level if spare >> face & 1 else level + 1
        else:
            out[face] = NOT_HELD
    return level


@njit
def level_of(ones: int, hand: Naturals, needed: int, covered: int, table: Table) -> int:
    """The distance, given how many natural cards have to be covered for distance 0 and how many can be."""
    level = max(needed - covered, 0)
    while level < _ALWAYS_PURE:
        if not pure_matters(level, needed, covered) or _has_pure(ones, hand, level, needed - level, table):
            break
        level += 1
    return level


@njit
def pure_matters(level: int, needed: int, covered: int) -> bool:
    """Whether layouts of this distance have to be asked for a pure sequence with few enough open places."""
    return level < _ALWAYS_PURE and (level < 2 or needed - covered < level or covered <= _OPEN_PURE_COVER)


@njit
def _has_pure(ones: int, hand: Naturals, gaps: int, needed: int, table: Table) -> bool:
    """Whether a layout with at most so many gaps in its pure sequence covers so many natural cards."""
    for suit in range(NUM_SUITS):
        held = suit_of(ones, suit)
        for length in range(MIN_RUN, MAX_RUN + 1):
            starts = run_starts(held, length, gaps) & ends(held, length)
            while starts:
                run = ((1 << length) - 1) << lowest_bit(starts)
                starts &= starts - 1
                goal = needed - popcount(suit_of(hand[0], suit) & run)
                rest = without_run(hand, suit, run)
                if walk(COUNT, rest, MAX_PLACES - length, goal, 0, table)[0] >= goal:
                    return True
    return False


@njit
def _spare_beside_pure(
    ones: int, twos: int, hand: Naturals, held: int, wild: int, gaps: int, needed: int, table: Table
) -> int:
    """The faces without which some layout has at most so many gaps in its pure sequence and covers enough.

    Enough is the same number for a natural card thrown, and one more for a wild one, which leaves as many
    natural cards to cover.
    """
    spare = 0
    for suit in range(NUM_SUITS):
        field = suit_of(ones, suit)
        for length in range(MIN_RUN, MAX_RUN + 1):
            starts = run_starts(field, length, gaps) & ends(field, length)
            while starts:
                run = ((1 << length) - 1) << lowest_bit(starts)
                starts &= starts - 1
                goal = needed - popcount(suit_of(hand[0], suit) & run)
                rest = without_run(hand, suit, run)
                most = walk(COUNT, rest, MAX_PLACES - length, goal, 0, table)[0]
                if most == goal:
                    spare |= walk(SPARE, rest, MAX_PLACES - length, goal, held & ~wild & ~spare, table)[1]
                elif most > goal:
                    # One card more than enough: any may go, but from the run only if it may have one gap more.
                    if length - popcount(field & run) < gaps:
                        return held
                    spare |= held & ~run_faces(run & field & ~suit_of(twos, suit), suit)
                if spare == held:
                    return held
    return spare


@njit
def held_faces(ones: int, jokers: int) -> int:
    """Mask of the faces in a word of `bits`, and of the printed joker if there is one."""
    faces = 1 << PRINTED_JOKER if jokers else 0
    for suit in range(NUM_SUITS):
        faces |= (ones >> FIELD * suit & SUIT_RANKS) << NUM_RANKS * suit
    return faces


@njit
def run_faces(places: int, suit: int) -> int:
    """Mask of the faces at places (14 bits) of a suit."""
    return (places & SUIT_RANKS | places >> NUM_RANKS) << NUM_RANKS * suit


@njit
def run_starts(field: int, length: int, gaps: int) -> int:
    """Where in a suit's field a run of so many places begins that has at most so many gaps (0..3)."""
    one = two = three = four = 0  # where at least so many gaps are met
    for place in range(length):
        gap = ~field >> place
        four |= three & gap
        three |= two & gap
        two |= one & gap
        one |= gap
    too_many = one if gaps == 0 else two if gaps == 1 else three if gaps == 2 else four
    return ~too_many & ((1 << NUM_RANKS + 2 - length) - 1)


@njit
def ends(field: int, length: int) -> int:
    """Where a run of four or five stands on a card at either end: without one it is no better than a shorter one."""
    return field & field >> length - 1 if length > MIN_RUN else SUIT_RANKS
