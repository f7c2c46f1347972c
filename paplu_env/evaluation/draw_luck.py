"""The luck of the draws: a control variate that narrows the interval of points per deal and leaves their mean alone.

The idea is AIVAT's (Burch et al., 2018). Before a card comes from the stock its value to the seat that draws is
worked out for every face that may lie on top, by a fixed function of both hands and the stock; the *luck* of
the draw is the value of the card that came less the average over the stock. Given all that went before, each
card of the stock is equally likely to be on top, so that average is exact and the luck has mean zero, however
wrong the value function is: points less luck have the same mean as points. The better the value function, the
less they spread.

Two value functions are at hand, and which one a match takes follows from who plays, never from the games. The quick
one takes some 20 µs per draw. The careful one takes fifty times as long, which is little beside agents that think:
after every face that may come the drawer throws what the light player would, and what stands then is worth what
`search` believes.

Nothing is subtracted for the deal itself, since both players get both hands on duplicate deals; nor for what a
policy leaves to chance, since the policies here answer deterministically; nor for the card that opens a new pile
after a reshuffle. Each of these may be left out without a bias. The quick value was fitted by
``python -m training.fit.draw_luck`` to deals of its own and is kept in ``draw_luck_weights.json``, the careful one
by ``training.fit.leaf_value``; results never touch them.
"""

from __future__ import annotations

import functools
import hashlib
import json
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import njit
from paplu_env.bots.fitted import are_for
from paplu_env.bots.search.leaf_features import FEATURE_SCRATCH_ROWS, describe_row
from paplu_env.bots.search.leaf_features import NUM_FEATURES as NUM_VALUE_FEATURES
from paplu_env.bots.search.leaf_value import Value, has_fitted_value, shipped_value, value_kernel
from paplu_env.bots.search.playout_policy import SCRATCH_ROWS, UNKNOWN, play_on
from paplu_env.bots.search.solver_cache import empty_solver_cache
from paplu_env.cards import NUM_FACES
from paplu_env.engine.actions import DRAW_CLOSED
from paplu_env.engine.state import OVER, States, empty_states
from paplu_env.engine.transition import apply_kernel
from paplu_env.engine.world import bring_to_top
from paplu_env.melds.fast_distance.distance_table import Table, distance_table
from paplu_env.melds.fast_distance.outs_kernels import outs_kernel
from paplu_env.melds.fast_points.deadwood_kernels import deadwood_kernel, points_kernel
from paplu_env.rules import RuleSet

Floats = npt.NDArray[np.float64]

FILE: Final = Path(__file__).parent / "draw_luck_weights.json"  # written by training.fit.draw_luck
_CAREFUL_FILE: Final = FILE.parents[1] / "bots" / "search" / "leaf_value.npz"  # written by training.fit.leaf_value
WEIGHTS_HASH: Final = hashlib.sha256(FILE.read_bytes() + _CAREFUL_FILE.read_bytes()).hexdigest()[:16]  # names both

_DISTANCES: Final = 7  # one feature each for distances 0..5, one for all beyond
# Features of a draw, in three blocks. The state's, the same whatever comes: bias, stock, the drawer's points and
# outs, the other's points and outs, cards of the drawer that the other could use and the reverse; then the
# other's distance. The card's: the drawer's distance with it; points with it, whether the other could use it,
# whether it could and the drawer can't, outs where the distance stays, whether it is wild.
_STATE_NUMBERS: Final = 8
_CARD_NUMBERS: Final = 5
NUM_STATE_FEATURES: Final = _STATE_NUMBERS + _DISTANCES
NUM_FEATURES: Final = NUM_STATE_FEATURES + _DISTANCES + _CARD_NUMBERS
# Rows of the scratch to work in.
_STOCK: Final = 0
_OWN: Final = 1  # hand of the seat to draw
_OWN_OUTS: Final = 2
_OTHER: Final = 3
_OTHER_OUTS: Final = 4
_ONE_EACH: Final = 5  # one copy of every face: the outs are asked for as faces
_SCRATCH_ROWS: Final = 6
_HIGHEST_VALUE: Final = 10  # points of the card that a hand of fourteen most often throws
# Divisors that bring the features to about the same size.
_PER_STOCK: Final = 60.0
_PER_POINT: Final = 40.0
_PER_OUT: Final = 20.0
_PER_CARD: Final = 5.0


def can_estimate(rules: RuleSet) -> bool:
    """Whether the luck of the draws is estimated at a table: one that the file of weights names, with an even stock.

    Under ``redraw`` skipped jokers keep their places; if that is on top of the stock, the next card isn't any
    card of the stock.
    """
    has_even_stock = rules.printed_joker_indicator != "redraw" or rules.indicator_first
    return has_even_stock and are_for(_file()["tables"], rules)


def luck_of_draws(states: States, rows: npt.NDArray[np.int64], rules: RuleSet, is_careful: bool = False) -> Floats:
    """What the card on top of the stock is worth, in points, to the seat about to draw it, beyond the average.

    Args:
        states: two-seat games; the seat to move is before its draw.
        rows: which of them, each with a card left in the stock.
        is_careful: by the careful value, at tables that it was fitted to.

    Returns:
        ``(len(rows),)``, with mean zero over the order of the stock; a whole number of millionths, so that it
        is the same when it has been through a file.
    """
    luck = np.empty(len(rows))
    if is_careful and has_fitted_value(rules):
        _careful_luck_kernel(
            states, rows, rules.packed, distance_table(), shipped_value(), empty_states(rules, 1), luck
        )
    else:
        into, out_of = _weights()
        _luck_kernel(states, rows, rules.packed, distance_table(), into, out_of, luck)
    return np.round(luck, 6)


def features_of_draws(states: States, rows: npt.NDArray[np.int64], rules: RuleSet) -> Floats:
    """Features of the card that lies on top, ``(len(rows), F)``: what the value function is fitted to."""
    features = np.zeros((len(rows), NUM_FEATURES))
    _features_kernel(states, rows, rules.packed, distance_table(), features)
    return features


@functools.cache
def _weights() -> tuple[Floats, Floats]:
    """The value function, ``(F, H)`` and ``(H,)``: a sum over hidden units of weight times what is above zero."""
    return np.array(_file()["into"]), np.array(_file()["out_of"])


@functools.cache
def _file() -> dict[str, Any]:
    """The weights and what their file says of them."""
    values: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return values


@njit
def _luck_kernel(
    states: States,
    rows: npt.NDArray[np.int64],
    rules: npt.NDArray[np.void],
    table: Any,
    into: Floats,
    out_of: Floats,
    luck: Floats,
) -> None:
    scratch = np.zeros((_SCRATCH_ROWS, NUM_FACES), dtype=np.uint8)
    x = np.zeros(NUM_FEATURES)
    units = len(out_of)
    before = np.zeros(units)
    for k in range(len(rows)):
        s = states[rows[k]]
        stock = scratch[_STOCK]
        size = int(s["stock_size"])
        distance, outs, points = _describe_state(s, rules[0], table, scratch, x)
        before[:] = 0.0
        for feature in range(NUM_STATE_FEATURES):
            for unit in range(units):
                before[unit] += x[feature] * into[feature, unit]
        top = int(s["cards"][size - 1])
        drawn = 0.0
        mean = 0.0
        for face in range(NUM_FACES):
            if int(stock[face]) == 0:
                continue
            _describe_card(s, face, distance, outs, points, rules[0], scratch, x)
            value = 0.0
            for unit in range(units):
                total = before[unit]
                for feature in range(NUM_STATE_FEATURES, NUM_FEATURES):
                    total += x[feature] * into[feature, unit]
                value += out_of[unit] * max(total, 0.0)
            mean += value * int(stock[face]) / size
            if face == top:
                drawn = value
        luck[k] = drawn - mean


@njit
def _careful_luck_kernel(
    states: States,
    rows: npt.NDArray[np.int64],
    rules: npt.NDArray[np.void],
    table: Table,
    value: Value,
    work: States,
    luck: Floats,
) -> None:
    scratch, distances = np.empty((SCRATCH_ROWS, NUM_FACES), dtype=np.uint8), np.empty(2, dtype=np.int64)
    seen, x = (
        np.empty((FEATURE_SCRATCH_ROWS, NUM_FACES), dtype=np.uint8),
        np.empty(NUM_VALUE_FEATURES, dtype=np.float32),
    )
    first, second = np.empty_like(value.into_bias), np.empty_like(value.between_bias)
    cache = empty_solver_cache(int(rules[0]["hand_size"]))
    for k in range(len(rows)):
        s = states[rows[k]]
        seat, top = int(s["current_player"]), int(s["stock_size"]) - 1
        drawn, mean, done = 0.0, 0.0, 0
        for place in range(top, -1, -1):  # the first is the card that comes
            face = int(s["cards"][place])
            if done >> face & 1:
                continue
            done |= 1 << face
            copies = 0
            for other in range(place + 1):
                copies += 1 if int(s["cards"][other]) == face else 0
            work[0] = states[rows[k]]
            bring_to_top(work[0], place)
            apply_kernel(work, 0, DRAW_CLOSED, rules)
            distances[:] = UNKNOWN
            play_on(work, 0, 1, rules, table, distances, cache, scratch)
            if int(work[0]["phase"]) == OVER:
                worth = float(work[0]["returns"][seat])
            else:
                describe_row(work[0], rules[0], table, cache, seen, x)
                worth = -value_kernel(x, value, first, second)
            mean += worth * copies / (top + 1)
            if place == top:
                drawn = worth
        luck[k] = drawn - mean


@njit
def _features_kernel(
    states: States, rows: npt.NDArray[np.int64], rules: npt.NDArray[np.void], table: Any, features: Floats
) -> None:
    scratch = np.zeros((_SCRATCH_ROWS, NUM_FACES), dtype=np.uint8)
    for k in range(len(rows)):
        s = states[rows[k]]
        distance, outs, points = _describe_state(s, rules[0], table, scratch, features[k])
        top = int(s["cards"][int(s["stock_size"]) - 1])
        _describe_card(s, top, distance, outs, points, rules[0], scratch, features[k])


@njit
def _describe_state(s: Any, r: Any, table: Any, scratch: npt.NDArray[np.uint8], x: Floats) -> tuple[int, int, int]:
    """Fill the state's features, and the scratch with: stock, own hand, own outs, other's hand, other's outs.

    Returns:
        Distance, outs in the stock and points of the seat to draw.
    """
    stock, own, other, each = scratch[_STOCK], scratch[_OWN], scratch[_OTHER], scratch[_ONE_EACH]
    own_outs, other_outs = scratch[_OWN_OUTS], scratch[_OTHER_OUTS]
    seat, wild, size = int(s["current_player"]), int(s["wild"]), int(s["stock_size"])
    for face in range(NUM_FACES):
        stock[face] = 0
        each[face] = 1
        own[face] = int(s["hands"][seat, face])
        other[face] = int(s["hands"][1 - seat, face])
    for place in range(size):
        stock[int(s["cards"][place])] += 1
    distance = int(outs_kernel(own, wild, each, r, table, own_outs))
    other_distance = int(outs_kernel(other, wild, each, r, table, other_outs))
    points = int(points_kernel(own, wild, r))
    other_points = int(points_kernel(other, wild, r))
    outs = live = wanted = useful = 0
    for face in range(NUM_FACES):
        if int(own_outs[face]):
            outs += int(stock[face])
            useful += int(other[face])
        if int(other_outs[face]):
            live += int(stock[face])
            wanted += int(own[face])
    x[0] = 1.0
    x[1] = size / _PER_STOCK
    x[2] = points / _PER_POINT
    x[3] = outs / _PER_OUT
    x[4] = other_points / _PER_POINT
    x[5] = live / _PER_OUT
    x[6] = wanted / _PER_CARD
    x[7] = useful / _PER_CARD
    for k in range(_DISTANCES):
        x[_STATE_NUMBERS + k] = 1.0 if min(other_distance, _DISTANCES - 1) == k else 0.0
    return distance, outs, points


@njit
def _describe_card(
    s: Any, face: int, distance: int, outs: int, points: int, r: Any, scratch: npt.NDArray[np.uint8], x: Floats
) -> None:
    """Fill the features of one card that may be drawn."""
    own, own_outs, other_outs = scratch[_OWN], scratch[_OWN_OUTS], scratch[_OTHER_OUTS]
    wild = int(s["wild"])
    is_out = int(own_outs[face]) > 0
    is_wanted = int(other_outs[face]) > 0
    own[face] += 1
    # Throwing the card back leaves the points as they were; what else it may do is guessed from all fourteen.
    with_it = min(points, max(int(deadwood_kernel(own, wild, r)) - _HIGHEST_VALUE, 0))
    own[face] -= 1
    after = min(distance - 1 if is_out else distance, _DISTANCES - 1)
    for k in range(_DISTANCES):
        x[NUM_STATE_FEATURES + k] = 1.0 if after == k else 0.0
    place = NUM_STATE_FEATURES + _DISTANCES
    x[place] = with_it / _PER_POINT
    x[place + 1] = 1.0 if is_wanted else 0.0
    x[place + 2] = 1.0 if is_wanted and not is_out else 0.0
    x[place + 3] = 0.0 if is_out else outs / _PER_OUT
    x[place + 4] = 1.0 if wild >> face & 1 else 0.0
