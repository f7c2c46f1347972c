"""Encodings by name."""

from __future__ import annotations

from typing import Final

from paplu_env.encoding.base import Encoding, Layout
from paplu_env.encoding.cards_v1 import CardsV1
from paplu_env.encoding.features_v1 import FeaturesV1
from paplu_env.encoding.hidden_v1 import HIDDEN_V1
from paplu_env.encoding.series_v1 import SeriesV1
from paplu_env.errors import PapluError

_ENCODINGS: Final[dict[str, Encoding]] = {encoding.name: encoding for encoding in (CardsV1(), FeaturesV1(), SeriesV1())}


def names() -> list[str]:
    """Names of all encodings."""
    return list(_ENCODINGS)


def layouts() -> dict[str, Layout]:
    """Everything with named fields, by name: the encodings, and what only a critic may see."""
    return {**_ENCODINGS, HIDDEN_V1.name: HIDDEN_V1}


def get(name: str) -> Encoding:
    """The encoding of a name; encodings have no state, so everybody gets the same one.

    Raises:
        PapluError: there is no such encoding.

    >>> get("cards-v1").num_features("points")
    688
    """
    if not isinstance(name, str) or name not in _ENCODINGS:
        raise PapluError(f"unknown encoding {name!r}: choose one of {', '.join(_ENCODINGS)}")
    return _ENCODINGS[name]
