"""`engine.check` finds every change that no action made."""

import numpy as np
import pytest

from paplu_env import engine
from paplu_env.errors import InvalidRules
from paplu_env.rules import parse_rules
from tests.engine.tables import COMPLETE, LOOSE, POINTS, lay_out, play


@pytest.mark.parametrize("name", [n for n in engine.deal(POINTS, 1).dtype.names or () if n not in ("seed", "rules_id")])
def test_a_change_in_any_field_is_found(name: str) -> None:
    states = play(lay_out([COMPLETE, LOOSE], "7H", "3C", stock="QD JD"), "take", "discard KH", "draw")
    assert engine.check(states, 0, POINTS) == []
    broken = engine.copy(states)
    value = np.atleast_1d(broken[name][0])
    value.flat[0] ^= 1
    broken[name][0] = value if broken[name][0].shape else value[0]
    assert broken.tobytes() != states.tobytes()
    assert engine.check(broken, 0, POINTS)


def test_the_message_names_the_field_and_both_values() -> None:
    states = engine.deal(POINTS, 5)
    states["draws"] = 3
    assert engine.check(states, 0, POINTS) == ["draws is 3, and must be 0"]


def test_a_card_too_many_is_named() -> None:
    states = lay_out([LOOSE, COMPLETE], "7H", "3C")
    states["hands"][0, 0, 0] = 2
    assert engine.check(states, 0, POINTS) == ["3 of AS lie about: the pack has 2"]


def test_states_of_other_rules_are_refused_everywhere() -> None:
    states, other = engine.deal(POINTS, 5), parse_rules("points:max_turns=100")
    for ask in (
        lambda: engine.check(states, 0, other),
        lambda: engine.legal_action_mask(states, 0, other),
        lambda: engine.legal_action_masks(states, other),
        lambda: engine.why_illegal(states, 0, 0, other),
        lambda: engine.apply_action(states, 0, 0, other),
        lambda: engine.apply_actions(states, [0], other),
        lambda: engine.format_position(states, 0, other),
        lambda: engine.sample_world(engine.player_view(states, 0, 0), 1, other),
        lambda: engine.legal_action_mask(states, 0, parse_rules("points:num_players=3")),
    ):
        with pytest.raises(InvalidRules):
            ask()
