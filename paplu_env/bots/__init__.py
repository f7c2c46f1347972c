"""Policies that aren't people: rule agents, exported networks, and adapters for people's own models."""

from paplu_env.bots.adapters import from_callable, from_sb3
from paplu_env.bots.policy import Policy
from paplu_env.bots.registry import ALIASES, BOTS, PolicyLike, make_policy
from paplu_env.bots.seat import Seat

__all__ = ["ALIASES", "BOTS", "Policy", "PolicyLike", "Seat", "from_callable", "from_sb3", "make_policy"]
