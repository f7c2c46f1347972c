"""Two policies measured on duplicate deals: the same cards, every seat in turn."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from paplu_env.bots import PolicyLike, make_policy
from paplu_env.engine.arguments import as_seed
from paplu_env.engine.chance import policy_seed_of
from paplu_env.errors import PapluError
from paplu_env.evaluation.games import Decisions, Games, Progress, check_deals, deals_at_once, play_games
from paplu_env.evaluation.recording import Recorder
from paplu_env.evaluation.result import MatchResult, summarise
from paplu_env.evaluation.sequential import LOOK, check_until, is_narrow
from paplu_env.rules import RuleSet, as_rules
from paplu_env.workers import Stopped


def play_match(
    a: PolicyLike,
    b: PolicyLike | Sequence[PolicyLike],
    deals: int = 10_000,
    seed: int = 0,
    rules: RuleSet | str = "points",
    batch: int = 1024,
    threads: int = 1,
    record: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    until: float | None = None,
    luck: bool = True,
    policy_seed: int | None = None,
) -> MatchResult:
    """Play ``a`` against ``b`` and say how far the figures can be trusted.

    Every deal is played once per seat rotation, so that each policy gets each hand and each place in
    turn. The result follows from the policies, the rules, ``deals``, ``seed`` and ``policy_seed``; neither
    ``batch`` nor ``threads`` changes it.

    Args:
        a: the policy whose figures are reported: a bot's name, a path, or a policy.
        b: the opponent, on every other seat; or a sequence, one for each of the other seats, which sit
            in this order after ``a``.
        deals: distinct deals, at least two.
        seed: 0..2**64-1; the first deals of a longer match are those of a shorter one.
        rules: the rule set.
        batch: games on the table at once.
        threads: batches played at the same time.
        record: a folder, new or without recordings, that gets every decision, see `read_recordings`.
        progress: called with (games finished, games in all) after every batch.
        until: stop earlier, once the 95 % half-width of points per deal is down to this; `sequential` says how
            the interval stays honest. ``deals`` is then the most that are played.
        luck: whether to estimate the luck of the draws, for ``adjusted_points``: it takes some 20 µs per draw, 1 ms if
            a player is slow anyway (`Policy.is_slow`).
        policy_seed: 0..2**64-1, all the chance of the policies; made of ``seed`` if not given, one way, so that no
            policy can turn its keys into the cards. A policy of a stranger could still try small seeds one after the
            other: draw both from the system (`secrets.randbits(64)`) where that matters.

    Raises:
        PapluError: an unknown bot, too few deals, or a wrong number of opponents.
        PolicyMismatch: a policy made for other rules.
        IllegalAction: a policy's illegal answer, with the position.
        InvalidFile: a policy's file that can't be read, or a folder that holds a recording.
        Stopped: Ctrl-C, a ``KeyboardInterrupt``; ``kept`` is the result of the first deals, as many as were finished,
            or None. Recorded decisions of finished batches stay in the folder.

    >>> result = play_match("mindist", "random", deals=20, seed=1)
    >>> result.games, result.win_rate > 0.5
    (40, True)
    """
    rule_set = as_rules(rules)
    _check_numbers(deals, seed, batch, threads)
    check_until(until)
    rivals = list(b) if isinstance(b, Sequence) and not isinstance(b, str) else [b] * (rule_set.num_players - 1)
    if len(rivals) != rule_set.num_players - 1:
        raise PapluError(f"{len(rivals)} opponents for {rule_set.num_players} seats: give one, or one per other seat")
    policies = [make_policy(policy, rule_set) for policy in (a, *rivals)]
    names = [policy.name for policy in policies]
    chance = policy_seed_of(seed) if policy_seed is None else int(as_seed(policy_seed, "policy_seed"))
    recorder = None if record is None else Recorder(record, rule_set, seed, names, chance)
    parts: list[Games] = []
    batches = 0  # of the parts played before, which the files of a recording are numbered by

    def record_batch(number: int, decisions: Decisions) -> None:
        if recorder is not None:
            recorder(batches + number, decisions)

    def report(finished: int, _total: int) -> None:
        if progress is not None:
            progress(played * rule_set.num_players + finished, deals * rule_set.num_players)

    size = deals if until is None else LOOK
    for played in range(0, deals, size):
        some = min(size, deals - played)
        note = None if recorder is None else record_batch
        try:
            parts.append(play_games(policies, some, seed, batch, threads, note, report, played, luck, chance))
        except Stopped as stop:
            games = np.concatenate([*parts, stop.kept])
            result = summarise(games, names, str(rule_set), seed, chance) if len(games) > 1 else None
            raise Stopped(_told(len(games), deals, result, record), result) from None
        batches += -(-some // deals_at_once(policies, batch))
        if until is not None and is_narrow(np.concatenate(parts), until):
            break
    return summarise(np.concatenate(parts), names, str(rule_set), seed, chance)


def _told(finished: int, deals: int, result: MatchResult | None, record: str | os.PathLike[str] | None) -> str:
    """What there is of a match that Ctrl-C ended, and how to go on."""
    lines = [f"stopped after {finished:,} of {deals:,} deals"]
    if result is not None:
        lines.append(f"These deals alone:\n\n{result}\n")
    if record is not None:
        lines.append(f"The decisions of finished batches are in {os.fspath(record)}.")
    again = f"; --deals {finished} plays these alone" if finished > 1 else ""
    lines.append(f"The same command begins anew{again}. `paplu tournament A B --out DIR` goes on from what was played.")
    return "\n".join(lines)


def _check_numbers(deals: int, seed: int, batch: int, threads: int) -> None:
    """Refuse numbers that make no match."""
    check_deals(deals)
    as_seed(seed)
    if batch < 1 or threads < 1:
        raise PapluError(f"batch={batch}, threads={threads}: both must be at least 1")
