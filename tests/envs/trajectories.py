"""Whole deals of the environment as one hash: deals, masks, observations, rewards, flags."""

from __future__ import annotations

import hashlib

import numpy as np

from paplu_env.envs import PapluEnv
from tests.envs.players import pick


def digest(deals: int, encoding: str = "cards-v1", opponent: str = "random") -> str:
    """Hash of so many deals of seeded random legal play from seed 0."""
    env = PapluEnv(opponent=opponent, encoding=encoding)
    generator = np.random.default_rng(0)
    digested = hashlib.sha256()
    for deal in range(deals):
        observation, info = env.reset(seed=0 if deal == 0 else None)
        over = False
        while not over:
            digested.update(observation.tobytes() + info["action_mask"].tobytes())
            observation, reward, terminated, truncated, info = env.step(pick(generator, info["action_mask"]))
            digested.update(repr((reward, terminated, truncated, info.get("ending"))).encode())
            over = terminated or truncated
    return digested.hexdigest()
