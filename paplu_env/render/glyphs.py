"""Shapes to draw with: letters as strokes, suits as curves, both as coverage masks of any size."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.float32]  # (height, width), how much of each pixel a shape covers, 0..1

GLYPH_COLUMNS: Final = 4  # the grid of a letter, whose points are written as two digits, x 0..4 and y 0..6 from the top
GLYPH_ROWS: Final = 6

# Letters as lines through points of that grid; small letters are drawn as large ones, unknown ones as blanks.
_STROKES: Final = {
    "A": "062046 1434",
    "B": "06003041423303 3344453606",
    "C": "4130100105163645",
    "D": "00062644422000",
    "E": "40000646 0333",
    "F": "400006 0333",
    "G": "41301001051636454323",
    "H": "0006 4046 0343",
    "I": "2026 1030 1636",
    "J": "4045361605",
    "K": "0006 400346",
    "L": "000646",
    "M": "0600234046",
    "N": "06004640",
    "O": "103041453616050110",
    "P": "06003041423303",
    "Q": "103041453616050110 2446",
    "R": "06003041423303 2346",
    "S": "413010010213334445361605",
    "T": "0040 2026",
    "U": "000516364540",
    "V": "002640",
    "W": "0016233640",
    "X": "0046 4006",
    "Y": "002340 2326",
    "Z": "00400646",
    "0": "103041453616050110",
    "1": "112026 1636",
    "2": "01103041420646",
    "3": "0110304142334445361605 2333",
    "4": "36300444",
    "5": "400003334445361605",
    "6": "4130100105163645443303",
    "7": "004016",
    "8": "103041423313020110 1304051636454433",
    "9": "4313020110304145361605",
    "+": "2125 0343",
    "-": "0343",
    "−": "0343",
    ":": "2222 2525",
    ".": "2626",
    ",": "2617",
    ";": "2222 2617",
    "·": "2323",
    "(": "30222436",
    ")": "10222416",
    "/": "0640",
    "=": "0242 0444",
    "_": "0646",
    "'": "2021",
}

_SAMPLES: Final = 5  # points a pixel and direction at which a curve is looked at
_Inside = Callable[[npt.NDArray[np.float64], npt.NDArray[np.float64]], npt.NDArray[np.bool_]]


@functools.lru_cache(maxsize=1024)
def letter(character: str, height: int, weight: float) -> Mask:
    """A letter ``height`` pixels high, its strokes ``weight`` pixels wide, with half a stroke around the grid."""
    margin = weight / 2
    scale = (height - weight) / GLYPH_ROWS
    width = round(scale * GLYPH_COLUMNS + weight)
    y, x = np.mgrid[0:height, 0:width] + 0.5
    distance = np.full((height, width), np.inf)
    for line in _STROKES.get(character.upper(), "").split():
        points = [
            (margin + scale * int(a), margin + scale * int(b)) for a, b in zip(line[::2], line[1::2], strict=True)
        ]
        for (x0, y0), (x1, y1) in itertools.pairwise(points):
            along_x, along_y = x1 - x0, y1 - y0
            length = along_x**2 + along_y**2
            part = 0.0 if length == 0 else np.clip(((x - x0) * along_x + (y - y0) * along_y) / length, 0, 1)
            distance = np.minimum(distance, np.hypot(x - x0 - part * along_x, y - y0 - part * along_y))
    return np.clip(weight / 2 + 0.5 - distance, 0, 1).astype(np.float32)


@functools.lru_cache(maxsize=64)
def suit(number: int, height: int) -> Mask:
    """The sign of a suit, S H D C = 0..3, in a square of ``height`` pixels a side."""
    return _coverage((_is_in_spade, _is_in_heart, _is_in_diamond, _is_in_club)[number], height)


@functools.lru_cache(maxsize=16)
def star(height: int) -> Mask:
    """The sign of a joker, a star of five points in a square of ``height`` pixels a side."""
    return _coverage(_is_in_star, height)


def _coverage(is_inside: _Inside, height: int) -> Mask:
    """How much of each pixel of a square lies in a shape; x and y run from -1 to 1, y downwards."""
    steps = (np.arange(height * _SAMPLES) + 0.5) * 2 / (height * _SAMPLES) - 1
    inside = is_inside(steps[None, :], steps[:, None])
    cover: Mask = inside.reshape(height, _SAMPLES, height, _SAMPLES).mean(axis=(1, 3), dtype=np.float32)
    return cover


def _is_in_heart(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    x, y = 1.2 * x, 1.15 * -y + 0.12  # the curve is a little wider and higher than the square
    return (x**2 + y**2 - 1) ** 3 <= x**2 * y**3


def _is_in_diamond(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    return np.abs(x / 0.74) ** 0.9 + np.abs(y) ** 0.9 <= 1  # sides bent inwards a little


def _is_in_spade(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    return _is_in_heart(x * 1.05, -1.25 * y - 0.22) | _is_in_stem(x, y)


def _is_in_club(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    leaves = (np.abs(x) - 0.48) ** 2 + (y - 0.16) ** 2 <= 0.42**2
    top = x**2 + (y + 0.52) ** 2 <= 0.42**2
    middle = x**2 + (y + 0.05) ** 2 <= 0.25**2
    return leaves | top | middle | _is_in_stem(x, y)


def _is_in_stem(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    return (y > 0) & (y < 0.95) & (np.abs(x) < 0.07 + 0.35 * np.clip(y, 0, 1) ** 3)


def _is_in_star(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    radius, angle = np.hypot(x, y), np.arctan2(x, -y)
    turn = np.abs((angle + np.pi / 5) % (2 * np.pi / 5) - np.pi / 5)  # from the nearest point, 0..36 degrees
    # The straight side from a point (radius 1, at 0) to a dent (radius 0.45, at 36 degrees).
    dent_x, dent_y = 0.45 * np.cos(np.pi / 5), 0.45 * np.sin(np.pi / 5)
    along, across = radius * np.cos(turn), radius * np.sin(turn)
    inside: npt.NDArray[np.bool_] = (along - 1) * dent_y - (dent_x - 1) * across <= 0
    return inside
