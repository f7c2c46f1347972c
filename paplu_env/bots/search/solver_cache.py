"""Answers of the solver, kept while a search meets the same hands again.

After a candidate and a draw a seat's own hand is one of a few hundred, however many worlds are tried, and the
opponent's is the same after every candidate of a world. What the solver says of a hand depends on its cards and on the
wild faces alone, so it is asked once; how many of the outs are still unseen is counted anew every time. A place holds
one hand, and the latest hand that belongs there: what is kept changes how long an answer takes and nothing else.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from paplu_env._jit import njit, popcount
from paplu_env.cards import NUM_FACES, PRINTED_JOKER, Counts
from paplu_env.engine.chance import mix
from paplu_env.melds.fast_distance.distance_kernels import NOT_HELD
from paplu_env.melds.fast_distance.distance_table import Table
from paplu_env.melds.fast_distance.outs_by_discard import NOTHING
from paplu_env.melds.fast_distance.outs_kernels import discard_faces_kernel, outs_kernel
from paplu_env.melds.fast_points.deadwood_kernels import deadwood_kernel
from paplu_env.melds.fast_points.lives_kernels import lives_kernel
from paplu_env.rules import RuleSet

PLACES: Final = 1024  # of each kind of hand, a power of two; 256 to 4096 take equally long

_KEY: Final = 4  # faces held once or thrice, twice or thrice, printed jokers held, wild faces
_EMPTY: Final = -1  # no mask of faces

# What is kept of a hand of the dealt size.
DISTANCE: Final = 0
OUTS: Final = 1  # mask of faces, those held in all copies left out, but for the printed joker
DEADWOOD: Final = 2
LIVES: Final = 3
_NUM_ANSWERS: Final = 4

# Rows of the scratch to work in.
_ONE_EACH: Final = 0  # one copy of every face: the outs are asked for as faces
_OUT_FACES: Final = 1
CACHE_SCRATCH_ROWS: Final = 2


class SolverCache(NamedTuple):
    """Hands and what the solver said of them, for one set of rules; written to by the kernels."""

    larger: npt.NDArray[np.int64]  # (PLACES, 4) hands with one card more
    distances: npt.NDArray[np.uint8]  # (PLACES, hand_size + 1) after each discard, by the faces held in their order
    faces: npt.NDArray[np.int64]  # (PLACES, hand_size + 1) masks of the outs after it, if it leaves the lowest distance
    hands: npt.NDArray[np.int64]  # (PLACES, 4) hands of the dealt size
    answers: npt.NDArray[np.int64]  # (PLACES, 4)


def new_solver_cache(rules: RuleSet) -> SolverCache:
    """A cache that knows nothing yet; threads must not share one."""
    return empty_solver_cache(rules.hand_size)


@njit
def empty_solver_cache(hand_size: int) -> SolverCache:
    """`new_solver_cache` for kernels."""
    return SolverCache(
        np.full((PLACES, _KEY), _EMPTY, dtype=np.int64),
        np.empty((PLACES, hand_size + 1), dtype=np.uint8),
        np.empty((PLACES, hand_size + 1), dtype=np.int64),
        np.full((PLACES, _KEY), _EMPTY, dtype=np.int64),
        np.empty((PLACES, _NUM_ANSWERS), dtype=np.int64),
    )


@njit
def cached_discard_outs(
    counts: Counts,
    wild: int,
    unseen: npt.NDArray[np.uint8],
    r: Any,
    table: Table,
    cache: SolverCache,
    distances: npt.NDArray[np.uint8],
    totals: npt.NDArray[np.uint8],
) -> None:
    """Fill ``distances`` and ``totals`` as `discard_outs_kernel` does."""
    place, is_known = _place_of(counts, wild, cache.larger)
    if not is_known:
        _ask_discards(counts, wild, r, table, cache, place, distances)
    once, twice = _planes(unseen)
    nth = 0
    for face in range(NUM_FACES):
        totals[face] = 0
        if int(counts[face]) == 0:
            distances[face] = NOT_HELD
            continue
        distances[face] = cache.distances[place, nth]
        outs = int(cache.faces[place, nth])
        jokers = int(unseen[PRINTED_JOKER]) if outs >> PRINTED_JOKER & 1 else 0
        totals[face] = popcount(outs & once) + 2 * popcount(outs & twice) + jokers
        nth += 1


@njit
def _ask_discards(
    counts: Counts, wild: int, r: Any, table: Table, cache: SolverCache, place: int, distances: npt.NDArray[np.uint8]
) -> None:
    """Ask the solver about a hand with one card more. ``distances`` is written."""
    gained = np.zeros(NOTHING + 1, dtype=np.int64)
    discard_faces_kernel(counts, wild, _not_all_held(counts, r), r, table, distances, gained)
    nth = 0
    for face in range(NUM_FACES):
        if int(counts[face]) > 0:
            cache.distances[place, nth] = distances[face]
            cache.faces[place, nth] = gained[face]
            nth += 1


@njit
def cached_answers(
    counts: Counts, wild: int, r: Any, table: Table, cache: SolverCache, scratch: npt.NDArray[np.uint8]
) -> int:
    """The place in ``cache.answers`` of what is known of a hand of the dealt size.

    Args:
        scratch: ``(CACHE_SCRATCH_ROWS, 53)``, to work in.
    """
    place, is_known = _place_of(counts, wild, cache.hands)
    if not is_known:
        scratch[_ONE_EACH, :] = 1
        outs, answers = scratch[_OUT_FACES], cache.answers[place]
        answers[DISTANCE] = outs_kernel(counts, wild, scratch[_ONE_EACH], r, table, outs)
        faces = 0
        for face in range(NUM_FACES):
            faces |= 1 << face if int(outs[face]) else 0
        answers[OUTS] = faces
        answers[DEADWOOD] = deadwood_kernel(counts, wild, r)
        answers[LIVES] = lives_kernel(counts, wild, r)
    return place


@njit
def _place_of(counts: Counts, wild: int, keys: npt.NDArray[np.int64]) -> tuple[int, bool]:
    """The place of a hand, which is taken for it, and whether the answers there are its own."""
    once, twice = _planes(counts)
    jokers = int(counts[PRINTED_JOKER])
    mixed = mix(mix(np.uint64(once), np.uint64(twice)), np.uint64(wild) ^ np.uint64(jokers))
    place = int(mixed & np.uint64(len(keys) - 1))
    key = keys[place]
    is_known = key[0] == once and key[1] == twice and key[2] == jokers and key[3] == wild
    key[0], key[1], key[2], key[3] = once, twice, jokers, wild
    return place, is_known


@njit
def _planes(counts: Counts) -> tuple[int, int]:
    """Masks of the standard faces of which there are one or three, and two or three: no table has more."""
    once, twice = 0, 0
    for face in range(PRINTED_JOKER):
        copies = int(counts[face])
        once |= (copies & 1) << face
        twice |= (copies >> 1) << face
    return once, twice


@njit
def _not_all_held(counts: Counts, r: Any) -> int:
    """Mask of the faces that a hand doesn't hold in all copies."""
    faces = 1 << PRINTED_JOKER
    for face in range(PRINTED_JOKER):
        faces |= 1 << face if int(counts[face]) < int(r["num_decks"]) else 0
    return faces
