"""Seeded hands for the tests of the solver, as the arrays that it takes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paplu_env.cards import NUM_FACES, counts_of
from tests.oracle.hands import KINDS, Hand, hands

KINDS_AND_SIZES = [(kind, size) for kind in KINDS for size in (13, 14)]


def batch(drawn: list[Hand]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Counts ``(B, 53)`` and wild masks ``(B,)`` of hands that the oracle holds as lists of cards."""
    counts = np.array([counts_of(cards) for cards, _wild in drawn], dtype=np.uint8).reshape(-1, NUM_FACES)
    return counts, np.array([wild for _cards, wild in drawn], dtype=np.int64)


def mixed_hands(number: int, seed: int, size: int = 13) -> list[Hand]:
    """So many hands of every kind."""
    return [hand for kind in KINDS for hand in hands(kind, number, seed, size)]
