"""How `outs` decides: it keeps the hand that is worth most, by distance, live outs and points, and gives little away.

A hand of thirteen has a *value* in points per deal, fitted to played deals: for each distance a line in the
logarithm of its live outs, in its deadwood, and in the draws so far. Live outs are counted by copies, and
what has been seen is dead. A discard must keep the lowest distance; among those that do, the few of highest
value are looked at a step further: each unseen card is drawn in turn, and the hand is then worth what the
best discard leaves. So outs of the second step count, and draws that only make more outs. From this comes off
what the thrown card gives away: the chance that the next player takes it, from what others took, threw
and refused and from the unseen cards around it, times the cost of a taken card.

The open card is taken if it lowers the distance, or if the hand with it is worth more than the mean draw
from the stock. A hand is dropped when its value is below the cost of the drop.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import njit, popcount
from paplu_env.cards import NUM_FACES, NUM_RANKS, NUM_SUITS, PRINTED_JOKER, Counts
from paplu_env.engine.actions import ANNOUNCE, DECLARE_BASE, DISCARD_BASE, DRAW_CLOSED, DROP, TAKE_OPEN
from paplu_env.engine.state import (
    DRAW,
    LOG_CLOSED,
    LOG_FACE_MASK,
    LOG_SEAT_SHIFT,
    LOG_SOURCE_SHIFT,
    LOG_WRONG,
    NONE,
)
from paplu_env.engine.unseen import unseen_kernel
from paplu_env.melds.deadwood import deadwood_kernel
from paplu_env.melds.distance import NOT_HELD
from paplu_env.melds.distance_table import Table
from paplu_env.melds.outs import discard_outs_kernel, outs_kernel

# The value's lines, one a distance; hands further away use the last.
NUM_LINES: Final = 7
# Their terms.
CONSTANT: Final = 0
LOG_OUTS: Final = 1  # times the logarithm of (outs + 1)
DEADWOOD: Final = 2  # times the points that the best arrangement leaves, uncapped
DRAWS: Final = 3  # times the player's own draws so far
NUM_TERMS: Final = 4

# Terms of the log-odds that the next player takes a thrown card.
_ALWAYS: Final = 0
_WILD: Final = 1  # the card is wild
_MATES: Final = 2  # unseen copies of its rank in other suits
_NEXT: Final = 3  # unseen copies one rank away in its suit
_NEAR: Final = 4  # unseen copies two ranks away
_WANTED: Final = 5  # such faces that others took and still hold
_UNWANTED: Final = 6  # such faces that others threw or refused
_REFUSED: Final = 7  # 1 if others threw or refused the face itself
_LATE: Final = 8  # the player's own draws so far
NUM_ODDS: Final = 9

# Single numbers.
COMPLETE: Final = 0  # value of a hand that can be declared, points
COST: Final = 1  # what a card costs that the next player takes, points
LOOKED_AT: Final = 2  # so many discards are looked at a step further
DROP_MARGIN: Final = 3  # a hand is dropped when its value is so much below the cost of the drop, points
NUM_SINGLE: Final = 4

_WORTHLESS: Final = -1e9  # value of what can't be done


def _faces_around() -> npt.NDArray[np.int64]:
    """``(3, 53)`` bitmasks: other faces of a face's rank; those one rank away in its suit; those two away."""
    around = np.zeros((3, NUM_FACES), dtype=np.int64)
    for face in range(PRINTED_JOKER):
        suit, rank = divmod(face, NUM_RANKS)
        for other_suit in range(NUM_SUITS):
            if other_suit != suit:
                around[0, face] |= 1 << NUM_RANKS * other_suit + rank
        for place in (0, NUM_RANKS) if rank == 0 else (rank,):  # an ace stands low and high
            for steps in (1, 2):
                for other in (place - steps, place + steps):
                    if 0 <= other <= NUM_RANKS:
                        around[steps, face] |= 1 << NUM_RANKS * suit + other % NUM_RANKS
    around.setflags(write=False)
    return around


AROUND: Final = _faces_around()


@njit
def choose_kernel(
    views: Any,
    masks: npt.NDArray[np.bool_],
    rules: Any,
    table: Table,
    lines: npt.NDArray[np.float64],
    odds: npt.NDArray[np.float64],
    single: npt.NDArray[np.float64],
    actions: npt.NDArray[np.int64],
) -> None:
    """Write one action per view. Unchecked: every row's seat is to move.

    Args:
        lines: ``(NUM_LINES, NUM_TERMS)``, the value of hands.
        odds: ``(NUM_ODDS,)``, the terms of the log-odds that a thrown card is taken.
        single: ``(NUM_SINGLE,)``, the single numbers.
    """
    values = np.empty(NUM_FACES, dtype=np.float64)
    room = np.empty((4, NUM_FACES), dtype=np.uint8)
    for i in range(len(views)):
        view, mask = views[i], masks[i]
        if int(view["phase"]) == DRAW:
            actions[i] = _choose_in_draw(views, i, mask, rules[0], table, lines, single, room)
        else:
            judge_discards(views, i, mask, rules[0], table, lines, odds, single, values, room)
            actions[i] = _finish_or_discard(view, mask, values)


@njit
def judge_discards(
    views: Any,
    i: int,
    mask: npt.NDArray[np.bool_],
    r: Any,
    table: Table,
    lines: npt.NDArray[np.float64],
    odds: npt.NDArray[np.float64],
    single: npt.NDArray[np.float64],
    values: npt.NDArray[np.float64],
    room: Any,
) -> None:
    """Write to ``values`` what each legal discard is worth in points, `_WORTHLESS` for those not considered.

    Considered are the discards that keep the lowest distance and, of them, the `LOOKED_AT` best at first sight.
    """
    view = views[i]
    hand, unseen = room[0], room[1]
    _read(views, i, r, hand, unseen)
    wild, draws = int(view["wild"]), int(view["drew"][int(view["seat"])])
    lowest = discard_outs_kernel(hand, wild, unseen, r, table, room[2], room[3])
    for face in range(NUM_FACES):
        values[face] = _WORTHLESS
        if mask[DISCARD_BASE + face] and int(room[2][face]) == lowest:
            hand[face] -= 1
            values[face] = hand_value(lowest, int(room[3][face]), hand, wild, r, lines, draws, single)
            hand[face] += 1
    wanted, unwanted = _interest(view)
    looked_at = _highest(values, max(int(single[LOOKED_AT]), 1))
    is_one = looked_at & looked_at - 1 == 0
    for face in range(NUM_FACES):
        if looked_at >> face & 1 == 0:
            values[face] = _WORTHLESS
            continue
        if not is_one:
            hand[face] -= 1
            values[face] = mean_draw(hand, wild, unseen, r, table, lines, draws, single, room)
            hand[face] += 1
        values[face] -= single[COST] * take_chance(face, wild, unseen, wanted, unwanted, draws, odds)


@njit
def hand_value(
    distance: int,
    outs: int,
    hand: Counts,
    wild: int,
    r: Any,
    lines: npt.NDArray[np.float64],
    draws: int,
    single: npt.NDArray[np.float64],
) -> float:
    """Points per deal that a hand of this distance and these outs is worth to a seat that has just thrown a card."""
    if distance == 0:
        return float(single[COMPLETE])
    line = lines[min(distance, NUM_LINES - 1)]
    return float(
        line[CONSTANT]
        + line[LOG_OUTS] * np.log(outs + 1.0)
        + line[DEADWOOD] * int(deadwood_kernel(hand, wild, r))
        + line[DRAWS] * draws
    )


@njit
def mean_draw(
    hand: Counts,
    wild: int,
    unseen: Counts,
    r: Any,
    table: Table,
    lines: npt.NDArray[np.float64],
    draws: int,
    single: npt.NDArray[np.float64],
    room: Any,
) -> float:
    """Mean over the unseen cards of what a hand is worth after drawing one and the best discard.

    Args:
        hand: thirteen cards; changed and changed back, like ``unseen``.
        room: rows 2 and 3 are written.
    """
    total, cards = 0.0, 0
    for face in range(NUM_FACES):
        copies = int(unseen[face])
        if copies == 0:
            continue
        cards += copies
        hand[face] += 1
        unseen[face] -= 1
        total += copies * best_discard(hand, wild, unseen, NONE, r, table, lines, draws + 1, single, room)
        hand[face] -= 1
        unseen[face] += 1
    return total / max(cards, 1)


@njit
def best_discard(
    hand: Counts,
    wild: int,
    unseen: Counts,
    blocked: int,
    r: Any,
    table: Table,
    lines: npt.NDArray[np.float64],
    draws: int,
    single: npt.NDArray[np.float64],
    room: Any,
) -> float:
    """What the best discard leaves a hand worth, of those that keep the lowest distance.

    Args:
        hand: fourteen cards; changed and changed back.
        blocked: a face that may not be thrown, or NONE.
        room: rows 2 and 3 are written.
    """
    distances, outs = room[2], room[3]
    lowest = int(discard_outs_kernel(hand, wild, unseen, r, table, distances, outs))
    if blocked != NONE:
        distances[blocked] = NOT_HELD
    best = _WORTHLESS
    for face in range(NUM_FACES):
        if int(distances[face]) == lowest:
            hand[face] -= 1
            best = max(best, hand_value(lowest, int(outs[face]), hand, wild, r, lines, draws, single))
            hand[face] += 1
    return best


@njit
def take_chance(
    face: int,
    wild: int,
    unseen: Counts,
    wanted: int,
    unwanted: int,
    draws: int,
    odds: npt.NDArray[np.float64],
) -> float:
    """The chance that the next player takes a card that is thrown now.

    Args:
        wanted: mask of the faces that others took and still hold.
        unwanted: mask of the faces that others threw or refused.
    """
    around = int(AROUND[0, face]) | int(AROUND[1, face]) | int(AROUND[2, face])
    log_odds = (
        odds[_ALWAYS]
        + odds[_WILD] * (wild >> face & 1)
        + odds[_MATES] * _copies(unseen, int(AROUND[0, face]))
        + odds[_NEXT] * _copies(unseen, int(AROUND[1, face]))
        + odds[_NEAR] * _copies(unseen, int(AROUND[2, face]))
        + odds[_WANTED] * popcount(around & wanted)
        + odds[_UNWANTED] * popcount(around & unwanted)
        + odds[_REFUSED] * (unwanted >> face & 1)
        + odds[_LATE] * draws
    )
    return float(1.0 / (1.0 + np.exp(-log_odds)))


@njit
def _choose_in_draw(
    views: Any,
    i: int,
    mask: npt.NDArray[np.bool_],
    r: Any,
    table: Table,
    lines: npt.NDArray[np.float64],
    single: npt.NDArray[np.float64],
    room: Any,
) -> int:
    """Announce, drop, take the open card or draw."""
    if mask[ANNOUNCE]:
        return ANNOUNCE
    view = views[i]
    hand, unseen = room[0], room[1]
    _read(views, i, r, hand, unseen)
    wild, draws = int(view["wild"]), int(view["drew"][int(view["seat"])])
    distance = int(outs_kernel(hand, wild, unseen, r, table, room[2]))
    if mask[DROP]:
        outs = _copies(room[2], (1 << NUM_FACES) - 1)
        cost = int(r["first_drop"]) if draws == 0 else int(r["middle_drop"])
        if hand_value(distance, outs, hand, wild, r, lines, draws, single) < -cost - single[DROP_MARGIN]:
            return DROP
    if not mask[TAKE_OPEN]:
        return DRAW_CLOSED
    open_card = int(view["pile"][int(view["pile_size"]) - 1])
    hand[open_card] += 1
    blocked = open_card if int(r["block_taken_card"]) == 1 and int(hand[open_card]) == 1 else NONE
    taken = best_discard(hand, wild, unseen, blocked, r, table, lines, draws + 1, single, room)
    is_nearer = int(discard_outs_kernel(hand, wild, unseen, r, table, room[2], room[3])) < distance
    hand[open_card] -= 1
    if is_nearer:
        return TAKE_OPEN
    drawn = mean_draw(hand, wild, unseen, r, table, lines, draws, single, room)
    return TAKE_OPEN if taken > drawn else DRAW_CLOSED


@njit
def _finish_or_discard(view: Any, mask: npt.NDArray[np.bool_], values: npt.NDArray[np.float64]) -> int:
    """Declare with any finish card that leaves a complete hand, else the discard worth most."""
    best = -1
    for face in range(NUM_FACES):
        if mask[DECLARE_BASE + face] and int(view["declarable"]) >> face & 1:
            return DECLARE_BASE + face
        if values[face] > _WORTHLESS and (best < 0 or values[face] > values[best]):
            best = face
    return DISCARD_BASE + best


@njit
def _read(views: Any, i: int, r: Any, hand: Counts, unseen: Counts) -> None:
    """Copy the hand of a view, and count what its seat hasn't seen."""
    for face in range(NUM_FACES):
        hand[face] = views[i]["hand"][face]
    unseen_kernel(views, i, r, unseen)


@njit
def _highest(values: npt.NDArray[np.float64], count: int) -> int:
    """Mask of so many faces of highest value, the lowest face of equals first."""
    chosen = 0
    for _ in range(count):
        best = -1
        for face in range(NUM_FACES):
            if values[face] > _WORTHLESS and chosen >> face & 1 == 0 and (best < 0 or values[face] > values[best]):
                best = face
        if best < 0:
            break
        chosen |= 1 << best
    return chosen


@njit
def _interest(view: Any) -> tuple[int, int]:
    """Masks of the faces that others took and still hold, and of those that they threw or refused."""
    me = int(view["seat"])
    wanted, unwanted = 0, 0
    for seat in range(int(view["num_players"])):
        if seat != me:
            for face in range(NUM_FACES):
                if int(view["known"][seat, face]) > 0:
                    wanted |= 1 << face
    top = NONE
    for k in range(int(view["log_size"])):
        entry = int(view["log"][k])
        source, thrown = entry >> LOG_SOURCE_SHIFT & LOG_FACE_MASK, entry & LOG_FACE_MASK
        if source == LOG_WRONG:
            continue
        if entry >> LOG_SEAT_SHIFT != me:
            if source == LOG_CLOSED and top < NUM_FACES:
                unwanted |= 1 << top
            if thrown < NUM_FACES:
                unwanted |= 1 << thrown
        if thrown < NUM_FACES:
            top = thrown
    return wanted, unwanted


@njit
def _copies(counts: Counts, faces: int) -> int:
    """Copies of the faces in a mask."""
    total = 0
    for face in range(NUM_FACES):
        if faces >> face & 1:
            total += int(counts[face])
    return total
