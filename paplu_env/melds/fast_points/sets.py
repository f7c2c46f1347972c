"""Sets in the words of `bits`: a rank is a column of bits, one field apart."""

from __future__ import annotations

from paplu_env._jit import njit, popcount
from paplu_env.melds.bits import COLUMN, FIELD, card_count, closed, ranks_in_three_suits, ranks_in_two_suits


@njit
def set_ranks(ones: int, num_wild: int) -> int:
    """Ranks held in enough suits for a set, as 13 bits: three, or two and a wild card."""
    return ranks_in_three_suits(ones) if num_wild == 0 else ranks_in_two_suits(ones)


@njit
def held_suits(ones: int, rank: int) -> int:
    """Number of suits in which a rank is held."""
    return popcount(ones & COLUMN << rank)


@njit
def set_choices(ones: int, rank: int) -> int:
    """Sets to try at a rank: all its cards, and where four suits have it, those without one of them."""
    return 5 if held_suits(ones, rank) == 4 else 1


@njit
def set_cards(ones: int, rank: int, choice: int) -> int:
    """The cards of a set, both bits of an ace: all of the rank, or without the suit ``choice - 1``."""
    cards = ones & COLUMN << rank
    if choice > 0:
        cards &= ~(1 << FIELD * (choice - 1) + rank)
    return closed(cards)


@njit
def set_price(cards: int) -> int:
    """Wild cards that a set needs."""
    return 1 if card_count(cards) == 2 else 0
