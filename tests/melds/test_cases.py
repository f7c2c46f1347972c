"""The solver gives the answer of every worked example of the rules."""

from __future__ import annotations

from typing import Any

import pytest

from paplu_env import melds
from paplu_env.cards import parse_card, parse_hand, parse_rank, wild_of_rank
from paplu_env.rules import RuleSet
from tests.melds.cases import cases, name_of, wild_letter

POINTS = RuleSet()
WORDS = {"pure": "pure sequence", "impure": "impure sequence", "impure_or_set": "impure sequence", "invalid": None}


def wild_of(case: dict[str, Any]) -> int:
    return wild_of_rank(parse_rank(wild_letter(case)))


@pytest.mark.parametrize("case", cases("group"), ids=name_of)
def test_a_group_is_called_what_its_case_says(case: dict[str, Any]) -> None:
    told = case["default_expect"]["type"]
    kind = melds.kind_of_group([parse_card(card) for card in case["cards"]], wild_of(case), POINTS)
    assert kind == WORDS.get(told, told)


@pytest.mark.parametrize("case", [case for case in cases("group") if "sensitive_to" in case], ids=name_of)
def test_a_group_is_none_under_the_option_that_forbids_it(case: dict[str, Any]) -> None:
    faces = [parse_card(card) for card in case["cards"]]
    if "max_set_size" in case["sensitive_to"]:
        assert melds.kind_of_group(faces, wild_of(case), RuleSet(max_set_size=4)) is None
    if "min_natural_cards_in_group" in case["sensitive_to"]:
        assert melds.kind_of_group(faces, wild_of(case), RuleSet(min_naturals=2)) is None


@pytest.mark.parametrize("case", [case for case in cases("group") if case.get("packs") == 3], ids=name_of)
def test_three_copies_are_a_tanala_where_there_are_tanalas(case: dict[str, Any]) -> None:
    faces = [parse_card(card) for card in case["cards"]]
    kind = melds.kind_of_group(faces, wild_of(case), RuleSet(num_decks=3, tanala=True))
    assert (kind == "tanala") == (case["expect"]["type"] in ("tanala", "tunnela"))


@pytest.mark.parametrize("case", cases("declaration"), ids=name_of)
def test_a_declaration_is_judged_as_its_case_says(case: dict[str, Any]) -> None:
    told, wild = case["default_expect"], wild_of(case)
    hand = parse_hand(" ".join(case["cards"]))
    assert (melds.check_declaration(case["groups"], wild, POINTS, hand) == []) == told["valid"]
    assert (melds.distance(hand, wild, POINTS) == 0) == told["arrangeable"]
    assert melds.arrange(hand, wild, POINTS).complete == told["arrangeable"]
    assert melds.points(hand, wild, POINTS) == told["points_if_loser"]
    if "one_arrangement" in told:
        assert melds.check_declaration(told["one_arrangement"], wild, POINTS, hand) == []


@pytest.mark.parametrize("case", cases("score"), ids=name_of)
def test_a_losing_hand_costs_what_its_case_says(case: dict[str, Any]) -> None:
    hand, told = parse_hand(" ".join(case["cards"])), case["default_expect"]
    assert melds.deadwood(hand, wild_of(case), POINTS) == told["uncapped"]
    assert melds.points(hand, wild_of(case), POINTS) == told["points"]
    assert melds.arrange(hand, wild_of(case), POINTS).points == told["points"]
