"""A bot as lines of JSON, one reply to each line, in the manner of chess's UCI and mahjong's mjai.

=========  ================================================  ==================================================
``hello``  first; ``protocol``, ``rules``, ``seed``          ``hello``: who plays what, once it is ready
(events)   see `bots.table.events`; a ``deal`` names ``seat``  ``ok``
``decide``  ``worlds`` or ``milliseconds``, ``explain``      ``action``, with its ``id``, ``candidates`` on demand
``quit``                                                     ``bye``
=========  ================================================  ==================================================

A line that cannot be read or is longer than `MAX_LINE`, an event that cannot have happened, and a decision that fails
get ``error`` with the reason and change nothing. The command ``paplu bot`` passes over blank lines without a reply.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, Final

from paplu_env import __version__, engine
from paplu_env.bots.explanation import Candidate
from paplu_env.bots.policy import Policy
from paplu_env.bots.registry import PolicyLike, make_policy
from paplu_env.bots.table.events import EVENTS, Fields, check_event, events_after, opening_event
from paplu_env.bots.table.seat import Seat
from paplu_env.errors import IllegalAction, InvalidNotation
from paplu_env.reading import parse_json
from paplu_env.rules import RuleSet

PROTOCOL: Final = "paplu-bot 1"  # raised when a host of the old one would be misunderstood
MAX_LINE: Final = 1 << 16  # bytes; the longest message, an end that lays seven hands of 21 cards open, has 600
_MAX_REASON: Final = 1000  # characters of an error's reason

MESSAGES: Final[Mapping[str, Fields]] = {
    "hello": Fields({"protocol": str}, {"rules": str, "seed": int}),
    **EVENTS,
    "decide": Fields({}, {"worlds": int, "milliseconds": float, "explain": bool}),
    "quit": Fields({}, {}),
}


class Conversation:
    """One host's talk with one bot, from ``hello`` to ``quit``.

    Args:
        bot: who plays, as for `make_policy`.
        rules: of the table, unless ``hello`` names others.
        seed: all the chance that the bot uses, unless ``hello`` names another.

    Raises:
        PapluError: an unknown bot, or one that doesn't play the rules.

    >>> talk = Conversation("mindist")
    >>> talk.answer('{"type": "decide"}')["reason"]
    "decide: the first line is a hello, with the protocol 'paplu-bot 1'"
    """

    def __init__(self, bot: PolicyLike, rules: RuleSet | str | None = None, seed: int = 0) -> None:
        self.is_over = False
        self._bot = bot
        self._seed = seed
        self._policy: Policy = make_policy(bot, rules)
        self._is_open = False
        self._number = -1  # of the last deal
        self._seat: Seat | None = None

    def answer(self, line: str | bytes) -> dict[str, Any]:
        """The reply to one line."""
        try:
            message = _read(line)
            kind = check_event(message, MESSAGES)
            return self._reply(kind, message)
        except Exception as error:  # a fault in a bot must not end the talk: the host may ask again, or play on alone
            reason = str(error) or repr(error)
            if len(reason) > _MAX_REASON:
                reason = f"{reason[:_MAX_REASON]}…"
            return {"type": "error", "error": type(error).__name__, "reason": reason}

    def _reply(self, kind: str, message: Mapping[str, Any]) -> dict[str, Any]:
        if kind == "quit":
            self.is_over = True
            return {"type": "bye"}
        if kind == "hello":
            return self._hello(message)
        if not self._is_open:
            raise IllegalAction(f"{kind}: the first line is a hello, with the protocol {PROTOCOL!r}")
        if kind == "deal":
            self._sit(message)
            return {"type": "ok"}
        if self._seat is None:
            raise IllegalAction(f"{kind}: no deal has been seen yet")
        if kind == "decide":
            return self._decide(message, self._seat)
        self._seat.see(message)
        return {"type": "ok"}

    def _hello(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Agree on protocol and rules, and answer when nothing is left to be compiled."""
        if message["protocol"] != PROTOCOL:
            raise InvalidNotation(f"hello: this bot speaks {PROTOCOL!r}, not {message['protocol']!r}")
        policy = make_policy(self._bot, message["rules"]) if "rules" in message else self._policy
        seed = message.get("seed", self._seed)
        Seat(policy, policy.rules, seed=seed)  # refuses a seed out of range
        _warm_up(policy)
        self._policy, self._seed, self._seat, self._number, self._is_open = policy, seed, None, -1, True
        encoding = getattr(policy, "encoding", None)
        return {
            "type": "hello",
            "protocol": PROTOCOL,
            "bot": policy.name,
            "version": __version__,
            "rules": str(policy.rules),
            "rules_hash": policy.rules.hash,
            "seats": policy.rules.num_players,
            "encoding": None if encoding is None else encoding.name,
            "takes_budget": policy.within(worlds=1) is not policy,
        }

    def _sit(self, message: Mapping[str, Any]) -> None:
        """See a deal, at the seat that it names: another one may be this bot's from deal to deal."""
        if "seat" not in message:
            raise InvalidNotation("deal: seat is missing, which says whose hand this is")
        seat = self._seat
        if seat is None or seat.seat != message["seat"]:
            seat = Seat(self._policy, self._policy.rules, message["seat"], self._seed)
        number = message.get("number", self._number + 1)
        seat.see({**message, "number": number})
        self._seat, self._number = seat, number

    def _decide(self, message: Mapping[str, Any], seat: Seat) -> dict[str, Any]:
        budget = {name: message[name] for name in ("worlds", "milliseconds") if name in message}
        if not message.get("explain"):
            return _action(seat.decide(**budget))
        action, candidates = seat.decide_and_explain(**budget)
        return {**_action(action), "candidates": [_plain(candidate) for candidate in candidates]}


def _read(line: str | bytes) -> Any:
    """The values of a line.

    Raises:
        InvalidNotation: it is not JSON, or too long.
    """
    if len(line) > MAX_LINE:
        raise InvalidNotation(f"a line of over {MAX_LINE:,} bytes: no message is that long")
    try:
        return parse_json(line)
    except InvalidNotation as error:
        raise InvalidNotation(f"the line {error}") from None


def _action(action: int) -> dict[str, Any]:
    return {"type": "action", "action": engine.format_action(action), "id": action}


def _plain(candidate: Candidate) -> dict[str, Any]:
    """A candidate as JSON has it; what is not known is null."""
    values = {**dataclasses.asdict(candidate), "action": engine.format_action(candidate.action)}
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in values.items()
    }


def _warm_up(policy: Policy) -> None:
    """Play a turn at our own engine, so that no host waits for a compiler in the middle of a deal."""
    states, seat = engine.deal(policy.rules, seed=0), Seat(policy, policy.rules)
    before = engine.player_view(states, 0, 0)
    seat.see(opening_event(before))
    seat.decide(worlds=1)
    engine.apply_action(states, 0, engine.DRAW_CLOSED, policy.rules)
    for event in events_after(before, engine.DRAW_CLOSED, engine.player_view(states, 0, 0)):
        seat.see(event)
    seat.decide(worlds=1)
