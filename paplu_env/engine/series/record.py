"""Records of series: rules, format, seed, first seat and the actions of every deal, kept as JSON and replayed.

The score sheet is written beside the actions, line by line, and a record that doesn't replay to it is
refused.
"""

from __future__ import annotations

import json
import os
import reprlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from paplu_env.engine.actions import format_action, parse_action
from paplu_env.engine.record import ENGINE_VERSION, part, parts, read_json, write_values
from paplu_env.engine.series.format import SeriesFormat, parse_series
from paplu_env.engine.series.score_sheet import DealResult
from paplu_env.engine.series.series import Series
from paplu_env.errors import InvalidFile, PapluError
from paplu_env.rules import RuleSet, parse_rules

SERIES_VERSION: Final = 1  # raised whenever the same results could give another score sheet
_FORMAT: Final = "paplu-series"


@dataclass(frozen=True, kw_only=True)
class SeriesRecord:
    """One series, finished or not."""

    rules: RuleSet  # of the table, before a pool's prices are put in
    format: SeriesFormat
    seed: int
    first: int = 0  # seat that had the first turn of the first deal
    actions: tuple[tuple[int, ...], ...] = ((),)  # of every deal that was dealt

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, with the versions and the score sheet; `from_dict` reads them back."""
        series = final_series(self)
        lines: list[DealResult | None] = [*series.sheet.results]
        lines += [None] * (len(self.actions) - len(lines))  # the deal that is still on
        return {
            "format": _FORMAT,
            "version": SERIES_VERSION,
            "engine_version": ENGINE_VERSION,
            "rules": str(self.rules),
            "rules_hash": self.rules.hash,
            "series": str(self.format),
            "seed": self.seed,
            "first": self.first,
            "deals": [
                {
                    "actions": [format_action(action) for action in actions],
                    "returns": None if line is None else list(line.returns),
                    "totals": None if line is None else list(line.totals),
                }
                for actions, line in zip(self.actions, lines, strict=True)
            ],
            "ending": series.sheet.ending,
            "winners": list(series.sheet.winners),
        }

    @classmethod
    def from_dict(cls, values: Any) -> SeriesRecord:
        """The record that `to_dict` described, replayed once to see that it is whole.

        Raises:
            InvalidFile: not a record of a series, of another version or rule set, or one that doesn't replay.
        """
        if not isinstance(values, dict) or values.get("format") != _FORMAT:
            raise InvalidFile("not a record of a series")
        versions = part(values, "version", int), part(values, "engine_version", int)
        if versions != (SERIES_VERSION, ENGINE_VERSION):
            raise InvalidFile(
                f"a series of version {versions[0]} and engine version {versions[1]}: these are {SERIES_VERSION} and "
                f"{ENGINE_VERSION}"
            )
        deals = part(values, "deals", list)
        if not all(isinstance(deal, dict) for deal in deals):
            raise InvalidFile("a record with a wrong part: deals must be a list of objects")
        rules, rules_hash = part(values, "rules", str), part(values, "rules_hash", str)
        try:
            record = cls(
                rules=parse_rules(rules),
                format=parse_series(part(values, "series", str)),
                seed=part(values, "seed", int),
                first=part(values, "first", int),
                actions=tuple(tuple(parse_action(text) for text in parts(deal, "actions", str)) for deal in deals),
            )
            if record.rules.hash != rules_hash:
                raise InvalidFile(f"its rules {rules!r} mean another game today than when it was written")
            again = record.to_dict()
        except InvalidFile:
            raise
        except PapluError as error:
            raise InvalidFile(f"a record that cannot be replayed: {error}") from None
        if _score(values) != _score(again):
            raise InvalidFile(
                f"a record that is not whole: it replays to the score {reprlib.repr(_score(again))}, and says "
                f"{reprlib.repr(_score(values))}"
            )
        return record


def _score(values: dict[str, Any]) -> str:
    """The score sheet in a record, as a text: to JSON ``true`` and ``1.0`` are not the number 1."""
    lines = [[deal.get("returns"), deal.get("totals")] for deal in values["deals"]]
    return json.dumps([values.get("ending"), values.get("winners"), lines])


def replay_series(record: SeriesRecord) -> Iterator[Series]:
    """The first deal of a record, and the series after every action and every further deal.

    Yields:
        One series, changed in place.

    Raises:
        InvalidRules: rules, format and seat that don't go together.
        PapluError: actions that the rules don't allow, or more deals than the series has.
    """
    if not record.actions:
        raise PapluError("a record without deals: the first deal of a series is always dealt")
    series = Series(record.rules, record.format, record.seed, record.first)
    yield series
    for number, actions in enumerate(record.actions):
        if number:
            series.next_deal()
            yield series
        for action in actions:
            series.apply(action)
            yield series


def final_series(record: SeriesRecord) -> Series:
    """The series after all actions of a record."""
    for series in replay_series(record):
        final = series
    return final


def save_series(record: SeriesRecord, path: str | os.PathLike[str]) -> None:
    """Write a record of a series, as `save_record` writes one of a deal.

    Raises:
        OSError: it cannot be written; the error names the path, and nothing is left behind.
    """
    write_values(record.to_dict(), path)


def load_series(path: str | os.PathLike[str], rules: RuleSet | None = None) -> SeriesRecord:
    """Read a record of a series.

    Args:
        rules: refuse a record of any other rule set; the table's, without a pool's prices.

    Raises:
        InvalidFile: it can't be read, is truncated, foreign, of another version or other rules, or
            doesn't replay to the scores written in it. The message names the path.
    """
    record = read_json(path, SeriesRecord.from_dict)
    if rules is not None and record.rules.hash != rules.hash:
        raise InvalidFile(f"{os.fspath(path)}: a record of {record.rules}, not of {rules}")
    return record
