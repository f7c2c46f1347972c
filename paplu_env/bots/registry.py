"""Bots by name: the registry behind `make_policy` and ``paplu bots``."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from paplu_env.bots.networks.shipped import shipped_file, shipped_policies
from paplu_env.bots.outs.agent import OutsAgent
from paplu_env.bots.outs.weights import shipped_weights
from paplu_env.bots.policy import Policy
from paplu_env.bots.published.agents import RuleAgent
from paplu_env.bots.search.agent import SearchAgent, worlds_of_name
from paplu_env.bots.search.greedy_bot import LightAgent
from paplu_env.errors import PapluError, PolicyMismatch
from paplu_env.rules import RuleSet, as_rules

PolicyLike = str | os.PathLike[str] | Policy

# What a user can name, and what it is in a sentence. A policy's file is named by its path.
BOTS: Final[Mapping[str, str]] = {
    "random": "legal moves by chance; drops one turn in three where drops are allowed",
    "minscore": "lowers the points of its hand; drops hands at the cap",
    "mindist": "lowers the number of cards to replace; throws the drawn card when that doesn't help",
    "mindist_minscore": "as mindist, and lowers the points when the distance stays",
    "mindist_opp": "as mindist, and throws what the opponent has shown no interest in; the strongest published agent",
    "outs": "lowest distance, then live outs and points a step ahead, danger, drops by estimated value",
    "light": "lowest distance, then live outs, and no more; never drops; fast, to train against",
    "search": "outs, and plays on in 256 likely worlds before it leaves its move; search-64 takes 64; two seats",
    "expert": "points-2 inside a search: its likely moves in 1,024 likely worlds; two seats, needs onnxruntime",
    "easy-1": "as mindist, but looks away one decision in four and never drops",
    "medium-1": "mindist_opp, frozen",
    "hard-1": "outs with its first drop rule, frozen",
}
# What `hard-1` plays by never changes, so it has a file of weights of its own; a later fit of `outs` is `hard-2`.
# A tier's name moves on to a better bot; the id that it stands for keeps its meaning.
ALIASES: Final[Mapping[str, str]] = {"easy": "easy-1", "medium": "medium-1", "hard": "hard-1"}
_OUTS: Final = ("outs", "hard-1")
_EXPERT: Final = "points-2"  # the shipped network inside `expert`


def make_policy(policy: PolicyLike, rules: RuleSet | str | None = None) -> Policy:
    """A policy from the name of a bot or of a shipped network, the path of an exported one (``NAME.onnx``), or itself.

    Args:
        rules: what it is to play; None: the first rules that an exported one was trained for, as in the commands,
            those of a policy that is one already, ``points`` for the others.

    Raises:
        PapluError: no bot of this name; the message lists those that exist.
        InvalidFile: a file that is missing, truncated or foreign.
        PolicyMismatch: a policy made for other rules.
    """
    table = as_rules("points" if rules is None else rules)
    if isinstance(policy, Policy):
        if rules is not None and policy.rules != table:
            raise PolicyMismatch(f"{policy.name} was made for the rules {policy.rules}, the table plays {table}")
        return policy
    name = os.fspath(policy)
    file = exported_file(name)
    if file is not None:
        # Only here, so that rule agents don't need the module of exported ones.
        from paplu_env.bots.networks.onnx import OnnxPolicy

        return OnnxPolicy(file, None if rules is None else table)
    name = ALIASES.get(name, name)
    if name in _OUTS:
        return OutsAgent(table, shipped_weights(name), name)
    if name == "light":
        return LightAgent(name, table)
    worlds = worlds_of_name(name)
    if worlds is not None:
        return SearchAgent(table, worlds)
    if name == "expert":
        return _expert(None if rules is None else table)
    if name in BOTS:
        return RuleAgent(name, table)
    close = difflib.get_close_matches(name, [*BOTS, *ALIASES, *shipped_policies()], n=1)
    hint = f" Did you mean {close[0]}?" if close else ""
    raise PapluError(
        f"there is no bot {name!r}.{hint} The bots are {', '.join([*BOTS, *shipped_policies()])}; "
        f"{', '.join(f'{alias} stands for {bot}' for alias, bot in ALIASES.items())}; "
        "an exported policy is named by its path, which ends in .onnx"
    )


def _expert(rules: RuleSet | None) -> Policy:
    """The search around a shipped network, at a table that the network was made for."""
    from paplu_env.bots.search.expert import ExpertAgent  # only here, as above

    file = shipped_file(_EXPERT)
    if file is None:
        raise PapluError(f"expert plays the network {_EXPERT}, which isn't among the shipped policies: see paplu bots")
    return ExpertAgent(file, rules)


def exported_file(policy: str) -> Path | None:
    """The ONNX file that a text names, by its path or as a shipped bot; None for bots that are no network."""
    if policy.endswith(".onnx"):
        return Path(policy)
    return None if is_built_in(policy) else shipped_file(policy)


def is_built_in(name: str) -> bool:
    """Whether a name is that of a bot without a file, which no network can have."""
    return name in BOTS or name in ALIASES or worlds_of_name(name) is not None
