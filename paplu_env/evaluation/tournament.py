"""Round robins of policies on the same duplicate deals: played on all cores, resumed, stopped early, rated."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from paplu_env import __version__
from paplu_env.bots import Policy, exported_file, make_policy
from paplu_env.errors import InvalidFile, PapluError
from paplu_env.evaluation.draw_luck import WEIGHTS_HASH
from paplu_env.evaluation.games import Games, Progress, play_games
from paplu_env.evaluation.games_store import read_games, write_games
from paplu_env.evaluation.ratings import PairScores, Ratings, rate
from paplu_env.evaluation.result import MatchResult, cluster_points, summarise
from paplu_env.evaluation.schedule import Schedule
from paplu_env.evaluation.sequential import LOOK, is_narrow
from paplu_env.files import write_json
from paplu_env.reading import read_json
from paplu_env.workers import Stopped, Workers

FORMAT: Final = "paplu-tournament-1"
# Deals that one worker plays at a time, and that one file holds. A look at a pair that may stop comes after a
# whole number of chunks, so that several workers can share the deals between two looks.
CHUNK: Final = 500
# Deals of a slow pair after which a chunk under way is kept: half a minute's work rather than five.
_PART: Final = 32
PLAN: Final = "tournament.json"  # in a run folder: what is played there


@dataclass(frozen=True)
class PairResult:
    """One pair under one rule set.

    Attributes:
        rules: rules string of the schedule.
        match: the figures, seen from ``match.a``.
        games: ``(deals, 2)`` of `games.games_dtype`.
    """

    rules: str
    match: MatchResult
    games: Games


@dataclass(frozen=True)
class TournamentResult:
    """All pairs of a schedule, and the ratings under each rule set.

    Attributes:
        schedule: what was played.
        pairs: rule set by rule set, in the order of ``schedule.pairs``.
        ratings: by rules string.
    """

    schedule: Schedule
    pairs: tuple[PairResult, ...]
    ratings: dict[str, Ratings]

    def of(self, rules: str, a: str, b: str) -> MatchResult:
        """The match of ``a`` and ``b`` as it was played: seen from whichever the schedule names first.

        Raises:
            KeyError: no such pair.
        """
        for pair in self.pairs:
            if pair.rules == rules and {pair.match.a, pair.match.b} == {a, b}:
                return pair.match
        raise KeyError((rules, a, b))


_Pair = tuple[int, int]  # rule set and pair: places in the schedule
_Piece = tuple[int, int, int]  # rule set, pair, number of the chunk


def run_tournament(
    schedule: Schedule,
    folder: str | os.PathLike[str] | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> TournamentResult:
    """Play a round robin; every pair plays the same cards.

    The result follows from the schedule and the policies: neither the number of workers nor how often the run
    was interrupted changes it.

    Args:
        folder: keeps every finished chunk of games, so that the same call goes on where a killed one ended.
        workers: threads that play at the same time; the kernels of this package leave Python's lock alone.
        progress: called from the caller's thread with (games finished, games in all) after every chunk; pairs
            that stop early count as finished.

    Raises:
        PapluError: an unknown bot, or a folder that holds another tournament: the message names what differs.
        PolicyMismatch: a policy made for other rules.
        InvalidFile: a policy's file that can't be read, or a chunk that is truncated or foreign.
        IllegalAction: a policy's illegal answer, with the position.
        Stopped: Ctrl-C, a ``KeyboardInterrupt``; ``kept`` has the `PairResult` of every pair that was finished.
    """
    if workers < 1:
        raise PapluError(f"workers={workers}: must be at least 1")
    policies = [[make_policy(name, rules) for name in schedule.policies] for rules in schedule.rules]
    store = None if folder is None else _open_folder(Path(folder), schedule)

    def play(piece: _Piece) -> Games:
        return _play_piece(schedule, policies, store, piece)

    finished = 0
    total = 2 * schedule.deals * len(schedule.rules) * len(schedule.pairs)

    def report(games: int) -> None:
        nonlocal finished
        finished += games
        if progress is not None:
            progress(finished, total)

    played: dict[_Pair, Games] = {}
    try:
        _play_all(schedule, play, workers, report, played)
    except KeyboardInterrupt:
        pairs = tuple(_pair_result(schedule, key, games) for key, games in sorted(played.items()))
        raise Stopped(_told(finished, total, pairs, folder), pairs) from None
    return _summarise(schedule, played)


def _play_all(
    schedule: Schedule,
    play: Callable[[_Piece], Games],
    workers: int,
    report: Callable[[int], None],
    played: dict[_Pair, Games],
) -> None:
    """Put the games of every pair, up to where it stops, into ``played`` as soon as they are all there.

    The chunks of a pair up to its next look are handed to the workers together, and the look comes when all of
    them are there: so nothing depends on which was finished first.
    """
    total = -(-schedule.deals // CHUNK)
    per_look = total if schedule.until is None else LOOK // CHUNK
    waiting = [(rules, pair) for rules in range(len(schedule.rules)) for pair in range(len(schedule.pairs))]
    running: dict[Future[Games], _Piece] = {}
    chunks: dict[_Pair, dict[int, Games]] = {key: {} for key in waiting}

    with Workers(workers) as pool:

        def start(key: _Pair) -> None:
            first = len(chunks[key])
            for number in range(first, min(first + per_look, total)):
                running[pool.submit(play, (*key, number))] = (*key, number)

        while waiting or running:
            while waiting and len(running) < 2 * workers:  # nobody waits, and little is in vain after an error
                start(waiting.pop(0))
            for future in pool.finished(running):
                rules, pair, number = running.pop(future)
                own = chunks[rules, pair]
                own[number] = future.result()
                report(own[number].size)
                if len(own) % per_look and len(own) < total:
                    continue
                games = np.concatenate([own[k] for k in range(len(own))])
                if len(own) < total and not is_narrow(games, schedule.until or 0.0):
                    start((rules, pair))
                    continue
                played[rules, pair] = games
                report(2 * schedule.deals - games.size)


def _play_piece(
    schedule: Schedule,
    policies: list[list[Policy]],
    store: Path | None,
    piece: _Piece,
) -> Games:
    """The games of one chunk: read if a run before has played them, else played and written."""
    rules, pair, number = piece
    names = schedule.pairs[pair]
    start = number * CHUNK
    deals = min(CHUNK, schedule.deals - start)
    path = None if store is None else store / f"rules{rules}-pair{pair:03d}-chunk{number:04d}.json"
    if path is not None and path.exists():
        return _read_deals(path, start, deals)
    seats = [policies[rules][schedule.policies.index(name)] for name in names]

    def play(first: int, count: int) -> Games:
        return play_games(seats, count, schedule.seed, batch=2 * CHUNK, start=first, policy_seed=schedule.chance)

    if path is None:
        return play(start, deals)
    part = path.with_suffix(".part.json")  # the first deals of a chunk under way
    parts = [_read_deals(part, start)] if part.exists() else []
    done = sum(map(len, parts))
    size = _PART if any(policy.is_slow for policy in seats) else CHUNK
    while done < deals:
        if parts:
            write_games(part, np.concatenate(parts))
        parts.append(play(start + done, min(size, deals - done)))
        done += len(parts[-1])
    games = np.concatenate(parts)
    write_games(path, games)
    part.unlink(missing_ok=True)
    return games


def _read_deals(path: Path, start: int, deals: int | None = None) -> Games:
    """The games of a file, made sure to be those of the deals from ``start`` on, ``deals`` of them if given."""
    games = read_games(path)
    if len(games) > CHUNK or games.shape != (deals or len(games), 2):
        found = f"{len(games)} deals"
    elif not np.array_equal(games["deal"][:, 0], start + np.arange(len(games))):
        found = "other deals"
    else:
        return games
    raise InvalidFile(f"{path}: holds {found}, not those from {start} on; remove it to play them")


def _open_folder(folder: Path, schedule: Schedule) -> Path:
    """The folder for chunks, inside a run folder that is new or holds this very tournament.

    Raises:
        PapluError: it holds another tournament.
        InvalidFile: it can't be made, or holds something else.
    """
    plan: dict[str, Any] = {
        "format": FORMAT,
        "version": __version__,
        **schedule.to_dict(),
        "chunk": CHUNK,
        "control variate": WEIGHTS_HASH,
        "files": {name: _sha256(file) for name in schedule.policies if (file := exported_file(name)) is not None},
    }
    path = folder / PLAN
    try:
        (folder / "chunks").mkdir(parents=True, exist_ok=True)
        if path.exists():
            _check_plan(path, plan)
        elif any((folder / "chunks").iterdir()):
            raise InvalidFile(f"{folder}: holds chunks but no {PLAN}; name another folder")
        else:
            write_json(path, plan)
    except OSError as error:
        raise InvalidFile(f"{error.filename or folder}: {error.strerror}") from None
    return folder / "chunks"


def _check_plan(path: Path, plan: dict[str, Any]) -> None:
    """Refuse a folder whose tournament differs from this one, naming what differs."""
    try:
        found = read_json(path)
        differing = [key for key in {**plan, **found} if found.get(key) != plan.get(key)]
    except (ValueError, TypeError, AttributeError) as error:
        raise InvalidFile(f"{path}: is no plan of a tournament ({error}); name another folder") from None
    if differing:
        key = differing[0]
        raise PapluError(
            f"{path.parent} holds another tournament: there {key} = {found.get(key)!r}, here {plan.get(key)!r}; "
            "name another folder, or ask for what was begun there"
        )


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _summarise(schedule: Schedule, played: dict[_Pair, Games]) -> TournamentResult:
    """Figures and ratings of all games."""
    pairs = []
    ratings = {}
    for r, rules in enumerate(schedule.rules):
        scores = []
        for p, (a, b) in enumerate(schedule.pairs):
            games = played[r, p]
            pairs.append(_pair_result(schedule, (r, p), games))
            scores.append(_scores(games, schedule.policies.index(a), schedule.policies.index(b)))
        ratings[rules] = rate(schedule.policies, scores, schedule.seed)
    return TournamentResult(schedule, tuple(pairs), ratings)


def _pair_result(schedule: Schedule, key: _Pair, games: Games) -> PairResult:
    """The figures of one pair."""
    rules, names = schedule.rules[key[0]], schedule.pairs[key[1]]
    return PairResult(rules, summarise(games, list(names), rules, schedule.seed, schedule.chance), games)


def _told(finished: int, total: int, pairs: tuple[PairResult, ...], folder: str | os.PathLike[str] | None) -> str:
    """What there is of a tournament that Ctrl-C ended, and how to go on."""
    lines = [f"stopped after {finished:,} of {total:,} games"]
    if folder is not None:
        lines.append(f"Finished games are kept in {os.fspath(folder)}; the same command goes on from there.")
        return "\n".join(lines)
    for pair in pairs:
        lines.append(
            f"{pair.match.a} against {pair.match.b}, {pair.rules}, {pair.match.deals:,} deals: "
            f"{pair.match.points_per_deal:+.2f} points per deal"
        )
    lines.append("A tournament without a run folder begins anew; with --out DIR it goes on from what was played.")
    return "\n".join(lines)


def _scores(games: Games, a: int, b: int) -> PairScores:
    """What a pair made of each deal; points less the luck of the draws where it was estimated."""
    plain, adjusted = cluster_points(games)
    wins = np.where(games["winner"] == 0, 1.0, np.where(games["winner"] == 1, 0.0, 0.5)).mean(axis=1)
    return PairScores(a, b, wins, plain if adjusted is None else adjusted, games.shape[1])
