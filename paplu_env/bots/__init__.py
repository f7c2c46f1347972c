"""Policies that aren't people: rule agents, exported networks, and adapters for people's own models."""

from paplu_env.bots.networks.adapters import from_callable, from_sb3
from paplu_env.bots.networks.shipped import shipped_policies
from paplu_env.bots.policy import Policy
from paplu_env.bots.registry import ALIASES, BOTS, PolicyLike, exported_file, make_policy
from paplu_env.bots.table.seat import Seat

__all__ = [
    "ALIASES",
    "BOTS",
    "Policy",
    "PolicyLike",
    "Seat",
    "exported_file",
    "from_callable",
    "from_sb3",
    "make_policy",
    "shipped_policies",
]
