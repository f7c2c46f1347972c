"""What one seat may know: `player_view` is the only way out of a state for a seat.

A view has the public fields of the state, the seat's own hand, the open pile, and the hands that lie
open. Encoders, bots and screens hold views, never states.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paplu_env._jit import njit, run_slices
from paplu_env.cards import NUM_FACES
from paplu_env.engine.arguments import as_seats, check_out, whole_numbers
from paplu_env.engine.piles import pile_card
from paplu_env.engine.state import (
    ANNOUNCED,
    DECLARED,
    IN,
    LARGE_VIEW,
    LOWER_DEADWOOD,
    NONE,
    PILE_CAPACITY,
    SMALL_STATE,
    SMALL_VIEW,
    WRONG_DECLARE,
    WRONG_DECLARED,
    StateRow,
    States,
    ViewRow,
    Views,
)
from paplu_env.errors import InvalidRules


def player_view(states: States, i: int, seat: int) -> Views:
    """What a seat may know of row ``i``.

    Returns:
        ``(1,)`` views, a new array.

    Raises:
        InvalidRules: there is no such seat at the table.
    """
    (seat,) = as_seats([seat], "seat")
    if not 0 <= seat < int(states["num_players"][i]):
        raise InvalidRules(f"seat {seat}: the seats of this table are 0..{int(states['num_players'][i]) - 1}")
    views = views_for(states, 1)
    view_kernel(states, i, seat, views, 0)
    return views


def player_views(states: States, seats: npt.ArrayLike, out: Views | None = None, threads: int = 1) -> Views:
    """What one seat of each row may know.

    Args:
        seats: ``(B,)`` integers, one seat per row.
        out: ``(B,)`` views, contiguous, to write into; a new array if not given.

    Returns:
        ``(B,)`` views.

    Raises:
        InvalidRules: there is no such seat at a row's table.
        PapluError: not one whole number per row, or ``out`` is of another shape or type.
    """
    chosen = whole_numbers(seats, "seats", len(states))
    if (chosen < 0).any() or (chosen >= states["num_players"]).any():
        raise InvalidRules(f"seats {chosen.tolist()[:8]} for {len(states)} rows: not one seat of its table for each")
    if out is not None:
        check_out(out, (len(states),), _view_dtype_of(states))
    views = views_for(states, len(states)) if out is None else out
    run_slices(lambda start, stop: _view_rows(states, chosen, views, start, stop), len(states), threads)
    return views


def views_for(states: States, batch: int) -> Views:
    """``(batch,)`` rows of the view dtype that belongs to these states, all zero."""
    return np.zeros(batch, dtype=_view_dtype_of(states))


def _view_dtype_of(states: States) -> np.dtype[np.void]:
    return SMALL_VIEW if states.dtype == SMALL_STATE else LARGE_VIEW


@njit
def view_kernel(states: States, i: int, seat: int, views: Views, j: int) -> None:
    """Write to row ``j`` what ``seat`` may know of row ``i``. Nothing is checked."""
    s = states[i]
    v = views[j]
    copy_public(s, v)
    is_mover = int(s["current_player"]) == seat
    v["declarable"] = int(s["declarable"]) if is_mover else 0
    v["rules_id"] = int(s["rules_id"])
    v["seat"] = seat
    v["drawn"] = int(s["drawn"]) if is_mover else NONE
    hands, hand, shown = s["hands"], v["hand"], v["shown"]
    for face in range(NUM_FACES):
        hand[face] = hands[seat, face]
    for other in range(len(shown)):
        if is_shown(s, other):
            for face in range(NUM_FACES):
                shown[other, face] = hands[other, face]
        else:
            for face in range(NUM_FACES):
                shown[other, face] = 0
    pile, size = v["pile"], int(s["pile_size"])
    for place in range(size):
        pile[place] = pile_card(s, place)
    for place in range(size, PILE_CAPACITY):
        pile[place] = NONE


@njit
def is_shown(s: StateRow | ViewRow, seat: int) -> bool:
    """Whether a hand lies open: wrongly declared, or the deal ended in a way that shows it."""
    status, ending = int(s["status"][seat]), int(s["ending"])
    if status == WRONG_DECLARED or ending in (DECLARED, ANNOUNCED, WRONG_DECLARE):
        return True
    return ending == LOWER_DEADWOOD and status == IN


@njit
def copy_public(s: StateRow | ViewRow, v: StateRow | ViewRow) -> None:
    """Copy every field that states and views share, from ``s`` to ``v``."""
    v["wild"] = int(s["wild"])
    for seat in range(len(s["status"])):
        v["returns"][seat] = s["returns"][seat]
        v["status"][seat] = s["status"][seat]
        v["drew"][seat] = s["drew"][seat]
        for face in range(NUM_FACES):
            v["known"][seat, face] = s["known"][seat, face]
    for entry in range(len(s["log"])):
        v["log"][entry] = s["log"][entry]
    v["log_size"] = int(s["log_size"])
    v["pile_log"] = int(s["pile_log"])
    v["draws"] = int(s["draws"])
    v["num_players"] = int(s["num_players"])
    v["first"] = int(s["first"])
    v["current_player"] = int(s["current_player"])
    v["phase"] = int(s["phase"])
    v["indicator"] = int(s["indicator"])
    v["taken"] = int(s["taken"])
    v["stock_size"] = int(s["stock_size"])
    v["pile_size"] = int(s["pile_size"])
    v["reshuffles"] = int(s["reshuffles"])
    v["ending"] = int(s["ending"])
    v["winner"] = int(s["winner"])
    v["finisher"] = int(s["finisher"])


@njit
def _view_rows(states: States, seats: npt.NDArray[np.int64], views: Views, start: int, stop: int) -> None:
    for i in range(start, stop):
        view_kernel(states, i, int(seats[i]), views, i)
