"""How search believes that every seat plays: a light, greedy player that plays a deal on inside one kernel.

It takes the open card if that lowers the distance, declares at once, never drops, and throws, of the cards
that keep the distance lowest, the one that leaves most live outs, counting points a little. That is `outs` without
its look a step further, in a hundredth of the time.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import as_int64, lowest_bit, njit
from paplu_env.bots.search.solver_cache import SolverCache, cached_discard_outs
from paplu_env.cards import FACE_POINTS, NUM_FACES, PRINTED_JOKER, Counts
from paplu_env.engine.actions import DECLARE_BASE, DISCARD_BASE, DRAW_CLOSED, TAKE_OPEN
from paplu_env.engine.blocked import unthrowable
from paplu_env.engine.legal import LEGAL, reason_kernel
from paplu_env.engine.piles import open_card, pile_card
from paplu_env.engine.state import DRAW, NONE, OVER, States
from paplu_env.engine.transition import apply_kernel
from paplu_env.melds.fast_distance.distance_kernels import NOT_HELD, distance_kernel
from paplu_env.melds.fast_distance.distance_table import Table
from paplu_env.melds.fast_distance.outs_kernels import discard_outs_kernel

UNKNOWN: Final = -1  # a distance that hasn't been asked for
TO_THE_END: Final = 1 << 30  # more turns than a deal has

# Outs that a point of the thrown card outweighs: of 0, 0.1, 0.3, 0.6 and 1 none was better over 4,000 duplicate deals.
POINT_IN_OUTS: Final = 0.3
_WILD_LAST: Final = 1000.0  # outs that keep wild cards in the hand until nothing else is left to throw

# Rows of the scratch to work in, ``(SCRATCH_ROWS, 53)``.
HAND: Final = 0
AFTER: Final = 1  # distances after each discard
LIVE: Final = 2  # copies that the seat hasn't seen
OUTS_AFTER: Final = 3  # live outs after each discard
SCRATCH_ROWS: Final = 4


@njit
def play_on(
    states: States,
    i: int,
    turns: int,
    rules: npt.NDArray[np.void],
    table: Table,
    distances: npt.NDArray[np.int64],
    cache: SolverCache,
    scratch: npt.NDArray[np.uint8],
) -> None:
    """Play row ``i`` on for some turns, or until the deal has ended.

    Args:
        turns: how many turns have to end, the one under way included.
        distances: ``(P,)``, distance of each hand as it was before its seat drew, or `UNKNOWN`; kept up to date.
        cache: of these rules.
        scratch: ``(SCRATCH_ROWS, 53)``, to work in.
    """
    r = rules[0]
    wild = as_int64(int(states[i]["wild"]))
    while turns > 0 and int(states[i]["phase"]) != OVER:
        s = states[i]
        seat = int(s["current_player"])
        hand = scratch[HAND]
        for face in range(NUM_FACES):
            hand[face] = s["hands"][seat, face]
        if int(s["phase"]) == DRAW:
            apply_kernel(states, i, _draw(states, i, seat, hand, wild, rules, table, distances), rules)
        else:
            apply_kernel(states, i, _finish_or_discard(s, seat, hand, wild, r, table, distances, cache, scratch), rules)
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
    distances: npt.NDArray[np.int64],
) -> int:
    """Take the open card if that lowers the distance, else draw. ``hand`` is a copy and is written to."""
    if reason_kernel(states, i, TAKE_OPEN, rules) != LEGAL:
        return DRAW_CLOSED
    if distances[seat] == UNKNOWN:
        distances[seat] = int(distance_kernel(hand, wild, rules[0], table))
    s = states[i]
    hand[open_card(s)] += 1
    return TAKE_OPEN if int(distance_kernel(hand, wild, rules[0], table)) < distances[seat] else DRAW_CLOSED


@njit
def _finish_or_discard(
    s: Any,
    seat: int,
    hand: Counts,
    wild: int,
    r: Any,
    table: Table,
    distances: npt.NDArray[np.int64],
    cache: SolverCache,
    scratch: npt.NDArray[np.uint8],
) -> int:
    """Declare if possible, else throw."""
    kept_back = unthrowable(hand, int(s["taken"]), r)
    blocked = 0 if kept_back == NONE else 1 << kept_back  # mask of the card that may not be thrown
    finish = int(s["declarable"]) & ~blocked
    if finish:
        return DECLARE_BASE + lowest_bit(finish)
    live_cards(s, seat, r, scratch[LIVE])
    cached_discard_outs(hand, wild, scratch[LIVE], r, table, cache, scratch[AFTER], scratch[OUTS_AFTER])
    thrown, distances[seat] = _best_throw(hand, wild, blocked, scratch[AFTER], scratch[OUTS_AFTER])
    return DISCARD_BASE + thrown


@njit
def light_throw(
    hand: Counts, wild: int, blocked: int, r: Any, table: Table, scratch: npt.NDArray[np.uint8]
) -> tuple[int, int]:
    """The card that this player throws from a hand with one card more, and the distance that this leaves.

    Args:
        blocked: mask of the faces that may not go. If no other is held, the answer is -1.
        scratch: its row `LIVE` tells the live cards; `AFTER` and `OUTS_AFTER` are written.
    """
    after, outs = scratch[AFTER], scratch[OUTS_AFTER]
    discard_outs_kernel(hand, wild, scratch[LIVE], r, table, after, outs)
    return _best_throw(hand, wild, blocked, after, outs)


@njit
def _best_throw(
    hand: Counts, wild: int, blocked: int, after: npt.NDArray[np.uint8], outs: npt.NDArray[np.uint8]
) -> tuple[int, int]:
    """The answer of `light_throw`, from the distance and the outs after each discard."""
    lowest = int(NOT_HELD)
    for face in range(NUM_FACES):
        if blocked >> face & 1 == 0:
            lowest = min(lowest, int(after[face]))
    chosen, most = -1, 0.0
    for face in range(NUM_FACES):
        if int(hand[face]) == 0 or int(after[face]) != lowest or blocked >> face & 1:
            continue
        worth = -_WILD_LAST if wild >> face & 1 else POINT_IN_OUTS * int(FACE_POINTS[face])
        worth += int(outs[face])
        if chosen < 0 or worth > most:
            chosen, most = face, worth
    return chosen, lowest


@njit
def live_cards(s: Any, seat: int, r: Any, live: Counts) -> None:
    """Write how many copies of each face a seat of a state hasn't seen, as `unseen_kernel` does for a view.

    Hands that lie open are not counted: nobody has declared wrongly where all declare only complete hands.
    """
    for face in range(NUM_FACES):
        copies = int(r["printed_jokers"]) if face == PRINTED_JOKER else int(r["num_decks"])
        for other in range(int(r["num_players"])):
            copies -= int(s["hands"][seat, face]) if other == seat else int(s["known"][other, face])
        live[face] = copies
    live[int(s["indicator"])] -= 1
    for place in range(int(s["pile_size"])):
        live[pile_card(s, place)] -= 1
