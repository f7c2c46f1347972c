"""Positions as one line of readable text, there and back.

A line holds what a position follows from and nothing that can be derived from it::

    rules points; first 0; indicator 7H; hand 0 AS 2S …; hand 1 3C …; stock 9C … 4H; pile 5D QS; seed 12; log 0:draw/QS

Cards of the stock and the pile stand bottom first. ``active`` (all seats unless given), ``drawn`` (the
card drawn from the stock this turn) and ``ending`` come when they apply. A turn of the log is
``seat:draw/CARD``, ``seat:CARD/CARD`` (taken / thrown), ``seat:draw`` while it is under way,
``seat:drop``, ``seat:wrong`` (that discard was a wrong declaration) or ``seat:announce``.
"""

from __future__ import annotations

from typing import Final

from paplu_env.cards import counts_of, format_card, format_cards, format_hand, parse_card, parse_cards
from paplu_env.engine.log import log_entry, log_face, log_seat, log_source, with_log_face
from paplu_env.engine.recompute import active_seats, derive, loose_cards
from paplu_env.engine.state import (
    ENDING_NAMES,
    LOG_ANNOUNCED,
    LOG_CLOSED,
    LOG_DROPPED,
    LOG_NOTHING,
    LOG_WRONG,
    NONE,
    PHASE_NAMES,
    PILE_CAPACITY,
    UNFINISHED,
    States,
    Views,
    check_table,
    empty_states,
)
from paplu_env.errors import InvalidHand, InvalidNotation, InvalidRules
from paplu_env.rules import RuleSet, parse_rules

_SOURCE_WORDS: Final = {
    LOG_CLOSED: "draw",
    LOG_DROPPED: "drop",
    LOG_WRONG: "wrong",
    LOG_ANNOUNCED: "announce",
}
_SOURCE_CODES: Final = {word: code for code, word in _SOURCE_WORDS.items()}
_FIELDS: Final = ("rules", "first", "active", "indicator", "hand", "stock", "pile", "drawn", "seed", "log", "ending")


def format_position(states: States, i: int, rules: RuleSet) -> str:
    """Row ``i`` in one line, from which `parse_position` makes the same bytes again.

    Raises:
        InvalidRules: the row was dealt under other rules.
    """
    check_table(states, rules, i)
    s = states[i]
    cards, stock_size, pile_size = s["cards"], int(s["stock_size"]), int(s["pile_size"])
    seats = active_seats(s)
    parts = [f"rules {rules}", f"first {int(s['first'])}"]
    if len(seats) < rules.num_players:
        parts.append("active " + " ".join(map(str, seats)))
    parts.append(f"indicator {format_card(int(s['indicator']))}")
    parts += [f"hand {seat} {format_hand(s['hands'][seat])}".rstrip() for seat in seats]
    parts.append(f"stock {format_cards(cards[:stock_size])}".rstrip())
    parts.append(f"pile {format_cards(cards[PILE_CAPACITY - pile_size :][::-1])}".rstrip())
    if int(s["drawn"]) != int(s["taken"]):
        parts.append(f"drawn {format_card(int(s['drawn']))}")
    parts.append(f"seed {int(s['seed'])}")
    if int(s["log_size"]):
        parts.append("log " + " ".join(_format_entry(int(entry)) for entry in s["log"][: int(s["log_size"])]))
    if int(s["ending"]) != UNFINISHED:
        parts.append(f"ending {ENDING_NAMES[int(s['ending'])]}")
    return "; ".join(parts)


def parse_position(text: str, rules: RuleSet) -> States:
    """The state that a line stands for, the inverse of `format_position`.

    The rules may be left out, and the stock: then it is every card that lies nowhere else, in rising face order.

    Returns:
        ``(1,)`` states.

    Raises:
        InvalidNotation: the line cannot be read, or its parts contradict each other.
        InvalidHand: cards missing or too many, or a hand of a wrong size.
        InvalidRules: the line names other rules, or none that can be read.
    """
    fields = _split_fields(text)
    if "rules" in fields and parse_rules(fields["rules"]).hash != rules.hash:
        raise InvalidRules(f"a position of {fields['rules']}, not of {rules}")
    states = empty_states(rules, 1)
    s = states[0]
    first = _parse_number(fields.get("first", "0"), text)
    s["seed"] = _parse_number(fields.get("seed", "0"), text)
    seats = list(range(rules.num_players))
    if "active" in fields:
        seats = sorted(_parse_number(word, text) for word in fields["active"].split())
    if not set(seats) <= set(range(rules.num_players)) or first not in seats or len(set(seats)) < len(seats):
        raise InvalidNotation(f"first {first}, active {seats}: not seats of this table, in {text!r}")
    s["first"] = first
    _check_hand_names(fields, seats, text)
    s["indicator"] = parse_card(fields["indicator"]) if "indicator" in fields else _missing("indicator", text)
    for seat in seats:
        s["hands"][seat] = counts_of(parse_cards(fields.get(f"hand {seat}", "")))
    pile = parse_cards(fields.get("pile", ""))
    if len(pile) > rules.num_cards:
        raise InvalidHand(f"{len(pile)} open cards: the table has {rules.num_cards} in all")
    s["cards"] = NONE
    s["pile_size"] = len(pile)
    s["cards"][PILE_CAPACITY - len(pile) :] = pile[::-1]
    stock = parse_cards(fields["stock"]) if "stock" in fields else loose_cards(s, rules)
    if len(stock) + len(pile) > rules.num_cards:
        raise InvalidHand(f"{len(stock)} closed and {len(pile)} open cards: the table has {rules.num_cards} in all")
    s["stock_size"] = len(stock)
    s["cards"][: len(stock)] = stock
    s["drawn"] = parse_card(fields["drawn"]) if "drawn" in fields else NONE
    log = [_parse_entry(word, rules) for word in fields.get("log", "").split()]
    if len(log) > len(s["log"]):
        raise InvalidNotation(f"a log of {len(log)} turns: a deal has at most {len(s['log'])}")
    s["log_size"] = len(log)
    s["log"][: len(log)] = log
    ending = fields.get("ending", ENDING_NAMES[UNFINISHED])
    if ending not in ENDING_NAMES:
        raise InvalidNotation(f"unknown ending {ending!r}: choose one of {', '.join(ENDING_NAMES)}")
    s["ending"] = ENDING_NAMES.index(ending)
    derive(states, 0, rules, seats)
    return states


def _split_fields(text: str) -> dict[str, str]:
    """The parts of a line by their names; hands by ``hand SEAT``."""
    fields: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        words = part.split()
        size = 2 if words[0] == "hand" else 1
        name = " ".join(words[:size])
        if words[0] not in _FIELDS:
            raise InvalidNotation(f"cannot read {part!r} in the position {text!r}")
        if name in fields:
            raise InvalidNotation(f"{name!r} stands twice in the position {text!r}")
        fields[name] = " ".join(words[size:])
    return fields


def _parse_number(word: str, text: str) -> int:
    """A number of 64 bits, written in the digits 0 to 9."""
    # Twenty digits are enough for 64 bits, and Python refuses to read thousands of them.
    if not (word.isascii() and word.isdigit() and len(word) <= 20 and int(word) < 1 << 64):
        raise InvalidNotation(f"cannot read a number in the position {text!r}: {word!r} is not one of 0..2**64-1")
    return int(word)


def _check_hand_names(fields: dict[str, str], seats: list[int], text: str) -> None:
    """Refuse a hand that no active seat holds."""
    for name in fields:
        if name.startswith("hand") and name not in [f"hand {seat}" for seat in seats]:
            raise InvalidNotation(f"{name!r} in the position {text!r}: the hands of this deal are of seats {seats}")


def _missing(name: str, text: str) -> int:
    raise InvalidNotation(f"no {name} in the position {text!r}")


def _format_entry(entry: int) -> str:
    source, thrown = log_source(entry), log_face(entry)
    word = _SOURCE_WORDS[source] if source in _SOURCE_WORDS else format_card(source)
    return f"{log_seat(entry)}:{word}" + ("" if thrown == LOG_NOTHING else f"/{format_card(thrown)}")


def _parse_entry(text: str, rules: RuleSet) -> int:
    seat_text, _, turn = text.partition(":")
    source_text, slash, thrown_text = turn.partition("/")
    is_seat = seat_text in [str(seat) for seat in range(rules.num_players)]
    if not is_seat or not source_text or (slash and not thrown_text):
        raise InvalidNotation(f"cannot read {text!r} as a turn: write SEAT:draw/CARD, SEAT:CARD/CARD or SEAT:drop")
    source = _SOURCE_CODES[source_text] if source_text in _SOURCE_CODES else parse_card(source_text)
    thrown = parse_card(thrown_text) if thrown_text else LOG_NOTHING
    return with_log_face(log_entry(int(seat_text), source), thrown)


def describe_view(views: Views, i: int) -> str:
    """What a seat sees, in one line, for messages: nothing in it is hidden from the seat."""
    view = views[i]
    pile_size = int(view["pile_size"])
    phase = int(view["phase"])
    parts = [
        f"seat {int(view['seat'])}",
        f"phase {PHASE_NAMES[phase]}",
        f"draw {int(view['draws'])}",
        f"hand {format_hand(view['hand'])}",
        f"open {format_card(int(view['pile'][pile_size - 1])) if pile_size else 'none'}",
        f"indicator {format_card(int(view['indicator']))}",
    ]
    if int(view["taken"]) != NONE:
        parts.append(f"just taken {format_card(int(view['taken']))}")
    return ", ".join(parts)
