"""Writes the golden decks: ``python -m tests.engine.golden > tests/engine/data/golden_decks.json``."""

from __future__ import annotations

import json

import numpy as np

from paplu_env.cards import format_cards
from paplu_env.engine.chance import shuffle
from paplu_env.rules import parse_rules

DECKS = (("points", 0), ("one_pack", 12345), ("pagat:num_players=7", 2**64 - 1))


def deck_of(rules_text: str, seed: int) -> str:
    """The deck that a seed gives, in the order dealt."""
    rules = parse_rules(rules_text)
    pack = np.array([face for face in range(53) for _ in range(rules.copies(face))], dtype=np.uint8)
    shuffle(pack, len(pack), np.uint64(seed))
    return format_cards(pack[::-1])


if __name__ == "__main__":
    decks = [{"rules": rules, "seed": str(seed), "deck": deck_of(rules, seed)} for rules, seed in DECKS]
    source = "python -m tests.engine.golden > tests/engine/data/golden_decks.json"
    print(json.dumps({"made_by": source, "decks": decks}, indent=1))
