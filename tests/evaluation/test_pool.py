"""Ctrl-C stops a match and a tournament at once, however long a bot thinks, and keeps what was finished."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from paplu_env.evaluation.pool import DaemonPool, daemon_pool

ROOT = Path(__file__).resolve().parents[2]

# A bot that thinks for ten minutes from its 3,000th row on, in the real commands.
SLOW = """
import sys, threading, time
from paplu_env.bots import make_policy
from paplu_env.bots.policy import Policy
from paplu_env.cli import main

class Slow(Policy):
    asked = 0
    def _choose(self, views, masks, keys):
        Slow.asked += len(views)
        if Slow.asked > {rows}:
            print("thinking", flush=True)
            time.sleep(600)
        return make_policy("mindist", self.rules).act(views, masks, keys)

import paplu_env.bots, paplu_env.evaluation.match as match, paplu_env.evaluation.tournament as tournament
real = paplu_env.bots.make_policy
def made(policy, rules=None):
    return Slow("slow", real("mindist", rules).rules) if policy in ("mindist", "minscore") else real(policy, rules)
match.make_policy = tournament.make_policy = made
import paplu_env.cli.options as options
if hasattr(options, "make_policy"):
    options.make_policy = made
sys.argv = ["paplu", *{arguments!r}]
sys.exit(main.main())
"""


def _stopped(arguments: list[str], rows: int = 0) -> tuple[int, str]:
    """Exit status and words of a command that gets SIGINT while its bots think."""
    code = SLOW.format(rows=rows, arguments=arguments)
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "thinking" in line:
                break
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        try:
            _, words = process.communicate(timeout=60)  # the bots would take ten minutes
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    return process.returncode, words


@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_match_stops_while_its_bots_think(threads: str) -> None:
    status, words = _stopped(["match", "mindist", "minscore", "--deals", "4000", "--threads", threads])
    assert status == 130
    assert "stopped" in words
    assert "Traceback" not in words


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_tournament_stops_and_keeps_the_chunks_that_were_finished(tmp_path: Path, workers: str) -> None:
    out = tmp_path / "out"
    arguments = ["tournament", "mindist", "minscore", "--deals", "6000", "--workers", workers, "--out", str(out)]
    status, words = _stopped(arguments, rows=90_000)
    assert status == 130
    assert "goes on" in words
    assert "Traceback" not in words
    assert list((out / "chunks").glob("*.json"))


def test_a_pool_gives_results_in_order_and_raises_what_its_work_raised() -> None:
    with daemon_pool(3) as pool:
        assert list(pool.map(lambda number: number * number, range(20))) == [number * number for number in range(20)]
    with pytest.raises(ZeroDivisionError), daemon_pool(2) as pool:
        list(pool.map(lambda number: 1 // number, [1, 0, 1]))


def test_what_was_not_begun_is_cancelled() -> None:
    pool = DaemonPool(0)
    futures = [pool.submit(int) for _ in range(3)]
    pool.shutdown(cancel_futures=True)
    assert all(future.cancelled() for future in futures)
