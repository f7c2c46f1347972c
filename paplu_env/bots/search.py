"""`search`: determinized Monte Carlo, the same likely worlds played on after each of a few candidates."""

from __future__ import annotations

import json
import re
import time
from copy import copy
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

import numpy as np
import numpy.typing as npt

from paplu_env.bots.outs_agent import OutsAgent
from paplu_env.bots.policy import Actions, Judgement, Keys, Masks, Policy
from paplu_env.bots.rollout import ROOM_ROWS, TO_THE_END
from paplu_env.bots.search_kernels import (
    GAIN,
    MAX_CANDIDATES,
    NUM_DISTANCES,
    NUM_TALLIES,
    NUM_TERMS,
    PLAYED,
    POINTS,
    candidates_kernel,
    choose_candidate,
    gain_error,
    search_kernel,
)
from paplu_env.cards import NUM_FACES
from paplu_env.engine.state import States, Views, empty_states
from paplu_env.errors import InvalidHand, PapluError, PolicyMismatch
from paplu_env.melds.distance_table import distance_table
from paplu_env.rules import RuleSet, as_rules

DEFAULT_WORLDS: Final = 256
MAX_WORLDS: Final = 1 << 20  # more would take minutes a decision, and hides a slip of the pen
_NAME: Final = re.compile(r"search(?:-([1-9]\d{0,6}))?")

_FILE: Final = "search_weights.json"  # written by training.fit_search
# The best of a few by matches of 128 worlds against `outs`, 250 duplicate deals each, whose intervals still overlap.
_TURNS: Final = 2  # turns played on before the value is asked
_THRESHOLD: Final = 0.5  # standard errors by which a gain must exceed zero
_WORLDS_BETWEEN_LOOKS_AT_THE_CLOCK: Final = 16


@dataclass(frozen=True)
class Comparison:
    """What a search found in one position."""

    actions: npt.NDArray[np.int64]  # (C,), candidates, the base policy's move first
    values: npt.NDArray[np.float64]  # (C,), points per deal; NaN without a search
    errors: npt.NDArray[np.float64]  # (C,), standard errors of what the value is above the first one; NaN likewise
    worlds: npt.NDArray[np.int64]  # (C,), worlds that each was played in before it was given up
    chosen: int  # place of the answer among the candidates


class SearchAgent(Policy):
    """Leaves its base policy's move where the likely worlds say, with some certainty, that another is better.

    Every decision is searched, drops and draws included, unless there is nothing to compare: a complete hand is
    declared, and a card that lowers the distance is taken if the base policy takes it. With thirteen cards and
    two packs the play is cut after a few turns and the rest is a fitted value; elsewhere it goes on to the
    end, which takes several times as long.

    Args:
        rules: of a table for two.
        worlds: worlds a decision, at most: clear cases stop earlier. The answer is a function of the view, the key
            and this number.
        milliseconds: if given, goes on for so long instead, still at most ``worlds``. Then the answer depends on
            the machine and its load and is **not reproducible**.
        base: made for the same rules; `OutsAgent` if not given.
        threshold: standard errors by which a gain must exceed zero.
        turns: turns played on, the one under way included, before the fitted value is asked; the measured best if
            not given.

    Raises:
        PapluError: numbers out of range, or a table of more seats.
        PolicyMismatch: a base made for other rules.
    """

    def __init__(
        self,
        rules: RuleSet | str = "points",
        worlds: int = DEFAULT_WORLDS,
        milliseconds: float | None = None,
        base: Policy | None = None,
        threshold: float = _THRESHOLD,
        turns: int | None = None,
        name: str | None = None,
    ) -> None:
        _check_budget(worlds, milliseconds)
        if as_rules(rules).num_players != 2:
            raise PapluError(
                f"search plays tables for two, these rules have {as_rules(rules).num_players} seats: "
                "choose another bot, such as outs"
            )
        if turns is not None and turns < 1:
            raise PapluError(f"turns={turns}: at least the turn under way is played")
        super().__init__(name or search_name(worlds, milliseconds), rules)
        self.base = OutsAgent(self.rules) if base is None else base
        if self.base.rules != self.rules:
            raise PolicyMismatch(
                f"the base {self.base.name} was made for {self.base.rules}, the search for {self.rules}"
            )
        self.worlds = worlds
        self.milliseconds = milliseconds
        self.threshold = threshold
        if turns is None:
            turns = _TURNS if has_fitted_value(self.rules) else TO_THE_END
        self.turns = turns

    def within(self, worlds: int | None = None, milliseconds: float | None = None) -> SearchAgent:
        if worlds is None and milliseconds is None:
            return self
        limited = copy(self)
        # By the clock alone a search plays what it can.
        limited.worlds = MAX_WORLDS if worlds is None else worlds
        limited.milliseconds = milliseconds
        _check_budget(limited.worlds, milliseconds)
        return limited

    def _choose(self, views: Views, masks: Masks, keys: Keys) -> Actions:
        found = self.compare(views, masks, keys)
        return np.array([each.actions[each.chosen] for each in found], dtype=np.int64)

    def compare(self, views: Views, masks: Masks, keys: Keys) -> list[Comparison]:
        """What the search behind `act` finds, row by row; arguments and errors are those of `act`."""
        bases = self.base.act(views, masks, keys)
        masks, states = self._checked(views, masks, keys), empty_states(self.rules, 2)
        each_key = np.asarray(keys, dtype=np.uint64)
        return [self._compare(views, j, masks[j], each_key[j], int(bases[j]), states) for j in range(len(views))]

    def judge(self, views: Views, masks: Masks, keys: Keys) -> Judgement:
        """Values of the candidates; the errors are those of what a value is above the base's move."""
        (found,) = self.compare(views, masks, keys)
        judgement = Judgement.nothing()
        judgement.probabilities[:] = 0.0
        judgement.probabilities[found.actions[found.chosen]] = 1.0
        judgement.values[found.actions] = found.values
        judgement.errors[found.actions] = found.errors
        return judgement

    def _compare(
        self, views: Views, j: int, mask: npt.NDArray[np.bool_], key: np.uint64, base: int, states: States
    ) -> Comparison:
        table, packed = distance_table(), self.rules.packed
        room = np.empty((ROOM_ROWS, NUM_FACES), dtype=np.uint8)
        actions = np.zeros(MAX_CANDIDATES, dtype=np.int64)
        tally = np.zeros((NUM_TALLIES, MAX_CANDIDATES), dtype=np.float64)
        count = int(candidates_kernel(views, j, mask, base, packed, table, actions, room))
        if count > 1:
            step = self.worlds if self.milliseconds is None else _WORLDS_BETWEEN_LOOKS_AT_THE_CLOCK
            end = None if self.milliseconds is None else time.monotonic() + self.milliseconds / 1000
            for first in range(0, self.worlds, step):
                last = min(first + step, self.worlds)
                settled = search_kernel(
                    views, j, key, first, last, actions, count, self.turns, search_lines(), packed, table, states,
                    tally, room,
                )  # fmt: skip
                if settled < 0:
                    raise InvalidHand(f"view {j}: its cards do not add up to the pack of {self.rules}")
                if settled or (end is not None and time.monotonic() >= end):
                    break
        return self._comparison(actions[:count], tally, count)

    def _comparison(self, actions: npt.NDArray[np.int64], tally: npt.NDArray[np.float64], count: int) -> Comparison:
        values, errors = np.full(count, np.nan), np.full(count, np.nan)
        if count > 1:
            # A candidate that was given up met fewer worlds, so its value is told by its gain.
            values[:] = tally[POINTS, 0] / tally[PLAYED, 0] + tally[GAIN, :count] / tally[PLAYED, :count]
            errors[:] = [0.0] + [gain_error(tally, c) for c in range(1, count)]
        chosen = int(choose_candidate(tally, count, self.threshold))
        return Comparison(actions, values, errors, tally[PLAYED, :count].astype(np.int64), chosen)


def _check_budget(worlds: int, milliseconds: float | None) -> None:
    if not 1 <= worlds <= MAX_WORLDS:
        raise PapluError(f"worlds={worlds}: a search needs 1..{MAX_WORLDS} worlds")
    if milliseconds is not None and not milliseconds > 0:
        raise PapluError(f"milliseconds={milliseconds}: must be above 0; None searches by worlds")


def search_name(worlds: int, milliseconds: float | None = None) -> str:
    """What a search of this budget is called; `worlds_of_name` reads those by worlds.

    >>> search_name(256), search_name(64)
    ('search', 'search-64')
    """
    if milliseconds is not None:
        return f"search-{milliseconds:g}ms"
    return "search" if worlds == DEFAULT_WORLDS else f"search-{worlds}"


def worlds_of_name(name: str) -> int | None:
    """The worlds that a bot's name asks for, None if it is no name of a search.

    >>> worlds_of_name("search"), worlds_of_name("search-64"), worlds_of_name("mindist")
    (256, 64, None)
    """
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    return int(found[1]) if found[1] else DEFAULT_WORLDS


def has_fitted_value(rules: RuleSet) -> bool:
    """Whether the value was fitted to tables of this kind."""
    return rules.num_decks == 2 and rules.has_standard_groups and rules.max_points == 80


@cache
def search_lines() -> npt.NDArray[np.float64]:
    """The value that ships with the package, fitted by ``python -m training.fit_search configs/search.toml``.

    Raises:
        PapluError: the file has lines of another shape.
    """
    text = resources.files("paplu_env.bots").joinpath(_FILE).read_text(encoding="utf-8")
    lines = np.array(json.loads(text)["lines"], dtype=np.float64)
    if lines.shape != (NUM_DISTANCES, NUM_DISTANCES, NUM_TERMS):
        raise PapluError(f"weights of search: lines of shape {lines.shape}")
    lines.setflags(write=False)
    return lines
