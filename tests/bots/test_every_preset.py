"""Every preset played whole by random and rule agents, with each number of seats that its packs allow."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from paplu_env import engine
from paplu_env.bots import make_policy
from paplu_env.bots.playing import play_steps
from paplu_env.engine.state import ENDING_NAMES, States
from paplu_env.rules import RuleSet, preset, seats_of
from paplu_env.rules.presets import PRESETS

TABLES = [(name, players) for name in PRESETS for players in range(seats_of(name)[0], seats_of(name)[1] + 1)]
AGENTS = ("mindist_opp", "minscore", "random")
DEALS = 3


def play_whole(rules: RuleSet, deals: int, agents: tuple[str, ...] = AGENTS) -> States:
    """Deals played to their ends; seat ``s`` of deal ``d`` is the agent ``d + s``, around the list."""
    states = engine.deal_many(rules, np.arange(deals, dtype=np.uint64), first=np.arange(deals) % rules.num_players)
    policies = [make_policy(agent, rules) for agent in agents]
    seating = (np.arange(deals)[:, None] + np.arange(rules.num_players)) % len(agents)
    step = itertools.count()
    for _ in play_steps(states, policies, lambda rows, due: rows.astype(np.uint64) + 1000 * next(step), seating):
        assert (states["draws"] <= rules.max_turns).all(), "every deal ends within the turn limit"
    return states


@pytest.mark.parametrize(("name", "players"), TABLES)
def test_a_preset_is_played_to_its_end(name: str, players: int) -> None:
    rules = preset(name, num_players=players)
    states = play_whole(rules, DEALS)
    for i in range(DEALS):
        assert engine.is_over(states, i)
        assert engine.check(states, i, rules) == []
        assert engine.returns(states, i).sum() == 0
        if states["winner"][i] >= 0:
            assert engine.returns(states, i).argmax() == states["winner"][i]


@pytest.mark.parametrize("name", ["pagat", "rummy_21"])
@pytest.mark.parametrize("most", [False, True], ids=["two seats", "most seats"])
def test_rule_agents_declare_and_settle_what_the_hands_are_worth(name: str, most: bool) -> None:
    rules = preset(name, num_players=seats_of(name)[most], drop_allowed=False)
    states = play_whole(rules, 6, ("mindist_opp", "minscore"))
    declared = np.flatnonzero(states["ending"] == ENDING_NAMES.index("declared"))
    assert len(declared) >= 2
    for i in declared:
        returns = engine.returns(states, int(i))
        losers = np.arange(rules.num_players) != states["winner"][i]
        assert (returns[losers] <= 0).all()
        assert (returns[losers] >= -rules.max_points).all()
        if name == "pagat" and (states["drew"][i, : rules.num_players] > 0).all():
            assert (returns[losers] % 5 == 0).all()
