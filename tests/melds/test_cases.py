"""The solver gives the answer of every worked example, under the default rules and under those of its source."""

from __future__ import annotations

from typing import Any

import pytest

from paplu_env import melds
from paplu_env.cards import PRINTED_JOKER, parse_card, parse_hand, parse_rank, wild_of_rank
from paplu_env.rules import RuleSet, parse_rules
from tests.melds.cases import CASES, GATES, cases, name_of, wild_letter

POINTS = RuleSet()
WORDS = {
    "pure": "pure sequence",
    "impure": "impure sequence",
    "impure_or_set": "impure sequence",
    "tunnela": "tanala",
    "invalid": None,
}

# The tables of the sources that don't play by the default rules; the others do.
TABLES = {
    "rule text A": "classic:gate=every_meld",
    "rule text B": "pagat:num_decks=3,tanala=true",
    "Junglee Rummy, how to play": "classic",
    "Junglee Rummy, deals rummy": "online",
    "rummytoday.com, valid and invalid declaration": "classic",
    "rulerummy.com, how to play": "classic",
    "Octro Indian Rummy": "tanala",
    "junglee-rummy-21.com, 21 card value cards and terms": "rummy_21",
    "indiacardacademy.com, rummy scoring rules": "points:gate=pure_opens_all",
}
# What a source says alone, beside its other examples.
TABLE_OF_CASE = {"cgu-g08": "points:min_naturals=2"}
NO_OPTION = {
    "cgu-g04": "a run may go on from the king to the two",
    "cgu-g12": "a run may go on from the king to the two",
    "cgu-g14": "a run may go on from the king to the two",
    "oct-g03": "one wild card a run at the most",
    "s004-s03": "the count before it is rounded",
    "mud-s01": "only the indicator's own face is wild",
    "prx-s03": "the groups as laid, not the best ones",
    "selfg-d01": "two cards of one suit in a set",
}


def wild_of(case: dict[str, Any]) -> int:
    return wild_of_rank(parse_rank(wild_letter(case)))


def table_of(case: dict[str, Any]) -> RuleSet:
    """The rules of a case's source."""
    return parse_rules(TABLE_OF_CASE.get(case["id"], TABLES.get(case["source"], "points")))


def answer(case: dict[str, Any], rules: RuleSet) -> dict[str, Any]:
    """What the solver says under these rules, in the words of a case's ``expect``."""
    wild = rules.wild_of(PRINTED_JOKER) if case["wild"] == "PJ" else wild_of(case)
    hand = parse_hand(" ".join(case["cards"]))
    if case["kind"] == "score":
        return {"points": melds.points(hand, wild, rules)}
    if case["kind"] == "declaration":
        return {"valid": melds.check_declaration(case["groups"], wild, rules, hand) == []}
    kind = melds.kind_of_group([parse_card(card) for card in case["cards"]], wild, rules)
    return {"valid": kind is not None, "type": kind}


def expected(case: dict[str, Any]) -> dict[str, Any]:
    """What the source of a case says, a group in the solver's words."""
    told = dict(case["expect"])
    if "type" in told:
        told["type"] = WORDS.get(told["type"], told["type"])
    return told


@pytest.mark.parametrize("case", [case for case in CASES if case["id"] not in NO_OPTION], ids=name_of)
def test_a_case_is_judged_as_its_source_says_under_the_rules_of_the_source(case: dict[str, Any]) -> None:
    assert answer(case, table_of(case)) == expected(case)


@pytest.mark.parametrize("case", [case for case in CASES if case["id"] in NO_OPTION], ids=name_of)
def test_a_case_that_no_option_covers_differs_under_the_rules_of_its_source(case: dict[str, Any]) -> None:
    assert answer(case, table_of(case)) != expected(case)


def test_every_source_and_every_case_that_is_named_is_there() -> None:
    assert set(TABLES) <= {case["source"] for case in CASES}
    assert {*NO_OPTION, *TABLE_OF_CASE} <= {case["id"] for case in CASES}


@pytest.mark.parametrize("case", cases("score"), ids=name_of)
def test_a_losing_hand_is_laid_out_under_every_gate(case: dict[str, Any]) -> None:
    hand = parse_hand(" ".join(case["cards"]))
    for reading, count in case["other_readings"].items():
        rules = RuleSet(gate=GATES[reading])
        assert melds.arrange(hand, wild_of(case), rules).points == melds.points(hand, wild_of(case), rules) == count


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
