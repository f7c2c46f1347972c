"""What a learner is paid: the result of the deal in one of three units, and optional shaping on the way.

With P seats and ``returns`` in points, summing to 0 over the seats:

- ``points``: the seat's return, -max_points..(P-1)·max_points and more under some options; the score itself.
- ``scaled``: the same divided by ``max_points``: within [-1, 1] in the default game.
- ``win``: +1 for the winner, -1/(P-1) for the others, 0 for all without a winner.
- ``blend``: three quarters of ``scaled`` and one quarter of ``win``: for a bot that is judged by both.
- ``shaped:deadwood``, ``shaped:distance`` (``shaped`` is the first of them): ``scaled`` plus the rise of a
  potential from one decision to the next: minus the hand's deadwood over ``max_points``, or minus its
  distance over ``hand_size``.

All but the shaped ones pay nothing before the deal ends. The potential counts from the learner's first
hand and is 0 when the deal terminates, so the payments of such a deal add up to ``scaled`` exactly, and
no policy gains by them (at a discount of 1). A truncated deal is left at the potential of its last hand:
learners that bootstrap from the last observation continue from there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

from paplu_env import melds
from paplu_env.engine.state import Views
from paplu_env.errors import PapluError
from paplu_env.rules import RuleSet

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

REWARDS: Final = ("points", "scaled", "win", "blend", "shaped:deadwood", "shaped:distance")
_BLENDED: Final = 0.25  # share of ``win`` in ``blend``
_ALIASES: Final = {"shaped": "shaped:deadwood"}
# Shaped reward -> what is measured of a hand, and the option that is its unit.
_POTENTIALS: Final[dict[str, tuple[Callable[..., Ints], str]]] = {
    "shaped:deadwood": (melds.deadwoods, "max_points"),
    "shaped:distance": (melds.distances, "hand_size"),
}


class Reward:
    """One way to pay a learner, for batches of deals.

    Raises:
        PapluError: there is no reward of this name.
    """

    def __init__(self, name: str, rules: RuleSet) -> None:
        name = _ALIASES.get(name, name) if isinstance(name, str) else name
        if name not in REWARDS:
            raise PapluError(f"unknown reward {name!r}: choose one of {', '.join(REWARDS)}")
        self.name = name
        self.is_shaped = name.startswith("shaped")
        self._rules = rules

    def final(self, points: Ints, winners: Ints, seats: Ints) -> Floats:
        """What finished deals pay, without shaping.

        Args:
            points: ``(B,)`` returns of the seats, in points.
            winners: ``(B,)`` winning seats, -1 without a winner.
            seats: ``(B,)`` seats that are paid.
        """
        if self.name == "points":
            return points.astype(np.float64)
        scaled = points / self._rules.max_points
        if self.name not in ("win", "blend"):
            return scaled
        others = -1.0 / (self._rules.num_players - 1)
        won = np.where(winners == seats, 1.0, np.where(winners >= 0, others, 0.0))
        return won if self.name == "win" else (1.0 - _BLENDED) * scaled + _BLENDED * won

    def potentials(self, views: Views) -> Floats:
        """``(B,)`` potentials of the hands of these views; only for shaped rewards."""
        hands, wilds = np.ascontiguousarray(views["hand"]), np.ascontiguousarray(views["wild"])
        measure, unit = _POTENTIALS[self.name]
        return measure(hands, wilds, self._rules) / -float(getattr(self._rules, unit))


def check_for_self_play(name: str, reward: Reward) -> None:
    """Refuse a shaped reward where every seat is played from outside, and so no learner is named.

    Args:
        name: the reward as it was asked for.

    Raises:
        PapluError: it is shaped.
    """
    if reward.is_shaped:
        raise PapluError(f"reward={name!r} is for one learner: with opponent='self' take points, scaled or win")
