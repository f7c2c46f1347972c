"""Deadwood, points, completeness and declarations, by trying every way to lay any part of a hand as groups.

A *part* of the hand is a bitmask over the positions of its physical cards. The table of layouts says of
every part whether it falls into disjoint groups exactly, and for each way to do so how many groups, how
many sequences and how many pure sequences there are. All answers are read off that table.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import combinations

from tests.oracle.definitions import POINTS, Options, group_kinds, is_wild, missing_for_special, points_of

# A way to lay cards is a bit at (groups * WIDTH + sequences) * WIDTH + pure sequences, so that laying one
# group more shifts it; no hand has room for WIDTH groups.
WIDTH = 10
ONE_GROUP = WIDTH * WIDTH
ONE_SEQUENCE = ONE_GROUP + WIDTH
ONE_PURE = ONE_SEQUENCE + 1


def deadwood(cards: Sequence[int], wild: int, options: Options = POINTS) -> int:
    """Fewest points left over by any layout that the gate lets count (RULES.md 1.14), not capped."""
    if missing_for_special(cards, wild, options) == 0:
        return 0
    cards = sorted(cards)
    ways = layouts(cards, wild, options)
    free = _ways_that_count(options)
    values = [points_of(card, wild) for card in cards]
    saved = [0] * len(ways)
    for part in range(1, len(ways)):
        low = (part & -part).bit_length() - 1
        saved[part] = saved[part & part - 1] + values[low]
    return sum(values) - max(saved[part] for part in range(len(ways)) if ways[part] & free)


def points(cards: Sequence[int], wild: int, options: Options = POINTS) -> int:
    """Deadwood, rounded if the rules round, then capped."""
    left = deadwood(cards, wild, options)
    if options.round_to:
        left = options.round_to * ((2 * left + options.round_to) // (2 * options.round_to))
    return min(left, options.max_points)


def is_complete(cards: Sequence[int], wild: int, options: Options = POINTS) -> bool:
    """RULES.md 1.11: whether all cards fall into groups with the sequences asked for, or the hand is a special one."""
    if missing_for_special(cards, wild, options) == 0:
        return True
    cards = sorted(cards)
    return bool(layouts(cards, wild, options)[-1] & _complete_ways(options))


def declarable(cards: Sequence[int], wild: int, options: Options = POINTS) -> set[int]:
    """Faces that can be the finish card: without one copy of them the cards are complete."""
    cards = sorted(cards)
    ways = layouts(cards, wild, options)
    everything, complete = len(ways) - 1, _complete_ways(options)
    return {
        card
        for place, card in enumerate(cards)
        if ways[everything ^ 1 << place] & complete
        or missing_for_special(cards[:place] + cards[place + 1 :], wild, options) == 0
    }


def layouts(cards: Sequence[int], wild: int, options: Options = POINTS) -> list[int]:
    """For every part of the hand, the ways in which exactly these cards fall into disjoint groups.

    The options of groups alone matter; the last hand is remembered, for the next question about it.
    """
    groups = Options(min_naturals=options.min_naturals, max_set_size=options.max_set_size, tanala=options.tanala)
    return _layouts(tuple(cards), wild, groups)


@lru_cache(maxsize=1)
def _layouts(cards: Sequence[int], wild: int, options: Options) -> list[int]:
    by_first: list[list[tuple[int, int]]] = [[] for _ in cards]
    for group, step in groups_in(cards, wild, options):
        by_first[(group & -group).bit_length() - 1].append((group, step))
    ways = [0] * (1 << len(cards))
    ways[0] = 1
    # The first card of a part lies in some group; what that group leaves starts later in the hand.
    for first in reversed(range(len(cards))):
        for group, step in by_first[first]:
            others = ((1 << len(cards)) - (2 << first)) & ~group
            rest = others
            while True:
                if ways[rest]:
                    ways[group | rest] |= ways[rest] << step
                if not rest:
                    break
                rest = rest - 1 & others
    return ways


def groups_in(cards: Sequence[int], wild: int, options: Options = POINTS) -> list[tuple[int, int]]:
    """Every part of the hand that is a group, with what it counts as: the most that it can be.

    A pure sequence is a sequence and a sequence is a group, so that the strongest kind serves every purpose
    of the weaker ones. Cards that are not wild share a suit or a rank in any group; other parts are not tried.
    """
    natural = [place for place, card in enumerate(cards) if not is_wild(card, wild)]
    wilds = [place for place, card in enumerate(cards) if is_wild(card, wild)]
    families = [[place for place in natural if cards[place] // 13 == suit] for suit in range(4)]
    families += [[place for place in natural if cards[place] % 13 == rank] for rank in range(13)]
    cores = {core for family in families for size in range(14) for core in combinations(family, size)}
    fillings = [filling for size in range(14) for filling in combinations(wilds, size)]
    groups = []
    known: dict[tuple[int, ...], int | None] = {}
    for core in cores:
        for filling in fillings:
            laid = tuple(sorted(cards[place] for place in core + filling))
            if laid not in known:
                known[laid] = _step(laid, wild, options)
            step = known[laid]
            if step is not None:
                groups.append((sum(1 << place for place in core + filling), step))
    return groups


def _step(laid: Sequence[int], wild: int, options: Options) -> int | None:
    kinds = group_kinds(laid, wild, options)
    if kinds & {"pure", "tanala"}:
        return ONE_PURE
    if "sequence" in kinds:
        return ONE_SEQUENCE
    return ONE_GROUP if kinds else None


@cache
def _complete_ways(options: Options) -> int:
    """The ways, as bits, that have the sequences asked for."""
    return _bits(lambda groups, runs, pure: runs >= options.min_sequences and pure >= options.min_pure_sequences)


@cache
def _ways_that_count(options: Options) -> int:
    """The ways, as bits, whose groups are all free under the gate."""

    def counts(groups: int, runs: int, pure: int) -> bool:
        if groups == 0 or options.gate == "every_meld":
            return True
        if options.gate == "pure_opens_all":
            return pure >= 1
        both_lives = runs >= options.min_sequences and pure >= options.min_pure_sequences
        if options.gate == "all_or_nothing":
            return both_lives
        only_pure = groups == pure <= options.min_pure_sequences
        only_sequences = groups == runs and pure >= options.min_pure_sequences
        return only_pure or only_sequences or both_lives

    return _bits(counts)


def _bits(holds) -> int:  # type: ignore[no-untyped-def]
    return sum(
        1 << groups * ONE_GROUP + runs * WIDTH + pure
        for groups in range(WIDTH)
        for runs in range(groups + 1)
        for pure in range(runs + 1)
        if holds(groups, runs, pure)
    )
