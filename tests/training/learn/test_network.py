"""The lean policy gives MaskablePPO the numbers of the stock one, and never lets a masked action through."""

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.distributions import MaskableCategorical
from stable_baselines3.common.logger import Logger

from paplu_env import encoding as encodings
from paplu_env.cards import NUM_FACES
from paplu_env.engine.actions import ANNOUNCE, DECLARE_BASE, DISCARD_BASE, DRAW_CLOSED, DROP, NUM_ACTIONS, TAKE_OPEN
from paplu_env.rules import as_rules
from tests.training.tiny import FreeEnv
from training.learn.config import NetworkConfig
from training.learn.network import ActorCritic, FaceHead, LeanPolicy, MaskedLogits, face_columns, mask_logits, sample
from training.run.deal_stats import DealStats


def _net() -> ActorCritic:
    return ActorCritic(12, NetworkConfig(hidden=(16,), face_width=0))


def _model(env: FreeEnv, **options: object) -> MaskablePPO:
    model = MaskablePPO(
        LeanPolicy,
        env,
        n_steps=8,
        batch_size=128,
        n_epochs=1,
        policy_kwargs={"make_net": _net},
        seed=0,
        device="cpu",
        **options,
    )
    model.set_logger(Logger(None, []))
    return model


def _batch(rows: int = 64) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    masks = torch.rand(rows, NUM_ACTIONS, generator=generator) < 0.1
    masks[:, 7] = True
    return torch.rand(rows, 12, generator=generator), masks


@pytest.mark.parametrize("shared", [True, False])
def test_lean_numbers_are_those_of_the_stock_distribution(shared: bool) -> None:
    torch.manual_seed(0)
    obs, masks = _batch()
    policy = _model(FreeEnv()).policy
    policy.net = ActorCritic(12, NetworkConfig(hidden=(16,), face_width=0, shared=shared))
    actions, values, log_probs = policy(obs, action_masks=masks.numpy())
    assert masks[torch.arange(64), actions].all()
    again = policy.evaluate_actions(obs, actions, action_masks=masks.float())
    stock = MaskableCategorical(logits=policy.net(obs)[0], masks=masks)
    torch.testing.assert_close(log_probs, stock.log_prob(actions))
    torch.testing.assert_close(again[1], stock.log_prob(actions))
    torch.testing.assert_close(again[2], stock.entropy())
    torch.testing.assert_close(again[0], values)
    torch.testing.assert_close(policy.predict_values(obs), values)


def test_the_greedy_action_is_that_of_predict() -> None:
    obs, masks = _batch()
    policy = _model(FreeEnv()).policy
    greedy = policy(obs, deterministic=True, action_masks=masks.numpy())[0]
    predicted, _ = policy.predict(obs.numpy(), action_masks=masks.numpy(), deterministic=True)
    np.testing.assert_array_equal(greedy.numpy(), predicted)


def test_sampled_actions_follow_the_probabilities() -> None:
    policy = _model(FreeEnv()).policy
    obs, masks = _batch(1)
    many = obs.expand(20_000, -1)
    torch.manual_seed(3)
    with torch.no_grad():
        policy.net.action_head.all.weight.mul_(300)  # far from even
        actions = policy(many, action_masks=masks.expand(20_000, -1).numpy())[0]
        expected = MaskableCategorical(logits=policy.net(obs)[0], masks=masks).probs[0]
    found = torch.bincount(actions, minlength=NUM_ACTIONS) / 20_000
    assert (found - expected).abs().max() < 0.015  # four standard errors


@pytest.mark.parametrize("part", [0.0, 1e-30, 0.5, 1 - 2**-24])
def test_no_part_of_the_probability_is_a_masked_action(part: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "rand_like", lambda like: torch.full_like(like, part))
    masks = torch.zeros(3, NUM_ACTIONS, dtype=torch.bool)
    masks[0, 50], masks[1, [3, 60, 61]], masks[2] = True, True, True
    masks[2, [0, -1]] = False
    logits = torch.randn(3, NUM_ACTIONS, generator=torch.Generator().manual_seed(5)) * 30
    actions = sample(torch.log_softmax(mask_logits(logits, masks), dim=1))
    assert masks[torch.arange(3), actions].all()


def test_a_masked_action_never_has_a_gradient() -> None:
    obs, masks = _batch()
    policy = _model(FreeEnv()).policy
    logits = torch.zeros(64, NUM_ACTIONS, requires_grad=True)
    policy.net.forward = lambda *_: (logits, torch.zeros(64))  # type: ignore[method-assign]
    _, log_probs, entropy = policy.evaluate_actions(obs, masks.float().argmax(dim=1), action_masks=masks.float())
    (log_probs.sum() + entropy.sum()).backward()
    assert torch.isfinite(logits.grad).all()
    assert (logits.grad[~masks] == 0).all()
    assert (logits.grad[masks] != 0).any()


def test_the_log_probability_at_collection_is_that_of_the_first_epoch() -> None:
    model = _model(FreeEnv())
    model.learn(128, log_interval=None)  # collects and updates once
    model.collect_rollouts(model.env, _silent(model), model.rollout_buffer, model.n_steps)
    with torch.no_grad():
        for part in model.rollout_buffer.get(64):
            _, log_probs, _ = model.policy.evaluate_actions(
                part.observations, part.actions.flatten(), action_masks=part.action_masks
            )
            assert (log_probs - part.old_log_prob).abs().max() < 1e-5


def _silent(model: MaskablePPO) -> DealStats:
    rates = DealStats()
    rates.init_callback(model)
    return rates


def test_many_updates_on_random_masks_stay_finite() -> None:
    model = _model(FreeEnv(), learning_rate=1e-2)
    model.learn(200 * 128, log_interval=None)
    assert all(torch.isfinite(value).all() for value in model.policy.net.state_dict().values())


def test_masked_logits_lie_below_any_other() -> None:
    obs, masks = _batch()
    net = _net()
    with torch.no_grad():
        net.action_head.all.bias.fill_(-20.0)
        logits = MaskedLogits(net)(obs, masks)
    assert logits[masks].min() > logits[~masks].max()
    torch.testing.assert_close(logits.softmax(1)[~masks], torch.zeros(int((~masks).sum())))


def test_weights_come_back_as_copies() -> None:
    one, other = _net(), _net()
    tensors = one.tensors()
    other.load_tensors(tensors)
    tensors["action_head.all.bias"][:] = 9.0
    obs, _ = _batch()
    torch.testing.assert_close(one(obs), other(obs))


def test_a_face_is_judged_by_its_own_entries_and_by_the_same_weights_as_any_other() -> None:
    columns = np.arange(2 * NUM_FACES).reshape(2, NUM_FACES).T  # two fields by face, and nothing else
    head = FaceHead(hidden=4, width=8, columns=columns)
    torch.nn.init.zeros_(head.all.weight)
    torch.nn.init.normal_(head.throw_or_declare.weight)
    hidden, obs = torch.rand(1, 4), torch.rand(1, 2, NUM_FACES)
    order = torch.randperm(NUM_FACES)
    with torch.no_grad():
        one = head(hidden, obs.reshape(1, -1))[0]
        other = head(hidden, obs[:, :, order].reshape(1, -1))[0]
    for base in (DISCARD_BASE, DECLARE_BASE):
        torch.testing.assert_close(one[base : base + NUM_FACES][order], other[base : base + NUM_FACES])
        assert len(set(one[base : base + NUM_FACES].tolist())) > NUM_FACES // 2
    assert not one[[DRAW_CLOSED, TAKE_OPEN, DROP, ANNOUNCE]].any()


def test_what_is_left_out_for_illegal_faces_changes_no_legal_logit() -> None:
    columns = np.arange(2 * NUM_FACES).reshape(2, NUM_FACES).T
    head = FaceHead(hidden=4, width=8, columns=columns)
    torch.nn.init.normal_(head.throw_or_declare.weight)
    generator = torch.Generator().manual_seed(2)
    hidden, obs = torch.rand(300, 4, generator=generator), torch.rand(300, 2 * NUM_FACES, generator=generator)
    masks = torch.rand(300, NUM_ACTIONS, generator=generator) < torch.rand(300, 1, generator=generator)
    whole, part = head(hidden, obs), head(hidden, obs, masks)
    torch.testing.assert_close(whole[masks], part[masks])
    gradients = []
    for logits in (whole, part):
        head.zero_grad()
        logits[masks].square().sum().backward()
        gradients.append([weights.grad.clone() for weights in head.parameters()])
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("encoding", ["cards-v1", "features-v1"])
def test_columns_by_face_are_those_of_the_fields_by_face(encoding: str) -> None:
    rules = as_rules("points")
    columns = face_columns(encoding, rules)
    fields = [field for field in encodings.by_name(encoding).fields(rules) if field.is_by_face]
    assert columns.shape == (NUM_FACES, sum(field.size for field in fields) // NUM_FACES)
    assert columns[:, 0].tolist() == list(range(fields[0].start, fields[0].start + NUM_FACES))
    assert sorted(columns.reshape(-1)) == [i for field in fields for i in range(field.start, field.stop)]
