"""The page for games with engines of their own tells the truth: its examples run, and its tables are complete."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from paplu_env.bots.table.protocol import MESSAGES, PROTOCOL

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "policies" / "README.md").read_text(encoding="utf-8")
HAND = {"4S", "5S", "6S", "8H", "9H", "TH", "7C", "7D", "7H", "KS", "KH", "2D", "3C"}


def _example(name: str) -> str:
    (example,) = re.findall(rf"<!-- example {name} -->\n```\w+\n(.*?)```", TEXT, re.DOTALL)
    return example


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """One in which ``paplu`` is this checkout's."""
    command = tmp_path / "bin" / "paplu"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m paplu_env.cli.main "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "PAPLU_QUIET": "1"}


def test_the_example_in_python_runs(tmp_path: Path, environment: dict[str, str]) -> None:
    file = tmp_path / "example.py"
    file.write_text(_example("python"), encoding="utf-8")
    shown = _run([sys.executable, str(file)], environment).splitlines()
    assert {line.split()[0] for line in shown} == {"draw", "take", "drop", "throws"}
    _, what, card = shown[-1].split()
    assert (what, card in HAND | {"QS", "KD"}) == ("discard", True)


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_example_in_javascript_runs(tmp_path: Path, environment: dict[str, str]) -> None:
    file = tmp_path / "example.cjs"
    file.write_text(_example("javascript"), encoding="utf-8")
    first, second = _run(["node", str(file)], environment).splitlines()
    assert first in ("begins with draw", "begins with take")
    assert re.fullmatch(r"goes on with discard \w\w", second)


def _run(command: list[str], environment: dict[str, str]) -> str:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("name", ["python", "javascript"])
def test_the_examples_are_short(name: str) -> None:
    assert len(_example(name).splitlines()) <= 30


def test_the_session_with_a_seat_runs() -> None:
    (session,) = re.findall(r"<!-- doctest -->\n```python\n(.*?)```", TEXT, re.DOTALL)
    test = doctest.DocTestParser().get_doctest(session, {}, "policies/README.md", "policies/README.md", 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(test)
    assert runner.summarize(verbose=False).failed == 0


def test_the_table_has_every_message_with_every_field() -> None:
    assert f"## The protocol `{PROTOCOL}`" in TEXT
    for kind, fields in MESSAGES.items():
        (row,) = re.findall(rf"^\| `{kind}` \|.*$", TEXT, re.MULTILINE)
        given = row.split("|")[2]
        for name in {**fields.needed, **fields.optional}:
            assert f"`{name}`" in given, (kind, name)
