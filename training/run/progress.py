"""How far a long job has come: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Final

from tqdm import tqdm

_LINE_EVERY: Final = 10.0  # seconds between plain lines: enough to see life, few enough for a log


class Progress:
    """Shows a count that grows to `total`, with a short text; use it as a context manager.

    A bar redraws itself on a terminal. Into a file or a pipe it writes one line at most every ten seconds,
    and one at the end.
    """

    def __init__(self, title: str, total: int, done: int = 0) -> None:
        self._title = title
        self._total = total
        self._done = self._first = done
        self._start = self._last_line = time.monotonic()
        self._text = ""
        self._shown = -1
        self._bar = None
        if sys.stderr.isatty():
            self._bar = tqdm(desc=title, total=total, initial=done, unit_scale=True, dynamic_ncols=True)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()
        elif kind is None and self._shown != self._done and self._done > self._first:
            self._line()

    def show(self, done: int, text: str = "") -> None:
        """``done`` of the total is done now; ``text`` says how it goes."""
        if self._bar is not None:
            self._bar.set_postfix_str(text, refresh=False)
            self._bar.update(done - self._done)
        self._done, self._text = done, text
        if self._bar is None and time.monotonic() - self._last_line >= _LINE_EVERY:
            self._line()

    def say(self, text: str) -> None:
        """A line of its own, above the bar."""
        if self._bar is not None:
            self._bar.write(text)
        else:
            print(text, flush=True)

    def _line(self) -> None:
        self._last_line, self._shown = time.monotonic(), self._done
        seconds = self._last_line - self._start
        rate = (self._done - self._first) / max(seconds, 1e-9)
        print(
            f"{self._title}: {self._done:,} of {self._total:,} ({seconds:.0f} s, {rate:,.0f}/s) {self._text}",
            flush=True,
        )
