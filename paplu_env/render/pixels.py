"""A view as a picture: the table from one seat, its hand laid out in the best arrangement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from paplu_env import melds
from paplu_env.cards import faces_of, is_wild
from paplu_env.engine.state import DISCARD, IN, NONE, OVER, STATUS_NAMES, Views
from paplu_env.errors import InvalidHand, InvalidRules
from paplu_env.render.canvas import Canvas, Pixels, text_width
from paplu_env.render.cards import CARD_HEIGHT, CARD_WIDTH, card_back, card_face, card_mask
from paplu_env.render.words import ending_words, log_words, seat_names
from paplu_env.rules import RuleSet

WIDTH: Final = 1024  # even, as video codecs want it
HEIGHT: Final = 640

_FELT: Final = (22, 92, 60)
_FELT_DARK: Final = (15, 70, 45)
_WHITE: Final = (244, 246, 240)
_PALE: Final = (178, 214, 192)
_GOLD: Final = (244, 196, 72)
_SHADOW: Final = (8, 40, 26)

_MARGIN: Final = 28
_OTHERS_TOP: Final = 22  # the other seats
_PILES_TOP: Final = 216  # stock, open pile, indicator
_HAND_TOP: Final = 452  # the own hand
_LEAST_STEP: Final = 16  # of a card in a row, so that ranks stay readable; else two rows are laid
_ROW_DROP: Final = 44  # of the second row
_TURNS_LEFT: Final = 552  # last turns, or how the deal ended
_SHOWN_LINES: Final = 10


def draw_view(views: Views, rules: RuleSet) -> Pixels:
    """What a seat sees, as a picture.

    Args:
        views: ``(1,)``, the view of one seat, as `engine.player_view` gives it.

    Returns:
        ``(HEIGHT, WIDTH, 3)`` uint8, a new array.
    """
    view = views[0]
    names = seat_names(rules.num_players, int(view["seat"]))
    canvas = Canvas(WIDTH, HEIGHT, _FELT)
    canvas.box(0, _HAND_TOP - 34, WIDTH, HEIGHT, _FELT_DARK)
    _draw_others(canvas, view, rules, names)
    _draw_piles(canvas, view)
    _draw_turns(canvas, view, names)
    _draw_own(canvas, view, rules)
    return canvas.image()


def _draw_others(canvas: Canvas, view: Any, rules: RuleSet, names: Sequence[str]) -> None:
    """The other seats side by side in the order of play: what lies open or is known, and backs for the rest."""
    me, players = int(view["seat"]), rules.num_players
    step = int(rules.packed["step"][0])
    width = (WIDTH - 2 * _MARGIN) // (players - 1)
    for place in range(players - 1):
        seat = (me + (place + 1) * step) % players
        left = _MARGIN + place * width
        is_mover = int(view["current_player"]) == seat
        height = 15 if players <= 4 else 10
        canvas.text(left, _OTHERS_TOP, names[seat], height, _GOLD if is_mover else _WHITE)
        status = int(view["status"][seat])
        state = f"draws {int(view['drew'][seat])}" if status == IN else STATUS_NAMES[status]
        canvas.text(left, _OTHERS_TOP + height + 7, state, height - 3, _PALE)
        shown = faces_of(view["shown"][seat])
        known = shown or faces_of(view["known"][seat])
        hidden = 0 if shown or status != IN else rules.hand_size - len(known)
        hidden += is_mover and int(view["phase"]) == DISCARD
        top = _OTHERS_TOP + 2 * height + 14
        _draw_row(canvas, view, left, top, width - 12, [None] * hidden + list(known))


def _draw_piles(canvas: Canvas, view: Any) -> None:
    """The closed stock, the open pile with the cards under its top, and the indicator."""
    stock = int(view["stock_size"])
    left, top = _MARGIN + 30, _PILES_TOP
    if stock:
        for height in range(min(3, 1 + stock // 20), -1, -1):
            _draw_card(canvas, left - 2 * height, top - 2 * height, card_back())
    else:
        _draw_place(canvas, left, top)
    canvas.centered(left + CARD_WIDTH // 2, top + CARD_HEIGHT + 10, f"stock {stock}", 12, _PALE)
    left += 150
    pile = [int(face) for face in view["pile"][: int(view["pile_size"])]]
    if not pile:
        _draw_place(canvas, left, top)
    for depth, face in reversed(list(enumerate(reversed(pile[-4:])))):
        _draw_card(canvas, left + 24 * depth, top, card_face(face, is_wild(face, int(view["wild"]))))
    canvas.centered(left + CARD_WIDTH // 2, top + CARD_HEIGHT + 10, f"open {len(pile)}", 12, _PALE)
    left += 230
    indicator = int(view["indicator"])
    _draw_card(canvas, left, top, card_face(indicator, is_wild(indicator, int(view["wild"]))))
    canvas.centered(left + CARD_WIDTH // 2, top + CARD_HEIGHT + 10, "indicator", 12, _PALE)


def _draw_turns(canvas: Canvas, view: Any, names: Sequence[str]) -> None:
    """The last turns in words, the latest at the bottom; or how the deal ended, and its last turns."""
    lines = [(line, 11, _PALE) for words in log_words(view, names) for line in _wrapped(words, 11)][-_SHOWN_LINES:]
    if int(view["phase"]) == OVER:
        ending = [(line, 14, _GOLD) for line in _wrapped(ending_words(view, names), 14)]
        lines = ending + lines[-max(_SHOWN_LINES - 2 - len(ending), 1) :]
    top = _PILES_TOP - 8
    for line, height, color in lines:
        canvas.text(_TURNS_LEFT, top, line, height, color)
        top += height + 8


def _wrapped(text: str, height: int) -> list[str]:
    """Words in lines that fit between the piles and the edge."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and text_width(longer, height) > WIDTH - _MARGIN - _TURNS_LEFT:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def _draw_own(canvas: Canvas, view: Any, rules: RuleSet) -> None:
    """The own hand by groups, and what it is worth."""
    hand, wild = view["hand"].astype(np.uint8), int(view["wild"])
    size = int(hand.sum())
    is_mover = int(view["current_player"]) == int(view["seat"])
    title = f"your hand · seat {int(view['seat'])}"
    if is_mover:
        title += " · discard or declare" if int(view["phase"]) == DISCARD else " · your turn: draw, take or drop"
    canvas.text(_MARGIN, _HAND_TOP - 22, title, 14, _GOLD if is_mover else _WHITE)
    try:
        laid = melds.arrange(hand, wild, rules)
    except (InvalidHand, InvalidRules):  # returned cards, or a game whose hands aren't laid out card by card
        _draw_row(canvas, view, _MARGIN, _HAND_TOP + 26, WIDTH - 2 * _MARGIN, list(faces_of(hand)))
        return
    groups = [(str(meld.kind), meld.faces) for meld in laid.melds]
    if laid.leftovers:
        groups.append((f"left over: {laid.deadwood}", laid.leftovers))
    gap = 18
    step = min(
        CARD_WIDTH - 12,
        (WIDTH - 2 * _MARGIN - gap * (len(groups) - 1) - (CARD_WIDTH - 8) * len(groups)) // max(size - len(groups), 1),
    )
    left = _MARGIN
    drawn = int(view["drawn"])
    for name, faces in groups:
        _draw_cards(canvas, view, left, _HAND_TOP + 26, step, faces, lifted=drawn)
        drawn = NONE if drawn in faces else drawn
        canvas.text(left, _HAND_TOP + CARD_HEIGHT + 40, name, 11, _PALE)
        left += step * (len(faces) - 1) + CARD_WIDTH + gap
    canvas.text(_MARGIN, HEIGHT - 26, f"{laid.points} points if the others declare now", 11, _PALE)


def _draw_row(canvas: Canvas, view: Any, left: int, top: int, width: int, faces: Sequence[int | None]) -> None:
    """Cards in a row of at most this width, in two rows where it would hide their ranks; None is a back."""
    step = min(CARD_WIDTH + 4, (width - CARD_WIDTH) // max(len(faces) - 1, 1))
    if step < _LEAST_STEP and None not in faces:
        half = (len(faces) + 1) // 2
        step = min(CARD_WIDTH + 4, (width - CARD_WIDTH) // max(half - 1, 1))
        _draw_cards(canvas, view, left, top, step, faces[:half])
        _draw_cards(canvas, view, left, top + _ROW_DROP, step, faces[half:])
    else:
        _draw_cards(canvas, view, left, top, step, faces)


def _draw_cards(
    canvas: Canvas, view: Any, left: int, top: int, step: int, faces: Sequence[int | None], lifted: int = NONE
) -> None:
    """Cards one over the other; the first copy of ``lifted`` stands out of the row."""
    for place, face in enumerate(faces):
        picture = card_back() if face is None else card_face(face, is_wild(face, int(view["wild"])))
        rise = 14 if face is not None and face == lifted and face not in faces[:place] else 0
        _draw_card(canvas, left + place * step, top - rise, picture)


def _draw_card(canvas: Canvas, x: int, y: int, picture: Pixels) -> None:
    canvas.shape(x + 2, y + 3, card_mask() * np.float32(0.35), _SHADOW)
    canvas.paste(x, y, picture, card_mask())


def _draw_place(canvas: Canvas, x: int, y: int) -> None:
    """Where a pile would lie."""
    canvas.box(x, y, CARD_WIDTH, CARD_HEIGHT, _PALE, 7, alpha=0.25)
