"""Seeds of deals, each one raw output of its environment's generator, and the seeds of the policies beside them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from gymnasium.utils import seeding

from paplu_env.engine.chance import policy_seed_of

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
    """The generators of many environments, and seeds drawn from them ahead, in blocks.

    Args:
        batch: how many.
        block: seeds drawn at once, since one call to NumPy costs as much as a deal. With 1 nothing is drawn
            before it is needed, so the generators may be used by others too.
    """

    blocks: Seeds  # (B, S), each environment's next seeds
    used: Ints  # (B,), how many of them are used up
    policy_seeds: Seeds  # (B,), each environment's policies take their chance from it, never from a deal's seed
    num_dealt: Ints  # (B,), deals since the generator was made: with the policies' seed, what their keys are made of

    def __init__(self, batch: int, block: int = 128) -> None:
        self._generators: list[np.random.Generator | None] = [None] * batch
        self._origins: list[int] = [0] * batch
        self.blocks = np.zeros((batch, block), dtype=np.uint64)
        self.used = np.full(batch, block, dtype=np.int64)
        self.policy_seeds = np.zeros(batch, dtype=np.uint64)
        self.num_dealt = np.zeros(batch, dtype=np.int64)

    def reseed(self, i: int, seed: int | None) -> None:
        """Make generator ``i`` anew, from the system's randomness if no seed is given."""
        generator, self._origins[i] = seeding.np_random(seed)
        self.adopt(i, generator, self._origins[i])
        self.used[i] = self.blocks.shape[1]

    def adopt(self, i: int, generator: np.random.Generator, origin: int) -> None:
        """Draw the seeds of environment ``i`` from this generator, which was made from the seed ``origin``.

        The policies' seed follows from ``origin`` one way, see `engine.chance.policy_seed_of`; a generator that goes
        on where it was leaves it as it is.
        """
        if self._generators[i] is not generator:
            self._generators[i], self._origins[i] = generator, origin
            self.policy_seeds[i], self.num_dealt[i] = policy_seed_of(origin), 0

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

    def refill(self, rows: Ints) -> None:
        """Draw new blocks for environments whose seeds are used up."""
        for i in rows.tolist():
            self.blocks[i] = draw_seeds(self.generator(i), self.blocks.shape[1])
        self.used[rows] = 0
