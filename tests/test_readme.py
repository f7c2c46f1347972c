"""The README tells the truth: its sessions run, and the commands it names exist."""

import doctest
import re
from pathlib import Path

import pytest

from paplu_env.cli.main import COMMANDS

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def _sessions() -> list[str]:
    return re.findall(r"<!-- doctest -->\n```python\n(.*?)```", TEXT, re.DOTALL)


def test_the_readme_has_sessions_and_each_is_run() -> None:
    assert len(_sessions()) == TEXT.count(">>> import gymnasium") + TEXT.count(">>> from paplu_env")
    parser = doctest.DocTestParser()
    for number, session in enumerate(_sessions()):
        test = parser.get_doctest(session, {}, f"README session {number}", "README.md", 0)
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
        runner.run(test)
        assert runner.summarize(verbose=False).failed == 0, session


@pytest.mark.parametrize("command", sorted(set(re.findall(r"paplu (\w+)", TEXT)) - {"env"}))
def test_every_paplu_command_that_the_readme_names_exists(command: str) -> None:
    assert command in COMMANDS


def test_every_file_that_the_readme_names_exists() -> None:
    for name in re.findall(r"(?:configs|training/studies)/[\w./-]+\.(?:toml|md)", TEXT):
        assert (ROOT / name).is_file(), name
    for target in re.findall(r"make (\w+)", TEXT):
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE), target
