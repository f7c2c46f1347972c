"""What happened at the table in words, from the public part of a view: for terminals, replays and records."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paplu_env.cards import NUM_FACES, format_card, format_hand
from paplu_env.engine.log import log_face, log_seat, log_source
from paplu_env.engine.state import (
    ANNOUNCED,
    DECLARED,
    ENDED_BY_DROP,
    LOG_ANNOUNCED,
    LOG_CLOSED,
    LOG_DROPPED,
    LOG_WRONG,
    LOWER_DEADWOOD,
    TRUNCATED,
    VOID,
    WRONG_DECLARE,
)


def seat_names(num_players: int, seat: int, opponent: str = "opponent") -> list[str]:
    """Names of all seats as one seat says them: ``you``, and the opponent by name (numbered from three seats up)."""
    others = [opponent if num_players == 2 else f"{opponent} {other}" for other in range(num_players)]
    return ["you" if other == seat else others[other] for other in range(num_players)]


def log_words(view: np.void, names: Sequence[str], since: int = 0) -> list[str]:
    """Sentences for the entries of a view's public log, one each.

    Args:
        view: one row of a view array.
        names: of the seats, ``you`` where the reader sits.
        since: entries to leave out at the start.
    """
    entries = [int(entry) for entry in view["log"][: int(view["log_size"])]]
    declared = {place - 1 for place, entry in enumerate(entries) if log_source(entry) == LOG_WRONG}
    if int(view["ending"]) == DECLARED:
        declared.add(len(entries) - 1)
    return [_entry_words(entry, names, place in declared) for place, entry in enumerate(entries)][since:]


def _entry_words(entry: int, names: Sequence[str], is_declaration: bool) -> str:
    """One turn of the log as a sentence."""
    seat, source, discard = log_seat(entry), log_source(entry), log_face(entry)
    name = names[seat]
    s = "" if name == "you" else "s"
    if source == LOG_DROPPED:
        return f"{name} drop{s}"
    if source == LOG_WRONG:
        return f"{name} declared wrongly"
    if source == LOG_ANNOUNCED:
        return f"{name} announce{s} a complete hand"
    drew = f"draw{s} a closed card" if source == LOG_CLOSED else f"take{s} {format_card(source)}"
    if discard >= NUM_FACES:
        return f"{name} {drew}"
    verb = f"declare{s} with" if is_declaration else f"throw{s}"
    return f"{name} {drew} and {verb} {format_card(discard)}"


def ending_words(view: np.void, names: Sequence[str]) -> str:
    """One or two sentences on how a finished deal ended and who pays what."""
    ending, winner, finisher = int(view["ending"]), int(view["winner"]), int(view["finisher"])
    if ending == VOID:
        return "The closed stock is used up: the deal is void, nobody pays."
    if ending == TRUNCATED:
        return "The limit of turns is reached: the deal is cut, nobody pays."
    who = names[finisher] if finisher >= 0 else "nobody"
    verb = "have" if who == "you" else "has"
    how = {
        DECLARED: f"{who} {verb} declared.",
        ANNOUNCED: f"{who} {verb} announced a complete hand.",
        WRONG_DECLARE: f"{who} {verb} declared wrongly.",
        ENDED_BY_DROP: f"{who} {verb} dropped.",
        LOWER_DEADWOOD: "The limit of turns is reached: the lowest hand wins.",
    }[ending]
    if winner < 0:
        return f"{_sentence(how)} Nobody wins."
    results = ", ".join(f"{name} {int(view['returns'][seat]):+d}" for seat, name in enumerate(names))
    won = "win" if names[winner] == "you" else "wins"
    return f"{_sentence(how)} {_sentence(f'{names[winner]} {won}')}: {results} points."


def _sentence(text: str) -> str:
    """A sentence that may begin with "you"; names keep their small letters."""
    return "Y" + text[1:] if text.startswith("you ") else text


def shown_words(view: np.void, names: Sequence[str]) -> list[str]:
    """Hands that lie open at the end, a line each; empty where RULES.md 2.23 keeps them closed."""
    return [
        f"{name}: {format_hand(view['shown'][seat])}" for seat, name in enumerate(names) if view["shown"][seat].any()
    ]
