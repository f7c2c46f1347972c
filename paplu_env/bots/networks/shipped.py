"""The exported policies that come with the package, as the index beside them lists them."""

from __future__ import annotations

import os
import reprlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from paplu_env.errors import InvalidFile, InvalidNotation
from paplu_env.reading import need, need_field, need_list, read_json

INDEX: Final = "index.json"  # written by ``python -m training.ship``
INDEX_FORMAT: Final = "paplu-policies-1"
_FOLDER_VARIABLE: Final = "PAPLU_POLICIES_DIR"  # names another folder, of bots of one's own
_PACKAGE: Final = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Strength:
    """What a match said: shipped bot against another, per deal of duplicates."""

    opponent: str
    rules: str
    deals: int
    win_rate: float
    win_rate_interval: tuple[float, float]
    points_per_deal: float
    points_interval: tuple[float, float]

    def __str__(self) -> str:
        return f"{self.win_rate:.1%} and {self.points_per_deal:+.1f} against {self.opponent}"


@dataclass(frozen=True)
class ShippedPolicy:
    """One bot of the index."""

    name: str
    about: str  # what it is, in one line
    file: str  # ONNX, in the same folder as the index
    card: str
    encoding: str
    rules: tuple[str, ...]  # rules strings, the ones it was trained on first
    bytes: int
    microseconds: float | None  # one decision on one core of the machine that its card names
    strength: tuple[Strength, ...]


def policies_folder() -> Path:
    """Where the shipped policies lie: inside an installed package, beside it in a checkout.

    The environment variable ``PAPLU_POLICIES_DIR`` names another folder.
    """
    chosen = os.environ.get(_FOLDER_VARIABLE)
    if chosen:
        return Path(chosen)
    inside = _PACKAGE / "_policies"
    return inside if inside.is_dir() else _PACKAGE.parent / "policies"


def shipped_policies() -> dict[str, ShippedPolicy]:
    """The shipped policies by name, in the order of the index; none if there is no index.

    Raises:
        InvalidFile: an index that can't be read.
    """
    path = policies_folder() / INDEX
    try:
        changed = path.stat().st_mtime_ns
    except OSError:
        return {}
    return _read_index(path, changed)


def shipped_file(name: str) -> Path | None:
    """The ONNX file of a shipped policy, None if there is none of this name."""
    found = shipped_policies().get(name)
    return None if found is None else policies_folder() / found.file


@lru_cache(maxsize=8)  # every name of a bot is looked up here
def _read_index(path: Path, _changed: int) -> dict[str, ShippedPolicy]:
    try:
        index = need(read_json(path), dict, "the whole")
        found = need_field(index, "format", str)
        if found != INDEX_FORMAT:
            raise InvalidNotation(f"its format is {reprlib.repr(found)}, not {INDEX_FORMAT!r}")
        policies = [_shipped(entry) for entry in need_list(index, "policies", dict)]
    except (InvalidNotation, InvalidFile) as error:
        reason = str(error).removeprefix(f"{path}: ")
        raise InvalidFile(
            f"{path}: is no index of policies ({reason}); write it again with: python -m training.ship"
        ) from None
    return {policy.name: policy for policy in policies}


def _shipped(entry: dict[str, Any]) -> ShippedPolicy:
    microseconds = entry.get("microseconds")
    return ShippedPolicy(
        **{key: need_field(entry, key, str) for key in ("name", "about", "file", "card", "encoding")},
        rules=tuple(need_list(entry, "rules", str)),
        bytes=need_field(entry, "bytes", int),
        microseconds=None if microseconds is None else need(microseconds, float, "microseconds"),
        strength=tuple(_strength(match) for match in need_list(entry, "strength", dict)),
    )


def _strength(match: dict[str, Any]) -> Strength:
    return Strength(
        opponent=need_field(match, "opponent", str),
        rules=need_field(match, "rules", str),
        deals=need_field(match, "deals", int),
        win_rate=need_field(match, "win_rate", float),
        win_rate_interval=_interval(match, "win_rate_interval"),
        points_per_deal=need_field(match, "points_per_deal", float),
        points_interval=_interval(match, "points_interval"),
    )


def _interval(match: dict[str, Any], name: str) -> tuple[float, float]:
    ends = need_list(match, name, float)
    if len(ends) != 2:
        raise InvalidNotation(f"{name} has {len(ends)} numbers, not 2")
    return ends[0], ends[1]
