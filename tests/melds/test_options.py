"""Every option that changes groups, lives or points gives the oracle's numbers, alone and with each gate."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from paplu_env import melds
from paplu_env.cards import counts_of
from paplu_env.rules import RuleSet, parse_rules
from tests import oracle
from tests.melds.batches import batch
from tests.melds.cases import GATES, cases, name_of, wild_letter
from tests.oracle.hands import KINDS, Hand, dense_hand, hands

GROUPS = [
    "points:max_set_size=4",
    "points:min_naturals=2",
    "points:min_sequences=3",
    "points:min_pure_sequences=2",
    "points:num_decks=3",
    "one_life",
    "one_pack",
    "tanala",
    "tanala:min_sequences=3,min_pure_sequences=3",
    "ten_card",
    "pagat",
]
WITH_DISTANCE = [
    "points:max_set_size=4",
    "points:min_sequences=3",
    "points:num_decks=3",
    "one_life",
    "one_pack",
    "ten_card",
]


def oracle_options(rules: RuleSet) -> oracle.Options:
    """The same options in the oracle's words."""
    return oracle.Options(**{name: getattr(rules, name) for name in oracle.Options.__dataclass_fields__})


def drawn(rules: RuleSet, number: int, size: int) -> list[Hand]:
    """Hands of every kind that the packs of these rules can deal; near-complete ones are of thirteen cards."""
    kinds = [kind for kind in KINDS if kind != "near_complete" or (rules.hand_size == 13 and rules.num_decks > 1)]
    packs = {"decks": rules.num_decks, "jokers": rules.num_jokers}
    if rules.num_decks == 1:  # five ranks of one pack are just twenty cards, and there are five wild ones at most
        rng = Random(f"one pack {size}")
        return [*hands("random", number, 40, size, **packs), *(dense_hand(rng, size, **packs) for _ in range(number))]
    return [hand for kind in kinds for hand in hands(kind, number, 40, size, **packs)]


@pytest.mark.parametrize("gate", ["lives", "all_or_nothing", "pure_opens_all", "every_meld"])
@pytest.mark.parametrize("text", GROUPS)
def test_points_and_finish_cards_are_the_oracles(text: str, gate: str) -> None:
    rules = parse_rules(f"{text}{',' if ':' in text else ':'}gate={gate}")
    options = oracle_options(rules)
    for size in (rules.hand_size, rules.hand_size + 1):
        sample = drawn(rules, 2, size)
        counts, wilds = batch(sample)
        deadwoods, points = melds.deadwoods(counts, wilds, rules), melds.point_counts(counts, wilds, rules)
        for row, (cards, wild) in enumerate(sample):
            name = (oracle.write(cards), wild)
            assert deadwoods[row] == oracle.deadwood(cards, wild, options), name
            assert points[row] == oracle.points(cards, wild, options), name
            if size > rules.hand_size:
                finishes = set(np.flatnonzero(melds.declarable(counts[row], wild, rules)))
                assert finishes == oracle.declarable(cards, wild, options), name


@pytest.mark.parametrize("text", WITH_DISTANCE)
def test_distances_are_the_oracles(text: str) -> None:
    rules = parse_rules(text)
    for size in (rules.hand_size, rules.hand_size + 1):
        sample = drawn(rules, 3, size)
        distances = melds.distances(*batch(sample), rules)
        for row, (cards, wild) in enumerate(sample):
            assert distances[row] == oracle.distance(cards, wild, oracle_options(rules)), (oracle.write(cards), wild)


@pytest.mark.parametrize("case", cases("score"), ids=name_of)
def test_another_gate_counts_what_the_case_says(case: dict[str, Any]) -> None:
    cards, wild = oracle.read(" ".join(case["cards"])), oracle.wild_rank(wild_letter(case))
    for reading, count in case["other_readings"].items():
        assert melds.points(counts_of(cards), wild, RuleSet(gate=GATES[reading])) == count


@pytest.mark.parametrize("case", [case for case in cases("score") if "sensitive_to" in case], ids=name_of)
def test_two_naturals_a_group_change_the_count_where_the_case_says(case: dict[str, Any]) -> None:
    cards, wild = oracle.read(" ".join(case["cards"])), oracle.wild_rank(wild_letter(case))
    told = case["default_expect"]["points_if_two_naturals_needed"]
    assert melds.points(counts_of(cards), wild, RuleSet(min_naturals=2)) == told


@pytest.mark.parametrize("text", ["points:max_set_size=4", "online", "classic"])
def test_arrangements_hold_where_sets_are_small_or_both_lives_are_asked_for(text: str) -> None:
    rules = parse_rules(text)
    for size in (13, 14):
        for cards, wild in drawn(rules, 15, size):
            counts = counts_of(cards)
            laid = melds.arrange(counts, wild, rules)
            left = sum(oracle.definitions.points_of(face, wild) for face in laid.leftovers)
            assert left == laid.deadwood == oracle.deadwood(cards, wild, oracle_options(rules))
            if laid.complete and size == 13:
                assert melds.check_declaration([meld.cards for meld in laid.melds], wild, rules, counts) == []
