"""What a perfect rule for first drops would bring: hands at their first turn, each played on in many worlds.

The light player of `search` plays both seats (`outs` would take a hundred times as long), and the opponent
drops by the published rule. Before its first draw a seat knows its hand, the indicator and the open card; the second
seat also knows whether the first took the open card and what it threw. Everything else is dealt anew, and where
the first seat has moved, only worlds count in which it would have stayed and done just that.

A perfect rule drops whatever is worth less than the drop costs. What a hand is worth is known from its playouts
only, and a rule that is judged by the same playouts as it decides by looks better than it is. So it decides by one
half of them and is judged by the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env import engine
from paplu_env._jit import as_int64, njit
from paplu_env.bots.policy import Policy
from paplu_env.bots.search.playout_policy import SCRATCH_ROWS, TO_THE_END, UNKNOWN, play_on
from paplu_env.bots.search.solver_cache import SolverCache, empty_solver_cache
from paplu_env.cards import NUM_FACES, Counts
from paplu_env.engine.actions import DROP
from paplu_env.engine.arguments import as_seed
from paplu_env.engine.chance import below, mix, shuffle
from paplu_env.engine.dealing import active_bits, deal_kernel
from paplu_env.engine.piles import open_card
from paplu_env.engine.state import OVER, States, empty_states
from paplu_env.engine.world import lay_hidden
from paplu_env.melds import distances
from paplu_env.melds.fast_distance.distance_kernels import distance_kernel
from paplu_env.melds.fast_distance.distance_table import Table, distance_table
from paplu_env.rules import as_rules
from training.fit.outs import MAX_DISTANCE

_RULES: Final = "points"
_TRIES: Final = 200  # worlds dealt for a playout, on average over a hand, before the hand is given up

# Rows of states to work in.
_DEALT: Final = 0  # the deal
_WORLD: Final = 1  # what the seat can't see dealt anew

_PLACE: Final = np.uint64(1)  # mixed into a world's key it gives that of the place of the thrown card
_COPY: Final = np.uint64(2)  # and that of which of two copies it was


@dataclass(frozen=True)
class Hands:
    """First turns of many deals: of seat 0 in even deals, and of seat 1, which moves second, in odd ones."""

    states: States  # (B,), at the start of the seat's turn
    seats: npt.NDArray[np.int64]  # (B,)
    points: npt.NDArray[np.float64]  # (B, 2), what playing on is worth by each half; NaN: no such turn, or given up


def play_hands(deals: int, playouts: int, seed: int) -> Hands:
    """Play the hands of ``deals`` deals on, each ``playouts`` times for each half."""
    rules = as_rules(_RULES)
    states, seats = empty_states(rules, deals), np.arange(deals, dtype=np.int64) % 2
    points = np.full((deals, 2), np.nan)
    _play_hands(
        states, empty_states(rules, 2), rules.packed, distance_table(), active_bits(rules, 0, None), as_seed(seed),
        playouts, points,
    )  # fmt: skip
    return Hands(states, seats, points)


def gains(hands: Hands, policy: Policy) -> dict[str, Any]:
    """What rules bring over the published one, in points per deal and by seat: a perfect one, and a policy's."""
    rules = policy.rules
    known = ~np.isnan(hands.points[:, 0])
    views = engine.player_views(hands.states[known], hands.seats[known])
    masks = engine.legal_action_masks(hands.states[known], rules)
    drops = policy.act(views, masks, np.zeros(len(views), dtype=np.uint64)) == DROP
    published = distances(views["hand"], views["wild"], rules) > MAX_DISTANCE
    points, seats = hands.points[known], hands.seats[known]
    both = points.mean(axis=1)

    def gain(chosen: npt.NDArray[np.bool_], worth: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return (published.astype(float) - chosen) * (worth + rules.first_drop)

    perfect = [gain(points[:, half] < -rules.first_drop, points[:, 1 - half]) for half in range(2)]
    rows = {
        "perfect": np.mean(perfect, axis=0),
        policy.name: gain(drops, both),
        "never dropping": gain(np.zeros_like(drops), both),
    }
    return {
        "hands": int(known.sum()),
        "rules": {name: _by_seat(row, seats, len(known)) for name, row in rows.items()},
    }


def _by_seat(gain: npt.NDArray[np.float64], seats: npt.NDArray[np.int64], deals: int) -> dict[str, float]:
    """Means over all deals, those without such a turn included, and the standard error of that of both seats."""
    games = np.array([-(-deals // 2), deals // 2])
    mean, square = (np.bincount(seats, gain**power, 2) / games for power in (1, 2))
    error = float(np.sqrt(((square - mean**2) / games).sum()) / 2)
    return {"first": float(mean[0]), "second": float(mean[1]), "points": float(mean.mean()), "error": error}


@njit
def _play_hands(
    starts: States,
    states: States,
    rules: npt.NDArray[np.void],
    table: Table,
    everybody: int,
    seed: np.uint64,
    playouts: int,
    points: npt.NDArray[np.float64],
) -> None:
    """Fill ``starts`` and ``points``, one row per deal."""
    scratch, distances = np.empty((SCRATCH_ROWS, NUM_FACES), dtype=np.uint8), np.empty(2, dtype=np.int64)
    cache = empty_solver_cache(int(rules[0]["hand_size"]))
    for deal in range(len(starts)):
        seat = deal % 2
        deal_kernel(states, _DEALT, rules, seed + np.uint64(deal), 0, everybody)
        starts[deal] = states[_DEALT]
        if seat == 1:
            distances[:] = UNKNOWN
            play_on(starts, deal, 1, rules, table, distances, cache, scratch)
            if int(starts[deal]["phase"]) == OVER or _would_drop(states[_DEALT], 0, rules[0], table, scratch[0]):
                continue
        key = mix(seed, np.uint64(deal))
        for half in range(2):
            total, played, tries = 0.0, 0, 0
            while played < playouts and tries < playouts * _TRIES:
                states[_WORLD] = states[_DEALT]
                world = mix(mix(key, np.uint64(half)), np.uint64(tries))
                tries += 1
                if _deal_anew(states[_WORLD], starts[deal], seat, world, scratch[0]) and _is_likely(
                    states, starts[deal], seat, rules, table, distances, cache, scratch
                ):
                    total += _play_out(states, seat, rules, table, distances, cache, scratch)
                    played += 1
            if played < playouts:
                points[deal, :] = np.nan
                break
            points[deal, half] = total / played


@njit
def _deal_anew(s: Any, start: Any, seat: int, key: np.uint64, hand: Counts) -> bool:
    """Deal the other hand and the stock of a deal anew; the first seat's gets or draws what it has thrown.

    ``hand`` is written.

    Returns:
        False if the world is to be left out.
    """
    other = 1 - seat
    stock = as_int64(int(s["stock_size"]))
    size = stock
    cards = s["cards"].copy()
    hand[:] = 0
    for face in range(NUM_FACES):
        for _ in range(int(s["hands"][other, face])):
            cards[size] = face
            size += 1
    shuffle(cards, size, key)
    is_in = seat == 0 or _lay_thrown(cards, open_card(start), stock - 1, size, key)
    for place in range(stock, size):
        hand[int(cards[place])] += 1
    lay_hidden(s, other, hand, cards)
    return is_in


@njit
def _lay_thrown(cards: npt.NDArray[np.uint8], thrown: int, start: int, stop: int, key: np.uint64) -> bool:
    """Swap a copy of the thrown card into the places ``start..stop-1``: the hand, and the card it draws.

    A world with two copies there comes from either of them, so half of those are left out.
    """
    at = 0
    while int(cards[at]) != thrown:
        at += 1
    place = start + below(mix(key, _PLACE), stop - start)
    cards[at], cards[place] = cards[place], thrown
    copies = 0
    for k in range(start, stop):
        copies += int(int(cards[k]) == thrown)
    return below(mix(key, _COPY), copies) == 0


@njit
def _is_likely(
    states: States,
    start: Any,
    seat: int,
    rules: npt.NDArray[np.void],
    table: Table,
    distances: npt.NDArray[np.int64],
    cache: SolverCache,
    scratch: npt.NDArray[np.uint8],
) -> bool:
    """Whether the first seat, if it isn't the one that decides, stays and does in the world what was seen."""
    distances[:] = UNKNOWN
    if seat == 0:
        return True
    if _would_drop(states[_WORLD], 0, rules[0], table, scratch[0]):
        return False
    play_on(states, _WORLD, 1, rules, table, distances, cache, scratch)
    s = states[_WORLD]
    return (
        int(s["phase"]) != OVER
        and int(s["stock_size"]) == int(start["stock_size"])  # it drew from where it did
        and open_card(s) == open_card(start)
    )


@njit
def _play_out(
    states: States,
    seat: int,
    rules: npt.NDArray[np.void],
    table: Table,
    distances: npt.NDArray[np.int64],
    cache: SolverCache,
    scratch: npt.NDArray[np.uint8],
) -> float:
    """Points of a seat that stays, in the world: the second seat has yet to drop or stay when the first decides."""
    if seat == 0:
        play_on(states, _WORLD, 1, rules, table, distances, cache, scratch)
        if int(states[_WORLD]["phase"]) != OVER and _would_drop(states[_WORLD], 1, rules[0], table, scratch[0]):
            return float(rules[0]["first_drop"])
    play_on(states, _WORLD, TO_THE_END, rules, table, distances, cache, scratch)
    return float(states[_WORLD]["returns"][seat])


@njit
def _would_drop(s: Any, seat: int, r: Any, table: Table, hand: Counts) -> bool:
    """Whether the published rule drops a hand before its first draw. ``hand`` is written."""
    for face in range(NUM_FACES):
        hand[face] = s["hands"][seat, face]
    return int(distance_kernel(hand, as_int64(int(s["wild"])), r, table)) > MAX_DISTANCE
