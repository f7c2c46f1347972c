"""Distance under the options that leave places to blanks alone, exactly, by search.

The distance is still the larger of two numbers, the natural cards without a place and the places that only
blanks fill. Here the second one matters at every distance: there may be several pure sequences, tanalas, a
second natural card that a group wants, a set that may not grow. So distances are tried from 0 upwards, and for
each a complete layout is built group by group with that many *blanks* at most: tanalas, then the pure sequences
that are wanted, each on every card that it finds; then, where other groups have closed places too, or more
places than the table knows, these in the order of their lowest natural card, which lies in a group or is left
out. `cover.most_covered`, which knows nothing of blanks, says of everything that is left whether it can cover
enough, and cuts the search.

Of a hand with one card more every discard leaves the lowest distance or one more, and a card drawn lowers the
distance by one at most: both are settled by asking for a single distance.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from paplu_env._jit import as_int64, lowest_bit, never_inline, njit, popcount
from paplu_env.cards import NUM_FACES, NUM_RANKS, NUM_SUITS, PRINTED_JOKER, Counts
from paplu_env.melds.bits import COLUMN, FACE_BITS, FIELD, RANK_BITS, Rules, suit_of, third_copies
from paplu_env.melds.dispatch import runs_crowd, sets_end_growth
from paplu_env.melds.fast_distance.cover import MIN_SET, most_covered, spare_faces
from paplu_env.melds.fast_distance.distance_table import MAX_PLACES, MAX_RUN, MIN_RUN, Table
from paplu_env.melds.fast_distance.naturals import (
    Naturals,
    held_faces,
    naturals_of,
    open_run_starts,
    read_hand,
    solid_ends,
    without_run,
    without_set,
)
from paplu_env.melds.groups import SPECIAL_DUBLEES, SPECIAL_TUNNELAS, SPECIAL_WILDS

_TANALA_SIZE: Final = 3
_ANY_LAYOUT: Final = 1 << NUM_FACES  # asked of a search instead of faces
_PLENTY: Final = 1 << 10  # places that a sequence, or a set without a largest size, takes beyond its own

# How the groups that aren't pure are laid.
_BY_TABLE: Final = 0  # all at once: the table says what they cover
_ONE_BY_ONE: Final = 1  # they have places for blanks alone too, or may not grow
_UNTIL_TABLE: Final = 2  # one by one until the table knows the places that are left


class Terms(NamedTuple):
    """What a search is told and never changes."""

    min_naturals: int  # natural cards that a group needs
    set_size: int  # largest set, or `_PLENTY`
    others: int  # how the groups that aren't pure are laid
    run_growth: int  # `_PLENTY`: a constant as an argument would make a call of itself a kernel of its own type


class Goal(NamedTuple):
    """A position of the search."""

    places: int  # still wanted
    runs: int  # sequences still wanted
    pure: int  # pure ones among them
    needed: int  # natural cards still to cover
    blanks: int  # to spend on closed places
    growth: int  # places that the groups laid so far could take beyond their own


@njit
def general_distance(counts: Counts, wild: int, r: Rules, table: Table) -> int:
    """Distance of a hand, or the lowest over the discard if it has one card more."""
    level = as_int64(0)
    while level < int(r["hand_size"]) and not _is_within(counts, wild, level, r, table):
        level += 1
    return level


@njit
def _is_within(counts: Counts, wild: int, level: int, r: Rules, table: Table) -> bool:
    """Whether a hand, of which a card beyond ``hand_size`` is thrown, has at most this distance."""
    if int(r["special_hands"]) and _special_distance(counts, wild) <= level:
        return True
    cards, hand, goal, terms = _position(counts, wild, level, r)
    first = as_int64(0) if int(r["tanala"]) else as_int64(PRINTED_JOKER)
    return _with_tanalas(cards, hand, goal, first, as_int64(_ANY_LAYOUT), terms, table) != 0


@njit
def _position(counts: Counts, wild: int, level: int, r: Rules) -> tuple[Naturals, Naturals, Goal, Terms]:
    """Where the search for a layout of this distance begins: all cards, the natural ones, what is to be reached."""
    hand_read = read_hand(counts, wild, r)
    hand = hand_read.naturals
    cards = naturals_of(hand_read.ones, hand_read.twos, third_copies(counts), 0)
    set_size = int(r["max_set_size"]) if int(r["max_set_size"]) else _PLENTY
    # Printed jokers alone are no group; with three of them, some card can be spared to stand among them.
    tells = int(r["min_naturals"]) > 1 or sets_end_growth(r) or runs_crowd(r) or int(r["printed_jokers"]) > _TANALA_SIZE
    size, runs, pure = int(r["hand_size"]), int(r["min_sequences"]), int(r["min_pure_sequences"])
    large = size - MIN_RUN * pure > MAX_PLACES
    others = _ONE_BY_ONE if tells else _UNTIL_TABLE if large else _BY_TABLE
    terms = Terms(int(r["min_naturals"]), set_size, others, as_int64(_PLENTY))
    return cards, hand, Goal(size, runs, pure, hand_read.needed - level, level, as_int64(0)), terms


@njit
def _special_distance(counts: Counts, wild: int) -> int:
    """Cards to replace for three tunnelas, eight dublees or eight wild cards, whatever the rest."""
    threes, pairs, twos, odd, wilds = 0, 0, 0, 0, int(counts[PRINTED_JOKER])
    for face in range(PRINTED_JOKER):
        copies = int(counts[face])
        threes += copies // 3
        twos += 1 if copies == 2 else 0
        pairs += copies // 2
        odd += copies % 2
        wilds += copies * (wild >> face & 1)
    # Each tunnela or dublee that is missing is made of the faces held most often.
    tunnelas = max(SPECIAL_TUNNELAS - threes, 0)
    from_twos = min(tunnelas, twos)
    from_ones = min(tunnelas - from_twos, max(odd - threes, 0))
    for_tunnelas = 3 * tunnelas - 2 * from_twos - from_ones
    dublees = max(SPECIAL_DUBLEES - pairs, 0)
    for_dublees = 2 * dublees - min(dublees, odd)
    return min(for_tunnelas, for_dublees, max(SPECIAL_WILDS - wilds, 0))


@njit
def general_discard_distances(
    counts: Counts, wild: int, r: Rules, table: Table, not_held: int, out: npt.NDArray[np.uint8]
) -> int:
    """Distance after each discard, ``not_held`` for faces that aren't held; returns the lowest."""
    lowest = general_distance(counts, wild, r, table)
    spare = _spare(counts, wild, lowest, r, table)
    for face in range(PRINTED_JOKER + 1):
        out[face] = not_held
        if int(counts[face]) > 0:
            out[face] = lowest if spare >> face & 1 else lowest + 1
    return lowest


@njit
def _spare(counts: Counts, wild: int, level: int, r: Rules, table: Table) -> int:
    """The faces of which a card can be thrown with no more than this distance, the lowest over the discard."""
    cards, hand, goal, terms = _position(counts, wild, level, r)
    held = 0
    spare = 0
    left = counts.copy()
    for face in range(PRINTED_JOKER + 1):
        if int(counts[face]) > 0:
            held |= 1 << face
            left[face] -= 1
            if terms.others != _BY_TABLE:
                spare |= 1 << face if _is_within(left, wild, level, r, table) else 0
            elif int(r["special_hands"]) and _special_distance(left, wild) <= level:
                spare |= 1 << face
            left[face] += 1
    if terms.others != _BY_TABLE or spare == held:
        return spare
    first = as_int64(0) if int(r["tanala"]) else as_int64(PRINTED_JOKER)
    return spare | _with_tanalas(cards, hand, goal, first, held & ~spare, terms, table)


@njit
def general_outs(counts: Counts, wild: int, asked: int, level: int, r: Rules, table: Table) -> int:
    """Mask of the asked faces that lower the distance of a hand from ``level``."""
    drawn = counts.copy()
    outs = 0
    if level == 0:
        return outs
    while asked:
        face = lowest_bit(asked)
        asked &= asked - 1
        drawn[face] += 1
        if _is_within(drawn, wild, level - 1, r, table):
            outs |= 1 << face
        drawn[face] -= 1
    return outs


@njit
def _with_tanalas(
    cards: Naturals, hand: Naturals, goal: Goal, first: int, asked: int, terms: Terms, table: Table
) -> int:
    """What layouts of tanalas of faces from ``first`` on, or none, and then other groups say of the asked faces.

    Args:
        cards: those that aren't laid yet, wild ones at their own places too; ``hand``: the natural ones.
        asked: `_ANY_LAYOUT`, or faces of which a card is to be thrown.

    Returns:
        `_ANY_LAYOUT` if that is asked and some layout completes the hand; else those of the faces of which a card
        can be thrown so that one still does.
    """
    never_inline()
    found = _with_pure(cards, hand, goal, as_int64(0), asked, terms, table)
    places, runs, pure, needed, blanks, growth = goal
    for face in range(first, PRINTED_JOKER):
        if found == asked:
            break
        bits = int(FACE_BITS[face])
        # A single card of a face is as well off in a sequence.
        copies = 3 if cards[2] & bits else 2 if cards[1] & bits else 0
        if copies == 0 or _TANALA_SIZE - copies > blanks or places < _TANALA_SIZE:
            continue
        left, rest = cards, hand
        covered = copies if hand[0] & bits else 0
        for _copy in range(copies):
            left = without_set(left, 1 << FIELD * (face // NUM_RANKS), face % NUM_RANKS)
            if covered:
                rest = without_set(rest, 1 << FIELD * (face // NUM_RANKS), face % NUM_RANKS)
        after = Goal(
            places - _TANALA_SIZE,
            max(runs - 1, 0),
            max(pure - 1, 0),
            needed - covered,
            blanks - (_TANALA_SIZE - copies),
            growth,
        )
        found |= _with_tanalas(left, rest, after, face, asked & ~found, terms, table)
    return found


@njit
def _with_pure(cards: Naturals, hand: Naturals, goal: Goal, first: int, asked: int, terms: Terms, table: Table) -> int:
    """The same for the pure sequences still wanted, of kinds from ``first`` on, and other groups."""
    never_inline()
    places, runs, pure, needed, blanks, growth = goal
    if places < MIN_RUN * runs or _most(hand, places, runs, table) < needed:
        return 0
    if pure == 0:
        if terms.others != _BY_TABLE:
            return asked if _with_others(cards, hand, goal, terms, table) else 0
        if not _table_is_right(goal):
            return 0
        return asked if asked == _ANY_LAYOUT else asked & _spare_beside(cards, hand, goal, asked, table)
    found = 0
    for kind in range(first, NUM_SUITS * (MAX_RUN - MIN_RUN + 1)):
        suit, length = kind % NUM_SUITS, MIN_RUN + kind // NUM_SUITS
        held = suit_of(cards[0], suit)
        starts = open_run_starts(held, length, min(blanks, MIN_RUN)) & solid_ends(held, length)
        while starts:
            run = ((1 << length) - 1) << lowest_bit(starts)
            starts &= starts - 1
            after = Goal(
                places - length,
                runs - 1,
                pure - 1,
                needed - popcount(suit_of(hand[0], suit) & run),
                blanks - (length - popcount(held & run)),
                growth,
            )
            left, rest = without_run(cards, suit, run), without_run(hand, suit, run)
            found |= _with_pure(left, rest, after, kind, asked & ~found, terms, table)
            if found == asked:
                return found
    return found


@njit
def _spare_beside(cards: Naturals, hand: Naturals, goal: Goal, asked: int, table: Table) -> int:
    """The faces of which a card can be thrown when the pure sequences are laid and the table says the rest.

    One card more than enough is covered: any card outside the pure sequences may go, and one of them if a blank is
    left for its place. Otherwise only a natural card without which as many are covered; a wild card thrown would
    leave one natural card more to cover.
    """
    places, runs, _pure, needed, blanks, _growth = goal
    most = 0
    if places >= MIN_RUN:
        most = most_covered(hand, places, MIN_RUN * runs, as_int64(1), table)
    else:
        blanks -= places
    if most > needed:
        return asked if blanks > 0 else held_faces(cards[0], 1)
    natural = asked & held_faces(hand[0], 0)
    return spare_faces(hand, places, MIN_RUN * runs, needed, natural, table) if needed > 0 else natural


@njit
def _table_is_right(goal: Goal) -> bool:
    """Whether groups cover as much as the table says, when blanks are as good as wild cards in all of them.

    One or two places are no group: one laid before takes them, and in a pure one only blanks stand there.
    """
    places, runs, _pure, needed, blanks, growth = goal
    return runs > 0 or places == 0 or places >= MIN_RUN or (needed <= 0 and places - growth <= blanks)


@njit
def _most(hand: Naturals, places: int, runs: int, table: Table) -> int:
    """A bound on the natural cards that groups with ``places`` places cover; the table knows thirteen at most.

    Of more places nothing is said: groups don't split at the thirteenth, so that the table's number for thirteen
    and a card for every place beyond would be too few.
    """
    if places > MAX_PLACES:
        return places
    return most_covered(hand, places, MIN_RUN * runs, as_int64(1), table)


@njit
def _with_others(cards: Naturals, hand: Naturals, goal: Goal, terms: Terms, table: Table) -> bool:
    """Whether groups that needn't be pure complete the hand, each with its lowest natural card settled first.

    One function, for kernels that call each other in a circle can't be read back from numba's cache.
    """
    never_inline()
    places, runs, pure, needed, blanks, growth = goal
    if places < MIN_RUN * runs or _most(hand, places, runs, table) < needed:
        return False
    if terms.others == _UNTIL_TABLE and places <= MAX_PLACES:
        return _table_is_right(goal)
    if needed <= 0 and _with_empty(cards, places, runs, blanks, growth, terms):
        return True
    if hand[0] & RANK_BITS == 0:
        return False
    bit = lowest_bit(hand[0] & RANK_BITS)
    suit, rank = bit // FIELD, bit % FIELD
    # The card in a sequence, with any others of its suit.
    naturals = suit_of(hand[0], suit)
    wilds = suit_of(cards[0], suit) & ~naturals if terms.min_naturals > 1 else 0
    card = 1 << rank | (1 << NUM_RANKS if rank == 0 else 0)
    for length in range(MIN_RUN, min(places, MAX_PLACES) + 1):
        for first in range(NUM_RANKS + 2 - length):
            run = ((1 << length) - 1) << first
            if run & card == 0:
                continue
            # Wild cards at their own places count for natural ones; that helps a card that stands alone.
            choice = others = run & (naturals | wilds) & ~card
            while True:
                laid = choice | run & card
                own = laid & naturals
                stands = own == laid or (own == run & card and popcount(laid) == 2)
                solid = length == MIN_RUN or laid >> first & laid >> first + length - 1 & 1
                closed_places = max(0, terms.min_naturals - popcount(laid))
                if stands and solid and closed_places <= blanks:
                    covered = popcount(own)
                    after = Goal(
                        places - length,
                        max(runs - 1, 0),
                        pure,
                        needed - covered,
                        blanks - closed_places,
                        terms.run_growth,
                    )
                    if _with_others(without_run(cards, suit, laid), without_run(hand, suit, own), after, terms, table):
                        return True
                if choice == 0:
                    break
                choice = (choice - 1) & others
    # The card in a set, with any others of its rank.
    one = 1 << FIELD * suit
    choice = others = cards[0] >> rank & COLUMN & ~one
    while True:
        laid = choice | one
        own = laid & hand[0] >> rank
        size = max(MIN_SET, popcount(laid))
        closed_places = max(0, terms.min_naturals - popcount(laid))
        if size <= places and closed_places <= blanks:
            after = Goal(
                places - size,
                runs,
                pure,
                needed - popcount(own),
                blanks - closed_places,
                min(growth + terms.set_size - size, _PLENTY),
            )
            if _with_others(without_set(cards, laid, rank), without_set(hand, own, rank), after, terms, table):
                return True
        if choice == 0:
            break
        choice = (choice - 1) & others
    # The card left out.
    return _with_others(without_set(cards, one, rank), without_set(hand, one, rank), goal, terms, table)


@njit
def _with_empty(cards: Naturals, places: int, runs: int, blanks: int, growth: int, terms: Terms) -> bool:
    """Whether groups without natural cards of their own, and the growth of others, fill the places left.

    A sequence on wild cards at their own places saves blanks: one stands in any sequence, two need to be near.
    """
    never_inline()
    if runs == 0 and places - growth <= blanks:
        return True  # where no group takes a wild card any more, blanks make a pure sequence longer
    want = terms.min_naturals
    if places < MIN_RUN:
        return False
    rest_runs = max(runs - 1, 0)
    if want <= blanks and _with_empty(cards, places - MIN_RUN, rest_runs, blanks - want, terms.run_growth, terms):
        return True
    for suit in range(NUM_SUITS):
        held = suit_of(cards[0], suit)
        for length in range(MIN_RUN, min(places, MAX_PLACES) + 1):
            for first in range(NUM_RANKS + 2 - length):
                run = ((1 << length) - 1) << first
                laid = held & run
                if laid == 0 or (length > MIN_RUN and not laid >> first & laid >> first + length - 1 & 1):
                    continue
                closed_places = max(0, want - popcount(laid))
                left = without_run(cards, suit, laid)
                if closed_places <= blanks and _with_empty(
                    left, places - length, rest_runs, blanks - closed_places, terms.run_growth, terms
                ):
                    return True
    return False
