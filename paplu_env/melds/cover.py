"""How many natural cards the groups of a hand can cover, and which cards they can do without or would gain.

The number of wild cards doesn't matter here: a gap in a group is a place that some wild card or blank will
fill. So the question is which groups, of so many places in all, stand on the most natural cards. Sequences
are looked up suit by suit in the `distance_table` and joined; sets are tried one after the other, none, one
or two of them, and a set is skipped when even with the sequences of the whole hand it can't reach the goal.

Two exchanges keep the sets few. A set takes a card of every suit that has one at its rank: a card that a
sequence holds instead can be moved over, and leaves a gap. Only where all four suits have one may a set of
three places pass one over, any of them. And a set of a single card is no better than a sequence of three.

`_walk` runs through the sets for three questions:

* `most_covered`: the most cards covered;
* `spare_faces`: the faces of which a copy can be thrown with the goal still covered;
* `gained_faces`: the faces that, drawn, would raise the cover above the goal. Here the exchanges hold for the
  hand with the card drawn, so that a set the card would join may be smaller by one.
"""

from __future__ import annotations

from typing import Final

from paplu_env._jit import as_int64, lowest_bit, never_inline, njit, popcount
from paplu_env.cards import NUM_RANKS, NUM_SUITS
from paplu_env.melds.bits import COLUMN, FIELD, SUIT_RANKS, closed, suit_of
from paplu_env.melds.distance_table import (
    MAX_RUN,
    MIN_RUN,
    WEIGHTS,
    Table,
    backwards,
    covers,
    holding,
    join,
    lane,
    larger,
    with_run,
)
from paplu_env.melds.hand import Naturals, without_set

# The questions.
_COUNT: Final = 0
_SPARE: Final = 1
_GAIN: Final = 2

MIN_SET: Final = 3
MAX_NATURALS_IN_SET: Final = 4
_CHOICES: Final = 6  # whole column, one suit passed over (4), three cards in a set of four places


@njit
def most_covered(hand: Naturals, places: int, for_runs: int, least: int, table: Table) -> int:
    """The most natural cards that groups with so many places in all cover, or ``least - 1`` if that is more.

    Args:
        hand: the natural cards.
        places: of all groups together, up to 13.
        for_runs: places that the sets have to leave, since so many sequences are needed.
    """
    return _walk(as_int64(_COUNT), hand, places, for_runs, least, as_int64(0), table)[0]


@njit
def spare_faces(hand: Naturals, places: int, for_runs: int, goal: int, asked: int, table: Table) -> int:
    """The asked faces of which a copy can be thrown with so many cards still covered, as a mask."""
    return _walk(as_int64(_SPARE), hand, places, for_runs, goal, asked, table)[1]


@njit
def gained_faces(hand: Naturals, places: int, for_runs: int, goal: int, asked: int, table: Table) -> int:
    """The asked faces that, drawn, raise the cover above the goal, as a mask.

    Args:
        goal: the most that is covered now.
        asked: mask of faces of which not all copies are held.
    """
    return _walk(as_int64(_GAIN), hand, places, for_runs, goal, asked, table)[1]


@njit
def _walk(mode: int, hand: Naturals, places: int, for_runs: int, goal: int, todo: int, table: Table) -> tuple[int, int]:
    """Run through the sets of a hand whose groups have so many places in all.

    Args:
        mode: `_COUNT`, `_SPARE` or `_GAIN`.
        hand: the natural cards.
        places: of all groups together, up to 13.
        for_runs: places that the sets have to leave, since so many sequences are needed.
        goal: cards to cover. `_COUNT` looks for more than ``goal - 1``, the others take it as it is; for
            `_GAIN` it has to be the most that can be covered.
        todo: mask of faces that `_SPARE` and `_GAIN` ask about; for `_GAIN` none of which all copies are held.

    Returns:
        ``(count, faces)``: for `_COUNT` the most cards covered, or ``goal - 1`` if the goal isn't reached;
        for `_SPARE` and `_GAIN` the faces, as a mask.
    """
    majors = join(_row(hand, 0, table), _row(hand, 1, table), places)
    minors = join(_row(hand, 2, table), _row(hand, 3, table), places)
    turned = backwards(minors)
    faces = 0
    if mode == _COUNT:
        goal = max(goal, _most(majors, minors, turned, places) + 1)
    elif covers(majors, minors, turned, places, goal):
        faces = _faces(mode, hand, majors, minors, places, goal, todo, table)
    ranks = _ranks_of_sets(mode, hand[0])
    if ranks == 0 or places < MIN_SET + for_runs:
        return goal - 1, faces
    # The most that can be covered beside one set, by sequences and with more sets, if none took cards from another.
    beside = _most(majors, minors, turned, places - MIN_SET)
    beyond = _most_with_sets(hand, majors, minors, turned, places - MIN_SET, for_runs)
    while ranks and (mode == _COUNT or todo & ~faces):
        rank = lowest_bit(ranks)
        ranks &= ranks - 1
        column = hand[0] >> rank & COLUMN
        for choice in range(_choices(mode, column)):
            used, size, waits = _choose(column, choice)
            gained = popcount(used)
            left = places - size
            more = left >= MIN_SET + for_runs and beyond + gained >= goal
            if gained == 0 or left < for_runs or not (more or beside + gained >= goal):
                continue
            joining = _joining(used, size, rank) & todo if mode == _GAIN else 0
            if waits and joining & ~faces == 0:
                continue
            rest = without_set(hand, used, rank)
            goal, faces = _visit(mode, rest, left, goal, gained, joining, waits, todo, faces, table)
            if more:
                goal, faces = _walk_on(
                    mode, rest, left, for_runs, goal, gained, rank, joining, waits, todo, faces, table
                )
    return goal - 1, faces


@njit
def _walk_on(
    mode: int,
    hand: Naturals,
    places: int,
    for_runs: int,
    goal: int,
    gained: int,
    first: int,
    joining: int,
    waits: bool,
    todo: int,
    faces: int,
    table: Table,
) -> tuple[int, int]:
    """Run through the further sets beside chosen ones: of their rank or a higher one, or any if the first waits."""
    never_inline()
    majors = join(_row(hand, 0, table), _row(hand, 1, table), places - MIN_SET)
    minors = join(_row(hand, 2, table), _row(hand, 3, table), places - MIN_SET)
    turned = backwards(minors)
    beside = _most(majors, minors, turned, places - MIN_SET) + gained
    beyond = _most_with_sets(hand, majors, minors, turned, places - MIN_SET, for_runs) + gained
    if beside + _largest_set(hand[0]) < goal and beyond + _largest_set(hand[0]) < goal:
        return goal, faces
    ranks = _ranks_of_sets(_COUNT, hand[0])
    if not waits:
        # Where one waits and the other doesn't, the first is the one that waits, but for two of the same rank.
        ranks = (ranks | _ranks_of_sets(mode, hand[0]) & 1 << first) >> first << first
    while ranks and (mode == _COUNT or todo & ~faces):
        rank = lowest_bit(ranks)
        ranks &= ranks - 1
        column = hand[0] >> rank & COLUMN
        for choice in range(_choices(mode if rank == first else _COUNT, column)):
            used, size, waits_too = _choose(column, choice)
            count = popcount(used)
            left = places - size
            more = left >= MIN_SET + for_runs and beyond + count >= goal
            if count == 0 or left < for_runs or (waits and waits_too):
                continue
            if not more and beside + count < goal:
                continue
            joins = joining
            if mode == _GAIN and not waits:
                joins |= _joining(used, size, rank) & todo
            waiting = waits or waits_too
            if waiting and joins & ~faces == 0:
                continue
            rest = without_set(hand, used, rank)
            goal, faces = _visit(mode, rest, left, goal, gained + count, joins, waiting, todo, faces, table)
            if more:
                goal, faces = _walk_on(
                    mode, rest, left, for_runs, goal, gained + count, rank, joins, waiting, todo, faces, table
                )
    return goal, faces


@njit
def _visit(
    mode: int,
    hand: Naturals,
    places: int,
    goal: int,
    gained: int,
    joining: int,
    waits: bool,
    todo: int,
    faces: int,
    table: Table,
) -> tuple[int, int]:
    """What the sequences add to chosen sets: a higher goal, or more faces.

    Args:
        hand: what the sets leave.
        places: what they leave for the sequences.
        gained: cards that they cover.
        joining: the faces that would join them, of those asked about.
        waits: one of the sets is worth trying for these faces alone.
    """
    majors = join(_row(hand, 0, table), _row(hand, 1, table), places)
    minors = join(_row(hand, 2, table), _row(hand, 3, table), places)
    turned = backwards(minors)
    if not covers(majors, minors, turned, places, goal - gained):
        return goal, faces
    if mode == _COUNT:
        while covers(majors, minors, turned, places, goal - gained):
            goal += 1
        return goal, faces
    faces |= joining
    if waits:
        return goal, faces
    return goal, faces | _faces(mode, hand, majors, minors, places, goal - gained, todo & ~faces, table)


@njit
def _faces(
    mode: int, hand: Naturals, majors: int, minors: int, places: int, cards: int, todo: int, table: Table
) -> int:
    """The faces without which the sequences still cover so many cards, or with which they cover one more."""
    ones = hand[0]
    faces = 0
    for suit in range(NUM_SUITS):
        asked = todo >> NUM_RANKS * suit & SUIT_RANKS
        if mode == _SPARE:
            asked &= suit_of(ones, suit)
        if asked == 0:
            continue
        others = join(_row(hand, suit ^ 1, table), minors if suit < 2 else majors, places)
        turned = backwards(others)
        while asked:
            rank = lowest_bit(asked)
            asked &= asked - 1
            if mode == _GAIN:
                row = _row_with_copy(hand, suit, rank, table)
            else:
                row = _row(without_set(hand, 1 << FIELD * suit, rank), suit, table)
            if covers(row, others, turned, places, cards + (1 if mode == _GAIN else 0)):
                faces |= 1 << NUM_RANKS * suit + rank
    return faces


@njit
def _row(hand: Naturals, suit: int, table: Table) -> int:
    """The row of a suit."""
    if hand[2] >> FIELD * suit & SUIT_RANKS == 0:
        return int(table[hand[3 + suit]])
    return _row_of_three(suit_of(hand[0], suit), suit_of(hand[1], suit), suit_of(hand[2], suit), hand[3 + suit], table)


@njit
def _row_with_copy(hand: Naturals, suit: int, rank: int, table: Table) -> int:
    """The row of a suit after one card more."""
    place = hand[3 + suit] + WEIGHTS[rank]
    if (hand[2] | hand[1] & COLUMN << rank) >> FIELD * suit & SUIT_RANKS == 0:
        return int(table[place])
    card = suit_of(closed(1 << FIELD * suit + rank), suit)
    ones, twos, threes = suit_of(hand[0], suit), suit_of(hand[1], suit), suit_of(hand[2], suit)
    return _row_of_three(ones | card, twos | card & ones, threes | card & twos, place, table)


@njit
def _row_of_three(ones: int, twos: int, threes: int, place: int, table: Table) -> int:
    """The row of a suit with three copies of some card: one of them is left out, or it stands in some run."""
    never_inline()
    if threes == 0:
        return int(table[place])
    rank = lowest_bit(threes)
    card = 1 << rank | (1 << NUM_RANKS if rank == 0 else 0)
    best = _row_of_three(ones, twos, threes & ~card, place - WEIGHTS[rank], table)
    for length in range(MIN_RUN, MAX_RUN + 1):
        for first in range(NUM_RANKS + 2 - length):
            run = ((1 << length) - 1) << first
            if run & card:
                taken = ones & run
                both = taken | (taken & 1) << NUM_RANKS | taken >> NUM_RANKS
                left = _row_of_three(
                    ones & ~(both & ~twos), twos & ~(both & ~threes), threes & ~both, place - holding(both), table
                )
                best = larger(best, with_run(left, length, popcount(taken)))
    return best


@njit
def _most(row: int, other: int, turned: int, places: int) -> int:
    """The most cards that two groups of suits cover with so many places together."""
    cards = max(lane(row, places), lane(other, places))
    while covers(row, other, turned, places, cards + 1):
        cards += 1
    return cards


@njit
def _most_with_sets(hand: Naturals, row: int, other: int, turned: int, places: int, for_runs: int) -> int:
    """A bound on what sequences and one or more sets cover, as if the sets took their cards from nowhere."""
    largest = _largest_set(hand[0])
    bound = 0
    in_sets = 0
    while places >= MIN_SET + for_runs:
        places -= MIN_SET
        in_sets += largest
        bound = max(bound, _most(row, other, turned, places) + in_sets)
    return bound


@njit
def _ranks_of_sets(mode: int, ones: int) -> int:
    """The ranks of which two suits have a card, or, where a set may wait for a second one, any suit."""
    spades, hearts, diamonds, clubs = suit_of(ones, 0), suit_of(ones, 1), suit_of(ones, 2), suit_of(ones, 3)
    if mode == _GAIN:
        return (spades | hearts | diamonds | clubs) & SUIT_RANKS
    return (spades & hearts | diamonds & clubs | (spades | hearts) & (diamonds | clubs)) & SUIT_RANKS


@njit
def _largest_set(ones: int) -> int:
    """How many suits have a card of the same rank, at most; not less than two."""
    spades, hearts, diamonds, clubs = suit_of(ones, 0), suit_of(ones, 1), suit_of(ones, 2), suit_of(ones, 3)
    if spades & hearts & diamonds & clubs:
        return 4
    return 3 if spades & hearts & (diamonds | clubs) | (spades | hearts) & diamonds & clubs else 2


@njit
def _choices(mode: int, column: int) -> int:
    """How many sets of a rank `_choose` has to be asked for."""
    held = popcount(column)
    return _CHOICES if held == 4 or (held == 3 and mode == _GAIN) else 1


@njit
def _choose(column: int, choice: int) -> tuple[int, int, bool]:
    """One of the sets of a rank: its cards as a column, its places, and whether it is one for `_GAIN` alone.

    No cards: there is no such set. The sets for `_GAIN` alone are those that nobody would lay before the card
    comes that joins them: a single card, two of three, and three in a set of four places.
    """
    held = popcount(column)
    if choice == 0:
        return column, max(MIN_SET, held), held == 1
    if choice <= NUM_SUITS:
        passed_over = 1 << FIELD * (choice - 1)
        return (column & ~passed_over if column & passed_over else 0), MIN_SET, held == MIN_SET
    return (column if held == MIN_SET else 0), MIN_SET + 1, True


@njit
def _joining(used: int, size: int, rank: int) -> int:
    """The faces that would join a set in a gap that it has."""
    faces = 0
    if popcount(used) < size:
        for suit in range(NUM_SUITS):
            if used >> FIELD * suit & 1 == 0:
                faces |= 1 << NUM_RANKS * suit + rank
    return faces
