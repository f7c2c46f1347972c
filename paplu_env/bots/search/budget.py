"""What a search may spend per decision, and the names of bots that tell it: ``search-64``."""

from __future__ import annotations

import re
from typing import Final

from paplu_env.errors import PapluError

DEFAULT_WORLDS: Final = 256  # of `search`
MAX_WORLDS: Final = 1 << 20  # more would take minutes per decision; such a number is a slip of the pen
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


def check_budget(worlds: int, milliseconds: float | None) -> None:
    """Refuse a budget out of range.

    Raises:
        PapluError: the number of worlds, or the time.
    """
    if not 1 <= worlds <= MAX_WORLDS:
        raise PapluError(f"worlds={worlds}: a search needs 1..{MAX_WORLDS} worlds")
    if milliseconds is not None and not milliseconds > 0:
        raise PapluError(f"milliseconds={milliseconds}: must be above 0; None searches by worlds")
