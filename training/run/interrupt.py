"""Ctrl-C, SIGTERM and SIGHUP as requests: the first is remembered until a good moment, the second stops at once."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any, Final, NoReturn

# What a terminal, a scheduler, `kill` and a lost connection send. Windows has no SIGHUP.
SIGNALS: Final = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))

_WORDS: Final = b"\nstopping after this update, with a checkpoint; a second signal (Ctrl-C) stops at once\n"


class Stopped(KeyboardInterrupt):
    """Somebody asked the program to stop.

    Attributes:
        status: the exit status by which shells tell the signal: 130 after Ctrl-C, 143 after SIGTERM.
    """

    def __init__(self, number: int = signal.SIGINT) -> None:
        super().__init__(signal.Signals(number).name)
        self.status = 128 + int(number)


def exit_status(error: KeyboardInterrupt) -> int:
    """The exit status of a program that was stopped."""
    return error.status if isinstance(error, Stopped) else 130


class StopOnRequest:
    """A context in which the first of `SIGNALS` sets `is_requested` instead of stopping the program.

    Signals only ever reach a process's main thread: in any other one this changes nothing. SIGTERM and SIGHUP are left
    to whoever ignores them (``nohup``) or handles them already.
    """

    def __init__(self) -> None:
        self.is_requested = False
        self.number = int(signal.SIGINT)  # of the signal that asked
        self._before: dict[int, Any] = {}
        self._terminals: list[int] = []

    def __enter__(self) -> StopOnRequest:
        self._terminals = [descriptor for descriptor in (1, 2) if os.isatty(descriptor)]
        self._before = _handle(self._remember)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _remember(self, number: int, _: FrameType | None) -> None:
        self.is_requested, self.number = True, number
        for other in self._before:
            signal.signal(other, _stop)
        self._leave_lost_terminals()
        # Not by print(), which this may have interrupted and which must not be entered twice.
        with contextlib.suppress(OSError):
            os.write(2, _WORDS)

    def _leave_lost_terminals(self) -> None:
        """Let what is said from now on go nowhere if the terminal is gone: an error would cost the checkpoint."""
        for descriptor in self._terminals:
            if not os.isatty(descriptor):
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, descriptor)
                os.close(nowhere)


@contextlib.contextmanager
def signals_stop() -> Iterator[None]:
    """A context in which each of `SIGNALS` raises `Stopped`, so that a command can say how to go on."""
    before = _handle(_stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _handle(handler: Any) -> dict[int, Any]:
    """Set the handler of the signals that are ours to handle; gives back what there was."""
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        for number in SIGNALS:
            found = signal.getsignal(number)
            if number == signal.SIGINT or found in (signal.SIG_DFL, _stop):
                before[number] = found
                signal.signal(number, handler)
    return before


def _stop(number: int, _: FrameType | None) -> NoReturn:
    raise Stopped(number)
