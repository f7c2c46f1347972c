"""A bot of one's own needs nothing but what `paplu_env.bots` lists."""

from __future__ import annotations

import numpy as np
import pytest

from paplu_env import bots, engine
from paplu_env.engine.actions import DISCARD_BASE, DRAW_CLOSED, TAKE_OPEN
from paplu_env.engine.state import Views
from paplu_env.errors import IllegalAction


class FirstLegal(bots.Policy):
    """The first legal action that isn't a drop; it says that drawing is worth 1 point and taking 2."""

    def _choose(self, views: Views, masks: bots.Masks, keys: bots.Keys) -> bots.Actions:
        return masks.argmax(axis=1)

    def judge(self, views: Views, masks: bots.Masks, keys: bots.Keys) -> bots.Judgement:
        judgement = super().judge(views, masks, keys)
        judgement.values[[DRAW_CLOSED, TAKE_OPEN]] = 1.0, 2.0
        return judgement


def test_it_plays_and_explains_itself() -> None:
    bot = FirstLegal("first", "points:drop_allowed=false")
    states = engine.deal(bot.rules, seed=3)
    view = engine.player_view(states, 0, 0)
    told = bot.explain(view)
    assert all(isinstance(each, bots.Candidate) for each in told)
    assert [(each.action, each.probability, each.value) for each in told] == [
        (DRAW_CLOSED, 1.0, 1.0),
        (TAKE_OPEN, 0.0, 2.0),
    ]
    masks = engine.legal_action_masks(states, bot.rules)
    assert bot.explain(view, masks) == told
    assert bot.act(view, masks, np.zeros(1, dtype=np.uint64)).tolist() == [DRAW_CLOSED]


def test_its_answers_can_be_checked_before_they_are_played() -> None:
    rules = FirstLegal("first", "points").rules
    states = engine.deal(rules, seed=3)
    view, masks = engine.player_view(states, 0, 0), engine.legal_action_masks(states, rules)
    bots.check_answers("first", np.array([DRAW_CLOSED]), view, masks)
    with pytest.raises(IllegalAction, match=r"first, row 0: answered .* which is not legal in seat 0"):
        bots.check_answers("first", np.array([DISCARD_BASE]), view, masks)
