"""A light greedy player that plays a deal on inside one kernel: how search believes that every seat plays.

It takes the open card if that lowers the distance, declares at once, never drops, and throws, of the cards
that keep the distance lowest, the one that keeps least company. The *company* of a card is what it may still
become together with the rest of the hand: the live cards that would make a group of it and one other card. It
is a stand-in for outs, at a fifth of their price.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import as_int64, lowest_bit, njit
from paplu_env.cards import FACE_POINTS, NUM_FACES, NUM_RANKS, NUM_SUITS, PRINTED_JOKER, Counts
from paplu_env.engine.actions import DECLARE_BASE, DISCARD_BASE, DRAW_CLOSED, TAKE_OPEN
from paplu_env.engine.legal import LEGAL, reason_kernel
from paplu_env.engine.state import DRAW, NONE, OVER, PILE_CAPACITY, States
from paplu_env.engine.transition import apply_kernel
from paplu_env.melds.distance import NOT_HELD, discard_distances_kernel, distance_kernel
from paplu_env.melds.distance_table import Table

UNKNOWN: Final = -1  # a distance that hasn't been asked for
TO_THE_END: Final = 1 << 30  # more turns than a deal has

# The best of sixty triples drawn at random, by 2,500 duplicate deals each against the same player with true
# outs; it loses to that player by 2.6 points a deal, a player that throws the dearest card by 3.9.
_ALONE: Final = 0.3  # worth of a live card of the same rank when no other of the rank is held, beside one held: 1
_IN_RUN: Final = 2.0  # worth of being one of three neighbours held, beside a live card that would make such a run: 1
_POINT: Final = 0.4  # what a point of the card takes off, since it may be left in the hand at the end

_RUN: Final = 3  # places of the shortest run
_WILD_LAST: Final = 1000.0  # keeps wild cards until nothing else is left to throw

# Rows of the room to work in.
_HAND: Final = 0
_AFTER: Final = 1
_LIVE: Final = 2
ROOM_ROWS: Final = 3


@njit
def play_on(
    states: States,
    i: int,
    turns: int,
    rules: npt.NDArray[np.void],
    table: Table,
    nearness: npt.NDArray[np.int64],
    room: npt.NDArray[np.uint8],
) -> None:
    """Play row ``i`` until so many turns have ended, the one under way included, or the deal has.

    Args:
        nearness: ``(P,)``, distance of each hand as it was before its seat drew, or `UNKNOWN`; kept up to date.
        room: ``(ROOM_ROWS, 53)``, to work in.
    """
    r = rules[0]
    wild = as_int64(int(states[i]["wild"]))
    while turns > 0 and int(states[i]["phase"]) != OVER:
        s = states[i]
        seat = int(s["current_player"])
        hand = room[_HAND]
        for face in range(NUM_FACES):
            hand[face] = s["hands"][seat, face]
        if int(s["phase"]) == DRAW:
            apply_kernel(states, i, _draw(states, i, seat, hand, wild, rules, table, nearness), rules)
        else:
            apply_kernel(states, i, _finish_or_discard(s, seat, hand, wild, r, table, nearness, room), rules)
            turns -= 1


@njit
def _draw(
    states: States,
    i: int,
    seat: int,
    hand: Counts,
    wild: int,
    rules: npt.NDArray[np.void],
    table: Table,
    nearness: npt.NDArray[np.int64],
) -> int:
    """Take the open card if that lowers the distance, else draw. ``hand`` is a copy and is written to."""
    if reason_kernel(states, i, TAKE_OPEN, rules) != LEGAL:
        return DRAW_CLOSED
    if nearness[seat] == UNKNOWN:
        nearness[seat] = int(distance_kernel(hand, wild, rules[0], table))
    s = states[i]
    hand[int(s["cards"][PILE_CAPACITY - int(s["pile_size"])])] += 1
    return TAKE_OPEN if int(distance_kernel(hand, wild, rules[0], table)) < nearness[seat] else DRAW_CLOSED


@njit
def _finish_or_discard(
    s: Any,
    seat: int,
    hand: Counts,
    wild: int,
    r: Any,
    table: Table,
    nearness: npt.NDArray[np.int64],
    room: npt.NDArray[np.uint8],
) -> int:
    """Declare if possible, else throw the card with least company of those that keep the distance lowest."""
    taken = int(s["taken"])
    blocked = 0  # mask of the card that may not be thrown
    if taken != NONE and int(r["block_taken_card"]) and int(hand[taken]) == 1:
        blocked = 1 << taken
    finish = int(s["declarable"]) & ~blocked
    if finish:
        return DECLARE_BASE + lowest_bit(finish)
    after = room[_AFTER]
    discard_distances_kernel(hand, wild, r, table, after)
    lowest = NOT_HELD
    for face in range(NUM_FACES):
        if blocked >> face & 1 == 0:
            lowest = min(lowest, int(after[face]))
    nearness[seat] = lowest
    live = room[_LIVE]
    live_cards(s, seat, r, live)
    return DISCARD_BASE + least_company(hand, faces_with(after, lowest) & ~blocked, wild, live)


@njit
def faces_with(after: Counts, lowest: int) -> int:
    """Mask of the faces after whose discard the distance is this."""
    faces = 0
    for face in range(NUM_FACES):
        if int(after[face]) == lowest:
            faces |= 1 << face
    return faces


@njit
def least_company(hand: Counts, faces: int, wild: int, live: Counts) -> int:
    """Of the faces in a mask that is not empty, the one to throw; a wild card only if there is nothing else."""
    chosen, least = -1, 0.0
    while faces:
        face = lowest_bit(faces)
        faces &= faces - 1
        if wild >> face & 1:
            worth = _WILD_LAST
        else:
            worth = _company(hand, face, wild, live) - _POINT * int(FACE_POINTS[face])
        if chosen < 0 or worth < least:
            chosen, least = face, worth
    return chosen


@njit
def _company(hand: Counts, face: int, wild: int, live: Counts) -> float:
    """What a natural card may still become, see above."""
    suit, rank = face // NUM_RANKS, face % NUM_RANKS
    is_alone, mates = True, 0
    for other in range(NUM_SUITS):
        mate = NUM_RANKS * other + rank
        if other == suit:
            continue
        if int(hand[mate]) > 0 and wild >> mate & 1 == 0:
            is_alone = False
        else:
            mates += int(live[mate])
    worth = mates * _ALONE if is_alone else float(mates)
    worth += _in_runs(hand, suit, rank, wild, live)
    if rank == 0:  # an ace is above the king too
        worth += _in_runs(hand, suit, NUM_RANKS, wild, live)
    return worth


@njit
def _in_runs(hand: Counts, suit: int, place: int, wild: int, live: Counts) -> float:
    """The part of runs in a card's company, for a card at one of the places 0 (ace) to 13 (ace again)."""
    worth = 0.0
    for start in range(max(0, place - _RUN + 1), min(place, NUM_RANKS + 1 - _RUN) + 1):
        held, missing = 0, 0
        for other in range(start, start + _RUN):
            neighbour = NUM_RANKS * suit + other % NUM_RANKS
            if other == place:
                continue
            if int(hand[neighbour]) > 0 and wild >> neighbour & 1 == 0:
                held += 1
            else:
                missing = int(live[neighbour])
        if held == _RUN - 1:
            worth += _IN_RUN
        elif held == _RUN - 2:
            worth += missing
    return worth


@njit
def live_cards(s: Any, seat: int, r: Any, live: Counts) -> None:
    """Write how many copies of each face a seat of a state hasn't seen, as `unseen_kernel` does for a view.

    Hands that lie open are left out: nobody has declared wrongly where all declare only what is complete.
    """
    for face in range(NUM_FACES):
        copies = int(r["printed_jokers"]) if face == PRINTED_JOKER else int(r["num_decks"])
        for other in range(int(r["num_players"])):
            copies -= int(s["hands"][seat, face]) if other == seat else int(s["known"][other, face])
        live[face] = copies
    live[int(s["indicator"])] -= 1
    for place in range(int(s["pile_size"])):
        live[int(s["cards"][PILE_CAPACITY - 1 - place])] -= 1
