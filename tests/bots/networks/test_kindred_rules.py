"""A network sits at tables that it can't tell from its own, and names the nearest rules of its file at others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from paplu_env import bots, engine
from paplu_env.bots.networks.kindred_rules import can_tell, differing
from paplu_env.bots.networks.onnx import OnnxPolicy
from paplu_env.bots.playing import play_steps
from paplu_env.engine.state import DISCARD, NONE
from paplu_env.errors import PolicyMismatch
from paplu_env.rules import PRESETS, as_rules, preset
from tests.toy_policy import write_toy_policy

KINDRED = (
    "points:max_turns=20",
    "points:max_turns=250",
    "points:block_taken_card=false",
    "points:indicator_first=true",
    "points:direction=anticlockwise",
    "points:max_turns=100,block_taken_card=false,first_drop_returns_cards=true",
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_toy_policy(tmp_path, "toy")


@pytest.mark.parametrize("rules", KINDRED)
def test_a_network_plays_at_a_table_that_it_cannot_tell_from_its_own(path: Path, rules: str) -> None:
    table = as_rules(rules)
    policy = bots.make_policy(path, table)
    assert isinstance(policy, OnnxPolicy)
    assert (policy.rules, policy.own_rules) == (table, preset("points"))
    states = engine.deal_many(table, np.arange(8, dtype=np.uint64))
    for step in play_steps(states, [policy] * 2, lambda rows, due: np.zeros(len(due), dtype=np.uint64)):
        obs, masks = policy.seen(step.views, step.masks)
        assert obs.min() >= 0.0
        assert obs.max() <= 1.0
        assert (masks <= step.masks).all()
        barred = masks != step.masks
        assert not barred.any() or not table.block_taken_card
        assert (step.views["phase"][barred.any(axis=1)] == DISCARD).all()
        assert (step.views["taken"][barred.any(axis=1)] != NONE).all()
    assert engine.is_over(states, 0)


def test_what_a_network_is_shown_at_a_kindred_table_is_what_its_own_would_show(path: Path) -> None:
    own, table = preset("points"), as_rules("points:max_turns=150,first_drop_returns_cards=true")
    at_home, abroad = OnnxPolicy(path), OnnxPolicy(path, table)
    states, others = engine.deal_many(own, np.arange(20)), engine.deal_many(table, np.arange(20))
    for rows, rules, policy in ((states, own, at_home), (others, table, abroad)):
        engine.apply_actions(rows, np.zeros(20, dtype=np.int64), rules)
        views = engine.player_views(rows, rows["current_player"].astype(np.int64))
        masks = engine.legal_action_masks(rows, rules)
        answers = policy.act(views, masks, np.zeros(20, dtype=np.uint64)), policy.seen(views, masks)[0]
        if rules == own:
            expected = answers
    assert np.array_equal(answers[0], expected[0])
    assert np.array_equal(answers[1], expected[1])


@pytest.mark.parametrize(
    ("rules", "option"),
    [
        ("points:first_drop=25", "first_drop"),
        ("points:max_points=60", "max_points"),
        ("points:open_joker=never", "open_joker"),
        ("points:num_decks=1", "num_decks"),
        ("points:num_players=3", "num_players"),
        ("points:wild_neighbours=true", "wild_neighbours"),
        ("points:drop_allowed=false,max_turns=50", "drop_allowed"),
        ("points:stock_out=reshuffle_all", "stock_out"),
    ],
)
def test_a_table_that_differs_in_more_is_refused_with_the_nearest_rules_and_what_differs(
    path: Path, rules: str, option: str
) -> None:
    with pytest.raises(PolicyMismatch, match=rf"the nearest are points, from which the table differs in {option}:"):
        bots.make_policy(path, rules)


def test_the_nearest_rules_are_those_of_the_file_that_differ_least() -> None:
    with pytest.raises(PolicyMismatch, match=r"nearest are points:drop_allowed=false, .* differs in max_points"):
        bots.make_policy("cards-2", "points:drop_allowed=false,max_points=60")
    policy = bots.make_policy("cards-2", "saha2025:max_turns=90,drop_allowed=false")
    assert isinstance(policy, OnnxPolicy)
    assert policy.own_rules == as_rules("saha2025:drop_allowed=false")


def test_prices_of_drops_do_not_matter_where_none_are_allowed() -> None:
    own = as_rules("points:drop_allowed=false")
    assert can_tell(own, replace(own, first_drop=5, middle_drop=7)) == []
    assert can_tell(preset("points"), replace(preset("points"), first_drop=5)) == ["first_drop"]


@pytest.mark.parametrize("name", PRESETS)
def test_rules_do_not_differ_from_themselves(name: str) -> None:
    rules = preset(name)
    assert differing(rules, replace(rules, printed_jokers=rules.num_jokers)) == []


def test_expert_plays_at_a_kindred_table() -> None:
    table = as_rules("points:max_turns=100,block_taken_card=false")
    expert = bots.make_policy("expert", table).within(worlds=2)
    seat = bots.Seat(expert, table)
    hand = "4S 5S 6S 8H 9H TH 7C 7D 7H KS KH 2D 3C"
    seat.see({"type": "deal", "hand": hand, "indicator": "5D", "open": "KD", "first": 0})
    seat.see({"type": "take", "seat": 0})
    assert seat.mask()[0, seat.decide()]
