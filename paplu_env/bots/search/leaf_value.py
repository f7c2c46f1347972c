"""The value at which `search` cuts its play: a small network that sees both hands, made of arrays and one kernel.

It was fitted to deals of the player of `playout_policy`, see ``training.fit.leaf_value``. The order of the stock is
hidden from it on purpose: what a world's next cards would bring is luck, and the mean over their order spreads less.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from paplu_env._jit import njit
from paplu_env.bots.fitted import are_for
from paplu_env.bots.search.leaf_features import FEATURE_SCRATCH_ROWS, NUM_FEATURES, Floats, describe_row
from paplu_env.bots.search.solver_cache import empty_solver_cache
from paplu_env.cards import NUM_FACES
from paplu_env.engine.state import States
from paplu_env.errors import PapluError
from paplu_env.melds.fast_distance.distance_table import Table
from paplu_env.rules import RuleSet

_FILE: Final = "leaf_value.npz"  # written by training.fit.leaf_value


class Value(NamedTuple):
    """Two hidden layers of units that pass on what is above zero; float32, units in the last axis."""

    into: Floats  # (NUM_FEATURES, H)
    into_bias: Floats  # (H,)
    between: Floats  # (H, G)
    between_bias: Floats  # (G,)
    out_of: Floats  # (G + 1,), the last a constant; points


@njit
def value_kernel(x: Floats, value: Value, first: Floats, second: Floats) -> float:
    """Points that the deal is expected to bring the seat to move, from features ``(NUM_FEATURES,)``.

    Args:
        first: ``(H,)``, to work in.
        second: ``(G,)``, likewise.
    """
    _layer(x, value.into, value.into_bias, first)
    _layer(first, value.between, value.between_bias, second)
    total = value.out_of[len(second)]
    for unit in range(len(second)):
        total += max(second[unit], np.float32(0)) * value.out_of[unit]
    return float(total)


@njit
def values_kernel(
    states: States, rules: npt.NDArray[np.void], table: Table, value: Value, out: npt.NDArray[np.float64]
) -> None:
    """Write `value_kernel` of every row, each at the start of a turn, to ``out``, ``(len(states),)``."""
    scratch, x = np.empty((FEATURE_SCRATCH_ROWS, NUM_FACES), dtype=np.uint8), np.empty(NUM_FEATURES, dtype=np.float32)
    first, second = np.empty_like(value.into_bias), np.empty_like(value.between_bias)
    solver_cache = empty_solver_cache(int(rules[0]["hand_size"]))
    for i in range(len(states)):
        describe_row(states[i], rules[0], table, solver_cache, scratch, x)
        out[i] = value_kernel(x, value, first, second)


@njit
def _layer(x: Floats, weights: Floats, bias: Floats, out: Floats) -> None:
    """Sums of a layer over the inputs above zero. Most inputs are zero and cost nothing."""
    out[:] = bias
    for entry in range(len(x)):
        if x[entry] > 0:
            amount, row = x[entry], weights[entry]
            for unit in range(len(out)):
                out[unit] += amount * row[unit]


def has_fitted_value(rules: RuleSet) -> bool:
    """Whether the value that ships with the package was fitted to tables of this kind, which its file names."""
    return are_for(_shipped_about()["tables"], rules)


@cache
def _shipped_about() -> dict[str, Any]:
    """What the file of the value says of itself."""
    with _shipped_file().open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        about: dict[str, Any] = json.loads(str(arrays["about"]))
    return about


def _shipped_file() -> Traversable:
    return resources.files("paplu_env.bots.search").joinpath(_FILE)


@cache
def shipped_value() -> Value:
    """The value that ships with the package, fitted by ``python -m training.fit.leaf_value configs/search/fit.toml``.

    Raises:
        PapluError: the file has arrays of other shapes.
    """
    with _shipped_file().open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        return as_value({name: arrays[name] for name in Value._fields})


def as_value(arrays: dict[str, Any]) -> Value:
    """A value of arrays of any float type by name, read-only.

    Raises:
        PapluError: arrays of other shapes.
    """
    value = Value(**{name: np.array(arrays[name], dtype=np.float32, order="C") for name in Value._fields})
    hidden, units = value.between.shape
    shapes = [(NUM_FEATURES, hidden), (hidden,), (hidden, units), (units,), (units + 1,)]
    if [array.shape for array in value] != shapes:
        raise PapluError(f"value of search: arrays of shapes {[array.shape for array in value]}, not {shapes}")
    for array in value:
        array.setflags(write=False)
    return value
