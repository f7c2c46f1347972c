"""No letter stops a command, whatever the encoding of the terminal, and no terminal is too narrow for one."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from paplu_env import engine
from paplu_env.bots import make_policy
from paplu_env.cli.main import COMMANDS, main
from paplu_env.cli.streams import prepare_streams
from paplu_env.rules import as_rules
from paplu_env.ui.play import play_deals
from paplu_env.ui.screen import Screen

ROOT = Path(__file__).resolve().parents[2]
ENCODINGS = ("ascii", "cp1252", "cp437", "latin-1")
PRINTED = ("quit\n", "?\nhelp\nlog\ndraw\n?\nquit\n")


def _shown(encoding: str, *command: str, given: str = "", **variables: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=ROOT,
        env={**os.environ, "PAPLU_QUIET": "1", "PYTHONUTF8": "0", "PYTHONIOENCODING": encoding, **variables},
        input=given.encode(),
        capture_output=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == b""
    return ended.stdout.decode(encoding)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_deal_is_played_in_any_encoding(encoding: str) -> None:
    shown = _shown(encoding, "paplu_env.cli.main", "play", "easy", "--seed", "1", given=PRINTED[1])
    assert "drop (-20) >" in shown
    assert "You left the table" in shown


def test_what_cannot_be_read_as_a_letter_is_answered_with_the_words_that_there_are() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "paplu_env.cli.main", "play", "easy", "--seed", "1"],
        cwd=ROOT,
        env={**os.environ, "PAPLU_QUIET": "1", "PYTHONIOENCODING": "utf-8"},
        input=b"\xff\xfe\nquit\n",
        capture_output=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert b"`help` lists the words" in ended.stdout


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
@pytest.mark.parametrize(
    "command", [("bots",), ("describe", "rules"), ("describe", "cards-v1"), ("describe", "series"), ("--help",)]
)
def test_every_page_is_printed_in_any_encoding(encoding: str, command: tuple[str, ...]) -> None:
    assert len(_shown(encoding, "paplu_env.cli.main", *command)) > 300


@pytest.mark.parametrize("letters", ["−–—±×·→≤≥♠♥♦♣…“”‘’─│", "日本", "😀", "é", "\udcff", chr(0xD800)])
@pytest.mark.parametrize("encoding", [*ENCODINGS, "utf-8"])
def test_every_letter_has_a_stand_in(monkeypatch: pytest.MonkeyPatch, letters: str, encoding: str) -> None:
    for errors in ("strict", "surrogateescape"):
        written = io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding, errors=errors))
        prepare_streams()
        print(letters, end="", flush=True)
        assert written.getvalue()
    stand_in = {"−–—±×·→≤≥♠♥♦♣…“”‘’─│": b"---+/-x*-><=>=SHDC...\"\"''-|", "é": b"?", "\udcff": b"\xff"}
    if encoding == "ascii" and letters in stand_in:
        assert written.getvalue() == stand_in[letters]


def test_an_error_handler_that_somebody_chose_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="xmlcharrefreplace")
    monkeypatch.setattr(sys, "stdout", stream)
    prepare_streams()
    assert stream.errors == "xmlcharrefreplace"


def test_json_is_exact_in_every_encoding(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe", "rules", "--json"]) == 0
    exact = json.loads(capsys.readouterr().out)
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    assert main(["describe", "rules", "--json"]) == 0
    sys.stdout.flush()
    assert json.loads(written.getvalue()) == exact


@pytest.mark.parametrize("command", [*COMMANDS, ""])
def test_the_help_of_every_command_is_printed_in_ascii(monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    with pytest.raises(SystemExit) as stop:
        main([*filter(None, [command]), "--help"])
    assert stop.value.code == 0
    sys.stdout.flush()
    assert len(written.getvalue()) > 300


def test_a_command_with_its_output_closed_ends_without_a_traceback() -> None:
    for command in ("bots", "play easy --watch --seed 1", "describe rules --json"):
        line = f"{sys.executable} -m paplu_env.cli.main {command} >&-"
        environment = {**os.environ, "PAPLU_QUIET": "1"}
        ended = subprocess.run(["bash", "-c", line], cwd=ROOT, env=environment, capture_output=True, check=False)
        assert (ended.returncode, ended.stderr) == (0, b"")


def test_every_program_of_training_prepares_its_streams() -> None:
    programs = [
        path
        for path in (ROOT / "training").rglob("*.py")
        if 'if __name__ == "__main__":' in path.read_text("utf-8")
        and path.name != "maskable_ppo.py"  # the recipe that has no code of ours; it prints numbers
    ]
    assert len(programs) > 15
    for path in programs:
        assert re.search(r'if __name__ == "__main__":\n    prepare_streams\(\)\n', path.read_text("utf-8")), path


@pytest.mark.parametrize("columns", ["0", "1", "7"])
def test_a_terminal_that_says_it_has_no_columns_is_written_to(monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    written = io.StringIO()
    Screen(written).line("the deal is not counted")
    assert written.getvalue().split() == ["the", "deal", "is", "not", "counted"]


def test_a_command_that_is_printed_can_be_typed(tmp_path: Path) -> None:
    path, written = tmp_path / "my deal; $x.json", io.StringIO()
    bot = make_policy("random")
    play_deals(bot, as_rules("points"), seed=1, is_watching=True, save=str(path), screen=Screen(written, width=1000))
    assert f"(paplu replay '{path}')" in written.getvalue()
    assert engine.load_record(path).rules == as_rules("points")
