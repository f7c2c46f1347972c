"""Distance by definition: the hand's cards are laid into complete arrangements whose other places stay blank.

Every place of an arrangement holds one of three things: its own printed card from the hand, a wild card
from the hand that substitutes (never in a pure sequence), or a blank, a card still to come, which may be
any card. A *part* of the hand is a bitmask over the cards that are laid at their own places. A way to lay
a part counts its pure sequences, its sequences, its *closed* places (only a blank will do) and its *open*
ones (a blank or a wild card).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import combinations

from tests.oracle.definitions import (
    JOKER,
    POINTS,
    Options,
    is_wild,
    missing_for_special,
    runs_of_places,
    sets_of_places,
)

Shape = tuple[int, int, int, int]  # of one group: pure sequences, sequences, closed places, open places

# A way is a bit whose index has these digits, so that laying one group more shifts all the ways at once.
OPEN, CLOSED, RUNS, PURE = 1, 1 << 5, 1 << 10, 1 << 13
MOST_PLACES, MOST_GROUPS = 1 << 5, 1 << 3  # each digit stays below these: hands of up to 23 cards


def distance(cards: Sequence[int], wild: int, options: Options = POINTS) -> int:
    """Fewest blanks with which the hand contains a complete arrangement of ``options.hand_size`` cards.

    A hand of one card more gives the lowest over the discard, for a card that is not laid is thrown.
    """
    most = min(options.hand_size, missing_for_special(cards, wild, options))  # a special hand leaves cards to throw
    return next((blanks for blanks in range(most) if _enough(cards, wild, blanks, options)), most)


def _enough(cards: Sequence[int], wild: int, blanks: int, options: Options) -> bool:
    """Whether a number of blanks makes a complete arrangement: tries every choice of cards laid at their own places."""
    hand = sorted(cards)
    natural = [place for place, card in enumerate(hand) if not is_wild(card, wild)]
    wilds = [place for place, card in enumerate(hand) if is_wild(card, wild)]
    ways = _Ways(hand, blanks, len(wilds), options)
    most_thrown = len(hand) - options.hand_size + blanks
    for thrown in range(min(most_thrown, len(natural)) + 1):
        for laid in combinations(natural, len(natural) - thrown):
            for size in range(len(wilds) + 1):
                for standing in combinations(wilds, size):
                    if ways.complete(_mask(laid + standing), substitutes=len(wilds) - size):
                        return True
    return False


class _Ways:
    """The ways to lay the parts of one hand, when a limited number of blanks and substitutes fill the gaps."""

    def __init__(self, hand: Sequence[int], blanks: int, substitutes: int, options: Options) -> None:
        self.options = options
        self.blanks, self.gaps = blanks, blanks + substitutes
        self.groups_from: list[list[tuple[int, list[Shape]]]] = [[] for _ in hand]
        for group in _alike(hand):
            shapes = self._shapes([hand[place] for place in group])
            if shapes:
                self.groups_from[group[0]].append((_mask(group), shapes))
        self.shapes_of_blanks = self._shapes([])
        self.known = {0: 1}

    def complete(self, part: int, substitutes: int) -> bool:
        """Whether the part and groups with no card at its place can be filled up to a complete hand."""
        ways = self._laying(part)
        for _ in range(self.options.hand_size // 3):
            ways |= self._with_one_more(ways, part.bit_count(), self.shapes_of_blanks)
        gaps = self.options.hand_size - part.bit_count()

        def is_complete(pure: int, runs: int, closed: int, opened: int) -> bool:
            lives = pure >= self.options.min_pure_sequences and runs >= self.options.min_sequences
            return lives and closed + opened == gaps and closed + max(0, opened - substitutes) <= self.blanks

        return bool(ways) and any(is_complete(*way) for way in _read(ways))

    def _laying(self, part: int) -> int:
        """All ways to lay exactly these cards at their own places: the first card lies in some group."""
        if part not in self.known:
            found, first = 0, (part & -part).bit_length() - 1
            for group, shapes in self.groups_from[first]:
                if group & part == group:
                    found |= self._with_one_more(self._laying(part ^ group), part.bit_count(), shapes)
            self.known[part] = found
        return self.known[part]

    def _with_one_more(self, ways: int, laid: int, shapes: list[Shape]) -> int:
        """The ways after one group more in each of its shapes, without those that leave too many places to fill."""
        found = 0
        if ways:
            room = min(self.options.hand_size - laid, self.gaps)
            for pure, runs, closed, opened in shapes:
                fitting = ways & _at_most(self.blanks - closed, room - closed - opened)
                found |= fitting << pure * PURE + runs * RUNS + closed * CLOSED + opened * OPEN
        return found

    def _shapes(self, faces: Sequence[int]) -> list[Shape]:
        """Every group, by what it counts, in which these faces and no others stand at their own places."""
        options, shapes = self.options, set()
        natural = set(faces)
        to_come = max(0, options.min_naturals - len(faces))  # places that want a natural card which is a blank yet
        different = len(natural) == len(faces)  # two copies of a card never share a run or a set
        for size in range(max(3, len(faces)), options.hand_size + 1) if different else ():
            gaps = size - len(faces)
            if any(natural <= run for run in runs_of_places(size)):
                shapes.add((1, 1, gaps, 0))
                shapes.add((0, 1, to_come, gaps - to_come))
            small = options.max_set_size is None or size <= options.max_set_size
            if small and any(natural <= places for places in sets_of_places()):
                shapes.add((0, 0, to_come, gaps - to_come))
        if options.tanala and len(natural) <= 1 and len(faces) <= 3:
            shapes.add((1, 1, 3 - len(faces), 0))
        return [shape for shape in shapes if shape[2] <= self.blanks and shape[2] + shape[3] <= self.gaps]


def _alike(hand: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Places of cards that share a suit or a rank: no other cards are natural in one group."""
    families = [[place for place, card in enumerate(hand) if card // 13 == suit] for suit in range(4)]
    families += [[place for place, card in enumerate(hand) if card % 13 == r and card != JOKER] for r in range(13)]
    yield from {group for family in families for size in range(1, 14) for group in combinations(family, size)}


def _mask(places: Sequence[int]) -> int:
    return sum(1 << place for place in places)


@cache
def _at_most(closed: int, gaps: int) -> int:
    """The ways with a limited number of closed places, and gaps of both kinds."""
    return _bits(lambda shut, opened: shut <= closed and shut + opened <= gaps)


def _bits(holds: Callable[[int, int], bool]) -> int:
    return sum(
        1 << pure * PURE + runs * RUNS + closed * CLOSED + opened
        for pure in range(MOST_GROUPS)
        for runs in range(MOST_GROUPS)
        for closed in range(MOST_PLACES)
        for opened in range(MOST_PLACES)
        if holds(closed, opened)
    )


def _read(ways: int) -> Iterator[Shape]:
    """The digits of every way in a set of them."""
    while ways:
        index = (ways & -ways).bit_length() - 1
        ways &= ways - 1
        yield index // PURE, index // RUNS % MOST_GROUPS, index // CLOSED % MOST_PLACES, index % MOST_PLACES
