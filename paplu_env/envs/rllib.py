"""One deal as a multi-agent environment of RLlib: every seat an agent, masks in the observations.

Ray pins older libraries than the rest of this package is tested with: install it in an environment of its
own, with ``constraints-ray.txt`` of the repository.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, Dict

from paplu_env.engine import NUM_ACTIONS
from paplu_env.envs.aec import PapluAECEnv
from paplu_env.errors import PapluError

try:
    from ray.rllib.env.multi_agent_env import MultiAgentEnv
except ImportError as error:
    raise ImportError(
        "paplu_env.envs.rllib needs Ray: pip install 'ray[rllib]' in an environment of its own"
    ) from error

# Keys as RLlib's own module for action masks reads them.
Observation = dict[str, npt.NDArray[Any]]  # "observations": (F,) float32; "action_mask": (110,) int8
AgentDict = dict[str, Any]  # one value for each agent that is concerned


class PapluMultiAgentEnv(MultiAgentEnv):
    """`PapluAECEnv` in RLlib's protocol; agents, rewards and deals are the same.

    Only the agent to move gets an observation, and only its action is taken. The rewards of all agents
    come with the last step, together with everybody's last observation, so that RLlib credits them also
    to those that were waiting. RLlib's check of environments samples without masks: switch it off, by
    ``disable_env_checking=True`` in the configuration.

    Args:
        config: the arguments of `PapluAECEnv` by name (rules, encoding, reward), as ``env_config`` gives them.

    Raises:
        PapluError: an argument that names nothing, or cannot be.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        self._env = PapluAECEnv(**(config or {}))
        self.agents = list(self._env.possible_agents)
        self.possible_agents = list(self._env.possible_agents)
        num_features = self._env.encoding.num_features(self._env.rules)
        self.observation_spaces = {
            agent: Dict(
                {
                    "observations": Box(0.0, 1.0, (num_features,), np.float32),
                    "action_mask": Box(0, 1, (NUM_ACTIONS,), np.int8),
                }
            )
            for agent in self.agents
        }
        self.action_spaces = {agent: self._env.action_space(agent) for agent in self.agents}
        super().__init__()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], AgentDict]:
        """Deal; returns the observation of the agent that has the first turn."""
        self._env.reset(seed=seed, options=options)
        mover = self._env.agent_selection
        return {mover: self._observe(mover)}, {}

    def step(
        self, action_dict: Mapping[str, Any]
    ) -> tuple[dict[str, Observation], AgentDict, AgentDict, AgentDict, AgentDict]:
        """Let the agent to move act.

        Raises:
            IllegalAction: the action is not legal; the deal is left as it was.
            PapluError: other agents' actions are given, or it is no whole number.
        """
        env = self._env
        mover = env.agent_selection
        if list(action_dict) != [mover]:
            raise PapluError(f"actions of {list(action_dict)}: it is the turn of {mover} alone")
        env.step(action_dict[mover])
        is_terminated, is_truncated = env.terminations[mover], env.truncations[mover]
        is_over = is_terminated or is_truncated
        seen = env.possible_agents if is_over else [env.agent_selection]
        return (
            {agent: self._observe(agent) for agent in seen},
            dict(env.rewards) if is_over else {mover: 0.0},
            {"__all__": is_terminated},
            {"__all__": is_truncated},
            dict(env.infos) if is_over else {},
        )

    def _observe(self, agent: str) -> Observation:
        seen = self._env.observe(agent)
        return {"observations": seen["observation"], "action_mask": seen["action_mask"]}
