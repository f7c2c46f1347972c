"""What other systems lack or change: no ``fcntl``, other ends of lines, another Python's wheels."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# A Python as Windows has it, as far as modules and names go.
WINDOWS = """
import os, signal, sys
for name in ("fcntl", "termios", "resource", "pwd", "grp", "tty"):
    sys.modules[name] = None
import asyncio, multiprocessing, subprocess, tempfile  # the library's own use of what goes now
for name in ("geteuid", "getuid", "fork", "fchmod", "O_NOFOLLOW"):
    if hasattr(os, name):
        delattr(os, name)
if hasattr(signal, "SIGHUP"):
    del signal.SIGHUP
"""


@pytest.mark.parametrize("command", ["train", "export", "report", "demo", "exploit", "ship", "vectors"])
def test_training_commands_are_found_without_fcntl(command: str) -> None:
    code = WINDOWS + f"sys.argv = [{command!r}, '--help']\nfrom training.{command} import main\nmain()"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"training.{command}" in done.stdout


def test_a_run_is_read_without_the_library_that_locks_it(tmp_path: Path) -> None:
    code = WINDOWS + "\n".join(
        [
            "sys.modules['filelock'] = None",
            "from paplu_env.errors import PapluError",
            "from training.run.folder import RunFolder",
            f"folder = RunFolder({str(tmp_path)!r})",
            "print(folder.holds_run, folder.metrics())",
            "try:",
            "    folder.__enter__()",
            "except PapluError as error:",
            "    print(error)",
        ]
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "False []",
        "a run's folder is locked by filelock: pip install 'paplu-env[train]'",
    ]


def test_a_clone_has_the_repositorys_ends_of_lines_whatever_git_is_told(tmp_path: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    paths = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    asked = ["git", "check-attr", "-z", "--stdin", "eol", "text"]
    told = subprocess.run(asked, cwd=ROOT, input=paths, capture_output=True, text=True, check=True).stdout.split("\0")
    entries = {(told[k], told[k + 1]): told[k + 2] for k in range(0, len(told) - 2, 3)}
    for path in filter(None, paths.split("\0")):
        if (ROOT / path).is_file():
            is_binary = b"\0" in (ROOT / path).read_bytes()
            assert (entries[path, "text"] == "unset") == is_binary, path
            assert is_binary or entries[path, "eol"] == "lf", path


def test_each_python_gets_one_library_of_the_module_pygame() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert [need for need in extras["play"] if need.startswith("pygame")] == [
        "pygame>=2.5; python_version < '3.14'",
        "pygame-ce>=2.5.6; python_version >= '3.14'",
    ]
