"""Bots by name: one table behind `make_policy`, ``paplu bots`` and every message that lists bots.

A new bot is one line of `_TABLE`: its name, a sentence, and a function that makes it. The makers import what they
need when they are called, so that naming one bot doesn't load the kernels of the others.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from paplu_env.bots.networks.shipped import shipped_file, shipped_policies
from paplu_env.bots.policy import Policy
from paplu_env.bots.search.budget import worlds_of_name
from paplu_env.errors import PapluError, PolicyMismatch
from paplu_env.rules import RuleSet, as_rules

PolicyLike = str | os.PathLike[str] | Policy

_DEFAULT_RULES: Final = "points"
_EXPERT: Final = "points-2"  # the shipped network inside `expert`


class _Bot(NamedTuple):
    """A bot that comes without a file of its own."""

    about: str  # what it is, in a sentence
    # Makes it from the name that was asked for and the rules; None where the caller named none.
    make: Callable[[str, RuleSet | None], Policy]


def _published(plays: str, name: str, rules: RuleSet | None) -> Policy:
    """A published agent under a name of its own, or a frozen tier made of one."""
    from paplu_env.bots.published.agents import RuleAgent

    return RuleAgent(name, rules or _DEFAULT_RULES, plays)


def _outs(weights: str, name: str, rules: RuleSet | None) -> Policy:
    """`outs` with the weights of one of its files."""
    from paplu_env.bots.outs.agent import OutsAgent
    from paplu_env.bots.outs.weights import shipped_weights

    return OutsAgent(rules or _DEFAULT_RULES, shipped_weights(weights), name)


def _light(name: str, rules: RuleSet | None) -> Policy:
    from paplu_env.bots.search.greedy_bot import LightAgent

    return LightAgent(name, rules or _DEFAULT_RULES)


def _search(name: str, rules: RuleSet | None) -> Policy:
    """A search with the number of worlds that its name tells."""
    from paplu_env.bots.search.agent import SearchAgent

    worlds = worlds_of_name(name)
    assert worlds is not None, name
    return SearchAgent(rules or _DEFAULT_RULES, worlds)


def _expert(name: str, rules: RuleSet | None) -> Policy:
    """The search around a shipped network, under rules that the network was made for."""
    from paplu_env.bots.search.expert import ExpertAgent

    file = shipped_file(_EXPERT)
    if file is None:
        raise PapluError(f"{name} plays the network {_EXPERT}, which isn't among the shipped policies: see paplu bots")
    return ExpertAgent(file, rules)


# The bots that a user can name. Networks aren't here: they are files, shipped or named by a path. The tiers are
# frozen, so that a figure against one stays true: a later fit of `outs` is `hard-2`.
_TABLE: Final[Mapping[str, _Bot]] = {
    "random": _Bot(
        "legal moves by chance; drops one turn in three where drops are allowed", partial(_published, "random")
    ),
    "minscore": _Bot("lowers the points of its hand; drops hands at the cap", partial(_published, "minscore")),
    "mindist": _Bot(
        "lowers the number of cards to replace; throws the drawn card when that doesn't help",
        partial(_published, "mindist"),
    ),
    "mindist_minscore": _Bot(
        "as mindist, and lowers the points when the distance stays", partial(_published, "mindist_minscore")
    ),
    "mindist_opp": _Bot(
        "as mindist, and throws what the opponent has shown no interest in; the strongest published agent",
        partial(_published, "mindist_opp"),
    ),
    "outs": _Bot(
        "lowest distance, then live outs and points a step ahead, danger, drops by estimated value",
        partial(_outs, "outs_weights.json"),
    ),
    "light": _Bot("lowest distance, then live outs, and no more; never drops; fast, to train against", _light),
    "search": _Bot(
        "outs, and plays on in 256 likely worlds before it leaves its move; search-64 takes 64; two seats", _search
    ),
    "expert": _Bot(
        "points-2 inside a search: its likely moves in 1,024 likely worlds; two seats, needs onnxruntime", _expert
    ),
    "easy-1": _Bot(
        "as mindist, but looks away one decision in four and never drops", partial(_published, "mindist_lapsing")
    ),
    "medium-1": _Bot("mindist_opp, frozen", partial(_published, "mindist_opp")),
    "hard-1": _Bot("outs with its first drop rule, frozen", partial(_outs, "hard_1_weights.json")),
}
BOTS: Final[Mapping[str, str]] = {name: bot.about for name, bot in _TABLE.items()}  # name: what it is, in a sentence
# A tier's name moves on to a better bot; the id that it stands for keeps its meaning.
ALIASES: Final[Mapping[str, str]] = {"easy": "easy-1", "medium": "medium-1", "hard": "hard-1"}


def make_policy(policy: PolicyLike, rules: RuleSet | str | None = None) -> Policy:
    """A policy from a bot's name, a shipped network's name, or the path of an exported network (``NAME.onnx``).

    A policy is returned as it is.

    Args:
        rules: what it is to play. None: for a network the first rules that it was trained for, as in the commands;
            for a policy its own; for the others ``points``.

    Raises:
        PapluError: no bot of this name; the message lists those that exist.
        InvalidFile: a file that is missing, truncated or foreign.
        PolicyMismatch: a policy made for other rules.
    """
    asked = None if rules is None else as_rules(rules)
    if isinstance(policy, Policy):
        if asked is not None and policy.rules != asked:
            raise PolicyMismatch(f"{policy.name} was made for the rules {policy.rules}, the table plays {asked}")
        return policy
    name = os.fspath(policy)
    bot = _built_in(name)
    if bot is not None:
        return bot.make(ALIASES.get(name, name), asked)
    file = exported_file(name)
    if file is None:
        raise PapluError(_unknown(name))
    from paplu_env.bots.networks.onnx import OnnxPolicy  # only here, so that the other bots don't need it

    return OnnxPolicy(file, asked)


def exported_file(policy: str) -> Path | None:
    """The ONNX file that a text names, by its path or as a shipped network; None for bots that are not networks."""
    if policy.endswith(".onnx"):
        return Path(policy)
    return None if is_built_in(policy) else shipped_file(policy)


def is_built_in(name: str) -> bool:
    """Whether a bot without a file has this name, which no network can have then."""
    return _built_in(name) is not None


def bot_names() -> list[str]:
    """Every name that `make_policy` knows, in the order of ``paplu bots``; ``search-N`` stands under ``search``."""
    return [*BOTS, *ALIASES, *shipped_policies()]


def _built_in(name: str) -> _Bot | None:
    """The line of the table that a name leads to."""
    line = "search" if worlds_of_name(name) is not None else ALIASES.get(name, name)
    return _TABLE.get(line)


def _unknown(name: str) -> str:
    """What to say of a name that no bot has."""
    close = difflib.get_close_matches(name, bot_names(), n=1)
    hint = f" Did you mean {close[0]}?" if close else ""
    return (
        f"there is no bot {name!r}.{hint} The bots are {', '.join([*BOTS, *shipped_policies()])}; "
        f"{', '.join(f'{alias} stands for {bot}' for alias, bot in ALIASES.items())}; "
        "an exported policy is named by its path, which ends in .onnx"
    )
