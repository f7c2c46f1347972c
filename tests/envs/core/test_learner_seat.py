"""What the environments share about the learner's seat: one error for a wrong seat, one price, one order of turns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from paplu_env.engine.actions import DECLARE_BASE
from paplu_env.engine.scoring import forfeit
from paplu_env.envs import PapluEnv, PapluSeriesEnv, PapluVectorEnv
from paplu_env.envs.aec import PapluAECEnv
from paplu_env.envs.core.kernels import ANY_SEAT
from paplu_env.envs.core.learner_seat import place_in_line_up, read_seat
from paplu_env.envs.sb3 import PapluVecEnv
from paplu_env.errors import InvalidRules
from paplu_env.rules import RuleSet, notation, parse_rules

THREE = "points:num_players=3"

# Every face that is given the learner's seat as a number.
WITH_SEAT: list[Callable[[Any], Any]] = [
    lambda seat: PapluEnv(THREE, "random", seat=seat),
    lambda seat: PapluSeriesEnv(THREE, "random", seat=seat),
    lambda seat: PapluVectorEnv(2, THREE, "random", seat=seat),
    lambda seat: PapluVecEnv(2, THREE, "random", seat=seat),
]


@pytest.mark.parametrize("seat", [3, -1, True, "first", 1.0, None])
@pytest.mark.parametrize("make", WITH_SEAT)
def test_a_seat_that_the_game_does_not_have_is_refused_alike_everywhere(make: Callable[[Any], Any], seat: Any) -> None:
    with pytest.raises(InvalidRules, match=r"seat=.*0\.\.2 or 'random'"):
        make(seat)


@pytest.mark.parametrize("call", ["observe", "observation_space", "action_space"])
def test_an_agent_without_a_seat_is_refused_with_the_same_error(call: str) -> None:
    env = PapluAECEnv(THREE)
    env.reset(seed=1)
    with pytest.raises(
        InvalidRules, match="agent 'player_3': the agents of this game are player_0, player_1, player_2"
    ):
        getattr(env, call)("player_3")


def test_random_stands_for_any_seat() -> None:
    rules = parse_rules(THREE)
    assert [read_seat(seat, rules) for seat in (0, 1, 2, "random")] == [0, 1, 2, ANY_SEAT]


@pytest.mark.parametrize(("direction", "order"), [("clockwise", (1, 2, 0)), ("anticlockwise", (1, 0, 2))])
def test_a_line_up_stands_in_the_order_of_play(direction: str, order: tuple[int, ...]) -> None:
    rules = parse_rules(f"{THREE},direction={direction}")
    learner, *others = order
    assert [place_in_line_up(seat, learner, rules) for seat in others] == [0, 1]
    places = place_in_line_up(np.array(others), np.full(2, learner), rules)
    assert places.tolist() == [0, 1]


@pytest.mark.parametrize("make", WITH_SEAT[:3])
def test_an_illegal_action_costs_in_every_core_what_the_engine_says(make: Callable[[Any], Any]) -> None:
    env = make(1)
    env.reset(seed=3)
    rules = env.rules
    expected = np.zeros(3, dtype=np.int64)
    forfeit(expected, 1, 2, rules.packed[0])
    assert expected.tolist() == [0, -rules.wrong_declare_points, rules.wrong_declare_points]
    action = np.int64(DECLARE_BASE) if not isinstance(env, PapluVectorEnv) else np.full(2, DECLARE_BASE)
    *_, info = env.step(action)
    assert np.atleast_2d(info["returns"])[0].tolist() == expected.tolist()


@pytest.mark.parametrize("make", WITH_SEAT)
def test_rules_are_parsed_once_and_handed_on(make: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = _noted(monkeypatch)
    env = make(0)
    env.reset()
    assert parsed == [THREE]


def test_rules_of_agents_are_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = _noted(monkeypatch)
    env = PapluAECEnv(THREE)
    env.reset(seed=1)
    env.observe("player_0")
    assert parsed == [THREE]


def _noted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts of rules that are parsed from now on."""
    parsed: list[str] = []

    def note(text: str) -> RuleSet:
        parsed.append(text)
        return parse_rules(text)

    monkeypatch.setattr(notation, "parse_rules", note)
    return parsed
