"""The recipes run, use masks when acting and when updating, and learn only from decisions."""

from __future__ import annotations

import ast
from pathlib import Path

import gymnasium
import numpy as np
import pytest
import torch

from training.recipes import cleanrl_ppo, maskable_ppo
from training.recipes.cleanrl_ppo import GAE_LAMBDA, Agent, Collector, advantages_of

RECIPES = Path(maskable_ppo.__file__).parent


def test_stock_maskable_ppo_runs_and_measures_itself(capsys: pytest.CaptureFixture[str]) -> None:
    before, after = maskable_ppo.main(["--timesteps", "512", "--deals", "40"])
    shown = capsys.readouterr().out
    assert f"before learning: {before:+.1f}" in shown
    assert f"after learning: {after:+.1f}" in shown


def test_the_stock_recipe_has_no_code_of_ours() -> None:
    tree = ast.parse((RECIPES / "maskable_ppo.py").read_text(encoding="utf-8"))
    modules = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    modules += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    assert {str(module).split(".")[0] for module in modules} <= {"__future__", "argparse", "gymnasium", "sb3_contrib"}


def test_the_single_file_loop_learns_what_a_broken_mask_or_batch_does_not(capsys: pytest.CaptureFixture[str]) -> None:
    """Random play gets about 0 against random play; that many updates reach 30."""
    first, last = cleanrl_ppo.main(["--timesteps", "20480"])
    assert first < 10
    assert last > 20
    assert "update 5/5" in capsys.readouterr().out


@pytest.fixture
def env() -> gymnasium.vector.VectorEnv:
    return gymnasium.make_vec(
        "paplu_env:Paplu-v0",
        num_envs=6,
        vectorization_mode="vector_entry_point",
        rules="points:max_turns=8",
        opponent="random",
        encoding="cards-v1",
        reward="scaled",
        illegal_action="raise",
    )


def _agent(env: gymnasium.vector.VectorEnv) -> Agent:
    torch.manual_seed(0)
    return Agent(env.single_observation_space.shape[0], int(env.single_action_space.n))


def test_steps_that_only_deal_anew_are_no_decisions(env: gymnasium.vector.VectorEnv) -> None:
    batch = Collector(env, seed=1).collect(_agent(env), 60)
    ended_before = torch.cat([torch.zeros(1, 6, dtype=torch.bool), batch.ended[:-1]])
    assert ended_before.sum() > 20
    assert torch.equal(batch.is_decision, ~ended_before)
    assert not batch.rewards[ended_before].any()
    assert (batch.ended & ~batch.terminated).any()  # some deals were cut
    chosen = batch.masks.gather(2, batch.actions[..., None]).squeeze(2)
    assert chosen[batch.is_decision].all()


def test_probabilities_of_the_first_epoch_are_those_acted_on(env: gymnasium.vector.VectorEnv) -> None:
    agent = _agent(env)
    batch = Collector(env, seed=1).collect(agent, 40)
    again = agent.policy(batch.observations[:-1], batch.masks).log_prob(batch.actions)
    assert (again - batch.log_probs).abs()[batch.is_decision].max() < 1e-5
    unmasked = agent.policy(batch.observations[:-1], torch.ones_like(batch.masks)).log_prob(batch.actions)
    assert (unmasked - batch.log_probs).abs()[batch.is_decision].min() > 0.1  # as they would be without masks


def test_a_masked_action_has_no_probability_and_no_gradient(env: gymnasium.vector.VectorEnv) -> None:
    """Also where its logit is far above the legal ones."""
    agent = _agent(env)
    batch = Collector(env, seed=1).collect(agent, 4)
    observations, masks = batch.observations[0], batch.masks[0]
    with torch.no_grad():
        agent.actor[-1].bias[:] = torch.where(masks.any(0), -20.0, 0.0)
    policy = agent.policy(observations, masks)
    assert policy.probs[~masks].max() == 0
    assert not (~masks).gather(1, policy.sample((500,)).T).any()
    (policy.entropy().sum() + policy.log_prob(masks.int().argmax(1)).sum()).backward()
    never_legal = ~masks.any(0)
    assert never_legal.any()
    assert not agent.actor[-1].bias.grad[never_legal].any()
    assert agent.actor[-1].bias.grad[~never_legal].any()


def _alone(rewards: list[float], values: list[float], last_value: float) -> list[float]:
    """Advantages of one deal by itself, by their definition as sums."""
    errors = [
        reward + following - value
        for reward, value, following in zip(rewards, values, [*values[1:], last_value], strict=True)
    ]
    return [
        sum(GAE_LAMBDA ** (later - at) * errors[later] for later in range(at, len(errors))) for at in range(len(errors))
    ]


def test_advantages_in_the_batch_are_those_of_each_deal_by_itself(env: gymnasium.vector.VectorEnv) -> None:
    batch = Collector(env, seed=3).collect(_agent(env), 60)
    values = torch.as_tensor(np.random.default_rng(0).normal(size=(61, 6)), dtype=torch.float32)
    found = advantages_of(batch, values)
    deals = 0
    for b in range(6):
        start = 0
        for t in range(60):
            if not batch.ended[t, b]:
                continue
            rows = slice(start, t + 1)
            last = 0.0 if batch.terminated[t, b] else float(values[t + 1, b])
            expected = _alone(batch.rewards[rows, b].tolist(), values[rows, b].tolist(), last)
            assert found[rows, b].tolist() == pytest.approx(expected, abs=1e-5)
            start, deals = t + 2, deals + 1  # the step after the end only deals
    assert deals > 20


def test_torchrl_learns_both_seats_through_the_pettingzoo_face(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torchrl", reason="TorchRL is not installed: pip install 'paplu-env[torchrl]'")
    from training.recipes import torchrl_ppo

    result = torchrl_ppo.main(["--timesteps", "300", "--deals", "10"])
    assert result["decisions"] == 300  # one seat decides at each step, and those rows alone are learnt from
    assert "update 1: 300 decisions" in capsys.readouterr().out
