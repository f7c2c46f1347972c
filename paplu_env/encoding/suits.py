"""Suits have no order in this game: relabelling them turns one position into another just as good.

Four permuted copies of a decision are four decisions to learn from. `permute_suits` relabels what was
seen, `permute_masks` what was allowed, `permute_actions` what was done.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from paplu_env.cards import NUM_FACES, NUM_RANKS, NUM_SUITS, PRINTED_JOKER
from paplu_env.encoding.base import Layout, Observations
from paplu_env.encoding.registry import by_name
from paplu_env.engine.actions import DECLARE_BASE, DISCARD_BASE, NUM_ACTIONS
from paplu_env.errors import PapluError
from paplu_env.rules import RuleSet, as_rules


def permute_suits(
    observations: Observations,
    rules: RuleSet | str | Mapping[str, Any],
    encoding: Layout | str,
    permutation: Sequence[int],
) -> Observations:
    """Observations of the same positions with the suits relabelled.

    Args:
        observations: ``(…, F)`` of this encoding and these rules. Not modified.
        encoding: an encoding, by name too, or the layout `HIDDEN_V1`.
        permutation: suit ``s`` becomes suit ``permutation[s]``, numbered as in faces.

    Returns:
        A new array of the same shape and dtype.

    Raises:
        PapluError: not a permutation of 0..3, or observations of another length.
    """
    layout = by_name(encoding) if isinstance(encoding, str) else encoding
    sources = _sources(layout, as_rules(rules), _checked(permutation))
    if observations.shape[-1] != len(sources):
        raise PapluError(
            f"{layout.name} has {len(sources)} features under {as_rules(rules)}, these observations "
            f"{observations.shape[-1]}"
        )
    return observations[..., sources]


def permute_masks(masks: npt.NDArray[np.bool_], permutation: Sequence[int]) -> npt.NDArray[np.bool_]:
    """Action masks ``(…, A)`` after the suits are relabelled as in `permute_suits`; a new array."""
    permuted = np.empty_like(masks)
    permuted[..., _actions(_checked(permutation))] = masks
    return permuted


def permute_actions(actions: npt.NDArray[np.int64], permutation: Sequence[int]) -> npt.NDArray[np.int64]:
    """Actions after the suits are relabelled as in `permute_suits`; a new array."""
    return _actions(_checked(permutation))[actions]


def permute_faces(permutation: Sequence[int]) -> npt.NDArray[np.int64]:
    """What every face becomes, ``(53,)``, when suit ``s`` becomes ``permutation[s]``."""
    suits = np.array(_checked(permutation), dtype=np.int64)
    faces = NUM_RANKS * suits[:, None] + np.arange(NUM_RANKS)
    return np.append(faces.ravel(), PRINTED_JOKER)


def _checked(permutation: Sequence[int]) -> tuple[int, ...]:
    suits = tuple(int(suit) for suit in permutation)
    if sorted(suits) != list(range(NUM_SUITS)):
        raise PapluError(f"{list(permutation)} is not a permutation of the suits 0..{NUM_SUITS - 1}")
    return suits


@functools.lru_cache(maxsize=256)
def _sources(layout: Layout, rules: RuleSet, permutation: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """For every entry of a relabelled observation, the entry that it is read from."""
    sources = np.arange(layout.num_features(rules))
    faces = permute_faces(permutation)
    for field in layout.fields(rules):
        if field.is_by_face:
            rows = sources[field.start : field.stop].reshape(-1, NUM_FACES)
            rows[:, faces] = rows.copy()
    return sources


@functools.lru_cache(maxsize=NUM_SUITS**NUM_SUITS)
def _actions(permutation: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """What every action becomes."""
    actions = np.arange(NUM_ACTIONS)
    faces = permute_faces(permutation)
    actions[DISCARD_BASE : DISCARD_BASE + NUM_FACES] = DISCARD_BASE + faces
    actions[DECLARE_BASE : DECLARE_BASE + NUM_FACES] = DECLARE_BASE + faces
    return actions
