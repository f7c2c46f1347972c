"""Many deals played to the end by given policies, in batches: the one loop behind every match."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from paplu_env import engine
from paplu_env.bots import Policy
from paplu_env.bots.policy import Actions, Masks
from paplu_env.engine.chance import keys_for
from paplu_env.engine.state import NO_SEAT, OVER, States, Views
from paplu_env.errors import IllegalAction
from paplu_env.rules import RuleSet

Games = npt.NDArray[np.void]  # (deals, rotations) of `games_dtype`
Progress = Callable[[int, int], None]  # called with (games finished, games in all)

NOBODY: Final = -1  # the player of a deal without a winner
# Keys of deals and keys of decisions must not meet: no table has a seat of this number.
_DEAL_SEAT: Final = 255


def games_dtype(players: int) -> np.dtype[np.void]:
    """One finished game, told by *player*: the place in the list of policies, wherever they sat."""
    return np.dtype(
        [
            ("deal", np.int64),  # number of the deal in the match
            ("rotation", np.int64),  # player p sat at seat (p + rotation) % players
            ("first", np.int64),  # player who had the first turn
            ("winner", np.int64),  # player, NOBODY without one
            ("finisher", np.int64),  # player whose action ended the deal
            ("ending", np.int64),  # engine.state: DECLARED, DROP, …
            ("turns", np.int64),  # draws by all players together
            ("returns", np.float64, (players,)),  # points, sum 0
            ("status", np.int64, (players,)),  # engine.state: IN, DROPPED_FIRST, …
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


def play_games(
    policies: Sequence[Policy],
    deals: int,
    seed: int,
    batch: int,
    threads: int = 1,
    record: Callable[[int, Decisions], None] | None = None,
    progress: Progress | None = None,
) -> Games:
    """Play each of so many deals once per seat rotation.

    The cards of a deal follow from (``seed``, number of the deal); the seat that starts moves on by one
    from deal to deal. Nothing depends on ``batch`` or ``threads``.

    Args:
        policies: one per seat, all made for the rules of the table.
        deals: distinct deals.
        seed: 0..2**64-1.
        batch: games on the table at once, a bound on memory (about 5 KiB a game).
        threads: batches played at the same time. With more than one the policies must bear calls from
            several threads, as this package's own do.
        record: called with (number of the batch, its decisions), once per batch and in any order.
        progress: called from the caller's thread after every batch.

    Returns:
        ``(deals, P)`` of `games_dtype`.
    """
    rules = policies[0].rules
    players = len(policies)
    games = np.zeros((deals, players), dtype=games_dtype(players))
    step = max(1, batch // players)
    starts = range(0, deals, step)

    def play(number: int) -> int:
        start = starts[number]
        part = games[start : start + step]
        decisions = _play_batch(policies, rules, start, seed, part, record is not None)
        if record is not None:
            record(number, decisions)
        return part.size

    finished = 0
    with closing(_in_threads(play, len(starts), threads)) as sizes:
        for size in sizes:
            finished += size
            if progress is not None:
                progress(finished, games.size)
    return games


def _in_threads(play: Callable[[int], int], count: int, threads: int) -> Iterator[int]:
    """Results of ``play(0), play(1), …``; after an error nothing more is started."""
    if threads <= 1:
        yield from map(play, range(count))
        return
    pool = ThreadPoolExecutor(threads)
    try:
        yield from pool.map(play, range(count))
    finally:
        pool.shutdown(cancel_futures=True)


def _play_batch(
    policies: Sequence[Policy], rules: RuleSet, start: int, seed: int, games: Games, keep: bool
) -> Decisions:
    """Play deals ``start, start + 1, …`` in all rotations and write how they ended into ``games``.

    Returns the decisions, empty unless they are to be kept.
    """
    players = len(policies)
    table = games.reshape(-1)  # a view: all rotations of a deal side by side
    deals = start + np.arange(games.shape[0], dtype=np.int64).repeat(players)
    rotations = np.tile(np.arange(players, dtype=np.int64), games.shape[0])
    seeds = keys_for(seed, deals, _DEAL_SEAT, 0)
    states = engine.deal_many(rules, seeds, deals % players)
    kept: list[tuple[npt.NDArray[np.int64], Views, Masks, Actions]] = []
    rows = np.arange(table.size)  # where each state on the table belongs
    while rows.size:
        seats = states["current_player"].astype(np.int64)
        views = engine.player_views(states, seats)
        masks = engine.legal_action_masks(states, rules)
        # Two decisions at one count of draws differ in their phase or in their seat.
        moments = 2 * states["draws"].astype(np.int64) + states["phase"]
        keys = keys_for(seed, deals[rows], seats, moments)
        movers = (seats - rotations[rows]) % players
        actions = np.empty(rows.size, dtype=np.int64)
        for player, policy in enumerate(policies):
            own = np.flatnonzero(movers == player)
            if own.size:
                actions[own] = policy.act(views[own], masks[own], keys[own])
        _apply(states, actions, rules, policies, movers, deals[rows], rotations[rows])
        if keep:
            kept.append((rows, views, masks, actions))
        over = states["phase"] == OVER
        if over.any():
            _write_results(table, rows[over], states[over], deals, rotations)
            rows, states = rows[~over], states[~over]
    return _gather(kept, table, deals, rotations, rules)


def _apply(
    states: States,
    actions: Actions,
    rules: RuleSet,
    policies: Sequence[Policy],
    movers: npt.NDArray[np.int64],
    deals: npt.NDArray[np.int64],
    rotations: npt.NDArray[np.int64],
) -> None:
    """Apply one action per state; an illegal one is reported with who played it and in which game."""
    try:
        engine.apply_actions(states, actions, rules)
    except IllegalAction as error:
        for i, action in enumerate(actions):
            if engine.why_illegal(states, i, int(action), rules):
                raise IllegalAction(
                    f"{policies[movers[i]].name} in deal {deals[i]}, rotation {rotations[i]} of the match: {error}"
                ) from error
        raise


def _write_results(
    table: Games,
    rows: npt.NDArray[np.int64],
    states: States,
    deals: npt.NDArray[np.int64],
    rotations: npt.NDArray[np.int64],
) -> None:
    """Write finished states into the table, seats turned into players."""
    players = table["returns"].shape[1]
    shift = rotations[rows]
    table["deal"][rows] = deals[rows]
    table["rotation"][rows] = shift
    table["first"][rows] = (states["first"] - shift) % players
    table["winner"][rows] = _player(states["winner"], shift, players)
    table["finisher"][rows] = _player(states["finisher"], shift, players)
    table["ending"][rows] = states["ending"]
    table["turns"][rows] = states["draws"]
    seats = (np.arange(players) + shift[:, None]) % players
    for field in ("returns", "status"):
        table[field][rows] = np.take_along_axis(states[field], seats, axis=1)


def _player(seats: npt.NDArray[np.integer], shift: npt.NDArray[np.int64], players: int) -> npt.NDArray[np.int64]:
    """Who sat at some seats, NOBODY where there is none."""
    seats = seats.astype(np.int64)
    return np.where(seats == NO_SEAT, NOBODY, (seats - shift) % players)


def _gather(
    kept: list[tuple[npt.NDArray[np.int64], Views, Masks, Actions]],
    table: Games,
    deals: npt.NDArray[np.int64],
    rotations: npt.NDArray[np.int64],
    rules: RuleSet,
) -> Decisions:
    """Decisions kept step by step, put in order by game, with the returns that followed."""
    if not kept:
        empty = np.empty(0, dtype=np.int64)
        masks = np.empty((0, engine.NUM_ACTIONS), dtype=np.bool_)
        views = engine.empty_views(rules, 0)
        return Decisions(views, masks, empty, empty.astype(np.float32), empty, empty, empty)
    rows = np.concatenate([part[0] for part in kept])
    order = np.argsort(rows, kind="stable")  # stable: within a game the decisions keep their order
    rows = rows[order]
    views = np.concatenate([part[1] for part in kept])[order]
    players = (views["seat"].astype(np.int64) - rotations[rows]) % table["returns"].shape[1]
    return Decisions(
        views=views,
        masks=np.concatenate([part[2] for part in kept])[order],
        actions=np.concatenate([part[3] for part in kept])[order],
        returns=table["returns"][rows, players].astype(np.float32),
        players=players,
        deals=deals[rows],
        rotations=rotations[rows],
    )
