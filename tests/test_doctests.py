"""The examples in the docstrings are run, so that they stay true."""

from __future__ import annotations

import doctest
import importlib

import pytest

MODULES = [
    "bots.protocol",
    "bots.seat",
    "cards",
    "engine.series_format",
    "rules",
    "melds.api",
    "melds.arrangement",
    "melds.declaration",
    "melds.groups",
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_hold(name: str) -> None:
    failures, tried = doctest.testmod(importlib.import_module(f"paplu_env.{name}"))
    assert tried > 0
    assert failures == 0
