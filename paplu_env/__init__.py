"""Reinforcement learning for Indian Rummy: rules engine, environments, agents and evaluation."""

from __future__ import annotations

import importlib
from typing import Any, Final

from gymnasium.envs.registration import register

__version__ = "0.1.0"

# Reached as attributes (PEP 562) and imported at the first use: `import paplu_env` stays cheap.
_SUBMODULES: Final = (
    "bots",
    "cards",
    "cli",
    "encoding",
    "engine",
    "envs",
    "errors",
    "evaluation",
    "melds",
    "render",
    "rules",
    "ui",
)

register(
    id="Paplu-v0",
    entry_point="paplu_env.envs.single:PapluEnv",
    vector_entry_point="paplu_env.envs.vector:PapluVectorEnv",
)
register(id="PapluSeries-v0", entry_point="paplu_env.envs.series:PapluSeriesEnv")


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return importlib.import_module(f"paplu_env.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_SUBMODULES])
