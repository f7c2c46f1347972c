"""Every preset, and every option that changes groups, lives or points, gives the oracle's numbers."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any, get_args

import numpy as np
import pytest

from paplu_env import melds
from paplu_env.cards import counts_of
from paplu_env.rules import PRESETS, Gate, RuleSet, parse_rules
from tests import oracle
from tests.melds.batches import batch
from tests.melds.cases import cases, name_of, wild_letter
from tests.oracle.hands import KINDS, Hand, dense_hand, hands

# The 21 cards of rummy_21 are too many for the oracle: see test_rummy_21.py.
TABLES = [name for name in PRESETS if name != "rummy_21"] + [
    "pagat:num_players=7",
    "points:max_set_size=4",
    "points:min_naturals=2",
    "points:min_naturals=2,max_set_size=4",
    "points:min_sequences=0,min_pure_sequences=0",
    "points:min_sequences=3",
    "points:min_pure_sequences=0",
    "points:min_pure_sequences=2",
    "points:num_decks=3",
    "points:wild_neighbours=true",
    "one_life:max_set_size=4",
    "tanala:min_sequences=3,min_pure_sequences=3",
    "tanala:wild_neighbours=true,min_naturals=2",
    "ten_card:printed_jokers=9",
    "ten_card:min_sequences=3",
]


def oracle_options(rules: RuleSet) -> oracle.Options:
    """The same options in the oracle's words."""
    return oracle.Options(**{name: getattr(rules, name) for name in oracle.Options.__dataclass_fields__})


def drawn(rules: RuleSet, number: int, size: int, seed: int = 40) -> list[Hand]:
    """``number`` hands of every kind that these rules can deal, half of them with the table's wild cards."""
    packs = {"decks": rules.num_decks, "jokers": rules.num_jokers}
    rng = Random(f"{rules} {seed} {size}")
    if rules.num_decks == 1:  # five ranks of one pack are just twenty cards, and there are five wild ones at most
        sample = [
            *hands("random", number, seed, size, **packs),
            *(dense_hand(rng, size, **packs) for _ in range(number)),
        ]
    else:
        # Near-complete ones are of thirteen cards.
        kinds = [kind for kind in KINDS if kind != "near_complete" or rules.hand_size == 13]
        sample = [hand for kind in kinds for hand in hands(kind, number, seed, size, **packs)]
    indicators = [rng.randrange(52) for _ in sample]
    return [
        (cards, rules.wild_of(indicator) if place % 2 else wild)
        for place, ((cards, wild), indicator) in enumerate(zip(sample, indicators, strict=True))
    ]


def compare(rules: RuleSet, sample: list[Hand], *, asks_distance: bool) -> None:
    """Every number that the solver gives for these hands, which all have the same size; points under every gate."""
    options = oracle_options(rules)
    counts, wilds = batch(sample)
    has_more = len(sample[0][0]) > rules.hand_size
    deadwoods = melds.deadwoods(counts, wilds, rules)
    gates = [gate for gate in get_args(Gate) if gate != "pure_opens_all" or rules.min_pure_sequences > 0]
    points = {gate: melds.point_counts(counts, wilds, replace(rules, gate=gate)) for gate in gates}
    distances = melds.distances(counts, wilds, rules)
    finishes = melds.declarables(counts, wilds, rules) if has_more else None
    for row, (cards, wild) in enumerate(sample):
        name = (str(rules), oracle.write(cards), wild)
        assert deadwoods[row] == oracle.deadwood(cards, wild, options), name
        for gate in gates:
            assert points[gate][row] == oracle.points(cards, wild, replace(options, gate=gate)), (gate, name)
        if finishes is not None:
            told = oracle.declarable(cards, wild, options)
            assert set(np.flatnonzero(finishes[row])) == told, name
            assert (distances[row] == 0) == bool(told), name
        else:
            assert (distances[row] == 0) == oracle.is_complete(cards, wild, options), name
        if asks_distance:
            assert distances[row] == oracle.distance(cards, wild, options), name


@pytest.mark.parametrize("more", [0, 1])
@pytest.mark.parametrize("text", TABLES)
def test_every_number_is_the_oracles(text: str, more: int) -> None:
    rules = parse_rules(text)
    compare(rules, drawn(rules, 2, rules.hand_size + more), asks_distance=True)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
@pytest.mark.parametrize("text", TABLES)
def test_thousands_of_hands_of_every_table(text: str, part: int) -> None:
    rules = parse_rules(text)
    for more in (0, 1):
        compare(rules, drawn(rules, 50, rules.hand_size + more, seed=1000 + part), asks_distance=part == 0)


@pytest.mark.parametrize("case", [case for case in cases("score") if "sensitive_to" in case], ids=name_of)
def test_two_naturals_a_group_change_the_count_where_the_case_says(case: dict[str, Any]) -> None:
    cards, wild = oracle.read(" ".join(case["cards"])), oracle.wild_rank(wild_letter(case))
    told = case["default_expect"]["points_if_two_naturals_needed"]
    assert melds.points(counts_of(cards), wild, RuleSet(min_naturals=2)) == told


@pytest.mark.parametrize("text", [*TABLES, "points:gate=pure_opens_all", "points:gate=every_meld"])
def test_arrangements_prove_the_deadwood_and_are_complete_where_the_hand_is(text: str) -> None:
    rules = parse_rules(text)
    for size in (rules.hand_size, rules.hand_size + 1):
        for cards, wild in drawn(rules, 10, size):
            name = (oracle.write(cards), wild)
            counts = counts_of(cards)
            laid = melds.arrange(counts, wild, rules)
            together = [*laid.leftovers, *(face for meld in laid.melds for face in meld.faces)]
            assert sorted(together) == sorted(cards), name
            left = sum(oracle.definitions.points_of(face, wild) for face in laid.leftovers)
            assert left == laid.deadwood == melds.deadwood(counts, wild, rules), name
            assert all(meld.kind == melds.kind_of_group(meld.faces, wild, rules) for meld in laid.melds), name
            if size == rules.hand_size:
                assert laid.complete == (melds.distance(counts, wild, rules) == 0), name
                reasons = melds.check_declaration([meld.cards for meld in laid.melds], wild, rules, counts)
                assert laid.complete == (reasons == []), name
