"""Rule sets from whatever people name them by: a preset, a rules string, a mapping."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from paplu_env.errors import InvalidRules
from paplu_env.rules.options_text import parse_options
from paplu_env.rules.rule_set import CHOICES, MAX_PLAYERS, RuleSet, preset


def parse_rules(text: str) -> RuleSet:
    """A rule set from ``preset`` or ``preset:option=value,option=value``.

    Raises:
        InvalidRules: the text doesn't follow this form, or names something unknown.

    >>> parse_rules("points:drop_allowed=false,max_turns=100").max_turns
    100
    """
    name, overrides = parse_options(text, CHOICES)
    return preset(name, **overrides)


def format_rules(rules: RuleSet) -> str:
    """The shortest rules string that `parse_rules` reads back to an equal rule set.

    >>> format_rules(RuleSet(drop_allowed=False))
    'points:drop_allowed=false'
    """
    return str(rules)


def as_rules(rules: RuleSet | str | Mapping[str, Any]) -> RuleSet:
    """A rule set from whatever a user may name it by: itself, a preset or rules string, or a mapping.

    Raises:
        InvalidRules: it cannot be read.
    """
    if isinstance(rules, RuleSet):
        return rules
    if isinstance(rules, str):
        return parse_rules(rules)
    if isinstance(rules, Mapping):
        return RuleSet.from_dict(rules)
    raise InvalidRules(f"{rules!r} names no rules: give a preset, a rules string, a mapping or a RuleSet")


def seats_of(name: str) -> tuple[int, int]:
    """The fewest and the most seats that a preset can be played by.

    >>> seats_of("pagat"), seats_of("rummy_21")
    ((2, 10), (2, 7))
    """
    playable = []
    for players in range(2, MAX_PLAYERS + 1):
        with contextlib.suppress(InvalidRules):
            playable.append(preset(name, num_players=players).num_players)
    return playable[0], playable[-1]
