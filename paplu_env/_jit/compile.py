"""How kernels are compiled, and the message that tells of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, Final, TypeVar

import numba
from numba.core import event
from numba.extending import register_jitable

from paplu_env._jit.cache import cache_folder

_F = TypeVar("_F", bound=Callable[..., Any])

IS_COMPILED: Final = not numba.config.DISABLE_JIT


def njit(function: _F) -> _F:
    """Compile a kernel: without the GIL, with NumPy's division rules, cached on disk for this very source."""
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


def accessor(function: _F) -> _F:
    """Let kernels call a function of a line or two that stays plain Python for everybody else.

    It is compiled as part of the kernels that call it. Python that calls it waits for no compiler, as it would for
    the first call of a kernel.
    """
    shared: _F = register_jitable(function)
    return shared


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
