"""A learner that only folds: dropping every hand ends a deal cheaply, and a learner that does so learns nothing more.

It happens on tables where dropping is allowed: a hand that is dropped pays a small, sure price, and until a learner can
win, playing on pays more. The ways out are a warm start by cloning, a first part of training at a table without drops,
and learning on from there.
"""

from __future__ import annotations

from typing import Any, Final

from paplu_env.errors import PapluError

WARN_ABOVE: Final = 0.6  # share of its deals that the learner drops
STOP_ABOVE: Final = 0.95
UPDATES: Final = 20  # in a row above `STOP_ABOVE`, after which a run stops
FIRST: Final = 0.1  # of the run, in which nothing is stopped: an untrained network may still turn

_WAYS_OUT: Final = (
    'Learn at a table without drops first (rules = "points:drop_allowed=false") and go on from its weights with '
    "--from, or begin with a clone ([clone])"
)


class OnlyFolds(PapluError):
    """The learner drops nearly every deal; the run was stopped, its checkpoint is kept."""


class FoldingWatch:
    """Looks at the share of deals that the learner drops in each update; a run that goes on counts anew."""

    def __init__(self) -> None:
        self.in_a_row = 0  # updates above `STOP_ABOVE`, past the first part of the run
        self._has_warned = False

    def note(self, update: dict[str, Any], progress: float) -> str | None:
        """Take up an update's figures; a warning to be shown when the share has risen above `WARN_ABOVE`.

        Args:
            update: as `DealStats.take` gives it: ``deals``, ``dropped``, ``first_dropped``, ``later_dropped``.
            progress: how much of the run is done, 0..1.
        """
        if not update["deals"]:
            return None
        dropped = update["dropped"]
        is_counted = progress > FIRST and dropped > STOP_ABOVE
        self.in_a_row = self.in_a_row + 1 if is_counted else 0
        was_warned, self._has_warned = self._has_warned, dropped > WARN_ABOVE
        if was_warned or not self._has_warned:
            return None
        return f"warning: the learner drops {told(update)}. {_WAYS_OUT}"

    @property
    def is_hopeless(self) -> bool:
        """It has only folded for `UPDATES` updates in a row."""
        return self.in_a_row >= UPDATES

    def error(self, update: dict[str, Any]) -> OnlyFolds:
        """What a run is stopped with."""
        return OnlyFolds(
            f"stopped: the learner drops {told(update)}, and more than {STOP_ABOVE:.0%} in {UPDATES} updates in a row; "
            f"the checkpoint is kept. {_WAYS_OUT}. To go on all the same, set stop_when_folding = false in the "
            "configuration and give --resume"
        )


def told(update: dict[str, Any]) -> str:
    """The share of drops in words."""
    return (
        f"{update['dropped']:.0%} of its deals ({update['first_dropped']:.0%} before its first draw, "
        f"{update['later_dropped']:.0%} later)"
    )
