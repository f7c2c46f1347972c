"""Loops over the rows of many deals: deal, play on until a learner decides, show it what it may know.

No rule lives here: legality, transitions, views and the rule agents' answers are asked for, row by row.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from paplu_env._jit import njit
from paplu_env.bots.published.kernels import choose_kernel
from paplu_env.engine.chance import Purpose, below, deal_key, decision_key, decision_number, mix
from paplu_env.engine.dealing import deal_kernel
from paplu_env.engine.legal import mask_kernel
from paplu_env.engine.scoring import forfeit
from paplu_env.engine.state import ENDING_NAMES, NO_SEAT, OVER, States, Views
from paplu_env.engine.transition import apply_kernel
from paplu_env.engine.view import view_kernel
from paplu_env.melds.fast_distance.distance_table import Table

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Keys = npt.NDArray[np.uint64]
Masks = npt.NDArray[np.bool_]
RulesRow = np.void  # one packed rule set
RulesRows = npt.NDArray[np.void]  # (1,) of them

ANY_SEAT: Final = -1  # as the learner's seat: a random one, drawn by the seed of the deal or series
EVERY_SEAT: Final = -2  # every seat is played from outside
OUTSIDE: Final = -1  # as a rule agent: the seat's policy is asked outside the kernel
NO_ACTION: Final = -1  # as an action: only play on
NEXT_DEAL: Final = -2  # as an action: deal anew, and until the learner has a decision
FORFEIT: Final = len(ENDING_NAMES)  # as an ending: an illegal action ended the deal

# Deals or series in a row that may end before the learner's first decision; the next gives it the first turn.
MAX_SKIPPED: Final = 100

# What hangs on a deal's seed besides the deal itself.
_SEAT_KEY: Final = np.uint64(Purpose.LEARNER_SEAT)
_LINE_UP_KEY: Final = np.uint64(Purpose.LINE_UP)

# A key's upper 53 bits as a double: 0 <= part < 1.
_LOW_BITS: Final = np.uint64(11)
_PART: Final = 2.0**-53


class Sources(NamedTuple):
    """What deals are drawn from: seeds and line-ups. Kernels write to ``used`` and ``num_dealt`` alone."""

    seeds: Keys  # (B, S), each row's next seeds
    used: Ints  # (B,), how many of them are used up
    policy_seeds: Keys  # (B,), of the policies' chance, see `engine.chance.policy_seed_of`
    num_dealt: Ints  # (B,), how many deals hang on them so far
    agents: Ints  # (L, P-1), the line-ups' rule agents, or OUTSIDE; place r - 1 plays r turns after the learner
    bounds: Floats  # (L,) or shorter, rising to 1: a deal draws the first line-up whose bound is above its part


class Dealt(NamedTuple):
    """The deals, and what each drew with its seed."""

    states: States  # (B,), the engine's
    seats: Ints  # (B,), the learners' seats; with EVERY_SEAT the seat to move, or that acted last
    line_ups: Ints  # (B,), number of the learner's opponents in the pool
    deal_keys: Keys  # (B,), what the opponents' chance comes from, see `engine.chance.deal_key`


class Shown(NamedTuple):
    """What each learner may know at its decision, and how its deal stands then."""

    views: Views  # (B,), what its seat may know
    masks: Masks  # (B, A), what it may do; all False when its deal is over
    over: Masks  # (B,), its deal is over; true also before the first deal
    phases: Ints  # (B,), phase of its deal; OVER also after a forfeit
    movers: Ints  # (B,), seat to move, NO_SEAT when its deal is over
    endings: Ints  # (B,), how its deal ended: the engine's codes, or FORFEIT
    winners: Ints  # (B,), seat that won, NO_SEAT without one
    returns: Ints  # (B, P), points of all seats; zeros while its deal is on
    forfeits: Ints  # (B,), the illegal action that ended its deal, NO_ACTION otherwise
    skipped_deals: Ints  # (B,), deals before this one that ended before its first decision
    skipped_points: Ints  # (B,), what these brought it, in points


class Asked(NamedTuple):
    """What the kernel asks for: the rows that wait, and what the policies to move in them may know."""

    waiting: Ints  # (B,), the row that waits at each place; ``~row`` if it waits for a seed
    views: Views  # (B,), what the seat to move may know
    masks: Masks  # (B, A), what it may do
    keys: Keys  # (B,), of its chance


# `Sources`, `Dealt`, `Shown` and `Asked` as `play_rows` takes them: plain tuples, because at a call from Python numba
# takes twice as long to tell the types of named ones, and a step of one environment is little longer than a call.
Arrays = tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]]


@njit
def play_rows(
    rows: Ints,
    start: int,
    stop: int,
    actions: Ints,
    by_learners: bool,
    learner: int,
    rules: RulesRows,
    table: Table,
    arrays: Arrays,
) -> int:
    """Deal or act in each of ``rows[start..stop-1]``, then play on until somebody outside must decide.

    A row comes to rest when its learner is to move or its deal is over: `Shown` is then written. Or it waits, at
    the next of the places ``start, start+1, …`` of `Asked`: for a policy that is not one of the rule agents, or for
    a seed. Deals that end before their learner's first decision are counted and replaced.

    Args:
        rows: ``(N,)`` rows of everything that is ``(B,)``.
        actions: ``(N,)`` numbers of actions, `NO_ACTION` or `NEXT_DEAL`.
        by_learners: the actions are the learners', who forfeit deals by illegal ones and begin new ones. Else
            they are answers to what was asked for.
        learner: the learner's seat, `ANY_SEAT` or `EVERY_SEAT`.
        rules: ``(1,)``, packed.
        arrays: see `Arrays`. All but `Sources` are written to, and of that ``used`` and ``num_dealt``.

    Returns:
        The place after the last row that waits.
    """
    players, step = int(rules[0]["num_players"]), int(rules[0]["step"])
    sources, dealt, shown, asked = Sources(*arrays[0]), Dealt(*arrays[1]), Shown(*arrays[2]), Asked(*arrays[3])
    states, seats = dealt.states, dealt.seats
    answer = np.empty(1, dtype=np.int64)
    place = start
    for k in range(start, stop):
        i = int(rows[k])
        action = int(actions[k])
        if by_learners and action == NEXT_DEAL:
            shown.over[i] = True
            shown.forfeits[i] = NO_ACTION
            shown.skipped_deals[i] = shown.skipped_points[i] = 0
        elif by_learners and action >= 0 and not shown.masks[i, action]:
            shown.forfeits[i] = action
            _settle_forfeit(i, rules[0], seats, shown)
            continue
        while True:
            if action == NEXT_DEAL:
                if int(sources.used[i]) == sources.seeds.shape[1]:
                    asked.waiting[place] = ~i
                    place += 1
                    break
                seed = sources.seeds[i, int(sources.used[i])]
                sources.used[i] += 1
                learner_starts = int(shown.skipped_deals[i]) >= MAX_SKIPPED
                _deal_row(i, seed, learner, learner_starts, rules, sources.bounds, dealt)
                dealt.deal_keys[i] = deal_key(sources.policy_seeds[i], int(sources.num_dealt[i]))
                sources.num_dealt[i] += 1
            elif action != NO_ACTION:
                apply_kernel(states, i, action, rules)
            phase = int(states[i]["phase"])
            seat = int(states[i]["current_player"])
            if learner == EVERY_SEAT and phase != OVER:
                seats[i] = seat
            me = int(seats[i])
            if phase == OVER and shown.over[i]:
                shown.skipped_deals[i] += 1
                shown.skipped_points[i] += int(states[i]["returns"][me])
                action = NEXT_DEAL
                continue
            if phase == OVER or seat == me:
                view_kernel(states, i, me, shown.views, i)
                mask_kernel(states, i, rules, shown.masks[i])  # all False when the deal is over
                shown.over[i] = phase == OVER
                shown.phases[i] = phase
                shown.movers[i] = seat
                shown.endings[i] = int(states[i]["ending"])
                shown.winners[i] = int(states[i]["winner"])
                for other in range(players):
                    shown.returns[i, other] = int(states[i]["returns"][other])
                break
            view_kernel(states, i, seat, asked.views, place)
            mask_kernel(states, i, rules, asked.masks[place])
            number = decision_number(int(states[i]["draws"]), phase)
            asked.keys[place] = decision_key(dealt.deal_keys[i], seat, number)
            # The step to the next seat is its own inverse, so multiplying by it counts the turns.
            agent = int(sources.agents[int(dealt.line_ups[i]), (seat - me) * step % players - 1])
            if agent == OUTSIDE:
                asked.waiting[place] = i
                place += 1
                break
            one = slice(place, place + 1)  # a rule agent takes arrays, here of one row
            choose_kernel(agent, asked.views[one], asked.masks[one], asked.keys[one], rules, table, answer)
            action = int(answer[0])
    return place


@njit
def _deal_row(
    i: int,
    seed: np.uint64,
    learner: int,
    learner_starts: bool,
    rules: RulesRows,
    bounds: Floats,
    dealt: Dealt,
) -> None:
    """Deal row ``i`` from a seed, and draw what else hangs on it; the first turn is seat 0's or the learner's."""
    players = int(rules[0]["num_players"])
    seat = draw_seat(learner, seed, players)
    first = seat if learner_starts and seat >= 0 else 0
    dealt.seats[i] = max(seat, 0)
    dealt.line_ups[i] = draw_line_up(bounds, mix(seed, _LINE_UP_KEY))
    deal_kernel(dealt.states, i, rules, seed, first, (1 << players) - 1)


@njit
def draw_seat(learner: int, seed: np.uint64, players: int) -> int:
    """The learner's seat: drawn by the seed of its deal or series if ``learner`` is `ANY_SEAT`, else ``learner``."""
    if learner == ANY_SEAT:
        return below(mix(seed, _SEAT_KEY), players)
    return learner


@njit
def draw_line_up(bounds: Floats, key: np.uint64) -> int:
    """The number of the line-up that a key draws, see `play_rows`."""
    part = np.float64(key >> _LOW_BITS) * _PART
    number = 0
    while bounds[number] <= part:
        number += 1
    return number


@njit
def _settle_forfeit(i: int, r: RulesRow, seats: Ints, shown: Shown) -> None:
    """End row ``i`` at an illegal action of its learner, who pays the next seat. The engine's state stays as it was."""
    payer = int(seats[i])
    collector = (payer + int(r["step"])) % int(r["num_players"])
    shown.masks[i, :] = False
    shown.over[i] = True
    shown.phases[i] = OVER
    shown.movers[i] = NO_SEAT
    shown.endings[i] = FORFEIT
    shown.winners[i] = collector
    forfeit(shown.returns[i], payer, collector, r)


@njit
def first_illegal(rows: Ints, actions: Ints, masks: Masks) -> int:
    """The first place whose action, where it is one, its row's mask forbids; -1 if there is none."""
    for k in range(len(rows)):
        if int(actions[k]) >= 0 and not masks[int(rows[k]), int(actions[k])]:
            return k
    return -1
