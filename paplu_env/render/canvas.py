"""A picture to draw on: boxes, shapes and lines of text, with smooth edges."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from paplu_env.render.glyphs import Mask, letter

Pixels = npt.NDArray[np.uint8]  # (height, width, 3), red green blue
Color = tuple[int, int, int]

_SPACE: Final = 0.55  # a blank, as a share of the height of the letters
_GAP: Final = 0.18  # between letters, as above
_WEIGHT: Final = 0.13  # width of a stroke, as above


class Canvas:
    """Pixels of one colour, to be drawn on; what lies outside is cut off."""

    def __init__(self, width: int, height: int, color: Color) -> None:
        self.pixels = np.empty((height, width, 3), dtype=np.float32)
        self.pixels[:] = color

    def image(self) -> Pixels:
        """The picture as it is now, a new array."""
        return np.rint(self.pixels).astype(np.uint8)

    def box(self, x: int, y: int, width: int, height: int, color: Color, radius: float = 0, alpha: float = 1) -> None:
        """A filled box with round corners."""
        rows, columns = np.arange(height)[:, None] + 0.5, np.arange(width)[None, :] + 0.5
        out_x = np.maximum(np.abs(columns - width / 2) - (width / 2 - radius), 0)
        out_y = np.maximum(np.abs(rows - height / 2) - (height / 2 - radius), 0)
        cover = np.clip(radius + 0.5 - np.hypot(out_x, out_y), 0, 1) if radius else np.ones((height, width))
        self.shape(x, y, (alpha * cover).astype(np.float32), color)

    def shape(self, x: int, y: int, mask: Mask, color: Color) -> None:
        """A mask in one colour, its upper left corner at (x, y)."""
        part, cover = self._cut(x, y, mask)
        part += cover[..., None] * (np.array(color, dtype=np.float32) - part)

    def paste(self, x: int, y: int, pixels: Pixels, mask: Mask) -> None:
        """Another picture, where its mask covers it."""
        part, cover = self._cut(x, y, mask)
        top, left = max(-y, 0), max(-x, 0)
        source = pixels[top : top + part.shape[0], left : left + part.shape[1]]
        part += cover[..., None] * (source - part)

    def text(self, x: int, y: int, text: str, height: int, color: Color) -> int:
        """One line with its upper left corner at (x, y); returns its width."""
        start = x
        for character in text:
            if character == " ":
                x += round(_SPACE * height)
                continue
            mask = letter(character, height, max(_WEIGHT * height, 1.2))
            self.shape(x, y, mask, color)
            x += mask.shape[1] + round(_GAP * height)
        return x - start

    def centered(self, x: int, y: int, text: str, height: int, color: Color) -> None:
        """One line whose middle is at ``x``."""
        self.text(x - text_width(text, height) // 2, y, text, height, color)

    def _cut(self, x: int, y: int, mask: Mask) -> tuple[npt.NDArray[np.float32], Mask]:
        """The pixels under a mask, to be written to, and the part of the mask that lies inside."""
        height, width = self.pixels.shape[:2]
        top, left = max(y, 0), max(x, 0)
        bottom, right = min(y + mask.shape[0], height), min(x + mask.shape[1], width)
        bottom, right = max(top, bottom), max(left, right)
        return self.pixels[top:bottom, left:right], mask[top - y : bottom - y, left - x : right - x]


def text_width(text: str, height: int) -> int:
    """How many pixels a line takes."""
    width = 0
    for character in text:
        if character == " ":
            width += round(_SPACE * height)
        else:
            width += letter(character, height, max(_WEIGHT * height, 1.2)).shape[1] + round(_GAP * height)
    return width
