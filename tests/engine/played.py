"""Seeded games boiled down to one hash, for comparing compiled kernels with plain Python.

``python -m tests.engine.played`` prints the hash of this very process.
"""

from __future__ import annotations

import hashlib

import numpy as np

from paplu_env import engine
from paplu_env.rules import parse_rules

# Between them: every phase, drops that return cards, wrong declarations, reshuffles of both kinds, each
# settlement, and both row sizes. Few turns each, because plain Python takes milliseconds for a mask.
GAMES = (
    ("points", 12),
    ("points:wrong_declare=allowed,open_joker=first_turn", 12),
    ("saha2025:num_decks=1,max_turns=45,drop_allowed=false", 90),
    ("points:stock_out=reshuffle_keep_top,num_decks=1,drop_allowed=false", 60),
    ("points:num_decks=1,drop_allowed=false", 60),
    ("pagat:num_players=4,max_turns=6,turn_limit_result=lower_deadwood,paplu_bonus=held", 24),
    ("classic:num_players=3,max_turns=8", 20),
)


def digest() -> str:
    """SHA-256 over states, masks, views and worlds of all games after every action."""
    sha = hashlib.sha256()
    for seed, (text, limit) in enumerate(GAMES):
        rules = parse_rules(text)
        states = engine.deal_many(rules, np.array([seed, 2**64 - 1 - seed], dtype=np.uint64), first=[0, 1])
        for step in range(limit):
            masks = engine.legal_action_masks(states, rules)
            views = engine.player_views(states, [step % 2, (step + 1) % 2])
            for array in (states, masks, views):
                sha.update(array.tobytes())
            if step % 12 == 3:
                sha.update(
                    engine.sample_worlds(views, np.array([step, 2**63 + step], dtype=np.uint64), rules).tobytes()
                )
            engine.apply_actions(states, [_choose(mask, step) for mask in masks], rules)
        sha.update(states.tobytes())
    return sha.hexdigest()


def _choose(mask: np.ndarray, step: int) -> int:
    """A legal action by a fixed rule that seldom drops and never declares at once; -1 if there is none."""
    legal = np.flatnonzero(mask)
    if len(legal) == 0:
        return -1
    quiet = [a for a in legal if a != engine.DROP and a < engine.DECLARE_BASE]
    chosen = legal if step % 17 == 16 or not quiet else quiet
    return int(chosen[step * 7 % len(chosen)])


if __name__ == "__main__":
    np.seterr(over="raise")
    print(digest())
