"""The arrangement that is shown: which one it is where several are best, and how it reads."""

from __future__ import annotations

import numpy as np

from paplu_env import melds
from paplu_env.cards import counts_of, parse_hand, wild_of_rank
from paplu_env.rules import RuleSet
from tests.melds.batches import mixed_hands

POINTS = RuleSet()
NO_RANK = wild_of_rank(-1)
SEVENS = wild_of_rank(6)


def shown(hand: str, wild: int = NO_RANK) -> str:
    return str(melds.arrange(parse_hand(hand), wild, POINTS))


def test_without_a_pure_sequence_everything_is_left_over() -> None:
    laid = melds.arrange(parse_hand("4H PJ 6H 9S TS PJ 3C 3D 3S 2C 2H 2D 8C"), NO_RANK, POINTS)
    assert laid.melds == ()
    assert len(laid.leftovers) == 13
    assert (laid.deadwood, laid.points, laid.complete) == (52, 52, False)


def test_one_life_is_the_pure_sequence_worth_most() -> None:
    assert shown("4H 5H 6H 7H 8H KS KD KC 9S 2D JC 3C TS").startswith("4H 5H 6H 7H 8H | left:")
    assert shown("AS 2S 3S QS KS 9H 9D 9C 6H 4D 4C 8H 2D").startswith("QS KS AS | left:")


def test_a_tie_for_the_best_pure_sequence_goes_to_more_cards() -> None:
    # The king is wild, costs nothing, and finds no two cards to make another sequence with.
    hand = "TS JS QS KS 2H 5H 8H JH 3D 6D 9D QD 4C"
    assert shown(hand, wild_of_rank(12)) == "TS JS QS KS | left: 2H 5H 8H JH 3D 6D 9D QD 4C"


def test_one_long_run_is_both_lives() -> None:
    laid = melds.arrange(parse_hand("4S 5S 6S 7S 8S 9S 7C 7D 7H KS KH KD KC"), NO_RANK, POINTS)
    assert laid.complete
    assert sorted(meld.kind for meld in laid.melds) == ["pure sequence", "pure sequence", "set", "set"]


def test_wild_cards_stand_at_the_places_that_they_fill() -> None:
    assert shown("4H 5H 6H 9S JS PJ KC 7C 7D 7H QD 2C 8D") == "4H 5H 6H | 9S PJ JS | 7H 7D 7C | left: 8D QD 2C KC"


def test_spare_wild_cards_are_laid_when_they_make_the_hand_complete() -> None:
    laid = melds.arrange(parse_hand("5H 6H 7H 8H 9S TS JS KC KD KH KS PJ PJ"), NO_RANK, POINTS)
    assert laid.complete
    assert str(laid) == "9S TS JS | 5H 6H 7H 8H | KS KH KD KC PJ PJ"


def test_spare_wild_cards_extend_a_run_where_there_is_no_set() -> None:
    laid = melds.arrange(parse_hand("2H 3H 4H 5H 6H TS JS QS KS AS PJ 7C 7D"), SEVENS, POINTS)
    assert laid.complete
    assert melds.check_declaration([meld.cards for meld in laid.melds], SEVENS, POINTS) == []
    assert {meld.kind for meld in laid.melds} == {"pure sequence", "impure sequence"}


def test_three_wild_cards_are_a_sequence_of_their_own() -> None:
    laid = melds.arrange(parse_hand("2H 3H 4H 7S PJ PJ 9S 9D 9C KS KH KD KC"), SEVENS, POINTS)
    assert laid.complete
    assert "7S PJ PJ" in str(laid)


def test_fourteen_cards_can_be_laid_too() -> None:
    laid = melds.arrange(parse_hand("5H 6H 7H 8H 9S TS JS KC KD KH KS QC QD 2D"), NO_RANK, POINTS)
    assert (laid.deadwood, laid.complete) == (22, False)
    assert str(laid) == "9S TS JS | 5H 6H 7H 8H | KS KH KD KC | left: 2D QD QC"


def test_nothing_vanishes_from_an_arrangement() -> None:
    for size in (13, 14):
        for cards, wild in mixed_hands(150, seed=20, size=size):
            laid = melds.arrange(counts_of(cards), wild, POINTS)
            together = [*laid.leftovers, *(face for meld in laid.melds for face in meld.faces)]
            assert (counts_of(together) == counts_of(cards)).all()
            assert np.all(counts_of(together) <= 2)
