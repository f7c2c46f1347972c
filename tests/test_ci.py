"""The script that decides whether a change may land: its parts, its exit status, its times."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / ".ci" / "run"


def _run(tmp_path: Path, *parts: str, fails: str = "nothing") -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """The script beside a ``make`` that does nothing but note its target; and the targets, in order."""
    log, make = tmp_path / "log", tmp_path / "bin" / "make"
    make.parent.mkdir()
    make.write_text(f'#!/bin/sh\necho "$1" >> "{log}"\n[ "$1" != {fails} ]\n', encoding="utf-8")
    make.chmod(0o755)
    script = tmp_path / ".ci" / "run"
    script.parent.mkdir()
    shutil.copy(SCRIPT, script)
    environment = {**os.environ, "PATH": f"{make.parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run([str(script), *parts], env=environment, capture_output=True, text=True, check=False)
    return done, log.read_text(encoding="utf-8").split() if log.exists() else []


def test_all_parts_run_by_default_and_each_has_a_time(tmp_path: Path) -> None:
    done, targets = _run(tmp_path)
    assert done.returncode == 0, done.stderr
    assert targets == ["install", "lint", "test"]
    assert re.findall(r"^(\w+) +\d+:\d\d  (\w+)$", done.stdout, re.MULTILINE) == [
        ("install", "passed"),
        ("lint", "passed"),
        ("core", "passed"),
    ]


@pytest.mark.parametrize(("part", "target"), [("lint", "lint"), ("core", "test")])
def test_a_part_runs_alone(tmp_path: Path, part: str, target: str) -> None:
    done, targets = _run(tmp_path, part)
    assert (done.returncode, targets) == (0, ["install", target])


def test_a_part_that_fails_is_said_and_fails_the_whole(tmp_path: Path) -> None:
    done, targets = _run(tmp_path, fails="lint")
    assert done.returncode == 1
    assert targets == ["install", "lint", "test"]
    assert re.search(r"^lint +\d+:\d\d  FAILED$", done.stdout, re.MULTILINE)


def test_nothing_runs_where_nothing_could_be_installed(tmp_path: Path) -> None:
    done, targets = _run(tmp_path, fails="install")
    assert (done.returncode, targets) == (1, ["install"])


def test_an_unknown_part_is_refused_with_the_parts_that_exist(tmp_path: Path) -> None:
    done, targets = _run(tmp_path, "lint", "everything")
    assert (done.returncode, targets) == (2, [])
    assert "no part 'everything'; the parts are: lint core" in done.stderr
