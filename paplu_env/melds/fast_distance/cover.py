"""How many natural cards the groups of a hand can cover, what they can do without, and what runs can be among them.

The number of wild cards doesn't matter here: a gap in a group is a place that some wild card or blank will
fill. So the question is which groups, with a given number of places in all, stand on the most natural cards. Sequences
are looked up suit by suit in the `distance_table` and joined; sets are tried one after the other, none, one
or two of them, and a set is skipped when even with the sequences of the whole hand it can't reach the goal.

Two exchanges keep the sets few. A set takes a card of every suit that has one at its rank: a card that a
sequence holds instead can be moved over, and leaves a gap. Only where all four suits have one may a set of
three places pass one over, any of them. And a set of a single card is no better than a sequence of three.

`_walk` runs through the sets for three questions:

* `most_covered`: the most cards covered;
* `spare_faces`: the faces of which a copy can be thrown with the goal still covered;
* `reaching_runs`, `has_reaching_run`: the runs that can be one of the sequences with the goal still covered. It
  doesn't matter that a set may hold a card where the run passes: the card can be moved over, and counts once.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from paplu_env._jit import as_int64, lowest_bit, never_inline, njit, popcount
from paplu_env.cards import NUM_RANKS, NUM_SUITS
from paplu_env.melds.bits import COLUMN, FIELD, SUIT_RANKS, closed, ranks_in_three_suits, ranks_in_two_suits, suit_of
from paplu_env.melds.fast_distance.distance_table import (
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
from paplu_env.melds.fast_distance.naturals import Naturals, Runs, run_at, without_run, without_set

# The questions.
_COUNT: Final = 0
_SPARE: Final = 1
_RUNS: Final = 2
_ANY_RUN: Final = 3

MIN_SET: Final = 3

# What is still asked: faces as a mask in the first number, or runs.
_Asked = tuple[int, int, int]


class PairRows(NamedTuple):
    """The rows of a hand's suits, two and two together: good for any number of places up to the one asked for."""

    majors: int  # spades and hearts
    minors: int  # diamonds and clubs
    turned: int  # the minors' row with its lanes in the opposite order, see `distance_table.backwards`


@njit
def most_covered(hand: Naturals, places: int, for_runs: int, least: int, table: Table) -> int:
    """The most natural cards that groups with ``places`` places in all cover, or ``least - 1`` if that is more.

    Args:
        hand: the natural cards.
        places: of all groups together, up to 13.
        for_runs: places that the sets have to leave for the sequences that are needed.
    """
    nothing = as_int64(0)
    return _walk(as_int64(_COUNT), hand, places, for_runs, least, (nothing, nothing, nothing), table)[0]


@njit
def spare_faces(hand: Naturals, places: int, for_runs: int, goal: int, asked: int, table: Table) -> int:
    """The asked faces of which a copy can be thrown with ``goal`` cards still covered, as a mask."""
    nothing = as_int64(0)
    _, left = _walk(as_int64(_SPARE), hand, places, for_runs, goal, (asked, nothing, nothing), table)
    return asked & ~left[0]


@njit
def reaching_runs(hand: Naturals, runs: Runs, places: int, for_runs: int, goal: int, table: Table) -> Runs:
    """The runs that, as one of the sequences, let the groups cover ``goal`` cards, the run's own among them."""
    _, left = _walk(as_int64(_RUNS), hand, places, for_runs, goal, runs, table)
    return runs[0] & ~left[0], runs[1] & ~left[1], runs[2] & ~left[2]


@njit
def has_reaching_run(hand: Naturals, runs: Runs, places: int, for_runs: int, goal: int, table: Table) -> bool:
    """Whether there is such a run."""
    if not _is_open(runs):
        return False
    return not _is_open(_walk(as_int64(_ANY_RUN), hand, places, for_runs, goal, runs, table)[1])


@njit
def _walk(
    mode: int, hand: Naturals, places: int, for_runs: int, goal: int, asked: _Asked, table: Table
) -> tuple[int, _Asked]:
    """Run through the sets of a hand whose groups have ``places`` places in all.

    Args:
        mode: one of the questions above.
        hand: the natural cards.
        places: of all groups together, up to 13.
        for_runs: places that the sets have to leave for the sequences that are needed.
        goal: cards to cover. `_COUNT` looks for more than ``goal - 1``, the others take it as it is.
        asked: the faces or runs that the others ask about.

    Returns:
        ``(count, left)``: for `_COUNT` the most cards covered, or ``goal - 1`` if the goal isn't reached; for
        the others the faces or runs for which it isn't, but no run at all for `_ANY_RUN` once one has been found.
    """
    goal, asked, rows = _visit(mode, hand, places, for_runs, goal, as_int64(0), asked, table)
    ranks = ranks_in_two_suits(hand[0])
    if ranks == 0 or places < MIN_SET + for_runs:
        return goal - 1, asked
    # The most that can be covered beside one set, by sequences and with more sets, if none took cards from another.
    beside = most_of(rows, places - MIN_SET)
    beyond = most_with_sets(hand, rows, places - MIN_SET, for_runs)
    while ranks and (mode == _COUNT or _is_open(asked)):
        rank = lowest_bit(ranks)
        ranks &= ranks - 1
        column = hand[0] >> rank & COLUMN
        for choice in range(_choices(column)):
            used, size = _choose(column, choice)
            gained, left = popcount(used), places - size
            more = left >= MIN_SET + for_runs and beyond + gained >= goal
            if left < for_runs or not (more or beside + gained >= goal):
                continue
            rest = without_set(hand, used, rank)
            goal, asked, rest_rows = _visit(mode, rest, left, for_runs, goal, gained, asked, table)
            if more:
                goal, asked = _walk_on(mode, rest, rest_rows, left, for_runs, goal, gained, rank, asked, table)
    return goal - 1, asked


@njit
def _walk_on(
    mode: int,
    hand: Naturals,
    rows: PairRows,
    places: int,
    for_runs: int,
    goal: int,
    gained: int,
    first: int,
    asked: _Asked,
    table: Table,
) -> tuple[int, _Asked]:
    """Run through the further sets beside chosen ones, of rank ``first`` or a higher one; ``rows`` are the hand's."""
    never_inline()
    ranks = ranks_in_two_suits(hand[0]) >> first << first
    if ranks == 0:
        return goal, asked
    beside = most_of(rows, places - MIN_SET) + gained
    beyond = most_with_sets(hand, rows, places - MIN_SET, for_runs) + gained
    while ranks and (mode == _COUNT or _is_open(asked)):
        rank = lowest_bit(ranks)
        ranks &= ranks - 1
        column = hand[0] >> rank & COLUMN
        for choice in range(_choices(column)):
            used, size = _choose(column, choice)
            count, left = popcount(used), places - size
            more = left >= MIN_SET + for_runs and beyond + count >= goal
            if left < for_runs or not (more or beside + count >= goal):
                continue
            rest = without_set(hand, used, rank)
            goal, asked, rest_rows = _visit(mode, rest, left, for_runs, goal, gained + count, asked, table)
            if more:
                goal, asked = _walk_on(mode, rest, rest_rows, left, for_runs, goal, gained + count, rank, asked, table)
    return goal, asked


@njit
def _visit(
    mode: int, hand: Naturals, places: int, for_runs: int, goal: int, gained: int, asked: _Asked, table: Table
) -> tuple[int, _Asked, PairRows]:
    """What the sequences add to chosen sets: a higher goal, or fewer open questions; and their rows in pairs.

    Args:
        hand: what the sets leave.
        places: what they leave for the sequences.
        gained: cards that they cover.
    """
    rows = pair_rows(hand, places, table)
    if mode == _COUNT:
        goal = max(goal, gained + max(lane(rows.majors, places), lane(rows.minors, places)) + 1)
        while pairs_cover(rows, places, goal - gained):
            goal += 1
    elif pairs_cover(rows, places, goal - gained):
        if mode == _SPARE:
            spare = _spare(hand, rows, places, goal - gained, asked[0], table)
            asked = (asked[0] & ~spare, asked[1], asked[2])
        else:
            asked = _runs(mode, hand, rows, places, for_runs, goal - gained, asked, table)
    return goal, asked, rows


@njit
def _spare(hand: Naturals, rows: PairRows, places: int, cards: int, asked: int, table: Table) -> int:
    """The asked faces without which the sequences still cover ``cards`` cards."""
    faces = 0
    for suit in range(NUM_SUITS):
        ranks = asked >> NUM_RANKS * suit & suit_of(hand[0], suit) & SUIT_RANKS
        if ranks == 0:
            continue
        others = row_beside(hand, suit, rows, places, table)
        turned = backwards(others)
        while ranks:
            rank = lowest_bit(ranks)
            ranks &= ranks - 1
            row = row_of(without_set(hand, 1 << FIELD * suit, rank), suit, table)
            if covers(row, others, turned, places, cards):
                faces |= 1 << NUM_RANKS * suit + rank
    return faces


@njit
def _runs(
    mode: int,
    hand: Naturals,
    rows: PairRows,
    places: int,
    for_runs: int,
    cards: int,
    asked: _Asked,
    table: Table,
) -> _Asked:
    """The asked runs that can't be among sequences that cover ``cards`` cards; none once `_ANY_RUN` has one."""
    for suit in range(NUM_SUITS):
        if suit_of(asked[0] | asked[1] | asked[2], suit) == 0:
            continue
        others = row_beside(hand, suit, rows, places, table)
        turned = backwards(others)
        for length in range(MIN_RUN, MAX_RUN + 1):
            left = places - length
            starts = suit_of(asked[length - MIN_RUN], suit)
            if left < for_runs - MIN_RUN:
                break
            reached = 0
            while starts:
                start = starts & -starts
                starts &= starts - 1
                run = run_at(lowest_bit(start), length)
                covered = popcount(suit_of(hand[0], suit) & run)
                row = row_of(without_run(hand, suit, run), suit, table)
                if covers(row, others, turned, left, cards - covered):
                    if mode == _ANY_RUN:
                        return 0, 0, 0
                    reached |= start << FIELD * suit
            three, four, five = asked
            asked = (
                three & ~(reached if length == MIN_RUN else 0),
                four & ~(reached if length == MIN_RUN + 1 else 0),
                five & ~(reached if length == MAX_RUN else 0),
            )
    return asked


@njit
def _is_open(asked: _Asked) -> bool:
    """Whether anything is still asked."""
    return asked[0] | asked[1] | asked[2] != 0


@njit
def pair_rows(hand: Naturals, places: int, table: Table) -> PairRows:
    """The rows of spades and hearts together and of diamonds and clubs together, up to the lane of ``places``."""
    majors = join(row_of(hand, as_int64(0), table), row_of(hand, as_int64(1), table), places)
    minors = join(row_of(hand, as_int64(2), table), row_of(hand, as_int64(3), table), places)
    return PairRows(majors, minors, backwards(minors))


@njit
def pairs_cover(rows: PairRows, places: int, cards: int) -> bool:
    """Whether the sequences of all suits together cover ``cards`` cards with ``places`` places."""
    return covers(rows.majors, rows.minors, rows.turned, places, cards)


@njit
def row_beside(hand: Naturals, suit: int, rows: PairRows, places: int, table: Table) -> int:
    """The row of the three other suits together."""
    return join(row_of(hand, suit ^ 1, table), rows.minors if suit < 2 else rows.majors, places)


@njit
def row_of(hand: Naturals, suit: int, table: Table) -> int:
    """The row of a suit."""
    if hand[2] >> FIELD * suit & SUIT_RANKS == 0:
        return int(table[hand[3 + suit]])
    return _row_of_three(suit_of(hand[0], suit), suit_of(hand[1], suit), suit_of(hand[2], suit), hand[3 + suit], table)


@njit
def row_with_copy(hand: Naturals, suit: int, rank: int, table: Table) -> int:
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
def most_of(rows: PairRows, places: int) -> int:
    """The most cards that the sequences of all suits together cover with ``places`` places."""
    cards = max(lane(rows.majors, places), lane(rows.minors, places))
    while pairs_cover(rows, places, cards + 1):
        cards += 1
    return cards


@njit
def most_with_sets(hand: Naturals, rows: PairRows, places: int, for_runs: int) -> int:
    """A bound on what sequences and one or more sets cover, as if the sets took their cards from nowhere."""
    largest = largest_set(hand[0])
    bound = 0
    in_sets = 0
    while places >= MIN_SET + for_runs:
        places -= MIN_SET
        in_sets += largest
        bound = max(bound, most_of(rows, places) + in_sets)
    return bound


@njit
def largest_set(ones: int) -> int:
    """How many suits have a card of the same rank, at most; not less than two."""
    spades, hearts, diamonds, clubs = suit_of(ones, 0), suit_of(ones, 1), suit_of(ones, 2), suit_of(ones, 3)
    if spades & hearts & diamonds & clubs:
        return 4
    return 3 if ranks_in_three_suits(ones) else 2


@njit
def _choices(column: int) -> int:
    """How many sets of a rank `_choose` has to be asked for."""
    return 1 + NUM_SUITS if popcount(column) == NUM_SUITS else 1


@njit
def _choose(column: int, choice: int) -> tuple[int, int]:
    """One of the sets of a rank: its cards as a column, and its places."""
    if choice == 0:
        return column, max(MIN_SET, popcount(column))
    return column & ~(1 << FIELD * (choice - 1)), MIN_SET
