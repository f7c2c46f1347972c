"""Hands that find faults, drawn from a seeded generator, never with more copies than the packs hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from tests.oracle.definitions import JOKER, RANKS, is_wild, runs_of_places, sets_of_places, wild_rank

Hand = tuple[list[int], int]  # the cards, shuffled, and the mask of wild faces


def random_hand(rng: Random, size: int = 13, decks: int = 2, jokers: int = 2) -> Hand:
    """A hand as it is dealt, from all the packs; the wild rank is drawn too."""
    return rng.sample(pack(decks, jokers), size), random_wild(rng)


def dense_hand(rng: Random, size: int = 13, decks: int = 2, jokers: int = 2, ranks: int = 5) -> Hand:
    """A hand of few neighbouring ranks, so that runs and sets compete for every card; a joker now and then."""
    first = rng.randrange(13)
    near = {(first + step) % 13 for step in range(ranks)}
    cards = [card for card in pack(decks, 0) if card % 13 in near]
    cards += [JOKER] * min(jokers, rng.choice((0, 0, 1, 2)))
    wild = random_wild(rng) if rng.random() < 0.5 else wild_rank(RANKS[rng.choice(sorted(near))])
    return rng.sample(cards, size), wild


def wild_heavy_hand(rng: Random, size: int = 13, decks: int = 2, jokers: int = 2, most: int = 8) -> Hand:
    """A hand with three to eight wild cards, the others from few ranks as often as from all."""
    wild = wild_rank(rng.choice(RANKS))
    cards = pack(decks, jokers)
    held = rng.sample([card for card in cards if is_wild(card, wild)], rng.randint(3, most))
    others = [card for card in cards if not is_wild(card, wild)]
    if rng.random() < 0.5:
        first = rng.randrange(13)
        near = {(first + step) % 13 for step in range(6)}
        others = [card for card in others if card % 13 in near]
    hand = held + rng.sample(others, size - len(held))
    rng.shuffle(hand)
    return hand, wild


def near_complete_hand(
    rng: Random, size: int = 13, decks: int = 2, jokers: int = 2, replaced: int | None = None
) -> Hand:
    """A complete hand with none to two of its cards replaced by others, and cards added beyond thirteen."""
    wild = random_wild(rng)
    lengths = rng.choice(
        ([3, 3, 3, 4], [3, 3, 4, 3], [4, 3, 3, 3], [5, 4, 4], [4, 5, 4], [3, 5, 5], [6, 3, 4], [3, 4, 6])
    )
    while True:
        stock = pack(decks, jokers)
        hand = [card for nth, length in enumerate(lengths) for card in _laid_group(rng, nth, length, wild, jokers)]
        try:
            for card in hand:
                stock.remove(card)
        except ValueError:
            continue  # more copies than the packs hold
        break
    rng.shuffle(stock)
    for _ in range(rng.randint(0, 2) if replaced is None else replaced):
        hand[rng.randrange(len(hand))] = stock.pop()
    hand = (hand + stock)[:size]
    rng.shuffle(hand)
    return hand, wild


KINDS: dict[str, Callable[..., Hand]] = {
    "random": random_hand,
    "dense": dense_hand,
    "wild_heavy": wild_heavy_hand,
    "near_complete": near_complete_hand,
}


def hands(kind: str, number: int, seed: int, size: int = 13, decks: int = 2, jokers: int = 2) -> Iterator[Hand]:
    """So many hands of a kind, the same for the same seed."""
    rng = Random(f"{kind} {seed} {size}")
    for _ in range(number):
        yield KINDS[kind](rng, size, decks, jokers)


def pack(decks: int = 2, jokers: int = 2) -> list[int]:
    """All the cards of the table, in order."""
    return [card for card in range(52) for _ in range(decks)] + [JOKER] * jokers


def random_wild(rng: Random) -> int:
    """Any rank wild, or printed jokers alone."""
    return wild_rank(rng.choice(RANKS + "-"))


def random_wild_faces(rng: Random, most: int = 8) -> int:
    """A mask of any wild faces beside the printed joker, as neighbours and the Paplu make them."""
    mask = 1 << JOKER
    for _ in range(rng.randint(0, most)):
        mask |= 1 << rng.randrange(52)
    return mask


def relabelled(cards: list[int], wild: int, suits: list[int]) -> Hand:
    """The same hand with its suits exchanged: ``suits[old]`` is the new one."""

    def moved(card: int) -> int:
        return card if card == JOKER else 13 * suits[card // 13] + card % 13

    return [moved(card) for card in cards], sum(1 << moved(face) for face in range(53) if is_wild(face, wild))


def _laid_group(rng: Random, nth: int, length: int, wild: int, jokers: int) -> list[int]:
    """A group as it may lie on the table: the first is pure, the second a sequence, the others anything."""
    if nth < 2 or length > 4 or rng.random() < 0.5:
        group = sorted(rng.choice(runs_of_places(length)))
    else:
        group = rng.sample(sorted(rng.choice(sets_of_places())), length)
    fillers = [face for face in range(53) if is_wild(face, wild) and (face != JOKER or jokers)]
    if nth and fillers and rng.random() < 0.5:
        for place in rng.sample(range(length), rng.choice((1, 1, 2))):
            group[place] = rng.choice(fillers)
    return group
