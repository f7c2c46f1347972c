"""The points that the best arrangement of a hand leaves over, exactly, in well under a microsecond.

The idea. Without a pure run every card counts. Otherwise each pure run of three to five cards is tried in
turn (six cards are two such runs), and what it leaves is natural cards and so many wild cards. These are
now all alike: outside a pure sequence a wild card in its own place is worth no more than a joker. The
tables of `runs` say what further runs can save in each suit with 0, 1, … wild cards, and `join` adds the
suits. Any saving at all means that there is a second sequence, so that everything counts as arranged.

Sets are the one thing that suits share. At most two fit beside the two sequences, and they are tried by
taking their cards away and looking the suits up again. A set uses all natural cards of its rank, since a
wild card in it could change places with one that lies elsewhere; only a rank held in four suits may give up
one of them to a run. So a rank in two suits is a set with one wild card, a rank in three or four needs none,
and a single card with two wild cards is a run anyway.

Nearly every candidate is refused by a bound: what a set saves, plus what runs could save if the set took
none of their cards.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import lowest_bit, njit
from paplu_env.cards import NUM_SUITS, RANK_POINTS, Counts
from paplu_env.melds.bits import (
    FIELD,
    card_count,
    closed,
    point_sum,
    run_starts,
    suit_of,
    words_of,
)
from paplu_env.melds.runs import BYTE, MOST_WILD, cover, join
from paplu_env.melds.sets import held_suits, set_cards, set_price, set_ranks

_POINTS: Final[npt.NDArray[np.int64]] = np.array(RANK_POINTS, dtype=np.int64)
_NO_CAP: Final = 1 << 20
Rules = np.void  # one row of a rule set's record


@njit
def deadwood_kernel(counts: Counts, wild: int, r: Rules) -> int:
    """Points that the best arrangement leaves over (RULES.md, rule 14), neither rounded nor capped.

    Args:
        counts: cards held, ``(53,)`` uint8, thirteen or fourteen in all; not checked.
        wild: bitmask of wild faces, any set of them.
        r: the rule set's record.
    """
    return least_left(counts, wild, _NO_CAP)


@njit
def points_kernel(counts: Counts, wild: int, r: Rules) -> int:
    """What a loser pays for a hand: deadwood, rounded to the nearest multiple if the rules round, then capped."""
    round_to = int(r["round_to"])
    most = int(r["max_points"])
    left = least_left(counts, wild, most + round_to)
    if round_to > 0:
        left = (2 * left + round_to) // (2 * round_to) * round_to
    return min(left, most)


@njit
def least_left(counts: Counts, wild: int, enough: int) -> int:
    """Deadwood, or any number from ``enough`` up if it is at least that."""
    ones, twos, wilds, num_wild = words_of(counts, wild)
    natural, doubled = ones & ~wilds, twos & ~wilds
    total = point_sum(natural) + point_sum(doubled)
    starts = run_starts(ones)
    if starts == 0:
        return total
    set_gains = _best_sets(natural, doubled, num_wild)
    saved = 0
    for suit in range(NUM_SUITS):
        left = suit_of(starts, suit)
        if left == 0:
            continue
        others = _other_suits(natural, doubled, suit, num_wild)
        while left:
            start = FIELD * suit + lowest_bit(left)
            left &= left - 1
            length = 3
            while length <= 5:
                run = closed(((1 << length) - 1) << start)
                gain = point_sum(run & ~wilds)
                ones_left = natural & ~run | doubled & run
                twos_left = doubled & ~run
                spare = min(num_wild - card_count(run & wilds), MOST_WILD)
                own = cover(suit_of(ones_left, suit), suit_of(twos_left, suit), spare)
                runs = join(own, others, spare)
                saved = max(saved, gain + (runs >> 8 * spare & BYTE))
                if gain + _bound(set_gains, runs, spare) > saved:
                    saved = gain + _with_sets(ones_left, twos_left, spare, runs, saved - gain)
                if saved == total:
                    return 0
                length += 1
                if ones >> start + length - 1 & 1 == 0:
                    break
    return total - saved


@njit
def _other_suits(ones: int, twos: int, suit: int, num_wild: int) -> int:
    """What runs save in the three other suits together, bytes as in `cover`."""
    spare = min(num_wild, MOST_WILD)
    others = 0
    for step in range(1, NUM_SUITS):
        other = (suit + step) % NUM_SUITS
        own = cover(suit_of(ones, other), suit_of(twos, other), spare)
        others = join(own, others, spare) if others else own
    return others


@njit
def _with_sets(ones: int, twos: int, spare: int, runs: int, floor: int) -> int:
    """Most points that one or two sets and the runs beside them save, or ``floor`` if that is no less.

    Args:
        ones, twos: natural cards to arrange.
        spare: wild cards.
        runs: what runs save without any set, the bound on what they save beside some.
        floor: saved already.
    """
    best = floor
    first = set_ranks(ones, spare)
    while first:
        rank = lowest_bit(first)
        first &= first - 1
        for choice in range(5 if held_suits(ones, rank) == 4 else 1):
            cards = set_cards(ones, rank, choice)
            gain, wild = _set_points(cards, rank), spare - set_price(cards)
            ones_left, twos_left = ones & ~cards | twos & cards, twos & ~cards
            if gain + (runs >> 8 * wild & BYTE) > best:
                best = max(best, gain + _runs_beside_sets(ones_left, twos_left, wild))
            second = set_ranks(ones_left, wild) >> rank << rank
            while second:
                rank_2 = lowest_bit(second)
                second &= second - 1
                for choice_2 in range(5 if held_suits(ones_left, rank_2) == 4 else 1):
                    cards_2 = set_cards(ones_left, rank_2, choice_2)
                    gain_2, wild_2 = gain + _set_points(cards_2, rank_2), wild - set_price(cards_2)
                    if gain_2 + (runs >> 8 * wild_2 & BYTE) > best:
                        beside = _runs_beside_sets(
                            ones_left & ~cards_2 | twos_left & cards_2, twos_left & ~cards_2, wild_2
                        )
                        best = max(best, gain_2 + beside)
    return best




@njit
def _set_points(cards: int, rank: int) -> int:
    """Points of a set's natural cards."""
    return card_count(cards) * int(_POINTS[rank])



@njit
def _runs_beside_sets(ones: int, twos: int, num_wild: int) -> int:
    """Points saved by runs, given sets; hopelessly few if there is no second sequence among them."""
    majors = join(
        cover(suit_of(ones, 0), suit_of(twos, 0), num_wild),
        cover(suit_of(ones, 1), suit_of(twos, 1), num_wild),
        num_wild,
    )
    minors = join(
        cover(suit_of(ones, 2), suit_of(twos, 2), num_wild),
        cover(suit_of(ones, 3), suit_of(twos, 3), num_wild),
        num_wild,
    )
    saved = join(majors, minors, num_wild) >> 8 * num_wild & BYTE
    if saved == 0 and num_wild < 3:  # three wild cards are a sequence by themselves
        return -_NO_CAP
    return saved


@njit
def _best_sets(ones: int, twos: int, num_wild: int) -> int:
    """Bound on what up to two sets save: a byte each with no, one and two wild cards.

    Sets are taken as if they had all cards of their rank. A rank held twice over may be two sets: the second
    has its doubled cards, free of wild cards if the two have six cards together.
    """
    free, next_free, paid, next_paid = 0, 0, 0, 0
    ranks = set_ranks(ones, num_wild)
    while ranks:
        rank = lowest_bit(ranks)
        ranks &= ranks - 1
        points = int(_POINTS[rank])
        held, more = held_suits(ones, rank), held_suits(twos, rank)
        for second in range(2 if held + more > 3 and more else 1):
            gain = points * (more if second else held)
            if held == 2 or (second and held + more < 6):
                if gain > paid:
                    paid, next_paid = gain, paid
                else:
                    next_paid = max(next_paid, gain)
            elif gain > free:
                free, next_free = gain, free
            else:
                next_free = max(next_free, gain)
    none = free + next_free
    one = max(none, free + paid)
    two = max(one, paid + next_paid)
    return none | one << 8 | two << 16


@njit
def _bound(set_gains: int, runs: int, spare: int) -> int:
    """Bound on what sets and runs save together with so many wild cards."""
    best = 0
    for price in range(min(spare, 2) + 1):
        best = max(best, (set_gains >> 8 * price & BYTE) + (runs >> 8 * (spare - price) & BYTE))
    return best
