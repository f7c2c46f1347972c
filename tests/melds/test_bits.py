"""Words of a hand: what they say of ranks in several suits and of third copies, counted by hand."""

from paplu_env.cards import counts_of, parse_hand
from paplu_env.melds.bits import FACE_BITS, ranks_in_three_suits, ranks_in_two_suits, third_copies, words_of


def test_ranks_are_counted_by_the_suits_that_hold_them() -> None:
    for ace in range(16):
        faces = [13 * suit for suit in range(4) if ace >> suit & 1] + [5, 13 + 7, 26 + 7]
        ones, _twos, _wilds, _num_wild = words_of(counts_of(faces), 1 << 52)
        suits = bin(ace).count("1")
        assert ranks_in_two_suits(ones) == (1 << 7) | (suits >= 2)
        assert ranks_in_three_suits(ones) == int(suits >= 3)


def test_third_copies_are_a_word_of_standard_faces() -> None:
    assert third_copies(parse_hand("AS AS AS 5H 5H PJ PJ PJ")) == int(FACE_BITS[0])
