"""A bot at anybody's table: `Seat` is told what happens there and answers with actions.

A seat keeps nothing but its view, the very row that our own engine would give it. An event is one action
of the engine in a world that looks like that view and in which the event can happen; the new view is what
that world then shows. So every rule is the engine's, and whatever no such world allows is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env import engine
from paplu_env.bots.explanation import Candidate
from paplu_env.bots.policy import Masks, Policy, decision_keys, legal_masks
from paplu_env.bots.registry import PolicyLike, make_policy
from paplu_env.bots.table.events import check_event
from paplu_env.bots.table.seat_worlds import Held, opening_view, parse_counts, with_drawn, world_with
from paplu_env.cards import NUM_FACES, format_card, parse_card
from paplu_env.engine.actions import ANNOUNCE, DECLARE_BASE, DISCARD_BASE, DRAW_CLOSED, DROP, TAKE_OPEN
from paplu_env.engine.arguments import as_seed
from paplu_env.engine.blocked import blocked_face
from paplu_env.engine.piles import open_card_of_view
from paplu_env.engine.state import (
    ENDED_BY_DROP,
    ENDING_NAMES,
    LOWER_DEADWOOD,
    NO_SEAT,
    OVER,
    WRONG_DECLARED,
    Views,
)
from paplu_env.engine.text import describe_view
from paplu_env.engine.unseen_cards import unseen
from paplu_env.errors import IllegalAction, InvalidHand, InvalidNotation, InvalidRules
from paplu_env.rules import RuleSet

_ACTIONS: Final = {"draw": DRAW_CLOSED, "take": TAKE_OPEN, "drop": DROP, "announce": ANNOUNCE}
_BASES: Final = {"discard": DISCARD_BASE, "declare": DECLARE_BASE}


@dataclass(frozen=True)
class _Last:
    """The action that ended the deal, until it is known what everybody held."""

    before: Views
    action: int
    held: Held  # hands that were laid down with it
    unknown: tuple[int, ...] = ()  # seats whose hands lie open and have not been told
    hides_points: bool = False  # a bonus is paid for cards that stay hidden


@dataclass(frozen=True)
class _Position:
    """All that a seat keeps between events."""

    number: int  # of the deal
    view: Views  # (1,)
    reshuffled: tuple[int, ...] = ()  # cards of a pile that became the stock, until its new open card is told
    last: _Last | None = None


class Seat:
    """One seat at a table that another engine deals, for one deal after another.

    Args:
        policy: who plays: a bot's name, the path of an exported one, or a policy.
        rules: of the table; None: what an exported bot was trained for, ``points`` for the others.
        seat: its number at the table.
        seed: 0..2**64-1, all the chance that the bot uses: its own seed, never that of the cards. With the
            ``policy_seed`` of a match's result and the numbers of its deals the bot answers as it does there.

    Raises:
        PapluError: an unknown bot or rules, or no such seat at the table.

    >>> seat = Seat("mindist", "points", seat=0)
    >>> hand = "4S 5S 6S 8H 9H TH 7C 7D 7H KS KH 2D 3C"
    >>> seat.see({"type": "deal", "hand": hand, "indicator": "5D", "open": "QC", "first": 0})
    >>> engine.format_action(seat.decide())
    'draw'
    >>> seat.see({"type": "draw", "seat": 0, "card": "KD"})
    >>> engine.format_action(seat.decide())
    'discard 3C'
    """

    def __init__(self, policy: PolicyLike, rules: RuleSet | str | None = None, seat: int = 0, seed: int = 0) -> None:
        self.policy: Policy = make_policy(policy, rules)
        self.rules = self.policy.rules
        self.seat = seat
        self.seed = int(as_seed(seed))
        self._position: _Position | None = None
        if seat not in range(self.rules.num_players):
            raise InvalidRules(f"seat {seat!r}: the seats of this table are 0..{self.rules.num_players - 1}")

    @property
    def view(self) -> Views:
        """``(1,)``, a copy of what the seat knows, equal to the view that our engine would give.

        Once a deal is over, hands that others lay down, and the points, are zeros until ``end`` has told them.

        Raises:
            IllegalAction: there is no deal yet, or the card that opens a reshuffled pile has not been told.
        """
        return self._settled().view.copy()

    @property
    def is_to_move(self) -> bool:
        """Whether an answer of `decide` is due."""
        position = self._position
        return position is not None and not position.reshuffled and int(position.view["current_player"][0]) == self.seat

    def mask(self) -> Masks:
        """``(1, A)`` bool, what the seat may do.

        Raises:
            IllegalAction: it isn't to move.
        """
        return legal_masks(self._to_decide().view, self.rules)

    def decide(self, worlds: int | None = None, milliseconds: float | None = None) -> int:
        """The bot's action; it counts as done only when the table says so, by an event like those of others.

        Args:
            worlds, milliseconds: a budget, see `Policy.within`.

        Returns:
            An action as `engine.format_action` puts into words.

        Raises:
            IllegalAction: the seat isn't to move.
            PapluError: a budget out of range.
        """
        position = self._to_decide()
        keys = decision_keys(self.seed, [position.number], position.view)
        return int(self.policy.within(worlds, milliseconds).act(position.view, self.mask(), keys)[0])

    def explain(self, worlds: int | None = None, milliseconds: float | None = None) -> list[Candidate]:
        """Why: the legal actions with what the bot thinks of them, see `Policy.explain`.

        Raises:
            IllegalAction: the seat isn't to move.
            PapluError: a budget out of range.
        """
        return self.decide_and_explain(worlds, milliseconds)[1]

    def decide_and_explain(
        self, worlds: int | None = None, milliseconds: float | None = None
    ) -> tuple[int, list[Candidate]]:
        """The answers of `decide` and `explain` from one search, within one budget.

        Raises:
            IllegalAction: the seat isn't to move.
            PapluError: a budget out of range.
        """
        position = self._to_decide()
        key = int(decision_keys(self.seed, [position.number], position.view)[0])
        return self.policy.within(worlds, milliseconds).act_and_explain(position.view, self.mask(), key)

    def see(self, event: Mapping[str, Any]) -> None:
        """Take in what has happened at the table, see `bots.table.events`.

        Raises:
            InvalidNotation: not an event, or one with wrong fields.
            IllegalAction: it is out of turn, or the rules don't allow it.
            InvalidHand: cards that cannot be where it says. Nothing has changed after any of these.
        """
        kind = check_event(event)
        if kind == "deal":
            self._position = self._dealt(event)
        elif kind == "reshuffle":
            self._position = self._after_reshuffle(event)
        elif kind == "end":
            self._position = self._after_end(event)
        else:
            self._position = self._after_move(kind, event)

    def _dealt(self, event: Mapping[str, Any]) -> _Position:
        if event.get("seat", self.seat) != self.seat:
            raise InvalidNotation(f"deal: this is seat {self.seat}, not seat {event['seat']}")
        number = event.get("number", 0 if self._position is None else self._position.number + 1)
        if not 0 <= number < 1 << 63:
            raise InvalidNotation(f"deal: number {number} must be 0..2**63-1")
        return _Position(number, opening_view(event, self.seat, self.rules))

    def _after_move(self, kind: str, event: Mapping[str, Any]) -> _Position:
        """The position after a seat's own action."""
        position = self._settled()
        view, mover = position.view, int(event["seat"])
        to_move = int(view["current_player"][0])
        if to_move == NO_SEAT:
            raise IllegalAction(f"{kind}: the deal is over")
        if mover != to_move:
            raise IllegalAction(f"{kind}: seat {to_move} is to move, not seat {mover} ({describe_view(view, 0)})")
        self._check_told(kind, event, view)
        face = parse_card(event["card"]) if "card" in event else None
        action = _ACTIONS[kind] if kind in _ACTIONS else _BASES[kind] + int(face or 0)
        held: Held = {}
        if mover != self.seat and kind in ("discard", "declare", "announce"):
            held[mover] = self._shown_cards(kind, event, face, view)
        after = self._act(view, action, held)
        if kind == "draw" and mover == self.seat and face is not None:
            after = with_drawn(view, after, face, self.rules)
        if int(after["phase"][0]) == OVER:
            told = held if kind in ("declare", "announce") else {}
            return self._finished(position.number, _Last(view, action, told), after)
        if int(after["reshuffles"][0]) > int(view["reshuffles"][0]) and face is not None:
            pile = view["pile"][0, : int(view["pile_size"][0])]
            return _Position(position.number, after, (*map(int, pile), face))
        return _Position(position.number, after)

    def _check_told(self, kind: str, event: Mapping[str, Any], view: Views) -> None:
        """Refuse cards that are missing, or that this seat cannot have been told."""
        is_own = event["seat"] == self.seat
        if kind == "draw" and is_own != ("card" in event):
            raise InvalidNotation(
                "draw: say which card this seat drew" if is_own else "draw: the card that another seat draws is hidden"
            )
        if kind in ("declare", "announce") and is_own == ("hand" in event):
            raise InvalidNotation(
                f"{kind}: this seat's own hand is known" if is_own else f"{kind}: say which hand the seat lays down"
            )
        size = int(view["pile_size"][0])
        if kind == "take" and "card" in event and size and parse_card(event["card"]) != open_card_of_view(view[0]):
            raise IllegalAction(f"take: {event['card']} is not the open card ({describe_view(view, 0)})")

    def _shown_cards(self, kind: str, event: Mapping[str, Any], face: int | None, view: Views) -> npt.NDArray[np.int64]:
        """What another seat must hold to throw a card or to lay its hand down."""
        mover = int(event["seat"])
        if kind == "discard":
            held = np.zeros(NUM_FACES, dtype=np.int64)
            # The card just taken stays, so another copy is thrown, if there is one; else the engine will refuse.
            is_blocked = blocked_face(int(view["taken"][0]), self.rules.packed[0]) == face
            held[face] = 2 if is_blocked and unseen(view, 0, self.rules)[face] else 1
            return held
        held = parse_counts(event["hand"], self.rules.hand_size, f"{kind}: seat {mover}")
        if face is not None:
            held[face] += 1
        return held

    def _act(self, view: Views, action: int, held: Held) -> Views:
        """What the seat sees after an action of the seat to move, in a world where seats hold these cards."""
        world = world_with(view, held, self.rules)
        reason = engine.why_illegal(world, 0, action, self.rules)
        if reason:
            raise IllegalAction(
                f"{engine.format_action(action)} by seat {int(view['current_player'][0])}: {reason} "
                f"({describe_view(view, 0)})"
            )
        engine.apply_action(world, 0, action, self.rules)
        return engine.player_view(world, 0, self.seat)

    def _finished(self, number: int, last: _Last, after: Views) -> _Position:
        """The position at the end of a deal, without what nobody has told yet."""
        v = after[0]
        unknown = tuple(
            seat
            for seat in range(self.rules.num_players)
            if seat not in (self.seat, *last.held)
            and v["shown"][seat].any()
            and int(last.before["status"][0, seat]) != WRONG_DECLARED
        )
        # A Paplu bonus after a drop is paid to the seat left, which shows no cards.
        hides_points = (
            self.rules.paplu_bonus == "held" and int(v["ending"]) == ENDED_BY_DROP and v["winner"] != self.seat
        )
        v["shown"][list(unknown)] = 0
        if unknown or hides_points:
            v["returns"] = 0
        if unknown and int(v["ending"]) == LOWER_DEADWOOD:
            v["winner"] = NO_SEAT
        return _Position(number, after, last=replace(last, unknown=unknown, hides_points=hides_points))

    def _after_reshuffle(self, event: Mapping[str, Any]) -> _Position:
        position = self._any()
        if not position.reshuffled:
            raise IllegalAction("reshuffle: there are closed cards left, or the deal is over")
        face = parse_card(event["open"])
        view = position.view.copy()
        keeps_top = self.rules.stock_out == "reshuffle_keep_top"
        if face not in (position.reshuffled[-1:] if keeps_top else position.reshuffled):
            raise InvalidHand(
                f"reshuffle: the open card can't be {format_card(face)}: "
                + (f"{format_card(position.reshuffled[-1])} stays" if keeps_top else "it did not lie in the pile")
            )
        view["pile"][0, 0] = face
        return _Position(position.number, view)

    def _after_end(self, event: Mapping[str, Any]) -> _Position:
        """The position with all open hands, compared with what the table says of the result."""
        position = self._settled()
        if position.last is None:
            raise IllegalAction(f"end: the deal goes on ({describe_view(position.view, 0)})")
        last, view = position.last, position.view.copy()
        hands = self._told_hands(event.get("hands", {}), last)
        if hands:
            held = {**last.held, **hands}
            mover = int(last.before["current_player"][0])
            if mover in hands:  # by its discard the deal was cut: it held that card, too
                held[mover][last.action - DISCARD_BASE] += 1
            view = self._act(last.before, last.action, held)
        v, players = view[0], self.rules.num_players
        if last.hides_points:
            v["returns"][:players] = _parse_returns(event, players)
        found = {"ending": ENDING_NAMES[int(v["ending"])], "returns": v["returns"][:players].tolist()}
        for name, value in found.items():
            if event.get(name, value) != value:
                raise IllegalAction(f"end: {name} {event[name]!r}: by the rules {self.rules} it is {value!r}")
        return _Position(position.number, view, last=replace(last, unknown=(), hides_points=False))

    def _told_hands(self, texts: Mapping[str, Any], last: _Last) -> Held:
        """The hands of an ``end``, which must be just those that lie open and have not been told."""
        if sorted(texts) != sorted(map(str, last.unknown)):
            raise InvalidNotation(
                f"end: hands of seats {', '.join(map(str, texts)) or 'none'}: those that lie open and have not been "
                f"told are of seats {', '.join(map(str, last.unknown)) or 'none'}"
            )
        return {
            seat: parse_counts(texts[str(seat)], self.rules.hand_size, f"end: seat {seat}") for seat in last.unknown
        }

    def _any(self) -> _Position:
        if self._position is None:
            raise IllegalAction("no deal has been seen yet: the first event is a deal")
        return self._position

    def _settled(self) -> _Position:
        position = self._any()
        if position.reshuffled:
            raise IllegalAction(
                "the last closed card is gone and the pile becomes the stock: the next event is a reshuffle, which "
                "says what card opens the new pile"
            )
        return position

    def _to_decide(self) -> _Position:
        position = self._settled()
        to_move = int(position.view["current_player"][0])
        if to_move != self.seat:
            raise IllegalAction(
                "the deal is over" if to_move == NO_SEAT else f"seat {to_move} is to move, not seat {self.seat}"
            )
        return position


def _parse_returns(event: Mapping[str, Any], players: int) -> list[int]:
    """The points of a deal that only the table can tell."""
    returns: list[int] = event.get("returns", [])
    fits = len(returns) == players and all(type(points) is int and abs(points) < 1 << 15 for points in returns)
    if not fits or sum(returns) != 0:
        raise InvalidNotation(
            f"end: returns {returns!r}: a bonus is paid for cards that stay hidden, so say {players} whole numbers of "
            "points, which sum to 0"
        )
    return returns
