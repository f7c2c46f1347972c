"""What happens at a table as one seat sees it: plain values in card notation, the same in Python and as JSON.

=========  =======================================================================================
``deal``   ``hand``, ``indicator``, ``open`` (the first open card), ``first`` (the seat that begins);
           where they differ from all seats and from counting: ``active`` (seats dealt in), ``number``
           (of the deal); ``seat`` may say whose hand it is
``draw``   ``seat``, from the closed stock, and ``card`` if it is the own seat
``take``   ``seat``, the open card; ``card`` may name it
``discard``  ``seat``, ``card``
``drop``   ``seat``
``declare``  ``seat``, ``card`` (the finish card), and of another seat the ``hand`` that it lays down
``announce``  ``seat``, and of another seat the ``hand`` that it lays down
``reshuffle``  ``open``: the pile has become the stock, and this card opens the new pile
``end``    optional, once the deal is over: ``hands`` (by seat, all others that lie open and were not
           laid down before), ``ending`` and ``returns``, which are compared
=========  =======================================================================================

Seats are numbers, cards and hands are notation (`paplu_env.cards`).
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from paplu_env.cards import format_card, format_hand
from paplu_env.engine.actions import ANNOUNCE, DECLARE_BASE, DISCARD_BASE, DRAW_CLOSED, DROP, TAKE_OPEN
from paplu_env.engine.recompute import active_seats
from paplu_env.engine.state import ENDING_NAMES, OVER, WRONG_DECLARED, Views
from paplu_env.errors import InvalidNotation

Event = dict[str, Any]

_MAX_TEXT: Final = 200  # characters: a hand of 21 cards has 62
_MAX_ENTRIES: Final = 100  # of a list or table: one per seat
_MAX_BITS: Final = 64  # of a whole number, as the seed has

_KINDS: Final[dict[type, str]] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "a mapping",
}


@dataclass(frozen=True)
class Fields:
    """The fields of one type of message, with the types of their values."""

    needed: Mapping[str, type]
    optional: Mapping[str, type]


EVENTS: Final[Mapping[str, Fields]] = {
    "deal": Fields(
        {"hand": str, "indicator": str, "open": str, "first": int}, {"seat": int, "active": list, "number": int}
    ),
    "draw": Fields({"seat": int}, {"card": str}),
    "take": Fields({"seat": int}, {"card": str}),
    "discard": Fields({"seat": int, "card": str}, {}),
    "drop": Fields({"seat": int}, {}),
    "declare": Fields({"seat": int, "card": str}, {"hand": str}),
    "announce": Fields({"seat": int}, {"hand": str}),
    "reshuffle": Fields({"open": str}, {}),
    "end": Fields({}, {"hands": dict, "ending": str, "returns": list}),
}


def check_event(event: Any, kinds: Mapping[str, Fields] = EVENTS) -> str:
    """The type of an event (or of another message), once it has the fields of its type and no others.

    Raises:
        InvalidNotation: it has not.
    """
    kind = event.get("type") if isinstance(event, Mapping) else None
    if not isinstance(kind, str) or kind not in kinds:
        raise InvalidNotation(f"{reprlib.repr(event)}: a mapping is needed, its type one of {', '.join(kinds)}")
    fields = kinds[kind]
    known = {**fields.needed, **fields.optional}
    for name in fields.needed:
        if name not in event:
            raise InvalidNotation(f"{kind}: {name} is missing")
    for name, value in event.items():
        if name == "type":
            continue
        if name not in known:
            raise InvalidNotation(f"{kind}: there is no field {name!r}, only {', '.join(known) or 'the type'}")
        # Not isinstance: to JSON ``true`` is not the number 1.
        if type(value) is not known[name] and not (known[name] is float and type(value) is int):
            raise InvalidNotation(f"{kind}: {name} is {reprlib.repr(value)}, and must be {_KINDS[known[name]]}")
        _check_size(f"{kind}: {name}", value)
    return kind


def _check_size(what: str, value: Any) -> None:
    """Refuse values that no table tells, before anybody works on them or repeats them in a message."""
    if isinstance(value, (str, list, dict)):
        most = _MAX_TEXT if isinstance(value, str) else _MAX_ENTRIES
        if len(value) > most:
            unit = "characters" if isinstance(value, str) else "entries"
            raise InvalidNotation(f"{what} has {len(value):,} {unit}, and may have {most:,}")
        for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            _check_size(what, part)
    elif isinstance(value, int) and value.bit_length() > _MAX_BITS:
        raise InvalidNotation(f"{what} is a whole number of {value.bit_length()} bits, and may have {_MAX_BITS}")
    elif isinstance(value, float) and not math.isfinite(value):
        raise InvalidNotation(f"{what} is {value}, which is no number")


def opening_event(view: Views, number: int | None = None) -> Event:
    """The deal that a fresh view ``(1,)`` of our engine shows, for a seat at somebody else's.

    Args:
        number: of the deal in its match, which the keys of decisions depend on.
    """
    v = view[0]
    event: Event = {
        "type": "deal",
        "seat": int(v["seat"]),
        "hand": format_hand(v["hand"]),
        "indicator": format_card(int(v["indicator"])),
        "open": format_card(int(v["pile"][0])),
        "first": int(v["first"]),
    }
    seats = [seat for seat in active_seats(v) if seat < int(v["num_players"])]
    if len(seats) < int(v["num_players"]):
        event["active"] = seats
    if number is not None:
        event["number"] = number
    return event


def events_after(before: Views, action: int, after: Views) -> list[Event]:
    """What an action at our engine was to a seat, from its views ``(1,)`` before and after it."""
    old, new = before[0], after[0]
    me, mover = int(old["seat"]), int(old["current_player"])
    event: Event = {"type": "", "seat": mover}
    if action == DRAW_CLOSED:
        event["type"] = "draw"
        if mover == me:
            event["card"] = format_card(int(new["drawn"]))
    elif action == TAKE_OPEN:
        event["type"] = "take"
    elif action == DROP:
        event["type"] = "drop"
    elif action == ANNOUNCE:
        event["type"] = "announce"
    elif action >= DECLARE_BASE:
        event.update(type="declare", card=format_card(action - DECLARE_BASE))
    else:
        event.update(type="discard", card=format_card(action - DISCARD_BASE))
    if mover != me and event["type"] in ("declare", "announce"):
        event["hand"] = format_hand(new["shown"][mover])
    events = [event]
    if int(new["reshuffles"]) > int(old["reshuffles"]):
        events.append({"type": "reshuffle", "open": format_card(int(new["pile"][0]))})
    if int(new["phase"]) == OVER:
        events.append(_end_event(old, new, {me, mover} if "hand" in event else {me}))
    return events


def _end_event(old: Any, new: Any, told: set[int]) -> Event:
    hands = {
        str(seat): format_hand(new["shown"][seat])
        for seat in range(int(new["num_players"]))
        if seat not in told and new["shown"][seat].any() and int(old["status"][seat]) != WRONG_DECLARED
    }
    returns = [int(points) for points in new["returns"][: int(new["num_players"])]]
    end: Event = {"type": "end", "ending": ENDING_NAMES[int(new["ending"])], "returns": returns}
    return {**end, "hands": hands} if hands else end
