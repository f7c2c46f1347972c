"""How kernels are compiled, cached and run on threads; the only file that imports numba.

Every kernel is an ordinary function with `njit` above it. With ``NUMBA_DISABLE_JIT=1`` the same
functions run as plain Python and give the same bytes; `IS_COMPILED` says which it is.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import sys
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

import numba
import numpy as np
from llvmlite import ir
from numba.core import event, types
from numba.extending import intrinsic, overload

_F = TypeVar("_F", bound=Callable[..., Any])

IS_COMPILED: Final = not numba.config.DISABLE_JIT
_PACKAGE: Final = Path(__file__).resolve().parent
_SLICES: Final = 8  # for each thread: rows differ in what they take
_LEAST_ROWS: Final = 32  # of a slice, where there are enough: a call of a kernel takes as long as a few rows

_here = threading.local()

# An import statement of this package's: the module, and the names if it is a ``from``.
_IMPORT: Final = re.compile(r"^\s*(?:from|import)\s+(paplu_env[\w.]*)(?:\s+import\s+(\([^)]*\)|[^\n]*))?", re.MULTILINE)


def njit(function: _F) -> _F:
    """Compile a kernel: no GIL, NumPy's division rules, cached on disk beside others of this very source."""
    before = numba.config.CACHE_DIR
    folder = cache_folder(function.__code__.co_filename) if IS_COMPILED else ""
    try:
        if folder:
            numba.config.CACHE_DIR = folder
        compiled: _F = numba.njit(nogil=True, error_model="numpy", cache=bool(folder))(function)
    finally:
        numba.config.CACHE_DIR = before
    if folder:
        _forgive_broken_files(compiled)
    return compiled


def _forgive_broken_files(kernel: Any) -> None:
    """Compile a kernel anew where its cached files are truncated or foreign; numba would fail at every start."""
    cache = kernel._cache
    load = cache.load_overload

    def load_or_forget(signature: Any, context: Any) -> Any:
        try:
            return load(signature, context)
        except Exception:  # a broken pickle or object file may raise nearly anything
            cache.flush()
            return None

    cache.load_overload = load_or_forget


@functools.cache
def cache_folder(filename: str) -> str:
    """Folder for the compiled kernels of one source file of this package; empty if there is none to write to.

    Numba itself would go on using a kernel after something that it calls was edited. So the folder's name
    holds a hash of the file, of all files of the package that it imports directly or through others, and of
    the versions of Python, numba and numpy: what was compiled from anything else is not found.
    """
    source = Path(filename).resolve()
    if not source.is_relative_to(_PACKAGE):
        return ""
    name = f"{source.stem}-{_hash_of(source)}"
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    for wish in (os.environ.get("PAPLU_CACHE_DIR"), os.path.join(home, "paplu_env"), tempfile.gettempdir()):
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


def _hash_of(source: Path) -> str:
    """Hash of a source file, of what it imports from this package, and of the compiler."""
    needed: set[Path] = set()
    waiting = [source]
    while waiting:
        path = waiting.pop()
        if path not in needed:
            needed.add(path)
            waiting += _imports_of(path)
    digest = hashlib.sha256(f"{sys.version_info[:2]}{numba.__version__}{np.__version__}".encode())
    for path in sorted(needed):
        digest.update(path.relative_to(_PACKAGE).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@functools.cache
def _imports_of(path: Path) -> tuple[Path, ...]:
    """Files of this package whose names a file's import statements bring in."""
    found = []
    for module, names in _IMPORT.findall(path.read_text(encoding="utf-8")):
        place = _PACKAGE.joinpath(*module.split(".")[1:])
        for wish in (place, *(place / name for name in re.findall(r"\w+", names))):
            found += [file for file in (wish.with_suffix(".py"), wish / "__init__.py") if file.is_file()]
    return tuple(found)


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
            print(
                "paplu_env: compiling kernels that are used for the first time; they are kept for later starts …",
                file=sys.stderr,
            )

    def on_end(self, event: Any) -> None:
        """Nothing to say when a compilation ends."""


if IS_COMPILED:
    event.register("numba:compile", _SayOnce())


def run_slices(kernel: Callable[[int, int], None], rows: int, threads: int = 1) -> None:
    """Call ``kernel(start, stop)`` over slices of ``rows`` rows, on so many threads.

    The kernels release the GIL and write only their own rows, so results never depend on ``threads``. A thread takes
    the next slice when it is done with one, so that no other one is waited for long.
    """
    if threads <= 1 or rows < 2 * threads:
        kernel(0, rows)
        return
    size = max(-(-rows // (_SLICES * threads)), min(_LEAST_ROWS, rows // threads))
    starts = iter(range(0, rows, size))  # its next entry is given to one thread only

    def work() -> None:
        for start in starts:
            kernel(start, min(start + size, rows))

    others = threads - 1
    shares: list[Share] = []
    if (offer := getattr(_here, "offer", None)) is not None:
        shares.append(offer(work))
        others -= 1
    shares += [_workers(others, os.getpid()).submit(work) for _ in range(others)]
    try:
        work()
    finally:
        # What nobody has begun by now has nothing left to do, or isn't wanted any more after an error.
        errors = [share.exception() for share in shares if not share.cancel()]
    for error in errors:
        if error is not None:
            raise error


class Share(Protocol):
    """What `run_slices` asks of a share of its slices in another thread; futures are such."""

    def cancel(self) -> bool:
        """Give it up unless it has been begun; whether that is so."""

    def exception(self) -> BaseException | None:
        """Wait for its end; the error that stopped it, if one did."""


def offer_slices(offer: Callable[[Callable[[], None]], Share]) -> None:
    """From now on, where `run_slices` is called in this thread, one of the others that help is found by ``offer``.

    Args:
        offer: takes what is to be called in another thread, at once, later or not at all.
    """
    _here.offer = offer


@functools.cache
def _workers(threads: int, process: int) -> ThreadPoolExecutor:
    """Threads beside the caller's, kept because starting them takes as long as a hundred deals; a fork has none."""
    return ThreadPoolExecutor(threads, thread_name_prefix="paplu_env")


def popcount(bits: int) -> int:
    """Number of set bits of a non-negative int64; one instruction in a kernel."""
    return int(bits).bit_count()


def lowest_bit(bits: int) -> int:
    """Position of the lowest set bit of a positive int64; one instruction in a kernel."""
    return (int(bits) & -int(bits)).bit_length() - 1


def as_int64(value: int) -> int:
    """The value itself. A constant that a kernel hands to another is wrapped in this: numba would compile
    the callee anew for every literal argument."""
    return value


def never_inline() -> None:
    """Nothing; the kernel that says this is not copied into its callers. Every kernel that calls itself says it:
    a copy would call the original, which isn't there when a caller alone is loaded from the cache."""


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
