"""What the solver may be asked: hands and wild masks are checked here before a kernel sees them."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import njit
from paplu_env.cards import JOKER_BIT, NUM_FACES, PRINTED_JOKER, Counts, format_card
from paplu_env.errors import InvalidHand
from paplu_env.rules import RuleSet

# Counts of one hand as callers hold them: any integer dtype, or a list.
AnyCounts = Counts | npt.NDArray[np.integer[Any]] | Sequence[int]

_ALL_FACES: Final = (1 << NUM_FACES) - 1
_TOO_MANY: Final = 255  # copies, the most that a uint8 holds


def checked_hand(counts: AnyCounts, rules: RuleSet, fewest: int, most: int) -> Counts:
    """One hand as ``(1, 53)`` uint8, a new array, when it may be held under these rules.

    Args:
        fewest, most: how many cards it may have.

    Raises:
        InvalidHand: not 53 whole numbers, a negative one, more copies than the packs hold, or another number
            of cards.
    """
    hand = _whole_numbers(counts, "a hand")
    if hand.shape != (NUM_FACES,):
        raise InvalidHand(f"a hand is an array of {NUM_FACES} counts, one a face; this has the shape {hand.shape}")
    return _checked(hand[np.newaxis], rules, fewest, most, "the hand")


def checked_hands(counts: npt.ArrayLike, rules: RuleSet, fewest: int, most: int) -> Counts:
    """Hands as ``(B, 53)`` uint8, a new array, when all may be held under these rules.

    Raises:
        InvalidHand: as `checked_hand`, with the row of the first hand that is wrong.
    """
    hands = _whole_numbers(counts, "a batch of hands")
    if hands.ndim != 2 or hands.shape[1] != NUM_FACES:
        raise InvalidHand(f"a batch of hands has the shape (B, {NUM_FACES}); this has {hands.shape}")
    return _checked(hands, rules, fewest, most, "hand {row}")


def checked_wild(wild: int) -> npt.NDArray[np.int64]:
    """One wild mask as ``(1,)`` int64.

    Raises:
        InvalidHand: not a mask of faces, or one without the printed joker, which always is wild.
    """
    try:
        mask = operator.index(wild)
    except TypeError:
        raise InvalidHand(f"wild={wild!r} is no mask of wild faces: see cards.wild_of_rank") from None
    if not 0 <= mask <= _ALL_FACES or not mask & JOKER_BIT:
        raise InvalidHand(
            f"wild={mask} is no mask of wild faces: bits 0..51 are the printed cards and bit 52, the printed "
            "joker, is always set; cards.wild_of_rank(6) makes the mask for sevens"
        )
    return np.array([mask], dtype=np.int64)


def checked_wilds(wild: npt.ArrayLike, rows: int) -> npt.NDArray[np.int64]:
    """Wild masks of ``rows`` hands as ``(B,)`` int64; one mask alone is taken for all.

    Raises:
        InvalidHand: as `checked_wild`, or another number of masks.
    """
    masks = _whole_numbers(wild, "wild")
    if masks.ndim == 0:
        return np.repeat(checked_wild(int(masks)), rows)
    if masks.shape != (rows,):
        raise InvalidHand(f"wild has the shape {masks.shape}, for {rows} hands it must be ({rows},)")
    wrong = np.flatnonzero((masks < JOKER_BIT) | (masks > _ALL_FACES))
    if wrong.size:
        checked_wild(int(masks[wrong[0]]))
    return masks.astype(np.int64, order="C")


def checked_unseen(unseen: AnyCounts, hand: Counts, rules: RuleSet) -> Counts:
    """Unseen copies as ``(53,)`` uint8: together with the hand no more than the packs hold.

    Raises:
        InvalidHand: not 53 whole numbers, a negative one, or more copies than can be unseen.
    """
    copies = _whole_numbers(unseen, "unseen")
    if copies.shape != (NUM_FACES,):
        raise InvalidHand(f"unseen is an array of {NUM_FACES} counts, one a face; this has the shape {copies.shape}")
    for face in range(NUM_FACES):
        if not 0 <= copies[face] <= rules.copies(face) - int(hand[face]):
            raise InvalidHand(
                f"unseen: {copies[face]} copies of {format_card(face)} with {hand[face]} in the hand; "
                f"the packs hold {rules.copies(face)}"
            )
    return np.array(copies, dtype=np.uint8)


def _whole_numbers(values: Any, what: str) -> npt.NDArray[np.integer[Any]]:
    """An array of any integer dtype; whole numbers in another dtype are refused too, they hint at a mistake."""
    try:
        array = np.asarray(values)
    except ValueError as error:  # lists of different lengths
        raise InvalidHand(f"{what} is no array: {error}") from None
    if array.dtype.kind not in "iu":
        raise InvalidHand(f"{what} is made of whole numbers; this has the dtype {array.dtype}")
    return array


def _checked(hands: npt.NDArray[np.integer[Any]], rules: RuleSet, fewest: int, most: int, name: str) -> Counts:
    """The hands as a new uint8 array that kernels take, or the error for the first that is wrong."""
    if hands.dtype == np.uint8:
        small = np.array(hands, order="C")
    else:  # what doesn't fit becomes a number of copies that no table has
        small = np.where((hands < 0) | (hands > _TOO_MANY), _TOO_MANY, hands).astype(np.uint8, order="C")
    row = _first_wrong(small, rules.num_decks, rules.num_jokers, fewest, most)
    if row < len(small):
        raise InvalidHand(f"{name.format(row=row)} {_what_is_wrong(hands[row].tolist(), rules, fewest, most)}")
    return small


@njit
def _first_wrong(hands: Counts, decks: int, jokers: int, fewest: int, most: int) -> int:
    """The first row with too many copies of a face or a wrong number of cards; the number of rows if none."""
    for row in range(len(hands)):
        cards = 0
        highest = 0
        for face in range(PRINTED_JOKER):
            copies = int(hands[row, face])
            cards += copies
            highest = max(highest, copies)
        held_jokers = int(hands[row, PRINTED_JOKER])
        cards += held_jokers
        if highest > decks or held_jokers > jokers or cards < fewest or cards > most:
            return row
    return len(hands)


def _what_is_wrong(counts: Sequence[int], rules: RuleSet, fewest: int, most: int) -> str:
    """The end of a sentence about a hand that may not be held."""
    for face, copies in enumerate(counts):
        if not 0 <= copies <= rules.copies(face):
            return (
                f"holds {copies} copies of {format_card(face)}: it must be 0 to {rules.copies(face)} with "
                f"{rules.num_decks} packs and {rules.num_jokers} printed jokers"
            )
    wanted = f"{fewest}" if fewest == most else f"{fewest} or {most}"
    return f"has {sum(counts)} cards, {wanted} are needed here"
