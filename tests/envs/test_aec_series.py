"""The PettingZoo face of series: conformance, seats that are out, rewards of every deal and of the end."""

from __future__ import annotations

import copy
import warnings
from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import api_test, render_test, seed_test

from paplu_env import engine
from paplu_env.engine import DRAW_CLOSED, DROP
from paplu_env.envs import PapluSeriesEnv, aec_series
from paplu_env.errors import PapluError
from tests.envs.players import pick
from tests.envs.test_aec import ALLOWED_WARNINGS

TABLES = [  # rules, series
    ("points", "deals:num_deals=3"),
    ("points", "pool_61"),
    ("pagat:num_players=4", "pool_101:rejoin=true"),
    ("classic:num_players=3", "pool_61:split=true"),
    ("points:max_turns=4", "session:num_deals=3"),
    ("points:max_turns=2,drop_allowed=false", "deals:max_deals=3"),  # nobody ever scores: the series is cut
]


def _choose(generator: np.random.Generator, mask: np.ndarray) -> int:
    """A random legal action that seldom drops."""
    action = pick(generator, mask)
    return DRAW_CLOSED if action == DROP and mask[DRAW_CLOSED] and generator.random() < 0.5 else action


@pytest.mark.parametrize(("rules", "series"), TABLES)
def test_pettingzoos_tests_find_nothing(rules: str, series: str, capsys: pytest.CaptureFixture[str]) -> None:
    def make(render_mode: str | None = None) -> Any:
        return aec_series.env(rules, series=series, render_mode=render_mode)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(make(), num_cycles=200)
        seed_test(make, num_cycles=50)
        render_test(make)
    said = [str(warning.message) for warning in caught]
    assert [text for text in said if not any(allowed in text for allowed in ALLOWED_WARNINGS)] == []
    assert "deal 1: seat 0 0" in capsys.readouterr().out


@pytest.mark.parametrize(("rules", "series"), TABLES)
def test_a_series_is_that_of_the_gymnasium_environment_to_its_end(rules: str, series: str) -> None:
    env = aec_series.env(rules, series=series)
    single = PapluSeriesEnv(rules, opponent="self", series=series)
    generator = np.random.default_rng(1)
    for number in range(2):
        seed = 3 if number == 0 else None
        env.reset(seed=seed)
        observation, info = single.reset(seed=seed)
        totals: dict[str, float] = defaultdict(float)
        is_over = False
        while not is_over:
            agent = env.agent_selection
            seen, reward, terminated, truncated, _ = env.last()
            totals[agent] += reward
            assert not terminated
            assert not truncated
            assert env.agents == env.possible_agents  # also those that are out of the series
            assert agent == f"player_{info['current_player']}"
            assert info["in_series"][info["current_player"]] == 1
            assert np.array_equal(seen["observation"], observation)
            assert np.array_equal(seen["action_mask"], info["action_mask"])
            action = _choose(generator, info["action_mask"])
            env.step(action)
            observation, _, terminated, truncated, info = single.step(np.int64(action))
            is_over = terminated or truncated
        assert set(env.terminations.values()) == {terminated}
        assert set(env.truncations.values()) == {truncated}
        for last in env.infos.values():
            assert last["series_ending"] == info["series_ending"]
            assert last["series_winners"] == info["series_winners"]
            assert last["scores"].tolist() == info["scores"].tolist()
            assert last["ranking"].tolist() == list(info["ranking"])
            assert last["series_returns"].tolist() == info["series_returns"].tolist()
        for agent in env.agent_iter():
            totals[agent] += env.last()[1]
            env.step(None)
        assert [totals[agent] for agent in env.possible_agents] == single.series.sheet.points
        assert env.agents == []


def test_a_seat_that_is_out_of_the_series_is_not_selected_again() -> None:
    env = aec_series.env("points:num_players=3", series="pool_61")
    generator = np.random.default_rng(0)
    seen_out = 0
    for seed in range(10):
        env.reset(seed=seed)
        while not any(env.terminations.values()):
            active = env.unwrapped._series.active
            assert env.unwrapped._seats[env.agent_selection] in active
            if len(active) < 3:
                seen_out += 1
                (out,) = {0, 1, 2} - set(active)
                assert not env.observe(f"player_{out}")["action_mask"].any()
                assert not env.terminations[f"player_{out}"]
            env.step(_choose(generator, env.last()[0]["action_mask"]))
    assert seen_out > 10


@pytest.mark.parametrize(("reward", "series"), [("win", "pool_61"), ("series", "pool_61"), ("series", "session")])
def test_rewards_of_the_whole_series_come_at_its_end_to_all_seats(reward: str, series: str) -> None:
    env = aec_series.env("points:num_players=3", series=series, reward=reward)
    env.reset(seed=2)
    generator = np.random.default_rng(2)
    while not any(env.terminations.values()):
        assert not any(env.rewards.values())
        env.step(_choose(generator, env.last()[0]["action_mask"]))
    info = env.infos["player_0"]
    if reward == "series":
        assert list(env.rewards.values()) == info["series_returns"].tolist()
    else:
        (winner,) = info["series_winners"]
        assert [env.rewards[agent] for agent in env.possible_agents] == [
            1.0 if seat == winner else -0.5 for seat in range(3)
        ]
    assert sum(env.rewards.values()) == pytest.approx(0)


def test_observe_shows_running_scores_and_no_hidden_card() -> None:
    """Two worlds in the second deal: hands that an agent cannot see are dealt anew, nothing it observes changes."""
    env = aec_series.env(series="session:num_deals=4")
    env.reset(seed=1)
    first = env.observe("player_0")["observation"]
    env.step(DROP)
    assert env.unwrapped._series.deal_number == 1
    scores = next(field for field in env.unwrapped.encoding.fields(env.unwrapped.rules) if field.name == "score")
    part = slice(scores.start, scores.stop)
    assert not np.array_equal(env.observe("player_0")["observation"][part], first[part])
    other = copy.deepcopy(env)
    for agent, seat in env.unwrapped._seats.items():
        seen = env.observe(agent)
        view = engine.player_view(env.unwrapped._states, 0, seat)
        other.unwrapped._states[:] = engine.sample_world(view, 5, env.unwrapped.rules)
        assert other.unwrapped._states.tobytes() != env.unwrapped._states.tobytes()
        assert other.observe(agent)["observation"].tobytes() == seen["observation"].tobytes()


def test_a_copy_continues_identically_and_apart() -> None:
    env = aec_series.env(series="deals")
    env.reset(seed=1)
    twin = copy.deepcopy(env)
    before = env.observe("player_0")["observation"].tobytes()
    generator = np.random.default_rng(2)
    actions = []
    while not any(twin.terminations.values()):
        actions.append(_choose(generator, twin.last()[0]["action_mask"]))
        twin.step(actions[-1])
    assert env.observe("player_0")["observation"].tobytes() == before
    for action in actions:
        env.step(action)
    assert env.rewards == twin.rewards
    assert env.unwrapped._series == twin.unwrapped._series


@pytest.mark.parametrize(
    ("arguments", "words"),
    [({"series": "pool_7"}, "pool_7"), ({"reward": "shaped"}, "one learner"), ({"reward": "chips"}, "unknown reward")],
)
def test_arguments_that_name_nothing_are_refused(arguments: dict[str, str], words: str) -> None:
    with pytest.raises(PapluError, match=words):
        aec_series.env(**arguments)
