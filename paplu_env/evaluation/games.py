"""Many deals played by given policies from every seat, in batches: what every match is made of."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from paplu_env import engine
from paplu_env.bots import Policy
from paplu_env.bots.playing import Step, play_steps
from paplu_env.bots.policy import Actions, Masks, decision_keys
from paplu_env.engine.actions import DRAW_CLOSED
from paplu_env.engine.chance import match_deal_seeds, policy_seed_of
from paplu_env.engine.state import NO_SEAT, States, Views
from paplu_env.errors import PapluError
from paplu_env.evaluation.draw_luck import can_estimate, luck_of_draws
from paplu_env.rules import RuleSet
from paplu_env.workers import Stopped, Workers

Games = npt.NDArray[np.void]  # (deals, rotations) of `games_dtype`
Progress = Callable[[int, int], None]  # called with (games finished, games in all)

MAX_DEALS: Final = 10_000_000  # more would fill the memory; such a number is a slip of the pen
NOBODY: Final = -1  # the player of a deal without a winner
# Games on the table at once where a player is slow: nothing is gained by more, and Ctrl-C loses those under way.
_SLOW_BATCH: Final = 64


def games_dtype(players: int) -> np.dtype[np.void]:
    """One finished game, told by *player*: the place in the list of policies, wherever they sat."""
    return np.dtype(
        [
            ("deal", np.int64),  # number of the deal in the match
            ("rotation", np.int64),  # player p sat at seat (p + rotation) % players
            ("first", np.int64),  # player who had the first turn
            ("winner", np.int64),  # player, NOBODY without one
            ("finisher", np.int64),  # player whose action ended the deal
            ("ending", np.int64),  # engine.state: DECLARED, ENDED_BY_DROP, …
            ("turns", np.int64),  # draws by all players together
            ("returns", np.float64, (players,)),  # points, sum 0
            ("status", np.int64, (players,)),  # engine.state: IN, DROPPED_FIRST, …
            ("luck", np.float64),  # points that player 0 owes to the draws, see `draw_luck`; NaN: not estimated
        ]
    )


@dataclass
class Decisions:
    """Decisions of a batch of games, in the order of (deal, rotation, decision).

    Attributes:
        views: ``(N,)``, what the seat knew.
        masks: ``(N, A)`` bool, what was legal.
        actions: ``(N,)`` int64, what was done.
        returns: ``(N,)`` float32, points of that seat at the end of the deal.
        players: ``(N,)`` int64, who decided: the place in the list of policies.
        deals: ``(N,)`` int64, number of the deal in the match.
        rotations: ``(N,)`` int64.
    """

    views: Views
    masks: Masks
    actions: Actions
    returns: npt.NDArray[np.float32]
    players: npt.NDArray[np.int64]
    deals: npt.NDArray[np.int64]
    rotations: npt.NDArray[np.int64]


# One action in every game of a batch that was still on: rows of the batch, views, masks, actions.
_Step = tuple[npt.NDArray[np.int64], Views, Masks, Actions]


def check_deals(deals: int) -> None:
    """Refuse a number of deals that says nothing, or would fill the memory before it was played.

    Raises:
        PapluError: fewer than two, or more than `MAX_DEALS`.
    """
    if deals < 2:
        raise PapluError(f"deals={deals}: at least two are needed, since one deal shows no spread")
    if deals > MAX_DEALS:
        raise PapluError(f"deals={deals}: at most {MAX_DEALS} are played, which takes days")


def play_games(
    policies: Sequence[Policy],
    deals: int,
    seed: int,
    batch: int,
    threads: int = 1,
    record: Callable[[int, Decisions], None] | None = None,
    progress: Progress | None = None,
    start: int = 0,
    luck: bool = True,
    policy_seed: int | None = None,
) -> Games:
    """Play each of ``deals`` deals once per seat rotation.

    The cards of a deal follow from (``seed``, number of the deal), the policies' chance from (``policy_seed``,
    number of the deal, seat, decision); the seat that starts moves on by one from deal to deal. Nothing depends on
    ``batch`` or ``threads``.

    Args:
        policies: one per seat, all made for the rules of the table.
        deals: distinct deals.
        seed: 0..2**64-1.
        batch: games on the table at once, a bound on memory (about 5 KiB per game); fewer where a policy is slow
            (`deals_at_once`).
        threads: batches played at the same time. With more than one the policies must bear calls from
            several threads, as this package's own do.
        record: called with (number of the batch, its decisions), once per batch and in any order.
        progress: called from the caller's thread after every batch.
        start: number of the first deal, so that a match can be played in parts.
        luck: whether to estimate what the draws were worth (`draw_luck`), where the rules allow it.
        policy_seed: 0..2**64-1; what `engine.chance.policy_seed_of` makes of ``seed`` if not given.

    Returns:
        ``(deals, P)`` of `games_dtype`.

    Raises:
        Stopped: Ctrl-C; ``kept`` holds the first deals that were finished in every rotation.
    """
    chance = policy_seed_of(seed) if policy_seed is None else policy_seed
    players = len(policies)
    games = np.zeros((deals, players), dtype=games_dtype(players))
    games["luck"] = 0.0 if luck and can_estimate(policies[0].rules) else np.nan
    step = deals_at_once(policies, batch)
    places = range(0, deals, step)

    def play(number: int) -> int:
        place = places[number]
        part = games[place : place + step]
        steps: list[_Step] | None = None if record is None else []
        _play_batch(policies, start + place, seed, chance, part, steps)
        if record is not None and steps is not None:
            record(number, _in_order(steps, part))
        return part.size

    finished = 0
    try:
        with closing(_in_threads(play, len(places), threads)) as sizes:
            for size in sizes:
                finished += size
                if progress is not None:
                    progress(finished, games.size)
    except KeyboardInterrupt as stop:
        raise Stopped(str(stop), kept=games[: finished // players].copy()) from None
    return games


def deals_at_once(policies: Sequence[Policy], batch: int) -> int:
    """Deals of one batch of `play_games`, each in all rotations."""
    games = min(batch, _SLOW_BATCH) if any(policy.is_slow for policy in policies) else batch
    return max(1, games // len(policies))


def _in_threads(play: Callable[[int], int], count: int, threads: int) -> Generator[int, None, None]:
    """Results of ``play(0), play(1), …``; after an error nothing more is started."""
    if threads <= 1:
        yield from map(play, range(count))
        return
    with Workers(threads) as workers:
        for future in [workers.submit(play, number) for number in range(count)]:
            workers.finished([future])
            yield future.result()


def _play_batch(
    policies: Sequence[Policy],
    start: int,
    seed: int,
    policy_seed: int,
    games: Games,
    steps: list[_Step] | None,
) -> None:
    """Play deals ``start, start + 1, …`` in all rotations; write how they ended, and note the steps if asked."""
    rules = policies[0].rules
    players = len(policies)
    table = games.reshape(-1)  # the same memory, all rotations of a deal side by side
    table["deal"] = start + np.arange(len(games)).repeat(players)
    table["rotation"] = np.tile(np.arange(players), len(games))
    states = engine.deal_many(rules, match_deal_seeds(seed, table["deal"]), table["deal"] % players)
    is_careful = any(policy.is_slow for policy in policies)  # then a careful value costs little beside them
    for step in play_steps(
        states,
        policies,
        keys_of=lambda rows, due: decision_keys(policy_seed, table["deal"][rows], due),
        seating=(np.arange(players) - table["rotation"][:, None]) % players,
        name_of=lambda row: f"deal {table['deal'][row]}, rotation {table['rotation'][row]} of the match",
    ):
        _add_luck(step, table, rules, is_careful)
        if steps is not None:
            steps.append((step.rows, step.views, step.masks, step.actions))
    _write_results(table, states)


def _add_luck(step: Step, table: Games, rules: RuleSet, is_careful: bool) -> None:
    """Before the actions are done: add what the cards that are about to be drawn mean to player 0."""
    has_luck = ~np.isnan(table["luck"][step.rows])
    drawing = np.flatnonzero((step.actions == DRAW_CLOSED) & (step.states["stock_size"] > 0) & has_luck)
    if drawing.size:
        worth = luck_of_draws(step.states, drawing, rules, is_careful)
        table["luck"][step.rows[drawing]] += np.where(step.players[drawing] == 0, worth, -worth)


def _write_results(table: Games, states: States) -> None:
    """Write finished states into the table, seats turned into players."""
    players, shift = table["returns"].shape[1], table["rotation"]
    for field in ("first", "winner", "finisher"):
        table[field] = _player(states[field], shift, players)
    table["ending"] = states["ending"]
    table["turns"] = states["draws"]
    seats = (np.arange(players) + shift[:, None]) % players
    for field in ("returns", "status"):
        table[field] = np.take_along_axis(states[field], seats, axis=1)


def _player(seats: npt.NDArray[np.integer], shift: npt.NDArray[np.int64], players: int) -> npt.NDArray[np.int64]:
    """Who sat at some seats, NOBODY where there is none."""
    numbers = seats.astype(np.int64)
    return np.where(numbers == NO_SEAT, NOBODY, (numbers - shift) % players)


def _in_order(steps: list[_Step], games: Games) -> Decisions:
    """The decisions of a batch, game by game, with the returns that followed."""
    rows = np.concatenate([step[0] for step in steps])
    order = np.argsort(rows, kind="stable")  # stable: within a game the decisions keep their order
    views, masks, actions = (np.concatenate(parts)[order] for parts in list(zip(*steps, strict=True))[1:])
    table = games.reshape(-1)[rows[order]]
    players = (views["seat"].astype(np.int64) - table["rotation"]) % games.shape[1]
    return Decisions(
        views=views,
        masks=masks,
        actions=actions,
        returns=table["returns"][np.arange(len(table)), players].astype(np.float32),
        players=players,
        deals=table["deal"].copy(),
        rotations=table["rotation"].copy(),
    )
