"""What a run's folder tells about the run, gathered for whoever wants to look at it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env.errors import InvalidFile, InvalidNotation
from paplu_env.reading import need, read_json
from training.learn.config import TrainConfig, differences
from training.run.folder import RunFolder
from training.run.folding import WARN_ABOVE, told

Curve = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]  # decisions, values

PAST_SELVES: Final = "past selves"

_POINTS: Final = 40  # of a curve at most: more would show the noise of single updates, fewer would hide a collapse


@dataclass(frozen=True)
class RunRecord:
    """One run: what it was told to do, what it logged, and every match of its network that is on file."""

    path: Path
    description: dict[str, Any]  # run.json
    config: TrainConfig
    updates: list[dict[str, Any]]
    matches: list[dict[str, Any]]  # against the fixed agent, on the same deals every time
    clone: dict[str, Any] | None
    evaluations: list[dict[str, Any]]  # of the best network, one per opponent and rules, as `MatchResult.to_dict`
    exploitation: dict[str, Any] | None  # what `training.exploit` found, if this is a run of its

    @property
    def name(self) -> str:
        """The name of the folder, by which runs of one configuration are told apart."""
        return self.path.resolve().name

    @property
    def best(self) -> dict[str, Any]:
        """The match with the most points per deal, which is the one that chose the network."""
        return _best(self.matches)

    @property
    def decisions(self) -> int:
        """Decisions of the learner so far, cloning apart."""
        return int(max(entry["step"] for entry in (*self.updates, *self.matches)))

    @property
    def seconds(self) -> float:
        """At work so far, in all sittings; 0 before the first update."""
        return float(self.updates[-1]["seconds"]) if self.updates else 0.0

    @property
    def speed(self) -> float:
        """Decisions per second of a typical update, matches and cloning apart; 0 before the first."""
        return float(np.median([update["speed"] for update in self.updates])) if self.updates else 0.0

    @property
    def opponents(self) -> list[str]:
        """Whom the learner has met, past selves as one, in the order of their first deal."""
        return list(dict.fromkeys(_opponent(name) for update in self.updates for name in update["by_opponent"]))

    @property
    def seats(self) -> list[str]:
        """The seats that the learner has sat at."""
        return sorted({seat for update in self.updates for seat in update["by_seat"]})

    @property
    def folding(self) -> str | None:
        """What share of its deals the learner dropped in its last update, where it is so much that a run warns."""
        last = next((update for update in reversed(self.updates) if update["deals"]), None)
        return None if last is None or last.get("dropped", 0.0) <= WARN_ABOVE else told(last)

    def rate(self, key: str, absent: float | None = None) -> Curve:
        """A figure over the run, weighted by deals; `absent` stands for it in updates that did not log it."""

        def take(update: dict[str, Any]) -> list[tuple[float, int]]:
            value = update.get(key, absent)
            return [] if value is None else [(value, update["deals"])]

        return self._curve(take)

    def by_opponent(self, opponent: str, key: str) -> Curve:
        """``points`` or ``win_rate`` against one of `opponents`."""
        return self._curve(
            lambda update: [
                (part[key], part["deals"])
                for name, part in update["by_opponent"].items()
                if _opponent(name) == opponent
            ]
        )

    def by_seat(self, seat: str, key: str) -> Curve:
        """``points`` or ``win_rate`` at one of `seats`."""
        return self._curve(
            lambda update: [(part[key], part["deals"]) for name, part in update["by_seat"].items() if name == seat]
        )

    def _curve(self, take: Callable[[dict[str, Any]], list[tuple[float, int]]]) -> Curve:
        """Weighted means of (value, weight) pairs over stretches of equally many updates."""
        steps, values = [], []
        length = max(1, -(-len(self.updates) // _POINTS))  # rounded up: a curve is equally smooth all along
        for start in range(0, len(self.updates), length):
            stretch = self.updates[start : start + length]
            pairs = [pair for update in stretch for pair in take(update)]
            weights = [weight for _, weight in pairs]
            if sum(weights):
                steps.append(float(np.mean([update["step"] for update in stretch])))
                values.append(float(np.average([value for value, _ in pairs], weights=weights)))
        return np.array(steps), np.array(values)


def read_run(path: Path) -> RunRecord:
    """The record of a run, finished or under way.

    Raises:
        InvalidFile: the folder holds no run, one that has measured nothing yet, or files that can't be read.
    """
    folder = RunFolder(path)
    if not folder.holds_run:
        found = folder.exploitation.exists()
        told = (
            f"a search found what stands in {folder.exploitation.name}, which has no page" if found else "holds no run"
        )
        raise InvalidFile(f"{path}: {told}; name the folder of a run of training.train or of a learner's exploit")
    description, config = folder.read(), folder.read_config()
    matches = folder.metrics("match")
    if not matches:
        raise InvalidFile(f"{path}: has measured nothing yet; come back when cloning is done")
    exploitation = _read_json(folder.exploitation)
    return RunRecord(
        path=path,
        description=description,
        config=config,
        updates=[_with_drops_apart(update) for update in folder.metrics("update")],
        matches=matches,
        clone=next(iter(folder.metrics("clone")), None),
        evaluations=_evaluations(path / f"{config.name}.json", matches, exploitation),
        exploitation=exploitation,
    )


def changed_keys(records: Sequence[RunRecord]) -> list[str]:
    """Dotted names of the keys in which the configurations differ from the first one's, the run's name apart."""
    first, *others = (record.config for record in records)
    changed = dict.fromkeys(key for other in others for key in differences(first, other))
    return [key for key in changed if key != "name"]


def value_of(config: TrainConfig, key: str) -> Any:
    """The value of a dotted key."""
    return functools.reduce(getattr, key.split("."), config)


def _with_drops_apart(update: dict[str, Any]) -> dict[str, Any]:
    """An update whose log tells first drops from later ones; in an old one all drops count as later ones."""
    return {"first_dropped": 0.0, "later_dropped": update.get("dropped", 0.0), **update}


def _evaluations(
    card: Path, matches: Sequence[dict[str, Any]], exploitation: dict[str, Any] | None
) -> list[dict[str, Any]]:
    """Matches of the best network: those of its card, a best response's, and the one that chose it."""
    found = [*(_read_json(card) or {}).get("evaluation", []), *([exploitation["match"]] if exploitation else [])]
    chosen_by = _best(matches)
    # The match that chose the network flatters it: it only stands where there is no other one.
    if not any((match["b"], match["rules"]) == (chosen_by["b"], chosen_by["rules"]) for match in found):
        found.append(chosen_by)
    by_table = {(match["b"], match["rules"], match["seed"]): match for match in found}
    return sorted(by_table.values(), key=lambda match: -float(match["points_per_deal"]))


def _best(matches: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return max(matches, key=lambda match: float(match["points_per_deal"]))


def _read_json(path: Path) -> dict[str, Any] | None:
    """A table from a file that need not be there.

    Raises:
        InvalidFile: it is there and can't be read.
    """
    if not path.exists():
        return None
    try:
        return need(read_json(path, is_finite=False), dict, "the whole")
    except InvalidNotation as error:
        raise InvalidFile(f"{path}: {error}") from None


def _opponent(name: str) -> str:
    return PAST_SELVES if name.startswith("self-") else name
