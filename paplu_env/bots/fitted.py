"""At which tables numbers that were fitted to games are used: their file names the tables.

What the fast kernels can answer is another question (`paplu_env.melds.dispatch`): teaching them one more option
doesn't make a number hold where it has never been fitted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from paplu_env.rules import RuleSet

# Options of a table, each with the values that a file is good for; other options don't matter to it.
Tables = Mapping[str, Sequence[Any]]

# Hands of thirteen with the usual groups, under either gate that asks for both lives.
USUAL_HANDS: Final[Tables] = {
    "num_players": [2],
    "num_jokers": [0, 1, 2],
    "hand_size": [13],
    "min_sequences": [2],
    "min_pure_sequences": [1],
    "min_naturals": [1],
    "tanala": [False],
    "special_hands": [False],
    "gate": ["lives", "all_or_nothing"],
}


def are_for(tables: Tables, rules: RuleSet) -> bool:
    """Whether numbers fitted to these tables are used under these rules."""
    return all(getattr(rules, option) in values for option, values in tables.items())
