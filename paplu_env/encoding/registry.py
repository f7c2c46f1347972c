"""Encodings by name."""

from __future__ import annotations

from typing import Final

from paplu_env.encoding.base import Encoding, Layout
from paplu_env.encoding.cards_v1 import CardsV1
from paplu_env.encoding.features_v1 import FeaturesV1
from paplu_env.encoding.hidden_v1 import HIDDEN_V1, HiddenLayout
from paplu_env.encoding.hidden_v2 import HIDDEN_V2
from paplu_env.encoding.series_v1 import SeriesV1
from paplu_env.errors import PapluError

_ENCODINGS: Final[dict[str, Encoding]] = {encoding.name: encoding for encoding in (CardsV1(), FeaturesV1(), SeriesV1())}
_HIDDEN: Final[dict[str, HiddenLayout]] = {layout.name: layout for layout in (HIDDEN_V1, HIDDEN_V2)}


def names() -> list[str]:
    """Names of all encodings."""
    return list(_ENCODINGS)


def layouts() -> dict[str, Layout]:
    """Everything with named fields, by name: the encodings, and what only a critic may see."""
    return {**_ENCODINGS, **_HIDDEN}


def hidden_layout(name: str) -> HiddenLayout:
    """The layout of hidden cards of a name.

    Raises:
        PapluError: there is no such layout.
    """
    if name not in _HIDDEN:
        raise PapluError(f"unknown layout of hidden cards {name!r}: choose one of {', '.join(_HIDDEN)}")
    return _HIDDEN[name]


def by_name(name: str) -> Encoding:
    """The encoding of a name; encodings have no state, so everybody gets the same one.

    Raises:
        PapluError: there is no such encoding.

    >>> by_name("cards-v1").num_features("points")
    688
    """
    if not isinstance(name, str) or name not in _ENCODINGS:
        raise PapluError(f"unknown encoding {name!r}: choose one of {', '.join(_ENCODINGS)}")
    return _ENCODINGS[name]
