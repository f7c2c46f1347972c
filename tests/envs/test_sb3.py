"""The adapter for Stable-Baselines3: equal to single environments, masks, monitors, opponents drawn per deal."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecCheckNan, VecMonitor

from paplu_env import encoding, engine
from paplu_env.encoding import HIDDEN_V1
from paplu_env.engine import DISCARD_BASE, DRAW_CLOSED, DROP, NUM_ACTIONS
from paplu_env.envs import PapluEnv
from paplu_env.envs.core.kernels import NO_ACTION
from paplu_env.envs.sb3 import PapluVecEnv
from paplu_env.errors import IllegalAction, PapluError
from tests.envs.players import Delegate, Passer, pick_many

SHORT = "points:max_turns=6"
TINY = {"policy_kwargs": {"net_arch": [16]}, "n_epochs": 1, "device": "cpu", "seed": 0}


def _patient(generator: np.random.Generator, masks: np.ndarray) -> np.ndarray:
    """Random legal actions, in which drops are rare."""
    actions = pick_many(generator, masks)
    return np.where((actions == DROP) & (generator.random(len(actions)) < 0.9), DRAW_CLOSED, actions)


def _assert_equal_info(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert one.keys() == other.keys()
    for key, value in one.items():
        np.testing.assert_array_equal(value, other[key], err_msg=key)


@pytest.mark.parametrize("rules", ["points", SHORT])
@pytest.mark.parametrize("reward", ["scaled", "shaped:deadwood"])
@pytest.mark.parametrize("opponent", ["random", "outside"])
def test_equals_single_environments_step_by_step(opponent: str, reward: str, rules: str) -> None:
    policy = Delegate("random", rules) if opponent == "outside" else opponent
    ours = PapluVecEnv(8, rules, policy, encoding="cards-v1", reward=reward)
    theirs = DummyVecEnv([lambda: PapluEnv(rules, policy, encoding="cards-v1", reward=reward)] * 8)
    ours.seed(3), theirs.seed(3)
    np.testing.assert_array_equal(ours.reset(), theirs.reset())
    generator = np.random.default_rng(0)
    truncations = 0
    for _ in range(60):
        for info, other_info in zip(ours.reset_infos, theirs.reset_infos, strict=True):
            _assert_equal_info(info, other_info)
        masks = get_action_masks(ours)
        np.testing.assert_array_equal(masks, get_action_masks(theirs))
        actions = _patient(generator, masks)
        observations, rewards, dones, infos = ours.step(actions)
        expected, expected_rewards, expected_dones, expected_infos = theirs.step(actions)
        np.testing.assert_array_equal(observations, expected)
        np.testing.assert_array_equal(rewards, expected_rewards)
        np.testing.assert_array_equal(dones, expected_dones)
        assert rewards.dtype == expected_rewards.dtype == np.float32
        for done, info, other_info in zip(dones, infos, expected_infos, strict=True):
            if done:
                _assert_equal_info(info, other_info)
                truncations += info["TimeLimit.truncated"]
            else:
                assert info == {}
    assert (truncations > 0) == (rules == SHORT)


def test_masks_reach_maskable_ppo_by_its_own_ways() -> None:
    env = PapluVecEnv(5, opponents="random", encoding="cards-v1", seed=1)
    env.reset()
    assert is_masking_supported(env)
    assert env.has_attr("action_masks")
    masks = env.env_method("action_masks")
    assert len(masks) == 5
    assert all(mask.shape == (110,) and mask.dtype == np.bool_ for mask in masks)
    np.testing.assert_array_equal(np.stack(masks), env.action_masks())
    np.testing.assert_array_equal(env.env_method("action_masks", indices=[3, 1]), env.action_masks()[[3, 1]])
    np.testing.assert_array_equal(env.env_method("action_masks", indices=2), env.action_masks()[2:3])
    np.testing.assert_array_equal(env.get_attr("action_masks", indices=2)[0](), env.action_masks()[2])
    kept = env.action_masks()
    env.step(np.full(5, DRAW_CLOSED))
    assert not np.array_equal(kept, env.action_masks())


def test_stock_maskable_ppo_learns_on_it_and_on_the_single_environment() -> None:
    for env in (
        PapluVecEnv(4, opponents=["random", "mindist"], encoding="cards-v1", seed=1),
        gymnasium.make("Paplu-v0", opponent="random", encoding="cards-v1", illegal_action="raise"),
    ):
        model = MaskablePPO("MlpPolicy", env, n_steps=50, batch_size=50, **TINY)
        model.learn(200)
        assert model.num_timesteps >= 200


def test_evaluation_by_sb3_contrib_keeps_the_masks_and_adds_up_the_score() -> None:
    env = VecMonitor(PapluVecEnv(4, opponents="random", encoding="cards-v1", seed=1))
    model = MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=32, **TINY)
    evaluation = VecMonitor(PapluVecEnv(2, opponents="random", encoding="cards-v1", seed=2))
    callback = MaskableEvalCallback(evaluation, eval_freq=32, n_eval_episodes=4, verbose=0)
    model.learn(256, callback=callback)  # illegal_action="raise": an unmasked action would end this
    assert callback.n_calls == 64
    returns, lengths = evaluate_policy(model, evaluation, n_eval_episodes=6, return_episode_rewards=True)
    assert len(returns) == len(lengths) == 6


def test_monitored_episode_rewards_are_the_documented_score() -> None:
    env = VecMonitor(PapluVecEnv(8, opponents="random", encoding="cards-v1", seed=1))
    single = DummyVecEnv([lambda: Monitor(PapluEnv(opponent="random", encoding="cards-v1"))])
    generator = np.random.default_rng(0)
    for one in (env, single):
        one.reset()
        episodes = 0
        for _ in range(60):
            *_, dones, infos = one.step(pick_many(generator, get_action_masks(one)))
            for info in (infos[i] for i in np.flatnonzero(dones)):
                assert info["episode"]["r"] == info["points"] == info["returns"][info["seat"]]
                episodes += 1
        assert episodes > 5


class _Nothing(BaseCallback):
    def _on_step(self) -> bool:
        assert not np.isnan(self.locals["rewards"]).any()
        return True


def test_every_row_of_the_rollout_is_a_decision_of_the_learners_seat() -> None:
    env = VecMonitor(PapluVecEnv(4, opponents="random", encoding="cards-v1", seed=1))
    model = MaskablePPO("MlpPolicy", VecCheckNan(env, raise_exception=True), n_steps=64, batch_size=64, **TINY)
    model.learn(256, callback=_Nothing())
    masks, actions = model.rollout_buffer.action_masks, model.rollout_buffer.actions
    masks = masks.reshape(-1, 110).astype(bool)
    assert masks.any(axis=1).all()
    assert masks[np.arange(256), actions.reshape(-1).astype(int)].all()


def _opponents_met(env: PapluVecEnv, deals: int) -> list[str]:
    """Drops until ``deals`` deals are over, and says against whom."""
    names: list[str] = []
    while len(names) < deals:
        *_, infos = env.step(np.where(env.action_masks()[:, DROP], DROP, DRAW_CLOSED))
        names += [info["opponent"] for info in infos if info]
    return names


def test_each_deal_draws_its_opponent_by_weight_and_by_its_seed_alone() -> None:
    pool = [Passer(), "mindist", "easy-1"]
    env = PapluVecEnv(50, opponents=pool, opponent_weights=[1, 0, 3], encoding="cards-v1", seed=1)
    env.reset()
    names = _opponents_met(env, 1000)
    assert set(names) == {"passer", "easy-1"}
    share = names.count("easy-1") / len(names)
    assert abs(share - 0.75) < 4 * (0.75 * 0.25 / len(names)) ** 0.5
    again = PapluVecEnv(50, opponents=pool, opponent_weights=[2, 0, 6], encoding="cards-v1", seed=1, threads=2)
    again.reset()
    assert _opponents_met(again, 1000) == names


def test_opponents_change_between_deals_and_never_inside_one() -> None:
    env = PapluVecEnv(6, opponents=Passer(), encoding="cards-v1", seed=1)
    env.reset()
    actions = np.full(6, DRAW_CLOSED)
    env.step(actions)
    for bot in ("mindist", "easy-1", "mindist_minscore"):  # deals under way keep theirs through every change
        env.set_opponents([bot])
    throw = env.action_masks().argmax(axis=1)
    throw[3:] = [np.flatnonzero(mask)[0] for mask in env.action_masks()[3:]]
    env.step(throw)
    assert env._deals.pool is not None
    assert len(env._deals.pool.line_ups) <= 2  # those in between are not kept
    *_, infos = env.step(np.full(6, DROP))
    assert {info["opponent"] for info in infos} == {"passer"}
    assert {info["opponent"] for info in env.reset_infos} == {"mindist_minscore"}


@pytest.mark.parametrize(
    ("opponents", "weights", "words"),
    [
        ([], None, "at least one"),
        (["random"], [1, 2], "as many weights"),
        (["random", "mindist"], [0, 0], "not all 0"),
        (["random", "mindist"], [1, -1], "0 or more"),
        (["random", "mindist"], [1, float("nan")], "0 or more"),
        (["random", "mindist"], ["a", "b"], "a number for each"),
        (["nobody"], None, "nobody"),
        ([[["random"]]], None, "give a bot's name"),
        ("self", None, "every seat"),
    ],
)
def test_a_pool_that_cannot_be_is_refused_and_changes_nothing(
    opponents: Any, weights: list[float] | None, words: str
) -> None:
    with pytest.raises(PapluError, match=words):
        PapluVecEnv(2, opponents=opponents, opponent_weights=weights, encoding="cards-v1")
    env = PapluVecEnv(2, opponents=Passer(), encoding="cards-v1", seed=1)
    env.reset()
    with pytest.raises(PapluError, match=words):
        env.set_opponents(opponents, weights)
    assert set(_opponents_met(env, 10)) == {"passer"}


def test_the_critic_sees_the_hidden_cards_and_nobody_else_does() -> None:
    env = PapluVecEnv(6, opponents="random", encoding="cards-v1", seed=1)
    observations = env.reset()
    hidden = env.critic_obs()
    assert hidden.shape == (6, HIDDEN_V1.num_features("points"))
    np.testing.assert_array_equal(hidden, HIDDEN_V1.encode(env._deals.dealt.states, env._deals.dealt.seats, "points"))
    kept = hidden.copy()
    # Hidden cards are dealt anew under the same views: the critic's array moves, and nothing else.
    masks, seats = env.action_masks(), env._deals.dealt.seats.copy()
    for i in range(6):
        env._deals.dealt.states[i] = engine.sample_world(env._deals.shown.views[i : i + 1], i, env.rules)[0]
    env._deals.play(np.arange(6), np.full(6, NO_ACTION), by_learners=False)
    assert (env.critic_obs() != hidden).any(axis=1).all()
    np.testing.assert_array_equal(env._deals.observe(), observations)
    np.testing.assert_array_equal(env.action_masks(), masks)
    np.testing.assert_array_equal(env._deals.dealt.seats, seats)
    np.testing.assert_array_equal(hidden, kept)  # a new array at each call
    with pytest.raises(PapluError, match="unknown encoding 'hidden-v1'"):
        PapluVecEnv(2, opponents="random", encoding="hidden-v1")


def test_both_seats_are_played() -> None:
    env = PapluVecEnv(64, opponents=Passer(), encoding="cards-v1", seed=1)
    env.reset()
    assert 16 < sum(info["seat"] for info in env.reset_infos) < 48


def test_a_terminal_observation_is_the_last_one_of_its_deal() -> None:
    env = PapluVecEnv(4, opponents=Passer(), encoding="cards-v1", seed=1, seat=0)
    first = env.reset()
    observations, _, dones, infos = env.step(np.array([DROP, DRAW_CLOSED, DROP, DRAW_CLOSED]))
    assert dones.tolist() == [True, False, True, False]
    fields = {field.name: field for field in encoding.by_name("cards-v1").fields("points")}
    over = fields["phase"].start + 2
    for i in (0, 2):
        last = infos[i]["terminal_observation"]
        assert last[over] == 1
        assert observations[i][over] == 0
        hand = slice(fields["hand"].start, fields["hand"].stop)
        np.testing.assert_array_equal(last[hand], first[i][hand])  # not the hand of the next deal
        assert not np.array_equal(observations[i][hand], first[i][hand])


def test_only_deals_that_were_cut_show_their_last_observation_if_so_asked() -> None:
    envs = [
        PapluVecEnv(16, SHORT, "random", encoding="cards-v1", seed=1, terminal_observations=which)
        for which in ("all", "truncated")
    ]
    for env in envs:
        env.reset()
    generator, met = np.random.default_rng(2), set()
    for _ in range(30):
        actions = pick_many(generator, envs[0].action_masks())
        (*every, infos), (*others, other_infos) = (env.step(actions) for env in envs)
        for one, other in zip(every, others, strict=True):
            np.testing.assert_array_equal(one, other)
        for info, other in zip(infos, other_infos, strict=True):
            met.add(info.get("TimeLimit.truncated"))
            if info and not info["TimeLimit.truncated"]:
                del info["terminal_observation"]
            _assert_equal_info(info, other)
    assert met == {None, False, True}
    with pytest.raises(PapluError, match="choose all or truncated"):
        PapluVecEnv(2, terminal_observations="none")  # type: ignore[arg-type]


def test_an_illegal_action_raises_by_default_and_changes_nothing() -> None:
    env = PapluVecEnv(3, opponents="random", encoding="cards-v1", seed=1)
    env.reset()
    before = env._deals.get_state()
    with pytest.raises(IllegalAction, match="environment 1"):
        env.step(np.array([DRAW_CLOSED, DISCARD_BASE, DRAW_CLOSED]))
    after = env._deals.get_state()
    assert all(np.array_equal(before[key], after[key]) for key in before)
    env.step(np.full(3, DRAW_CLOSED))


def test_misuse_is_refused_in_words() -> None:
    env = PapluVecEnv(3, opponents="random", encoding="cards-v1", seed=1)
    with pytest.raises(PapluError, match="call reset"):
        env.step(np.full(3, DRAW_CLOSED))
    with pytest.raises(PapluError, match="call reset"):
        env.critic_obs()
    env.reset()
    with pytest.raises(PapluError, match="whole numbers"):
        env.step(np.zeros(2, dtype=np.int64))
    with pytest.raises(PapluError, match="call reset"):
        env.step_wait()
    with pytest.raises(AttributeError, match="'episode'"):
        env.get_attr("episode")
    with pytest.raises(AttributeError, match="'render'"):
        env.env_method("render")
    with pytest.raises(AttributeError, match="set_opponents"):
        env.set_attr("opponents", [])
    env.set_options({"seat": 1})
    with pytest.raises(PapluError, match="'seat'"):
        env.reset()


@pytest.mark.parametrize("start_method", ["spawn", "fork"])
def test_single_environments_run_in_stable_baselines3_workers(start_method: str) -> None:
    def make() -> gymnasium.Env[Any, Any]:
        return gymnasium.make("paplu_env:Paplu-v0", opponent="random", encoding="cards-v1")

    ours = PapluVecEnv(2, opponents="random", encoding="cards-v1", seed=1)
    expected = ours.reset()
    workers = SubprocVecEnv([make] * 2, start_method=start_method)
    try:
        workers.seed(1)
        np.testing.assert_array_equal(workers.reset(), expected)
        np.testing.assert_array_equal(get_action_masks(workers), ours.action_masks())
    finally:
        workers.close()


def test_stable_baselines3_makes_its_own_vector_of_single_environments() -> None:
    """Its helper tries a render mode that isn't ours and goes on without one."""
    envs = make_vec_env("Paplu-v0", n_envs=2, env_kwargs={"opponent": "random", "encoding": "cards-v1"})
    assert envs.reset().shape[0] == 2
    assert np.array(envs.env_method("action_masks")).shape == (2, NUM_ACTIONS)
    envs.close()
