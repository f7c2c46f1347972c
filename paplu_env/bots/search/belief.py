"""Worlds in which the others have played: hidden hands that fit what their seats took, refused and threw.

`world_kernel` deals the hidden hands at random, as at the start of a deal. But whoever has drawn six times and
thrown six cards holds a far better hand than that, and whoever took the open card had a use for it. So each
hidden hand plays its turns over again, in the order of the log. For a draw from the stock, a card comes from a random
place there, the player of `playout_policy` throws one, and that goes to the same place. A card from the open pile
that is still held comes and stays. On the way the hand is brought to agree with what its seat did: the card taken
lowers the distance, the card refused and the card thrown don't. Where that isn't so, cards change places with random
ones of the stock, at the same distance. No hand becomes complete, for it would have been declared.

The hands that come out have about the distances and points of real ones, whatever was taken: see the test.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import as_int64, njit
from paplu_env.bots.search.playout_policy import HAND, LIVE, light_throw, live_cards
from paplu_env.cards import NUM_FACES, Counts
from paplu_env.engine.chance import Purpose, draw_below, mix
from paplu_env.engine.log import log_face, log_seat, log_source
from paplu_env.engine.state import (
    IN,
    LOG_CLOSED,
    NONE,
    States,
    Views,
)
from paplu_env.engine.view import is_shown
from paplu_env.engine.world import lay_hidden, world_kernel
from paplu_env.melds.fast_distance.distance_kernels import distance_kernel
from paplu_env.melds.fast_distance.distance_table import Table
from paplu_env.rules import choice_code

_TURNS: Final = np.uint64(Purpose.TURNS_PLAYED_OVER)
_TRIES: Final = 60  # exchanges after which a hand that still disagrees is left as it is
_ANY: Final = choice_code("open_joker", "any")


@njit
def likely_world(
    views: Views,
    j: int,
    key: np.uint64,
    rules: npt.NDArray[np.void],
    table: Table,
    states: States,
    i: int,
    scratch: npt.NDArray[np.uint8],
) -> bool:
    """Draw a likely world of view ``j``, of the seat to move, into row ``i``; False if the view's cards don't add up.

    Args:
        scratch: ``(playout_policy.SCRATCH_ROWS, 53)``, to work in.
    """
    if not world_kernel(views, j, key, rules, states, i):
        return False
    view = views[j]
    key = mix(key, _TURNS)
    for seat in range(int(view["num_players"])):
        is_hidden = seat != int(view["seat"]) and not is_shown(view, seat)
        if is_hidden and int(view["status"][seat]) == IN:
            key = _play_turns_over(view, states[i], seat, key, rules[0], table, scratch)
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
    scratch: npt.NDArray[np.uint8],
) -> bool:
    """Draw the worlds ``first, first + 1, …`` of a key into all rows; False if the view's cards don't add up."""
    for i in range(len(states)):
        if not likely_world(views, j, mix(key, np.uint64(first + i)), rules, table, states, i, scratch):
            return False
    return True


@njit
def _play_turns_over(
    view: Any, s: Any, seat: int, key: np.uint64, r: Any, table: Table, scratch: npt.NDArray[np.uint8]
) -> np.uint64:
    """Deal a seat's hidden hand as its turns make likely; returns the next key."""
    cards, size, wild, kept = s["cards"].copy(), int(s["stock_size"]), as_int64(int(s["wild"])), 0
    hand, live = scratch[HAND], scratch[LIVE]
    for face in range(NUM_FACES):
        hand[face] = int(s["hands"][seat, face]) - int(s["known"][seat, face])
        kept += int(s["known"][seat, face])
    if size <= kept:
        return key
    live_cards(s, seat, r, live)
    # What was taken and kept comes later; until then cards of the stock stand for it.
    for _ in range(kept):
        size -= 1
        hand[int(cards[size])] += 1
        live[int(cards[size])] -= 1
    pinned = 0  # mask of the kept faces that have come
    # Cards seen before the pile became the stock may lie anywhere now: those tell nothing.
    first_told = int(view["pile_log"])
    top = int(view["pile"][0]) if int(view["reshuffles"]) == 0 and int(view["pile_size"]) > 0 else NONE
    for k in range(int(view["log_size"])):
        entry = int(view["log"][k])
        source, thrown = log_source(entry), log_face(entry)
        is_told = k >= first_told and thrown < NUM_FACES
        if log_seat(entry) == seat and source <= LOG_CLOSED:
            if source < NUM_FACES and _is_kept(view, seat, k, source):
                key = _agree(hand, source, True, cards, size, pinned, key, wild, r, table, live)
                pinned |= 1 << source
                hand[source] += 1
                gone, _ = light_throw(hand, wild, pinned, r, table, scratch)
                if gone < 0:
                    gone = _surplus(hand, s["known"][seat])
                hand[gone] -= 1
                live[gone] += 1
                key, place = draw_below(key, size + 1)
                cards[size] = cards[place]
                cards[place] = gone
                size += 1
            else:
                if source == LOG_CLOSED and top != NONE and (int(r["open_joker"]) == _ANY or not wild >> top & 1):
                    key = _agree(hand, top, False, cards, size, pinned, key, wild, r, table, live)
                key, place = draw_below(key, size)
                drawn = int(cards[place])
                hand[drawn] += 1
                live[drawn] -= 1
                gone, left = light_throw(hand, wild, pinned, r, table, scratch)
                if gone < 0 or left == 0:
                    gone = drawn
                hand[gone] -= 1
                live[gone] += 1
                cards[place] = gone
            if is_told:
                key = _agree(hand, thrown, False, cards, size, pinned, key, wild, r, table, live)
        if is_told:
            top = thrown
    lay_hidden(s, seat, hand, cards)
    return key


@njit
def _is_kept(view: Any, seat: int, k: int, face: int) -> bool:
    """Whether the face that a seat took in entry ``k`` of the log is known to be in its hand.

    Of several copies taken those kept are the last.
    """
    later = 0
    for after in range(k + 1, int(view["log_size"])):
        entry = int(view["log"][after])
        if log_seat(entry) == seat and log_source(entry) == face:
            later += 1
    return later < int(view["known"][seat, face])


@njit
def _agree(
    hand: Counts,
    face: int,
    lowers: bool,
    cards: npt.NDArray[np.uint8],
    size: int,
    pinned: int,
    key: np.uint64,
    wild: int,
    r: Any,
    table: Table,
    live: Counts,
) -> np.uint64:
    """Exchange cards with the stock until a face lowers the distance of a hand, or doesn't; returns the next key.

    Args:
        hand: of the dealt size.
        cards: the stock in its first ``size`` places.
        pinned: mask of the faces that stay as they are.
    """
    free = 0
    for held in range(NUM_FACES):
        if pinned >> held & 1 == 0:
            free += int(hand[held])
    if free == 0:
        return key
    distance = as_int64(int(distance_kernel(hand, wild, r, table)))
    # A face that lowered the distance to 0 would have been declared with.
    level = max(distance, 2) if lowers else distance
    for _ in range(_TRIES):
        if distance == level and _lowers(hand, face, distance, wild, r, table) == lowers:
            break
        key, place = draw_below(key, size)
        key, nth = draw_below(key, free)
        come, gone = int(cards[place]), _nth_free(hand, pinned, nth)
        if pinned >> come & 1:
            continue
        hand[gone] -= 1
        hand[come] += 1
        after = int(distance_kernel(hand, wild, r, table))
        if abs(after - level) > abs(distance - level):
            hand[gone] += 1
            hand[come] -= 1
        else:
            distance = after
            cards[place] = gone
            live[gone] += 1
            live[come] -= 1
    return key


@njit
def _surplus(hand: Counts, known: Counts) -> int:
    """A face of which a hand holds more copies than are known; there is one, for it holds more cards."""
    face = 0
    while int(hand[face]) <= int(known[face]):
        face += 1
    return face


@njit
def _lowers(hand: Counts, face: int, distance: int, wild: int, r: Any, table: Table) -> bool:
    """Whether a face brings a hand below its distance."""
    hand[face] += 1
    lower = int(distance_kernel(hand, wild, r, table))
    hand[face] -= 1
    return lower < distance


@njit
def _nth_free(hand: Counts, pinned: int, nth: int) -> int:
    """The face of a hand's ``nth`` card, from 0, those pinned left out."""
    face = 0
    while pinned >> face & 1 or int(hand[face]) <= nth:
        if pinned >> face & 1 == 0:
            nth -= int(hand[face])
        face += 1
    return face
