"""Hands on which other programs went wrong, and what the rules say about them."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from paplu_env import melds
from paplu_env.cards import NUM_FACES, counts_of, parse_cards, parse_hand, wild_of_rank
from paplu_env.rules import RuleSet
from tests import oracle

POINTS = RuleSet()
NO_RANK = wild_of_rank(-1)


def kind(group: str, wild: int = NO_RANK) -> str | None:
    return melds.kind_of_group(parse_cards(group), wild, POINTS)


def test_a_card_held_twice_does_not_make_a_set() -> None:
    cards = parse_cards("4H 5H 6H 7C 8C 9C TC KH KD KS KS 2D 3S")
    rng = Random(1)
    arrangements = set()
    for _ in range(200):
        rng.shuffle(cards)
        counts = counts_of(cards)
        assert melds.deadwood(counts, NO_RANK, POINTS) == 15  # the second KS, 2D and 3S
        arrangements.add(str(melds.arrange(counts, NO_RANK, POINTS)))
    assert len(arrangements) == 1
    assert kind("9S 9S 9H") is None


def test_a_run_of_five_is_one_sequence_and_a_run_of_six_is_two() -> None:
    five = parse_hand("5H 6H 7H 8H 9H KS KH KD KC 2S 2H 2D 2C")
    six = parse_hand("4H 5H 6H 7H 8H 9H KS KH KD KC 2S 2H 2D")
    assert melds.distance(five, NO_RANK, POINTS) > 0
    assert melds.distance(six, NO_RANK, POINTS) == 0
    for hand, complete in [(five, False), (six, True)]:
        hand[parse_cards("9C")[0]] += 1
        assert melds.declarable(hand, NO_RANK, POINTS)[parse_cards("9C")[0]] == complete
    hand[parse_cards("9C")[0]] -= 1
    laid = melds.arrange(hand, NO_RANK, POINTS)
    assert (counts_of([face for meld in laid.melds for face in meld.faces]) == hand).all()


def test_copies_make_two_equal_runs() -> None:
    assert melds.deadwood(parse_hand("5H 5H 6H 6H 7H 7H 9C 9D 9S QC QD QS QH"), NO_RANK, POINTS) == 0
    assert melds.deadwood(parse_hand("5H 5H 6H 7H 9C TC JC 2S 2H 2D QS QD KC"), NO_RANK, POINTS) == 35


@pytest.mark.parametrize("group", ["7S 7S PJ", "7S 7S 7H PJ", "4H 4H PJ"])
def test_a_joker_does_not_make_two_copies_a_group(group: str) -> None:
    assert kind(group) is None
    assert kind("7S 7H PJ") == "set"


def test_left_over_wild_cards_cost_nothing_and_aces_ten() -> None:
    hand = parse_hand("2H 4H JK 5S 5D 5C 8H 8D 8C 9S JK QD KD")
    assert melds.points(hand, NO_RANK, POINTS) == 74
    assert melds.points(hand, wild_of_rank(7), POINTS) == 74 - 3 * 8
    low_ace = parse_hand("AS 3S 5S 7S 9H JH KH 2D 4D 6D 8C TC QC")
    assert melds.deadwood(low_ace, NO_RANK, POINTS) - melds.deadwood(low_ace, wild_of_rank(0), POINTS) == 10


def test_a_run_does_not_wrap_around_or_into_the_next_suit() -> None:
    assert kind("KS AS 2S") is None
    assert kind("QS KS AH") is None
    hand = parse_hand("QS KS AH 2H 4D 6D 8D TD 3C 5C 7C 9C JC")
    everything = sum(oracle.definitions.points_of(face, NO_RANK) for face in range(NUM_FACES) if hand[face])
    assert melds.deadwood(hand, NO_RANK, POINTS) == everything


def test_a_wild_card_may_stand_where_the_thrown_card_would_fit() -> None:
    # 4H 5H 6H are pure; 9S TS JS with the joker in place of the TS that is thrown.
    hand = parse_hand("4H 5H 6H 9S TS JS PJ 2C 2D 2H KS KH KD KC")
    finishes = set(np.flatnonzero(melds.declarable(hand, NO_RANK, POINTS)))
    assert parse_cards("TS")[0] in finishes
    assert finishes == oracle.declarable(oracle.read("4H 5H 6H 9S TS JS PJ 2C 2D 2H KS KH KD KC"), NO_RANK)


def test_asking_twice_gives_the_same_answer() -> None:
    hand = parse_hand("3S 4S 5S 6S 4H 5H 6H 5D 6D 7D PJ PJ 7C")
    answers = {
        (melds.deadwood(hand, wild, POINTS), melds.distance(hand, wild, POINTS))
        for _ in range(3)
        for wild in [wild_of_rank(6)]
    }
    assert len(answers) == 1
