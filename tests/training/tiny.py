"""The smallest configurations that still do everything, for tests."""

import tomllib

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv

from paplu_env.engine.actions import NUM_ACTIONS
from training.learn.config import TrainConfig

RULES = "points:drop_allowed=false"
NUM_GAMES = 8
PER_UPDATE = 128  # decisions

TOML = f"""
name = "tiny"
rules = "{RULES}"
encoding = "cards-v1"
games = {NUM_GAMES}
checkpoint_every = 1
[network]
hidden = [32]
[clone]
decisions = 1500
chunk = 1000
[ppo]
timesteps = {3 * PER_UPDATE}
steps = {PER_UPDATE // NUM_GAMES}
batch_size = 64
epochs = 2
[opponents]
bots = ["mindist_opp", "random"]
add_every = 1
pool_size = 2
[evaluation]
deals = 10
every = 2
"""


def tiny_config(**changes: object) -> TrainConfig:
    """The configuration of `TOML` with other values; keys are dotted names with ``__`` for the dot."""
    values = tomllib.loads(TOML)
    for key, value in changes.items():
        *tables, name = key.split("__")
        part = values
        for table in tables:
            part = part.setdefault(table, {})
        part[name] = value
    return TrainConfig.from_dict(values)


class FreeEnv(VecEnv):
    """Random observations, masks and rewards at no cost: the learner without the game."""

    def __init__(self, num_envs: int = 16, num_features: int = 12) -> None:
        super().__init__(num_envs, spaces.Box(0.0, 1.0, (num_features,), np.float32), spaces.Discrete(NUM_ACTIONS))
        self._rng = np.random.default_rng(0)
        self._draw()

    def _draw(self) -> None:
        self._obs = self._rng.random((self.num_envs, *self.observation_space.shape), dtype=np.float32)
        self.masks = self._rng.random((self.num_envs, NUM_ACTIONS)) < 0.1
        self.masks[:, 5] = True

    def reset(self) -> np.ndarray:
        return self._obs

    def step_async(self, actions: np.ndarray) -> None:
        assert self.masks[np.arange(self.num_envs), actions].all(), "an illegal action"
        self._rewards = (actions % 7).astype(np.float32)

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict]]:
        self._draw()
        return self._obs, self._rewards, np.zeros(self.num_envs, dtype=bool), [{} for _ in range(self.num_envs)]

    def action_masks(self) -> np.ndarray:
        return self.masks

    def has_attr(self, attr_name: str) -> bool:
        return attr_name == "action_masks"

    def env_method(self, method_name: str, *args: object, indices: object = None, **kwargs: object) -> list:
        return list(self.masks)

    def get_attr(self, attr_name: str, indices: object = None) -> list:
        return [None] * self.num_envs

    def set_attr(self, attr_name: str, value: object, indices: object = None) -> None: ...

    def env_is_wrapped(self, wrapper_class: type, indices: object = None) -> list[bool]:
        return [False] * self.num_envs

    def close(self) -> None: ...
