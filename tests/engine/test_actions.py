"""The 110 actions and their words."""

import pytest

from paplu_env import engine
from paplu_env.errors import InvalidNotation


def test_every_action_goes_to_words_and_back() -> None:
    words = [engine.format_action(action) for action in range(engine.NUM_ACTIONS)]
    assert [engine.parse_action(word) for word in words] == list(range(engine.NUM_ACTIONS))
    assert len(set(words)) == engine.NUM_ACTIONS == 110


def test_ids_are_those_of_the_design() -> None:
    words = ("draw", "take", "drop", "discard AS", "discard PJ", "declare AS", "declare PJ", "announce")
    assert [engine.parse_action(word) for word in words] == [0, 1, 2, 3, 55, 56, 108, 109]


def test_words_are_read_in_any_case_and_with_suit_symbols() -> None:
    assert engine.parse_action("  DISCARD 10♥ ") == engine.parse_action("discard TH")


@pytest.mark.parametrize("text", ["", "pass", "discard", "discard 1H", "draw 7H", "declare 7H 8H"])
def test_other_words_are_refused(text: str) -> None:
    with pytest.raises(InvalidNotation):
        engine.parse_action(text)


@pytest.mark.parametrize("action", [-1, 110])
def test_other_ids_have_no_words(action: int) -> None:
    with pytest.raises(InvalidNotation, match=r"actions are 0\.\.109"):
        engine.format_action(action)
