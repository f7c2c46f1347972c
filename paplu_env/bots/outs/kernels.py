"""How `outs` decides: it keeps the hand that is worth most, by distance, live outs and points, and gives little away.

A hand has a *value* in points per deal, fitted to played deals: for each distance a line in the
logarithm of its live outs, in its deadwood, and in the draws so far. Live outs are counted by copies, and
what has been seen is dead. A discard must keep the lowest distance; among those that do, the few of highest
value are looked at a step further: each unseen card is drawn in turn, and the hand is then worth what the
best discard leaves. So outs of the second step count, and draws that only make more outs. From this comes off
what the thrown card gives away: the chance that the next player takes it, see `take_odds`, times the cost of a
taken card.

With more than thirteen cards, counting outs would take seconds per hand: there the values rest on distance and
deadwood alone, and nothing is looked at a step further.

The open card is taken if it lowers the distance, or if the hand with it is worth more than the mean draw
from the stock. A hand is dropped if playing on is worth less than the drop costs. Those are lines, too,
fitted to played deals, one per distance: they know what the better of the two draws is worth, which sees a step
further than the hand alone, and what others took from the open pile.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import as_int64, njit, popcount
from paplu_env.bots.outs.take_odds import ALL_FACES, AROUND, copies_of, interest, take_chance
from paplu_env.bots.outs.weights import (
    COMPLETE,
    CONSTANT,
    COST,
    DEADWOOD,
    DRAWS,
    LOG_OUTS,
    LOOKED_AT,
    NUM_LINES,
    Weights,
)
from paplu_env.cards import NUM_FACES, Counts
from paplu_env.engine.actions import ANNOUNCE, DECLARE_BASE, DISCARD_BASE, DRAW_CLOSED, DROP, NUM_ACTIONS, TAKE_OPEN
from paplu_env.engine.blocked import unthrowable
from paplu_env.engine.piles import open_card_of_view
from paplu_env.engine.state import DRAW, NONE
from paplu_env.engine.unseen_cards import unseen_kernel
from paplu_env.melds.fast_distance.distance_kernels import NOT_HELD, discard_distances_kernel, distance_kernel
from paplu_env.melds.fast_distance.distance_table import Table
from paplu_env.melds.fast_distance.outs_kernels import discard_outs_kernel, outs_kernel
from paplu_env.melds.fast_points.deadwood_kernels import deadwood_kernel

MOST_CARDS: Final = 13  # of hands whose outs are counted
WORTHLESS: Final = -1e9  # value of what can't be done

# Rows of the scratch to work in, ``(SCRATCH_ROWS, 53)``.
_HAND: Final = 0
_UNSEEN: Final = 1
_DISTANCES: Final = 2  # after each discard
_OUTS: Final = 3
_FIRST_OUTS: Final = 4  # copies of the outs after each discard, at first sight
SCRATCH_ROWS: Final = 5

Scratch = npt.NDArray[np.uint8]  # (SCRATCH_ROWS, 53)


@njit
def choose_kernel(
    views: Any,
    masks: npt.NDArray[np.bool_],
    rules: Any,
    table: Table,
    weights: Weights,
    actions: npt.NDArray[np.int64],
) -> None:
    """Write one action per view. Unchecked: every row's seat is to move."""
    values = np.empty(NUM_ACTIONS, dtype=np.float64)
    scratch = np.empty((SCRATCH_ROWS, NUM_FACES), dtype=np.uint8)
    for i in range(len(views)):
        view, mask = views[i], masks[i]
        if int(view["phase"]) == DRAW:
            actions[i] = _choose_in_draw(views, i, mask, rules[0], table, weights, values, scratch)
        else:
            discards = values[DISCARD_BASE:DECLARE_BASE]
            judge_discards(views, i, mask, rules[0], table, weights, discards, scratch)
            actions[i] = _finish_or_discard(view, mask, discards)


@njit
def judge_discards(
    views: Any,
    i: int,
    mask: npt.NDArray[np.bool_],
    r: Any,
    table: Table,
    weights: Weights,
    values: npt.NDArray[np.float64],
    scratch: Scratch,
) -> None:
    """Write to ``values`` what each legal discard is worth in points, `WORTHLESS` for those not considered.

    Considered are the discards that keep the lowest distance and, of them, the `LOOKED_AT` best at first sight.
    """
    view = views[i]
    hand, unseen = scratch[_HAND], scratch[_UNSEEN]
    _read(views, i, r, hand, unseen)
    wild, draws = int(view["wild"]), as_int64(int(view["drew"][int(view["seat"])]))
    lowest = _first_look(view, mask, hand, wild, unseen, r, table, weights, draws, values, scratch)
    wanted, unwanted = interest(view)
    looks = int(weights.single[LOOKED_AT]) if int(r["hand_size"]) <= MOST_CARDS else 1
    looked_at = _highest(values, max(looks, 1))
    is_one = looked_at & looked_at - 1 == 0
    for face in range(NUM_FACES):
        if looked_at >> face & 1 == 0:
            values[face] = WORTHLESS
            continue
        if not is_one:
            hand[face] -= 1
            kept = hand_value(lowest, int(scratch[_FIRST_OUTS][face]), hand, wild, r, weights, draws + 1)
            values[face] = mean_draw(hand, wild, unseen, kept, r, table, weights, draws, scratch)
            hand[face] += 1
        values[face] -= weights.single[COST] * take_chance(face, wild, unseen, wanted, unwanted, draws, weights.odds)


@njit
def _first_look(
    view: Any,
    mask: npt.NDArray[np.bool_],
    hand: Counts,
    wild: int,
    unseen: Counts,
    r: Any,
    table: Table,
    weights: Weights,
    draws: int,
    values: npt.NDArray[np.float64],
    scratch: Scratch,
) -> int:
    """Write the values of the hands that the nearest legal discards leave, and their outs to row `_FIRST_OUTS`.

    Returns:
        The lowest distance that a legal discard leaves.
    """
    distances, outs = scratch[_DISTANCES], scratch[_FIRST_OUTS]
    discard_live_outs(hand, wild, unseen, r, table, distances, outs)
    lowest = as_int64(NOT_HELD)
    for face in range(NUM_FACES):
        values[face] = WORTHLESS
        if mask[DISCARD_BASE + face]:
            lowest = min(lowest, int(distances[face]))
    taken = int(view["taken"])
    is_blocked = taken != NONE and not mask[DISCARD_BASE + taken] and int(distances[taken]) < lowest
    for face in range(NUM_FACES):
        if mask[DISCARD_BASE + face] and int(distances[face]) == lowest:
            hand[face] -= 1
            if is_blocked:  # outs were counted after the card that may not go alone
                live_outs(hand, wild, unseen, r, table, scratch[_OUTS])
                outs[face] = copies_of(scratch[_OUTS], ALL_FACES)
            values[face] = hand_value(lowest, int(outs[face]), hand, wild, r, weights, draws)
            hand[face] += 1
    return lowest


@njit
def hand_value(
    distance: int,
    outs: int,
    hand: Counts,
    wild: int,
    r: Any,
    weights: Weights,
    draws: int,
) -> float:
    """Points per deal that a hand of this distance and these outs is worth to a seat that has just thrown a card."""
    if distance == 0:
        return float(weights.single[COMPLETE])
    line = weights.lines[min(distance, NUM_LINES - 1)]
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
    kept: float,
    r: Any,
    table: Table,
    weights: Weights,
    draws: int,
    scratch: Scratch,
) -> float:
    """Mean over the unseen cards of what a hand is worth after drawing one and the best discard.

    Args:
        hand: thirteen cards; changed and changed back, like ``unseen``.
        kept: what it is worth after a draw that changes nothing. Such are all faces that aren't wild and have
            neither a card of their rank nor one within two ranks in their suit beside them.
        scratch: rows `_DISTANCES` and `_OUTS` are written.
    """
    if int(r["hand_size"]) > MOST_CARDS:
        return kept
    joining = wild
    for face in range(NUM_FACES):
        if int(hand[face]) > 0:
            joining |= int(AROUND[0, face]) | int(AROUND[1, face]) | int(AROUND[2, face])
    total, cards = 0.0, 0
    for face in range(NUM_FACES):
        copies = int(unseen[face])
        if copies == 0:
            continue
        cards += copies
        if joining >> face & 1 == 0:
            total += copies * kept
            continue
        hand[face] += 1
        unseen[face] -= 1
        total += copies * best_discard(hand, wild, unseen, NONE, r, table, weights, draws + 1, scratch)
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
    weights: Weights,
    draws: int,
    scratch: Scratch,
) -> float:
    """What the best discard leaves a hand worth, of those that keep the lowest distance.

    Args:
        hand: fourteen cards; changed and changed back.
        blocked: a face that may not be thrown, or NONE.
        scratch: rows `_DISTANCES` and `_OUTS` are written.
    """
    distances, outs = scratch[_DISTANCES], scratch[_OUTS]
    lowest = as_int64(discard_live_outs(hand, wild, unseen, r, table, distances, outs))
    if blocked != NONE:
        distances[blocked] = NOT_HELD
    best = WORTHLESS
    for face in range(NUM_FACES):
        if int(distances[face]) == lowest:
            hand[face] -= 1
            best = max(best, hand_value(lowest, int(outs[face]), hand, wild, r, weights, draws))
            hand[face] += 1
    return best


@njit
def live_outs(hand: Counts, wild: int, unseen: Counts, r: Any, table: Table, outs: Counts) -> int:
    """Distance of a hand and, for hands of up to `MOST_CARDS`, its outs by copies; zeros for larger ones."""
    if int(r["hand_size"]) <= MOST_CARDS:
        return int(outs_kernel(hand, wild, unseen, r, table, outs))
    outs[:] = 0
    return int(distance_kernel(hand, wild, r, table))


@njit
def discard_live_outs(
    hand: Counts, wild: int, unseen: Counts, r: Any, table: Table, distances: Counts, outs: Counts
) -> int:
    """Distances after each discard and, as `live_outs` counts them, how many outs the nearest hands have."""
    if int(r["hand_size"]) <= MOST_CARDS:
        return int(discard_outs_kernel(hand, wild, unseen, r, table, distances, outs))
    outs[:] = 0
    return int(discard_distances_kernel(hand, wild, r, table, distances))


@njit
def _choose_in_draw(
    views: Any,
    i: int,
    mask: npt.NDArray[np.bool_],
    r: Any,
    table: Table,
    weights: Weights,
    values: npt.NDArray[np.float64],
    scratch: Scratch,
) -> int:
    """Announce, drop, take the open card or draw."""
    if mask[ANNOUNCE]:
        return ANNOUNCE
    view = views[i]
    is_nearer = lowers_distance(view, mask, r, table, scratch)
    if not mask[DROP] and (is_nearer or not mask[TAKE_OPEN]):  # then no values are needed, which take their time
        return TAKE_OPEN if is_nearer else DRAW_CLOSED
    distance, outs = judge_draw(views, i, mask, r, table, weights, values, scratch)
    if mask[DROP]:
        draws = int(view["drew"][int(view["seat"])])
        cost = int(r["first_drop"]) if draws == 0 else int(r["middle_drop"])
        line = weights.play_on[0 if draws == 0 else 1, min(distance, NUM_LINES - 1)]
        worth = 0.0
        for term, value in enumerate(play_on_terms(view, outs, is_nearer, values, r, scratch)):
            worth += line[term] * value
        if worth < -cost:
            return DROP
    return TAKE_OPEN if is_nearer or values[TAKE_OPEN] > values[DRAW_CLOSED] else DRAW_CLOSED


@njit
def lowers_distance(view: Any, mask: npt.NDArray[np.bool_], r: Any, table: Table, scratch: Scratch) -> bool:
    """Whether the open card may be taken and lowers the distance. Row `_HAND` of ``scratch`` is written."""
    if not mask[TAKE_OPEN]:
        return False
    hand, wild = scratch[_HAND], int(view["wild"])
    for face in range(NUM_FACES):
        hand[face] = view["hand"][face]
    distance = int(distance_kernel(hand, wild, r, table))
    hand[open_card_of_view(view)] += 1
    return int(distance_kernel(hand, wild, r, table)) < distance


@njit
def judge_draw(
    views: Any,
    i: int,
    mask: npt.NDArray[np.bool_],
    r: Any,
    table: Table,
    weights: Weights,
    values: npt.NDArray[np.float64],
    scratch: Scratch,
) -> tuple[int, int]:
    """Write to ``values[DRAW_CLOSED]`` and ``values[TAKE_OPEN]`` what these are worth, `WORTHLESS` if illegal.

    Args:
        scratch: ``(SCRATCH_ROWS, 53)``; its row `_HAND` is then the hand.

    Returns:
        Distance and outs of the hand.
    """
    view = views[i]
    hand, unseen = scratch[_HAND], scratch[_UNSEEN]
    _read(views, i, r, hand, unseen)
    wild, draws = int(view["wild"]), as_int64(int(view["drew"][int(view["seat"])]))
    distance = as_int64(live_outs(hand, wild, unseen, r, table, scratch[_OUTS]))
    outs = as_int64(copies_of(scratch[_OUTS], ALL_FACES))
    kept = hand_value(distance, outs, hand, wild, r, weights, draws + 1)
    values[DRAW_CLOSED] = WORTHLESS
    if mask[DRAW_CLOSED]:
        values[DRAW_CLOSED] = mean_draw(hand, wild, unseen, kept, r, table, weights, draws, scratch)
    values[TAKE_OPEN] = WORTHLESS
    if mask[TAKE_OPEN]:
        open_card = open_card_of_view(view)
        values[TAKE_OPEN] = _value_if_taken(open_card, hand, wild, unseen, r, table, weights, draws, scratch)
    return distance, outs


@njit
def _value_if_taken(
    open_card: int,
    hand: Counts,
    wild: int,
    unseen: Counts,
    r: Any,
    table: Table,
    weights: Weights,
    draws: int,
    scratch: Scratch,
) -> float:
    """What the hand is worth after taking the open card and the best discard that is then allowed."""
    hand[open_card] += 1
    blocked = unthrowable(hand, open_card, r)
    value = best_discard(hand, wild, unseen, blocked, r, table, weights, draws + 1, scratch)
    hand[open_card] -= 1
    return value


@njit
def play_on_terms(
    view: Any, outs: int, is_nearer: bool, values: npt.NDArray[np.float64], r: Any, scratch: Scratch
) -> tuple[float, float, float, float, float, float, float, float, float]:
    """What says how much playing on is worth, at the start of a turn: in the order of the terms of its lines.

    Args:
        is_nearer: as `lowers_distance` says.
        values: as `judge_draw` has written them, and with them row `_HAND` of ``scratch``.
    """
    hand, wild, seat = scratch[_HAND], int(view["wild"]), int(view["seat"])
    return (
        1.0,
        float(np.log(outs + 1.0)),
        float(deadwood_kernel(hand, wild, r)),
        float(int(view["drew"][seat])),
        float(copies_of(hand, wild)),
        1.0 if is_nearer else 0.0,
        1.0 if int(view["first"]) != seat else 0.0,
        float(max(values[DRAW_CLOSED], values[TAKE_OPEN])),
        float(popcount(interest(view)[0])),
    )


@njit
def _finish_or_discard(view: Any, mask: npt.NDArray[np.bool_], values: npt.NDArray[np.float64]) -> int:
    """Declare with any finish card that leaves a complete hand, else the discard worth most."""
    best = -1
    for face in range(NUM_FACES):
        if mask[DECLARE_BASE + face] and int(view["declarable"]) >> face & 1:
            return DECLARE_BASE + face
        if values[face] > WORTHLESS and (best < 0 or values[face] > values[best]):
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
    """Mask of the ``count`` faces of highest value, the lowest face of equals first."""
    chosen = 0
    for _ in range(count):
        best = -1
        for face in range(NUM_FACES):
            if values[face] > WORTHLESS and chosen >> face & 1 == 0 and (best < 0 or values[face] > values[best]):
                best = face
        if best < 0:
            break
        chosen |= 1 << best
    return chosen
