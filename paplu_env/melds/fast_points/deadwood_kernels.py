"""The points that the best arrangement of a hand leaves over, exactly, in well under a microsecond.

The idea. Without a pure run every card counts. Otherwise each pure run of three to five cards is tried in
turn (six cards are two such runs), and what it leaves is natural cards and a number of wild cards. These are
now all alike: outside a pure sequence a wild card in its own place is worth no more than a joker. The
tables of `runs` say what further runs can save in each suit with 0, 1, … wild cards, and `add_savings` adds the
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

from paplu_env._jit import as_int64, lowest_bit, njit
from paplu_env.cards import NUM_SUITS, RANK_POINTS, Counts
from paplu_env.melds.any_options.layout_search import deadwood_general
from paplu_env.melds.bits import (
    FIELD,
    Rules,
    card_count,
    closed,
    point_sum,
    run_starts,
    suit_of,
    suits_of,
    words_of,
)
from paplu_env.melds.dispatch import has_fast_points
from paplu_env.melds.fast_points.runs import BYTE, MOST_WILD, add_savings, savings_of
from paplu_env.melds.fast_points.sets import held_suits, set_cards, set_choices, set_price, set_ranks
from paplu_env.rules import choice_code

_POINTS: Final[npt.NDArray[np.int64]] = np.array(RANK_POINTS, dtype=np.int64)
_NO_CAP: Final = 1 << 20
_LIVES: Final = choice_code("gate", "lives")


@njit
def deadwood_kernel(counts: Counts, wild: int, r: Rules) -> int:
    """Points that the best arrangement leaves over (RULES.md 1.14), neither rounded nor capped.

    Args:
        counts: cards held, ``(53,)`` uint8, a hand or one card more; not checked.
        wild: bitmask of wild faces, any set of them.
        r: the rule set's record.
    """
    return _left_over(counts, wild, r, as_int64(_NO_CAP))


@njit
def points_kernel(counts: Counts, wild: int, r: Rules) -> int:
    """What a loser pays for a hand: deadwood, rounded to the nearest multiple if the rules round, then capped."""
    round_to = int(r["round_to"])
    most = int(r["max_points"])
    left = _left_over(counts, wild, r, most + round_to)
    if round_to > 0:
        left = (2 * left + round_to) // (2 * round_to) * round_to
    return min(left, most)


@njit
def _left_over(counts: Counts, wild: int, r: Rules, enough: int) -> int:
    """Deadwood, or any number from ``enough`` up if it is at least that."""
    if has_fast_points(r):
        return least_left(counts, wild, int(r["gate"] == _LIVES), enough)
    return deadwood_general(counts, wild, r, enough)


@njit
def least_left(counts: Counts, wild: int, one_life: int, enough: int) -> int:
    """`_left_over` where the groups are standard.

    Args:
        counts, wild: as above.
        one_life: 1 if a pure sequence alone is free, 0 if it takes both lives.
        enough: the result may stop here.
    """
    ones, twos, wilds, num_wild = words_of(counts, wild)
    natural, doubled = ones & ~wilds, twos & ~wilds
    total = point_sum(natural) + point_sum(doubled)
    starts = run_starts(ones)
    if starts == 0:
        return total
    set_gains = _best_sets(natural, doubled, num_wild)
    saved = max(0, total - enough)
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
                own = savings_of(suit_of(ones_left, suit), suit_of(twos_left, suit), spare)
                runs = add_savings(own, others, spare)
                further = runs >> 8 * spare & BYTE
                if further or one_life or spare >= 3:
                    saved = max(saved, gain + further)
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
    """What runs save in the three other suits together, bytes as in `savings_of`."""
    spare = min(num_wild, MOST_WILD)
    others = 0
    for step in range(1, NUM_SUITS):
        other = (suit + step) % NUM_SUITS
        own = savings_of(suit_of(ones, other), suit_of(twos, other), spare)
        others = add_savings(own, others, spare) if others else own
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
        for choice in range(set_choices(ones, rank)):
            cards = set_cards(ones, rank, choice)
            gain, wild = _set_points(cards, rank), spare - set_price(cards)
            ones_left, twos_left = ones & ~cards | twos & cards, twos & ~cards
            if gain + (runs >> 8 * wild & BYTE) > best:
                best = max(best, gain + _runs_beside_sets(ones_left, twos_left, wild))
            second = set_ranks(ones_left, wild) >> rank << rank
            while second:
                rank_2 = lowest_bit(second)
                second &= second - 1
                for choice_2 in range(set_choices(ones_left, rank_2)):
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
    (spades, hearts, diamonds, clubs), (spades_2, hearts_2, diamonds_2, clubs_2) = suits_of(ones), suits_of(twos)
    majors = add_savings(savings_of(spades, spades_2, num_wild), savings_of(hearts, hearts_2, num_wild), num_wild)
    minors = add_savings(savings_of(diamonds, diamonds_2, num_wild), savings_of(clubs, clubs_2, num_wild), num_wild)
    saved = add_savings(majors, minors, num_wild) >> 8 * num_wild & BYTE
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
    """Bound on what sets and runs save together with ``spare`` wild cards."""
    best = 0
    for price in range(min(spare, 2) + 1):
        best = max(best, (set_gains >> 8 * price & BYTE) + (runs >> 8 * (spare - price) & BYTE))
    return best
