"""The decisions that an update learns from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces

from paplu_env.engine.actions import NUM_ACTIONS


class Batch(NamedTuple):
    """Decisions in any number, as tensors."""

    obs: torch.Tensor  # (N, F), float32 or bfloat16
    masks: torch.Tensor  # (N, A) bool
    hidden: torch.Tensor | None  # (N, H), as obs, for critics that see it
    actions: torch.Tensor  # (N,) int64
    log_probs: torch.Tensor  # (N,) when they were taken
    advantages: torch.Tensor  # (N,)
    returns: torch.Tensor  # (N,)
    tried: torch.Tensor | None = None  # (N, K) int64, actions that were looked ahead for, as in `Tried`
    tried_probs: torch.Tensor | None = None  # (N, K)
    gains: torch.Tensor | None = None  # (N, K)
    magnet: torch.Tensor | None = None  # (N, A) log-probabilities of the magnet

    def rows(self, index: torch.Tensor) -> Batch:
        """Some of the decisions."""
        return Batch(*(None if part is None else part.index_select(0, index) for part in self))


class RolloutBuffer:
    """The decisions between two updates; stands in the place of SB3's buffer.

    Args:
        num_hidden: ``H``, 0 where nobody asks for hidden cards.
        num_tried: ``K``, 0 where nobody looks ahead.
        dtype: of observations; bfloat16 takes half the room and is what trunks of that precision read anyway.
    """

    def __init__(
        self,
        buffer_size: int,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        device: torch.device | str = "cpu",
        gae_lambda: float = 1.0,
        gamma: float = 0.99,
        n_envs: int = 1,
        num_hidden: int = 0,
        num_tried: int = 0,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        assert observation_space.shape is not None
        shape = (buffer_size, n_envs)
        self.gamma, self.gae_lambda = gamma, gae_lambda
        self.obs = torch.zeros(*shape, *observation_space.shape, dtype=dtype)
        self.masks = torch.zeros(*shape, NUM_ACTIONS, dtype=torch.bool)
        self.hidden = torch.zeros(*shape, num_hidden, dtype=dtype) if num_hidden else None
        self.actions = torch.zeros(*shape, dtype=torch.int64)
        self.log_probs = torch.zeros(shape)
        self.values = torch.zeros(shape)
        self.tried = torch.zeros(*shape, num_tried, dtype=torch.int64) if num_tried else None
        self.tried_probs = torch.zeros(*shape, num_tried)
        self.gains = torch.zeros(*shape, num_tried)
        self.rewards: npt.NDArray[np.float32] = np.zeros(shape, dtype=np.float32)
        self.dones: npt.NDArray[np.bool_] = np.zeros(shape, dtype=bool)
        self.advantages = torch.zeros(shape)

    def finish(self, last_values: npt.NDArray[np.float32]) -> None:
        """Estimate advantages (GAE, Schulman et al. 2016) once `values` are known.

        Args:
            last_values: ``(N,)`` values of the positions after the last decisions, 0 where the deal was over.
        """
        values = self.values.numpy()
        advantages, after, gain = self.advantages.numpy(), last_values, np.zeros_like(last_values)
        for step in reversed(range(len(values))):
            goes_on = np.float32(1) - self.dones[step]
            error = self.rewards[step] + self.gamma * after * goes_on - values[step]
            gain = error + self.gamma * self.gae_lambda * goes_on * gain
            advantages[step], after = gain, values[step]

    def flat(self) -> Batch:
        """All decisions, in the order in which they were taken."""
        returns = self.advantages + self.values
        hidden = None if self.hidden is None else self.hidden.flatten(0, 1)
        parts = (part.flatten(0, 1) for part in (self.actions, self.log_probs, self.advantages, returns))
        batch = Batch(self.obs.flatten(0, 1), self.masks.flatten(0, 1), hidden, *parts)
        if self.tried is None:
            return batch
        tried, probs, gains = (part.flatten(0, 1) for part in (self.tried, self.tried_probs, self.gains))
        # Their scale is that of one point's effect, not of the deal's outcome: bring it to that of advantages.
        scale = (probs * gains.square()).sum(dim=1).mean().sqrt()
        return batch._replace(tried=tried, tried_probs=probs, gains=gains / (scale + 1e-8))
