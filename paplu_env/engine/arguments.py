"""Arguments of callers, checked before a kernel reads or writes them."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env.errors import InvalidRules, PapluError

_MAX_INT64: Final = 2**63 - 1


def whole_numbers(values: npt.ArrayLike, name: str, rows: int) -> npt.NDArray[np.int64]:
    """One whole number per row, as ``(rows,)`` int64 for kernels.

    Raises:
        PapluError: another shape, or anything but whole numbers.
    """
    array = _as_array(values, name)
    if isinstance(values, list | tuple) and any(isinstance(value, bool | np.bool_) for value in values):
        raise PapluError(f"{name}: whole numbers of shape ({rows},) are needed, not true or false")
    # An empty list has no numbers of a wrong kind.
    if array.shape != (rows,) or (array.dtype.kind not in "iu" and rows > 0):
        raise PapluError(f"{name}: whole numbers of shape ({rows},) are needed, not {_shape_and_type(array)}")
    if array.dtype == np.uint64:
        array = np.minimum(array, np.uint64(_MAX_INT64))  # still too large, and not negative
    return np.ascontiguousarray(array, dtype=np.int64)


def as_whole(value: Any) -> int:
    """A whole number of any kind as Python has it; true and false are none, though Python counts with them.

    Raises:
        TypeError: anything else.
    """
    if isinstance(value, bool):
        raise TypeError("true and false are no numbers")
    return operator.index(value)


def as_seed(seed: int, name: str = "seed") -> np.uint64:
    """A seed or key as kernels take it.

    Raises:
        InvalidRules: not a whole number 0..2**64-1.
    """
    try:
        number = as_whole(seed)
    except TypeError:
        number = -1
    if not 0 <= number < 1 << 64:
        raise InvalidRules(f"{name}={seed!r}: a {name} is a whole number 0..2**64-1")
    return np.uint64(number)


def as_seeds(values: npt.ArrayLike, name: str = "seed", rows: int | None = None) -> npt.NDArray[np.uint64]:
    """One seed or key per row, as ``(rows,)`` uint64 for kernels; any number of rows unless ``rows`` is given.

    Raises:
        InvalidRules: one of them is not a whole number 0..2**64-1.
        PapluError: another shape.
    """
    # Lists stay Python numbers: NumPy would make floats of small and large ones together.
    array = values if isinstance(values, np.ndarray) else _as_array(values, name, dtype=object)
    if array.ndim != 1 or (rows is not None and len(array) != rows):
        expected = "(B,)" if rows is None else f"({rows},)"
        raise PapluError(f"{name}s: whole numbers of shape {expected} are needed, not {_shape_and_type(array)}")
    if array.dtype.kind == "O":
        array = np.array([as_seed(value, name) for value in array], dtype=np.uint64)
    elif array.dtype.kind not in "iu":
        raise InvalidRules(f"{name}s: whole numbers 0..2**64-1 are needed, not {_shape_and_type(array)}")
    elif array.dtype.kind == "i" and (array < 0).any():
        as_seed(int(array.min()), name)
    return np.ascontiguousarray(array, dtype=np.uint64)


def as_seats(seats: Iterable[int], name: str) -> list[int]:
    """Seats, or other small numbers, as Python has them.

    Raises:
        InvalidRules: one of them is not a whole number.
    """
    chosen = list(seats)
    try:
        return [as_whole(seat) for seat in chosen]
    except TypeError:
        raise InvalidRules(f"{name}={chosen}: seats are whole numbers") from None


def check_out(out: npt.NDArray[Any], shape: tuple[int, ...], dtype: npt.DTypeLike) -> None:
    """Refuse an array to write into that differs from a new one.

    Raises:
        PapluError: another shape or type, or an array that is not contiguous or may not be written to.
    """
    expected = np.dtype(dtype)
    if not isinstance(out, np.ndarray):
        raise PapluError(f"out: an array of shape {shape} is needed, not {type(out).__name__}")
    # Comparing structured types, field by field, takes a while; most often it is the very same type.
    if out.shape != shape or (out.dtype is not expected and out.dtype != expected):
        raise PapluError(f"out: shape {shape} of {_type(expected)} is needed, not {_shape_and_type(out)}")
    if not (out.flags.c_contiguous and out.flags.writeable):
        raise PapluError("out: a contiguous array that may be written to is needed; make one with numpy.empty")


def _as_array(values: npt.ArrayLike, name: str, dtype: npt.DTypeLike | None = None) -> npt.NDArray[Any]:
    try:
        return np.asarray(values, dtype=dtype)
    except (ValueError, OverflowError) as error:
        raise PapluError(f"{name}: one whole number per row is needed: {error}") from None


def _shape_and_type(array: npt.NDArray[Any]) -> str:
    return f"shape {array.shape} of {_type(array.dtype)}"


def _type(dtype: np.dtype[Any]) -> str:
    """A type in a few words: rows of the engine have dozens of fields."""
    return f"rows of {dtype.itemsize} bytes" if dtype.names else str(dtype)
