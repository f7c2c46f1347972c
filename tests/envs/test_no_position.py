"""Errors tell a seat's side no hidden card: two worlds that look alike to it give the same error, byte for byte."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from paplu_env import engine
from paplu_env.bots import Policy
from paplu_env.cards import format_hand
from paplu_env.engine.actions import DECLARE_BASE, DISCARD_BASE, DRAW_CLOSED
from paplu_env.envs import PapluEnv, PapluSeriesEnv, PapluVectorEnv
from paplu_env.errors import IllegalAction
from paplu_env.rules import preset

RULES = preset("points")


def _told(raised: BaseException) -> tuple[Any, ...]:
    """Everything that a seat's side can read of an error."""
    chain = [raised]
    while (following := chain[-1].__cause__ or chain[-1].__context__) is not None:
        chain.append(following)
    return tuple(
        (type(error), str(error), repr(error), error.args, vars(error), getattr(error, "__notes__", None))
        for error in chain
    ) + (pickle.dumps(raised), "".join(traceback.format_exception_only(raised)))


def _error(call: Callable[[], Any]) -> tuple[Any, ...]:
    with pytest.raises(IllegalAction) as raised:
        call()
    return _told(raised.value)


def _illegal(mask: np.ndarray) -> list[int]:
    """Illegal actions of every kind: to draw or drop, to discard, to declare."""
    wrong = np.flatnonzero(~mask.astype(bool))
    kinds = (wrong[wrong < DISCARD_BASE], wrong[(wrong >= DISCARD_BASE) & (wrong < DECLARE_BASE)], wrong[wrong >= 56])
    return [int(kind[0]) for kind in kinds if kind.size]


def _redealt(states: np.ndarray, seat: int, key: int) -> np.ndarray:
    """Another world that looks the same to a seat."""
    other = engine.sample_world(engine.player_view(states, 0, seat), key, RULES)
    assert other["hands"].tobytes() != states["hands"].tobytes()
    return other


def _in_single(states: np.ndarray, seat: int, action: int) -> Callable[[], Any]:
    env = PapluEnv(RULES, opponent="mindist", seat=seat, illegal_action="raise")
    env.reset(seed=1)
    env._core.dealt.states[:] = states
    env._core.dealt.seats[0] = seat
    engine.player_views(states, [seat], out=env._core.shown.views)
    engine.legal_action_masks(states, RULES, out=env._core.shown.masks)
    return lambda: env.step(np.int64(action))


def _in_vector(states: np.ndarray, seat: int, action: int) -> Callable[[], Any]:
    env = PapluVectorEnv(2, RULES, opponent="mindist", seat=seat, illegal_action="raise")
    env.reset(seed=1)
    both = np.concatenate([states, states])
    env._deals.dealt.states[:] = both
    env._deals.dealt.seats[:] = seat
    engine.player_views(both, [seat, seat], out=env._deals.shown.views)
    engine.legal_action_masks(both, RULES, out=env._deals.shown.masks)
    return lambda: env.step(np.array([action, action]))


def _in_sb3(states: np.ndarray, seat: int, action: int) -> Callable[[], Any]:
    from paplu_env.envs.sb3 import PapluVecEnv

    env = PapluVecEnv(1, RULES, opponents=["mindist"], seat=seat)
    env.reset()
    core = env._deals
    core.dealt.states[:] = states
    core.dealt.seats[0] = seat
    engine.player_views(states, [seat], out=core.shown.views)
    engine.legal_action_masks(states, RULES, out=core.shown.masks)
    return lambda: env.step(np.array([action]))


def _in_series(states: np.ndarray, seat: int, action: int) -> Callable[[], Any]:
    env = PapluSeriesEnv(RULES, "mindist", series="session:num_deals=2", seat=seat, illegal_action="raise")
    env.reset(seed=1)
    env._core.series.states[:] = states
    return lambda: env.step(np.int64(action))


def _in_aec(states: np.ndarray, seat: int, action: int) -> Callable[[], Any]:
    pytest.importorskip("pettingzoo")
    from paplu_env.envs.aec import raw_env

    env = raw_env(rules=RULES)
    env.reset(seed=1)
    env._states[:] = states
    env.agent_selection = env.possible_agents[int(states["current_player"][0])]
    return lambda: env._play(action)


def _in_openspiel(states: np.ndarray, seat: int, action: int) -> Callable[[], Any]:
    pyspiel = pytest.importorskip("pyspiel")
    from paplu_env.envs import openspiel

    assert openspiel
    state = pyspiel.load_game("python_paplu").new_initial_state()
    state.apply_action(state.legal_actions()[0])
    state._states[:] = states
    return lambda: state._apply_action(action)


def _positions() -> list[tuple[np.ndarray, int]]:
    """Positions before and after a draw, and the seat to move."""
    found = []
    states = engine.deal(RULES, 11)
    for action in (None, DRAW_CLOSED):
        if action is not None:
            engine.apply_action(states, 0, action, RULES)
        found.append((states.copy(), int(states["current_player"][0])))
    return found


@pytest.mark.parametrize("face", [_in_single, _in_vector, _in_sb3, _in_series, _in_aec, _in_openspiel])
def test_an_error_is_the_same_in_two_worlds_that_look_alike(face: Callable[..., Callable[[], Any]]) -> None:
    for states, seat in _positions():
        for action in _illegal(engine.legal_action_mask(states, 0, RULES)):
            told = _error(face(states, seat, action))
            assert told == _error(face(_redealt(states, seat, key=5), seat, action))
            hidden = format_hand(states["hands"][0, 1 - seat])
            assert hidden not in repr(told)


class Illegal(Policy):
    """Answers what nobody may do."""

    def _choose(self, views, masks, keys):
        return np.array([int(np.flatnonzero(~mask)[-1]) for mask in masks], dtype=np.int64)


@pytest.mark.parametrize("make", [PapluEnv, PapluSeriesEnv])
def test_an_opponents_illegal_answer_does_not_show_its_hand_to_the_learner(make: Any) -> None:
    env = make(RULES, opponent=Illegal("wrong", RULES), seat=1)
    with pytest.raises(IllegalAction, match="wrong, an opponent, answered") as raised:
        env.reset(seed=3)
    state = env._core.dealt.states if make is PapluEnv else env._core.series.states
    held = [card for card in format_hand(state["hands"][0, 0]).split() if card not in str(raised.value)]
    assert len(held) > 11
    assert "hand" not in str(raised.value)


def test_the_engine_keeps_the_position_for_whoever_holds_the_state() -> None:
    for states, seat in _positions():
        (action, *_) = _illegal(engine.legal_action_mask(states, 0, RULES))
        with pytest.raises(IllegalAction) as raised:
            engine.apply_action(states, 0, action, RULES)
        again = engine.parse_position(str(raised.value.position), RULES)
        assert again["hands"].tobytes() == states["hands"].tobytes()
        assert format_hand(states["hands"][0, 1 - seat]) not in str(raised.value)
        assert format_hand(states["hands"][0, seat]) in str(raised.value)


def test_no_seat_is_asked_when_a_deal_is_over() -> None:
    states = engine.deal(RULES, 3)
    engine.apply_action(states, 0, engine.DROP, RULES)
    with pytest.raises(IllegalAction, match="the deal is over"):
        engine.apply_action(states, 0, DRAW_CLOSED, RULES)
