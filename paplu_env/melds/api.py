"""The solver for callers: one hand or a batch of them, checked, and answered by the kernels.

A *batch* is ``(B, 53)`` counts with ``(B,)`` wild masks, or one mask for all. Single hands go the same way
as batches of one, so that both give the same answers. The kernels themselves check nothing; code that holds
legal states calls them directly.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import njit
from paplu_env.cards import NUM_FACES, Counts
from paplu_env.melds.arguments import (
    AnyCounts,
    checked_hand,
    checked_hands,
    checked_unseen,
    checked_wild,
    checked_wilds,
)
from paplu_env.melds.fast_distance.distance_kernels import discard_distances_kernel, distance_kernel
from paplu_env.melds.fast_distance.distance_table import Table, distance_table
from paplu_env.melds.fast_distance.outs_kernels import outs_kernel
from paplu_env.melds.fast_points.deadwood_kernels import deadwood_kernel, points_kernel
from paplu_env.melds.fast_points.declarable_kernels import declarable_kernel
from paplu_env.melds.fast_points.lives_kernels import lives_kernel
from paplu_env.rules import RuleSet

Masks = npt.NDArray[np.int64]  # (B,) wild masks
Packed = npt.NDArray[np.void]  # (1,) the record of a rule set
Answers = npt.NDArray[np.int64]  # (B,)

_FACES: Final = np.arange(NUM_FACES, dtype=np.int64)


def deadwood(counts: AnyCounts, wild: int, rules: RuleSet) -> int:
    """Points that the best arrangement of a hand leaves over, neither rounded nor capped (RULES.md 1.14).

    Args:
        counts: cards held, ``(53,)``, ``rules.hand_size`` in all or one more (nothing thrown yet: all count).
            Any integer dtype or a list; not modified.
        wild: bitmask of wild faces, see ``cards.wild_of_rank``.

    Raises:
        InvalidHand: more copies of a face than the packs hold, a hand of another size, no counts at all, or
            a wild mask that is none.

    >>> from paplu_env.cards import parse_hand, wild_of_rank
    >>> deadwood(parse_hand("4H 5H 6H 9S JS PJ KS 7C 7D 7H QD 2C 8D"), wild_of_rank(-1), RuleSet())
    29
    """
    return int(_deadwoods(checked_hand(counts, rules, *_whole_or_more(rules)), checked_wild(wild), rules.packed)[0])


def points(counts: AnyCounts, wild: int, rules: RuleSet) -> int:
    """Points that a loser pays for this hand, under its best arrangement: 0..``rules.max_points``.

    Rounded before it is capped. The special rates of a table (``loser_complete`` and others) are the engine's.
    Arguments and errors as `deadwood`.

    >>> from paplu_env.cards import parse_hand, wild_of_rank
    >>> points(parse_hand("KS QS KH JH AD TD KC JC 9S 9H 8C 7D 6S"), wild_of_rank(-1), RuleSet())
    80
    """
    return int(_points(checked_hand(counts, rules, *_whole_or_more(rules)), checked_wild(wild), rules.packed)[0])


def distance(counts: AnyCounts, wild: int, rules: RuleSet) -> int:
    """Cards of a hand to replace before it is complete; 0 exactly when it is, whatever the gate.

    How many copies of the missing cards are left doesn't matter. Of one card more than ``rules.hand_size`` it
    is the lowest over the discard. Arguments and errors as `deadwood`.

    >>> from paplu_env.cards import parse_hand, wild_of_rank
    >>> distance(parse_hand("4S 5S 6S 8H 9H TH 7C 7D 7H KS KH 2D 3C"), wild_of_rank(-1), RuleSet())
    2
    """
    hand = checked_hand(counts, rules, *_whole_or_more(rules))
    return int(_distances(hand, checked_wild(wild), rules.packed, distance_table())[0])


def declarable(counts: AnyCounts, wild: int, rules: RuleSet) -> npt.NDArray[np.bool_]:
    """Faces that can be the finish card: one copy thrown, the rest is complete (RULES.md 1.11).

    It knows neither the card that was just taken from the open pile nor the option ``wrong_declare``.

    Args:
        counts: cards held, ``(53,)``, one more than ``rules.hand_size``; otherwise as `deadwood`.

    Returns:
        ``(53,)`` bool.

    Raises:
        InvalidHand: as `deadwood`.
    """
    hand = checked_hand(counts, rules, rules.hand_size + 1, rules.hand_size + 1)
    finish: npt.NDArray[np.bool_] = _as_bools(_declarables(hand, checked_wild(wild), rules.packed))[0]
    return finish


def lives(counts: AnyCounts, wild: int, rules: RuleSet) -> int:
    """0: no pure sequence; 1: a pure sequence; 2: a pure sequence and another sequence disjoint from it.

    A tanala counts as a pure sequence where the table plays it. How many lives a complete hand needs is
    another question, see ``min_sequences``.

    Args:
        counts: cards held, ``(53,)``, any number of them; otherwise as `deadwood`.

    Raises:
        InvalidHand: as `deadwood`, but for the size of the hand.

    >>> from paplu_env.cards import parse_hand, wild_of_rank
    >>> [lives(parse_hand(text), wild_of_rank(6), RuleSet()) for text in ("5H 6H PJ", "5H 6H 7H", "5H 6H 7H 2S 4S PJ")]
    [0, 1, 2]
    """
    return int(_lives(checked_hand(counts, rules, 0, rules.num_cards), checked_wild(wild), rules.packed)[0])


def outs(counts: AnyCounts, wild: int, unseen: AnyCounts, rules: RuleSet) -> Counts:
    """Unseen copies of every face that lowers the distance when it is drawn; zeros at distance 0.

    Args:
        counts: cards held, ``(53,)``, ``rules.hand_size`` in all; otherwise as `deadwood`.
        unseen: copies of each face that the player hasn't seen, ``(53,)``.

    Returns:
        ``(53,)`` uint8.

    Raises:
        InvalidHand: as `deadwood`, or more copies unseen than the packs and the hand leave.
    """
    hand = checked_hand(counts, rules, rules.hand_size, rules.hand_size)[0]
    found = np.zeros(NUM_FACES, dtype=np.uint8)
    _outs(hand, checked_wild(wild), checked_unseen(unseen, hand, rules), rules.packed, distance_table(), found)
    return found


def deadwoods(counts: npt.ArrayLike, wild: npt.ArrayLike, rules: RuleSet) -> Answers:
    """`deadwood` of a batch: ``(B,)`` int64. Errors name the first row that is wrong."""
    hands = checked_hands(counts, rules, *_whole_or_more(rules))
    return _deadwoods(hands, checked_wilds(wild, len(hands)), rules.packed)


def point_counts(counts: npt.ArrayLike, wild: npt.ArrayLike, rules: RuleSet) -> Answers:
    """`points` of a batch: ``(B,)`` int64."""
    hands = checked_hands(counts, rules, *_whole_or_more(rules))
    return _points(hands, checked_wilds(wild, len(hands)), rules.packed)


def distances(counts: npt.ArrayLike, wild: npt.ArrayLike, rules: RuleSet) -> Answers:
    """`distance` of a batch: ``(B,)`` int64."""
    hands = checked_hands(counts, rules, *_whole_or_more(rules))
    return _distances(hands, checked_wilds(wild, len(hands)), rules.packed, distance_table())


def declarables(counts: npt.ArrayLike, wild: npt.ArrayLike, rules: RuleSet) -> npt.NDArray[np.bool_]:
    """`declarable` of a batch: ``(B, 53)`` bool."""
    hands = checked_hands(counts, rules, rules.hand_size + 1, rules.hand_size + 1)
    return _as_bools(_declarables(hands, checked_wilds(wild, len(hands)), rules.packed))


def discard_distances(counts: npt.ArrayLike, wild: npt.ArrayLike, rules: RuleSet) -> npt.NDArray[np.uint8]:
    """Distance of a batch of hands after each of their discards.

    Args:
        counts: ``(B, 53)``, one card more than ``rules.hand_size`` in each row; otherwise as `deadwoods`.

    Returns:
        ``(B, 53)`` uint8: by the face thrown, 255 where it isn't held.
    """
    hands = checked_hands(counts, rules, rules.hand_size + 1, rules.hand_size + 1)
    found = np.empty(hands.shape, dtype=np.uint8)
    _discard_distances(hands, checked_wilds(wild, len(hands)), rules.packed, distance_table(), found)
    return found


def _whole_or_more(rules: RuleSet) -> tuple[int, int]:
    """Sizes of a hand before and after a draw."""
    return rules.hand_size, rules.hand_size + 1


def _as_bools(masks: Answers) -> npt.NDArray[np.bool_]:
    """Masks of faces, ``(B,)``, as ``(B, 53)`` bool."""
    return (masks[:, np.newaxis] >> _FACES & 1).astype(np.bool_)


@njit
def _deadwoods(hands: Counts, wilds: Masks, rules: Packed) -> Answers:
    found = np.zeros(len(hands), dtype=np.int64)
    for row in range(len(hands)):
        found[row] = deadwood_kernel(hands[row], int(wilds[row]), rules[0])
    return found


@njit
def _points(hands: Counts, wilds: Masks, rules: Packed) -> Answers:
    found = np.zeros(len(hands), dtype=np.int64)
    for row in range(len(hands)):
        found[row] = points_kernel(hands[row], int(wilds[row]), rules[0])
    return found


@njit
def _distances(hands: Counts, wilds: Masks, rules: Packed, table: Table) -> Answers:
    found = np.zeros(len(hands), dtype=np.int64)
    for row in range(len(hands)):
        found[row] = distance_kernel(hands[row], int(wilds[row]), rules[0], table)
    return found


@njit
def _discard_distances(hands: Counts, wilds: Masks, rules: Packed, table: Table, found: Counts) -> None:
    for row in range(len(hands)):
        discard_distances_kernel(hands[row], int(wilds[row]), rules[0], table, found[row])


@njit
def _declarables(hands: Counts, wilds: Masks, rules: Packed) -> Answers:
    found = np.zeros(len(hands), dtype=np.int64)
    for row in range(len(hands)):
        found[row] = declarable_kernel(hands[row], int(wilds[row]), rules[0])
    return found


@njit
def _lives(hands: Counts, wilds: Masks, rules: Packed) -> Answers:
    found = np.zeros(len(hands), dtype=np.int64)
    for row in range(len(hands)):
        found[row] = lives_kernel(hands[row], int(wilds[row]), rules[0])
    return found


@njit
def _outs(hand: Counts, wilds: Masks, unseen: Counts, rules: Packed, table: Table, found: Counts) -> None:
    outs_kernel(hand, int(wilds[0]), unseen, rules[0], table, found)
