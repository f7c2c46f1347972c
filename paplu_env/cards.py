"""Cards as the whole package writes and counts them: faces, points, wild masks, notation.

A *face* is a printed card, numbered ``13 * suit + rank``; the printed joker is face 52. A hand is its
*counts*: how many physical copies of each face it holds, ``(53,)`` uint8. Which faces are wild in a
deal is a bitmask with bit ``face`` set, an int below ``2**53``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from paplu_env.errors import InvalidHand, InvalidNotation

Counts = npt.NDArray[np.uint8]

NUM_SUITS: Final = 4
NUM_RANKS: Final = 13
NUM_FACES: Final = NUM_SUITS * NUM_RANKS + 1  # 52 printed cards and the printed joker
PRINTED_JOKER: Final = NUM_FACES - 1
MAX_COPIES: Final = 3  # copies of a printed card in the largest table, one per pack
MAX_JOKERS: Final = 9  # printed jokers in the largest table: three packs with up to three each
JOKER_BIT: Final = 1 << PRINTED_JOKER
SUITS: Final = "SHDC"
RANKS: Final = "A23456789TJQK"
SUIT_SYMBOLS: Final = "♠♥♦♣"
ACE: Final = 0
# Points of a card that is not wild, by rank: the ace and the court cards count ten (RULES.md 1.14).
RANK_POINTS: Final = (10, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10)
FACE_POINTS: Final[npt.NDArray[np.uint8]] = np.array(RANK_POINTS * NUM_SUITS + (0,), dtype=np.uint8)
FACE_POINTS.setflags(write=False)

_SUIT_OF: Final = {
    **{letter: suit for suit, letter in enumerate(SUITS)},
    **{symbol: suit for suit, symbol in enumerate(SUIT_SYMBOLS)},
}
_JOKER_NAMES: Final = ("PJ", "JK")
_SEPARATORS: Final = re.compile(r"[\s,;|]+")


def parse_card(text: str) -> int:
    """Face of one card: rank then suit, ``AS``, ``10h``, ``T♥``; ``PJ`` or ``JK`` is the printed joker.

    Raises:
        InvalidNotation: the text is not a card.

    >>> parse_card("AS"), parse_card("10h"), parse_card("K♣"), parse_card("jk")
    (0, 22, 51, 52)
    """
    upper = text.strip().upper()
    if upper in _JOKER_NAMES:
        return PRINTED_JOKER
    rank, suit = upper[:-1], upper[-1:]
    rank = "T" if rank == "10" else rank
    if suit not in _SUIT_OF or len(rank) != 1 or rank not in RANKS:
        raise InvalidNotation(
            f"cannot read {text!r} as a card: write a rank (A 2 … 9 T J Q K) and then a suit (S H D C), "
            "as in 7H, or PJ for a printed joker"
        )
    return NUM_RANKS * _SUIT_OF[suit] + RANKS.index(rank)


def format_card(face: int) -> str:
    """Notation of one face, the inverse of `parse_card`.

    Raises:
        InvalidNotation: the face is not one of 0..52.

    >>> format_card(22), format_card(52)
    ('TH', 'PJ')
    """
    if not 0 <= face < NUM_FACES:
        raise InvalidNotation(f"there is no face {face}: faces are 0..{PRINTED_JOKER}")
    if face == PRINTED_JOKER:
        return "PJ"
    return RANKS[face % NUM_RANKS] + SUITS[face // NUM_RANKS]


def parse_cards(text: str) -> list[int]:
    """Faces of a list of cards in the order written; spaces, commas, ``;`` and ``|`` separate them.

    Raises:
        InvalidNotation: one of the words is not a card.

    >>> parse_cards("5H 6H | PJ")
    [17, 18, 52]
    """
    return [parse_card(word) for word in _SEPARATORS.split(text.strip()) if word]


def format_cards(faces: Iterable[int]) -> str:
    """Notation of faces in the order given, separated by spaces."""
    return " ".join(format_card(int(face)) for face in faces)


def parse_hand(text: str) -> Counts:
    """Counts of the cards in a text, see `parse_cards` for how it is written.

    Returns:
        ``(53,)`` uint8, a new array.

    Raises:
        InvalidNotation: one of the words is not a card.
        InvalidHand: more copies of a face than three packs hold.

    >>> int(parse_hand("AS AS PJ")[0])
    2
    """
    return counts_of(parse_cards(text))


def format_hand(counts: Sequence[int] | npt.NDArray[np.integer]) -> str:
    """Notation of a hand, faces rising, a face as often as it is held; `parse_hand` reads it back.

    >>> format_hand(parse_hand("PJ 2S AS 2S"))
    'AS 2S 2S PJ'
    """
    return format_cards(faces_of(counts))


def counts_of(faces: Iterable[int]) -> Counts:
    """Counts of a list of faces.

    Raises:
        InvalidHand: a face that does not exist, or more copies of one than three packs hold.
    """
    counts = np.zeros(NUM_FACES, dtype=np.int64)
    for face in faces:
        if not 0 <= face < NUM_FACES:
            raise InvalidHand(f"there is no face {face}: faces are 0..{PRINTED_JOKER}")
        counts[face] += 1
    for face in np.flatnonzero(counts > MAX_COPIES).tolist():
        if face != PRINTED_JOKER or counts[face] > MAX_JOKERS:
            raise InvalidHand(f"{counts[face]} copies of {format_card(face)}: no table has that many")
    return counts.astype(np.uint8)


def faces_of(counts: Sequence[int] | npt.NDArray[np.integer]) -> list[int]:
    """Faces of a hand, rising, each as often as it is held."""
    return [face for face in range(NUM_FACES) for _ in range(int(counts[face]))]


def wild_of_rank(rank: int) -> int:
    """Bitmask of the wild faces when a rank is wild: its four faces and the printed joker.

    Args:
        rank: 0 = ace .. 12 = king; -1: only printed jokers are wild.

    Raises:
        InvalidNotation: another rank.

    >>> wild_of_rank(6) == sum(1 << face for face in (6, 19, 32, 45, 52))
    True
    """
    if not -1 <= rank < NUM_RANKS:
        raise InvalidNotation(f"there is no rank {rank}: ranks are 0 (ace) to 12 (king), -1 for none")
    if rank < 0:
        return JOKER_BIT
    return JOKER_BIT | sum(1 << (NUM_RANKS * suit + rank) for suit in range(NUM_SUITS))


def parse_rank(text: str) -> int:
    """Rank of a letter or number: ``A`` 0 … ``T`` or ``10`` 9 … ``K`` 12; ``PJ`` (jokers only) is -1.

    Raises:
        InvalidNotation: the text is not a rank.
    """
    upper = text.strip().upper()
    if upper in (*_JOKER_NAMES, "NONE", "-"):
        return -1
    upper = "T" if upper == "10" else upper
    if len(upper) != 1 or upper not in RANKS:
        raise InvalidNotation(f"cannot read {text!r} as a rank: write one of A 2 … 9 T J Q K, or none")
    return RANKS.index(upper)


def is_wild(face: int, wild: int) -> bool:
    """Whether a face is in a wild mask."""
    return bool(wild >> face & 1)
