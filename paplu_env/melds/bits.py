"""Hands as bits: sixteen bits a suit in one 64-bit word, so that a run or a set is a few logical operations.

Bits 0..12 of a suit's field are the ranks ace to king and bit 13 is the ace once more, above the king;
bits 14 and 15 stay clear, so that shifts by one or two never reach the next suit's cards. One word says
which faces are held at least once, a second which are held at least twice. Both ace bits are always
equal: a mask of cards to take away has to be `closed` over them.

Three shapes serve every kernel: a run of three starts wherever ``x & x >> 1 & x >> 2`` has a bit, a set
is a column of bits sixteen apart, and the points of any mask are four population counts.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import njit, popcount
from paplu_env.cards import NUM_RANKS, NUM_SUITS, PRINTED_JOKER, RANK_POINTS, Counts

Rules = np.void  # one row of a rule set's record, `RuleSet.packed`
FIELD: Final = 16  # bits of a suit's field
SUIT_RANKS: Final = (1 << NUM_RANKS) - 1  # the thirteen ranks of one field, without the ace's second bit
COLUMN: Final = sum(1 << FIELD * suit for suit in range(NUM_SUITS))  # the aces, low; shifted: any rank
ACES_LOW: Final = COLUMN
ACES_HIGH: Final = COLUMN << NUM_RANKS
RANK_BITS: Final = COLUMN * SUIT_RANKS  # every card once


def _weight_mask(weight: int) -> int:
    """The cards whose points have a binary digit: points are sums of 1, 2, 4 and 8."""
    return sum(COLUMN << rank for rank in range(NUM_RANKS) if RANK_POINTS[rank] & weight)


_ONES: Final = _weight_mask(1)
_TWOS: Final = _weight_mask(2)
_FOURS: Final = _weight_mask(4)
_EIGHTS: Final = _weight_mask(8)

# The bits of each standard face, both bits of an ace.
FACE_BITS: Final[npt.NDArray[np.int64]] = np.array(
    [
        (1 | 1 << NUM_RANKS if rank == 0 else 1 << rank) << FIELD * suit
        for suit in range(NUM_SUITS)
        for rank in range(NUM_RANKS)
    ],
    dtype=np.int64,
)
FACE_BITS.setflags(write=False)


@njit
def words_of(counts: Counts, wild: int) -> tuple[int, int, int, int]:
    """A hand as words: held at least once, at least twice, the wild faces, and how many cards are wild.

    Args:
        counts: ``(53,)`` uint8. A third copy of a standard face is not seen by the words, nor by the number.
        wild: bitmask of wild faces. Printed jokers count as wild whatever it says.

    Returns:
        ``(ones, twos, wilds, num_wild)``; ``wilds`` holds standard faces only, held or not.
    """
    ones = 0
    twos = 0
    for face in range(PRINTED_JOKER):
        copies = int(counts[face])
        bits = int(FACE_BITS[face])
        ones |= bits if copies > 0 else 0
        twos |= bits if copies > 1 else 0
    wilds = 0
    for suit in range(NUM_SUITS):
        wilds |= ((wild >> NUM_RANKS * suit) & SUIT_RANKS) << FIELD * suit
    num_wild = int(counts[PRINTED_JOKER]) + popcount(ones & wilds) + popcount(twos & wilds)
    return ones, twos, closed(wilds), num_wild


@njit
def third_copies(counts: Counts) -> int:
    """The third word beside those of `words_of`: the standard faces of which three copies are held."""
    threes = 0
    for face in range(PRINTED_JOKER):
        threes |= int(FACE_BITS[face]) if int(counts[face]) > 2 else 0
    return threes


@njit
def closed(bits: int) -> int:
    """The same cards with both bits of every ace among them."""
    return bits | (bits & ACES_LOW) << NUM_RANKS | (bits & ACES_HIGH) >> NUM_RANKS


@njit
def point_sum(bits: int) -> int:
    """Points of the cards in a word, each once."""
    return (
        popcount(bits & _ONES) + 2 * popcount(bits & _TWOS) + 4 * popcount(bits & _FOURS) + 8 * popcount(bits & _EIGHTS)
    )


@njit
def card_count(bits: int) -> int:
    """Number of cards in a word, an ace once."""
    return popcount(bits & RANK_BITS)


@njit
def suit_of(bits: int, suit: int) -> int:
    """A suit's field: fourteen bits, both of the ace."""
    return bits >> FIELD * suit & ((1 << FIELD) - 1)


@njit
def suits_of(bits: int) -> tuple[int, int, int, int]:
    """The four fields, spades first, see `suit_of`."""
    field = (1 << FIELD) - 1
    return bits & field, bits >> FIELD & field, bits >> 2 * FIELD & field, bits >> 3 * FIELD


@njit
def run_starts(bits: int) -> int:
    """Where three consecutive cards begin, at their lowest."""
    return bits & bits >> 1 & bits >> 2


@njit
def ranks_in_two_suits(bits: int) -> int:
    """The ranks of which two suits have a card, 13 bits."""
    spades, hearts, diamonds, clubs = suits_of(bits)
    return (spades & hearts | diamonds & clubs | (spades | hearts) & (diamonds | clubs)) & SUIT_RANKS


@njit
def ranks_in_three_suits(bits: int) -> int:
    """The ranks of which three suits have a card, 13 bits."""
    spades, hearts, diamonds, clubs = suits_of(bits)
    return (spades & hearts & (diamonds | clubs) | diamonds & clubs & (spades | hearts)) & SUIT_RANKS
