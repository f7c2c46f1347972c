"""The ceiling of first drops: hands are played on as their seat may believe, and gains are over the published rule."""

from __future__ import annotations

import numpy as np
import pytest

from paplu_env import engine
from paplu_env.bots.outs.agent import OutsAgent
from paplu_env.bots.outs.weights import shipped_weights
from paplu_env.engine.state import DRAW
from paplu_env.melds import distances
from paplu_env.rules import parse_rules
from training.fit.outs import never_dropping, published_rule
from training.studies.drop_value.ceiling import Hands, gains, play_hands

RULES = parse_rules("points")


@pytest.fixture(scope="module")
def hands() -> Hands:
    return play_hands(60, 8, 4)


def test_hands_are_at_the_first_turn_of_their_seat(hands: Hands) -> None:
    known = ~np.isnan(hands.points[:, 0])
    assert 40 < known.sum() < 60, "the first seat dropped some deals before the second had its turn"
    states, seats = hands.states[known], hands.seats[known]
    assert (states["phase"] == DRAW).all()
    assert np.array_equal(states["current_player"], seats)
    assert np.array_equal(states["draws"], seats), "the second seat moves after one draw"


def test_hands_nearer_to_complete_are_worth_more(hands: Hands) -> None:
    known = ~np.isnan(hands.points[:, 0])
    views = engine.player_views(hands.states[known], hands.seats[known])
    distance = distances(views["hand"], views["wild"], RULES)
    worth = hands.points[known].mean(axis=1)
    assert worth[distance <= 2].mean() > worth[distance == 3].mean() > worth[distance >= 4].mean()
    assert (np.abs(worth) <= 80).all()


def test_the_published_rule_gains_nothing_over_itself_and_perfection_gains_most(hands: Hands) -> None:
    itself = gains(hands, OutsAgent(RULES, published_rule(shipped_weights()), "itself"))["rules"]
    assert itself["itself"]["points"] == 0.0
    never = gains(hands, OutsAgent(RULES, never_dropping(shipped_weights()), "never"))["rules"]
    assert never["never"] == never["never dropping"]
    assert never["perfect"]["points"] > max(never["never"]["points"], 0.0)


def test_the_same_seed_gives_the_same_hands_and_numbers() -> None:
    first, again = play_hands(20, 1, 9), play_hands(20, 1, 9)
    assert np.array_equal(first.points, again.points, equal_nan=True)
    assert np.array_equal(first.states, again.states)
