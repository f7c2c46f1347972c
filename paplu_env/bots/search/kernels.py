"""How `search` decides: candidates, likely worlds, and the same worlds played on after every candidate.

The first candidate is the base policy's move. In each world every candidate is tried on a copy, the player
of `playout_policy` plays all seats on for some turns, and what stands then is worth what a fitted value says, or
what the deal brought if it has ended. The copies share their cards, so the *gain* of a candidate over the base's move
is measured world by world, and its noise is far below that of the points themselves.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import as_int64, njit
from paplu_env.bots.search.belief import likely_world
from paplu_env.bots.search.leaf_features import FEATURE_SCRATCH_ROWS, NUM_FEATURES, Floats, describe_row
from paplu_env.bots.search.leaf_value import Value, value_kernel
from paplu_env.bots.search.playout_policy import AFTER, HAND, LIVE, OUTS_AFTER, POINT_IN_OUTS, UNKNOWN, play_on
from paplu_env.bots.search.solver_cache import SolverCache
from paplu_env.cards import FACE_POINTS, NUM_FACES, Counts
from paplu_env.engine.actions import DECLARE_BASE, DISCARD_BASE, DRAW_CLOSED, DROP, TAKE_OPEN
from paplu_env.engine.chance import mix
from paplu_env.engine.piles import open_card_of_view
from paplu_env.engine.state import DRAW, OVER, States, Views
from paplu_env.engine.transition import apply_kernel
from paplu_env.engine.unseen_cards import unseen_kernel
from paplu_env.melds.fast_distance.distance_kernels import distance_kernel
from paplu_env.melds.fast_distance.distance_table import Table
from paplu_env.melds.fast_distance.outs_kernels import discard_outs_kernel

# Discards that are compared.
_NEAREST: Final = 4  # that keep the lowest distance, the base's move included
_FURTHER: Final = 2  # that leave a distance one higher, for the points or to go another way
MAX_CANDIDATES: Final = _NEAREST + _FURTHER

# Rows of a tally, ``(NUM_TALLIES, MAX_CANDIDATES)``: sums over worlds.
PLAYED: Final = 0  # worlds that the candidate was played in
POINTS: Final = 1  # points of the seat that decides
GAIN: Final = 2  # points more than the base's move brought in the same world
GAIN_SQUARED: Final = 3
BEHIND: Final = 4  # 1: given up
NUM_TALLIES: Final = 5

_CHUNK: Final = 16  # worlds between two looks at the tally
_GIVE_UP: Final = 2.5  # standard errors behind the leader at which a candidate is given up
_SETTLED: Final = 3.0  # standard errors ahead of the base's move at which a leader is taken
_LEAST_VARIANCE: Final = 1.0  # of a gain: a few worlds with equal gains prove nothing


@njit
def candidates_kernel(
    views: Views,
    j: int,
    mask: npt.NDArray[np.bool_],
    base: int,
    rules: npt.NDArray[np.void],
    table: Table,
    actions: npt.NDArray[np.int64],
    scratch: npt.NDArray[np.uint8],
) -> int:
    """Write the actions worth comparing in view ``j``, the base policy's first.

    There is nothing to compare when a hand is complete, or when the open card makes it so and is taken.

    Args:
        base: what the base policy would do, legal.
        actions: ``(MAX_CANDIDATES,)``, filled from the front.

    Returns:
        How many there are, at least one.
    """
    actions[0] = base
    if base >= DECLARE_BASE:  # ANNOUNCE too
        return 1
    view, hand, wild = views[j], scratch[HAND], as_int64(int(views[j]["wild"]))
    for face in range(NUM_FACES):
        hand[face] = view["hand"][face]
    if int(view["phase"]) == DRAW:
        if base == TAKE_OPEN and _completes(view, hand, wild, rules[0], table):
            return 1
        count = 1
        for action in (DRAW_CLOSED, TAKE_OPEN, DROP):
            if mask[action] and action != base:
                actions[count] = action
                count += 1
        return count
    return _add_discards(views, j, mask, hand, wild, rules[0], table, actions, scratch)


@njit
def _completes(view: Any, hand: Counts, wild: int, r: Any, table: Table) -> bool:
    """Whether a hand, which is changed, can be declared with the open card."""
    hand[open_card_of_view(view)] += 1
    return int(distance_kernel(hand, wild, r, table)) == 0


@njit
def _add_discards(
    views: Views,
    j: int,
    mask: npt.NDArray[np.bool_],
    hand: Counts,
    wild: int,
    r: Any,
    table: Table,
    actions: npt.NDArray[np.int64],
    scratch: npt.NDArray[np.uint8],
) -> int:
    """Add discards: the best that keep the lowest distance, then the highest-value that give one up; no wild cards."""
    unseen, distances, outs = scratch[LIVE], scratch[AFTER], scratch[OUTS_AFTER]
    unseen_kernel(views, j, r, unseen)
    lowest = int(discard_outs_kernel(hand, wild, unseen, r, table, distances, outs))
    count = 1
    chosen = wild | 1 << int(actions[0]) - DISCARD_BASE
    for further in range(2):
        limit = _NEAREST if further == 0 else count + _FURTHER
        while count < limit:
            best, most = -1, 0.0
            for face in range(NUM_FACES):
                if not mask[DISCARD_BASE + face] or int(distances[face]) != lowest + further or chosen >> face & 1:
                    continue
                # Outs are told for the nearest hands alone.
                worth = POINT_IN_OUTS * int(FACE_POINTS[face]) + (int(outs[face]) if further == 0 else 0)
                if best < 0 or worth > most:
                    best, most = face, worth
            if best < 0:
                break
            actions[count] = DISCARD_BASE + best
            chosen |= 1 << best
            count += 1
    return count


@njit
def search_kernel(
    views: Views,
    j: int,
    key: np.uint64,
    first: int,
    last: int,
    actions: npt.NDArray[np.int64],
    count: int,
    turns: int,
    value: Value,
    rules: npt.NDArray[np.void],
    table: Table,
    states: States,
    tally: npt.NDArray[np.float64],
    cache: SolverCache,
    scratch: npt.NDArray[np.uint8],
) -> int:
    """Try the candidates in the worlds ``first..last-1`` of a key, and add to the tally.

    Args:
        turns: turns to play on for before the value is asked.
        value: what stands for the rest; not used if ``turns`` exceeds a deal's.
        states: ``(2,)``, to work in.
        cache: of these rules, the same for all portions of one decision.

    Returns:
        1 if the choice is settled, 0 if more worlds may help, -1 if the view's cards don't add up to the pack.
    """
    me = int(views[j]["seat"])
    distances = np.empty(int(rules[0]["num_players"]), dtype=np.int64)
    points = np.zeros(MAX_CANDIDATES, dtype=np.float64)
    seen, x = np.empty((FEATURE_SCRATCH_ROWS, NUM_FACES), dtype=np.uint8), np.empty(NUM_FEATURES, dtype=np.float32)
    hidden, units = np.empty_like(value.into_bias), np.empty_like(value.between_bias)
    for world in range(first, last):
        if not likely_world(views, j, mix(key, np.uint64(world)), rules, table, states, 0, scratch):
            return -1
        for c in range(count):
            if tally[BEHIND, c] > 0.0:
                continue
            states[1] = states[0]
            apply_kernel(states, 1, int(actions[c]), rules)
            distances[:] = UNKNOWN
            play_on(states, 1, turns, rules, table, distances, cache, scratch)
            points[c] = _worth(states[1], me, value, rules[0], table, cache, seen, x, hidden, units)
            gain = points[c] - points[0]
            tally[PLAYED, c] += 1.0
            tally[POINTS, c] += points[c]
            tally[GAIN, c] += gain
            tally[GAIN_SQUARED, c] += gain * gain
        if (world + 1) % _CHUNK == 0 and is_settled(tally, count):
            return 1
    return 0


@njit
def is_settled(tally: npt.NDArray[np.float64], count: int) -> bool:
    """Give up candidates that are clearly behind; whether only one is left, or one is clearly ahead."""
    leader = 0
    for c in range(1, count):
        if tally[BEHIND, c] == 0.0 and tally[GAIN, c] > tally[GAIN, leader]:
            leader = c
    left = 1
    lead = tally[GAIN, leader] / tally[PLAYED, leader]
    for c in range(1, count):
        if tally[BEHIND, c] > 0.0:
            continue
        if c != leader and lead - tally[GAIN, c] / tally[PLAYED, c] > _GIVE_UP * gain_error(tally, c):
            tally[BEHIND, c] = 1.0
        else:
            left += 1
    return left == 1 or (leader > 0 and lead > _SETTLED * gain_error(tally, leader))


@njit
def gain_error(tally: npt.NDArray[np.float64], c: int) -> float:
    """Standard error of a candidate's mean gain."""
    played = tally[PLAYED, c]
    mean = tally[GAIN, c] / played
    variance = max(tally[GAIN_SQUARED, c] / played - mean * mean, _LEAST_VARIANCE)
    return float(np.sqrt(variance / played))


@njit
def choose_candidate(tally: npt.NDArray[np.float64], count: int, threshold: float) -> int:
    """The best of the candidates whose gain exceeds ``threshold`` of its standard errors; else the base's move, 0."""
    best, most = 0, 0.0
    for c in range(1, count):
        if tally[BEHIND, c] == 0.0 and tally[PLAYED, c] > 0.0:
            gain = tally[GAIN, c] / tally[PLAYED, c]
            if gain > most and gain > threshold * gain_error(tally, c):
                best, most = c, gain
    return best


@njit
def _worth(
    s: Any,
    me: int,
    value: Value,
    r: Any,
    table: Table,
    cache: SolverCache,
    seen: npt.NDArray[np.uint8],
    x: Floats,
    hidden: Floats,
    units: Floats,
) -> float:
    """Points of a seat in a deal that has ended, or the fitted value of one at the start of a turn."""
    if int(s["phase"]) == OVER:
        return float(s["returns"][me])
    describe_row(s, r, table, cache, seen, x)
    points = value_kernel(x, value, hidden, units)
    return points if int(s["current_player"]) == me else -points
