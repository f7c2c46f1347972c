"""A request to stop, by Ctrl-C or by the system: kept until there is a good moment; another one stops at once."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Final

# SIGTERM is sent by schedulers and by the system when it shuts down, SIGHUP when a terminal or a connection is closed.
_SIGNALS: Final = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_WORDS: Final = b"\nstopping after this update, with a checkpoint; Ctrl-C again stops at once\n"


class StopOnRequest:
    """A context in which one SIGINT (Ctrl-C), SIGTERM or SIGHUP sets `is_requested` instead of ending the process.

    A second one raises ``KeyboardInterrupt``. Signals only ever reach a process's main thread: in any other one this
    changes nothing. A signal that the process was told to ignore, as by ``nohup``, stays ignored.
    """

    def __init__(self) -> None:
        self.is_requested = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> StopOnRequest:
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._remember)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _remember(self, _: int, __: FrameType | None) -> None:
        self.is_requested = True
        for number in self._before:
            signal.signal(number, signal.default_int_handler)
        # Not by print(), which this may have interrupted and which must not be entered twice.
        try:
            os.write(2, _WORDS)
        except OSError:
            return  # the terminal is gone, which may be why
