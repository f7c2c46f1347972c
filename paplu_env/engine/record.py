"""Records: a deal as what it follows from, kept as JSON, and replayed.

After the deal a game is a function of its actions, so a record is rules, seed (or deck), first seat,
active seats and actions, with the version of the engine that played it. How the deal ended is written
beside them, and a record that doesn't replay to it is refused.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from paplu_env.cards import format_cards, parse_cards
from paplu_env.engine.actions import format_action, parse_action
from paplu_env.engine.deal import deal, deal_from
from paplu_env.engine.scoring import returns
from paplu_env.engine.state import ENDING_NAMES, States
from paplu_env.engine.transition import apply_action
from paplu_env.errors import InvalidFile, PapluError
from paplu_env.rules import RuleSet, parse_rules

ENGINE_VERSION: Final = 1  # raised whenever the same record could give another game
_FORMAT: Final = "paplu-record"


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
            "format": _FORMAT,
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
        if not isinstance(values, dict) or values.get("format") != _FORMAT:
            raise InvalidFile("not a record of a deal")
        if values.get("version") != ENGINE_VERSION:
            raise InvalidFile(f"a record of engine version {values.get('version')}: this engine is {ENGINE_VERSION}")
        try:
            record = cls(
                rules=parse_rules(values["rules"]),
                seed=values["seed"],
                deck=None if values["deck"] is None else tuple(parse_cards(values["deck"])),
                first=values["first"],
                active=None if values["active"] is None else tuple(values["active"]),
                actions=tuple(parse_action(text) for text in values["actions"]),
            )
            if record.rules.hash != values["rules_hash"]:
                raise InvalidFile(f"its rules {values['rules']!r} mean another game today than when it was written")
            again = record.to_dict()
        except (KeyError, TypeError, AttributeError) as error:
            raise InvalidFile(f"a record with a missing or wrong part: {error!r}") from None
        except InvalidFile:
            raise
        except PapluError as error:
            raise InvalidFile(f"a record that cannot be replayed: {error}") from None
        if (again["ending"], again["returns"]) != (values.get("ending"), values.get("returns")):
            raise InvalidFile(
                f"a record that is not whole: it replays to {again['ending']} {again['returns']}, "
                f"and says {values.get('ending')} {values.get('returns')}"
            )
        return record


def save_record(record: Record, path: str | os.PathLike[str]) -> None:
    """Write a record, under a temporary name first, so that a killed run leaves no half of it."""
    target = Path(path)
    temporary = target.with_name(f"{target.name}.{os.getpid()}.tmp")
    temporary.write_text(json.dumps(record.to_dict(), indent=1) + "\n", encoding="utf-8")
    os.replace(temporary, target)


def load_record(path: str | os.PathLike[str], rules: RuleSet | None = None) -> Record:
    """Read a record.

    Args:
        rules: refuse a record of any other rule set.

    Raises:
        InvalidFile: it can't be read, is truncated, foreign, of another version or other rules, or
            doesn't replay to the result written in it. The message names the path.
    """
    try:
        record = Record.from_dict(json.loads(Path(path).read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, InvalidFile) as error:
        raise InvalidFile(f"{os.fspath(path)}: {error}") from None
    if rules is not None and record.rules.hash != rules.hash:
        raise InvalidFile(f"{os.fspath(path)}: a record of {record.rules}, not of {rules}")
    return record


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
