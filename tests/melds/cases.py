"""The worked examples of the rules, read from data/rules_cases.json for the tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "data" / "rules_cases.json").read_text())

# The names that the cases give to the other gates.
GATES = {
    "all_cards_unless_both_lives": "all_or_nothing",
    "any_meld_once_a_pure_exists": "pure_opens_all",
    "any_meld_no_gate": "every_meld",
}


def cases(kind: str) -> list[dict[str, Any]]:
    """The cases of one kind: ``group``, ``declaration`` or ``score``."""
    return [case for case in CASES if case["kind"] == kind]


def name_of(case: dict[str, Any]) -> str:
    """What a failing test shows."""
    return str(case["id"])


def wild_letter(case: dict[str, Any]) -> str:
    """Rank letter of the wild cards, ``-`` for none beside the jokers: a joker as indicator makes aces wild."""
    return {None: "-", "PJ": "A"}.get(case["wild"], case["wild"])
