"""Records: a deal as what it follows from, kept as JSON, and replayed.

After the deal a game is a function of its actions, so a record is rules, seed (or deck), first seat,
active seats and actions, with the version of the engine that played it. How the deal ended is written
beside them, and a record that doesn't replay to it is refused.
"""

from __future__ import annotations

import os
import reprlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from paplu_env import reading
from paplu_env.cards import format_cards, parse_cards
from paplu_env.engine.actions import format_action, parse_action
from paplu_env.engine.dealing import deal, deal_from
from paplu_env.engine.scoring import returns
from paplu_env.engine.state import ENDING_NAMES, States
from paplu_env.engine.transition import apply_action
from paplu_env.errors import InvalidFile, InvalidNotation, PapluError
from paplu_env.files import CannotWrite, write_json
from paplu_env.rules import RuleSet, parse_rules

ENGINE_VERSION: Final = 1  # raised whenever the same record could give another game
RECORD_FORMAT: Final = "paplu-record"
_T = TypeVar("_T", int, str, list[Any])
_R = TypeVar("_R")


@dataclass(frozen=True, kw_only=True)
class Record:
    """One deal, finished or not."""

    rules: RuleSet
    seed: int  # of the deal; with a deck, of the shuffles that may follow it
    deck: tuple[int, ...] | None = None  # faces in the order dealt, instead of the seed's deck
    first: int = 0
    active: tuple[int, ...] | None = None  # seats dealt in, None = all
    actions: tuple[int, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, with the version and the result; `from_dict` reads them back."""
        states = final_state(self)
        return {
            "format": RECORD_FORMAT,
            "version": ENGINE_VERSION,
            "rules": str(self.rules),
            "rules_hash": self.rules.hash,
            "seed": self.seed,
            "deck": None if self.deck is None else format_cards(self.deck),
            "first": self.first,
            "active": None if self.active is None else list(self.active),
            "actions": [format_action(action) for action in self.actions],
            "ending": ENDING_NAMES[int(states["ending"][0])],
            "returns": returns(states, 0).tolist(),
        }

    @classmethod
    def from_dict(cls, values: Any) -> Record:
        """The record that `to_dict` described, replayed once to see that it is whole.

        Raises:
            InvalidFile: not a record, of another version or rule set, or one that doesn't replay.
        """
        if not isinstance(values, dict) or values.get("format") != RECORD_FORMAT:
            raise InvalidFile("not a record of a deal")
        version = part(values, "version", int)
        if version != ENGINE_VERSION:
            raise InvalidFile(f"a record of engine version {version}: this engine is {ENGINE_VERSION}")
        deck = None if values.get("deck", "") is None else part(values, "deck", str)
        active = None if values.get("active", "") is None else tuple(parts(values, "active", int))
        if active is not None and len(set(active)) < len(active):
            raise InvalidFile(f"a record with a wrong part: active names a seat twice: {reprlib.repr(active)}")
        rules, rules_hash = part(values, "rules", str), part(values, "rules_hash", str)
        result = part(values, "ending", str), parts(values, "returns", int)
        try:
            record = cls(
                rules=parse_rules(rules),
                seed=part(values, "seed", int),
                deck=None if deck is None else tuple(parse_cards(deck)),
                first=part(values, "first", int),
                active=active,
                actions=tuple(parse_action(text) for text in parts(values, "actions", str)),
            )
            if record.rules.hash != rules_hash:
                raise InvalidFile(f"its rules {rules!r} mean another game today than when it was written")
            again = record.to_dict()
        except InvalidFile:
            raise
        except PapluError as error:
            raise InvalidFile(f"a record that cannot be replayed: {error}") from None
        if (again["ending"], again["returns"]) != result:
            raise InvalidFile(
                f"a record that is not whole: it replays to {again['ending']} {again['returns']}, "
                f"and says {result[0]} {reprlib.repr(result[1])}"
            )
        return record


def part(values: dict[str, Any], name: str, kind: type[_T]) -> _T:
    """One part of a record, of just this type: to JSON ``true`` and ``1.0`` are not the number 1."""
    if name not in values:
        raise InvalidFile(f"a record with a missing part: {name}")
    return _of_kind(values[name], name, kind)


def parts(values: dict[str, Any], name: str, kind: type[_T]) -> list[_T]:
    """A list of values of one type."""
    return [_of_kind(value, f"{name}[{place}]", kind) for place, value in enumerate(part(values, name, list))]


def _of_kind(value: Any, name: str, kind: type[_T]) -> _T:
    try:
        return reading.need(value, kind, name)
    except InvalidNotation as error:
        raise InvalidFile(f"a record with a wrong part: {error}") from None


def save_record(record: Record, path: str | os.PathLike[str]) -> None:
    """Write a record, whole or not at all.

    Raises:
        OSError: it cannot be written; the error names the path, and nothing is left behind.
    """
    write_values(record.to_dict(), path)


def load_record(path: str | os.PathLike[str], rules: RuleSet | None = None) -> Record:
    """Read a record.

    Args:
        rules: refuse a record of any other rule set.

    Raises:
        InvalidFile: it can't be read, is truncated, foreign, of another version or other rules, or
            doesn't replay to the result written in it. The message names the path.
    """
    record = read_json(path, Record.from_dict)
    if rules is not None and record.rules.hash != rules.hash:
        raise InvalidFile(f"{os.fspath(path)}: a record of {record.rules}, not of {rules}")
    return record


def write_values(values: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Write the plain values of a record to a file.

    Raises:
        OSError: as `save_record` does.
    """
    try:
        write_json(path, values, indent=1)
    except CannotWrite as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None


def read_json(path: str | os.PathLike[str], read: Callable[[Any], _R]) -> _R:
    """What ``read`` makes of the values in a file.

    Raises:
        InvalidFile: the file, or what is in it, cannot be read. The message names the path.
    """
    values = reading.read_json(path)
    try:
        return read(values)
    except PapluError as error:
        raise InvalidFile(f"{os.fspath(path)}: {error}") from None


def replay(record: Record) -> Iterator[States]:
    """The deal and every action of a record, one after the other.

    Yields:
        ``(1,)`` states after the deal and after each action: one array, changed in place.

    Raises:
        IllegalAction: an action that the rules don't allow.
    """
    if record.deck is None:
        states = deal(record.rules, record.seed, record.first, record.active)
    else:
        states = deal_from(record.rules, record.deck, record.first, record.active, record.seed)
    yield states
    for action in record.actions:
        apply_action(states, 0, action, record.rules)
        yield states


def final_state(record: Record) -> States:
    """The state after all actions of a record, ``(1,)``."""
    for states in replay(record):
        final = states
    return final
