"""A hand as the kernels of distance and outs work on it, and runs that stand on some of its cards."""

from __future__ import annotations

from typing import NamedTuple

from paplu_env._jit import as_int64, njit
from paplu_env.cards import NUM_FACES, NUM_RANKS, NUM_SUITS, PRINTED_JOKER, Counts
from paplu_env.melds.bits import COLUMN, FIELD, SUIT_RANKS, Rules, card_count, closed, suit_of, third_copies, words_of
from paplu_env.melds.fast_distance.distance_table import MAX_RUN, MIN_RUN, WEIGHTS, holding

# The natural cards of a hand: held at least once, twice, three times (words of `bits`, both bits of an ace),
# and the places of the four suits in the table.
Naturals = tuple[int, int, int, int, int, int, int]

# Runs: three words of `bits` with a bit where one begins, at its lowest place, of three, four and five places.
Runs = tuple[int, int, int]


class Hand(NamedTuple):
    """A hand read once, for all that is asked about it."""

    ones: int  # word of the faces held, wild ones at their own places too
    twos: int  # of those held twice
    faces: int  # mask of the faces held, printed jokers too
    naturals: Naturals
    needed: int  # natural cards that have to be covered for distance 0: all, but for those that are thrown


@njit
def read_hand(counts: Counts, wild: int, r: Rules) -> Hand:
    """A hand as the kernels work on it."""
    ones, twos, wilds, _num_wild = words_of(counts, wild)
    threes = third_copies(counts) if int(r["num_decks"]) > 2 else 0
    hand = naturals_of(ones, twos, threes, wilds)
    naturals = card_count(hand[0]) + card_count(hand[1]) + card_count(hand[2])
    cards = 0
    for face in range(NUM_FACES):
        cards += int(counts[face])
    faces = held_faces(ones, int(counts[PRINTED_JOKER]))
    return Hand(ones, twos, faces, hand, naturals - (cards - int(r["hand_size"])))


@njit
def naturals_of(ones: int, twos: int, threes: int, wilds: int) -> Naturals:
    """The natural cards of a hand in the words of `bits`."""
    ones &= ~wilds
    twos &= ~wilds
    threes &= ~wilds
    spades = holding(suit_of(ones, 0)) + holding(suit_of(twos, 0))
    hearts = holding(suit_of(ones, 1)) + holding(suit_of(twos, 1))
    diamonds = holding(suit_of(ones, 2)) + holding(suit_of(twos, 2))
    clubs = holding(suit_of(ones, 3)) + holding(suit_of(twos, 3))
    if threes:
        spades += holding(suit_of(threes, 0))
        hearts += holding(suit_of(threes, 1))
        diamonds += holding(suit_of(threes, 2))
        clubs += holding(suit_of(threes, 3))
    return ones, twos, threes, spades, hearts, diamonds, clubs


@njit
def without_run(hand: Naturals, suit: int, places: int) -> Naturals:
    """The hand without one copy of each card that it holds at these places (14 bits) of a suit."""
    ones, twos, threes, spades, hearts, diamonds, clubs = hand
    taken = closed(ones & places << FIELD * suit)
    weight = holding(suit_of(taken, suit))
    return (
        ones & ~(taken & ~twos),
        twos & ~(taken & ~threes),
        threes & ~taken,
        spades - (weight if suit == 0 else 0),
        hearts - (weight if suit == 1 else 0),
        diamonds - (weight if suit == 2 else 0),
        clubs - (weight if suit == 3 else 0),
    )


@njit
def without_set(hand: Naturals, used: int, rank: int) -> Naturals:
    """The hand without one copy of the cards in a column."""
    ones, twos, threes, spades, hearts, diamonds, clubs = hand
    taken = closed(used << rank)
    weight = WEIGHTS[rank]
    return (
        ones & ~(taken & ~twos),
        twos & ~(taken & ~threes),
        threes & ~taken,
        spades - weight * (used & 1),
        hearts - weight * (used >> FIELD & 1),
        diamonds - weight * (used >> 2 * FIELD & 1),
        clubs - weight * (used >> 3 * FIELD & 1),
    )


@njit
def held_faces(ones: int, jokers: int) -> int:
    """Mask of the faces in a word of `bits`, and of the printed joker if there is one."""
    faces = 1 << PRINTED_JOKER if jokers else 0
    for suit in range(NUM_SUITS):
        faces |= (ones >> FIELD * suit & SUIT_RANKS) << NUM_RANKS * suit
    return faces


@njit
def run_faces(places: int, suit: int) -> int:
    """Mask of the faces at places (14 bits) of a suit."""
    return (places & SUIT_RANKS | places >> NUM_RANKS) << NUM_RANKS * suit


@njit
def run_at(start: int, length: int) -> int:
    """The places of a run of a suit, 14 bits."""
    return ((1 << length) - 1) << start


@njit
def open_runs(cards: int, gaps: int) -> Runs:
    """The runs that pass at most ``gaps`` places without one of these cards (a word of `bits`), ends as they come."""
    return (
        _open_starts(cards, as_int64(MIN_RUN), gaps),
        _open_starts(cards, as_int64(MIN_RUN + 1), gaps),
        _open_starts(cards, as_int64(MAX_RUN), gaps),
    )


@njit
def with_solid_ends(runs: Runs, cards: int) -> Runs:
    """The runs but for those that a shorter one serves as well: longer than three, with an end that holds no card."""
    three, four, five = runs
    return three, four & cards & cards >> MIN_RUN, five & cards & cards >> MAX_RUN - 1


@njit
def with_solid_end(runs: Runs, cards: int) -> Runs:
    """The runs but for those longer than three that hold no card at either end."""
    three, four, five = runs
    return three, four & (cards | cards >> MIN_RUN), five & (cards | cards >> MAX_RUN - 1)


@njit
def open_run_starts(field: int, length: int, gaps: int) -> int:
    """Where in a suit's field a run of ``length`` places begins that has at most ``gaps`` gaps (0..3)."""
    return suit_of(_open_starts(field, length, gaps), 0)


@njit
def _open_starts(cards: int, length: int, gaps: int) -> int:
    """Where runs of ``length`` places with at most ``gaps`` gaps (0..3) begin, in all suits."""
    one = two = three = four = 0  # where at least that many gaps are met
    for place in range(length):
        gap = ~cards >> place
        four |= three & gap
        three |= two & gap
        two |= one & gap
        one |= gap
    too_many = one if gaps == 0 else two if gaps == 1 else three if gaps == 2 else four
    return ~too_many & COLUMN * ((1 << NUM_RANKS + 2 - length) - 1)


@njit
def solid_ends(field: int, length: int) -> int:
    """Where a run of four or five stands on a card at either end: without one it is no better than a shorter one."""
    return field & field >> length - 1 if length > MIN_RUN else SUIT_RANKS
