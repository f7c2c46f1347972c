"""Tables of different rules as one `VecEnv`, so that one network learns all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvStepReturn

from paplu_env.encoding import HIDDEN_V1, HiddenLayout
from paplu_env.envs.core.opponents import Opponents
from paplu_env.envs.sb3 import PapluVecEnv
from paplu_env.errors import PapluError
from training.learn.config import TrainConfig


class MixedVecEnv(VecEnv):
    """Several `PapluVecEnv` side by side: the environments of the first, then those of the second, and so on.

    Raises:
        PapluError: their observations have different sizes.
    """

    def __init__(self, parts: Sequence[PapluVecEnv]) -> None:
        spaces = [part.observation_space for part in parts]
        if len({space.shape for space in spaces}) > 1:
            sizes = ", ".join(f"{part.rules}: {part.observation_space.shape}" for part in parts)
            raise PapluError(f"one network can't learn tables whose observations differ in size ({sizes})")
        self.parts = list(parts)
        self.render_mode = None
        super().__init__(sum(part.num_envs for part in parts), spaces[0], parts[0].action_space)

    def reset(self) -> npt.NDArray[np.float32]:
        """Deal everywhere."""
        observations = _joined([part.reset() for part in self.parts])
        self.reset_infos = [info for part in self.parts for info in part.reset_infos]
        return observations

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Hand each part its own actions."""
        start = 0
        for part in self.parts:
            part.step_async(actions[start : start + part.num_envs])
            start += part.num_envs

    def step_wait(self) -> VecEnvStepReturn:
        """Play them."""
        results = [part.step_wait() for part in self.parts]
        observations, rewards, dones = (_joined([result[k] for result in results]) for k in range(3))
        return observations, rewards, dones, [info for result in results for info in result[3]]

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """``(num_envs, 110)`` bool, True = legal."""
        return _joined([part.action_masks() for part in self.parts])

    def critic_obs(self, layout: HiddenLayout = HIDDEN_V1) -> npt.NDArray[np.float32]:
        """``(num_envs, H)`` what is hidden from the learners."""
        return _joined([part.critic_obs(layout) for part in self.parts])

    def has_attr(self, attr_name: str) -> bool:
        """Whether the parts know this name."""
        return self.parts[0].has_attr(attr_name)

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """An attribute of all or some environments."""
        everything = [value for part in self.parts for value in part.get_attr(attr_name)]
        return [everything[i] for i in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Refused, as the parts refuse it."""
        self.parts[0].set_attr(attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: VecEnvIndices = None, **kwargs: Any) -> list[Any]:
        """Call a method of all or some environments."""
        everything = [found for part in self.parts for found in part.env_method(method_name, *args, **kwargs)]
        return [everything[i] for i in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: VecEnvIndices = None) -> list[bool]:
        """Nothing is wrapped."""
        return [False for _ in self._get_indices(indices)]

    def close(self) -> None:
        """Close the parts."""
        for part in self.parts:
            part.close()


class Part(NamedTuple):
    """Some of the games of one table."""

    table: int  # its place among the tables of the run
    first: int  # the first game of these, counted from the table's first
    games: int


def parts_of(config: TrainConfig) -> list[Part]:
    """How a run's games are shared out: a part for each table, or two where there is but one, to have halves."""
    games, tables = config.games // len(config.tables), range(len(config.tables))
    if len(tables) > 1 or games < 2:
        return [Part(table, 0, games) for table in tables]
    return [Part(0, 0, games // 2), Part(0, games // 2, games - games // 2)]


def deal_tables(
    config: TrainConfig, opponents: Callable[[int], Opponents], weights: Sequence[float] | None, seeds: Sequence[int]
) -> MixedVecEnv:
    """The environment of a run.

    Args:
        opponents: who is met at a table.
        weights: of the opponents, the same at all tables.
        seeds: of the tables; each game of a table has the next seed.
    """
    return MixedVecEnv(
        [
            PapluVecEnv(
                num_envs=part.games,
                rules=config.tables[part.table],
                opponents=opponents(part.table),
                opponent_weights=weights,
                encoding=config.encoding,
                reward=config.reward,
                seat="random",
                seed=int(seeds[part.table]) + part.first,
                terminal_observations="truncated",
                threads=config.threads,
                illegal_action="raise",
            )
            for part in parts_of(config)
        ]
    )


def halves_of(env: VecEnv) -> list[tuple[VecEnv, slice]]:
    """An environment in two of about the same size and the games of each, if it has parts; else it alone."""
    parts = env.parts if isinstance(env, MixedVecEnv) else []
    if len(parts) < 2:
        return [(env, slice(0, env.num_envs))]
    sizes = np.cumsum([part.num_envs for part in parts])
    cut = int(np.abs(sizes[:-1] - env.num_envs / 2).argmin()) + 1
    first = MixedVecEnv(parts[:cut])
    return [
        (first, slice(0, first.num_envs)),
        (MixedVecEnv(parts[cut:]), slice(first.num_envs, env.num_envs)),
    ]


def _joined(arrays: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """The arrays of all parts as one; of a single part without a copy."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
