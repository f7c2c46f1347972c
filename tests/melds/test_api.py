"""The solver's front: every integer dtype and lists are taken, anything that is no hand is refused in words."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from paplu_env import melds
from paplu_env.cards import JOKER_BIT, NUM_FACES, counts_of, parse_hand, wild_of_rank
from paplu_env.errors import InvalidHand
from paplu_env.rules import PRESETS, RuleSet, preset
from tests.melds.batches import batch, mixed_hands
from tests.melds.cases import cases

POINTS = RuleSet()
SEVENS = wild_of_rank(6)
NO_RANK = wild_of_rank(-1)
HAND = parse_hand("5H 6H 7H 9S PJ JS 2C 2D 2S KC KD KH KS")
MORE = parse_hand("5H 6H 7H 9S PJ JS 2C 2D 2S KC KD KH KS 4H")
SINGLE = [melds.deadwood, melds.points, melds.distance, melds.arrange]
DTYPES = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]


@pytest.mark.parametrize("dtype", DTYPES)
def test_counts_of_every_integer_dtype_give_the_same_answers(dtype: type) -> None:
    for case in cases("score"):
        hand = parse_hand(" ".join(case["cards"]))
        given = hand.astype(dtype)
        for ask in SINGLE:
            assert ask(given, SEVENS, POINTS) == ask(hand, SEVENS, POINTS) == ask(hand.tolist(), SEVENS, POINTS)
    unseen = (2 - HAND).astype(dtype)
    assert (melds.declarable(MORE.astype(dtype), SEVENS, POINTS) == melds.declarable(MORE, SEVENS, POINTS)).all()
    assert (melds.outs(HAND.astype(dtype), SEVENS, unseen, POINTS) == 0).all()


def test_the_counts_that_are_given_are_not_changed() -> None:
    hand, more, unseen = HAND.copy(), MORE.copy(), 2 - HAND
    for ask in SINGLE:
        ask(hand, SEVENS, POINTS)
    melds.declarable(more, SEVENS, POINTS)
    melds.outs(hand, SEVENS, unseen, POINTS)
    assert (hand == HAND).all()
    assert (more == MORE).all()
    assert (unseen == 2 - HAND).all()


@pytest.mark.parametrize("size", [13, 14])
def test_a_batch_answers_like_its_single_hands(size: int) -> None:
    counts, wilds = batch(mixed_hands(25, seed=5, size=size))
    pairs: list[tuple[Any, Any]] = [
        (melds.deadwoods, melds.deadwood),
        (melds.point_counts, melds.points),
        (melds.distances, melds.distance),
    ]
    for many, one in pairs:
        singles = [one(hand, int(wild), POINTS) for hand, wild in zip(counts, wilds, strict=True)]
        assert many(counts, wilds, POINTS).tolist() == singles
    if size == 14:
        told = melds.declarables(counts, wilds, POINTS)
        assert told.shape == (len(counts), 53)
        assert told.dtype == np.bool_
        for row, wild in enumerate(wilds):
            assert (told[row] == melds.declarable(counts[row], int(wild), POINTS)).all()


def test_one_wild_mask_serves_a_whole_batch() -> None:
    counts, _ = batch(mixed_hands(5, seed=6))
    alone = melds.deadwoods(counts, SEVENS, POINTS)
    assert (alone == melds.deadwoods(counts, np.full(len(counts), SEVENS, dtype=np.uint64), POINTS)).all()
    assert melds.deadwoods(counts[:0], SEVENS, POINTS).shape == (0,)


def _with(face: int, copies: int) -> list[int]:
    counts = HAND.tolist()
    counts[face] = copies
    return counts


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        (parse_hand("5H 6H 7H"), "the hand has 3 cards, 13 or 14 are needed here"),
        (_with(0, 3), "holds 3 copies of AS: it must be 0 to 2 with 2 packs and 2 printed jokers"),
        (_with(52, 4), "holds 4 copies of PJ"),
        (_with(0, -1), "holds -1 copies of AS"),
        (_with(0, 256), "holds 256 copies of AS"),
        (HAND[:52], "this has the shape (52,)"),
        (HAND.reshape(1, 53), "this has the shape (1, 53)"),
        (HAND.astype(np.float64), "whole numbers; this has the dtype float64"),
        (HAND.astype(np.bool_), "whole numbers; this has the dtype bool"),
        (["AS", "2S"], "whole numbers"),
        ([[1], [2, 3]], "a hand is no array"),
        (None, "whole numbers"),
    ],
)
def test_what_is_no_hand_is_refused_in_words(counts: Any, words: str) -> None:
    for ask in SINGLE:
        with pytest.raises(InvalidHand, match=re.escape(words)):
            ask(counts, SEVENS, POINTS)


@pytest.mark.parametrize("wild", [0, 6, -1, 1 << 53, JOKER_BIT - 1, 1.5, None, "7"])
def test_what_is_no_wild_mask_is_refused_in_words(wild: Any) -> None:
    for ask in SINGLE:
        with pytest.raises(InvalidHand, match=r"no mask of wild faces"):
            ask(HAND, wild, POINTS)


def test_a_batch_is_refused_with_the_row_that_is_wrong() -> None:
    hands = np.array([HAND, HAND, parse_hand("PJ")])
    with pytest.raises(InvalidHand, match="hand 2 has 1 cards"):
        melds.deadwoods(hands, SEVENS, POINTS)
    with pytest.raises(InvalidHand, match="hand 0 has 13 cards, 14 are needed"):
        melds.declarables(hands, SEVENS, POINTS)
    with pytest.raises(InvalidHand, match=re.escape("wild has the shape (2,), for 3 hands it must be (3,)")):
        melds.distances([HAND] * 3, [SEVENS] * 2, POINTS)
    with pytest.raises(InvalidHand, match="wild=7 is no mask"):
        melds.distances([HAND] * 3, [SEVENS, 7, SEVENS], POINTS)
    with pytest.raises(InvalidHand, match=re.escape("has the shape (B, 53)")):
        melds.point_counts(HAND, SEVENS, POINTS)


def test_each_question_wants_its_own_number_of_cards() -> None:
    with pytest.raises(InvalidHand, match="13 cards, 14 are needed"):
        melds.declarable(HAND, SEVENS, POINTS)
    with pytest.raises(InvalidHand, match="14 cards, 13 are needed"):
        melds.outs(MORE, SEVENS, 2 - MORE, POINTS)


def test_no_more_copies_can_be_unseen_than_the_packs_and_the_hand_leave() -> None:
    with pytest.raises(InvalidHand, match="unseen: 2 copies of 2S with 1 in the hand; the packs hold 2"):
        melds.outs(HAND, SEVENS, np.full(53, 2), POINTS)
    with pytest.raises(InvalidHand, match="unseen: -1 copies of AS"):
        melds.outs(HAND, SEVENS, np.full(53, -1), POINTS)
    with pytest.raises(InvalidHand, match="unseen is an array of 53 counts"):
        melds.outs(HAND, SEVENS, [1, 2], POINTS)


def test_the_packs_of_the_table_are_what_counts() -> None:
    twice = parse_hand("5H 5H 6H 6H 7H 7H 9C 9D 9S QC QD QS QH")
    assert melds.deadwood(twice, wild_of_rank(-1), POINTS) == 0
    with pytest.raises(InvalidHand, match="2 copies of 5H: it must be 0 to 1 with 1 packs and 1 printed jokers"):
        melds.deadwood(twice, wild_of_rank(-1), preset("one_pack"))


@pytest.mark.parametrize("name", PRESETS)
def test_every_question_is_answered_for_every_preset(name: str) -> None:
    rules = preset(name)
    cards = list(range(rules.hand_size + 1))  # all spades, then hearts: runs and nothing else
    more, hand = counts_of(cards), counts_of(cards[:-1])
    assert melds.distance(hand, NO_RANK, rules) == melds.deadwood(hand, NO_RANK, rules) == 0
    assert melds.arrange(hand, NO_RANK, rules).complete
    assert melds.declarable(more, NO_RANK, rules)[cards[-1]]
    assert melds.discard_distances(more[np.newaxis], NO_RANK, rules)[0, cards[-1]] == 0
    assert not melds.outs(hand, NO_RANK, np.zeros(NUM_FACES, dtype=np.uint8), rules).any()


def test_points_are_rounded_before_they_are_capped() -> None:
    hand = parse_hand("5S 6S 7S 2H 4D 6C 8H TD QC 2D 5H 6D 5C")  # 58 points beside the pure sequence
    for rules, cost in [(POINTS, 58), (RuleSet(round_to=5), 60), (RuleSet(round_to=5, max_points=59), 59)]:
        assert melds.points(hand, wild_of_rank(-1), rules) == cost


def test_lives_takes_hands_of_any_size_and_refuses_what_no_pack_holds() -> None:
    assert melds.lives(parse_hand(""), wild_of_rank(-1), RuleSet()) == 0
    assert melds.lives(parse_hand("5H 6H 7H").tolist(), wild_of_rank(-1), RuleSet()) == 1
    with pytest.raises(InvalidHand, match="3 copies of PJ"):
        melds.lives(parse_hand("PJ PJ PJ"), wild_of_rank(-1), RuleSet())
