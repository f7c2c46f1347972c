"""What all bots that search share: a base policy's move is compared with others, and left only for a clear gain."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from paplu_env.bots.explanation import Judgement
from paplu_env.bots.policy import Actions, Keys, Masks, Policy
from paplu_env.bots.search.budget import MAX_WORLDS, check_budget
from paplu_env.bots.search.kernels import GAIN, GAIN_SQUARED, PLAYED, POINTS, choose_candidate, gain_error
from paplu_env.engine.state import Views
from paplu_env.errors import PapluError, PolicyMismatch
from paplu_env.rules import RuleSet, as_rules
from paplu_env.workers import check_stop

Tally = npt.NDArray[np.float64]  # (NUM_TALLIES, MAX_CANDIDATES), see `search.kernels`


@dataclass(frozen=True)
class Comparison:
    """What a search found in one position."""

    actions: npt.NDArray[np.int64]  # (C,), candidates, the base policy's move first
    values: npt.NDArray[np.float64]  # (C,), points per deal; NaN without a search
    errors: npt.NDArray[np.float64]  # (C,), standard errors of the difference to the first value; NaN likewise
    worlds: npt.NDArray[np.int64]  # (C,), worlds in which each was played, until it was given up
    chosen: int  # place of the answer among the candidates


class OneStepImprovement(Policy):
    """A policy that leaves its base's move where likely worlds say that another is better.

    Args:
        base: whose move is compared, made for the same rules.
        threshold: standard errors by which a gain must exceed zero.
        worlds: worlds per decision, at most: clear cases stop earlier.
        milliseconds: if given, the search goes on for this time instead, still in at most ``worlds``.

    Raises:
        PapluError: a number out of range, or a table of more seats.
        PolicyMismatch: a base made for other rules.
    """

    is_slow = True

    def __init__(
        self,
        name: str,
        rules: RuleSet | str,
        base: Policy,
        threshold: float,
        worlds: int,
        milliseconds: float | None = None,
    ) -> None:
        check_budget(worlds, milliseconds)
        super().__init__(name, rules)
        if base.rules != self.rules:
            raise PolicyMismatch(f"the base {base.name} was made for {base.rules}, the search for {self.rules}")
        self.base = base
        self.threshold = threshold
        self.worlds = worlds
        self.milliseconds = milliseconds

    def within(self, worlds: int | None = None, milliseconds: float | None = None) -> Self:
        check_budget(worlds, milliseconds)
        if worlds is None and milliseconds is None:
            return self
        limited = copy(self)
        # By the clock alone a search plays what it can.
        limited.worlds = MAX_WORLDS if worlds is None else worlds
        limited.milliseconds = milliseconds
        return limited

    def _choose(self, views: Views, masks: Masks, keys: Keys) -> Actions:
        found = self.compare(views, masks, keys)
        return np.array([each.actions[each.chosen] for each in found], dtype=np.int64)

    def compare(self, views: Views, masks: Masks, keys: Keys) -> list[Comparison]:
        """What the search behind `act` finds, row by row; arguments and errors are those of `act`."""
        start = time.monotonic()
        bases = self.base.act(views, masks, keys)
        masks = self._checked(views, masks, keys)
        each_key = np.asarray(keys, dtype=np.uint64)
        hurried = self._with_less_time((time.monotonic() - start) / max(len(views), 1))
        found = []
        for j in range(len(views)):
            check_stop()
            found.append(hurried._compare(views, j, masks[j], each_key[j], int(bases[j])))
        return found

    def _with_less_time(self, spent: float) -> Self:
        if self.milliseconds is None:
            return self
        hurried = copy(self)
        hurried.milliseconds = max(self.milliseconds - 1000 * spent, 0.0)
        return hurried

    def judge(self, views: Views, masks: Masks, keys: Keys) -> Judgement:
        """Values of the candidates; an error is that of the difference between a value and the base move's."""
        (found,) = self.compare(views, masks, keys)
        judgement = Judgement.nothing(int(found.actions[found.chosen]))
        judgement.probabilities[:] = 0.0
        judgement.probabilities[judgement.action] = 1.0
        judgement.values[found.actions] = found.values
        judgement.errors[found.actions] = found.errors
        return judgement

    @abstractmethod
    def _compare(self, views: Views, j: int, mask: npt.NDArray[np.bool_], key: np.uint64, base: int) -> Comparison:
        """What is found in view ``j``, in which the base would do ``base``."""

    def _portions(self, size: int) -> Iterator[tuple[int, int]]:
        """The worlds to play, as ranges of ``size``, until they are used up or the time is too short for another."""
        before = time.monotonic()
        end = None if self.milliseconds is None else before + self.milliseconds / 1000
        for first in range(0, self.worlds, size):
            yield first, min(first + size, self.worlds)
            now = time.monotonic()
            if end is not None and now + (now - before) > end:
                return
            before = now

    def _comparison(self, actions: npt.NDArray[np.int64], tally: Tally) -> Comparison:
        """What a tally says of candidates."""
        count = len(actions)
        values, errors = np.full(count, np.nan), np.full(count, np.nan)
        if count > 1:
            # A candidate that was given up met fewer worlds, so its value is told by its gain.
            values[:] = tally[POINTS, 0] / tally[PLAYED, 0] + tally[GAIN, :count] / tally[PLAYED, :count]
            errors[:] = [0.0] + [gain_error(tally, c) for c in range(1, count)]
        chosen = int(choose_candidate(tally, count, self.threshold))
        return Comparison(actions, values, errors, tally[PLAYED, :count].astype(np.int64), chosen)


def add_points(tally: Tally, tried: npt.NDArray[np.int64], points: npt.NDArray[np.float64]) -> None:
    """Add to a tally the points that candidates brought in some worlds.

    Args:
        tried: ``(C,)``, the places of those that were tried; the first is the base's move, which is never given up.
        points: ``(W, C)``.
    """
    gains = points - points[:, :1]
    tally[PLAYED, tried] += len(points)
    tally[POINTS, tried] += points.sum(axis=0)
    tally[GAIN, tried] += gains.sum(axis=0)
    tally[GAIN_SQUARED, tried] += (gains**2).sum(axis=0)


def two_seat_rules(rules: RuleSet | str, bot: str) -> RuleSet:
    """The rules, of a table that searches are made for.

    Raises:
        PapluError: a table of more seats.
    """
    rules = as_rules(rules)
    if rules.num_players != 2:
        raise PapluError(
            f"{bot} plays tables for two, these rules have {rules.num_players} seats: choose another bot, such as outs"
        )
    return rules
