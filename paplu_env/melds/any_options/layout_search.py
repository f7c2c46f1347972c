"""Deadwood, completeness and finish cards under every option, exactly, by search.

The idea. First the pure sequences that the rules ask for are chosen, in rising order, tanalas among them:
until they are there, nothing else counts under the gate `lives`. Then the natural cards that they leave are
settled from the lowest face up: a card lies in a run or a set together with higher cards only, or its copies
are left over. Wild cards are a number, spent on gaps; where a group needs two natural cards they are
cards too, because one at its own place is natural. A branch ends when what it has left over, plus what can
lie in no group any more, is no less than the best so far.

Completeness is the same search with nothing left over; the wild cards that no gap needed must also find a
place: in a sequence beyond the required pure ones, in a set that may grow, or three or more by themselves.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from paplu_env._jit import as_int64, lowest_bit, never_inline, njit, popcount
from paplu_env.cards import FACE_POINTS, NUM_FACES, NUM_RANKS, NUM_SUITS, PRINTED_JOKER, Counts
from paplu_env.melds.bits import (
    COLUMN,
    FIELD,
    RANK_BITS,
    Rules,
    closed,
    point_sum,
    ranks_in_three_suits,
    ranks_in_two_suits,
    run_starts,
    third_copies,
    words_of,
)
from paplu_env.melds.groups import SPECIAL_DUBLEES, SPECIAL_TUNNELAS, SPECIAL_WILDS
from paplu_env.rules import choice_code

_LIVES: Final = choice_code("gate", "lives")
_PURE_OPENS_ALL: Final = choice_code("gate", "pure_opens_all")
_EVERY_MELD: Final = choice_code("gate", "every_meld")

_PURE_STEP: Final = FIELD * NUM_SUITS  # between the numbers of pure sequences of one kind and the next
_MOST_A_CARD: Final = 10  # points of the highest-value card
_PLENTY: Final = 1 << 10  # more wild cards than any table has


class Terms(NamedTuple):
    """What a search is told and never changes."""

    min_naturals: int  # natural cards that a group needs
    set_size: int  # largest set
    has_tanalas: int  # 1: three copies of a face are a pure sequence
    is_partial: int  # 1: sequences alone count before there are enough of them (gate lives)
    places_all: int  # 1: every wild card must find a place
    wilds: int  # bits of the wild faces


@njit
def deadwood_general(counts: Counts, wild: int, r: Rules, enough: int) -> int:
    """Points left over under any options, or any number from ``enough`` up if it is at least that."""
    if int(r["special_hands"]) and is_special(counts, wild):
        return 0
    total = 0
    for face in range(PRINTED_JOKER):
        if wild >> face & 1 == 0:
            total += int(counts[face]) * int(FACE_POINTS[face])
    pure, sequences = sequences_for_all(r)
    return _search(counts, wild, r, pure, sequences, int(int(r["gate"]) == _LIVES), as_int64(0), min(enough, total))


@njit
def sequences_for_all(r: Rules) -> tuple[int, int]:
    """Pure sequences, and sequences, that have to lie before every group is free under the gate."""
    gate = int(r["gate"])
    if gate == _PURE_OPENS_ALL:
        return as_int64(1), as_int64(1)
    if gate == _EVERY_MELD:
        return as_int64(0), as_int64(0)
    return int(r["min_pure_sequences"]), int(r["min_sequences"])


@njit
def can_be_laid(counts: Counts, wild: int, r: Rules, pure: int, sequences: int, place_all: int, most_left: int) -> bool:
    """Whether groups with ``pure`` pure sequences and ``sequences`` sequences leave at most ``most_left`` points.

    Args:
        place_all: 1 if every wild card has to lie in a group too.
    """
    return _search(counts, wild, r, pure, sequences, as_int64(0), place_all, most_left + 1) <= most_left


@njit
def is_complete_general(counts: Counts, wild: int, r: Rules) -> bool:
    """Whether all the cards fall into groups with the sequences asked for, whatever the gate."""
    if int(r["special_hands"]) and is_special(counts, wild):
        return True
    min_pure, min_sequences = int(r["min_pure_sequences"]), int(r["min_sequences"])
    return _search(counts, wild, r, min_pure, min_sequences, as_int64(0), as_int64(1), as_int64(1)) == 0


@njit
def declarable_general(counts: Counts, wild: int, r: Rules) -> int:
    """Bitmask of the faces of which one card, thrown, leaves a complete hand."""
    faces = 0
    rest = counts.copy()
    for face in range(NUM_FACES):
        if counts[face] > 0:
            rest[face] -= 1
            if is_complete_general(rest, wild, r):
                faces |= 1 << face
            rest[face] += 1
    return faces


@njit
def is_special(counts: Counts, wild: int) -> bool:
    """Three tunnelas, eight dublees or eight wild cards, whatever the rest."""
    tunnelas, dublees, wilds = 0, 0, int(counts[PRINTED_JOKER])
    for face in range(PRINTED_JOKER):
        copies = int(counts[face])
        tunnelas += copies // 3
        dublees += copies // 2
        wilds += copies * (wild >> face & 1)
    return tunnelas >= SPECIAL_TUNNELAS or dublees >= SPECIAL_DUBLEES or wilds >= SPECIAL_WILDS


@njit
def _search(
    counts: Counts,
    wild: int,
    r: Rules,
    min_pure: int,
    min_sequences: int,
    partial: int,
    place_all: int,
    best: int,
) -> int:
    """Least points left over by a layout with the sequences asked for, ``best`` if none leaves fewer."""
    ones, twos, wilds, num_wild = words_of(counts, wild)
    threes = third_copies(counts)
    num_wild += popcount(threes & wilds & RANK_BITS)
    terms = Terms(
        int(r["min_naturals"]),
        int(r["max_set_size"]) if int(r["max_set_size"]) else _PLENTY,
        int(r["tanala"]),
        partial,
        place_all,
        wilds,
    )
    return _choose_pure(ones, twos, threes, num_wild, min_pure, min_sequences, as_int64(0), best, terms)


@njit
def _choose_pure(
    ones: int,
    twos: int,
    threes: int,
    num_wild: int,
    pure: int,
    sequences: int,
    start: int,
    best: int,
    terms: Terms,
) -> int:
    """The best over all choices of ``pure`` pure sequences, none with a number below ``start``.

    Runs of three to five cards are enough: a longer one is two of them, or one and a sequence.
    """
    never_inline()
    wilds = terms.wilds
    if pure == 0:
        faces = popcount(ones & wilds & RANK_BITS) + popcount(twos & wilds & RANK_BITS)
        faces += popcount(threes & wilds & RANK_BITS)
        # With one natural card to a group a wild card at its own place is as good as any other.
        keep = -1 if terms.min_naturals > 1 else ~wilds
        need, none = max(sequences, 0), as_int64(0)
        return _settle(ones & keep, twos & keep, threes & keep, num_wild, faces, need, none, none, none, best, terms)
    if terms.is_partial:
        left = point_sum(ones & ~wilds) + point_sum(twos & ~wilds) + point_sum(threes & ~wilds)
        best = min(best, left)
    number = _next_pure(ones, threes, start, terms)
    while number >= 0:
        low, length = number % _PURE_STEP, 3 + number // _PURE_STEP
        tanala = length > 5
        cards = closed(1 << low if tanala else ((1 << length) - 1) << low)
        best = _choose_pure(
            ones & ~cards | (0 if tanala else twos & cards),
            twos & ~cards | (0 if tanala else threes & cards),
            threes & ~cards,
            num_wild - (3 if tanala else 1) * popcount(cards & wilds & RANK_BITS),
            pure - 1,
            sequences - 1,
            number,
            best,
            terms,
        )
        number = _next_pure(ones, threes, number + 1, terms)
    return best


@njit
def _next_pure(ones: int, threes: int, number: int, terms: Terms) -> int:
    """The first pure sequence from this number on that the cards can lay, -1 if there is none.

    Numbered are the runs of three by their lowest card, those of four, those of five, and tanalas.
    """
    starts = run_starts(ones)
    for kind in range(number // _PURE_STEP, 4):
        if kind == 1:
            starts &= ones >> 3
        elif kind == 2:
            starts &= ones >> 3 & ones >> 4
        elif kind == 3:
            starts = threes & RANK_BITS if terms.has_tanalas else 0
        later = starts
        if kind == number // _PURE_STEP:
            later = starts >> number % _PURE_STEP << number % _PURE_STEP
        if later:
            return kind * _PURE_STEP + lowest_bit(later)
    return -1


@njit
def _settle(
    ones: int,
    twos: int,
    threes: int,
    fill: int,
    faces: int,
    need: int,
    sets: int,
    room: int,
    lost: int,
    best: int,
    terms: Terms,
) -> int:
    """The best over all ways to settle the cards left, lowest face first.

    One function, for kernels that call each other in a circle can't be read back from numba's cache.

    Args:
        ones, twos, threes: cards to settle, held at least so often.
        fill: wild cards that no group has used yet, printed jokers and `faces` wild faces.
        faces: wild faces among them at the start: a group of wild cards alone needs one at its own place.
        need: sequences still asked for.
        sets: sets laid.
        room: wild cards for which the groups laid have a place.
        lost: points left over.
        best: the fewest points left over so far.
    """
    never_inline()
    if lost + _hopeless(ones, twos, threes, fill, terms) >= best:
        return best
    if ones == 0:
        return lost if _stands(fill, faces, need, sets, room, terms) else best
    low = lowest_bit(ones)
    rank = low % FIELD
    card = closed(1 << low)
    # Runs upwards, an ace as the low one; then an ace as the high one, downwards.
    for down in range(2 if rank == 0 else 1):
        at = low + NUM_RANKS if down else low
        taken, inner, gaps, length = card, 0, 0, 1
        while True:
            pad = max(0, 3 - length)
            # Which of the cards that the run passes are left to other groups, a wild card in their place.
            spared = inner
            while True:
                used = taken & ~spared
                price = gaps + pad + popcount(spared & RANK_BITS) + popcount(used & terms.wilds & RANK_BITS)
                if price <= fill and popcount(used & RANK_BITS) >= terms.min_naturals:
                    best = _settle(
                        ones & ~used | twos & used,
                        twos & ~used | threes & used,
                        threes & ~used,
                        fill - price,
                        faces,
                        max(0, need - 1),
                        sets,
                        room + _PLENTY,
                        lost,
                        best,
                        terms,
                    )
                if spared == 0:
                    break
                spared = (spared - 1) & inner
            # On to the next card that is held, the gaps before it paid.
            if terms.min_naturals > 1:
                inner = taken & ~card
            found = False
            while not found and gaps <= fill:
                length += 1
                at += -1 if down else 1
                place = at % FIELD
                if place == 0 or place > NUM_RANKS:
                    break
                found = ones >> at & 1 == 1
                gaps += 0 if found else 1
            if not found or gaps > fill:
                break
            taken |= 1 << at
    column = ones & COLUMN << rank & ~card
    others = column
    while others:
        used = closed(others | 1 << low)
        size = popcount(used & RANK_BITS)
        price = max(0, 3 - size) + popcount(used & terms.wilds & RANK_BITS)
        if price <= fill and size >= terms.min_naturals:
            best = _settle(
                ones & ~used | twos & used,
                twos & ~used | threes & used,
                threes & ~used,
                fill - price,
                faces,
                need,
                sets + 1,
                room + max(0, terms.set_size - max(3, size)),
                lost,
                best,
                terms,
            )
        others = (others - 1) & column
    if terms.has_tanalas and threes & card:
        price = 3 * popcount(card & terms.wilds & RANK_BITS)
        if price <= fill:
            best = _settle(
                ones & ~card,
                twos & ~card,
                threes & ~card,
                fill - price,
                faces,
                max(0, need - 1),
                sets,
                room,
                lost,
                best,
                terms,
            )
    if card & terms.wilds == 0:
        lost += point_sum(card) + point_sum(twos & card) + point_sum(threes & card)
    return _settle(ones & ~card, twos & ~card, threes & ~card, fill, faces, need, sets, room, lost, best, terms)


@njit
def _stands(fill: int, faces: int, need: int, sets: int, room: int, terms: Terms) -> bool:
    """Whether a layout counts as it lies: enough sequences, and a place for every wild card if that is asked.

    Short of sequences it counts under the gate `lives` if it is made of sequences alone. With one natural
    card to a group, three wild cards with a wild face among them are a sequence too.
    """
    alone = min(fill // 3, faces) if terms.min_naturals == 1 else 0
    if need > alone:
        return terms.is_partial == 1 and sets == 0
    return terms.places_all == 0 or need > 0 or alone > 0 or fill <= room


@njit
def _hopeless(ones: int, twos: int, threes: int, fill: int, terms: Terms) -> int:
    """Bound from below on the points of the cards left that no group will take.

    A card is lonely without a card of its suit within two places and without one of its rank in another
    suit; with no wild card, without a run and a set of natural cards. A lonely card needs a wild card of
    its own, and one alone in its group two.
    """
    if fill == 0:
        starts = run_starts(ones)
        near = closed(starts | starts << 1 | starts << 2)
    else:
        low = ones & RANK_BITS  # nothing lies above the high ace
        near = closed(low << 1 | low << 2 | ones >> 1 | ones >> 2)
    mates = ranks_in_three_suits(ones) if fill == 0 else ranks_in_two_suits(ones)
    lonely = RANK_BITS & ~near & ~(mates * COLUMN) & ~terms.wilds
    if terms.has_tanalas:
        lonely &= ~threes
    points = point_sum(ones & lonely) + point_sum(twos & lonely) + point_sum(threes & lonely)
    return points if fill < 2 else max(0, points - _MOST_A_CARD * fill)
