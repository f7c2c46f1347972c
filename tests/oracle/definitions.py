"""What a group is, written from the rules and from nothing else: cards are faces 0..52, a hand is a list of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

SUITS = "SHDC"
RANKS = "A23456789TJQK"
JOKER = 52
POINTS_OF_RANK = [10, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10]


@dataclass(frozen=True)
class Options:
    """The options of a rule set that change groups, completeness or points; the defaults are `points`."""

    hand_size: int = 13
    min_sequences: int = 2
    min_pure_sequences: int = 1
    min_naturals: int = 1
    max_set_size: int | None = None
    tanala: bool = False
    special_hands: bool = False
    gate: str = "lives"
    max_points: int = 80
    round_to: int = 0

    def __str__(self) -> str:
        default = {name: field.default for name, field in self.__dataclass_fields__.items()}
        return " ".join(f"{name}={value}" for name, value in vars(self).items() if value != default[name])


POINTS = Options()


def read(text: str) -> list[int]:
    """Faces of cards such as ``AS TH PJ``, in the order written."""
    return [
        JOKER if card in ("PJ", "JK") else 13 * SUITS.index(card[1]) + RANKS.index(card[0])
        for card in text.replace("|", " ").replace("10", "T").upper().split()
    ]


def write(cards: Sequence[int]) -> str:
    """The text that `read` reads."""
    return " ".join("PJ" if card == JOKER else RANKS[card % 13] + SUITS[card // 13] for card in cards)


def wild_rank(rank: str) -> int:
    """Mask of wild faces when the rank with this letter is wild; ``-``: only printed jokers are."""
    mask = 1 << JOKER
    if rank != "-":
        for suit in range(4):
            mask |= 1 << 13 * suit + RANKS.index(rank)
    return mask


def is_wild(card: int, wild: int) -> bool:
    """Whether the card is wild."""
    return bool(wild >> card & 1)


def points_of(card: int, wild: int) -> int:
    """What one card costs when it is left over."""
    return 0 if is_wild(card, wild) else POINTS_OF_RANK[card % 13]


@cache
def runs_of_places(length: int) -> list[frozenset[int]]:
    """Every row of ``length`` consecutive faces of one suit, the ace below the two or above the king."""
    ranks = [*range(13), 0]
    rows = [
        frozenset(13 * suit + rank for rank in ranks[start : start + length])
        for suit in range(4)
        for start in range(len(ranks) - length + 1)
    ]
    return [row for row in rows if len(row) == length]  # the ace once only


@cache
def sets_of_places() -> list[frozenset[int]]:
    """The four faces of every rank."""
    return [frozenset(13 * suit + rank for suit in range(4)) for rank in range(13)]


def filled_by(cards: Sequence[int], places: frozenset[int], wild: int, options: Options) -> bool:
    """Whether the cards can stand in the places, each at its own or, wild cards, at any other.

    One copy of a card stands at its own place; any other card must be wild. The natural ones must be enough.
    """
    natural = set()
    for card in cards:
        if card in places and card not in natural:
            natural.add(card)
        elif not wild >> card & 1:
            return False
    return len(natural) >= options.min_naturals


def is_pure_sequence(cards: Sequence[int], wild: int, options: Options = POINTS) -> bool:
    """RULES.md 1.6: three or more consecutive cards of one suit, each at its own place."""
    return len(cards) >= 3 and len(set(cards)) == len(cards) and set(cards) in runs_of_places(len(cards))


def is_tanala(cards: Sequence[int], wild: int, options: Options = POINTS) -> bool:
    """Three natural copies of one face, which is not a printed joker; it counts as a pure sequence."""
    return options.tanala and len(cards) == 3 and len(set(cards)) == 1 and cards[0] != JOKER


def is_sequence(cards: Sequence[int], wild: int, options: Options = POINTS) -> bool:
    """RULES.md 1.6 and 1.7: a run of places, filled by their own cards and by wild cards."""
    if len(cards) < 3:
        return False
    return any(filled_by(cards, run, wild, options) for run in runs_of_places(len(cards)))


def is_set(cards: Sequence[int], wild: int, options: Options = POINTS) -> bool:
    """RULES.md 1.8: one rank in different natural suits; wild cards fill in and extend."""
    if len(cards) < 3 or (options.max_set_size is not None and len(cards) > options.max_set_size):
        return False
    return any(filled_by(cards, places, wild, options) for places in sets_of_places())


def missing_for_special(cards: Sequence[int], wild: int, options: Options = POINTS) -> int:
    """Cards that are missing for the nearest special hand: three tunnelas, eight dublees, or eight wild cards.

    The copies of a face make as many whole tunnelas (or dublees) as they can and a part of one more; the
    largest parts are completed, however many copies there are of the cards to come.
    """
    if not options.special_hands:
        return len(cards)
    missing = [max(0, 8 - sum(is_wild(card, wild) for card in cards))]
    for size, wanted in ((3, 3), (2, 8)):
        parts = [0] * wanted
        for face in set(cards) - {JOKER}:
            copies = cards.count(face)
            parts += [size] * (copies // size) + [copies % size]
        missing.append(size * wanted - sum(sorted(parts)[-wanted:]))
    return min(missing)


def group_kinds(cards: Sequence[int], wild: int, options: Options = POINTS) -> set[str]:
    """All that these cards, laid as one group, can be: ``pure``, ``sequence`` (pure ones too), ``set``, ``tanala``."""
    kinds = set()
    if is_pure_sequence(cards, wild, options):
        kinds.add("pure")
    if is_sequence(cards, wild, options):
        kinds.add("sequence")
    if is_set(cards, wild, options):
        kinds.add("set")
    if is_tanala(cards, wild, options):
        kinds.add("tanala")
    return kinds
