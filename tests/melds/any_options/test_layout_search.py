"""The general search under every option that changes groups or lives: worked hands, the oracle, plain Python."""

from __future__ import annotations

import dataclasses
from random import Random

import pytest

from paplu_env.cards import counts_of, parse_hand, parse_rank, wild_of_rank
from paplu_env.melds.fast_points.deadwood_kernels import deadwood_kernel
from paplu_env.melds.fast_points.declarable_kernels import declarable_kernel, is_complete_kernel
from paplu_env.rules import RuleSet, parse_rules, preset
from tests import oracle
from tests.melds.samples import KINDS, draw_hand, run_as_plain_python
from tests.oracle.hands import hands

TABLES = [
    "one_life",
    "one_life:max_set_size=4",
    "tanala",
    "tanala:min_sequences=3,min_pure_sequences=2,min_naturals=2",
    "ten_card",
    "points:gate=pure_opens_all",
    "points:gate=every_meld",
    "points:min_naturals=2",
    "points:min_naturals=2,max_set_size=4",
    "points:min_pure_sequences=2",
    "points:min_sequences=3,min_pure_sequences=3",
    "points:num_decks=3",
]


@pytest.mark.parametrize("table", TABLES)
def test_every_number_is_the_oracles(table: str) -> None:
    rules = parse_rules(table)
    assert not rules.has_standard_groups
    names = [field.name for field in dataclasses.fields(oracle.Options)]
    options = oracle.Options(**{name: getattr(rules, name) for name in names})
    kinds = ("dense", "wild_heavy") if rules.hand_size < 12 else ("dense", "wild_heavy", "near_complete")
    for kind in kinds:
        for size in (rules.hand_size, rules.hand_size + 1):
            for cards, wild in hands(kind, 5, 1, size, rules.num_decks, rules.num_jokers):
                name = (oracle.write(cards), wild)
                counts = counts_of(cards)
                assert deadwood_kernel(counts, wild, rules.packed[0]) == oracle.deadwood(cards, wild, options), name
                if size == rules.hand_size:
                    complete = bool(is_complete_kernel(counts, wild, rules.packed[0]))
                    assert complete == oracle.is_complete(cards, wild, options), name
                else:
                    found = int(declarable_kernel(counts, wild, rules.packed[0]))
                    expected = sum(1 << face for face in oracle.declarable(cards, wild, options))
                    assert found == expected, name


@pytest.mark.parametrize(
    ("table", "hand", "wild", "left", "complete"),
    [
        # A wild card to spare finds no place in the one pure sequence, nor in sets that may not grow.
        ("one_life", "3S 4S 5S 6S 9S 9H 9D 9C KS KH KD KC PJ", "-", 0, True),
        ("one_life:max_set_size=4", "3S 4S 5S 6S 9S 9H 9D 9C KS KH KD KC PJ", "-", 0, False),
        ("tanala", "7S 7S 7S 3H 4H PJ 9S 9H 9D KS KH KD KC", "-", 0, True),
        ("tanala", "7S 7S 7S 3H 4H 9C 9S 9H 9D KS KH KD KC", "-", 83, False),
        ("ten_card", "3S 4S 5S 9S 9H 9D KS KH KD KC", "-", 0, True),
        ("points:min_naturals=2", "3S 4S 5S 9H TH JH QH KS KH KD 2C PJ PJ", "-", 2, False),
        ("points:gate=pure_opens_all", "3S 4S 5S 9S 9H 9D KS KH KD KC 2H 5D 7C", "-", 14, False),
        ("points:gate=every_meld", "3S 4S 6S 9S 9H 9D KS KH KD KC 2H 5D 7C", "-", 27, False),
        ("points:gate=all_or_nothing", "3S 4S 5S 9S 9H 9D KS KH KD KC 2H 5D 7C", "-", 93, False),
    ],
)
def test_worked_hands(table: str, hand: str, wild: str, left: int, complete: bool) -> None:
    rules, counts, mask = parse_rules(table).packed[0], parse_hand(hand), wild_of_rank(parse_rank(wild))
    assert deadwood_kernel(counts, mask, rules) == left
    assert bool(is_complete_kernel(counts, mask, rules)) == complete


@pytest.mark.parametrize(
    ("hand", "wild"),
    [
        ("2S 2S 2S 9H 9H 9H KD KD KD 3C 5C 7C 9C JC KC 4H 6H 8D QS QD 5S", "A"),  # three tunnelas
        ("2S 2S 4S 4S 6H 6H 8H 8H TD TD QD QD 3C 3C 5C 5C 7D 9H JS KH KC", "A"),  # eight dublees
        ("AS AH AD AC AS AH PJ PJ 2S 4S 7S 9H JH 3H 5D 8D TD QC KC 2C 6C", "A"),  # eight wild cards
        ("2S 3S 4S 6H 7H 8H TD TD TD 5C 5D 5H 9C 9D 9S JC JD JS 4D 5D PJ", "A"),  # three pure ones, then groups
    ],
)
def test_hands_of_21_cards_that_are_complete(hand: str, wild: str) -> None:
    rules, counts, mask = preset("rummy_21").packed[0], parse_hand(hand), wild_of_rank(parse_rank(wild))
    assert is_complete_kernel(counts, mask, rules)
    assert deadwood_kernel(counts, mask, rules) == 0


def test_printed_jokers_alone_are_no_sequence() -> None:
    rules, sevens = RuleSet(num_decks=3).packed[0], wild_of_rank(parse_rank("7"))
    assert not is_complete_kernel(parse_hand("3S 4S 5S PJ PJ PJ"), sevens, rules)
    assert is_complete_kernel(parse_hand("3S 4S 5S 7H PJ PJ"), sevens, rules)


def test_compiled_and_plain_python_give_the_same_under_every_option() -> None:
    rng = Random("plain general")
    drawn = [draw_hand(rng, kind, 13) for kind in KINDS for _ in range(3)]
    assert run_as_plain_python(
        drawn,
        f"""
        from paplu_env.melds.fast_points.deadwood_kernels import deadwood_kernel
        from paplu_env.melds.fast_points.declarable_kernels import is_complete_kernel
        from paplu_env.rules import parse_rules

        def answer(counts, wild):
            tables = [parse_rules(table).packed[0] for table in {TABLES}]
            kernels = (deadwood_kernel, is_complete_kernel)
            return [kernel(counts, wild, rules) for rules in tables for kernel in kernels]
        """,
    )
