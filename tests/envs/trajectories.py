"""Whole deals of the environment as hashes; run as a script it writes the golden ones.

A golden hash that changes is a change of behaviour: it needs a new environment id, not new hashes.

    python -m tests.envs.trajectories > tests/envs/data/Paplu-v0.json
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np

from paplu_env.engine.chance import keys_for
from paplu_env.engine.playout import random_actions
from paplu_env.envs import PapluEnv

GOLDEN = Path(__file__).parent / "data" / "Paplu-v0.json"
GOLDEN_DEALS = 100


def trajectories(deals: int, opponent: str, with_observations: bool = True) -> list[str]:
    """A hash for each deal of seeded random legal play from seed 0."""
    env = PapluEnv(opponent=opponent, encoding="cards-v1")
    hashes = []
    for deal in range(deals):
        observation, info = env.reset(seed=0 if deal == 0 else None)
        digested = hashlib.sha256(repr((info["seat"], info["skipped_deals"], info["skipped_points"])).encode())
        over, decision = False, 0
        while not over:
            digested.update(observation.tobytes() if with_observations else b"")
            digested.update(info["action_mask"].tobytes())
            action = random_actions(info["action_mask"][None], keys_for(0, deal, 0, decision))[0]
            observation, reward, terminated, truncated, info = env.step(action)
            digested.update(repr((reward, terminated, truncated, info["current_player"])).encode())
            over = terminated or truncated
            decision += 1
        digested.update(repr((info["ending"], np.asarray(info["returns"]).tolist())).encode())
        hashes.append(digested.hexdigest())
    return hashes


def golden() -> dict[str, list[str]]:
    """The golden hashes by opponent: against a frozen bot, and with every seat played from outside."""
    return {
        opponent: [text[:16] for text in trajectories(GOLDEN_DEALS, opponent, with_observations=False)]
        for opponent in ("medium-1", "self")
    }


if __name__ == "__main__":
    print(json.dumps(golden(), indent=1))
