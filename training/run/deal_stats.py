"""What happens at the table while the learner plays: points, wins, endings and lengths, by opponent and seat."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback


class _Deal(NamedTuple):
    """A finished deal, from the learner's side."""

    opponent: str
    seat: int
    points: float
    is_won: bool
    ending: str
    length: int  # decisions of the learner


class DealStats(BaseCallback):
    """Counts finished deals between two calls of `take`."""

    def __init__(self) -> None:
        super().__init__()
        self._decisions = np.zeros(0, dtype=np.int64)  # of each deal under way
        self._deals: list[_Deal] = []
        self.last: dict[str, Any] = {}  # what `take` gave last

    def take(self) -> dict[str, Any]:
        """The figures since the last call, rounded: means over deals, and over those of each opponent and seat."""
        deals, self._deals = self._deals, []
        by_opponent: dict[str, list[_Deal]] = defaultdict(list)
        by_seat: dict[str, list[_Deal]] = defaultdict(list)
        for deal in deals:
            by_opponent[deal.opponent].append(deal)
            by_seat[str(deal.seat)].append(deal)
        self.last = {
            **_summary(deals),
            "length": _share([deal.length for deal in deals], digits=2),
            "dropped": _share([_is_dropped(deal) for deal in deals]),
            "first_dropped": _share([_is_dropped(deal) and deal.length == 1 for deal in deals]),
            "later_dropped": _share([_is_dropped(deal) and deal.length > 1 for deal in deals]),
            "opponent_dropped": _share([deal.ending == "drop" and deal.points > 0 for deal in deals]),
            "declared": _share([deal.ending == "declared" and deal.is_won for deal in deals]),
            "opponent_declared": _share([deal.ending == "declared" and not deal.is_won for deal in deals]),
            "wrong_declared": _share([deal.ending == "wrong_declare" for deal in deals]),
            "void": _share([deal.ending == "void" for deal in deals]),
            "cut": _share([deal.ending == "truncated" for deal in deals]),
            "by_seat": {seat: _summary(part) for seat, part in sorted(by_seat.items())},
            "by_opponent": {name: _summary(part) for name, part in sorted(by_opponent.items())},
        }
        return dict(self.last)

    def _on_rollout_start(self) -> None:
        if len(self._decisions) != self.training_env.num_envs:
            self._decisions = np.zeros(self.training_env.num_envs, dtype=np.int64)

    def _on_step(self) -> bool:
        self._decisions += 1
        infos = self.locals["infos"]
        for i in np.flatnonzero(self.locals["dones"]):
            info = infos[i]
            is_won = info["winner"] == info["seat"]
            length = int(self._decisions[i])
            self._deals.append(
                _Deal(info["opponent"], info["seat"], float(info["points"]), is_won, info["ending"], length)
            )
            self._decisions[i] = 0
        return True


def _is_dropped(deal: _Deal) -> bool:
    """The learner gave up; before its first draw, if that was its first decision."""
    return deal.ending == "drop" and deal.points < 0


def _summary(deals: list[_Deal]) -> dict[str, Any]:
    """How many deals, and what they brought."""
    return {
        "deals": len(deals),
        "points": _share([deal.points for deal in deals], digits=3),
        "win_rate": _share([deal.is_won for deal in deals]),
    }


def _share(values: list[Any], digits: int = 4) -> float:
    """The mean, rounded for a log; 0 where nothing has happened yet."""
    return round(float(np.mean(values)), digits) if values else 0.0
