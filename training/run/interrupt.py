"""Ctrl-C as a request: the first is remembered until there is a good moment, the second stops at once."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType, TracebackType
from typing import Any

_WORDS = b"\nstopping after this update, with a checkpoint; Ctrl-C again stops at once\n"


class StopOnRequest:
    """A context in which one Ctrl-C (SIGINT) sets `is_requested` instead of raising ``KeyboardInterrupt``.

    Signals only ever reach a process's main thread: in any other one this changes nothing.
    """

    def __init__(self) -> None:
        self.is_requested = False
        self._before: Any = None

    def __enter__(self) -> StopOnRequest:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._remember)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _remember(self, _: int, __: FrameType | None) -> None:
        self.is_requested = True
        signal.signal(signal.SIGINT, signal.default_int_handler)
        # Not by print(), which this may have interrupted and which must not be entered twice.
        os.write(2, _WORDS)
