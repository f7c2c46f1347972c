"""Environments that play on in a thread of their own, helped by the thread that waits for them.

While a network decides for one half of the games the other half is played on, on another core; and whoever has to wait
takes a share of the work that is waited for. So two threads are busy all the time, neither of them with spinning.
Sampling in two halves is known from Petrenko et al., "Sample Factory" (2020).
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from types import TracebackType
from typing import ParamSpec, TypeVar

from paplu_env._jit import offer_slices

_P = ParamSpec("_P")
_R = TypeVar("_R")


class Stepping:
    """Does one job after the other in a second thread; use it as a context manager, which waits for what was begun.

    Args:
        threads: with 1 there is no second thread, and every job is done when it is handed over.
    """

    def __init__(self, threads: int) -> None:
        self._offers: SimpleQueue[tuple[Future[None], Callable[[], None]] | None] = SimpleQueue()
        self._player = None
        if threads > 1:
            self._player = ThreadPoolExecutor(1, "paplu_env_step", offer_slices, (self._offer,))

    def __enter__(self) -> Stepping:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._player is not None:
            self._player.shutdown()

    def start(self, job: Callable[_P, _R], *given: _P.args, **named: _P.kwargs) -> Future[_R]:
        """Have a job done after those that were handed over before."""
        if self._player is not None:
            return self._player.submit(job, *given, **named)
        future: Future[_R] = Future()
        future.set_result(job(*given, **named))
        return future

    def result(self, future: Future[_R]) -> _R:
        """What a job returned, or the error that it raised. Until it is done its slices are shared."""
        future.add_done_callback(lambda _: self._offers.put(None))
        while (offered := self._offers.get()) is not None:
            _help(*offered)
        return future.result()

    def _offer(self, work: Callable[[], None]) -> Future[None]:
        """Keep a share of the work for whoever waits."""
        future: Future[None] = Future()
        self._offers.put((future, work))
        return future


def _help(future: Future[None], work: Callable[[], None]) -> None:
    """Do a share of the work, unless it is done already."""
    try:
        if not future.set_running_or_notify_cancel():
            return
        work()
        future.set_result(None)
    except BaseException as error:  # Ctrl-C too: the other thread would wait for ever
        if not future.done():
            future.set_exception(error)
        raise
