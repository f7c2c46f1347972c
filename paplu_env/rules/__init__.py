"""The options of a table: `RuleSet`, the presets, and the notation that people name them by."""

from paplu_env.rules.notation import as_rules, format_rules, parse_rules, seats_of
from paplu_env.rules.presets import PRESETS, Preset
from paplu_env.rules.rule_set import (
    CHOICES,
    HAND_SIZES,
    MAX_CARDS,
    MAX_DECKS,
    MAX_PLAYERS,
    MAX_TURNS,
    RULES_DTYPE,
    Gate,
    RuleSet,
    RulesRow,
    choice_code,
    preset,
)
from paplu_env.rules.rule_set import _rule_set_of as _rule_set_of  # pickles of rules ask for it here

__all__ = [
    "CHOICES",
    "HAND_SIZES",
    "MAX_CARDS",
    "MAX_DECKS",
    "MAX_PLAYERS",
    "MAX_TURNS",
    "PRESETS",
    "RULES_DTYPE",
    "Gate",
    "Preset",
    "RuleSet",
    "RulesRow",
    "as_rules",
    "choice_code",
    "format_rules",
    "parse_rules",
    "preset",
    "seats_of",
]
