"""How kernels are compiled, and the word that tells of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, Final, TypeVar

import numba
from numba.core import event

from paplu_env._jit.cache import cache_folder

_F = TypeVar("_F", bound=Callable[..., Any])

IS_COMPILED: Final = not numba.config.DISABLE_JIT


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
