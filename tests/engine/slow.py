"""The game once more, slowly: physical cards in lists, rules as the page has them, no code of the engine.

A card is ``(face, copy)``, so that the card just taken is a thing and not a count. An action is legal
exactly if trying it on a copy raises no `Refused`.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Sequence

from paplu_env.rules import RuleSet
from tests import oracle

Card = tuple[int, int]


class Refused(Exception):
    """The rules don't allow it."""


class SlowTable:
    """One deal among the ``active`` seats, all if not given; hands of 21 cards are too much for it."""

    def __init__(self, rules: RuleSet, deck: Sequence[int], first: int, active: Sequence[int] | None = None) -> None:
        self.rules = rules
        self.active = list(range(rules.num_players)) if active is None else sorted(active)
        self.options = oracle.Options(
            **{name: getattr(rules, name) for name in oracle.Options.__dataclass_fields__}  # type: ignore[arg-type]
        )
        cards: list[Card] = [(face, deck[:place].count(face)) for place, face in enumerate(deck)]
        self.step = 1 if rules.direction == "clockwise" else -1
        if rules.indicator_first:
            self.indicator = self._turn_indicator(cards)
        self.hands: list[list[Card]] = [[] for _ in range(rules.num_players)]
        seat = first
        while len(self.hands[first]) < rules.hand_size or seat != first:
            if seat in self.active:
                self.hands[seat].append(cards.pop(0))
            seat = (seat + self.step) % rules.num_players
        self.pile = [cards.pop(0)]
        if not rules.indicator_first:
            self.indicator = self._turn_indicator(cards)
        self.stock = cards[::-1]
        self.first = self.mover = first
        self.wild = _wild_of(rules, self.indicator[0])
        self.taken: Card | None = None
        self.has_drawn = False
        self.draws = [0] * rules.num_players
        self.out: dict[int, int] = {}  # what a seat that is out owes
        self.ending = ""
        self.wants_order = False  # a heap was just shuffled: the test says how it lies now

    def _turn_indicator(self, cards: list[Card]) -> Card:
        for place, (face, _copy) in enumerate(cards):
            if face != 52 or self.rules.printed_joker_indicator != "redraw":
                return cards.pop(place)
        raise AssertionError("a pack of jokers")

    def legal(self) -> list[int]:
        """Action ids that may be tried without being refused."""
        return [action for action in range(110) if self._can(action)]

    def _can(self, action: int) -> bool:
        try:
            self._copy().do(action)
        except Refused:
            return False
        return True

    def _copy(self) -> SlowTable:
        twin = copy.copy(self)
        twin.hands = [list(hand) for hand in self.hands]
        twin.stock, twin.pile, twin.draws, twin.out = (
            list(self.stock),
            list(self.pile),
            list(self.draws),
            dict(self.out),
        )
        return twin

    def do(self, action: int) -> None:
        if self.ending:
            raise Refused
        if action in (0, 1, 2, 109):
            if self.has_drawn:
                raise Refused
            (self._draw, self._take, self._drop, self._announce)[min(action, 3)]()
        else:
            if not self.has_drawn:
                raise Refused
            self._part_with((action - 3) % 53, action >= 56)

    def _draw(self) -> None:
        if not self.stock:
            raise Refused
        self.taken = None
        self._pick_up(self.stock.pop())

    def _take(self) -> None:
        if not self.pile:
            raise Refused
        if self.wild >> self.pile[-1][0] & 1:
            is_first_turn = not any(self.draws) and self.mover == self.first
            if self.rules.open_joker == "never" or (self.rules.open_joker == "first_turn" and not is_first_turn):
                raise Refused
        self.taken = self.pile.pop()
        self._pick_up(self.taken)

    def _pick_up(self, card: Card) -> None:
        self.hands[self.mover].append(card)
        self.draws[self.mover] += 1
        self.has_drawn = True

    def _drop(self) -> None:
        if not self.rules.drop_allowed:
            raise Refused
        is_first = self.draws[self.mover] == 0
        self.out[self.mover] = self.rules.first_drop if is_first else self.rules.middle_drop
        if is_first and self.rules.first_drop_returns_cards:
            self.stock = self.hands[self.mover] + self.stock
            self.hands[self.mover] = []
            self.wants_order = True
        if len(self.staying()) == 1:
            self.ending = "drop"
        else:
            self._next()

    def _announce(self) -> None:
        if not self.rules.hand_rummy or self.draws[self.mover] or not self._is_complete(self._faces(self.mover)):
            raise Refused
        self.ending = "announced"

    def _part_with(self, face: int, is_declaration: bool) -> None:
        hand = self.hands[self.mover]
        blocked = self.taken if self.rules.block_taken_card else None
        copies = [card for card in hand if card[0] == face and card != blocked]
        if not copies:
            raise Refused
        is_right = is_declaration and face in _finish_cards(
            tuple(sorted(self._faces(self.mover))), self.wild, self.options
        )
        if is_declaration and not is_right and self.rules.wrong_declare == "masked":
            raise Refused
        hand.remove(copies[0])
        self.pile.append(copies[0])
        self.has_drawn = False
        self.taken = None
        if is_right:
            self.ending = "declared"
            return
        if is_declaration:
            self.out[self.mover] = self.rules.wrong_declare_points
            if len(self.staying()) == 1:
                self.ending = "wrong_declare"
                return
        if not self.stock and (self.rules.stock_out == "void" or len(self.pile) == 1):
            self.ending = "void"  # a pile of one card makes no stock
        elif sum(self.draws) >= self.rules.max_turns:
            self.ending = "truncated" if self.rules.turn_limit_result == "truncate" else "lower_deadwood"
        else:
            if not self.stock:
                keep = 1 if self.rules.stock_out == "reshuffle_keep_top" else 0
                self.stock = self.pile[: len(self.pile) - keep]
                self.pile = self.pile[len(self.pile) - keep :]
                self.wants_order = True
            self._next()

    def _next(self) -> None:
        while True:
            self.mover = (self.mover + self.step) % self.rules.num_players
            if self.mover in self.staying():
                return

    def staying(self) -> list[int]:
        """Seats that were dealt in and neither dropped nor declared wrongly."""
        return [seat for seat in self.active if seat not in self.out]

    def winner(self) -> int:
        """The seat that wins, -1 without one."""
        if self.ending in ("declared", "announced"):
            return self.mover
        if self.ending in ("drop", "wrong_declare"):
            return self.staying()[0]
        if self.ending == "lower_deadwood":
            counts = [self._count(seat) for seat in self.staying()]
            return self.staying()[counts.index(min(counts))] if counts.count(min(counts)) == 1 else -1
        return -1

    def returns(self) -> list[int]:
        """What every seat gets: RULES.md 1.12–1.16 and 3.17–3.24."""
        gets = [0] * self.rules.num_players
        if self.ending in ("", "void", "truncated"):
            return gets
        winner = self.winner()
        if winner >= 0:
            for seat in self.active:
                if seat != winner:
                    gets[seat] -= self._owes(seat)
                    gets[winner] += self._owes(seat)
        for seat in self.staying():
            for other in self.active:
                gets[seat] += self._bonus(seat)
                gets[other] -= self._bonus(seat)  # of itself too, which comes to nothing
        return gets

    def _owes(self, loser: int) -> int:
        if loser in self.out:
            return self.out[loser]
        never_drew = self.draws[loser] == 0
        if self.rules.full_count_if_never_drawn and never_drew:
            return self.rules.max_points
        count = self._count(loser)
        if self.ending == "lower_deadwood":
            return count
        if self.rules.loser_complete and self._is_complete(self._faces(loser)):
            count = self.rules.loser_complete
        if self.ending == "announced":
            return count if never_drew else 2 * count
        if self.rules.half_rate and never_drew and self.draws[self.mover] == 1:
            return count // 2 + count % 2
        return count

    def _bonus(self, seat: int) -> int:
        """What every other seat pays this one for its Paplus."""
        suit, rank = divmod(self.indicator[0], 13)
        paplus = 0 if self.indicator[0] == 52 else self._faces(seat).count(13 * suit + (rank + 1) % 13)
        if self.rules.paplu_bonus == "held":
            return [0, 10, 25, 50][paplus]
        is_laid = self.ending in ("declared", "announced") and seat == self.mover
        return 10 * paplus if self.rules.paplu_bonus == "declared" and is_laid else 0

    def _count(self, seat: int) -> int:
        return oracle.points(self._faces(seat), self.wild, self.options)

    def _faces(self, seat: int) -> list[int]:
        return [face for face, _copy in self.hands[seat]]

    def _is_complete(self, faces: Sequence[int]) -> bool:
        return _may_be_complete(faces, self.options) and oracle.is_complete(faces, self.wild, self.options)

    def lie(self, stock: Sequence[int], pile: Sequence[int]) -> None:
        """Lay the closed stock and the open pile as a shuffle has left them; the cards must be the same."""
        heap = self.stock + self.pile
        for faces, target in ((stock, "stock"), (pile, "pile")):
            cards = []
            for face in faces:
                card = next(card for card in heap if card[0] == face)
                heap.remove(card)
                cards.append(card)
            setattr(self, target, cards)
        assert not heap, "a shuffle lost cards"
        self.wants_order = False


def _wild_of(rules: RuleSet, indicator: int) -> int:
    """RULES.md 1.3, 3.6 and 3.7: the faces that an indicator makes wild."""
    suit, rank = divmod(indicator, 13)
    wild = {52}
    if indicator != 52:
        wild |= {rank + 13 * other for other in range(4)}
        wild |= {13 * suit + (rank + step) % 13 for step in (1, -1) if rules.wild_neighbours}
        wild |= {13 * suit + (rank + 1) % 13} if rules.paplu_wild else set()
    elif rules.printed_joker_indicator == "aces":
        wild |= {0, 13, 26, 39}
    return sum(1 << face for face in wild)


@functools.cache
def _finish_cards(faces: tuple[int, ...], wild: int, options: oracle.Options) -> set[int]:
    """The oracle's answer, asked once a hand: every copy of the table asks it again."""
    # A hand without any pure sequence is the usual case, and quick to see.
    return oracle.declarable(faces, wild, options) if _may_be_complete(faces, options) else set()


def _may_be_complete(faces: Sequence[int], options: oracle.Options) -> bool:
    """False only if a pure sequence is asked for and no three cards in a row are held."""
    if options.min_pure_sequences == 0 or options.tanala:
        return True
    held = set(faces)
    return any(
        {13 * suit + rank % 13 for rank in range(low, low + 3)} <= held for suit in range(4) for low in range(12)
    )
