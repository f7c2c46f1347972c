"""All chance, written down to the byte: SplitMix64, a shuffle, what seeds are mixed with, and keys for policies.

SplitMix64 with state ``x``: every output first adds ``GAMMA`` to the state and then mixes a copy of it,
``z ^= z >> 30; z *= 0xBF58476D1CE4E5B9; z ^= z >> 27; z *= 0x94D049BB133111EB; z ^= z >> 31``, all
modulo ``2**64``. A number below ``n`` comes from the high 32 bits ``h`` of an output: ``h * n >> 32``,
with another output in its place while ``h * n % 2**32 < 2**32 % n``, so that every number is equally
likely. A shuffle of ``cards[0..size-1]`` goes down from the last place (the top of the stock):
``for p = size-1 .. 1: swap cards[p], cards[below(p + 1)]``.

`mix` can be undone by whoever knows what was mixed in, and so can every key made by it. Therefore the chance of
policies never hangs on the seed of a deal: it has a seed of its own, see `policy_seed_of`.

Products and sums of 64 bits are made of halves, so that NumPy's scalars never overflow when the kernels
run as plain Python.
"""

from __future__ import annotations

import hashlib
from enum import IntEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import njit

Keys = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]

GAMMA: Final = np.uint64(0x9E3779B97F4A7C15)  # 2**64 divided by the golden ratio, made odd
_FIRST_FACTOR: Final = np.uint64(0xBF58476D1CE4E5B9)  # the two factors of the mixer "variant 13" by D. Stafford
_SECOND_FACTOR: Final = np.uint64(0x94D049BB133111EB)
_LOW_HALF: Final = np.uint64(0xFFFFFFFF)
_HALF: Final = np.uint64(32)
_TWO_TO_32: Final = 1 << 32
_SHIFTS: Final = (np.uint64(30), np.uint64(27), np.uint64(31))
_DEALS_OF_A_MATCH: Final = 255  # in the place of a seat, of which no table has as many
_POLICY_SEED: Final = b"paplu-env: the seed of the policies of "


class Purpose(IntEnum):
    """What a seed or a key is mixed with, ``mix(key, np.uint64(purpose))``, before it serves one purpose.

    The numbers are frozen: deals, records and exported results rest on them.
    """

    NEXT_SHUFFLE = 1  # with the seed of a deal or of a shuffle: the seed of the next one
    TURNS_PLAYED_OVER = 2  # with the key of a likely world: the turns of hidden hands in it
    LEARNER_SEAT = 101  # with the seed of a deal or series: the seat of an environment's learner
    LINE_UP = 102  # with the seed of a deal: the opponents that it draws from the pool
    SERIES_DEAL = 2**32  # plus the number of a deal, with the seed of a series: the seed of that deal


class Choice(IntEnum):
    """What the key of a decision is mixed with where its policy leaves more than one thing to chance."""

    FIRST = 0  # whether `random` drops, or the attention of the easy tier lapses
    SECOND = 1  # whether `random` takes the open card, or what the easy tier then throws


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


@njit
def decision_number(draws: int, phase: int) -> int:
    """The number of a decision in its deal.

    Args:
        draws: draws by all seats together so far.
        phase: DRAW or DISCARD.

    A seat that goes out without drawing leaves it as it is for the next seat, which has keys of its own.
    """
    return 2 * draws + phase


@njit
def deal_key(policy_seed: np.uint64, deal: int) -> np.uint64:
    """What the keys of all decisions of a deal hang on.

    Args:
        policy_seed: see `policy_seed_of`.
        deal: number of the deal, from 0, in its match, environment, series or conversation.
    """
    return mix(policy_seed, np.uint64(deal))


@njit
def decision_key(key: np.uint64, seat: int, decision: int) -> np.uint64:
    """The key of one decision: all the chance that a policy may use in it.

    Args:
        key: see `deal_key`.
        seat: who decides.
        decision: see `decision_number`.
    """
    return mix(mix(key, np.uint64(seat)), np.uint64(decision))


def policy_seed_of(seed: int) -> int:
    """The seed of the policies' chance that goes with a seed of deals unless another is given: 0..2**64-1.

    The first eight bytes of a SHA-256 hash of the decimal number, most significant first. So runs repeat, and a policy
    that gets keys can't turn them into the seed of its deals, except by trying seeds: whoever plays against policies
    that aren't trusted draws the two seeds apart, from the system's randomness.

    >>> policy_seed_of(0) != policy_seed_of(1)
    True
    """
    return int.from_bytes(hashlib.sha256(_POLICY_SEED + str(int(seed)).encode()).digest()[:8], "big")


def match_deal_seeds(seed: int, deals: npt.ArrayLike) -> npt.NDArray[np.uint64]:
    """``(B,)`` uint64, the seeds of a match's deals.

    Args:
        seed: of the match, 0..2**64-1.
        deals: ``(B,)``, numbers of the deals, from 0.
    """
    return keys_for(seed, deals, _DEALS_OF_A_MATCH, 0)


def decision_keys(
    policy_seed: int, deals: npt.ArrayLike, seats: npt.ArrayLike, draws: npt.ArrayLike, phases: npt.ArrayLike
) -> Keys:
    """`decision_key` of many decisions, by what the rows of states or views hold.

    Args:
        policy_seed: 0..2**64-1.
        deals, seats, draws, phases: whole numbers that broadcast to ``(B,)``, 0 or more.

    Returns:
        ``(B,)`` uint64.
    """
    given = (np.atleast_1d(np.asarray(part, dtype=np.int64)) for part in (deals, seats, draws, phases))
    deal, seat, draw, phase = (np.ascontiguousarray(part) for part in np.broadcast_arrays(*given))
    keys = np.empty(deal.shape, dtype=np.uint64)
    _decision_rows(np.uint64(policy_seed), deal, seat, draw, phase, keys)
    return keys


def keys_for(seed: int, deal: npt.ArrayLike, seat: npt.ArrayLike, decision: npt.ArrayLike) -> npt.NDArray[np.uint64]:
    """A hash of a seed and three numbers, for whatever hangs on them.

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
def _decision_rows(policy_seed: np.uint64, deals: Ints, seats: Ints, draws: Ints, phases: Ints, keys: Keys) -> None:
    for i in range(len(keys)):
        number = decision_number(int(draws[i]), int(phases[i]))
        keys[i] = decision_key(deal_key(policy_seed, int(deals[i])), int(seats[i]), number)


@njit
def _hash_rows(seed: np.uint64, deals: Keys, seats: Keys, decisions: Keys, keys: Keys) -> None:
    for i in range(len(keys)):
        keys[i] = mix(mix(mix(seed, deals[i]), seats[i]), decisions[i])
