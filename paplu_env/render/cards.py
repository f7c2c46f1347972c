"""Cards as small pictures, faces and backs."""

from __future__ import annotations

import functools
from typing import Final

from paplu_env.cards import NUM_RANKS, PRINTED_JOKER
from paplu_env.render.canvas import Canvas, Color, Pixels
from paplu_env.render.glyphs import Mask, star, suit

CARD_WIDTH: Final = 66
CARD_HEIGHT: Final = 94
_RADIUS: Final = 7

_PAPER: Final = (250, 249, 244)
_EDGE: Final = (150, 150, 145)
_BLACK: Final = (28, 30, 38)
_RED: Final = (200, 30, 45)
_GOLD: Final = (238, 178, 34)
_WILD_PAPER: Final = (255, 244, 204)
_PURPLE: Final = (112, 48, 160)
_BACK: Final = (38, 70, 138)
_BACK_LINES: Final = (92, 126, 196)

_RANKS: Final = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")
_SUIT_COLORS: Final = (_BLACK, _RED, _RED, _BLACK)  # S H D C


@functools.lru_cache(maxsize=256)
def card_face(face: int, is_wild: bool) -> Pixels:
    """The front of a card; wild ones have a golden edge, and a star under their suit."""
    canvas = _blank(_GOLD if is_wild else _EDGE, 3 if is_wild else 1, _WILD_PAPER if is_wild else _PAPER)
    if face == PRINTED_JOKER:
        canvas.shape(15, 22, star(36), _PURPLE)
        canvas.text(9, 68, "JOKER", 11, _PURPLE)
        return canvas.image()
    color = _SUIT_COLORS[face // NUM_RANKS]
    rank = _RANKS[face % NUM_RANKS]
    canvas.text(8, 9, rank, 19, color)
    canvas.shape(8, 32, suit(face // NUM_RANKS, 15), color)
    canvas.shape(22, 48, suit(face // NUM_RANKS, 38), color)
    if is_wild:
        canvas.shape(8, 53, star(15), _GOLD)  # at the left edge, which other cards leave free
    return canvas.image()


@functools.cache
def card_back() -> Pixels:
    """The back of every card: a lattice."""
    canvas = _blank(_EDGE, 1, _PAPER)
    canvas.box(5, 5, CARD_WIDTH - 10, CARD_HEIGHT - 10, _BACK, 4)
    for y in range(13, CARD_HEIGHT - 12, 12):
        for x in range(12, CARD_WIDTH - 12, 11):
            canvas.shape(x, y, suit(2, 9), _BACK_LINES)
    return canvas.image()


@functools.cache
def card_mask() -> Mask:
    """What a card covers of the table: a box with round corners."""
    canvas = Canvas(CARD_WIDTH, CARD_HEIGHT, (0, 0, 0))
    canvas.box(0, 0, CARD_WIDTH, CARD_HEIGHT, (1, 1, 1), _RADIUS)
    return canvas.pixels[..., 0]


def _blank(edge: Color, edge_width: int, paper: Color) -> Canvas:
    canvas = Canvas(CARD_WIDTH, CARD_HEIGHT, edge)
    inner = CARD_WIDTH - 2 * edge_width, CARD_HEIGHT - 2 * edge_width
    canvas.box(edge_width, edge_width, *inner, paper, _RADIUS - edge_width)
    return canvas
