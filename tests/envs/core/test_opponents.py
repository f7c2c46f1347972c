"""Opponents as users write them, and the pool that deals draw theirs from."""

from __future__ import annotations

import numpy as np
import pytest

from paplu_env.bots import make_policy
from paplu_env.envs.core.kernels import draw_line_up
from paplu_env.envs.core.opponents import Pool, read_line_up
from paplu_env.errors import PolicyMismatch
from paplu_env.rules import preset

KEYS = np.array([0, 1 << 62, 1 << 63, (1 << 64) - 1], dtype=np.uint64)  # parts 0, 1/4, 1/2, nearly 1


def _pool(weights: list[float] | None, *names: str) -> Pool:
    return Pool([read_line_up(name, preset("points")) for name in names], weights)


def _draw(pool: Pool, keys: np.ndarray) -> np.ndarray:
    return np.array([draw_line_up(pool.bounds, key) for key in keys])


def test_a_line_up_is_one_bot_for_all_or_one_for_each_in_the_order_of_play() -> None:
    rules = preset("points", num_players=3)
    assert [policy.name for policy in read_line_up("mindist", rules).policies] == ["mindist", "mindist"]
    line_up = read_line_up(["random", make_policy("mindist", rules)], rules)
    assert [policy.name for policy in line_up.policies] == ["random", "mindist"]
    assert line_up.name == "random,mindist"


def test_a_policy_made_for_other_rules_is_refused() -> None:
    with pytest.raises(PolicyMismatch):
        read_line_up(make_policy("random", "one_pack"), preset("points"))


def test_equal_weights_cut_the_keys_into_equal_parts() -> None:
    assert _draw(_pool(None, "random", "mindist"), KEYS).tolist() == [0, 0, 1, 1]


def test_an_opponent_without_weight_is_never_drawn_not_even_at_the_ends() -> None:
    assert _draw(_pool([0, 1, 0], "random", "mindist", "minscore"), KEYS).tolist() == [1, 1, 1, 1]
    thirds = _pool([1, 1, 1, 0], "random", "mindist", "minscore", "easy-1")
    assert _draw(thirds, KEYS[-1:]).tolist() == [2]


def test_frequencies_follow_the_weights() -> None:
    keys = np.random.default_rng(0).integers(0, 2**64, 20_000, dtype=np.uint64)
    pool = _pool([1, 2, 5], "random", "mindist", "minscore")
    counts = np.bincount(_draw(pool, keys), minlength=3)
    expected = 20_000 * np.array([1, 2, 5]) / 8
    assert ((counts - expected) ** 2 / expected).sum() < 13.8  # chi-square, two degrees of freedom, p = 0.001


def test_line_ups_in_use_are_kept_under_a_new_number_until_they_are_not() -> None:
    pool = _pool(None, "random", "mindist", "minscore")
    in_use = np.array([2, 0, 2])
    pool.set([read_line_up("easy-1", preset("points"))], None, in_use)
    assert [pool.line_ups[number].name for number in in_use] == ["minscore", "random", "minscore"]
    assert [line_up.name for line_up in pool.line_ups] == ["easy-1", "random", "minscore"]
    in_use[:] = _draw(pool, KEYS[:3])
    pool.set([read_line_up("mindist", preset("points"))], None, in_use)
    assert [line_up.name for line_up in pool.line_ups] == ["mindist", "easy-1"]
    assert pool.names[in_use].tolist() == ["easy-1"] * 3
