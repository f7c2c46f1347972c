"""All chance of the engine, written down to the byte: SplitMix64, a shuffle, and keys for bots.

SplitMix64 with state ``x``: every output first adds ``GAMMA`` to the state and then mixes a copy of it,
``z ^= z >> 30; z *= 0xBF58476D1CE4E5B9; z ^= z >> 27; z *= 0x94D049BB133111EB; z ^= z >> 31``, all
modulo ``2**64``. A number below ``n`` comes from the high 32 bits ``h`` of an output: ``h * n >> 32``,
with another output in its place while ``h * n % 2**32 < 2**32 % n``, so that every number is equally
likely. A shuffle of ``cards[0..size-1]`` goes down from the last place (the top of the stock):
``for p = size-1 .. 1: swap cards[p], cards[below(p + 1)]``.

Products and sums of 64 bits are made of halves, so that NumPy's scalars never overflow when the kernels
run as plain Python.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import njit

Keys = npt.NDArray[np.uint64]

GAMMA: Final = np.uint64(0x9E3779B97F4A7C15)  # 2**64 divided by the golden ratio, made odd
_FIRST_FACTOR: Final = np.uint64(0xBF58476D1CE4E5B9)  # the two factors of the mixer "variant 13" by D. Stafford
_SECOND_FACTOR: Final = np.uint64(0x94D049BB133111EB)
_LOW_HALF: Final = np.uint64(0xFFFFFFFF)
_HALF: Final = np.uint64(32)
_TWO_TO_32: Final = 1 << 32
_SHIFTS: Final = (np.uint64(30), np.uint64(27), np.uint64(31))


@njit
def _add(a: np.uint64, b: np.uint64) -> np.uint64:
    """``a + b`` modulo ``2**64``."""
    low = (a & _LOW_HALF) + (b & _LOW_HALF)
    high = (a >> _HALF) + (b >> _HALF) + (low >> _HALF)
    return ((high & _LOW_HALF) << _HALF) | (low & _LOW_HALF)


@njit
def _multiply(a: np.uint64, b: np.uint64) -> np.uint64:
    """``a * b`` modulo ``2**64``."""
    low = (a & _LOW_HALF) * (b & _LOW_HALF)
    across = (((a >> _HALF) * (b & _LOW_HALF)) & _LOW_HALF) + (((a & _LOW_HALF) * (b >> _HALF)) & _LOW_HALF)
    high = (low >> _HALF) + across
    return ((high & _LOW_HALF) << _HALF) | (low & _LOW_HALF)


@njit
def splitmix64(state: np.uint64) -> np.uint64:
    """The first output of SplitMix64 from a state; the state of the second is ``state + GAMMA``."""
    z = _add(state, GAMMA)
    z = _multiply(z ^ (z >> _SHIFTS[0]), _FIRST_FACTOR)
    z = _multiply(z ^ (z >> _SHIFTS[1]), _SECOND_FACTOR)
    return z ^ (z >> _SHIFTS[2])


@njit
def mix(key: np.uint64, value: np.uint64) -> np.uint64:
    """A key that depends on another key and on a value, for keys within keys."""
    return splitmix64(splitmix64(key) ^ value)


@njit
def draw_below(state: np.uint64, n: int) -> tuple[np.uint64, int]:
    """The generator's next state, and a number 0..n-1 each of which is equally likely (n < 2**31)."""
    product = int(np.int64(splitmix64(state) >> _HALF)) * n
    state = _add(state, GAMMA)
    if product % _TWO_TO_32 < n:  # cheap, and rarely so: only then does the exact bound need a division
        bound = _TWO_TO_32 % n
        while product % _TWO_TO_32 < bound:
            product = int(np.int64(splitmix64(state) >> _HALF)) * n
            state = _add(state, GAMMA)
    return state, product >> 32


@njit
def below(key: np.uint64, n: int) -> int:
    """The number 0..n-1 that a key stands for."""
    return draw_below(key, n)[1]


@njit
def shuffle(cards: npt.NDArray[np.uint8], size: int, seed: np.uint64) -> None:
    """Shuffle ``cards[0..size-1]`` in place; a function of the seed and the order before."""
    state = seed
    for place in range(size - 1, 0, -1):
        state, other = draw_below(state, place + 1)
        card = cards[place]
        cards[place] = cards[other]
        cards[other] = card


def keys_for(seed: int, deal: npt.ArrayLike, seat: npt.ArrayLike, decision: npt.ArrayLike) -> npt.NDArray[np.uint64]:
    """Keys of a bot's decisions: a hash of the match's seed, the deal, the seat and the decision.

    Args:
        seed: 0..2**64-1.
        deal, seat, decision: numbers that broadcast to ``(B,)``, 0 or more.

    Returns:
        ``(B,)`` uint64.
    """
    parts = np.broadcast_arrays(*(np.atleast_1d(np.asarray(part, dtype=np.uint64)) for part in (deal, seat, decision)))
    deals, seats, decisions = (np.ascontiguousarray(part) for part in parts)
    keys = np.empty(deals.shape, dtype=np.uint64)
    _hash_rows(np.uint64(seed), deals, seats, decisions, keys)
    return keys


@njit
def _hash_rows(seed: np.uint64, deals: Keys, seats: Keys, decisions: Keys, keys: Keys) -> None:
    for i in range(len(keys)):
        keys[i] = mix(mix(mix(seed, deals[i]), seats[i]), decisions[i])
