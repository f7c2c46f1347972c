"""Many deals played to the end by given policies, in batches: the one loop behind every match."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from paplu_env import engine
from paplu_env.bots import Policy
from paplu_env.bots.policy import Actions, Masks, decision_keys
from paplu_env.engine.actions import DRAW_CLOSED
from paplu_env.engine.chance import keys_for
from paplu_env.engine.state import NO_SEAT, OVER, States, Views
from paplu_env.errors import IllegalAction
from paplu_env.evaluation.draw_luck import can_estimate, luck_of_draws
from paplu_env.rules import RuleSet

Games = npt.NDArray[np.void]  # (deals, rotations) of `games_dtype`
Progress = Callable[[int, int], None]  # called with (games finished, games in all)

NOBODY: Final = -1  # the player of a deal without a winner
# Keys of deals and keys of decisions must not meet: no table has a seat of this number.
DEAL_SEAT: Final = 255


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
) -> Games:
    """Play each of ``deals`` deals once per seat rotation.

    The cards of a deal follow from (``seed``, number of the deal); the seat that starts moves on by one
    from deal to deal. Nothing depends on ``batch`` or ``threads``.

    Args:
        policies: one per seat, all made for the rules of the table.
        deals: distinct deals.
        seed: 0..2**64-1.
        batch: games on the table at once, a bound on memory (about 5 KiB per game).
        threads: batches played at the same time. With more than one the policies must bear calls from
            several threads, as this package's own do.
        record: called with (number of the batch, its decisions), once per batch and in any order.
        progress: called from the caller's thread after every batch.
        start: number of the first deal, so that a match can be played in parts.
        luck: whether to estimate what the draws were worth (`draw_luck`), where the rules allow it.

    Returns:
        ``(deals, P)`` of `games_dtype`.
    """
    players = len(policies)
    games = np.zeros((deals, players), dtype=games_dtype(players))
    games["luck"] = 0.0 if luck and can_estimate(policies[0].rules) else np.nan
    step = max(1, batch // players)
    places = range(0, deals, step)

    def play(number: int) -> int:
        place = places[number]
        part = games[place : place + step]
        steps: list[_Step] | None = None if record is None else []
        _play_batch(policies, start + place, seed, part, steps)
        if record is not None and steps is not None:
            record(number, _in_order(steps, part))
        return part.size

    finished = 0
    with closing(_in_threads(play, len(places), threads)) as sizes:
        for size in sizes:
            finished += size
            if progress is not None:
                progress(finished, games.size)
    return games


def _in_threads(play: Callable[[int], int], count: int, threads: int) -> Generator[int, None, None]:
    """Results of ``play(0), play(1), …``; after an error nothing more is started."""
    if threads <= 1:
        yield from map(play, range(count))
        return
    pool = ThreadPoolExecutor(threads)
    try:
        yield from pool.map(play, range(count))
    finally:
        pool.shutdown(cancel_futures=True)


def _play_batch(policies: Sequence[Policy], start: int, seed: int, games: Games, steps: list[_Step] | None) -> None:
    """Play deals ``start, start + 1, …`` in all rotations; write how they ended, and note the steps if asked."""
    rules = policies[0].rules
    players = len(policies)
    table = games.reshape(-1)  # the same memory, all rotations of a deal side by side
    table["deal"] = start + np.arange(len(games)).repeat(players)
    table["rotation"] = np.tile(np.arange(players), len(games))
    states = engine.deal_many(rules, keys_for(seed, table["deal"], DEAL_SEAT, 0), table["deal"] % players)
    rows = np.arange(table.size)  # where each state on the table belongs
    is_careful = any(policy.is_slow for policy in policies)  # then a careful value costs little beside them
    while rows.size:
        playing = table[rows]
        seats = states["current_player"].astype(np.int64)
        views = engine.player_views(states, seats)
        masks = engine.legal_action_masks(states, rules)
        keys = decision_keys(seed, playing["deal"], states)
        movers = (seats - playing["rotation"]) % players
        actions = np.empty(rows.size, dtype=np.int64)
        for player, policy in enumerate(policies):
            own = np.flatnonzero(movers == player)
            if own.size:
                actions[own] = policy.act(views[own], masks[own], keys[own])
        _add_luck(states, actions, movers, table, rows, rules, is_careful)
        _apply(states, actions, policies, movers, playing)
        if steps is not None:
            steps.append((rows, views, masks, actions))
        over = states["phase"] == OVER
        if over.any():
            _write_results(table, rows[over], states[over])
            rows, states = rows[~over], states[~over]


def _add_luck(
    states: States,
    actions: Actions,
    movers: npt.NDArray[np.int64],
    table: Games,
    rows: npt.NDArray[np.int64],
    rules: RuleSet,
    is_careful: bool,
) -> None:
    """Before the actions are done: add what the cards that are about to be drawn mean to player 0."""
    drawing = np.flatnonzero((actions == DRAW_CLOSED) & (states["stock_size"] > 0) & ~np.isnan(table["luck"][rows]))
    if drawing.size:
        worth = luck_of_draws(states, drawing, rules, is_careful)
        table["luck"][rows[drawing]] += np.where(movers[drawing] == 0, worth, -worth)


def _apply(
    states: States, actions: Actions, policies: Sequence[Policy], movers: npt.NDArray[np.int64], playing: Games
) -> None:
    """Apply one action per state; an illegal one is reported with who played it and in which game."""
    rules = policies[0].rules
    try:
        engine.apply_actions(states, actions, rules)
    except IllegalAction as error:
        wrong = next(i for i, action in enumerate(actions) if engine.why_illegal(states, i, int(action), rules))
        game = playing[wrong]
        raise IllegalAction(
            f"{policies[movers[wrong]].name} in deal {game['deal']}, rotation {game['rotation']} of the match: {error}"
        ) from error


def _write_results(table: Games, rows: npt.NDArray[np.int64], states: States) -> None:
    """Write finished states into the table, seats turned into players."""
    players = table["returns"].shape[1]
    shift = table["rotation"][rows]
    table["first"][rows] = _player(states["first"], shift, players)
    table["winner"][rows] = _player(states["winner"], shift, players)
    table["finisher"][rows] = _player(states["finisher"], shift, players)
    table["ending"][rows] = states["ending"]
    table["turns"][rows] = states["draws"]
    seats = (np.arange(players) + shift[:, None]) % players
    for field in ("returns", "status"):
        table[field][rows] = np.take_along_axis(states[field], seats, axis=1)


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
