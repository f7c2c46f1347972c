"""The solver's kernels on one thread and on two: the same arrays."""

from __future__ import annotations

import functools
from random import Random

import numpy as np
import numpy.typing as npt
import pytest

from paplu_env import encoding, engine
from paplu_env._jit import IS_COMPILED, njit, run_slices
from paplu_env.cards import NUM_FACES, Counts
from paplu_env.melds.fast_distance.distance_table import Table, distance_table
from paplu_env.melds.fast_distance.outs_kernels import discard_outs_kernel
from paplu_env.melds.fast_points.deadwood_kernels import deadwood_kernel
from paplu_env.melds.fast_points.declarable_kernels import declarable_kernel
from paplu_env.rules import RuleSet, parse_rules
from tests.melds.samples import KINDS, draw_hand


@njit
def _solve(
    hands: Counts,
    wilds: npt.NDArray[np.int64],
    unseen: Counts,
    rules: npt.NDArray[np.void],
    table: Table,
    found: npt.NDArray[np.int64],
    distances: Counts,
    outs: Counts,
    start: int,
    stop: int,
) -> None:
    for row in range(start, stop):
        wild = int(wilds[row])
        found[row, 0] = deadwood_kernel(hands[row], wild, rules[0])
        found[row, 1] = declarable_kernel(hands[row], wild, rules[0])
        discard_outs_kernel(hands[row], wild, unseen[row], rules[0], table, distances[row], outs[row])


@pytest.mark.skipif(not IS_COMPILED, reason="plain Python has one thread at a time")
def test_solver_gives_the_same_arrays_on_one_thread_and_on_two() -> None:
    rng = Random("threads")
    drawn = [draw_hand(rng, kind, 14) for kind in KINDS for _ in range(1000)]
    hands = np.array([counts for counts, _ in drawn])
    wilds = np.array([wild for _, wild in drawn], dtype=np.int64)
    answers = []
    for threads in (1, 2):
        found = np.zeros((len(hands), 2), dtype=np.int64)
        distances, outs = (np.zeros((len(hands), NUM_FACES), dtype=np.uint8) for _ in range(2))
        unseen = (2 - hands).astype(np.uint8)
        arguments = (hands, wilds, unseen, RuleSet().packed, distance_table(), found, distances, outs)
        run_slices(functools.partial(_solve, *arguments), len(hands), threads)
        answers.append((found, distances, outs))
    for one, two in zip(*answers, strict=True):
        assert one.any()
        assert np.array_equal(one, two)


@pytest.mark.parametrize("name", ["cards-v1", "features-v1"])
def test_encodings_and_masks_are_the_same_on_one_thread_and_on_two(name: str) -> None:
    rules = parse_rules("points")
    states = engine.deal_many(rules, np.arange(300, dtype=np.uint64))
    masks = [engine.legal_action_masks(states, rules, threads=threads) for threads in (1, 2)]
    assert masks[0].any()
    assert np.array_equal(*masks)
    views = engine.player_views(states, states["current_player"])
    seen = [encoding.by_name(name).encode(views, rules, threads=threads) for threads in (1, 2)]
    assert np.array_equal(*seen)
