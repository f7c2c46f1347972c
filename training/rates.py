"""What happens at the table while the learner plays: points, wins, endings and lengths, by opponent and seat."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback

from paplu_env.errors import PapluError


class Rates(BaseCallback):
    """Counts finished deals between two calls of `take`; it also makes sure that every mask allows something.

    An empty mask would not stop MaskablePPO: it would choose evenly among illegal actions, without a word.
    """

    def __init__(self) -> None:
        super().__init__()
        self._decisions = np.zeros(0, dtype=np.int64)  # of each deal under way
        self._deals: list[tuple[str, int, float, bool, str, int]] = []

    def take(self) -> dict[str, Any]:
        """The figures since the last call, rounded: means over deals, and over those of each opponent and seat."""
        deals, self._deals = self._deals, []
        by_opponent: dict[str, list[tuple[float, bool]]] = defaultdict(list)
        by_seat: dict[int, list[float]] = defaultdict(list)
        for opponent, seat, points, is_won, _, _ in deals:
            by_opponent[opponent].append((points, is_won))
            by_seat[seat].append(points)
        endings = [ending for *_, ending, _ in deals]
        number = max(len(deals), 1)
        return {
            "deals": len(deals),
            "points": round(sum(points for _, _, points, *_ in deals) / number, 3),
            "win_rate": round(sum(is_won for *_, is_won, _, _ in deals) / number, 4),
            "length": round(sum(length for *_, length in deals) / number, 2),
            "dropped": round(sum(end == "drop" and points < 0 for _, _, points, _, end, _ in deals) / number, 4),
            "opponent_dropped": round(sum(end == "drop" and points > 0 for _, _, points, _, end, _ in deals) / number, 4),
            "declared": round(sum(end == "declared" and is_won for *_, is_won, end, _ in deals) / number, 4),
            "wrong_declared": round(endings.count("wrong_declare") / number, 4),
            "void": round(endings.count("void") / number, 4),
            "cut": round(endings.count("truncated") / number, 4),
            "by_seat": {str(seat): round(float(np.mean(points)), 3) for seat, points in sorted(by_seat.items())},
            "by_opponent": {
                name: {
                    "deals": len(results),
                    "points": round(float(np.mean([points for points, _ in results])), 3),
                    "win_rate": round(float(np.mean([is_won for _, is_won in results])), 4),
                }
                for name, results in sorted(by_opponent.items())
            },
        }

    def _on_rollout_start(self) -> None:
        if len(self._decisions) != self.training_env.num_envs:
            self._decisions = np.zeros(self.training_env.num_envs, dtype=np.int64)
        self._check_masks()

    def _on_step(self) -> bool:
        self._decisions += 1
        infos = self.locals["infos"]
        for i in np.flatnonzero(self.locals["dones"]):
            info = infos[i]
            is_won = info["winner"] == info["seat"]
            deal = (info["opponent"], info["seat"], float(info["points"]), is_won, info["ending"], int(self._decisions[i]))
            self._deals.append(deal)
            self._decisions[i] = 0
        self._check_masks()
        return True

    def _check_masks(self) -> None:
        masks = np.asarray(self.training_env.env_method("action_masks"))
        stuck = np.flatnonzero(~masks.any(axis=1))
        if stuck.size:
            raise PapluError(
                f"after {self.num_timesteps:,} decisions the mask of game {stuck[0]} allows no action: the environment "
                "asks a seat that isn't to move, and learning from that would be learning nonsense"
            )
