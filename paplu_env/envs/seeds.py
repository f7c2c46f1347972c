"""Seeds of deals: each is one raw output of its environment's generator."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
from gymnasium.utils import seeding

Ints = npt.NDArray[np.int64]
Seeds = npt.NDArray[np.uint64]


def draw_seeds(generator: np.random.Generator, count: int) -> Seeds:
    """``(count,)`` seeds of deals.

    Raw outputs, because NumPy promises that these stay what they are in later versions, and because it
    makes no difference then whether they are drawn one at a time or many at once.
    """
    seeds: Seeds = generator.bit_generator.random_raw(count)
    return seeds


class SeedStreams:
    """The generators of many environments, and seeds drawn from them ahead, in blocks."""

    _BLOCK: Final = 128  # seeds drawn at once: one call to NumPy costs as much as a deal

    def __init__(self, batch: int) -> None:
        self._generators: list[np.random.Generator | None] = [None] * batch
        self._origins: list[int] = [0] * batch
        self._blocks = np.zeros((batch, self._BLOCK), dtype=np.uint64)
        self._used = np.full(batch, self._BLOCK, dtype=np.int64)

    def reseed(self, i: int, seed: int | None) -> None:
        """Make generator ``i`` anew, from the system's randomness if no seed is given."""
        self._generators[i], self._origins[i] = seeding.np_random(seed)
        self._used[i] = self._BLOCK

    def generator(self, i: int) -> np.random.Generator:
        """Generator ``i``, made now if there is none yet."""
        found = self._generators[i]
        if found is None:
            self.reseed(i, None)
            return self.generator(i)
        return found

    def origin(self, i: int) -> int:
        """The seed of generator ``i``."""
        self.generator(i)
        return self._origins[i]

    def draw(self, rows: Ints) -> Seeds:
        """``(N,)`` the next seed of each of these environments."""
        for i in rows[self._used[rows] == self._BLOCK]:
            self._blocks[i] = draw_seeds(self.generator(i), self._BLOCK)
            self._used[i] = 0
        seeds = self._blocks[rows, self._used[rows]]
        self._used[rows] += 1
        return seeds
