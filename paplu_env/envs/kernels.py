"""Loops over the rows of many deals: deal, play on until a learner decides, show it what it may know.

No rule lives here: legality, transitions, views and the rule agents' answers are asked for, row by row.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import njit
from paplu_env.bots.rule_kernels import choose_kernel
from paplu_env.engine.chance import below, mix
from paplu_env.engine.deal import deal_kernel
from paplu_env.engine.legal import mask_kernel
from paplu_env.engine.state import DRAW, OVER, States, Views
from paplu_env.engine.transition import apply_kernel
from paplu_env.engine.view import view_kernel

Ints = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]
Masks = npt.NDArray[np.bool_]

ANY_SEAT: Final = -1  # as the learner's seat: a random one, drawn by the deal's seed
EVERY_SEAT: Final = -2  # every seat is played from outside
OUTSIDE: Final = -1  # as a rule agent: the seat's policy is asked outside the kernel
NO_ACTION: Final = -1  # as an action: only play on

# What hangs on a deal's seed besides the deal itself: keys ``mix(seed, …)``, each for one purpose. The engine
# mixes small numbers into the seed for its own, so these begin at 101.
_SEAT_KEY: Final = np.uint64(101)
_LINE_UP_KEY: Final = np.uint64(102)
_DECISIONS_KEY: Final = np.uint64(103)


@njit
def deal_rows(
    states: States,
    rows: Ints,
    start: int,
    stop: int,
    seeds: Keys,
    learner: int,
    learner_starts: bool,
    rules: Any,
    seats: Ints,
    line_up_keys: Keys,
    decision_keys: Keys,
) -> None:
    """Deal the rows ``rows[start..stop-1]``, one seed each, and draw what else hangs on the seed.

    Args:
        rows: ``(N,)`` rows of everything that is ``(B,)``.
        seeds: ``(N,)`` the deals' seeds.
        learner: the learner's seat, `ANY_SEAT` or `EVERY_SEAT`.
        learner_starts: the learner has the first turn, instead of seat 0.
        seats, line_up_keys, decision_keys: ``(B,)``, written to.
    """
    players = int(rules[0]["num_players"])
    everybody = (1 << players) - 1
    for k in range(start, stop):
        i = int(rows[k])
        seed = seeds[k]
        seat = learner
        if learner == ANY_SEAT:
            seat = below(mix(seed, _SEAT_KEY), players)
        first = seat if learner_starts and seat >= 0 else 0
        seats[i] = max(seat, 0)
        line_up_keys[i] = mix(seed, _LINE_UP_KEY)
        decision_keys[i] = mix(seed, _DECISIONS_KEY)
        deal_kernel(states, i, rules, seed, first, everybody)


@njit
def play_rows(
    states: States,
    rows: Ints,
    start: int,
    stop: int,
    actions: Ints,
    every_seat: bool,
    agents: Ints,
    line_ups: Ints,
    decision_keys: Keys,
    rules: Any,
    table: Any,
    seats: Ints,
    views: Views,
    masks: Masks,
    waiting: Ints,
    asked_views: Views,
    asked_masks: Masks,
    asked_keys: Keys,
) -> int:
    """Apply one action in each of ``rows[start..stop-1]``, then play on until somebody outside must decide.

    A row comes to rest when its learner is to move or its deal is over: its view and mask are then
    written. Or when a policy must be asked that is not one of the rule agents: then the place
    ``start, start+1, …`` of the ``waiting`` and ``asked_…`` arrays gets the row, and what the policy sees.

    Args:
        rows: ``(N,)`` rows of everything that is ``(B,)``.
        actions: ``(N,)`` for the seats to move, checked; `NO_ACTION` to only play on.
        every_seat: all seats are learners.
        agents: ``(L, P-1)`` rule agents of the line-ups by relative seat (the step to the next seat is
            its own inverse, forwards or backwards), or `OUTSIDE`.
        line_ups: ``(B,)`` line-up of each deal.
        seats: ``(B,)`` learners' seats; with ``every_seat`` the seat to move, or that ended the deal.
        views, masks: ``(B,)`` and ``(B, A)`` of the learners, written to.
        waiting, asked_views, asked_masks, asked_keys: ``(N,)`` or longer, written to.

    Returns:
        The place after the last row that waits for a policy.
    """
    players, step = int(rules[0]["num_players"]), int(rules[0]["step"])
    answer = np.empty(1, dtype=np.int64)
    place = start
    for k in range(start, stop):
        i = int(rows[k])
        action = int(actions[k])
        while True:
            if action != NO_ACTION:
                apply_kernel(states, i, action, rules)
            phase = int(states[i]["phase"])
            seat = int(states[i]["current_player"])
            if every_seat and phase != OVER:
                seats[i] = seat
            learner = int(seats[i])
            if phase == OVER or seat == learner:
                view_kernel(states, i, learner, views, i)
                mask_kernel(states, i, rules, masks[i])  # all False when the deal is over
                break
            view_kernel(states, i, seat, asked_views, place)
            mask_kernel(states, i, rules, asked_masks[place])
            asked_keys[place] = mix(mix(decision_keys[i], np.uint64(seat)), _decision(states, i, phase))
            agent = int(agents[int(line_ups[i]), (seat - learner) * step % players - 1])
            if agent == OUTSIDE:
                waiting[place] = i
                place += 1
                break
            one = slice(place, place + 1)  # a rule agent takes arrays, here of one row
            choose_kernel(agent, asked_views[one], asked_masks[one], asked_keys[one], rules, table, answer)
            action = int(answer[0])
    return place


@njit
def _decision(states: States, i: int, phase: int) -> np.uint64:
    """The number of a decision in its deal, by what the row knows: even before a draw, odd after it.

    A seat that goes out without drawing leaves it unchanged for the next seat, which has other keys.
    """
    draws = int(states[i]["draws"])
    return np.uint64(2 * draws if phase == DRAW else 2 * draws - 1)
