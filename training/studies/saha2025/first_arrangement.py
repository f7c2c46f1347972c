"""The one arrangement that the study's search meets first, for hands whose cards lie in an order.

The study (BASELINES.md 2.1, Saha et al. 2025) looks through subsets of a hand in the order of the binary number
whose bit k stands for the k-th card, and keeps the first group with which the best result can still be reached:
first a pure sequence, then any sequence, then two more groups, each of three to five cards. What lies outside
that arrangement it calls left over. So older cards are grouped before newer ones, and blanks last of all, which
keeps natural runs together. Here the same arrangement is found by a search that fails early.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import as_int64, never_inline, njit, popcount
from paplu_env.cards import ACE, FACE_POINTS, NUM_RANKS, PRINTED_JOKER

Cards = npt.NDArray[np.int64]  # faces in the order in which they are held

HAND_SIZE: Final = 13
GROUPS: Final = 4  # as many as thirteen cards in groups of three allow
_SMALLEST: Final = 3
_LARGEST: Final = 5  # of six cards and more two groups can be made
MAX_HELD: Final = 14
MAX_BLANKS: Final = 9
_MAX_SUBSETS: Final = 3473  # of none to five of fourteen cards
_MAX_MELDS: Final = 6 * _MAX_SUBSETS  # each with none to five blanks
_NEVER: Final = 99  # blanks that no hand has

# What a subset of cards with some blanks may be.
_PURE: Final = 1
_SEQUENCE: Final = 2  # pure ones too
_SET: Final = 4

SCRATCH_DTYPE: Final = np.dtype(
    [
        ("melds", np.int64, (_MAX_MELDS,)),  # blanks << 20 | bits of the cards << 4 | what it may be; rising
        ("num_melds", np.int64),
        ("subsets", np.int64, (_MAX_SUBSETS,)),  # of the cards, rising
        ("needs", np.int64, (_MAX_SUBSETS, 3)),  # blanks with which each is a pure sequence, a sequence, a set
        # Generation in which (cards left, blanks left, group) was found to lead nowhere.
        ("failed", np.int64, (1 << MAX_HELD, MAX_BLANKS + 1, GROUPS)),
        ("generation", np.int64),
    ]
)


@njit
def first_arrangement(
    cards: Cards, size: int, wild: int, blanks: int, by_points: int, target: int, scratch: Any
) -> int:
    """Bits of the cards outside the first arrangement that leaves no more than ``target``; -1 if none does.

    Args:
        cards: faces, the oldest first.
        size: how many of them, at most 14; thirteen are used at most, blanks included.
        blanks: universal cards beside them.
        by_points: 1 if a card outside costs its points, 0 if it costs 1 (a blank outside costs 1 too).
        target: the cost to reach exactly.
        scratch: a row of `SCRATCH_DTYPE` to work in.
    """
    _list_melds(cards, size, wild, blanks, by_points, scratch)
    scratch["generation"] = int(scratch["generation"]) + 1
    all_held = as_int64((1 << size) - 1)
    return _search(cards, size, wild, all_held, blanks, as_int64(0), as_int64(HAND_SIZE), by_points, target, scratch)


@njit
def _search(
    cards: Cards,
    size: int,
    wild: int,
    left: int,
    blanks: int,
    group: int,
    needed: int,
    by_points: int,
    target: int,
    scratch: Any,
) -> int:
    """Bits of the cards left over when the first fitting groups are laid from the ``group``-th on; -1: none fit."""
    never_inline()
    cost = _cost(cards, size, wild, left, by_points) + (0 if by_points else blanks)
    if cost <= target:
        return left
    if group == GROUPS or int(scratch["failed"][left, blanks, group]) == int(scratch["generation"]):
        return -1
    most = _LARGEST * (GROUPS - group) if _LARGEST * (GROUPS - group) < needed else needed
    if not by_points and cost - most > target:
        return -1
    kind = _PURE if group == 0 else _SEQUENCE if group == 1 else _PURE | _SEQUENCE | _SET
    melds = scratch["melds"]
    for k in range(int(scratch["num_melds"])):
        meld = int(melds[k])
        held, used = meld >> 4 & (1 << MAX_HELD) - 1, meld >> 20
        if held & ~left or used > blanks or not meld & kind or popcount(held) + used > needed:
            continue
        found = _search(
            cards,
            size,
            wild,
            left & ~held,
            blanks - used,
            group + 1,
            needed - popcount(held) - used,
            by_points,
            target,
            scratch,
        )
        if found >= 0:
            return int(found)
    scratch["failed"][left, blanks, group] = int(scratch["generation"])
    return -1


@njit
def _cost(cards: Cards, size: int, wild: int, left: int, by_points: int) -> int:
    if not by_points:
        return popcount(left)
    total = 0
    for k in range(size):
        if left >> k & 1 and not wild >> int(cards[k]) & 1:
            total += int(FACE_POINTS[int(cards[k])])
    return total


@njit
def _list_melds(cards: Cards, size: int, wild: int, blanks: int, by_points: int, scratch: Any) -> None:
    """All groups that the hand and its blanks allow, in the order in which the study meets them."""
    melds, subsets, needs = scratch["melds"], scratch["subsets"], scratch["needs"]
    num_subsets = 0
    for held in range(1 << size):
        if popcount(held) <= _LARGEST:
            subsets[num_subsets] = held
            _fill_needs(cards, size, held, wild, by_points, needs[num_subsets])
            num_subsets += 1
    count = 0
    for used in range(min(blanks, _LARGEST) + 1):
        for k in range(num_subsets):
            held = int(subsets[k])
            length = popcount(held) + used
            if length < _SMALLEST or length > _LARGEST:
                continue
            kinds = _PURE if int(needs[k, 0]) <= used else 0
            kinds |= _SEQUENCE if int(needs[k, 1]) <= used else 0
            kinds |= _SET if int(needs[k, 2]) <= used else 0
            if kinds:
                melds[count] = used << 20 | held << 4 | kinds
                count += 1
    scratch["num_melds"] = count


@njit
def _fill_needs(cards: Cards, size: int, held: int, wild: int, by_points: int, needs: npt.NDArray[np.int64]) -> None:
    """Blanks that some cards need to be a pure sequence, a sequence, a set, by the study's own tests of a group."""
    all_suit = suit = rank = -1
    all_ranks = ranks = suits = naturals = wilds = 0
    is_pure = is_run = is_set = True
    for k in range(size):
        if not held >> k & 1:
            continue
        face = int(cards[k])
        is_wild = bool(wild >> face & 1)
        wilds += 1 if is_wild else 0
        if face == PRINTED_JOKER:
            is_pure = False
            continue
        own_suit, own_rank = face // NUM_RANKS, face % NUM_RANKS
        is_pure = is_pure and all_suit in (-1, own_suit) and not all_ranks >> own_rank & 1
        all_suit = own_suit
        all_ranks |= 1 << own_rank
        if is_wild:
            continue
        naturals += 1
        is_run = is_run and suit in (-1, own_suit) and not ranks >> own_rank & 1
        is_set = is_set and rank in (-1, own_rank) and not suits >> own_suit & 1
        suit, rank = own_suit, own_rank
        ranks |= 1 << own_rank
        suits |= 1 << own_suit
    if by_points and naturals == 0:
        is_run = False  # wild cards alone are no sequence to the study when it counts points
    needs[0] = _gaps(all_ranks) if is_pure else _NEVER
    needs[1] = _gaps(ranks) - wilds if is_run else _NEVER
    needs[2] = 0 if is_set else _NEVER


@njit
def _gaps(ranks: int) -> int:
    """Ranks missing inside the shortest run over some ranks, the ace low or high."""
    if ranks == 0:
        return 0
    low = _span(ranks) - popcount(ranks)
    if not ranks >> ACE & 1:
        return low
    high = _span(ranks & ~1 | 1 << NUM_RANKS) - popcount(ranks)
    return low if low < high else high


@njit
def _span(bits: int) -> int:
    """Places from the lowest set bit to the highest."""
    first = last = -1
    for place in range(NUM_RANKS + 1):
        if bits >> place & 1:
            first = place if first < 0 else first
            last = place
    return last - first + 1
