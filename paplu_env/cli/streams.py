"""Standard streams that any command can use: they exist, and take letters that their encoding hasn't got."""

from __future__ import annotations

import codecs
import io
import os
import sys
from typing import Final

_HANDLER: Final = "paplu_env.stand_in"
# What is printed for the letters of our own texts where an encoding lacks them; for all others a question mark.
_STAND_INS: Final = {
    **dict.fromkeys("−–—─━", "-"),
    **dict.fromkeys("│┃", "|"),
    **dict.fromkeys("‘’", "'"),
    **dict.fromkeys("“”", '"'),
    "…": "...",
    "±": "+/-",
    "×": "x",
    "·": "*",
    "→": "->",
    "≤": "<=",
    "≥": ">=",
    "♠": "S",
    "♥": "H",
    "♦": "D",
    "♣": "C",
}


def prepare_streams() -> None:
    """Let no letter stop a command, whatever the encoding of its streams: a stand-in is printed or read.

    A program calls it once, before it prints. Streams with an error handler that somebody has chosen
    (``PYTHONIOENCODING=ascii:replace``) keep it, and an output that is closed is opened to nowhere.
    """
    codecs.register_error(_HANDLER, _stand_in)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - for the rest of the process
        elif isinstance(stream, io.TextIOWrapper) and stream.errors in ("strict", "surrogateescape"):
            stream.reconfigure(errors=_HANDLER)
    if isinstance(sys.stdin, io.TextIOWrapper) and sys.stdin.errors in ("strict", "surrogateescape"):
        sys.stdin.reconfigure(errors="replace")


def is_unicode(stream: object) -> bool:
    """Whether a stream's encoding has every letter."""
    return "utf" in (getattr(stream, "encoding", None) or "utf-8").lower()


def _stand_in(error: UnicodeError) -> tuple[str | bytes, int]:
    """The handler of `codecs.register_error`."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    if all("\udc80" <= letter <= "\udcff" for letter in letters):  # bytes of a file name, as Python reads them
        return letters.encode("ascii", "surrogateescape"), error.end
    return "".join(_STAND_INS.get(letter, "?") for letter in letters), error.end
