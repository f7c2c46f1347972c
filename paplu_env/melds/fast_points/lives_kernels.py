"""How many lives a hand has: a pure sequence, and a second sequence beside it."""

from __future__ import annotations

from typing import Final

from paplu_env._jit import lowest_bit, njit
from paplu_env.cards import Counts
from paplu_env.melds.bits import Rules, card_count, closed, run_starts, third_copies, words_of

_RUN: Final = 0b111  # three cards are enough, a longer run only takes more


@njit
def lives_kernel(counts: Counts, wild: int, r: Rules) -> int:
    """0: no pure sequence; 1: a pure sequence; 2: a pure sequence and another sequence disjoint from it.

    Args:
        counts: cards held, ``(53,)`` uint8, of any number; not checked.
        wild: bitmask of wild faces.
        r: the rule set's record.
    """
    ones, twos, wilds, num_wild = words_of(counts, wild)
    tanalas = third_copies(counts) if int(r["tanala"]) == 1 else 0
    starts = run_starts(ones)
    best = 1 if starts | tanalas else 0
    while starts:
        run = closed(_RUN << lowest_bit(starts))
        starts &= starts - 1
        left = ones & ~run | twos & run
        spare = num_wild - card_count(run & wilds)
        if tanalas & ~run or _has_sequence(left, wilds, spare, int(r["min_naturals"])):
            return 2
    while tanalas:
        face = closed(1 << lowest_bit(tanalas))
        tanalas &= ~face
        # The words don't count third copies, so a wild tanala takes the two that they know.
        spare = num_wild - (2 if face & wilds else 0)
        if tanalas or _has_sequence(ones & ~face, wilds, spare, int(r["min_naturals"])):
            return 2
    return best


@njit
def _has_sequence(ones: int, wilds: int, num_wild: int, min_naturals: int) -> bool:
    """Whether these cards, wild ones included in both words, hold a sequence, pure or not.

    A wild-rank card may stand in its own place and is natural there; it still is one of the ``num_wild``.
    """
    natural, wild_rank = ones & ~wilds, ones & wilds
    if run_starts(ones) or (num_wild >= 1 and _near(natural, natural)):
        return True
    if min_naturals == 1:
        return (num_wild >= 2 and natural != 0) or (num_wild >= 3 and wild_rank != 0)
    mixed = _near(natural, wild_rank) | _near(wild_rank, natural)
    return (num_wild >= 2 and mixed != 0) or (num_wild >= 3 and _near(wild_rank, wild_rank) != 0)


@njit
def _near(low: int, high: int) -> int:
    """Cards of the first word with one of the second a place or two above them in their suit."""
    return low & (high >> 1 | high >> 2)
