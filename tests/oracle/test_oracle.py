"""The oracle against something even simpler: every split of a small hand, every replacement of its cards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, combinations_with_replacement
from random import Random

import pytest

from tests.oracle import (
    Options,
    deadwood,
    declarable,
    distance,
    group_kinds,
    is_complete,
    points,
    read,
    wild_rank,
    write,
)
from tests.oracle.definitions import missing_for_special, points_of
from tests.oracle.hands import KINDS, hands

SMALL = Options(hand_size=7)
OPTIONS = [
    SMALL,
    replace(SMALL, min_sequences=1),
    replace(SMALL, min_pure_sequences=2),
    replace(SMALL, min_naturals=2),
    replace(SMALL, max_set_size=4),
    replace(SMALL, tanala=True),
    replace(SMALL, gate="all_or_nothing"),
    replace(SMALL, gate="pure_opens_all"),
    replace(SMALL, gate="every_meld"),
]


def splits(cards: list[int], wild: int, options: Options) -> Iterator[tuple[list[set[str]], list[int]]]:
    """Every way to split cards into disjoint groups and cards left over: (kinds of each group, left over)."""
    if not cards:
        yield [], []
        return
    first, others = cards[0], cards[1:]
    for groups, left in splits(others, wild, options):
        yield groups, [first, *left]
    for size in range(2, len(cards)):
        for mates in combinations(range(len(others)), size):
            kinds = group_kinds([first] + [others[place] for place in mates], wild, options)
            if kinds:
                rest = [card for place, card in enumerate(others) if place not in mates]
                for groups, left in splits(rest, wild, options):
                    yield [kinds, *groups], left


def lives(groups: list[set[str]]) -> tuple[int, int]:
    """Pure sequences and sequences among groups."""
    pure = sum(bool(kinds & {"pure", "tanala"}) for kinds in groups)
    return pure, sum(bool(kinds & {"pure", "tanala", "sequence"}) for kinds in groups)


def is_free(groups: list[set[str]], options: Options) -> bool:
    pure, runs = lives(groups)
    both = pure >= options.min_pure_sequences and runs >= options.min_sequences
    if options.gate == "lives":
        one_life = len(groups) == pure <= options.min_pure_sequences
        return both or one_life or (pure >= options.min_pure_sequences and len(groups) == runs)
    return not groups or both or options.gate == "every_meld" or (options.gate == "pure_opens_all" and pure > 0)


def small_hands(seed: int, size: int, hands_a_kind: int = 3) -> Iterator[tuple[list[int], int]]:
    """Hands of few cards cut out of thirteen of each kind, so that something fits."""
    rng = Random(seed)
    for kind in KINDS:
        for cards, wild in hands(kind, hands_a_kind, seed):
            suits = sorted(cards, key=lambda card: (card // 13, card % 13))
            start = rng.randrange(len(cards) - size + 1)
            yield suits[start : start + size], wild
            yield cards[:size], wild


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_deadwood_is_the_least_over_every_split_of_a_small_hand(options: Options) -> None:
    for cards, wild in small_hands(seed=3, size=8):
        least = min(
            sum(points_of(card, wild) for card in left)
            for groups, left in splits(cards, wild, options)
            if is_free(groups, options)
        )
        assert deadwood(cards, wild, options) == least, (write(cards), wild)


def complete_by_splits(cards: list[int], wild: int, options: Options) -> bool:
    return any(
        not left and pure >= options.min_pure_sequences and runs >= options.min_sequences
        for groups, left in splits(cards, wild, options)
        for pure, runs in [lives(groups)]
    )


@pytest.mark.parametrize("options", OPTIONS[:6], ids=str)
def test_a_small_hand_is_complete_when_some_split_of_it_is(options: Options) -> None:
    for cards, wild in small_hands(seed=4, size=7):
        assert is_complete(cards, wild, options) == complete_by_splits(cards, wild, options), (write(cards), wild)
        more = cards + [Random(5).randrange(52)]
        faces = {face for face in more if complete_by_splits(_without(more, face), wild, options)}
        assert declarable(more, wild, options) == faces


SIX = [replace(some, hand_size=6) for some in OPTIONS[:6]]


@pytest.mark.parametrize("options", SIX, ids=str)
def test_a_small_hand_at_distance_one_has_one_card_to_replace(options: Options) -> None:
    _compare_with_replacements(options, hands_a_kind=2, most=1)


def test_a_small_hand_at_distance_two_has_two_cards_to_replace() -> None:
    _compare_with_replacements(SIX[0], hands_a_kind=1, most=2)


@pytest.mark.slow
@pytest.mark.parametrize("options", SIX, ids=str)
def test_distance_is_the_fewest_cards_of_a_small_hand_to_replace(options: Options) -> None:
    _compare_with_replacements(options, hands_a_kind=3, most=2)


def _compare_with_replacements(options: Options, hands_a_kind: int, most: int) -> None:
    for cards, wild in small_hands(seed=6, size=6, hands_a_kind=hands_a_kind):
        told = distance(cards, wild, options)
        for replaced in range(min(told, most) + 1):
            assert _completed_by(cards, replaced, wild, options) == (replaced == told), (write(cards), wild, told)


def _completed_by(cards: list[int], replaced: int, wild: int, options: Options) -> bool:
    """Whether some cards in place of ``replaced`` of the hand complete it; copies are not counted."""
    kept_hands = {tuple(sorted(kept)) for kept in combinations(cards, len(cards) - replaced)}
    return any(
        is_complete([*kept, *new], wild, options)
        for kept in kept_hands
        for new in combinations_with_replacement(range(53), replaced)
    )


def test_distance_one_is_one_card_to_replace_in_a_whole_hand() -> None:
    for cards, wild in [*hands("near_complete", 1, 7), *hands("wild_heavy", 2, 7)]:
        told = distance(cards, wild)
        if told:
            assert _completed_by(cards, 1, wild, Options()) == (told == 1), (write(cards), wild)


@pytest.mark.parametrize("options", [replace(some, hand_size=13) for some in OPTIONS[:6]], ids=str)
def test_distance_is_0_exactly_for_complete_hands(options: Options) -> None:
    for cards, wild in [*hands("near_complete", 8, 9), *hands("wild_heavy", 4, 9)]:
        assert (distance(cards, wild, options) == 0) == is_complete(cards, wild, options), (write(cards), wild)


def test_of_fourteen_cards_the_distance_is_the_lowest_over_the_discard() -> None:
    for kind in KINDS:
        for cards, wild in hands(kind, 1, 8, size=14):
            assert distance(cards, wild) == min(distance(_without(cards, face), wild) for face in set(cards))


@pytest.mark.parametrize(
    ("hand", "wild", "missing"),
    [
        ("2S 2S 2S 9H 9H 9H KD KD KD 3C 5C 7C 9C JC", "-", 0),  # three tunnelas
        ("2S 2S 2S 9H 9H 9H KD KD 4H 3C 5C 7C 9C JC", "-", 1),
        ("2S 2S 2S 9H 9H 9H KD 4H 3C 5C 7C 9C JC QC", "-", 2),
        ("2S 2S 3S 3S 4S 4S 5S 5S 6S 6S 7S 7S 8S 8S 9S 9S", "-", 0),  # eight dublees
        ("2S 2S 3S 3S 4S 4S 5S 5S 6S 6S 7S 7S 8S 8S 9S TS", "-", 1),
        ("PJ PJ PJ 7S 7S 7H 7H 7D", "7", 0),  # eight wild cards
        ("PJ PJ PJ 7S 7S 7H 8H 8D", "7", 2),
        ("PJ PJ PJ 7S 7S 7H 8H 8D", "-", 5),  # eight wild cards are nearest, three are there
    ],
)
def test_a_special_hand_lacks_what_the_nearest_of_its_kinds_lacks(hand: str, wild: str, missing: int) -> None:
    cards, mask = read(hand), wild_rank(wild)
    options = Options(hand_size=21, special_hands=True)
    assert missing_for_special(cards, mask, options) == missing
    assert missing_for_special(cards, mask, Options(hand_size=21)) == len(cards)
    if missing == 0:
        assert is_complete(cards, mask, options)
        assert deadwood(cards, mask, options) == 0
        assert distance(cards, mask, options) == 0


def test_rounding_comes_before_the_cap() -> None:
    cards = read("2S 4S 6S 8S TS QS AH 3H 5H 7H 9D JD KC")  # 94 points
    assert points(cards, wild_rank("-"), Options(round_to=5)) == 80
    assert points(cards, wild_rank("-"), Options(round_to=5, max_points=120)) == 95


def _without(cards: list[int], face: int) -> list[int]:
    place = cards.index(face)
    return cards[:place] + cards[place + 1 :]
