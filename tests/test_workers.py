"""Ctrl-C ends what plays on several threads and keeps what was finished, however long a decision takes."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from paplu_env.workers import Stopped, Workers, check_stop

ROOT = Path(__file__).resolve().parent.parent

# A bot whose third batch never comes to an end, and which says when it has begun it.
SCRIPT = """
import sys, threading, time
import numpy as np
from paplu_env import bots
from paplu_env.cli.main import main
from paplu_env.bots import registry

class Stuck(bots.Policy):
    is_slow = True
    deals = 0

    def _choose(self, views, masks, keys):
        Stuck.deals += int(views["draws"].max() == 0)
        if Stuck.deals > 5:
            print("stuck", flush=True)
            time.sleep(600)
        return np.where(masks[:, 2], 2, masks.argmax(axis=1))

found = registry._built_in
bot = registry._Bot("never ends", lambda name, rules: Stuck(name, rules))
registry._built_in = lambda name: bot if name == "stuck" else found(name)
sys.exit(main(sys.argv[1:]))
"""


def _interrupted(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command after a Ctrl-C that came when a bot was thinking for ten minutes."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line == "stuck\n", line + process.communicate()[1]
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=30)  # a hang is ten minutes
    finally:
        process.kill()
    return subprocess.CompletedProcess(arguments, process.returncode, out, error)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to one process")
def test_a_match_on_threads_stops_and_tells_what_was_finished() -> None:
    done = _interrupted("match", "stuck", "random", "--deals", "4000", "--threads", "2")
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    assert "of 4,000 deals" in done.stderr
    assert "points per deal" in done.stderr, "the figures of the deals that were finished"
    assert "paplu tournament A B --out DIR" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to one process")
def test_a_tournament_stops_and_its_folder_goes_on_from_the_finished_games(tmp_path: Path) -> None:
    plan = ("tournament", "stuck", "random", "--deals", "2000", "--workers", "2", "--rules", "points")
    done = _interrupted(*plan, "--out", str(tmp_path / "run"))
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    assert f"kept in {tmp_path / 'run'}; the same command goes on from there" in done.stderr
    assert list((tmp_path / "run" / "chunks").glob("*.part.json")), "the first deals of a chunk under way"
    done = _interrupted(*plan)
    assert done.returncode == 130
    assert "--out DIR" in done.stderr


def test_workers_that_look_at_the_flag_end_at_once_and_nothing_more_is_started() -> None:
    begun = threading.Semaphore(0)
    ends: list[str] = []

    def play() -> None:
        begun.release()
        try:
            while True:
                check_stop()
        except Stopped:
            ends.append("stopped")
            raise

    with pytest.raises(KeyboardInterrupt), Workers(2) as workers:  # noqa: PT012  # what is told lies inside
        calls = [workers.submit(play) for _ in range(5)]
        begun.acquire()
        begun.acquire()
        raise KeyboardInterrupt
    assert ends == ["stopped", "stopped"]
    assert [call.done() for call in calls] == [True, True, False, False, False]


def test_an_error_of_a_call_reaches_whoever_asks_and_results_come_in_order() -> None:
    def half(number: int) -> float:
        return 1 / number

    with Workers(3) as workers:
        calls = [workers.submit(half, number) for number in (1, 2, 0, 4)]
        while not all(call.done() for call in calls):
            workers.finished(calls)
        assert [call.result() for call in (calls[0], calls[1], calls[3])] == [1.0, 0.5, 0.25]
        with pytest.raises(ZeroDivisionError):
            calls[2].result()


def test_nothing_stops_outside_of_workers() -> None:
    check_stop()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(check_stop).result()
