"""A few searches and their outcome as text, so that another process can repeat them as plain Python."""

from __future__ import annotations

import numpy as np

from paplu_env import engine
from paplu_env.bots import make_policy
from paplu_env.bots.search.agent import SearchAgent
from paplu_env.engine.state import OVER, States
from paplu_env.rules import RuleSet, as_rules


def after_moves(rules: RuleSet, deals: int, moves: int, seed: int, bot: str = "mindist") -> States:
    """Deals in which a bot has made ``moves`` moves for every seat; those that are over are left out."""
    states = engine.deal_many(rules, np.arange(seed, seed + deals, dtype=np.uint64))
    policy = make_policy(bot, rules)
    for _ in range(moves):
        views = engine.player_views(states, states["current_player"].astype(np.int64))
        keys = np.zeros(len(states), dtype=np.uint64)
        engine.apply_actions(states, policy.act(views, engine.legal_action_masks(states, rules), keys), rules)
        states = states[states["phase"] != OVER]
    return states


def outcome() -> str:
    """Candidates, values, errors and worlds of one search in each phase, to the last digit."""
    rules = as_rules("points:drop_allowed=false")
    agent = SearchAgent(rules, worlds=2, base=make_policy("mindist", rules), turns=2)
    lines = []
    for moves in (6, 7):
        states = after_moves(rules, 1, moves, seed=3)
        views = engine.player_views(states, states["current_player"].astype(np.int64))
        masks = engine.legal_action_masks(states, rules)
        (found,) = agent.compare(views, masks, np.array([5], dtype=np.uint64))
        parts = (found.actions, found.values, found.errors, found.worlds, [found.chosen])
        lines.append(" ".join(repr(float(number)) for part in parts for number in part))
    return "\n".join(lines)


if __name__ == "__main__":
    print(outcome())
