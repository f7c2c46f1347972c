"""What a learner is paid: units, sums, and shaping that changes no total."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from paplu_env import melds
from paplu_env.envs import REWARDS, PapluEnv, PapluVectorEnv
from paplu_env.envs.core.rewards import Reward
from paplu_env.errors import PapluError
from paplu_env.rules import RuleSet, preset
from tests.envs.players import pick, pick_many


def _played(reward: str, seed: int, rules: str = "points:drop_allowed=false,max_turns=40") -> list[dict[str, Any]]:
    """Some deals of random play against mindist: rewards, first and last hands, infos."""
    env = PapluEnv(rules=rules, opponent="mindist", encoding="cards-v1", reward=reward)
    generator = np.random.default_rng(seed)
    deals = []
    for deal in range(12):
        _, info = env.reset(seed=seed if deal == 0 else None)
        first = env._core.shown.views[0].copy()
        rewards, over = [], False
        while not over:
            _, paid, terminated, truncated, info = env.step(pick(generator, info["action_mask"]))
            rewards.append(paid)
            over = terminated or truncated
        last = env._core.shown.views[0].copy()
        deals.append({"rewards": rewards, "truncated": truncated, "info": info, "first": first, "last": last})
    return deals


def test_points_are_the_score_of_the_deal_and_come_at_its_end() -> None:
    for deal in _played("points", seed=1):
        *before, last = deal["rewards"]
        assert set(before) <= {0.0}
        assert last == deal["info"]["points"] == deal["info"]["returns"][deal["info"]["seat"]]
        assert deal["info"]["returns"].sum() == 0


def test_scaled_is_points_over_80_and_within_one() -> None:
    for deal, scaled in zip(_played("points", seed=1), _played("scaled", seed=1), strict=True):
        assert scaled["rewards"][-1] == deal["rewards"][-1] / 80
        assert abs(scaled["rewards"][-1]) <= 1


def test_win_is_plus_one_for_the_winner_and_shared_among_the_losers() -> None:
    three = Reward("win", RuleSet(num_players=3))
    winners, seats = np.array([1, 1, -1]), np.array([1, 0, 0])
    assert three.final(np.array([55, -20, 0]), winners, seats).tolist() == [1.0, -0.5, 0.0]
    assert Reward("win", RuleSet()).final(np.array([-7]), np.array([1]), np.array([0])).tolist() == [-1.0]


def test_blend_is_three_parts_points_and_one_part_the_win() -> None:
    winners, seats, points = np.array([1, 1, -1]), np.array([1, 0, 0]), np.array([40, -40, 0])
    assert Reward("blend", RuleSet()).final(points, winners, seats).tolist() == [0.625, -0.625, 0.0]


@pytest.mark.parametrize("name", ["shaped:deadwood", "shaped:distance"])
def test_shaping_leaves_the_total_of_a_finished_deal_as_it_is(name: str) -> None:
    kinds = set()
    for plain, shaped in zip(_played("scaled", seed=1), _played(name, seed=1), strict=True):
        total = sum(plain["rewards"])
        if plain["truncated"]:
            total += _potential(name, shaped["last"]) - _potential(name, shaped["first"])
        assert sum(shaped["rewards"]) == pytest.approx(total, abs=1e-12)
        assert any(shaped["rewards"][:-1])
        kinds.add(plain["truncated"])
    assert kinds == {True, False}


def _potential(name: str, view: Any) -> float:
    rules = preset("points")
    measure = melds.deadwood if name == "shaped:deadwood" else melds.distance
    return -measure(view["hand"], int(view["wild"]), rules) / (80 if name == "shaped:deadwood" else 13)


def test_shaped_alone_means_by_deadwood() -> None:
    assert Reward("shaped", RuleSet()).name == "shaped:deadwood"
    assert "shaped:deadwood" in REWARDS


@pytest.mark.parametrize("name", ["", "Points", "shaped:outs", None, 3])
def test_a_reward_of_another_name_is_refused(name: Any) -> None:
    with pytest.raises(PapluError, match="points, scaled, win, blend, shaped:deadwood, shaped:distance"):
        Reward(name, RuleSet())


def test_rewards_of_all_seats_cancel_in_thousands_of_deals() -> None:
    env = PapluVectorEnv(256, opponent="random", encoding="cards-v1", rules="points:max_turns=30")
    generator = np.random.default_rng(0)
    _, infos = env.reset(seed=1)
    endings: dict[str, int] = {}
    for _ in range(40):
        _, rewards, terminated, truncated, infos = env.step(pick_many(generator, infos["action_mask"]))
        over = terminated | truncated
        if over.any():
            assert not infos["returns"][over].sum(axis=1).any()
            np.testing.assert_array_equal(rewards[over], infos["points"][over])
            for ending in infos["ending"][over]:
                endings[ending] = endings.get(ending, 0) + 1
        assert not rewards[~over].any()
    assert sum(endings.values()) > 2000
