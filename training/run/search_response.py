"""A search best response: the frozen policy is asked what it would do in every world that the search imagines.

The opponent of a best response is known: it can be asked about any view, though its cards can't be seen. So of the
likely worlds of `search` those come first in which the policy, asked about its last turn, would have drawn and
thrown as it did; and what follows a candidate is answered by the policy itself once, all worlds and candidates in
one call, before the light player and the fitted value take over.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from paplu_env import engine
from paplu_env._jit import njit
from paplu_env.bots import Policy
from paplu_env.bots.outs.agent import OutsAgent
from paplu_env.bots.policy import Actions, decision_keys
from paplu_env.bots.search.agent import THRESHOLD
from paplu_env.bots.search.belief import likely_worlds_kernel
from paplu_env.bots.search.improve import Comparison, OneStepImprovement, add_points, two_seat_rules
from paplu_env.bots.search.kernels import BEHIND, MAX_CANDIDATES, NUM_TALLIES, candidates_kernel, is_settled
from paplu_env.bots.search.leaf_value import has_fitted_value, shipped_value, values_kernel
from paplu_env.bots.search.playout_policy import SCRATCH_ROWS, TO_THE_END, UNKNOWN, play_on
from paplu_env.bots.search.solver_cache import empty_solver_cache
from paplu_env.cards import NUM_FACES
from paplu_env.engine.actions import DISCARD_BASE, DRAW_CLOSED, TAKE_OPEN
from paplu_env.engine.chance import keys_for
from paplu_env.engine.log import log_face, log_seat, log_source
from paplu_env.engine.state import (
    DISCARD,
    LOG_CLOSED,
    OVER,
    States,
    Views,
    empty_states,
)
from paplu_env.engine.undo import name_drawn, take_back_discard, take_back_draw
from paplu_env.errors import InvalidHand
from paplu_env.melds.fast_distance.distance_table import Table, distance_table
from paplu_env.rules import RuleSet

WORLDS: Final = 64
_CHUNK: Final = 16  # worlds played side by side, after which clear cases stop
_TRIES: Final = 4  # worlds imagined for each that is played: most agents throw one of very few cards
_LAST_TURNS: Final = 1  # turns after the policy's reply: own turn, so that the value is asked where `search` asks it


class SearchBestResponse(OneStepImprovement):
    """Plays against one policy that it may ask: `search`, with that policy in its worlds.

    Args:
        opponent: the frozen policy, at a table for two. It is asked with keys of the search, so that a policy that
            leaves something to chance is met on average.
        worlds: worlds per decision, at most: clear cases stop earlier.
        base: whose moves are compared; `OutsAgent` if not given.

    Raises:
        PapluError: numbers out of range, or a table of more seats.
        PolicyMismatch: a base made for other rules.
    """

    def __init__(self, opponent: Policy, worlds: int = WORLDS, base: Policy | None = None) -> None:
        rules = two_seat_rules(opponent.rules, "a search best response")
        base = OutsAgent(rules) if base is None else base
        super().__init__(f"search-against-{opponent.name}", rules, base, THRESHOLD, worlds)
        self.opponent = opponent

    def _compare(self, views: Views, j: int, mask: npt.NDArray[np.bool_], key: np.uint64, base: int) -> Comparison:
        view, scratch = views[j : j + 1], np.empty((SCRATCH_ROWS, NUM_FACES), dtype=np.uint8)
        actions = np.zeros(MAX_CANDIDATES, dtype=np.int64)
        count = int(candidates_kernel(view, 0, mask, base, self.rules.packed, distance_table(), actions, scratch))
        tally = np.zeros((NUM_TALLIES, MAX_CANDIDATES), dtype=np.float64)
        for first, last in self._portions(_CHUNK) if count > 1 else ():
            worlds = self._worlds(view, key, first, last)
            tried = np.flatnonzero(tally[BEHIND, :count] == 0)
            add_points(tally, tried, self._points(worlds, actions[tried], int(view["seat"][0]), key))
            if is_settled(tally, count):
                break
        return self._comparison(actions[:count], tally)

    def _worlds(self, view: Views, key: np.uint64, first: int, last: int) -> States:
        """``last - first`` likely worlds, those first in which the policy would have played its last turn as it did."""
        worlds = empty_states(self.rules, _TRIES * (last - first))
        scratch = np.empty((SCRATCH_ROWS, NUM_FACES), dtype=np.uint8)
        table = distance_table()
        if not likely_worlds_kernel(view, 0, key, _TRIES * first, self.rules.packed, table, worlds, scratch):
            raise InvalidHand(f"a view whose cards do not add up to the pack of {self.rules}")
        disagrees = ~self.agrees(worlds, int(view["seat"][0]), key)
        return worlds[np.argsort(disagrees, kind="stable")[: last - first]]

    def agrees(self, worlds: States, me: int, key: np.uint64) -> npt.NDArray[np.bool_]:
        """``(B,)``: whether the policy would have played its last turn as it did; True where it hasn't had one.

        Args:
            worlds: of one view of the seat ``me``, which is to move.
        """
        is_likely = np.ones(len(worlds), dtype=np.bool_)
        states = worlds.copy()
        if int(states["phase"][0]) == DISCARD:
            take_back_draw(states, states["drawn"], self.rules)
        last = int(states["log_size"][0]) - 1
        if last < 0 or int(states["reshuffles"][0]):  # the pile that it chose from is gone
            return is_likely
        entry = int(states["log"][0, last])  # which all rows share
        source, thrown = log_source(entry), log_face(entry)
        if log_seat(entry) == me or source > LOG_CLOSED:
            return is_likely
        take_back_discard(states, self.rules)
        drawn = np.full(len(states), source) if source < NUM_FACES else _guessed_draws(states, key)
        name_drawn(states, drawn, self.rules)
        is_likely &= self._asked(states, key) == DISCARD_BASE + thrown
        states = states[is_likely]
        if len(states):
            take_back_draw(states, drawn[is_likely], self.rules)
            is_likely[is_likely] = self._asked(states, key) == (DRAW_CLOSED if source == LOG_CLOSED else TAKE_OPEN)
        return is_likely

    def _points(self, worlds: States, actions: Actions, me: int, key: np.uint64) -> npt.NDArray[np.float64]:
        """Points that each action brings a seat in each world, ``(W, C)``."""
        states = np.repeat(worlds, len(actions))
        engine.apply_actions(states, np.tile(actions, len(worlds)), self.rules)
        is_mine = (states["phase"] == DISCARD) & (states["current_player"] == me)
        _play_on(states, is_mine, 1, self.rules.packed, distance_table())
        while (is_due := (states["phase"] != OVER) & (states["current_player"] == 1 - me)).any():
            due = states[is_due]
            engine.apply_actions(due, self._asked(due, key), self.rules)
            states[is_due] = due
        points = worth_after(states, me, _LAST_TURNS, self.rules)
        return points.reshape(len(worlds), -1)

    def _asked(self, states: States, key: np.uint64) -> Actions:
        """What the frozen policy does, which is to move."""
        views = engine.player_views(states, states["current_player"].astype(np.int64))
        keys = decision_keys(int(key), np.arange(len(states)), states)
        return self.opponent.act(views, engine.legal_action_masks(states, self.rules), keys)


def worth_after(states: States, me: int, turns: int, rules: RuleSet) -> npt.NDArray[np.float64]:
    """Points ``(B,)`` of a seat once the light player has played ``turns`` turns on, in place: what they brought, or
    where a deal goes on what the fitted value expects. Without a value for the table deals are played to their end."""
    has_value, table = has_fitted_value(rules), distance_table()
    _play_on(states, states["phase"] != OVER, turns if has_value else TO_THE_END, rules.packed, table)
    points = states["returns"][:, me].astype(np.float64)
    going = np.flatnonzero(states["phase"] != OVER)
    if going.size:  # with a value alone: else every deal has ended
        values = np.empty(len(going))
        values_kernel(states[going], rules.packed, table, shipped_value(), values)
        points[going] = np.where(states["current_player"][going] == me, values, -values)
    return points


def _guessed_draws(states: States, key: np.uint64) -> npt.NDArray[np.int64]:
    """``(B,)`` faces: one of the cards, but for known pick-ups, that the seat to discard holds."""
    seat = int(states["current_player"][0])
    hidden = np.maximum(states["hands"][:, seat].astype(np.int64) - states["known"][:, seat], 0).cumsum(axis=1)
    place = keys_for(int(key), np.arange(len(states)), 0, 0) % hidden[:, -1].astype(np.uint64)
    return (hidden > place[:, None].astype(np.int64)).argmax(axis=1)


@njit
def _play_on(
    states: States, is_due: npt.NDArray[np.bool_], turns: int, rules: npt.NDArray[np.void], table: Table
) -> None:
    """Let the light player play ``turns`` turns in the rows that are due."""
    distances, scratch = np.empty(2, dtype=np.int64), np.empty((SCRATCH_ROWS, NUM_FACES), dtype=np.uint8)
    cache = empty_solver_cache(int(rules[0]["hand_size"]))
    for i in range(len(states)):
        if is_due[i]:
            distances[:] = UNKNOWN
            play_on(states, i, turns, rules, table, distances, cache, scratch)
