"""Players that aren't people: bots by name, exported networks, adapters, and the parts that a new bot is made of."""

from paplu_env.bots.explanation import Candidate, Judgement
from paplu_env.bots.networks.adapters import from_callable, from_sb3
from paplu_env.bots.networks.shipped import shipped_policies
from paplu_env.bots.policy import Actions, Keys, Masks, Policy, check_answers
from paplu_env.bots.registry import ALIASES, BOTS, PolicyLike, bot_names, exported_file, make_policy
from paplu_env.bots.table.seat import Seat

__all__ = [
    "ALIASES",
    "BOTS",
    "Actions",
    "Candidate",
    "Judgement",
    "Keys",
    "Masks",
    "Policy",
    "PolicyLike",
    "Seat",
    "bot_names",
    "check_answers",
    "exported_file",
    "from_callable",
    "from_sb3",
    "make_policy",
    "shipped_policies",
]
