"""Worlds in which the others have played: hidden hands as near to complete as so many draws make them.

`world_kernel` deals the hidden hands at random, as at the start of a deal. But whoever has drawn six times and
thrown six cards holds a far better hand than that. So each hidden hand plays its draws over again: a card comes
from a random place in the stock, the light player throws one, and that goes to the same place. What
was taken from the open pile stays, and no hand becomes complete, for it would have been declared.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import as_int64, njit
from paplu_env.bots.rollout import light_throw, live_cards
from paplu_env.cards import NUM_FACES
from paplu_env.engine.chance import draw_below, mix
from paplu_env.engine.state import IN, LOG_CLOSED, LOG_FACE_MASK, LOG_SEAT_SHIFT, LOG_SOURCE_SHIFT, States, Views
from paplu_env.engine.view import is_shown
from paplu_env.engine.world import world_kernel
from paplu_env.melds.distance_table import Table

_DRAWS: Final = np.uint64(2)  # mixed into the world's key it gives that of the draws played over again


@njit
def likely_world(
    views: Views,
    j: int,
    key: np.uint64,
    rules: npt.NDArray[np.void],
    table: Table,
    states: States,
    i: int,
    room: npt.NDArray[np.uint8],
) -> bool:
    """Draw a likely world of view ``j`` into row ``i``; False if the view's cards don't add up.

    Args:
        room: ``(rollout.ROOM_ROWS, 53)``, to work in.
    """
    if not world_kernel(views, j, key, rules, states, i):
        return False
    view = views[j]
    key = mix(key, _DRAWS)
    for seat in range(int(view["num_players"])):
        is_hidden = seat != int(view["seat"]) and not is_shown(view, seat)
        if is_hidden and int(view["status"][seat]) == IN:
            key = _play_draws_over(states[i], seat, closed_draws(view, seat), key, rules[0], table, room)
    return True


@njit
def likely_worlds_kernel(
    views: Views,
    j: int,
    key: np.uint64,
    first: int,
    rules: npt.NDArray[np.void],
    table: Table,
    states: States,
    room: npt.NDArray[np.uint8],
) -> bool:
    """Draw the worlds ``first, first + 1, …`` of a key into all rows; False if the view's cards don't add up."""
    for i in range(len(states)):
        if not likely_world(views, j, mix(key, np.uint64(first + i)), rules, table, states, i, room):
            return False
    return True


@njit
def closed_draws(view: Any, seat: int) -> int:
    """How often a seat has drawn from the closed stock."""
    draws = 0
    for k in range(int(view["log_size"])):
        entry = int(view["log"][k])
        if entry >> LOG_SEAT_SHIFT == seat and entry >> LOG_SOURCE_SHIFT & LOG_FACE_MASK == LOG_CLOSED:
            draws += 1
    return draws


@njit
def _play_draws_over(
    s: Any, seat: int, draws: int, key: np.uint64, r: Any, table: Table, room: npt.NDArray[np.uint8]
) -> np.uint64:
    """Let a seat draw and throw so many times; returns the next key."""
    cards, size, wild = s["cards"], int(s["stock_size"]), as_int64(int(s["wild"]))
    if size == 0:
        return key
    hand, live = room[0], room[2]
    pinned = 0
    for face in range(NUM_FACES):
        hand[face] = s["hands"][seat, face]
        if int(s["known"][seat, face]) > 0:
            pinned |= 1 << face
    live_cards(s, seat, r, live)
    for _ in range(draws):
        key, place = draw_below(key, size)
        drawn = int(cards[place])
        hand[drawn] += 1
        live[drawn] -= 1
        thrown, left = light_throw(hand, wild, pinned, r, table, room)
        if thrown < 0 or left == 0:
            thrown = drawn
        hand[thrown] -= 1
        live[thrown] += 1
        cards[place] = thrown
    for face in range(NUM_FACES):
        s["hands"][seat, face] = hand[face]
    return key
