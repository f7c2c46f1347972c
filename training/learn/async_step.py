"""Environments that play on in a thread of their own, helped by the thread that waits for them.

While a network decides for one half of the games the other half is played on, on another core; and whoever has to wait
for a half takes a share of its slices. Sampling in two halves is known from Petrenko et al., "Sample Factory" (2020).

Ctrl-C may strike at any moment, and Python's own pools and futures are made of locks that it leaves closed. So the two
threads speak by `queue.SimpleQueue` alone, which is one call of C, and the second one is never waited for without end
after an error.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Final, Generic, TypeVar

from paplu_env._jit import offer_slices

_R = TypeVar("_R")

_PATIENCE: Final = 10.0  # seconds for the step under way, once something has gone wrong


class Job(Generic[_R]):
    """Something to do, and what came of it."""

    def __init__(self, call: Callable[[], _R]) -> None:
        self.is_done = False
        self._call = call
        self._found: _R | None = None
        self._error: BaseException | None = None

    def run(self) -> None:
        """Do it."""
        try:
            self._found = self._call()
        except BaseException as error:  # raised where the result is asked for
            self._error = error
        self.is_done = True

    def result(self) -> Any:
        """What was returned, once it is done.

        Raises:
            BaseException: what the job raised.
        """
        if self._error is not None:
            raise self._error
        return self._found


class _Share:
    """A share of a job's slices, which the one who waits for the job may take."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._claim = threading.Lock()  # held for good by whoever comes first
        self._reply: SimpleQueue[BaseException | None] = SimpleQueue()

    def cancel(self) -> bool:
        """Give it up unless it has been begun; whether that is so."""
        return self._claim.acquire(blocking=False)

    def exception(self) -> BaseException | None:
        """Wait for whoever has begun it; the error that stopped it, if one did."""
        return self._reply.get()

    def take(self) -> None:
        """Do it, unless it was given up."""
        stopped: BaseException | None = None
        try:
            if self._claim.acquire(blocking=False):
                self._work()
        except BaseException as error:
            stopped = error
            raise
        finally:
            self._reply.put(stopped)


class AsyncStepper:
    """Does one job after the other in a second thread; use it as a context manager, which waits for what was begun.

    Args:
        threads: with 1 there is no second thread, and every job is done when it is handed over.
    """

    def __init__(self, threads: int) -> None:
        self._jobs: SimpleQueue[Job[Any] | None] = SimpleQueue()
        self._heard: SimpleQueue[_Share | None] = SimpleQueue()  # shares to take, and None when some job is done
        self._player = None
        if threads > 1:
            self._player = threading.Thread(target=self._play, name="paplu_env_step", daemon=True)
            self._player.start()

    def __enter__(self) -> AsyncStepper:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._player is not None:
            self._jobs.put(None)
            self._player.join(None if kind is None else _PATIENCE)

    def start(self, call: Callable[[], _R]) -> Job[_R]:
        """Have something done after what was handed over before."""
        job = Job(call)
        if self._player is None:
            job.run()
        else:
            self._jobs.put(job)
        return job

    def result(self, job: Job[_R]) -> _R:
        """What a job returned; until it is done, shares of its slices, and of those before it, are taken.

        Raises:
            BaseException: what the job raised.
        """
        while not job.is_done:
            share = self._heard.get()
            if share is not None:
                share.take()
        found: _R = job.result()
        return found

    def _play(self) -> None:
        """The second thread."""
        offer_slices(self._offer)
        while (job := self._jobs.get()) is not None:
            job.run()
            self._heard.put(None)

    def _offer(self, work: Callable[[], None]) -> _Share:
        share = _Share(work)
        self._heard.put(share)
        return share
