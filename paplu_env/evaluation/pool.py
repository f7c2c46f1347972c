"""Threads that nobody has to wait for: Ctrl-C ends a match although its bots are still thinking."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

_R = TypeVar("_R")
_Task = tuple["Future[Any]", Callable[[], Any]]


class Stopped(Exception):
    """Raised in a thread whose work nobody wants any more."""


class DaemonPool(Executor):
    """An executor whose threads are daemons, so that neither it nor the end of the process waits for them.

    Python's own pool is waited for at the end of the process, whatever its threads are at: with searches, minutes.

    Attributes:
        is_stopped: set when the pool was given up; long work looks at it now and then and raises `Stopped`.
    """

    def __init__(self, threads: int) -> None:
        self.is_stopped = threading.Event()
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self._threads = [
            threading.Thread(target=self._work, name=f"paplu_env-{number}", daemon=True) for number in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, fn: Callable[..., _R], /, *args: Any, **kwargs: Any) -> Future[_R]:
        """Have ``fn(*args, **kwargs)`` called in one of the threads."""
        future: Future[_R] = Future()
        self._tasks.put((future, lambda: fn(*args, **kwargs)))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let the threads end once they have nothing left to do.

        Args:
            wait: until then.
            cancel_futures: nothing that hasn't been begun is done.
        """
        if cancel_futures:
            with contextlib.suppress(Empty):
                while True:
                    task = self._tasks.get_nowait()
                    if task is not None:
                        task[0].cancel()
        for _ in self._threads:
            self._tasks.put(None)
        if wait:
            for thread in self._threads:
                thread.join()

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            future, call = task
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(call())
            except BaseException as error:  # raised where the result is asked for
                future.set_exception(error)


@contextlib.contextmanager
def daemon_pool(threads: int) -> Iterator[DaemonPool]:
    """A pool for a block: waited for at its end, given up at once if the user stops it."""
    pool = DaemonPool(threads)
    try:
        yield pool
    except Exception:
        pool.shutdown(cancel_futures=True)
        raise
    except BaseException:  # Ctrl-C, or a generator that nobody asks any more
        pool.is_stopped.set()
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    else:
        pool.shutdown()
