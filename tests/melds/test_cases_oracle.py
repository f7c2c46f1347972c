"""The oracle gives the answer of every worked example, so that both may be trusted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.melds.cases import GATES, cases, name_of, wild_letter
from tests.oracle import (
    POINTS,
    deadwood,
    group_kinds,
    is_complete,
    is_pure_sequence,
    is_sequence,
    points,
    read,
    wild_rank,
)
from tests.oracle.definitions import Options


def kind_of_group(cards: list[int], wild: int, options: Options = POINTS) -> str:
    """The word by which the cases call a group."""
    kinds = group_kinds(cards, wild, options)
    if kinds & {"pure", "tanala"}:
        return "pure" if "pure" in kinds else "tanala"
    if "sequence" in kinds:
        return "impure_or_set" if "set" in kinds else "impure"
    return "set" if kinds else "invalid"


@pytest.mark.parametrize("case", cases("group"), ids=name_of)
def test_a_group_is_of_the_kind_that_its_case_says(case: dict[str, Any]) -> None:
    kind = kind_of_group(read(" ".join(case["cards"])), wild_rank(wild_letter(case)))
    assert kind == case["default_expect"]["type"]
    assert (kind != "invalid") == case["default_expect"]["valid"]


@pytest.mark.parametrize("case", [case for case in cases("group") if "sensitive_to" in case], ids=name_of)
def test_a_group_that_an_option_forbids_is_valid_without_the_option_only(case: dict[str, Any]) -> None:
    cards, wild = read(" ".join(case["cards"])), wild_rank(wild_letter(case))
    if "max_set_size" in case["sensitive_to"]:
        assert kind_of_group(cards, wild, replace(POINTS, max_set_size=4)) == "invalid"
    if "min_natural_cards_in_group" in case["sensitive_to"]:
        assert kind_of_group(cards, wild, replace(POINTS, min_naturals=2)) == "invalid"


@pytest.mark.parametrize("case", [case for case in cases("group") if case.get("packs") == 3], ids=name_of)
def test_three_copies_are_a_group_under_tanala_only(case: dict[str, Any]) -> None:
    kind = kind_of_group(read(" ".join(case["cards"])), wild_rank(wild_letter(case)), replace(POINTS, tanala=True))
    assert kind == case["expect"]["type"].replace("tunnela", "tanala")


@pytest.mark.parametrize("case", cases("declaration"), ids=name_of)
def test_a_declaration_is_valid_as_laid_and_arrangeable_as_its_case_says(case: dict[str, Any]) -> None:
    cards, wild = read(" ".join(case["cards"])), wild_rank(wild_letter(case))
    groups = [read(" ".join(group)) for group in case["groups"]]
    as_laid = (
        sorted(cards) == sorted(card for group in groups for card in group)
        and all(group_kinds(group, wild) for group in groups)
        and sum(is_sequence(group, wild) for group in groups) >= 2
        and any(is_pure_sequence(group, wild) for group in groups)
    )
    assert as_laid == case["default_expect"]["valid"]
    assert is_complete(cards, wild) == case["default_expect"]["arrangeable"]
    assert points(cards, wild) == case["default_expect"]["points_if_loser"]


@pytest.mark.parametrize("case", cases("score"), ids=name_of)
def test_a_losing_hand_costs_what_its_case_says(case: dict[str, Any]) -> None:
    cards, wild = read(" ".join(case["cards"])), wild_rank(wild_letter(case))
    told = case["default_expect"]
    assert points(cards, wild) == told["points"]
    assert deadwood(cards, wild) == told["uncapped"]
    if "points_if_two_naturals_needed" in told:
        assert points(cards, wild, replace(POINTS, min_naturals=2)) == told["points_if_two_naturals_needed"]
    for reading, count in case["other_readings"].items():
        assert points(cards, wild, replace(POINTS, gate=GATES[reading])) == count
