"""The words of a refusal: they are those of the table at hand."""

import pytest

from paplu_env import engine
from paplu_env.engine.legal import NOT_COMPLETE, REASONS, reason_words
from paplu_env.errors import IllegalAction
from paplu_env.rules import parse_rules
from tests.engine.tables import play


@pytest.mark.parametrize(("text", "size"), [("ten_card", "ten"), ("points", "thirteen"), ("rummy_21", "twenty-one")])
def test_a_hand_that_is_not_complete_is_refused_by_the_number_of_its_cards(text: str, size: str) -> None:
    rules = parse_rules(text)
    states = play(engine.deal(rules, 3), "draw", rules=rules)
    thrown = int(engine.legal_action_mask(states, 0, rules)[engine.DISCARD_BASE :].argmax())
    words = f"the {size} cards left would not be complete"
    assert engine.why_illegal(states, 0, engine.DECLARE_BASE + thrown, rules) == words
    with pytest.raises(IllegalAction, match=words):
        engine.apply_action(states, 0, engine.DECLARE_BASE + thrown, rules)


@pytest.mark.parametrize("text", ["ten_card", "points", "rummy_21"])
def test_every_reason_has_words_of_its_own_at_every_table(text: str) -> None:
    rules = parse_rules(text)
    words = [reason_words(code, rules) for code in range(len(REASONS))]
    assert len(set(words)) == len(words) == NOT_COMPLETE + 4
    assert words[0] == ""
    assert not any("{" in each or "}" in each for each in words)
