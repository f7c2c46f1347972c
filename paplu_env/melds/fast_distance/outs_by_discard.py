"""Which faces, drawn, let the groups of a hand cover one natural card more, with and without a card thrown first.

The question of `outs` for up to fourteen discards at once. A face that raises the cover above the most that is
covered now stands, in some layout of the hand that covers this most, in a gap: of a sequence or of a set. So
only the sets that reach the most have to be visited, as by `cover`, and what they leave answers for all cards
together: which can be thrown, which faces gain, and then pair by pair whether a face gains with a card thrown.
In another suit than the thrown card's it nearly always does: the card is left over, or more exactly, without it
the places can be shared out between its suit and the others in the same ways as before.

The exchanges of `cover` hold for the hand with the face drawn, so that a set which the face would join may be
smaller by one: a single card, two of three, or three in a set of four places. Such a set *waits*: it is tried
for the faces that join it alone, and at most one of the sets of a layout waits.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import as_int64, lowest_bit, never_inline, njit, popcount
from paplu_env.cards import NUM_RANKS, NUM_SUITS
from paplu_env.melds.bits import COLUMN, FIELD, SUIT_RANKS, ranks_in_two_suits, suit_of
from paplu_env.melds.fast_distance.cover import (
    MIN_SET,
    PairRows,
    most_of,
    most_with_sets,
    pair_rows,
    pairs_cover,
    row_beside,
    row_of,
    row_with_copy,
)
from paplu_env.melds.fast_distance.distance_table import ONES, Table, backwards, covers, join, shares
from paplu_env.melds.fast_distance.naturals import Naturals, without_set

NOTHING: Final = 53  # thrown in place of a face: the hand as it is
_CHOICES: Final = 6  # whole column, one suit passed over (4), three cards in a set of four places

Gained = npt.NDArray[np.int64]  # (NOTHING + 1,), masks of the faces that gain, by the face thrown


@njit
def note_gains(
    hand: Naturals,
    places: int,
    for_runs: int,
    goal: int,
    thrown: int,
    asked: int,
    always: int,
    table: Table,
    gained: Gained,
) -> None:
    """Note for each card thrown which faces let groups with ``places`` places cover a card more than ``goal``.

    Args:
        hand: the natural cards.
        places: of all groups together, up to 13.
        for_runs: places that the sets have to leave for the sequences that are needed.
        goal: the most that is covered with nothing thrown.
        thrown: mask of the natural faces that may be thrown, and `NOTHING`.
        asked: mask of the natural faces that may be drawn, none of which all copies are held.
        always: other faces, noted for each thrown card without which the goal is still covered.
        gained: ``(54,)``, added to.
    """
    rows = _visit(hand, places, goal, always, thrown, asked, table, gained)
    ranks = _ranks_held(hand[0])
    if ranks == 0 or places < MIN_SET + for_runs:
        return
    # The most that can be covered beside one set, by sequences and with more sets, if none took cards from another.
    beside = most_of(rows, places - MIN_SET)
    beyond = most_with_sets(hand, rows, places - MIN_SET, for_runs)
    while ranks:
        rank = lowest_bit(ranks)
        ranks &= ranks - 1
        column = hand[0] >> rank & COLUMN
        for choice in range(_choices(column)):
            used, size, waits = _choose(column, choice)
            laid, left = popcount(used), places - size
            more = left >= MIN_SET + for_runs and beyond + laid >= goal
            if laid == 0 or left < for_runs or not (more or beside + laid >= goal):
                continue
            joins = _joining(used, size, rank) & asked
            if waits and joins & ~_noted_for_all(thrown, gained) == 0:
                continue
            rest = without_set(hand, used, rank)
            in_runs = 0 if waits else asked
            rest_rows = _visit(rest, left, goal - laid, always | joins, thrown, in_runs, table, gained)
            if more:
                _walk_on(
                    rest,
                    rest_rows,
                    left,
                    for_runs,
                    goal - laid,
                    rank,
                    joins,
                    waits,
                    thrown,
                    asked,
                    always,
                    table,
                    gained,
                )


@njit
def _walk_on(
    hand: Naturals,
    rows: PairRows,
    places: int,
    for_runs: int,
    goal: int,
    first: int,
    joining: int,
    waits: bool,
    thrown: int,
    asked: int,
    always: int,
    table: Table,
    gained: Gained,
) -> None:
    """Run through the further sets beside chosen ones: of their rank or a higher one, or any if the first waits."""
    never_inline()
    beside = most_of(rows, places - MIN_SET)
    beyond = most_with_sets(hand, rows, places - MIN_SET, for_runs)
    ranks = ranks_in_two_suits(hand[0])
    if not waits:
        # Where one waits and the other doesn't, the first is the one that waits, but for two of the same rank.
        ranks = (ranks | _ranks_held(hand[0]) & 1 << first) >> first << first
    while ranks:
        rank = lowest_bit(ranks)
        ranks &= ranks - 1
        column = hand[0] >> rank & COLUMN
        for choice in range(_choices(column)):
            used, size, waits_too = _choose(column, choice)
            laid, left = popcount(used), places - size
            more = left >= MIN_SET + for_runs and beyond + laid >= goal
            if laid == 0 or left < for_runs or (waits_too and (waits or rank != first)):
                continue
            if not more and beside + laid < goal:
                continue
            waiting = waits or waits_too
            joins = joining if waits else joining | _joining(used, size, rank) & asked
            if waiting and joins & ~_noted_for_all(thrown, gained) == 0:
                continue
            rest = without_set(hand, used, rank)
            in_runs = 0 if waiting else asked
            rest_rows = _visit(rest, left, goal - laid, always | joins, thrown, in_runs, table, gained)
            if more:
                _walk_on(
                    rest,
                    rest_rows,
                    left,
                    for_runs,
                    goal - laid,
                    rank,
                    joins,
                    waiting,
                    thrown,
                    asked,
                    always,
                    table,
                    gained,
                )


@njit
def _noted_for_all(thrown: int, gained: Gained) -> int:
    """The faces that have been noted for all thrown cards."""
    noted = -1
    while thrown:
        noted &= int(gained[lowest_bit(thrown)])
        thrown &= thrown - 1
    return noted


@njit
def _visit(
    hand: Naturals, places: int, goal: int, joining: int, thrown: int, asked: int, table: Table, gained: Gained
) -> PairRows:
    """Note what the sequences beside chosen sets give, if with them they cover the goal.

    Args:
        hand: what the sets leave, as ``places`` and ``goal``.
        joining: the faces that would join the sets.
        asked: the faces that may join the sequences; none if a set waits.

    Returns:
        The rows of what the sets leave.
    """
    rows = pair_rows(hand, places, table)
    if pairs_cover(rows, places, goal):
        _note(hand, rows, places, goal, joining, thrown, asked, table, gained)
    return rows


@njit
def _note(
    hand: Naturals,
    rows: PairRows,
    places: int,
    goal: int,
    joining: int,
    thrown: int,
    asked: int,
    table: Table,
    gained: Gained,
) -> None:
    """Note which faces gain for each card that can be thrown, where sequences cover the goal and no more."""
    never_inline()
    can_go = 0  # thrown cards without which the goal is still covered
    left_over = 0  # those that take no part in any way to share the places out
    gains = 0
    asked &= ~_noted_for_all(thrown, gained)
    for suit in range(NUM_SUITS):
        ranks = thrown >> NUM_RANKS * suit & suit_of(hand[0], suit) & SUIT_RANKS
        draws = asked >> NUM_RANKS * suit & SUIT_RANKS
        if ranks | draws == 0:
            continue
        others = row_beside(hand, suit, rows, places, table)
        turned = backwards(others)
        own_row = row_of(hand, suit, table)
        before = shares(own_row, turned, places, goal)
        while ranks:
            rank = lowest_bit(ranks)
            ranks &= ranks - 1
            row = row_of(without_set(hand, 1 << FIELD * suit, rank), suit, table)
            after = shares(row, turned, places, goal)
            face = 1 << NUM_RANKS * suit + rank
            if after or covers(row, others, turned, places, goal):
                can_go |= face
                left_over |= face if after == before else 0
        if draws and shares(own_row + ONES, turned, places, goal + 1) == 0:
            continue  # no card helps where the suit's places are needed elsewhere
        while draws:
            rank = lowest_bit(draws)
            draws &= draws - 1
            if covers(row_with_copy(hand, suit, rank, table), others, turned, places, goal + 1):
                gains |= 1 << NUM_RANKS * suit + rank
    if thrown >> NOTHING & 1:
        gained[NOTHING] = int(gained[NOTHING]) | joining | gains
    while can_go:
        face = lowest_bit(can_go)
        can_go &= can_go - 1
        noted = int(gained[face]) | joining
        own_suit = SUIT_RANKS << NUM_RANKS * (face // NUM_RANKS)
        if left_over >> face & 1:
            noted |= gains & ~own_suit
        if gains & ~noted:
            noted |= _still_gaining(hand, rows, places, goal, face, gains & ~noted, table)
        gained[face] = noted


@njit
def _still_gaining(hand: Naturals, rows: PairRows, places: int, goal: int, face: int, asked: int, table: Table) -> int:
    """Those of the faces that gain although a card of another has been thrown."""
    own = face // NUM_RANKS
    hand = without_set(hand, 1 << FIELD * own, face % NUM_RANKS)
    changed = join(row_of(hand, own, table), row_of(hand, own ^ 1, table), places)
    majors, minors = rows.majors if own >= 2 else changed, changed if own >= 2 else rows.minors
    rows = PairRows(majors, minors, as_int64(0))  # no one asks for the minors turned
    gains = 0
    for suit in range(NUM_SUITS):
        draws = asked >> NUM_RANKS * suit & SUIT_RANKS
        if draws == 0:
            continue
        others = row_beside(hand, suit, rows, places, table)
        turned = backwards(others)
        while draws:
            rank = lowest_bit(draws)
            draws &= draws - 1
            if covers(row_with_copy(hand, suit, rank, table), others, turned, places, goal + 1):
                gains |= 1 << NUM_RANKS * suit + rank
    return gains


@njit
def _ranks_held(ones: int) -> int:
    """The ranks of which any suit has a card."""
    return (suit_of(ones, 0) | suit_of(ones, 1) | suit_of(ones, 2) | suit_of(ones, 3)) & SUIT_RANKS


@njit
def _choices(column: int) -> int:
    """How many sets of a rank `_choose` has to be asked for."""
    return _CHOICES if popcount(column) >= MIN_SET else 1


@njit
def _choose(column: int, choice: int) -> tuple[int, int, bool]:
    """One of the sets of a rank: its cards as a column, its places, and whether it waits. No cards: there is none."""
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
