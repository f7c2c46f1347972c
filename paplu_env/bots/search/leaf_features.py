"""What the fitted value of `search` sees at the start of a turn: both hands, the stock, and the solver's answers."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import as_int64, njit
from paplu_env.bots.search.solver_cache import (
    CACHE_SCRATCH_ROWS,
    DEADWOOD,
    DISTANCE,
    LIVES,
    OUTS,
    SolverCache,
    cached_answers,
    empty_solver_cache,
)
from paplu_env.cards import NUM_FACES
from paplu_env.engine.piles import open_card
from paplu_env.engine.state import States
from paplu_env.melds.fast_distance.distance_table import Table

Floats = npt.NDArray[np.float32]

NUM_DISTANCES: Final = 7  # 0..5, and 6 or more

# Planes of 53 entries, one per face: what moves when suits change places.
_HELD: Final = 0  # 1 if held, then 1 if held twice: of the mover, then of the other
_STOCK: Final = 4  # copies in the closed stock, halved
_WILD: Final = 5
_OPEN: Final = 6  # 1 for the open card
_OUTS: Final = 7  # 1 for the faces that lower the distance, of the mover, then of the other
NUM_PLANES: Final = 9

# Numbers after the planes. Of each side, the mover's first:
_DISTANCE: Final = 0  # 1 at the distance
_LOG_OUTS: Final = NUM_DISTANCES  # logarithm of (outs in the stock + 1)
_OUTS_SHARE: Final = NUM_DISTANCES + 1  # the chance that a draw is one
_DEADWOOD: Final = NUM_DISTANCES + 2
_POINTS: Final = NUM_DISTANCES + 3  # the same up to the most that is paid
_LIVES: Final = NUM_DISTANCES + 4  # 1 with a pure sequence, then 1 with another sequence
_IN_OTHER_HAND: Final = NUM_DISTANCES + 6  # outs that the opponent holds
_KNOWN: Final = NUM_DISTANCES + 7  # cards that it took from the open pile and holds
NUM_SIDE: Final = NUM_DISTANCES + 8
# Then of the deal: the open card is an out of the mover; draws; size of the stock.
NUM_SHARED: Final = 3

FIRST_NUMBER: Final = NUM_PLANES * NUM_FACES
NUM_FEATURES: Final = FIRST_NUMBER + 2 * NUM_SIDE + NUM_SHARED

# Divisors that bring the numbers to about the same size.
_PER_LOG: Final = 4.0
_PER_POINT: Final = 80.0
_PER_CARD: Final = 5.0
_PER_DRAW: Final = 20.0
_PER_STOCK: Final = 80.0

# Rows of the scratch to work in, ``(FEATURE_SCRATCH_ROWS, 53)``: two per side, the mover's first, then those of both.
_SIDE_ROWS: Final = 2
_HAND_ROW: Final = 0  # of a side
_OUTS_ROW: Final = 1  # of a side: 1 for a face that lowers its distance
_STOCK_ROW: Final = 2 * _SIDE_ROWS
_SOLVER_ROWS: Final = _STOCK_ROW + 1  # the first of two for the solver
FEATURE_SCRATCH_ROWS: Final = _SOLVER_ROWS + CACHE_SCRATCH_ROWS


@njit
def describe_kernel(states: States, rules: npt.NDArray[np.void], table: Table, features: Floats) -> None:
    """Write the features of rows, two-seat deals at the start of a turn, for the seat to move.

    Args:
        features: ``(len(states), NUM_FEATURES)``, every entry is overwritten.
    """
    scratch = np.empty((FEATURE_SCRATCH_ROWS, NUM_FACES), dtype=np.uint8)
    cache = empty_solver_cache(int(rules[0]["hand_size"]))
    for i in range(len(states)):
        describe_row(states[i], rules[0], table, cache, scratch, features[i])


@njit
def describe_row(s: Any, r: Any, table: Table, cache: SolverCache, scratch: npt.NDArray[np.uint8], x: Floats) -> None:
    """`describe_kernel` for one deal.

    Args:
        cache: of these rules.
        scratch: ``(FEATURE_SCRATCH_ROWS, 53)``, to work in.
    """
    x[:] = np.float32(0)
    stock, wild, size = scratch[_STOCK_ROW], as_int64(int(s["wild"])), int(s["stock_size"])
    for face in range(NUM_FACES):
        stock[face] = 0
        x[_WILD * NUM_FACES + face] = np.float32(wild >> face & 1)
    for place in range(size):
        stock[int(s["cards"][place])] += 1
    for face in range(NUM_FACES):
        x[_STOCK * NUM_FACES + face] = np.float32(int(stock[face]) / 2)
    mover = int(s["current_player"])
    for side in range(2):
        _describe_side(s, side, mover if side == 0 else 1 - mover, size, wild, r, table, cache, scratch, x)
    for side in range(2):
        outs, other = scratch[_SIDE_ROWS * side + _OUTS_ROW], scratch[_SIDE_ROWS * (1 - side) + _HAND_ROW]
        held = 0
        for face in range(NUM_FACES):
            if int(outs[face]):
                held += int(other[face])
        x[FIRST_NUMBER + side * NUM_SIDE + _IN_OTHER_HAND] = np.float32(held / _PER_CARD)
    last = FIRST_NUMBER + 2 * NUM_SIDE
    if int(s["pile_size"]) > 0:
        face = open_card(s)
        x[_OPEN * NUM_FACES + face] = np.float32(1)
        x[last] = np.float32(int(scratch[_OUTS_ROW][face]))
    x[last + 1] = np.float32(int(s["draws"]) / _PER_DRAW)
    x[last + 2] = np.float32(size / _PER_STOCK)


@njit
def _describe_side(
    s: Any,
    side: int,
    seat: int,
    size: int,
    wild: int,
    r: Any,
    table: Table,
    cache: SolverCache,
    scratch: npt.NDArray[np.uint8],
    x: Floats,
) -> None:
    """Write one side's planes and numbers; the rows of that side in ``scratch`` keep its hand and its outs."""
    hand, outs = scratch[_SIDE_ROWS * side + _HAND_ROW], scratch[_SIDE_ROWS * side + _OUTS_ROW]
    stock = scratch[_STOCK_ROW]
    known = 0
    for face in range(NUM_FACES):
        copies = int(s["hands"][seat, face])
        hand[face] = copies
        known += int(s["known"][seat, face])
        x[(_HELD + 2 * side) * NUM_FACES + face] = np.float32(copies > 0)
        x[(_HELD + 2 * side + 1) * NUM_FACES + face] = np.float32(copies > 1)
    answers = cache.answers[cached_answers(hand, wild, r, table, cache, scratch[_SOLVER_ROWS:])]
    live = 0
    for face in range(NUM_FACES):
        outs[face] = int(answers[OUTS]) >> face & 1
        if int(outs[face]):
            live += int(stock[face])
            x[(_OUTS + side) * NUM_FACES + face] = np.float32(1)
    distance, deadwood, lives = int(answers[DISTANCE]), int(answers[DEADWOOD]), int(answers[LIVES])
    first = FIRST_NUMBER + side * NUM_SIDE
    x[first + _DISTANCE + min(distance, NUM_DISTANCES - 1)] = np.float32(1)
    x[first + _LOG_OUTS] = np.float32(np.log(live + 1.0) / _PER_LOG)
    x[first + _OUTS_SHARE] = np.float32(live / max(size, 1))
    x[first + _DEADWOOD] = np.float32(deadwood / _PER_POINT)
    x[first + _POINTS] = np.float32(min(deadwood, int(r["max_points"])) / _PER_POINT)
    x[first + _LIVES] = np.float32(lives > 0)
    x[first + _LIVES + 1] = np.float32(lives > 1)
    x[first + _KNOWN] = np.float32(known / _PER_CARD)
