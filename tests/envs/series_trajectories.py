"""Whole series of the environment as hashes; run as a script it writes the golden ones.

A golden hash that changes is a change of behaviour: it needs a new environment id, not new hashes.

    python -m tests.envs.series_trajectories > tests/envs/data/PapluSeries-v0.json
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np

from paplu_env.engine import DROP
from paplu_env.engine.chance import keys_for
from paplu_env.engine.playout import random_actions
from paplu_env.envs import PapluSeriesEnv

GOLDEN = Path(__file__).parent / "data" / "PapluSeries-v0.json"
GOLDEN_SERIES = 6
TABLES = (
    ("points", "pool_101", "medium-1"),
    ("points:num_players=4", "pool_61:rejoin=true,split=true", "random"),
    ("pagat:num_players=3", "deals", "self"),
)


def trajectories(rules: str, series_format: str, opponent: str, series: int) -> list[str]:
    """A hash for each series of seeded random play, which may drop in one turn of three, from seed 0."""
    env = PapluSeriesEnv(rules, opponent, series=series_format, encoding="cards-v1")
    hashes = []
    for number in range(series):
        _, info = env.reset(seed=0 if number == 0 else None)
        digested = hashlib.sha256(repr((info["seat"], info["skipped_deals"], info["skipped_points"])).encode())
        over, decision = False, 0
        while not over:
            digested.update(info["action_mask"].tobytes())
            mask = info["action_mask"].copy()
            mask[DROP] &= decision % 3 == 0
            action = random_actions(mask[None], keys_for(0, number, 0, decision))[0]
            _, reward, terminated, truncated, info = env.step(action)
            digested.update(repr((reward, terminated, truncated, info["deal"], info["scores"].tolist())).encode())
            over = terminated or truncated
            decision += 1
        digested.update(repr((info["series_ending"], np.asarray(info["series_returns"]).tolist())).encode())
        hashes.append(digested.hexdigest()[:16])
    return hashes


def golden() -> dict[str, list[str]]:
    """The golden hashes by table."""
    return {" ".join(table): trajectories(*table, GOLDEN_SERIES) for table in TABLES}


if __name__ == "__main__":
    print(json.dumps(golden(), indent=1))
