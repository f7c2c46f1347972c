"""Loops over the rows of many deals: deal, play on until a learner decides, show it what it may know.

No rule lives here: legality, transitions, views and the rule agents' answers are asked for, row by row.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import njit
from paplu_env.bots.published.kernels import choose_kernel
from paplu_env.engine.chance import Purpose, below, deal_key, decision_key, decision_number, mix
from paplu_env.engine.dealing import deal_kernel
from paplu_env.engine.legal import mask_kernel
from paplu_env.engine.state import ENDING_NAMES, NO_SEAT, OVER, States, Views
from paplu_env.engine.transition import apply_kernel
from paplu_env.engine.view import view_kernel

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Keys = npt.NDArray[np.uint64]
Masks = npt.NDArray[np.bool_]

ANY_SEAT: Final = -1  # as the learner's seat: a random one, drawn by the deal's seed
EVERY_SEAT: Final = -2  # every seat is played from outside
OUTSIDE: Final = -1  # as a rule agent: the seat's policy is asked outside the kernel
NO_ACTION: Final = -1  # as an action: only play on
NEXT_DEAL: Final = -2  # as an action: deal anew, and until the learner has a decision
FORFEIT: Final = len(ENDING_NAMES)  # as an ending: an illegal action ended the deal

# Deals in a row that may end before the learner's first decision; then it gets the first turn.
MAX_SKIPPED: Final = 100

# What hangs on a deal's seed besides the deal itself.
_SEAT_KEY: Final = np.uint64(Purpose.LEARNER_SEAT)
_LINE_UP_KEY: Final = np.uint64(Purpose.LINE_UP)

# A key's upper 53 bits as a double: 0 <= part < 1.
_LOW_BITS: Final = np.uint64(11)
_PART: Final = 2.0**-53


@njit
def play_rows(
    rows: Ints,
    start: int,
    stop: int,
    actions: Ints,
    by_learners: bool,
    learner: int,
    rules: Any,
    table: Any,
    seeds: Keys,
    used: Ints,
    policy_seeds: Keys,
    dealt: Ints,
    agents: Ints,
    bounds: Floats,
    states: States,
    views: Views,
    masks: Masks,
    seats: Ints,
    line_ups: Ints,
    deal_keys: Keys,
    over: Masks,
    phases: Ints,
    movers: Ints,
    endings: Ints,
    winners: Ints,
    returns: Ints,
    forfeits: Ints,
    skipped_deals: Ints,
    skipped_points: Ints,
    waiting: Ints,
    asked_views: Views,
    asked_masks: Masks,
    asked_keys: Keys,
) -> int:
    """Deal or act in each of ``rows[start..stop-1]``, then play on until somebody outside must decide.

    A row comes to rest when its learner is to move or its deal is over: what the learner sees and how the deal
    stands is then written. Or it waits, at the next of the places ``start, start+1, …``: for a policy that
    is not one of the rule agents, which is shown what stands there in the ``asked_…`` arrays, or for a seed.

    Args:
        rows: ``(N,)`` rows of everything that is ``(B,)``.
        actions: ``(N,)`` numbers of actions, `NO_ACTION` or `NEXT_DEAL`.
        by_learners: the actions are the learners', who forfeit deals by illegal ones and begin new ones. Else
            they are answers to what was asked for.
        learner: the learner's seat, `ANY_SEAT` or `EVERY_SEAT`.
        seeds, used: ``(B, S)`` the next deals' seeds and ``(B,)`` how many of them are used up.
        policy_seeds, dealt: ``(B,)`` seeds of the policies' chance, and how many deals hang on them so far.
        agents: ``(L, P-1)`` rule agents of the line-ups by relative seat (the step to the next seat is
            its own inverse, forwards or backwards), or `OUTSIDE`.
        bounds: ``(L,)`` or shorter, rising to 1: a deal draws the first line-up whose bound is above its part.
        seats: ``(B,)`` learners' seats; with `EVERY_SEAT` the seat to move, or that ended the deal.
        deal_keys: ``(B,)``, see `engine.chance.deal_key`.
        over: ``(B,)``, true also before the learner's first decision; a deal that ends so is replaced.
        waiting: ``(N,)`` or longer, the rows that wait; ``~row`` for a row that waits for a seed.

    Returns:
        The place after the last row that waits.
    """
    players, step = int(rules[0]["num_players"]), int(rules[0]["step"])
    answer = np.empty(1, dtype=np.int64)
    place = start
    for k in range(start, stop):
        i = int(rows[k])
        action = int(actions[k])
        if by_learners and action == NEXT_DEAL:
            over[i] = True
            forfeits[i] = NO_ACTION
            skipped_deals[i] = skipped_points[i] = 0
        elif by_learners and action >= 0 and not masks[i, action]:
            forfeits[i] = action
            _settle_forfeit(i, rules[0], masks, seats, over, phases, movers, endings, winners, returns)
            continue
        while True:
            if action == NEXT_DEAL:
                if int(used[i]) == seeds.shape[1]:
                    waiting[place] = ~i
                    place += 1
                    break
                seed = seeds[i, int(used[i])]
                used[i] += 1
                learner_starts = int(skipped_deals[i]) >= MAX_SKIPPED
                _deal_row(states, i, seed, learner, learner_starts, rules, bounds, seats, line_ups)
                deal_keys[i] = deal_key(policy_seeds[i], int(dealt[i]))
                dealt[i] += 1
            elif action != NO_ACTION:
                apply_kernel(states, i, action, rules)
            phase = int(states[i]["phase"])
            seat = int(states[i]["current_player"])
            if learner == EVERY_SEAT and phase != OVER:
                seats[i] = seat
            me = int(seats[i])
            if phase == OVER and over[i]:
                skipped_deals[i] += 1
                skipped_points[i] += int(states[i]["returns"][me])
                action = NEXT_DEAL
                continue
            if phase == OVER or seat == me:
                view_kernel(states, i, me, views, i)
                mask_kernel(states, i, rules, masks[i])  # all False when the deal is over
                over[i] = phase == OVER
                phases[i] = phase
                movers[i] = seat
                endings[i] = int(states[i]["ending"])
                winners[i] = int(states[i]["winner"])
                for other in range(players):
                    returns[i, other] = int(states[i]["returns"][other])
                break
            view_kernel(states, i, seat, asked_views, place)
            mask_kernel(states, i, rules, asked_masks[place])
            number = decision_number(int(states[i]["draws"]), phase)
            asked_keys[place] = decision_key(deal_keys[i], seat, number)
            agent = int(agents[int(line_ups[i]), (seat - me) * step % players - 1])
            if agent == OUTSIDE:
                waiting[place] = i
                place += 1
                break
            one = slice(place, place + 1)  # a rule agent takes arrays, here of one row
            choose_kernel(agent, asked_views[one], asked_masks[one], asked_keys[one], rules, table, answer)
            action = int(answer[0])
    return place


@njit
def _deal_row(
    states: States,
    i: int,
    seed: np.uint64,
    learner: int,
    learner_starts: bool,
    rules: Any,
    bounds: Floats,
    seats: Ints,
    line_ups: Ints,
) -> None:
    """Deal row ``i`` from a seed, and draw what else hangs on it; the first turn is seat 0's or the learner's."""
    players = int(rules[0]["num_players"])
    seat = learner
    if learner == ANY_SEAT:
        seat = below(mix(seed, _SEAT_KEY), players)
    first = seat if learner_starts and seat >= 0 else 0
    seats[i] = max(seat, 0)
    line_ups[i] = draw_line_up(bounds, mix(seed, _LINE_UP_KEY))
    deal_kernel(states, i, rules, seed, first, (1 << players) - 1)


@njit
def draw_line_up(bounds: Floats, key: np.uint64) -> int:
    """The number of the line-up that a key draws, see `play_rows`."""
    part = np.float64(key >> _LOW_BITS) * _PART
    number = 0
    while bounds[number] <= part:
        number += 1
    return number


@njit
def _settle_forfeit(
    i: int,
    r: Any,
    masks: Masks,
    seats: Ints,
    over: Masks,
    phases: Ints,
    movers: Ints,
    endings: Ints,
    winners: Ints,
    returns: Ints,
) -> None:
    """End row ``i`` at an illegal action of its learner, who pays the next seat; the deal stays as it was."""
    payer = int(seats[i])
    after = (payer + int(r["step"])) % int(r["num_players"])
    masks[i, :] = False
    over[i] = True
    phases[i] = OVER
    movers[i] = NO_SEAT
    endings[i] = FORFEIT
    winners[i] = after
    returns[i, :] = 0
    returns[i, payer] = -int(r["wrong_declare_points"])
    returns[i, after] = int(r["wrong_declare_points"])


@njit
def first_illegal(rows: Ints, actions: Ints, masks: Masks) -> int:
    """The first place whose action, where it is one, its row's mask forbids; -1 if there is none."""
    for k in range(len(rows)):
        if int(actions[k]) >= 0 and not masks[int(rows[k]), int(actions[k])]:
            return k
    return -1
