"""Arrays to hand out: fresh ones to the caller's eyes, without the cost of fresh memory."""

from __future__ import annotations

import sys
from typing import Any, Final

import numpy as np
import numpy.typing as npt

_KEPT: Final = 4  # a learner holds an array or two at a time; those it keeps for good are not ours to keep too


def _count_references(arrays: list[npt.NDArray[Any]], k: int) -> int:
    """References to one array of a list, that of the question included."""
    return sys.getrefcount(arrays[k])


# References to an array that only its list holds. Asked, since from Python 3.14 on a question counts one less.
_OWN_REFERENCES: Final = _count_references([np.empty(0)], 0)


class Copies:
    """Arrays of one shape, each handed out again once its last holder has let go of it.

    The system hands out memory of this size in pages that it clears at their first use, which takes longer
    than a step of all environments. An array that somebody still holds, or of which somebody holds a view, is
    never handed out.
    """

    def __init__(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> None:
        self._shape = shape
        self._dtype = np.dtype(dtype)
        self._arrays: list[npt.NDArray[Any]] = []

    def take(self) -> npt.NDArray[Any]:
        """An array that nobody holds; what stands in it is undefined."""
        for k in range(len(self._arrays)):
            if _count_references(self._arrays, k) == _OWN_REFERENCES:
                return self._arrays[k]
        array = np.empty(self._shape, self._dtype)
        if len(self._arrays) < _KEPT:
            self._arrays.append(array)
        return array

    def __reduce__(self) -> tuple[Any, ...]:
        return Copies, (self._shape, self._dtype)  # copies of an environment have their own
