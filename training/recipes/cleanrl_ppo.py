"""PPO in one file, as CleanRL writes it, on the native vector environment.

    python -m training.recipes.cleanrl_ppo --timesteps 80000 --seed 0

It shows two things that such loops get wrong. Masks are used both when acting and when updating, so the
first epoch finds the very probabilities that were acted on. And the vector environment deals anew in the
step *after* a deal's end, a step in which nobody decides: its rows are left out of the batch. Half a
minute on one core.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import gymnasium
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

from paplu_env.cli.streams import prepare_streams

OPPONENT = "random"
NUM_ENVS = 64
NUM_STEPS = 64  # decisions of each environment between two updates
EPOCHS = 4
MINIBATCHES = 4
LEARNING_RATE = 1e-3
GAMMA = 1.0  # a deal ends by itself and is scored once
GAE_LAMBDA = 0.95
CLIP = 0.2
ENTROPY_WEIGHT = 0.01
VALUE_WEIGHT = 0.5
MAX_GRAD_NORM = 0.5


class Agent(nn.Module):
    """Logits of the actions and the value of an observation, by two networks."""

    def __init__(self, num_features: int, num_actions: int) -> None:
        super().__init__()
        self.actor = self._network(num_features, num_actions, scale=0.01)
        self.critic = self._network(num_features, 1, scale=1.0)

    def policy(self, observations: torch.Tensor, masks: torch.Tensor) -> Categorical:
        """The distribution over legal actions; an illegal one has probability 0 and gets no gradient."""
        logits = self.actor(observations)
        return Categorical(logits=logits.masked_fill(~masks, torch.finfo(logits.dtype).min))

    def value(self, observations: torch.Tensor) -> torch.Tensor:
        """``(…,)`` expected rewards to come."""
        return self.critic(observations).squeeze(-1)

    @staticmethod
    def _network(num_inputs: int, num_outputs: int, scale: float) -> nn.Sequential:
        sizes, gains = [num_inputs, 128, 128, num_outputs], [2**0.5, 2**0.5, scale]
        layers: list[nn.Module] = []
        for size, following, gain in zip(sizes, sizes[1:], gains, strict=False):
            layer = nn.Linear(size, following)
            nn.init.orthogonal_(layer.weight, gain)
            nn.init.zeros_(layer.bias)
            layers += [layer, nn.Tanh()]
        return nn.Sequential(*layers[:-1])


@dataclass
class Batch:
    """What `collect` gathers: ``(T, B)`` rows, time first."""

    observations: torch.Tensor  # (T + 1, B, F), with the one after the last step
    masks: torch.Tensor  # (T, B, A)
    actions: torch.Tensor  # (T, B)
    log_probs: torch.Tensor  # (T, B)
    rewards: torch.Tensor  # (T, B)
    terminated: torch.Tensor  # (T, B), the step ended its deal: nothing comes after
    ended: torch.Tensor  # (T, B), it ended or cut its deal
    is_decision: torch.Tensor  # (T, B), False in steps that only dealt anew


class Collector:
    """Plays the vector environment on from where it stands."""

    def __init__(self, env: gymnasium.vector.VectorEnv, seed: int) -> None:
        self.env = env
        self.observations, info = env.reset(seed=seed)
        self.masks = info["action_mask"].astype(bool)
        self.ended = np.zeros(env.num_envs, dtype=bool)
        self.scores: list[float] = []  # points of finished deals

    @torch.no_grad()
    def collect(self, agent: Agent, num_steps: int) -> Batch:
        """So many steps of every environment."""
        steps: dict[str, list[torch.Tensor]] = {name: [] for name in Batch.__dataclass_fields__}
        for _ in range(num_steps):
            is_decision = ~self.ended
            masks = torch.as_tensor(self.masks | self.ended[:, None])  # any action will do where none is played
            observations = torch.as_tensor(self.observations)
            policy = agent.policy(observations, masks)
            actions = policy.sample()
            self.observations, rewards, terminated, truncated, info = self.env.step(actions.numpy())
            self.masks = info["action_mask"].astype(bool)
            self.ended = terminated | truncated
            if "points" in info:
                self.scores += info["points"][info["_points"]].tolist()
            row = {
                "observations": observations,
                "masks": masks,
                "actions": actions,
                "log_probs": policy.log_prob(actions),
                "rewards": torch.as_tensor(rewards, dtype=torch.float32),
                "terminated": torch.as_tensor(terminated),
                "ended": torch.as_tensor(self.ended),
                "is_decision": torch.as_tensor(is_decision),
            }
            for name, value in row.items():
                steps[name].append(value)
        steps["observations"].append(torch.as_tensor(self.observations))
        return Batch(**{name: torch.stack(values) for name, values in steps.items()})


def advantages_of(batch: Batch, values: torch.Tensor) -> torch.Tensor:
    """``(T, B)`` generalised advantages; those of steps that only dealt anew mean nothing.

    Args:
        values: ``(T + 1, B)``. At a deal's end the following observation is its last one, so a deal that
            was cut counts what it was worth then.
    """
    advantages = torch.zeros_like(batch.rewards)
    following = torch.zeros_like(batch.rewards[0])
    for t in reversed(range(len(batch.rewards))):
        error = batch.rewards[t] + GAMMA * values[t + 1] * ~batch.terminated[t] - values[t]
        following = error + GAMMA * GAE_LAMBDA * following * ~batch.ended[t]
        advantages[t] = following
    return advantages


def update(agent: Agent, optimizer: torch.optim.Optimizer, batch: Batch) -> float:
    """Some epochs of PPO on the decisions of a batch.

    Returns:
        The largest difference between log-probabilities of the first minibatch and those acted on: 0 but
        for rounding, or the masks differ.
    """
    with torch.no_grad():
        values = agent.value(batch.observations)
    advantages = advantages_of(batch, values)
    keep = batch.is_decision
    observations, masks, actions = batch.observations[:-1][keep], batch.masks[keep], batch.actions[keep]
    old_log_probs, advantages, returns = batch.log_probs[keep], advantages[keep], (advantages + values[:-1])[keep]
    drift: float | None = None
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(actions)).chunk(MINIBATCHES):
            policy = agent.policy(observations[rows], masks[rows])
            log_ratios = policy.log_prob(actions[rows]) - old_log_probs[rows]
            if drift is None:
                drift = float(log_ratios.detach().abs().max())
            ratios = log_ratios.exp()
            gains = advantages[rows]
            gains = (gains - gains.mean()) / (gains.std() + 1e-8)
            policy_loss = -torch.min(gains * ratios, gains * ratios.clamp(1 - CLIP, 1 + CLIP)).mean()
            value_loss = (agent.value(observations[rows]) - returns[rows]).square().mean()
            loss = policy_loss + VALUE_WEIGHT * value_loss - ENTROPY_WEIGHT * policy.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), MAX_GRAD_NORM)
            optimizer.step()
    return drift or 0.0


def main(arguments: list[str] | None = None) -> tuple[float, float]:
    """Learn, and print the points per deal as they rise; returns those of the first and the last updates."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--timesteps", type=int, default=80_000, help="steps of all environments together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--num-envs", type=int, default=NUM_ENVS)
    options = parser.parse_args(arguments)

    torch.manual_seed(options.seed)
    env = gymnasium.make_vec(
        "paplu_env:Paplu-v0",
        num_envs=options.num_envs,
        vectorization_mode="vector_entry_point",
        opponent=OPPONENT,
        encoding="cards-v1",
        reward="scaled",
        illegal_action="raise",
    )
    agent = Agent(env.single_observation_space.shape[0], int(env.single_action_space.n))
    optimizer = torch.optim.Adam(agent.parameters(), lr=LEARNING_RATE, eps=1e-5)
    collector = Collector(env, options.seed)
    updates = max(1, options.timesteps // (options.num_envs * NUM_STEPS))
    means = []
    for number in range(1, updates + 1):
        drift = update(agent, optimizer, collector.collect(agent, NUM_STEPS))
        means.append(float(np.mean(collector.scores)) if collector.scores else float("nan"))
        print(
            f"update {number}/{updates}: {means[-1]:+.1f} points per deal against {OPPONENT} "
            f"({len(collector.scores)} deals), probabilities found again within {drift:.0e}"
        )
        collector.scores.clear()
    env.close()
    return means[0], means[-1]


if __name__ == "__main__":
    prepare_streams()
    main()
