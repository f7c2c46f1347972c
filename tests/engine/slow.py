"""The game once more, slowly: physical cards in lists, rules as the page has them, no code of the engine.

A card is ``(face, copy)``, so that the card just taken is a thing and not a count. An action is legal
exactly if trying it on a copy raises no `Refused`.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

from paplu_env.rules import RuleSet
from tests import oracle

Card = tuple[int, int]


class Refused(Exception):
    """The rules don't allow it."""


class SlowTable:
    """One deal. ``order_of`` is asked for the order in which a shuffled heap lies, its top last."""

    def __init__(self, rules: RuleSet, deck: Sequence[int], first: int) -> None:
        self.rules = rules
        self.options = oracle.Options(
            **{name: getattr(rules, name) for name in oracle.Options.__dataclass_fields__}  # type: ignore[arg-type]
        )
        cards: list[Card] = [(face, deck[:place].count(face)) for place, face in enumerate(deck)]
        self.step = 1 if rules.direction == "clockwise" else -1
        if rules.indicator_first:
            self.indicator = self._turn_indicator(cards)
        self.hands: list[list[Card]] = [[] for _ in range(rules.num_players)]
        for turn in range(rules.hand_size * rules.num_players):
            self.hands[(first + self.step * turn) % rules.num_players].append(cards.pop(0))
        self.pile = [cards.pop(0)]
        if not rules.indicator_first:
            self.indicator = self._turn_indicator(cards)
        self.stock = cards[::-1]
        self.first = self.mover = first
        self.wild = rules.wild_of(self.indicator[0])
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
        if len(self.out) == self.rules.num_players - 1:
            self.ending = "drop"
        else:
            self._next()

    def _announce(self) -> None:
        hand = [face for face, _copy in self.hands[self.mover]]
        if not self.rules.hand_rummy or self.draws[self.mover] or not self._is_complete(hand):
            raise Refused
        self.ending = "announced"

    def _part_with(self, face: int, is_declaration: bool) -> None:
        hand = self.hands[self.mover]
        blocked = self.taken if self.rules.block_taken_card else None
        copies = [card for card in hand if card[0] == face and card != blocked]
        if not copies:
            raise Refused
        left = [card[0] for card in hand if card != copies[0]]
        is_right = is_declaration and self._is_complete(left)
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
            if len(self.out) == self.rules.num_players - 1:
                self.ending = "wrong_declare"
                return
        if not self.stock and self.rules.stock_out == "void":
            self.ending = "void"
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
            if self.mover not in self.out:
                return

    def _is_complete(self, faces: Sequence[int]) -> bool:
        return _is_complete(tuple(sorted(faces)), self.wild, self.options)

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


_known_answers: dict[tuple[tuple[int, ...], int, oracle.Options], bool] = {}


def _is_complete(faces: tuple[int, ...], wild: int, options: oracle.Options) -> bool:
    """The oracle's answer, asked once a hand: every copy of the table asks it again."""
    key = (faces, wild, options)
    if key not in _known_answers:
        # A hand without any pure sequence is the usual case, and quick to see.
        _known_answers[key] = _may_be_complete(faces, options) and oracle.is_complete(faces, wild, options)
    return _known_answers[key]


def _may_be_complete(faces: tuple[int, ...], options: oracle.Options) -> bool:
    """False only if a pure sequence is asked for and no three cards in a row are held."""
    if options.min_pure_sequences == 0 or options.tanala:
        return True
    held = set(faces)
    return any(
        {13 * suit + rank % 13 for rank in range(low, low + 3)} <= held for suit in range(4) for low in range(12)
    )
