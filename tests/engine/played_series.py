"""Tables and random play for the tests of series."""

from __future__ import annotations

import numpy as np

from paplu_env import engine
from paplu_env.engine.series.series import Series

# Between them every format and option, both row sizes, both directions, and what returns may hold.
TABLES = [
    ("points", "pool_101"),
    ("points:num_players=4", "pool_61:rejoin=true,split=true"),
    ("pagat:num_players=5", "pool_61:strict_pool=true"),
    ("classic:num_players=6,num_decks=3", "pool_201:split=true"),
    ("paplu_bonus:num_players=3", "pool_101:rejoin=true"),
    ("saha2025:max_turns=40", "deals:num_deals=6"),
    ("points:num_players=10,num_decks=3", "deals:num_deals=3"),
    ("online:num_players=3", "session:num_deals=7"),
    ("points:max_turns=3,drop_allowed=false", "pool_61:max_deals=4"),
    ("ten_card:num_players=3", "pool_61"),
]


def step(series: Series, generator: np.random.Generator) -> int:
    """Do a random legal action, with a drop in one turn of ten, and say which."""
    mask = engine.legal_action_mask(series.states, 0, series.rules)
    if generator.random() < 0.9 and mask.sum() > 1:
        mask[engine.DROP] = False
    action = int(generator.choice(np.flatnonzero(mask)))
    series.apply(action)
    return action


def play(series: Series, seed: int) -> Series:
    """Play a series to its end at random."""
    generator = np.random.default_rng(seed)
    while not series.is_over:
        if series.is_deal_over:
            series.next_deal()
        step(series, generator)
    return series
