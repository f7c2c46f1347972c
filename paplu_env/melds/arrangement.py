"""A best arrangement of a hand, card by card: what to show a player, and what proves the deadwood of the kernels.

The kernels say how few points can be left over. So a group is one of a best arrangement exactly when the cards
that it leaves can still be laid as well, which a kernel says too: groups are taken one by one, each the first
that passes this test, and nothing is ever taken back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from paplu_env.cards import (
    FACE_POINTS,
    NUM_RANKS,
    NUM_SUITS,
    PRINTED_JOKER,
    counts_of,
    format_card,
    is_wild,
)
from paplu_env.melds.any_options.layout_search import can_be_laid, is_special, sequences_for_all
from paplu_env.melds.api import deadwood, points
from paplu_env.melds.arguments import AnyCounts
from paplu_env.melds.groups import (
    KINDS,
    PURE_KINDS,
    RUN_RANKS,
    SEQUENCE_KINDS,
    SMALLEST_GROUP,
    SPECIAL_DUBLEES,
    SPECIAL_TUNNELAS,
    Kind,
    kind_of_group,
    runs_of,
)
from paplu_env.rules import RuleSet

_LONGEST_RUN: Final = 5  # of six places and more two runs can be made, which save the same
_GAP: Final = None  # a place of a group that a wild card is to fill
_Shape = tuple[int | None, ...]  # a group with its gaps, places in order
_Faces = tuple[int, ...]


@dataclass(frozen=True)
class Meld:
    """Cards laid as one group."""

    kind: Kind
    faces: _Faces  # in the order of their places; wild cards stand where they substitute

    @property
    def cards(self) -> list[str]:
        """The cards in notation, as `check_declaration` takes them."""
        return [format_card(face) for face in self.faces]


@dataclass(frozen=True)
class Arrangement:
    """A hand laid out; melds and left-over cards together are the hand, each card once."""

    melds: tuple[Meld, ...]  # pure sequences and tanalas, then impure ones, then sets; or what makes a special hand
    leftovers: _Faces  # faces, rising; a wild card that saves nothing stays here
    deadwood: int  # points of the leftovers; 0 for a special hand, whatever is left over
    points: int  # the same rounded and capped
    complete: bool  # nothing is left over and the sequences asked for are there, or it is a special hand

    def __str__(self) -> str:
        groups = [" ".join(meld.cards) for meld in self.melds]
        left = " ".join(format_card(face) for face in self.leftovers)
        return " | ".join(groups + ([f"left: {left}"] if left else []))


def arrange(counts: AnyCounts, wild: int, rules: RuleSet) -> Arrangement:
    """A best arrangement: what it leaves over is exactly `deadwood`.

    With one life alone the pure sequence worth most is laid; of several worth the same the one of most cards,
    then in the order of suits S H D C, then the lowest (RULES.md 2.10). Otherwise any best arrangement,
    the same one for the same hand. It takes milliseconds, not microseconds: it is for people, not for bots.

    Args:
        counts: cards held, ``(53,)``, ``rules.hand_size`` in all or one more. Not modified.
        wild: bitmask of wild faces.

    Raises:
        InvalidHand: as `deadwood`.

    >>> from paplu_env.cards import parse_hand, wild_of_rank
    >>> print(arrange(parse_hand("4H 5H 6H 9S JS PJ KC 7C 7D 7H QD 2C 8D"), wild_of_rank(-1), RuleSet()))
    4H 5H 6H | 9S PJ JS | 7H 7D 7C | left: 8D QD 2C KC
    """
    least = deadwood(counts, wild, rules)
    hand = +Counter({face: int(copies) for face, copies in enumerate(counts)})
    laid, is_complete = _lay(hand, wild, least, rules)
    melds = sorted(laid, key=lambda meld: KINDS.index(meld.kind))
    leftovers = sorted((hand - Counter(face for meld in melds for face in meld.faces)).elements())
    return Arrangement(tuple(melds), tuple(leftovers), least, points(counts, wild, rules), is_complete)


def _lay(hand: Counter[int], wild: int, least: int, rules: RuleSet) -> tuple[list[Meld], bool]:
    """Groups that leave ``least`` points over, and whether they make the hand complete."""
    whole = _Layout(hand, wild, rules, (rules.min_pure_sequences, rules.min_sequences), 0, lays_all=True)
    if least == 0 and whole.is_possible():
        return whole.groups(), True
    if rules.special_hands and is_special(counts_of(hand.elements()), wild):
        return _special_groups(hand, wild), True
    saved = _points_of(hand.elements(), wild) - least
    if saved == 0 and least > 0:
        return [], False
    for_all = sequences_for_all(rules.packed[0])
    free = _Layout(hand, wild, rules, (int(for_all[0]), int(for_all[1])), least, lays_all=False)
    if free.is_possible():
        return free.groups(), False
    most = max(rules.min_pure_sequences, rules.min_sequences - 1)
    alone = _sequences_alone(hand, wild, rules, saved, rules.min_pure_sequences, most)
    assert alone is not None, f"no sequences save {saved} points: {sorted(hand.elements())}, wild {wild}"
    return alone, False


def _points_of(faces: Iterable[int], wild: int) -> int:
    return sum(int(FACE_POINTS[face]) for face in faces if not is_wild(face, wild))


def _special_groups(hand: Counter[int], wild: int) -> list[Meld]:
    """What makes a hand a special one."""
    standard = sorted(face for face in hand if face != PRINTED_JOKER)
    tunnelas = [Meld("tanala", (face,) * 3) for face in standard if hand[face] > 2]
    if len(tunnelas) >= SPECIAL_TUNNELAS:
        return tunnelas
    dublees = [Meld("dublee", (face,) * 2) for face in standard if hand[face] > 1]
    if len(dublees) >= SPECIAL_DUBLEES:
        return dublees
    return [Meld("wild cards", tuple(sorted(face for face in hand.elements() if is_wild(face, wild))))]


def _sequences_alone(
    hand: Counter[int], wild: int, rules: RuleSet, saved: int, pure: int, most: int
) -> list[Meld] | None:
    """Sequences alone that save ``saved`` points: pure ones while ``pure`` are asked for, ``most`` in all at most."""
    if saved == 0:
        return []
    if most == 0:
        return None
    layout = _Layout(hand, wild, rules, (0, 0), 0, lays_all=False)
    for meld in layout.pure_groups() if pure > 0 else layout.sequences():
        worth = _points_of(meld.faces, wild)
        if worth <= saved:
            rest = hand - Counter(meld.faces)
            found = _sequences_alone(rest, wild, rules, saved - worth, pure - 1, most - 1)
            if found is not None:
                return [meld, *found]
    return None


class _Layout:
    """A hand being laid: the cards that aren't settled yet, and what is asked of the groups to come.

    Args:
        hand: the cards.
        asked: pure sequences, and sequences, that have to be among the groups.
        most_left: points that may be left over.
        lays_all: every wild card has to lie in a group too.
    """

    def __init__(
        self,
        hand: Counter[int],
        wild: int,
        rules: RuleSet,
        asked: tuple[int, int],
        most_left: int,
        *,
        lays_all: bool,
    ) -> None:
        self.rest = Counter(hand)
        self.wild = wild
        self.rules = rules
        self.asked = asked
        self.most_left = most_left
        self.lays_all = lays_all

    def is_possible(self) -> bool:
        """Whether the cards can be laid as is asked."""
        return self._can_lay(self.rest, self.asked, self.most_left)

    def groups(self) -> list[Meld]:
        """The groups, when it is possible: the highest-value card is settled first, left over if it may be."""
        laid = []
        naturals = sorted(face for face in self.rest.elements() if not is_wild(face, self.wild))
        for face in sorted(naturals, key=lambda face: -int(FACE_POINTS[face])):
            if self.rest[face] > 0 and not self._leave_over(face):
                laid.append(self._lay_first(self._groups_with(face)))
        while any(self.asked) or (self.lays_all and self.rest.total() > 0):
            laid.append(self._lay_first(self._wild_groups()))
        return laid

    def pure_groups(self) -> list[Meld]:
        """Pure sequences of up to five cards and tanalas, those worth most first; ties as in `arrange`."""
        runs = [run for size in range(SMALLEST_GROUP, _LONGEST_RUN + 1) for run in runs_of(size)]
        melds = [Meld("pure sequence", run) for run in runs if all(self.rest[face] for face in run)]
        if self.rules.tanala:
            threes = [face for face, copies in self.rest.items() if copies > 2 and face != PRINTED_JOKER]
            melds += [Meld("tanala", (face,) * 3) for face in threes]
        return sorted(melds, key=lambda meld: (*self._worth(meld), *divmod(meld.faces[0], NUM_RANKS)))

    def sequences(self) -> list[Meld]:
        """Sequences on natural cards, those worth most first."""
        naturals = sorted(face for face in self.rest if not is_wild(face, self.wild))
        melds = {meld: None for face in naturals for meld in self._groups_with(face) if meld.kind in SEQUENCE_KINDS}
        return sorted(melds, key=self._worth)

    def _worth(self, meld: Meld) -> tuple[int, int]:
        """Sorts what saves most first, of equals what has more cards."""
        return -_points_of(meld.faces, self.wild), -len(meld.faces)

    def _can_lay(self, cards: Counter[int], asked: tuple[int, int], most_left: int) -> bool:
        counts = counts_of(cards.elements())
        return bool(can_be_laid(counts, self.wild, self.rules.packed[0], *asked, int(self.lays_all), most_left))

    def _leave_over(self, face: int) -> bool:
        """Leave a card over if it may be."""
        most_left = self.most_left - int(FACE_POINTS[face])
        rest = self.rest - Counter([face])
        if most_left < 0 or not self._can_lay(rest, self.asked, most_left):
            return False
        self.rest, self.most_left = rest, most_left
        return True

    def _lay_first(self, melds: Iterator[Meld]) -> Meld:
        """Lay the first of these groups after which the others can still be laid."""
        for meld in melds:
            rest = self.rest - Counter(meld.faces)
            pure = max(0, self.asked[0] - (meld.kind in PURE_KINDS))
            asked = pure, max(0, self.asked[1] - (meld.kind in SEQUENCE_KINDS))
            if self._can_lay(rest, asked, self.most_left):
                self.rest, self.asked = rest, asked
                return meld
        raise AssertionError(f"no group goes on to {self.asked}: {sorted(self.rest.elements())}, wild {self.wild}")

    def _groups_with(self, face: int) -> Iterator[Meld]:
        """Every group with this natural card that is worth a try: natural ones first, then large ones."""
        if self.rules.tanala and self.rest[face] > 2:
            yield Meld("tanala", (face,) * 3)
        shapes = [(shape, False) for shape in self._runs_with(face)]
        shapes += [(shape, True) for shape in self._sets_with(face)]
        spare = sum(copies for card, copies in self.rest.items() if is_wild(card, self.wild))
        for shape, is_set in sorted(shapes, key=lambda pair: (pair[0].count(_GAP), -len(pair[0]), pair[0][0] is _GAP)):
            # Wild cards to spare go to sets rather than to runs.
            extras = range(spare + 1) if self.lays_all else range(1)
            for extra in reversed(extras) if is_set else extras:
                for fillers in self._fillers(shape, shape.count(_GAP) + extra):
                    faces = _filled(shape, fillers, is_set)
                    kind = kind_of_group(faces, self.wild, self.rules)
                    if kind is not None:
                        yield Meld(kind, faces)

    def _runs_with(self, face: int) -> list[_Shape]:
        """Runs with a place for a card, with any of the others that are held at their own places.

        One of more than three places ends on cards, for otherwise it could be shorter. One of more than five
        falls into two, unless a group wants two natural cards.
        """
        suit, rank = divmod(face, NUM_RANKS)
        longest = _LONGEST_RUN if self.rules.min_naturals == 1 else NUM_RANKS
        shapes = []
        for size in range(SMALLEST_GROUP, longest + 1):
            for start in range(len(RUN_RANKS) - size + 1):
                ranks = RUN_RANKS[start : start + size]
                if rank not in ranks:
                    continue
                others = [NUM_RANKS * suit + other for other in ranks if other != rank]
                held = [other for other in others if self.rest[other]]
                most = len(held) if size <= _LONGEST_RUN else min(len(held), SMALLEST_GROUP)
                for number in range(most + 1):
                    for chosen in combinations(held, number):
                        run = [NUM_RANKS * suit + other for other in ranks]
                        shape = tuple(card if card == face or card in chosen else _GAP for card in run)
                        if size == SMALLEST_GROUP or (shape[0] is not _GAP and shape[-1] is not _GAP):
                            shapes.append(shape)
        return shapes

    def _sets_with(self, face: int) -> list[_Shape]:
        """Sets with a card and any others of its rank; alone with wild cards it is as well off in a run."""
        column = [NUM_RANKS * suit + face % NUM_RANKS for suit in range(NUM_SUITS)]
        mates = [mate for mate in column if self.rest[mate] and mate != face]
        cards = [sorted((face, *some)) for size in range(1, NUM_SUITS) for some in combinations(mates, size)]
        return [(*natural, *(_GAP,) * (SMALLEST_GROUP - len(natural))) for natural in cards]

    def _wild_groups(self) -> Iterator[Meld]:
        """Groups of wild cards, when no other cards are left: all of them together, then the smaller ones."""
        pool = sorted(self.rest.elements())  # a standard card comes first: one has to stand at its own place
        sizes = [len(pool), *range(SMALLEST_GROUP, len(pool))] if self.lays_all else [SMALLEST_GROUP]
        for size in sizes:
            for faces in dict.fromkeys(combinations(pool, size)):
                kind = kind_of_group(faces, self.wild, self.rules)
                if kind is not None:
                    yield Meld(kind, _in_order(faces) if kind == "pure sequence" else faces)

    def _fillers(self, shape: _Shape, number: int) -> Iterable[_Faces]:
        """The choices of ``number`` wild cards beside those that the shape holds, printed jokers first.

        They are all alike unless some have to be natural in groups to come.
        """
        left = self.rest - Counter(face for face in shape if face is not _GAP)
        pool = sorted((face for face in left.elements() if is_wild(face, self.wild)), reverse=True)
        if self.asked[0] == 0 and self.rules.min_naturals == 1:
            return [tuple(pool[:number])] if number <= len(pool) else []
        return dict.fromkeys(combinations(pool, number))


def _filled(shape: _Shape, fillers: Sequence[int], is_set: bool) -> _Faces:
    """A group with its gaps filled and wild cards to spare at its end, or before it where the ace is the last place."""
    wilds = list(fillers)
    faces = [wilds.pop(0) if face is _GAP else face for face in shape]
    if is_set or not wilds:
        return (*faces, *wilds)
    place, face = next((place, face) for place, face in enumerate(shape) if face is not _GAP)
    first = face % NUM_RANKS - place
    if first < 0:  # the card is the ace, and it stands high
        first += NUM_RANKS
    room = len(RUN_RANKS) - first - len(shape)
    return (*wilds[room:], *faces, *wilds[:room])


def _in_order(faces: _Faces) -> _Faces:
    """The cards of a pure sequence from its lowest place to its highest."""
    return next(run for run in runs_of(len(faces)) if sorted(run) == sorted(faces))
