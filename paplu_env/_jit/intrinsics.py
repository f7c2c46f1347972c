"""Single instructions and hints to the compiler; as plain Python each is a line that says the same."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload


def popcount(bits: int) -> int:
    """Number of set bits of a non-negative int64; one instruction in a kernel."""
    return int(bits).bit_count()


def lowest_bit(bits: int) -> int:
    """Position of the lowest set bit of a positive int64; one instruction in a kernel."""
    return (int(bits) & -int(bits)).bit_length() - 1


def as_int64(value: int) -> int:
    """The value itself. Wrap in this every constant that a kernel hands to another: numba would compile the
    callee anew for each literal argument."""
    return value


def never_inline() -> None:
    """Do nothing; a kernel that calls this is not copied into its callers. Every kernel that calls itself needs
    it: a copy would call the original, which isn't there when only a caller is loaded from the cache."""


@intrinsic
def _mark_noinline(_typing: Any) -> Any:
    """Put LLVM's attribute on the function in whose body this stands."""

    def mark(context: Any, builder: Any, _signature: Any, _args: Any) -> Any:
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.void(), mark


@overload(never_inline, inline="always", strict=False)
def _never_inline_in_kernels() -> Any:
    return lambda: _mark_noinline()


@intrinsic
def _ctpop(_typing: Any, bits: Any) -> Any:
    """LLVM's population count of an int64."""
    return types.int64(types.int64), lambda context, builder, signature, args: builder.ctpop(args[0])


@intrinsic
def _cttz(_typing: Any, bits: Any) -> Any:
    """LLVM's count of trailing zeros of an int64 that is not zero."""
    undefined_at_zero = ir.Constant(ir.IntType(1), 1)
    return types.int64(types.int64), lambda context, builder, signature, args: builder.cttz(args[0], undefined_at_zero)


@overload(popcount, strict=False)  # strict would compare the annotations too
def _popcount_in_kernels(bits: Any) -> Any:
    return lambda bits: _ctpop(bits)


@overload(lowest_bit, strict=False)
def _lowest_bit_in_kernels(bits: Any) -> Any:
    return lambda bits: _cttz(bits)


@overload(as_int64, strict=False)
def _as_int64_in_kernels(value: Any) -> Any:
    return lambda value: np.int64(value)
