"""The examples in the docstrings are run, so that they stay true."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def _modules_with_examples() -> list[str]:
    files = sorted((ROOT / "paplu_env").rglob("*.py")) + sorted((ROOT / "training").rglob("*.py"))
    shown = [path for path in files if ">>> " in path.read_text(encoding="utf-8")]
    return [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in shown]


MODULES = _modules_with_examples()


def test_examples_are_found_where_they_stand() -> None:
    assert {"paplu_env.cards", "paplu_env.melds.api", "paplu_env.rules.rule_set"} <= set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_hold(name: str) -> None:
    failures, tried = doctest.testmod(importlib.import_module(name))
    assert tried > 0
    assert failures == 0
