"""The lean learner updates as the stock MaskablePPO does, and what it adds does what its key says."""

from typing import Any

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer
from stable_baselines3.common.logger import Logger

from paplu_env import encoding as encodings
from paplu_env.encoding import HIDDEN_V2
from paplu_env.engine import apply_actions, player_views
from paplu_env.engine.actions import DRAW_CLOSED, DROP, NUM_ACTIONS
from paplu_env.envs.sb3 import PapluVecEnv
from paplu_env.rules import as_rules
from tests.training.tiny import RULES, tiny_config
from training.learn.config import TrainConfig
from training.learn.learner import Learner
from training.learn.network import LeanPolicy, mask_logits
from training.learn.rollout_buffer import RolloutBuffer
from training.learn.suit_symmetry import suit_symmetries
from training.run.deal_stats import DealStats


def _env(config: TrainConfig, seed: int = 3) -> PapluVecEnv:
    return PapluVecEnv(
        config.games, config.rules, "mindist_opp", encoding=config.encoding, reward=config.reward, seed=seed
    )


def _learner(**changes: object) -> Learner:
    config = tiny_config(**changes)
    learner = Learner(config, _env(config))
    learner.set_logger(Logger(None, []))
    return learner


def _collect(learner: Learner) -> None:
    _, callback = learner._setup_learn(learner.n_steps * learner.n_envs, DealStats(), True, "run", False)
    assert learner.collect_rollouts(learner.env, callback, learner.rollout_buffer, learner.n_steps)


def _as_stock(learner: Learner) -> MaskablePPO:
    """The stock class with the same weights and the same decisions."""
    stock = MaskablePPO(
        LeanPolicy,
        learner.env,
        learning_rate=learner.lr_schedule(1.0),
        n_steps=learner.n_steps,
        batch_size=learner.n_steps * learner.n_envs,  # one batch: the order of the decisions doesn't matter
        n_epochs=1,
        gamma=learner.gamma,
        gae_lambda=learner.gae_lambda,
        ent_coef=learner.ent_coef,
        vf_coef=learner.vf_coef,
        target_kl=learner.target_kl,
        policy_kwargs={"make_net": learner.policy.make_net},
        device="cpu",
    )
    stock.set_logger(Logger(None, []))
    stock.policy.load_state_dict(learner.policy.state_dict())
    room, buffer = learner.rollout_buffer, MaskableRolloutBuffer(
        learner.n_steps, learner.observation_space, learner.action_space, "cpu", learner.gae_lambda, learner.gamma,
        learner.n_envs,
    )  # fmt: skip
    buffer.reset()
    is_start = np.ones(learner.n_envs)
    for step in range(learner.n_steps):
        buffer.add(
            room.obs[step].numpy(), room.actions[step].numpy()[:, None], room.rewards[step], is_start,
            room.values[step], room.log_probs[step], action_masks=room.masks[step].numpy(),
        )  # fmt: skip
        is_start = room.dones[step]
    with torch.no_grad():
        last = learner.policy.predict_values(torch.from_numpy(learner._last_obs))
    buffer.compute_returns_and_advantage(last_values=last, dones=room.dones[-1])
    stock.rollout_buffer = buffer
    return stock


@pytest.mark.parametrize("encoding", ["cards-v1", "features-v1"])
def test_losses_advantages_and_weights_are_those_of_the_stock_class(encoding: str) -> None:
    learner = _learner(encoding=encoding, ppo__epochs=1, ppo__batch_size=128, ppo__entropy=0.01)
    _collect(learner)
    stock = _as_stock(learner)
    np.testing.assert_allclose(learner.rollout_buffer.advantages, stock.rollout_buffer.advantages, atol=1e-5)
    learner.train()
    stock.train()
    ours, theirs = learner.logger.name_to_value, stock.logger.name_to_value
    for name in ("policy_gradient_loss", "value_loss", "entropy_loss", "approx_kl", "clip_fraction"):
        assert ours[f"train/{name}"] == pytest.approx(theirs[f"train/{name}"], abs=1e-5), name
    assert ours["train/explained_variance"] == pytest.approx(theirs["train/explained_variance"], abs=1e-4)
    for (name, one), (_, other) in zip(learner.policy.named_parameters(), stock.policy.named_parameters(), strict=True):
        torch.testing.assert_close(one, other, atol=2e-5, rtol=0, msg=name)


def test_log_probabilities_at_collection_are_those_of_the_first_minibatch() -> None:
    for precision, bound in (("float32", 1e-10), ("bfloat16", 1e-4)):
        learner = _learner(precision=precision, encoding="features-v1")
        _collect(learner)
        _, figures = learner.loss(learner._relabelled(learner.rollout_buffer.flat()), 0.2)
        assert abs(float(figures["approx_kl"])) < bound
        assert float(figures["clip_fraction"]) == 0.0


def test_a_critic_that_sees_hidden_cards_is_told_them_and_the_policy_is_not() -> None:
    learner = _learner(network__shared=False, network__hidden_critic=True)
    _collect(learner)
    batch = learner.rollout_buffer.flat()
    assert batch.hidden is not None
    assert batch.hidden.shape == (128, HIDDEN_V2.num_features(RULES))
    blind = torch.zeros_like(batch.hidden)
    with torch.no_grad():
        logits, values = learner.policy.net(batch.obs, batch.masks, batch.hidden)
        same, other = learner.policy.net(batch.obs, batch.masks, blind)
    torch.testing.assert_close(logits, same)
    assert (values - other).abs().max() > 1e-3
    learner.train()
    assert learner.logger.name_to_value["train/value_loss"] > 0


def test_guessing_hands_teaches_the_trunk_of_the_policy() -> None:
    losses = []
    for weight in (0.0, 10.0):
        learner = _learner(
            network__guesses_hand=True,
            ppo__guess_weight=weight,
            ppo__learning_rate=1e-2,
            ppo__epochs=8,
            ppo__target_kl=0.0,
        )
        _collect(learner)
        learner.train()
        losses.append(float(learner.loss(learner.rollout_buffer.flat(), 0.2)[1]["guess_loss"]))
    assert losses[1] < 0.8 * losses[0]


def test_a_strong_magnet_holds_the_policy_where_it_was() -> None:
    moved = []
    for weight in (0.0, 50.0):
        learner = _learner(ppo__magnet=weight, ppo__magnet_every=0, ppo__learning_rate=1e-2, ppo__target_kl=0.0)
        for _ in range(2):
            _collect(learner)
            before = learner.rollout_buffer.flat()
            learner.train()
        moved.append(abs(float(learner.loss(before, 0.2)[1]["approx_kl"])))
    assert moved[1] < 0.2 * moved[0]


def test_relabelled_decisions_are_those_of_a_relabelled_table() -> None:
    rules, coder = as_rules(RULES), encodings.by_name("cards-v1")
    learner = _learner(ppo__permutes_suits=True)
    _collect(learner)
    whole = learner.rollout_buffer.flat()
    torch.manual_seed(5)
    seen = [learner._relabelled(whole) for _ in range(4)]
    for batch in seen:
        assert batch.masks.gather(1, batch.actions[:, None]).all()
        assert (batch.masks.sum(dim=1) == whole.masks.sum(dim=1)).all()
        with torch.no_grad():
            learner.policy.net.eval()
        _, figures = learner.loss(batch, 0.2)
        assert abs(float(figures["approx_kl"])) < 1e-8  # its probabilities are those of what is seen now
    assert any(not torch.equal(batch.obs, whole.obs) for batch in seen)
    first = suit_symmetries("cards-v1", "hidden-v2", rules)[0]
    assert first.features.tolist() == list(range(coder.num_features(rules)))


def test_the_next_deal_counts_for_nothing_in_an_advantage() -> None:
    room = RolloutBuffer(2, _env(tiny_config()).observation_space, None, gae_lambda=1.0, gamma=1.0, n_envs=1)  # type: ignore[arg-type]
    room.rewards[:, 0], room.dones[:, 0] = (1.0, 2.0), (False, True)
    room.values[:, 0] = torch.tensor((0.5, 0.25))
    room.finish(np.array([100.0], dtype=np.float32))
    torch.testing.assert_close(room.advantages[:, 0], torch.tensor((2.5, 1.75)))


@pytest.mark.parametrize("hidden_critic", [False, True])
def test_a_deal_that_is_cut_goes_on_in_the_value(hidden_critic: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    learner = _learner(
        rules=f"{RULES},max_turns=4", network__shared=not hidden_critic, network__hidden_critic=hidden_critic
    )
    ends: list[dict[str, Any]] = []
    step = learner.env.step

    def note(actions: np.ndarray) -> object:
        result = step(actions)
        ends.extend(result[3][i] for i in np.flatnonzero(result[2]))
        return result

    monkeypatch.setattr(learner.env, "step", note)
    _collect(learner)
    room = learner.rollout_buffer
    rows, columns = room.dones.nonzero()
    is_cut = np.array([info["TimeLimit.truncated"] for info in ends])
    assert len(rows) == len(ends) > is_cut.sum() - 1 > 20
    obs = np.stack([info["terminal_observation"] for info in ends])
    with torch.no_grad():
        if hidden_critic:
            expected = room.values[rows, columns]
        else:
            expected = learner.policy.net.values(torch.from_numpy(obs))
    np.testing.assert_allclose(room.rewards[rows, columns][is_cut], expected[is_cut], atol=1e-6)
    assert not room.rewards[~room.dones].any()


def test_a_magnet_is_replaced_when_its_time_is_over() -> None:
    learner = _learner(ppo__magnet=0.1, ppo__magnet_every=2, ppo__learning_rate=1e-2, ppo__target_kl=1e-9)
    magnets = []
    for _ in range(4):  # updates that stop early: the passes made don't count them
        learner.learn(128, callback=DealStats(), log_interval=None, reset_num_timesteps=False)
        assert learner.magnet is not None
        magnets.append(id(learner.magnet))
    assert magnets[0] == magnets[1] != magnets[2] == magnets[3]


def _looking_ahead(**changes: object) -> Learner:
    return _learner(
        network__shared=False, network__hidden_critic=True, ppo__lookahead=4, encoding="features-v1", **changes
    )


def test_an_action_that_ends_the_deal_is_worth_what_it_pays() -> None:
    learner = _looking_ahead(rules="points", opponents__bots=["light"])
    env: PapluVecEnv = learner.env  # type: ignore[assignment]
    env.reset()
    log_probs = torch.full((8, NUM_ACTIONS), -1e9)
    log_probs[:, DRAW_CLOSED], log_probs[:, DROP] = np.log(0.7), np.log(0.3)
    with torch.no_grad():
        tried = learner.try_actions(log_probs, [env])
    drops = tried.actions == DROP
    assert drops.sum() == 8
    gap = tried.gains[drops] - tried.gains[tried.actions == DRAW_CLOSED]
    states, seats = env.positions()
    apply_actions(states, np.full(8, DRAW_CLOSED), env.rules)
    obs = encodings.by_name("features-v1").encode(player_views(states, seats), env.rules)
    hidden = HIDDEN_V2.encode(states, seats, env.rules)
    with torch.no_grad():
        values = learner.policy.net.values(torch.from_numpy(obs), torch.from_numpy(hidden))
    torch.testing.assert_close(gap, -20 / 80 - values)
    mean = (tried.probabilities * tried.gains).sum(dim=1)
    torch.testing.assert_close(mean, torch.zeros(8), atol=1e-6, rtol=0)


def test_looking_ahead_changes_no_table_and_forced_moves_are_not_tried() -> None:
    learner = _looking_ahead()
    env: PapluVecEnv = learner.env  # type: ignore[assignment]
    env.reset()
    before, _ = env.positions()
    log_probs = torch.full((8, NUM_ACTIONS), -1e9)
    log_probs[:, DRAW_CLOSED] = 0.0
    with torch.no_grad():
        tried = learner.try_actions(log_probs, [env])
        learner.try_actions(
            torch.log_softmax(torch.where(torch.from_numpy(env.action_masks()), 0.0, -1e9), dim=1), [env]
        )
    assert not tried.gains.any()
    np.testing.assert_array_equal(env.positions()[0], before)


def test_learning_by_looking_ahead_raises_what_the_critic_prefers() -> None:
    learner = _looking_ahead(ppo__epochs=20, ppo__learning_rate=3e-3, ppo__target_kl=0.0)
    _collect(learner)
    batch = learner.rollout_buffer.flat()
    learner.train()
    assert batch.tried is not None
    with torch.no_grad():
        after = torch.log_softmax(mask_logits(learner.policy.net.logits(batch.obs), batch.masks), dim=1).exp()
    moved = (after.gather(1, batch.tried) - batch.tried_probs)[batch.tried_probs > 0]
    gains = batch.gains[batch.tried_probs > 0]
    assert (moved * gains).sum() > 0.2 * (moved.norm() * gains.norm())  # chance alone: below 0.05
