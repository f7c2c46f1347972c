"""Notation, counts and wild masks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paplu_env import cards
from paplu_env.errors import InvalidHand, InvalidNotation

FACES = range(cards.NUM_FACES)


def test_faces_are_numbered_by_suit_shdc_and_rank_from_the_ace() -> None:
    order = [rank + suit for suit in "SHDC" for rank in "A23456789TJQK"] + ["PJ"]
    assert [cards.format_card(face) for face in FACES] == order


@pytest.mark.parametrize("face", FACES)
def test_every_face_goes_there_and_back(face: int) -> None:
    assert cards.parse_card(cards.format_card(face)) == face


@pytest.mark.parametrize("face", range(52))
def test_every_face_reads_in_each_of_its_spellings(face: int) -> None:
    rank, suit = cards.format_card(face)
    symbol = cards.SUIT_SYMBOLS["SHDC".index(suit)]
    spellings = [rank + suit, rank.lower() + suit.lower(), rank + symbol, f" {rank}{suit} "]
    spellings += ["10" + suit, "10" + symbol, "10" + suit.lower()] if rank == "T" else []
    assert {cards.parse_card(text) for text in spellings} == {face}


def test_the_printed_joker_is_read_as_pj_and_jk() -> None:
    assert [cards.parse_card(text) for text in ("PJ", "JK", "pj", "jk")] == [52] * 4


@pytest.mark.parametrize("text", ["", "A", "S", "1S", "11S", "AX", "SA", "0H", "ASS", "P", "JOKER", "TJ", "♠"])
def test_what_is_no_card_is_refused_with_the_text(text: str) -> None:
    with pytest.raises(InvalidNotation, match="cannot read"):
        cards.parse_card(text)


def test_hands_are_read_with_any_separators() -> None:
    assert cards.parse_cards("AS,2S;3S | PJ\n10♦") == [0, 1, 2, 52, 35]


@given(st.lists(st.sampled_from([face for face in FACES for _ in range(3)]), max_size=21))
def test_hands_go_there_and_back(faces: list[int]) -> None:
    if max((faces.count(face) for face in faces), default=0) > cards.MAX_COPIES:
        return
    counts = cards.counts_of(faces)
    assert counts.dtype == np.uint8
    assert counts.shape == (53,)
    assert cards.faces_of(counts) == sorted(faces)
    assert np.array_equal(cards.parse_hand(cards.format_hand(counts)), counts)


def test_four_copies_of_a_face_are_no_hand() -> None:
    with pytest.raises(InvalidHand, match="4 copies of AS"):
        cards.parse_hand("AS AS AS AS")


def test_a_wild_rank_makes_its_four_faces_and_the_printed_joker_wild() -> None:
    for rank in range(13):
        wild = cards.wild_of_rank(rank)
        assert {face for face in FACES if cards.is_wild(face, wild)} == {
            rank,
            13 + rank,
            26 + rank,
            39 + rank,
            52,
        }
    assert cards.wild_of_rank(-1) == 1 << 52


def test_ranks_are_read_by_letter_and_none_is_minus_one() -> None:
    assert [cards.parse_rank(letter) for letter in "A23456789TJQK"] == list(range(13))
    assert [cards.parse_rank(text) for text in ("10", "k", "PJ", "none")] == [9, 12, -1, -1]
    with pytest.raises(InvalidNotation):
        cards.parse_rank("1")
    with pytest.raises(InvalidNotation):
        cards.wild_of_rank(13)


def test_points_are_face_value_to_nine_and_ten_above_and_for_aces() -> None:
    points = {cards.format_card(face)[0]: int(cards.FACE_POINTS[face]) for face in range(13)}
    assert points == {"A": 10, **{str(n): n for n in range(2, 10)}, "T": 10, "J": 10, "Q": 10, "K": 10}
    assert cards.FACE_POINTS[52] == 0
