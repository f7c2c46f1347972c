"""Which cards of fourteen can be the finish card, exactly, for all of them at once.

The idea. As in `deadwood`, each pure run of three to five cards is tried, then up to two sets; what is left
must go into runs entirely, and `COST` knows how many wild cards each suit needs for that. The suits' costs
add up. To throw a card changes the cost of its own suit alone: a natural card can be thrown if its suit
without it costs no more than the wild cards that the other suits leave; a wild card can be thrown, and then
any card outside the pure run, if a wild card is to spare with everything covered.

A set that a wild card completes, although a third card of its rank is held and is the one to be thrown, is
not tried: with that card in its place the wild card would be to spare. The same holds for a run with a wild
card where the thrown card belongs.

Most hands from play are far from complete. A card without a neighbour within two places and without a mate
of its rank costs a wild card at least; more of them than wild cards, beyond the one to be thrown, end the
matter after a few instructions.
"""

from __future__ import annotations

from typing import Final

from paplu_env._jit import as_int64, lowest_bit, njit, popcount
from paplu_env.cards import JOKER_BIT, NUM_RANKS, NUM_SUITS, PRINTED_JOKER, Counts
from paplu_env.melds.any_options.layout_search import declarable_general, is_complete_general
from paplu_env.melds.bits import (
    COLUMN,
    FIELD,
    RANK_BITS,
    SUIT_RANKS,
    Rules,
    card_count,
    closed,
    ranks_in_two_suits,
    run_starts,
    suit_of,
    suits_of,
    words_of,
)
from paplu_env.melds.dispatch import has_fast_points
from paplu_env.melds.fast_points.deadwood_kernels import least_left
from paplu_env.melds.fast_points.runs import AFTER_THROW, COST, NO_COST, WITHOUT_ONE, WITHOUT_TWO, cost
from paplu_env.melds.fast_points.sets import set_cards, set_choices, set_price, set_ranks

_ANY: Final = 1 << 62  # beside the bits of cards: a wild card can be thrown, hence any card


@njit
def declarable_kernel(counts: Counts, wild: int, r: Rules) -> int:
    """Bitmask of the faces of which one card, thrown as finish card, leaves a complete hand (RULES.md 1.11).

    Args:
        counts: cards held, ``(53,)`` uint8, one more than a hand; not checked.
        wild: bitmask of wild faces, any set of them.
        r: the rule set's record.
    """
    if not has_fast_points(r):
        return declarable_general(counts, wild, r)
    ones, twos, wilds, num_wild = words_of(counts, wild)
    natural, doubled = ones & ~wilds, twos & ~wilds
    starts = run_starts(ones)
    jokers, found, any_wild = int(counts[PRINTED_JOKER]), 0, False
    while starts:
        start = lowest_bit(starts)
        starts &= starts - 1
        length = 3
        while length <= 5:
            run = closed(((1 << length) - 1) << start)
            spare = num_wild - card_count(run & wilds)
            ones_left, twos_left = natural & ~run | doubled & run, doubled & ~run
            outside = ones & ~run | twos
            news = outside & ~found != 0 or (jokers > 0 and not any_wild)
            if news and _lonely(ones_left, twos_left) <= spare + 1:
                thrown = _finish_cards(ones_left, twos_left, spare)
                if thrown & _ANY:
                    found |= outside
                    any_wild = True
                found |= thrown & ones
            length += 1
            if ones >> start + length - 1 & 1 == 0:
                break
    faces = JOKER_BIT if any_wild and jokers > 0 else 0
    for suit in range(NUM_SUITS):
        faces |= (suit_of(found, suit) & SUIT_RANKS) << NUM_RANKS * suit
    return faces


@njit
def is_complete_kernel(counts: Counts, wild: int, r: Rules) -> bool:
    """Whether a hand falls into groups with the sequences asked for, whatever the gate.

    Of thirteen cards that is so when there is a pure run and nothing counts: wild cards to spare lengthen the
    second sequence, and where only wild cards lie beside the run they are one.
    """
    if not has_fast_points(r):
        return is_complete_general(counts, wild, r)
    ones, _, _, _ = words_of(counts, wild)
    return run_starts(ones) != 0 and least_left(counts, wild, as_int64(1), as_int64(1)) == 0


@njit
def _lonely(ones: int, twos: int) -> int:
    """Cards without a card of their suit within two places and without one of their rank in another suit.

    A run has at least two places within two of any of its cards, so that no two such cards have a group
    for one wild card: they cost one each at least.
    """
    below = ones & RANK_BITS  # nothing lies above the high ace
    near = below << 1 | below << 2 | ones >> 1 | ones >> 2
    near |= (near & COLUMN) << NUM_RANKS | near >> NUM_RANKS & COLUMN
    lonely = RANK_BITS & ~near & ~(ranks_in_two_suits(ones) * COLUMN)
    return popcount(ones & lonely) + popcount(twos & lonely)


@njit
def _finish_cards(ones: int, twos: int, spare: int) -> int:
    """Natural cards that can be thrown beside a pure run, over no, one and two sets; or `_ANY`."""
    if _bound(ones, twos, WITHOUT_TWO) > spare + 2:
        return 0
    found = _thrown_beside_sets(ones, twos, spare)
    first = set_ranks(ones, spare)
    while first and not found & _ANY:
        rank = lowest_bit(first)
        first &= first - 1
        for choice in range(set_choices(ones, rank)):
            cards = set_cards(ones, rank, choice)
            wild = spare - set_price(cards)
            ones_left, twos_left = ones & ~cards | twos & cards, twos & ~cards
            if wild < 0 or _bound(ones_left, twos_left, WITHOUT_ONE) > wild + 2:
                continue
            found |= _thrown_beside_sets(ones_left, twos_left, wild)
            second = set_ranks(ones_left, wild) >> rank << rank
            while second:
                rank_2 = lowest_bit(second)
                second &= second - 1
                for choice_2 in range(set_choices(ones_left, rank_2)):
                    cards_2 = set_cards(ones_left, rank_2, choice_2)
                    wild_2 = wild - set_price(cards_2)
                    if wild_2 >= 0:
                        found |= _thrown_beside_sets(
                            ones_left & ~cards_2 | twos_left & cards_2, twos_left & ~cards_2, wild_2
                        )
    return found


@njit
def _bound(ones: int, twos: int, without: int) -> int:
    """Least cost of the suits when one or two sets, as `COST` is told, take at most a card of each suit.

    A thrown card lowers it by two at most, what a run of its own would cost.
    """
    least = 0
    for suit in range(NUM_SUITS):
        if suit_of(twos, suit) == 0:
            least += int(COST[suit_of(ones, suit) & SUIT_RANKS]) >> without & NO_COST
    return least


@njit
def _thrown_beside_sets(ones: int, twos: int, spare: int) -> int:
    """Natural cards without which runs cover the rest; `_ANY` if they cover all and leave a wild card.

    There must be a second sequence: something is left for the runs, or three wild cards are one.
    """
    (spades, hearts, diamonds, clubs), (spades_2, hearts_2, diamonds_2, clubs_2) = suits_of(ones), suits_of(twos)
    majors = cost(spades, spades_2), cost(hearts, hearts_2)
    minors = cost(diamonds, diamonds_2), cost(clubs, clubs_2)
    total = majors[0] + majors[1] + minors[0] + minors[1]
    if total > spare + 2 and twos == 0:
        return 0
    if total < spare and (ones or spare > 3):
        return _ANY
    found = 0
    for suit in range(NUM_SUITS):
        own = majors[suit] if suit < 2 else minors[suit - 2]
        room = spare - (total - own)
        held, more = suit_of(ones, suit), suit_of(twos, suit)
        if room < 0 or (more == 0 and int(COST[held & SUIT_RANKS]) >> AFTER_THROW & NO_COST > room):
            continue
        cards = held & SUIT_RANKS
        while cards:
            card = cards & -cards
            cards &= cards - 1
            card = closed(card)
            if more == 0:
                least = int(COST[held & ~card & SUIT_RANKS]) & NO_COST
            else:
                least = cost(held & ~card | more & card, more & ~card)
            if least <= room and (spare >= 3 or twos or ones != card << FIELD * suit):
                found |= card << FIELD * suit
    return found
