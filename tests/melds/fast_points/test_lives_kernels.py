"""Lives: a pure sequence, and another sequence beside it, against a search through all pairs."""

from itertools import combinations

import numpy as np
import pytest

from paplu_env.cards import NUM_RANKS, PRINTED_JOKER, counts_of, is_wild, parse_hand, wild_of_rank
from paplu_env.melds import lives
from paplu_env.melds.fast_points.lives_kernels import lives_kernel
from paplu_env.rules import RuleSet, as_rules

SEVENS = wild_of_rank(6)


def is_pure(cards: tuple[int, ...], rules: RuleSet) -> bool:
    """Three cards: a pure run or a tanala."""
    if PRINTED_JOKER in cards:
        return False
    if rules.tanala and len(set(cards)) == 1:
        return True
    suits, ranks = {card // NUM_RANKS for card in cards}, sorted(card % NUM_RANKS for card in cards)
    low = ranks[0]
    return len(suits) == 1 and ranks in ([low, low + 1, low + 2], [0, 11, 12])


def is_sequence(cards: tuple[int, ...], wild: int, rules: RuleSet) -> bool:
    """Three cards: pure, or some subset of the wild ones stands for what is missing."""
    if is_pure(cards, rules):
        return True
    wilds = [place for place, card in enumerate(cards) if is_wild(card, wild)]
    for size in range(1, len(wilds) + 1):
        for chosen in combinations(wilds, size):
            fixed = [card for place, card in enumerate(cards) if place not in chosen]
            if len(fixed) < rules.min_naturals or PRINTED_JOKER in fixed:
                continue
            if len({card // NUM_RANKS for card in fixed}) != 1 or len(set(fixed)) != len(fixed):
                continue
            places = [[card % NUM_RANKS] if card % NUM_RANKS else [0, NUM_RANKS] for card in fixed]
            spans = [max(a, b) - min(a, b) for a in places[0] for b in places[-1]]
            if min(spans) <= 2:
                return True
    return False


def searched(hand: list[int], wild: int, rules: RuleSet) -> int:
    best = 0
    for first in combinations(range(len(hand)), 3):
        if not is_pure(tuple(hand[place] for place in first), rules):
            continue
        best = max(best, 1)
        others = [card for place, card in enumerate(hand) if place not in first]
        if any(is_sequence(second, wild, rules) for second in combinations(others, 3)):
            return 2
    return best


@pytest.mark.parametrize(
    ("hand", "expected"),
    [
        ("5H 6H PJ", 0),
        ("5H 6H 7H", 1),
        ("5H 6H 7H 8H 9H", 1),
        ("5H 6H 7H 8H 9H TH", 2),
        ("5H 6H 7H 2S 4S PJ", 2),
        ("5H 6H 7H 2S 5S PJ", 1),
        ("5H 6H 7H 2S PJ PJ", 2),
        ("5H 6H 8H 7S PJ 2C", 0),
        ("QS KS AS AH 2H 3H", 2),
        ("KS AS 2S", 0),
        ("5H 6H 7H PJ PJ 7S", 2),
    ],
)
def test_worked_hands_with_sevens_wild(hand: str, expected: int) -> None:
    assert lives(parse_hand(hand), SEVENS, RuleSet()) == expected


@pytest.mark.parametrize("text", ["points", "points:min_naturals=2", "tanala", "tanala:min_naturals=2"])
def test_lives_are_those_that_a_search_finds(text: str) -> None:
    rules, rng = as_rules(text), np.random.default_rng(11)
    found = set()
    for _ in range(400):
        # Few neighbouring ranks, two suits and jokers: random hands seldom have a second life to miss.
        low = int(rng.integers(0, 9))
        pack = [13 * suit + (low + step) % 13 for suit in (0, 1) for step in range(6)] * rules.num_decks
        hand = [int(card) for card in rng.choice(pack + [PRINTED_JOKER] * 3, 8, replace=False)]
        wild = wild_of_rank(int(rng.integers(-1, 13)))
        expected = searched(hand, wild, rules)
        found.add(expected)
        assert lives_kernel(counts_of(hand), wild, rules.packed[0]) == expected, hand
    assert found == {0, 1, 2}
