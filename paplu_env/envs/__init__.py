"""Environments: the engine in the protocols of Gymnasium (single and vector) and of Stable-Baselines3.

The adapter for Stable-Baselines3 is `paplu_env.envs.sb3`, which needs the extra ``train``.
"""

from paplu_env.envs.core.rewards import REWARDS
from paplu_env.envs.core.series_game import SERIES_REWARDS
from paplu_env.envs.series import PapluSeriesEnv
from paplu_env.envs.single import PapluEnv
from paplu_env.envs.vector import PapluVectorEnv

__all__ = ["REWARDS", "SERIES_REWARDS", "PapluEnv", "PapluSeriesEnv", "PapluVectorEnv"]
