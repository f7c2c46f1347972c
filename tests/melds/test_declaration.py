"""A declaration as laid: valid, or every reason why not, with the group named."""

from __future__ import annotations

import re

import pytest

from paplu_env import melds
from paplu_env.cards import parse_hand, wild_of_rank
from paplu_env.errors import InvalidNotation
from paplu_env.rules import RuleSet, parse_rules, preset

POINTS = RuleSet()
SEVENS = wild_of_rank(6)


def reasons(text: str, wild: int = SEVENS, rules: RuleSet = POINTS, hand: str | None = None) -> list[str]:
    """Reasons against groups that are written with ``|`` between them."""
    groups = [group.split() for group in text.split("|")]
    return melds.check_declaration(groups, wild, rules, None if hand is None else parse_hand(hand))


def test_a_valid_declaration_has_no_reason_against_it() -> None:
    assert reasons("5H 6H 7H | 9S PJ JS | 2C 2D 2S | KC KD KH KS") == []
    assert reasons("5H 6H 7H | 9S PJ JS | 2C 2D 2S | KC KD KH KS", hand="KC KD KH KS 2C 2D 2S 9S PJ JS 5H 6H 7H") == []


def test_the_order_of_cards_and_groups_does_not_matter() -> None:
    assert reasons("KC KS KH KD | 2D 2C 2S | JS 9S PJ | 7H 5H 6H") == []


@pytest.mark.parametrize(
    ("group", "reason"),
    [
        ("5H 6H", "has fewer than three cards"),
        ("9S 9S 9H", "holds 9S twice: two copies of a card never share a group"),
        ("4H 4H PJ", "holds 4H twice"),
        ("5H 6H 8S", "is of more than one suit and of more than one rank (8S 5H 6H)"),
        ("5H 6H 9H", "is no run"),
        ("KS AS 2S", "is no run"),
        ("PJ PJ PJ", "has fewer than 1 natural cards"),
    ],
)
def test_a_group_that_is_none_is_named_with_the_reason(group: str, reason: str) -> None:
    told = reasons(f"2D 3D 4D | {group}")
    assert any(re.match(rf"group 2 \({group}\) {re.escape(reason)}", text) for text in told), told


def test_options_make_reasons_of_their_own() -> None:
    five = "5H 6H 8H | 2C 2D 2S 2H PJ"
    assert any("is a set of more than 4 cards" in text for text in reasons(five, rules=preset("classic")))
    alone = "5H 6H 8H | 9S PJ PJ"
    assert any("has fewer than 2 natural cards" in text for text in reasons(alone, rules=RuleSet(min_naturals=2)))


def test_both_lives_are_asked_for() -> None:
    told = reasons("4H 5H 6H | 9S 9D 9C | KS KH KD KC | 2C 2D 2S", wild=wild_of_rank(-1))
    assert told == ["1 of the groups are sequences, 2 needed"]
    told = reasons("4H PJ 6H | 9S TS PJ | 8C 8D 8H | KS KH KD KC", wild=wild_of_rank(-1))
    assert told == ["0 of the groups are pure sequences, 1 needed"]
    assert reasons("4H 5H 6H | 9S 9D 9C | KS KH KD KC | 2C 2D 2S", rules=preset("one_life")) == []


def test_a_declaration_lays_thirteen_cards_and_no_more_copies_than_there_are() -> None:
    told = reasons("5H 6H 7H | 9S PJ JS | 5H 6H 7H | 5H 6H 7H")
    assert "3 copies of 5H are laid, there are 2" in told
    assert "12 cards are laid, a declaration lays 13" in told


def test_exactly_the_hand_is_laid() -> None:
    told = reasons("5H 6H 7H | 9S PJ JS | 2C 2D 2S | KC KD KH KS", hand="5H 6H 7H 9S PJ JS 2C 2D 2H KC KD KH KS")
    assert told == ["2S is laid but not held", "2H is held but not laid"]


def test_a_card_that_cannot_be_read_is_an_error_of_notation() -> None:
    with pytest.raises(InvalidNotation, match="cannot read 'XX' as a card"):
        reasons("5H 6H XX")


def test_a_tanala_counts_as_a_pure_sequence_where_it_is_played() -> None:
    groups = "QH QH QH | 9S PJ JS | 2C 2D 2S | KC KD KH KS"
    assert reasons(groups, rules=preset("tanala")) == []
    assert any("holds QH twice" in text for text in reasons(groups))


@pytest.mark.parametrize(
    ("table", "groups"),
    [
        ("tanala:min_sequences=3,min_pure_sequences=3", "QH QH QH | 9S 9S 9S | 4D 5D 6D | KC KD KH KS"),
        ("ten_card", "3S 4S 5S | 9S 9H 9D | KS KH KD KC"),
        ("points:min_naturals=2", "5H 6H 7H | 9S PJ JS | 7S 7D PJ | KC KD KH KS"),
        ("points:min_sequences=0,min_pure_sequences=0", "5H 5S 5D | 9S 9H 9D | 2C 2D 2S | KC KD KH KS"),
        ("rummy_21", "QH QH QH | 9S 9S 9S | 4D 5D 6D | KC KD KH KS | 2C 2D 2S 2H | AS PJ 3S 4S"),
    ],
)
def test_other_tables_ask_for_what_they_ask(table: str, groups: str) -> None:
    assert reasons(groups, rules=parse_rules(table)) == []


def test_three_pure_sequences_are_asked_for_at_21_cards() -> None:
    told = reasons("QH QH QH | 9S PJ JS | 4D 5D 6D | KC KD KH KS | 2C 2D 2S 2H | AS PJ 3S 4S", rules=preset("rummy_21"))
    assert told == ["2 of the groups are pure sequences, 3 needed"]
