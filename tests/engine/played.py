"""Seeded games boiled down to one hash, for comparing compiled kernels with plain Python.

``python -m tests.engine.played`` prints the hash of this very process.
"""

from __future__ import annotations

import hashlib

import numpy as np

from paplu_env import engine
from paplu_env.rules import parse_rules
from tests.engine.tables import COMPLETE, lay_out, play

# Between them: both row sizes, drops that return cards, wrong declarations, reshuffles of both kinds, and
# with the scripts below every ending.
GAMES = (
    ("points", 100),
    ("points:wrong_declare=allowed,open_joker=first_turn", 100),
    ("saha2025:num_decks=1,max_turns=45,drop_allowed=false", 90),
    ("points:stock_out=reshuffle_keep_top,num_decks=1,drop_allowed=false", 60),
    ("points:num_decks=1,drop_allowed=false", 60),
    ("pagat:num_players=4,max_turns=6,turn_limit_result=lower_deadwood,paplu_bonus=held", 24),
    ("pagat:num_players=10", 60),
    ("classic:num_players=3,max_turns=8", 20),
    ("rummy_21:num_players=3", 12),
    ("paplu_bonus", 40),
)
SCRIPTS = (
    ("points:half_rate=true,loser_complete=2", ["draw", "declare drawn"]),
    ("points:hand_rummy=true", ["announce"]),
    ("points:wrong_declare=allowed,paplu_bonus=declared", ["draw", "declare AS"]),
    ("pagat:num_players=3", ["drop", "draw", "discard any"]),
    ("online:num_players=3", ["drop", "draw", "discard any", "take", "discard any", "drop"]),
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
    for text, actions in SCRIPTS:
        rules = parse_rules(text)
        sha.update(play(lay_out([COMPLETE], "7H", "3C", rules=rules), *actions, rules=rules).tobytes())
    return sha.hexdigest()


def _choose(mask: np.ndarray, step: int) -> int:
    """A legal action by a fixed rule that seldom drops or declares; -1 if there is none."""
    legal = np.flatnonzero(mask)
    if len(legal) == 0:
        return -1
    quiet = [a for a in legal if a != engine.DROP and a < engine.DECLARE_BASE]
    chosen = legal if step % 29 == 28 else quiet
    return int(chosen[step * 7 % len(chosen)])


if __name__ == "__main__":
    np.seterr(over="raise")
    print(digest())
