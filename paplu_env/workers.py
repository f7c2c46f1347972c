"""Calls on several threads that Ctrl-C ends within about a second, whatever the calls are at."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection
from concurrent.futures import FIRST_COMPLETED, Future, wait
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Final, TypeVar

_T = TypeVar("_T")

_LOOK: Final = 0.2  # seconds: Windows hands out a signal only between two waits
_PATIENCE: Final = 1.0  # seconds for calls to come to their next look at the flag, once Ctrl-C was pressed

_here = threading.local()
_left: list[threading.Thread] = []


class Stopped(KeyboardInterrupt):
    """Ctrl-C while long work was under way; the message says what was kept and how to go on.

    Attributes:
        kept: what was finished, as the function that raises it says; None if nothing was.
    """

    def __init__(self, message: str = "", kept: Any = None) -> None:
        super().__init__(message)
        self.kept = kept


def check_stop() -> None:
    """End the call under way if it is one of `Workers` that are to stop; elsewhere nothing happens.

    Whatever plays for long calls it between decisions.

    Raises:
        Stopped: the workers are to stop.
    """
    flag = getattr(_here, "flag", None)
    if flag is not None and flag.is_set():
        raise Stopped


def left_behind() -> bool:
    """Whether a thread is still at a call that nobody waits for any more.

    A process may end over such threads, but only by `os._exit`: a library's own clean-up would pull the ground from
    under them.
    """
    return any(thread.is_alive() for thread in _left)


class Workers:
    """Threads that take calls in the order given; a context manager, at whose end nothing more is started.

    Leaving it waits for the calls under way, which `check_stop` cuts short. After Ctrl-C it waits for a moment only:
    the threads are daemons, so even a call that never looks at the flag can't hold up the end of the process.
    """

    def __init__(self, threads: int) -> None:
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._flag = threading.Event()
        self._threads = [
            threading.Thread(target=self._work, name=f"paplu_env_worker_{k}", daemon=True) for k in range(threads)
        ]

    def __enter__(self) -> Workers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._flag.set()
        for _ in self._threads:
            self._calls.put(None)
        # GeneratorExit: who iterated over results was interrupted.
        is_interrupted = kind is not None and issubclass(kind, KeyboardInterrupt | GeneratorExit)
        end = time.monotonic() + _PATIENCE
        for thread in self._threads:
            while thread.is_alive() and not (is_interrupted and time.monotonic() >= end):
                thread.join(_LOOK)
        _left.extend(thread for thread in self._threads if thread.is_alive())

    def submit(self, call: Callable[..., _T], *arguments: Any) -> Future[_T]:
        """Have ``call(*arguments)`` made by the next thread that is free."""
        future: Future[_T] = Future()

        def run() -> None:
            try:
                future.set_result(call(*arguments))
            except BaseException as error:  # whoever asks for the result gets it
                future.set_exception(error)

        self._calls.put(run)
        return future

    def finished(self, futures: Collection[Future[_T]]) -> set[Future[_T]]:
        """Those of some calls that have ended, as soon as there is one; Ctrl-C is heard meanwhile."""
        while True:
            done = wait(futures, timeout=_LOOK, return_when=FIRST_COMPLETED).done
            if done:
                return done

    def _work(self) -> None:
        _here.flag = self._flag
        while (run := self._calls.get()) is not None:
            if self._flag.is_set():
                return
            run()
