"""Kernels on several threads, each of which works on slices of the rows."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Protocol

_SLICES: Final = 8  # for each thread: rows differ in what they take
_LEAST_ROWS: Final = 32  # of a slice, where there are enough: a call of a kernel takes as long as a few rows

_here = threading.local()


def run_slices(kernel: Callable[[int, int], None], rows: int, threads: int = 1) -> None:
    """Call ``kernel(start, stop)`` over slices of ``rows`` rows, on ``threads`` threads.

    The kernels release the GIL and write only their own rows, so results never depend on ``threads``. Each takes
    the next slice as soon as it is done with one, so that none is waited for long.
    """
    if threads <= 1 or rows < 2 * threads:
        kernel(0, rows)
        return
    size = max(-(-rows // (_SLICES * threads)), min(_LEAST_ROWS, rows // threads))
    starts = iter(range(0, rows, size))  # its next entry is given to one thread only
    is_stopped = False  # by an error or Ctrl-C, after which no thread begins another slice

    def work() -> None:
        nonlocal is_stopped
        try:
            for start in starts:
                if is_stopped:
                    return
                kernel(start, min(start + size, rows))
        except BaseException:
            is_stopped = True
            raise

    others = threads - 1
    shares: list[Share] = []
    if (offer := getattr(_here, "offer", None)) is not None:
        shares.append(offer(work))
        others -= 1
    shares += [_workers(others, os.getpid()).submit(work) for _ in range(others)]
    try:
        work()
    finally:
        # A share that nobody has begun by now has nothing left to do, or isn't wanted any more after an error.
        errors = [share.exception() for share in shares if not share.cancel()]
    for error in errors:
        if error is not None:
            raise error


class Share(Protocol):
    """What `run_slices` asks of its slices that another thread works on; futures have it."""

    def cancel(self) -> bool:
        """Give the share up unless it has been begun; return whether it was given up."""

    def exception(self) -> BaseException | None:
        """Wait for the end of the share; return the error that stopped it, if one did."""


def offer_slices(offer: Callable[[Callable[[], None]], Share]) -> None:
    """Let ``offer`` find one of the helping threads whenever this thread calls `run_slices` from now on.

    It is kept for the thread and no argument: the one who has a thread to offer calls an environment's step, and
    eight functions of four layers, all with ``threads`` alone, lie between the two.

    Args:
        offer: takes what is to be called in another thread, at once, later or not at all.
    """
    _here.offer = offer


@functools.cache
def _workers(threads: int, process: int) -> ThreadPoolExecutor:
    """Threads beside the caller's, kept because starting them takes as long as a hundred deals; a fork has none."""
    return ThreadPoolExecutor(threads, thread_name_prefix="paplu_env")
