"""The loop that plays deals to their ends: in place, by seating, watched before every action, and no illegal action."""

from __future__ import annotations

import numpy as np
import pytest

from paplu_env import engine
from paplu_env.bots import Actions, Keys, Masks, Policy, make_policy
from paplu_env.bots.playing import play_steps, play_to_end
from paplu_env.bots.policy import decision_keys
from paplu_env.engine.actions import DRAW_CLOSED, TAKE_OPEN
from paplu_env.engine.state import OVER, States, Views
from paplu_env.errors import IllegalAction
from paplu_env.rules import as_rules
from tests.bots.tables import no_keys

RULES = as_rules("points:drop_allowed=false")


class Always(Policy):
    """One action, legal or not."""

    def __init__(self, action: int) -> None:
        super().__init__("always", RULES)
        self.action = action

    def _choose(self, views: Views, masks: Masks, keys: Keys) -> Actions:
        return np.full(len(views), self.action, dtype=np.int64)


def _deals(count: int) -> States:
    return engine.deal_many(RULES, np.arange(count, dtype=np.uint64))


def _keys(rows: np.ndarray, due: States) -> Keys:
    return decision_keys(4, rows, due)


def test_deals_end_as_when_each_is_played_alone() -> None:
    policies = [make_policy("easy", RULES), make_policy("random", RULES)]
    states = _deals(6)
    play_to_end(states, policies, _keys)
    assert (states["phase"] == OVER).all()
    for row in range(6):
        alone = _deals(6)[row : row + 1]
        while not engine.is_over(alone, 0):
            seat = int(alone["current_player"][0])
            view, masks = engine.player_view(alone, 0, seat), engine.legal_action_masks(alone, RULES)
            engine.apply_actions(alone, policies[seat].act(view, masks, _keys(np.array([row]), alone)), RULES)
        assert alone.tobytes() == states[row : row + 1].tobytes()


def test_deals_that_are_over_stay_as_they_are() -> None:
    states = _deals(4)
    play_to_end(states[:2], [make_policy("light", RULES)] * 2, no_keys)
    before = states[:2].tobytes()
    rows = [step.rows.tolist() for step in play_steps(states, [make_policy("mindist", RULES)] * 2, no_keys)]
    assert rows[0] == [2, 3]
    assert states[:2].tobytes() == before
    assert (states["phase"] == OVER).all()


def test_the_seating_says_who_plays_where() -> None:
    policies = [make_policy("mindist", RULES), make_policy("minscore", RULES)]
    seating = np.array([[0, 1], [1, 0], [1, 1]])
    for step in play_steps(_deals(3), policies, no_keys, seating):
        assert step.players.tolist() == [seating[row][seat] for row, seat in zip(step.rows, step.seats, strict=True)]
        for i, player in enumerate(step.players):
            one = slice(i, i + 1)
            answer = policies[player].act(step.views[one], step.masks[one], np.zeros(1, dtype=np.uint64))
            assert answer[0] == step.actions[i]


def test_who_looks_on_sees_the_state_before_and_may_change_the_action() -> None:
    states = _deals(2)
    steps = play_steps(states, [make_policy("mindist", RULES)] * 2, no_keys)
    step = next(steps)
    assert step.states["draws"].tolist() == [0, 0]
    assert step.views.tobytes() == engine.player_views(_deals(2), step.seats).tobytes()
    step.actions = np.array([DRAW_CLOSED, TAKE_OPEN])
    taken = next(steps).states
    assert engine.format_position(taken, 0, RULES) != engine.format_position(_deals(2), 0, RULES)
    assert (taken["taken"] != 255).tolist() == [False, True]


@pytest.mark.parametrize(("action", "words"), [(109, "announce"), (200, "action 200"), (-1, "answered -1")])
def test_an_illegal_action_is_refused_with_its_author(action: int, words: str) -> None:
    with pytest.raises(IllegalAction, match=f"always.*{words}"):
        play_to_end(_deals(2), [Always(action)] * 2, no_keys)


def test_an_error_calls_the_deal_as_the_caller_does() -> None:
    steps = play_steps(_deals(2), [Always(109)] * 2, no_keys, name_of="game {} of the evening".format)
    with pytest.raises(IllegalAction, match="always in game 0 of the evening: "):
        list(steps)
