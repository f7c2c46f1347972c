"""A view as text for a terminal or a log: the table, the other seats, the last turns, the own hand."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from paplu_env.cards import NUM_RANKS, NUM_SUITS, PRINTED_JOKER, faces_of, format_card, format_cards, is_wild
from paplu_env.engine.log import log_face, log_seat, log_source
from paplu_env.engine.state import (
    ENDING_NAMES,
    IN,
    LOG_ANNOUNCED,
    LOG_CLOSED,
    LOG_DROPPED,
    LOG_NOTHING,
    LOG_WRONG,
    NONE,
    NOT_ACTIVE,
    OVER,
    PHASE_NAMES,
    STATUS_NAMES,
    Views,
)
from paplu_env.rules import RuleSet

_WILD_MARK: Final = "*"
_RECENT: Final = 6  # turns of the log that are shown
_RED: Final = "\x1b[31m"
_BOLD: Final = "\x1b[1m"
_PLAIN: Final = "\x1b[0m"


def format_view(views: Views, rules: RuleSet, color: bool = False) -> str:
    """What a seat sees, in several lines without a last line break.

    Args:
        views: ``(1,)``, the view of one seat, as `engine.player_view` gives it.
        color: red suits in red and wild cards bold, by ANSI escapes; else plain text.
    """
    view = views[0]
    seat = int(view["seat"])
    lines = [_format_head(view, rules, seat), _format_table(view, color)]
    lines += [_format_seat(view, other, color) for other in range(rules.num_players) if other != seat]
    lines += _format_turns(view, seat)
    lines.append(_format_own(view, color))
    return "\n".join(lines)


def _format_head(view: Any, rules: RuleSet, seat: int) -> str:
    head = f"{rules} · you are seat {seat} · draw {int(view['draws'])} of at most {rules.max_turns}"
    if int(view["phase"]) != OVER:
        mover = int(view["current_player"])
        who = "you" if mover == seat else f"seat {mover}"
        return f"{head} · to move: {who} ({PHASE_NAMES[int(view['phase'])]})"
    winner = int(view["winner"])
    points = " ".join(f"{int(value):+d}" for value in view["returns"][: rules.num_players])
    won = "nobody won" if winner < 0 else "you won" if winner == seat else f"seat {winner} won"
    return f"{head} · over ({ENDING_NAMES[int(view['ending'])]}): {won}, points by seat {points}"


def _format_table(view: Any, color: bool) -> str:
    pile = [int(face) for face in view["pile"][: int(view["pile_size"])]]
    top = _format_face(pile[-1], int(view["wild"]), color) if pile else "none"
    below = f" (under it {format_cards(pile[-2:-5:-1])})" if len(pile) > 1 else ""
    return (
        f"indicator {format_card(int(view['indicator']))} · open card {top}{below} · "
        f"open pile {len(pile)} · closed stock {int(view['stock_size'])}"
    )


def _format_seat(view: Any, other: int, color: bool) -> str:
    """What is known of another seat."""
    status = int(view["status"][other])
    text = f"seat {other}: {STATUS_NAMES[status]}"
    if status != NOT_ACTIVE:
        text += f", {int(view['drew'][other])} draws"
    if view["shown"][other].any():
        return f"{text}, hand {_format_counts(view['shown'][other], int(view['wild']), color)}"
    known = faces_of(view["known"][other])
    if status == IN and known:
        text += f", took and holds {' '.join(_format_face(face, int(view['wild']), color) for face in known)}"
    return text


def _format_turns(view: Any, seat: int) -> list[str]:
    """The last turns, oldest first, in one line."""
    entries = [int(entry) for entry in view["log"][: int(view["log_size"])]][-_RECENT:]
    if not entries:
        return []
    return ["last turns: " + "; ".join(_format_turn(entry, seat) for entry in entries)]


def _format_turn(entry: int, seat: int) -> str:
    mover, source, thrown = log_seat(entry), log_source(entry), log_face(entry)
    who = "you" if mover == seat else f"seat {mover}"
    words = {LOG_DROPPED: "dropped", LOG_ANNOUNCED: "announced", LOG_WRONG: "declared wrongly"}
    if source in words:
        return f"{who} {words[source]}"
    drew = "drew" if source == LOG_CLOSED else f"took {format_card(source)}"
    return f"{who} {drew}" + ("" if thrown == LOG_NOTHING else f", threw {format_card(thrown)}")


def _format_own(view: Any, color: bool) -> str:
    hand = view["hand"]
    text = f"your hand ({int(hand.sum())}): {_format_counts(hand, int(view['wild']), color)}"
    if int(view["drawn"]) != NONE:
        verb = "took" if int(view["taken"]) != NONE else "drew"
        text += f" · you {verb} {_format_face(int(view['drawn']), int(view['wild']), color)}"
    return text


def _format_counts(counts: Any, wild: int, color: bool) -> str:
    """A hand by suits, printed jokers last, wild cards marked."""
    groups = []
    for suit in range(NUM_SUITS + 1):
        part = np.zeros_like(counts)
        part[NUM_RANKS * suit : NUM_RANKS * (suit + 1)] = counts[NUM_RANKS * suit : NUM_RANKS * (suit + 1)]
        if part.any():
            groups.append(" ".join(_format_face(face, wild, color) for face in faces_of(part)))
    return "  ".join(groups) if groups else "none"


def _format_face(face: int, wild: int, color: bool) -> str:
    text = format_card(face) + (_WILD_MARK if is_wild(face, wild) else "")
    if not color:
        return text
    is_red = face != PRINTED_JOKER and NUM_RANKS <= face < 3 * NUM_RANKS  # hearts and diamonds
    style = (_RED if is_red else "") + (_BOLD if is_wild(face, wild) else "")
    return f"{style}{text}{_PLAIN}" if style else text
