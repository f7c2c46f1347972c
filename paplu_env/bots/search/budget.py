"""What a search may spend per decision, and the names of bots that tell it: ``search-64``."""

from __future__ import annotations

import re
import reprlib
from typing import Final

import numpy as np

from paplu_env.errors import PapluError

DEFAULT_WORLDS: Final = 256  # of `search`
MAX_WORLDS: Final = 1 << 20  # more would take minutes per decision; such a number is a slip of the pen
MAX_MILLISECONDS: Final = 3_600_000  # an hour, for the same reason
_NAME: Final = re.compile(r"search(?:-([1-9]\d{0,6}))?")


def search_name(worlds: int, milliseconds: float | None = None) -> str:
    """What a search with this budget is called; `worlds_of_name` reads the names that tell worlds.

    >>> search_name(256), search_name(64)
    ('search', 'search-64')
    """
    if milliseconds is not None:
        return f"search-{milliseconds:g}ms"
    return "search" if worlds == DEFAULT_WORLDS else f"search-{worlds}"


def worlds_of_name(name: str) -> int | None:
    """The worlds that a bot's name asks for; None if it is not the name of a search.

    >>> worlds_of_name("search"), worlds_of_name("search-64"), worlds_of_name("mindist")
    (256, 64, None)
    """
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    return int(found[1]) if found[1] else DEFAULT_WORLDS


def check_budget(worlds: int | None, milliseconds: float | None) -> None:
    """Refuse a budget out of range; None sets no limit.

    Raises:
        PapluError: the number of worlds, or the time.
    """
    if worlds is not None and not (isinstance(worlds, (int, np.integer)) and 1 <= worlds <= MAX_WORLDS):
        raise PapluError(f"worlds={reprlib.repr(worlds)}: a search needs 1..{MAX_WORLDS} worlds")
    # Not "<= 0": every comparison with NaN is false.
    is_number = isinstance(milliseconds, (int, float, np.number))
    if milliseconds is not None and not (is_number and 0 < milliseconds <= MAX_MILLISECONDS):
        raise PapluError(
            f"milliseconds={reprlib.repr(milliseconds)}: must be above 0 and at most {MAX_MILLISECONDS} (an hour); "
            "None searches by worlds"
        )
