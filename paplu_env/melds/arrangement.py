"""A best arrangement of a hand, card by card: what to show a player, and what proves the deadwood of the kernels.

The kernels say how few points can be left over; here the groups that leave no more are looked for. Knowing
the number makes a plain search quick: a branch that leaves more is cut, and the first that does not is taken.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from paplu_env.cards import ACE, FACE_POINTS, NUM_RANKS, NUM_SUITS, faces_of, format_card, is_wild
from paplu_env.melds.api import deadwood, points
from paplu_env.melds.checks import AnyCounts, checked_arrangement_rules
from paplu_env.melds.groups import KINDS, SEQUENCE_KINDS, SMALLEST_GROUP, Kind, kind_of_group, runs_of
from paplu_env.rules import RuleSet

_LONGEST_RUN = 5  # of six places and more two runs can be made, which save the same
_GAP = None  # a place of a group that a wild card is to fill
_Laid = tuple[int | None, ...]  # a group with its gaps, places in order


@dataclass(frozen=True)
class Meld:
    """Cards laid as one group."""

    kind: Kind
    faces: tuple[int, ...]  # in the order of their places; wild cards stand where they substitute

    @property
    def cards(self) -> list[str]:
        """The cards in notation, as `check_declaration` takes them."""
        return [format_card(face) for face in self.faces]


@dataclass(frozen=True)
class Arrangement:
    """A hand laid out; melds and left-over cards together are the hand, each card once."""

    melds: tuple[Meld, ...]  # pure sequences, then impure ones, then sets
    leftovers: tuple[int, ...]  # faces, rising; a wild card that saves nothing stays here
    deadwood: int  # points of the leftovers
    points: int  # the same rounded and capped
    complete: bool  # nothing is left over and the sequences asked for are there

    def __str__(self) -> str:
        groups = [" ".join(meld.cards) for meld in self.melds]
        left = " ".join(format_card(face) for face in self.leftovers)
        return " | ".join(groups + ([f"left: {left}"] if left else []))


def arrange(counts: AnyCounts, wild: int, rules: RuleSet) -> Arrangement:
    """A best arrangement: what it leaves over is exactly `deadwood`.

    With one life alone the pure sequence worth most is laid; of several worth the same the one of most cards,
    then in the order of suits S H D C, then the lowest (RULES.md, section 2). Otherwise any best arrangement,
    the same one for the same hand. It takes milliseconds, not microseconds: it is for people, not for bots.

    Args:
        counts: cards held, ``(53,)``, ``rules.hand_size`` in all or one more. Not modified.
        wild: bitmask of wild faces.

    Raises:
        InvalidHand: as `deadwood`.
        InvalidRules: a rule set whose groups are not those of the default game.

    >>> from paplu_env.cards import parse_hand, wild_of_rank
    >>> print(arrange(parse_hand("4H 5H 6H 9S JS PJ KC 7C 7D 7H QD 2C 8D"), wild_of_rank(-1), RuleSet()))
    4H 5H 6H | 9S PJ JS | 7H 7D 7C | left: 8D QD 2C KC
    """
    checked_arrangement_rules(rules)
    least = deadwood(counts, wild, rules)
    hand = Counter(faces_of(counts))
    laid = _lay(hand, wild, least, rules)
    melds = sorted((Meld(_kind(faces, wild, rules), faces) for faces in laid), key=lambda meld: KINDS.index(meld.kind))
    leftovers = tuple(sorted((hand - Counter(face for faces in laid for face in faces)).elements()))
    sequences = sum(meld.kind in SEQUENCE_KINDS for meld in melds)
    return Arrangement(
        melds=tuple(melds),
        leftovers=leftovers,
        deadwood=least,
        points=points(counts, wild, rules),
        complete=not leftovers and sequences >= rules.min_sequences,
    )


def _kind(faces: Sequence[int], wild: int, rules: RuleSet) -> Kind:
    kind = kind_of_group(faces, wild, rules)
    assert kind is not None, faces
    return kind


def _lay(hand: Counter[int], wild: int, least: int, rules: RuleSet) -> list[tuple[int, ...]]:
    """Groups that leave so many points over: none, one pure sequence, or any with both lives."""
    total = _points_of(hand.elements(), wild)
    if least == total and least > 0:
        return []
    runs = _pure_runs(hand, wild)
    if rules.gate == "lives" and least > 0 and total - _points_of(runs[0], wild) == least:
        return [runs[0]]
    for run in runs:
        rest = hand - Counter(run)
        wilds = [face for face in rest.elements() if is_wild(face, wild)]
        naturals = [face for face in rest.elements() if not is_wild(face, wild)]
        naturals.sort(key=lambda face: (-int(FACE_POINTS[face]), face))
        groups = _Search(least).groups(tuple(naturals), len(wilds))
        if groups is not None:
            return [run, *_with_wild_cards(groups, wilds, lay_all=least == 0, sets_grow=rules.max_set_size is None)]
    raise AssertionError(f"no arrangement leaves {least} points: {sorted(hand.elements())}, wild {wild}")


def _points_of(faces: Iterable[int], wild: int) -> int:
    return sum(int(FACE_POINTS[face]) for face in faces if not is_wild(face, wild))


def _pure_runs(hand: Counter[int], wild: int) -> list[tuple[int, ...]]:
    """Pure sequences of up to five cards in the hand, those worth most first; ties as in `arrange`."""
    runs = [
        (-_points_of(run, wild), -len(run), run[0] // NUM_RANKS, run[0] % NUM_RANKS, run)
        for size in range(SMALLEST_GROUP, _LONGEST_RUN + 1)
        for run in runs_of(size)
        if all(hand[face] for face in run)
    ]
    return [run for *_order, run in sorted(runs)]


@functools.cache
def _runs_with(face: int) -> tuple[tuple[int, ...], ...]:
    """Every run of three to five places that has a place for a face."""
    sizes = range(SMALLEST_GROUP, _LONGEST_RUN + 1)
    return tuple(run for size in sizes for run in runs_of(size) if face in run)


class _Search:
    """The search for groups beside a pure sequence, one of them a sequence; dead ends are remembered."""

    def __init__(self, least: int) -> None:
        self.least = least
        self.dead: set[tuple[tuple[int, ...], int, int, bool]] = set()

    def groups(
        self, naturals: tuple[int, ...], num_wild: int, left_over: int = 0, has_sequence: bool = False
    ) -> list[_Laid] | None:
        """Groups of these cards that leave few enough points, or None.

        The dearest card is decided first: it lies in a run, in a set, or is left over. A run uses every card
        that is there for its places, since a wild card is as good elsewhere.

        Args:
            naturals: cards that are not wild, in the order in which they are decided.
            num_wild: wild cards to fill gaps with.
            left_over: points left over so far.
            has_sequence: a second sequence is laid.
        """
        key = (naturals, num_wild, left_over, has_sequence)
        if left_over > self.least or key in self.dead:
            return None
        if not naturals:
            if has_sequence:
                return []
            # Wild cards alone are a sequence, one of them in its own place: two packs have two jokers only.
            return [(_GAP,) * SMALLEST_GROUP] if num_wild >= SMALLEST_GROUP else None
        first, others = naturals[0], naturals[1:]
        for laid, is_run in self._groups_with(first, others):
            gaps = laid.count(_GAP)
            if gaps <= num_wild:
                rest = list(others)
                for face in laid:
                    if face is not None and face != first:
                        rest.remove(face)
                found = self.groups(tuple(rest), num_wild - gaps, left_over, has_sequence or is_run)
                if found is not None:
                    return [laid, *found]
        found = self.groups(others, num_wild, left_over + int(FACE_POINTS[first]), has_sequence)
        if found is None:
            self.dead.add(key)
        return found

    def _groups_with(self, first: int, others: Sequence[int]) -> list[tuple[_Laid, bool]]:
        """Every run and set with this card, the others taken from those given; and whether it is a run.

        Those with fewest gaps come first, so that natural groups are shown where there is a choice.
        """
        held = {first, *others}
        groups: list[tuple[_Laid, bool]] = [
            (tuple(face if face in held else _GAP for face in run), True) for run in _runs_with(first)
        ]
        mates = [face for face in sorted(held) if face % NUM_RANKS == first % NUM_RANKS and face != first]
        for size in range(NUM_SUITS):
            for chosen in combinations(mates, size):
                natural = tuple(sorted((first, *chosen)))
                groups.append((natural + (_GAP,) * (SMALLEST_GROUP - len(natural)), False))
        return sorted(groups, key=lambda group: (group[0].count(_GAP), -len(group[0])))


def _with_wild_cards(
    groups: Sequence[_Laid], wilds: Sequence[int], lay_all: bool, sets_grow: bool
) -> list[tuple[int, ...]]:
    """The groups beside the pure sequence with their gaps filled.

    A group of gaps alone gets standard cards first, since one of its cards has to stand at its own place.

    Args:
        groups: the groups, one of them a sequence.
        wilds: wild cards, enough for the gaps.
        lay_all: the wild cards that no gap needs are laid too.
        sets_grow: they may extend a set.
    """
    pool = sorted(wilds)  # printed jokers have the highest face
    groups = sorted(groups, key=lambda laid: laid.count(_GAP) < len(laid))
    filled = [[pool.pop(0) if face is _GAP else face for face in laid] for laid in groups]
    if lay_all and pool:
        taker = max(range(len(groups)), key=lambda number: _takes_wild_cards(groups[number], sets_grow))
        filled[taker] = _extended(groups[taker], filled[taker], pool)
    return [tuple(faces) for faces in filled]


def _takes_wild_cards(laid: _Laid, sets_grow: bool) -> tuple[bool, bool]:
    """How well a group takes another wild card: sets best, if they may grow, and runs that are pure worst."""
    return _is_set(laid) == sets_grow, _GAP in laid


def _is_set(laid: _Laid) -> bool:
    """Whether a group is a set and can't be a run."""
    naturals = [face for face in laid if face is not None]
    return len(naturals) > 1 and len({face % NUM_RANKS for face in naturals}) == 1


def _extended(laid: _Laid, faces: Sequence[int], spare: Sequence[int]) -> list[int]:
    """A group's faces with wild cards added above its last place, or below the first where the ace is the last."""
    if _is_set(laid):
        return [*faces, *spare]
    place, face = max(((place, face) for place, face in enumerate(laid) if face is not None), default=(0, ACE))
    top = (NUM_RANKS if place and face % NUM_RANKS == ACE else face % NUM_RANKS) + len(laid) - 1 - place
    room = max(0, NUM_RANKS - top)
    return [*spare[room:], *faces, *spare[:room]]
