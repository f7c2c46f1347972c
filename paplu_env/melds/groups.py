"""What a group is, in words that can be run: the definition for cards laid on the table, one group at a time.

The kernels never ask here; they know the same rules as bits. This is what a declaration is checked by and
what an arrangement calls its melds.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from typing import Final, Literal

from paplu_env.cards import ACE, NUM_RANKS, NUM_SUITS, PRINTED_JOKER, format_cards, is_wild
from paplu_env.rules import RuleSet

Kind = Literal["pure sequence", "impure sequence", "set", "tanala", "dublee", "wild cards"]

SMALLEST_GROUP: Final = 3  # cards
PURE_KINDS: Final[tuple[Kind, ...]] = ("pure sequence", "tanala")
SEQUENCE_KINDS: Final[tuple[Kind, ...]] = PURE_KINDS + ("impure sequence",)
SPECIAL_KINDS: Final[tuple[Kind, ...]] = ("dublee", "wild cards")  # what only special hands are made of
KINDS: Final[tuple[Kind, ...]] = SEQUENCE_KINDS + ("set",) + SPECIAL_KINDS  # as melds are listed
SPECIAL_TUNNELAS: Final = 3  # the special hands of the 21-card game, complete whatever the rest
SPECIAL_DUBLEES: Final = 8
SPECIAL_WILDS: Final = 8
RUN_RANKS: Final = (*range(NUM_RANKS), ACE)  # the places of a run: the ace is below the two and above the king


def kind_of_group(faces: Sequence[int], wild: int, rules: RuleSet) -> Kind | None:
    """The best that cards laid as one group are, or None if they are no group (RULES.md 1.6–1.10).

    A pure sequence is better than an impure one, and that is better than a set, since more can be done with it.

    Args:
        faces: the cards in any order.
        wild: bitmask of wild faces.

    >>> from paplu_env.cards import parse_cards, wild_of_rank
    >>> kind_of_group(parse_cards("5H 6H 7S 8H"), wild_of_rank(6), RuleSet())
    'impure sequence'
    """
    size = len(faces)
    if size < SMALLEST_GROUP:
        return None
    if rules.tanala and size == 3 and len(set(faces)) == 1 and faces[0] != PRINTED_JOKER:
        return "tanala"
    runs = [run for run in runs_of(size) if _fill(faces, run, wild, rules.min_naturals)]
    if any(sorted(run) == sorted(faces) for run in runs):
        return "pure sequence"
    if runs:
        return "impure sequence"
    if rules.max_set_size is not None and size > rules.max_set_size:
        return None
    ranks = [[rank + NUM_RANKS * suit for suit in range(NUM_SUITS)] for rank in range(NUM_RANKS)]
    return "set" if any(_fill(faces, rank, wild, rules.min_naturals) for rank in ranks) else None


def why_no_group(faces: Sequence[int], wild: int, rules: RuleSet) -> str:
    """The rule that cards which are no group break, as the end of a sentence: ``… has fewer than three cards``."""
    if len(faces) < SMALLEST_GROUP:
        return "has fewer than three cards"
    naturals = Counter(face for face in faces if not is_wild(face, wild))
    twice = [face for face, copies in naturals.items() if copies > 1]
    if twice:
        return f"holds {format_cards(twice[:1])} twice: two copies of a card never share a group"
    ranks, suits = {face % NUM_RANKS for face in naturals}, {face // NUM_RANKS for face in naturals}
    if len(ranks) > 1 and len(suits) > 1:
        return f"is of more than one suit and of more than one rank ({format_cards(sorted(naturals))})"
    if len(suits) == 1 and len(ranks) > 1:
        return "is no run: consecutive ranks, the ace below 2 or above K, gaps filled by wild cards of the group"
    if len(naturals) < rules.min_naturals and not _has_own_place(faces, rules.min_naturals):
        return f"has fewer than {rules.min_naturals} natural cards"
    return f"is a set of more than {rules.max_set_size} cards"


@functools.cache
def runs_of(size: int) -> tuple[tuple[int, ...], ...]:
    """Every run of ``size`` places, as the faces that stand there naturally, the lowest place first."""
    runs = []
    for suit in range(NUM_SUITS):
        for start in range(len(RUN_RANKS) - size + 1):
            ranks = RUN_RANKS[start : start + size]
            if len(set(ranks)) == size:  # low ace and high ace are one card
                runs.append(tuple(NUM_RANKS * suit + rank for rank in ranks))
    return tuple(runs)


def _fill(faces: Sequence[int], places: Sequence[int], wild: int, min_naturals: int) -> bool:
    """Whether every card stands at its own place, once, or is wild; and enough of them stand at their own."""
    natural = set(faces) & set(places)
    others = Counter(faces) - Counter(natural)
    return len(natural) >= min_naturals and all(is_wild(face, wild) for face in others)


def _has_own_place(faces: Sequence[int], number: int) -> bool:
    """Whether at least ``number`` different cards other than printed jokers can stand naturally."""
    return len(set(faces) - {PRINTED_JOKER}) >= number
