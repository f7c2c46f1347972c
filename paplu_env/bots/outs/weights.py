"""The numbers that `outs` plays by, what each stands for, and the files that ship with the package."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from paplu_env.bots.outs.take_odds import NUM_ODDS
from paplu_env.errors import PapluError
from paplu_env.reading import need, parse_json

# Lines, one per distance; hands further away use the last.
NUM_LINES: Final = 7
# Terms of a line.
CONSTANT: Final = 0
LOG_OUTS: Final = 1  # times the logarithm of (outs + 1)
DEADWOOD: Final = 2  # times the points that the best arrangement leaves, uncapped
DRAWS: Final = 3  # times the player's own draws so far
NUM_TERMS: Final = 4
# Further terms of the lines that say what playing on is worth.
WILD_CARDS: Final = 4  # times the wild cards held
NEARER: Final = 5  # if the open card lowers the distance
LATER: Final = 6  # if others had their first turn before
BETTER_DRAW: Final = 7  # times what the hand is worth after the open card or the mean draw, whichever is better
WANTED: Final = 8  # times the faces that others took from the open pile and still hold
NUM_PLAY_ON: Final = 9

# Single numbers.
COMPLETE: Final = 0  # value of a hand that can be declared, points
COST: Final = 1  # what a card costs that the next player takes, points
LOOKED_AT: Final = 2  # discards that are looked at a step further
NUM_SINGLE: Final = 3

FILE: Final = "outs_weights.json"  # of `outs`, written by training.fit.outs; those of frozen tiers stay as they are
_SHAPES: Final = {
    "lines": (NUM_LINES, NUM_TERMS),
    "play_on": (2, NUM_LINES, NUM_PLAY_ON),
    "odds": (NUM_ODDS,),
    "single": (NUM_SINGLE,),
}


class Weights(NamedTuple):
    """All numbers that `outs` plays by, float64."""

    lines: npt.NDArray[np.float64]  # (NUM_LINES, NUM_TERMS), value of a hand whose seat has just thrown, points
    play_on: npt.NDArray[np.float64]  # (2, NUM_LINES, NUM_PLAY_ON), before the first draw and later: of not dropping
    odds: npt.NDArray[np.float64]  # (NUM_ODDS,), log-odds that the next player takes a thrown card
    single: npt.NDArray[np.float64]  # (NUM_SINGLE,)


@cache
def shipped_weights(file: str = FILE) -> Weights:
    """The numbers in a file that ships with the package: of `outs`, or of a frozen tier that plays like it."""
    return parse_weights(resources.files("paplu_env.bots.outs").joinpath(file).read_text(encoding="utf-8"))


def parse_weights(text: str) -> Weights:
    """Weights from JSON with the keys of `Weights`; other keys tell where they come from and are not read.

    Raises:
        PapluError: not JSON, or a key is missing, or an array has another shape or holds something else than numbers.
    """
    data = need(parse_json(text), dict, "weights of outs, the whole")
    arrays = {}
    for name, shape in _SHAPES.items():
        try:
            array = np.array(data.get(name, ()), dtype=np.float64)
        except (ValueError, TypeError) as error:
            raise PapluError(f"weights of outs: {name} is no array of numbers ({error})") from None
        if array.shape != shape:
            raise PapluError(f"weights of outs: {name} has the shape {array.shape}, not {shape}")
        array.setflags(write=False)
        arrays[name] = array
    return Weights(**arrays)
