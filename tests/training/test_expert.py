"""`expert`: any exported network inside a search, a function of view, key and worlds, and better than the network."""

from pathlib import Path

import numpy as np
import pytest
import torch

from paplu_env import encoding as encodings
from paplu_env import engine
from paplu_env.bots import make_policy
from paplu_env.bots.networks.shipped import shipped_file
from paplu_env.bots.search.expert import ExpertAgent
from paplu_env.bots.search.playout_policy import TO_THE_END
from paplu_env.engine.actions import DECLARE_BASE, DISCARD_BASE
from paplu_env.engine.state import DISCARD, OVER
from paplu_env.errors import InvalidHand, PapluError, PolicyMismatch
from paplu_env.melds import distance
from paplu_env.rules import as_rules
from tests.bots.search.searched import after_moves
from training.export import export_module
from training.learn.config import NetworkConfig
from training.learn.network import ActorCritic, MaskedLogits, face_columns

POINTS = as_rules("points")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network that has learned nothing."""
    torch.manual_seed(2)
    net = ActorCritic(
        encodings.by_name("cards-v1").num_features(POINTS), NetworkConfig(hidden=(8,)), face_columns("cards-v1", POINTS)
    )
    file = tmp_path_factory.mktemp("expert") / "toy.onnx"
    export_module(MaskedLogits(net), "cards-v1", POINTS, file)
    return file


def positions(moves: int, deals: int = 8):
    states = after_moves(POINTS, deals, moves, seed=50)
    views = engine.player_views(states, states["current_player"].astype(np.int64))
    return states, views, engine.legal_action_masks(states, POINTS), np.arange(len(states), dtype=np.uint64)


@pytest.mark.parametrize("moves", [4, 5])
def test_equal_keys_and_worlds_give_equal_answers_alone_and_in_a_batch(path: Path, moves: int) -> None:
    expert = ExpertAgent(path, worlds=8)
    _, views, masks, keys = positions(moves)
    together = expert.act(views, masks, keys)
    alone = [int(expert.act(views[i : i + 1], masks[i : i + 1], keys[i : i + 1])[0]) for i in range(len(views))]
    assert together.tolist() == alone


def test_no_answer_changes_when_the_hidden_cards_do(path: Path) -> None:
    expert = ExpertAgent(path, worlds=8)
    states, views, masks, keys = positions(7)
    others = engine.sample_worlds(views, keys + np.uint64(99), POINTS)
    assert (states["hands"] != others["hands"]).any()
    before = expert.compare(views, masks, keys)
    after = expert.compare(engine.player_views(others, states["current_player"].astype(np.int64)), masks, keys)
    for one, other in zip(before, after, strict=True):
        assert np.array_equal(one.values, other.values, equal_nan=True)
        assert one.chosen == other.chosen


def test_the_networks_move_is_compared_with_other_likely_ones(path: Path) -> None:
    expert = ExpertAgent(path, worlds=16, candidates=3)
    _, views, masks, keys = positions(5)
    moves = expert.network.act(views, masks, keys)
    for found, move, mask, view in zip(expert.compare(views, masks, keys), moves, masks, views, strict=True):
        assert found.actions[0] == move
        assert len(set(found.actions.tolist())) == len(found.actions) <= 3
        assert mask[found.actions].all()
        logits = expert.network.logits(expert.network.encoding.encode(view[None], POINTS), mask[None])[0]
        assert logits[found.actions].min() >= np.sort(logits)[-3]
        if len(found.actions) > 1:
            assert found.errors[0] == 0.0
            assert np.isfinite(found.values).all()


def test_its_discards_leave_hands_nearer_to_complete_than_the_networks(path: Path) -> None:
    expert = ExpertAgent(path, worlds=16)
    _, views, masks, keys = positions(5, deals=16)
    throws = views["phase"] == DISCARD
    views, masks, keys = views[throws], masks[throws], keys[throws]

    def distances(actions) -> int:
        left = 0
        for view, action in zip(views, actions, strict=True):
            assert action < DECLARE_BASE
            hand = view["hand"].copy()
            hand[action - DISCARD_BASE] -= 1
            left += distance(hand, int(view["wild"]), POINTS)
        return left

    assert distances(expert.act(views, masks, keys)) < distances(expert.network.act(views, masks, keys))


def test_whole_deals_are_legal_from_the_first_decision_to_the_last(path: Path) -> None:
    expert = ExpertAgent(path, worlds=2)
    states = engine.deal_many(POINTS, np.arange(2, dtype=np.uint64))
    for moment in range(4 * POINTS.max_turns):
        states = states[states["phase"] != OVER]
        if not len(states):
            break
        views = engine.player_views(states, states["current_player"].astype(np.int64))
        keys = np.full(len(states), moment, dtype=np.uint64)
        # Raises where an answer isn't legal.
        engine.apply_actions(states, expert.act(views, engine.legal_action_masks(states, POINTS), keys), POINTS)
    assert not len(states)


def test_a_budget_limits_the_worlds(path: Path) -> None:
    expert = ExpertAgent(path, worlds=64)
    _, views, masks, keys = positions(5)
    limited = expert.within(worlds=20)
    assert max(int(found.worlds.max()) for found in limited.compare(views, masks, keys)) == 20
    hurried = expert.within(milliseconds=1e-6)
    assert 0 < max(int(found.worlds.max()) for found in hurried.compare(views, masks, keys)) <= 16
    assert expert.within() is expert
    with pytest.raises(PapluError, match="candidates=1"):
        ExpertAgent(path, candidates=1)


def test_a_view_whose_cards_do_not_add_up_is_refused(path: Path) -> None:
    _, views, masks, keys = positions(5, deals=2)
    views["stock_size"] -= 1
    with pytest.raises(InvalidHand, match="do not add up"):
        ExpertAgent(path, worlds=2).act(views, masks, keys)


def test_rules_that_the_network_was_not_made_for_are_refused(path: Path) -> None:
    with pytest.raises(PolicyMismatch):
        ExpertAgent(path, rules="saha2025")


def test_expert_is_a_bot_by_name_and_plays_the_tables_of_its_network() -> None:
    expert = make_policy("expert", "points")
    assert (expert.name, expert.rules) == ("expert", POINTS)
    with pytest.raises(PolicyMismatch):
        make_policy("expert", "ten_card")


def test_deals_are_played_to_their_end_where_no_value_was_fitted() -> None:
    assert ExpertAgent(shipped_file("points-2"), POINTS).turns == 5
    assert ExpertAgent(shipped_file("one_pack-2"), "one_pack").turns == TO_THE_END


def test_expert_without_its_network_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PAPLU_POLICIES_DIR", str(tmp_path))
    with pytest.raises(PapluError, match="points-2"):
        make_policy("expert")
