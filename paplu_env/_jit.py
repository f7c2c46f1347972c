"""How kernels are compiled, cached and run on threads; the only file that imports numba.

Every kernel is an ordinary function with `njit` above it. With ``NUMBA_DISABLE_JIT=1`` the same
functions run as plain Python and give the same bytes; `IS_COMPILED` says which it is.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, TypeVar

import numba
import numpy as np
from llvmlite import ir
from numba.core import event, types
from numba.extending import intrinsic, overload

_F = TypeVar("_F", bound=Callable[..., Any])

IS_COMPILED: Final = not numba.config.DISABLE_JIT
_PACKAGE: Final = Path(__file__).resolve().parent


def _source_hash() -> str:
    """Hash of the package's sources and of the compiler: a cache made from anything else is not read."""
    digest = hashlib.sha256(f"{sys.version_info[:2]}{numba.__version__}{np.__version__}".encode())
    for path in sorted(_PACKAGE.rglob("*.py")):
        digest.update(path.relative_to(_PACKAGE).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder() -> str:
    """A writable folder for compiled kernels: ``PAPLU_CACHE_DIR``, the user's cache, or a temporary one."""
    name = f"kernels-{_source_hash()}"
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    wishes = [os.environ.get("PAPLU_CACHE_DIR"), os.path.join(home, "paplu_env"), tempfile.gettempdir()]
    for wish in wishes:
        if not wish:
            continue
        folder = os.path.join(wish, name)
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    return ""


CACHE_FOLDER: Final = _cache_folder() if IS_COMPILED else ""


def njit(function: _F) -> _F:
    """Compile a kernel: no GIL, NumPy's division rules, cached on disk beside others of this very source."""
    before = numba.config.CACHE_DIR
    try:
        if CACHE_FOLDER:
            numba.config.CACHE_DIR = CACHE_FOLDER
        compiled: _F = numba.njit(nogil=True, error_model="numpy", cache=bool(CACHE_FOLDER))(function)
    finally:
        numba.config.CACHE_DIR = before
    return compiled


class _SayOnce(event.Listener):  # type: ignore[misc]  # numba has no types
    """Tells the user, once per process, that the pause is a compilation and happens once per version."""

    def __init__(self) -> None:
        self.said = False

    def on_start(self, event: Any) -> None:
        name = getattr(event.data.get("dispatcher"), "__module__", "")
        if self.said or not str(name).startswith("paplu_env"):
            return
        self.said = True
        if os.environ.get("PAPLU_QUIET") != "1":
            print("paplu_env: compiling kernels, once for this version (under a minute) …", file=sys.stderr)

    def on_end(self, event: Any) -> None:
        """Nothing to say when a compilation ends."""


if IS_COMPILED:
    event.register("numba:compile", _SayOnce())


def run_slices(kernel: Callable[[int, int], None], rows: int, threads: int = 1) -> None:
    """Call ``kernel(start, stop)`` over slices of ``rows`` rows, on so many threads.

    The kernels release the GIL and write only their own rows, so results never depend on ``threads``.
    """
    if threads <= 1 or rows < 2 * threads:
        kernel(0, rows)
        return
    bounds = [rows * part // threads for part in range(threads + 1)]
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(kernel, a, b) for a, b in itertools.pairwise(bounds)]:
            done.result()


def popcount(bits: int) -> int:
    """Number of set bits of a non-negative int64; one instruction in a kernel."""
    return int(bits).bit_count()


def lowest_bit(bits: int) -> int:
    """Position of the lowest set bit of a positive int64; one instruction in a kernel."""
    return (int(bits) & -int(bits)).bit_length() - 1


@intrinsic
def _ctpop(_typing: Any, bits: Any) -> Any:
    """LLVM's population count of an int64."""
    return types.int64(types.int64), lambda context, builder, signature, args: builder.ctpop(args[0])


@intrinsic
def _cttz(_typing: Any, bits: Any) -> Any:
    """LLVM's count of trailing zeros of an int64 that is not zero."""
    undefined_at_zero = ir.Constant(ir.IntType(1), 1)
    return types.int64(types.int64), lambda context, builder, signature, args: builder.cttz(
        args[0], undefined_at_zero
    )


@overload(popcount, strict=False)  # strict would compare the annotations too
def _popcount_in_kernels(bits: Any) -> Any:
    return lambda bits: _ctpop(bits)


@overload(lowest_bit, strict=False)
def _lowest_bit_in_kernels(bits: Any) -> Any:
    return lambda bits: _cttz(bits)
