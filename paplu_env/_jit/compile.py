"""How kernels are compiled, and the message that tells of it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, Final, TypeVar

import numba
from numba.core import event, types
from numba.extending import register_jitable

from paplu_env._jit.cache import keep, place, say_once

_F = TypeVar("_F", bound=Callable[..., Any])

IS_COMPILED: Final = not numba.config.DISABLE_JIT


def _name_of_record(record: types.Record) -> tuple[str, tuple[int]]:
    """What stands for a row's type in the names of kernels: a hash of its fields.

    Numba takes a number that it counts up in each process, so a kernel for two seats and one for ten, compiled in two
    processes, had one name; a third that loaded both ran either in place of the other.
    """
    return "Record", (int(hashlib.sha256(repr(record).encode()).hexdigest()[:12], 16),)


types.Record.mangling_args = property(_name_of_record)  # type: ignore[assignment,method-assign]


def njit(function: _F) -> _F:
    """Compile a kernel: without the GIL, with NumPy's division rules, cached on disk for this very source."""
    compiled: _F = numba.njit(nogil=True, error_model="numpy")(function)
    if IS_COMPILED:
        keep(compiled)
    return compiled


def accessor(function: _F) -> _F:
    """Let kernels call a function of a line or two that stays plain Python for everybody else.

    It is compiled as part of the kernels that call it. Python that calls it waits for no compiler, as it would for
    the first call of a kernel.
    """
    shared: _F = register_jitable(function)
    return shared


class _SayOnce(event.Listener):  # type: ignore[misc]  # numba has no types
    """Tells the user, once per process, that the pause is a compilation and happens once per version."""

    def __init__(self) -> None:
        self.said = False

    def on_start(self, event: Any) -> None:
        name = getattr(event.data.get("dispatcher"), "__module__", "")
        if self.said or not str(name).startswith("paplu_env"):
            return
        self.said = True
        kept = "they are kept for later starts" if place().can_write else "they are not kept"
        say_once(f"compiling kernels that are used for the first time; {kept} …")

    def on_end(self, event: Any) -> None:
        """Nothing to say when a compilation ends."""


if IS_COMPILED:
    event.register("numba:compile", _SayOnce())
