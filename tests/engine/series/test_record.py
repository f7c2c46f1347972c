"""Records of series: written, read back, replayed; and whatever is not a whole one is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paplu_env import engine
from paplu_env.engine.series.record import SeriesRecord
from paplu_env.errors import InvalidFile, PapluError
from paplu_env.rules import parse_rules
from tests.engine.played_series import TABLES, step


def played(rules: str, series_format: str, seed: int = 7, limit: int = 100_000) -> SeriesRecord:
    """A record of a series played at random, to its end or for a number of actions."""
    table, chosen = parse_rules(rules), engine.parse_series(series_format)
    series = engine.Series(table, chosen, seed, first=1)
    generator, deals = np.random.default_rng(seed), [[]]
    while not series.is_over and sum(map(len, deals)) < limit:
        if series.is_deal_over:
            series.next_deal()
            deals.append([])
        deals[-1].append(step(series, generator))
    return SeriesRecord(rules=table, format=chosen, seed=seed, first=1, actions=tuple(map(tuple, deals)))


SHORT = played("points:num_players=3", "pool_201", limit=60)  # into its second deal or beyond


PARTS = ("version", "engine_version", "rules", "rules_hash", "series", "seed", "first", "deals")


@pytest.mark.parametrize(("rules", "series_format"), TABLES[:7:2])
def test_a_record_goes_to_a_file_and_back_and_replays(rules: str, series_format: str, tmp_path: Path) -> None:
    record = played(rules, series_format)
    engine.save_series(record, tmp_path / "series.json")
    assert [path.name for path in tmp_path.iterdir()] == ["series.json"]
    assert engine.load_series(tmp_path / "series.json", record.rules) == record
    final = engine.final_series(record)
    assert final.is_over
    values = json.loads((tmp_path / "series.json").read_text(encoding="utf-8"))
    assert values["winners"] == list(final.sheet.winners)
    assert [deal["totals"] for deal in values["deals"]] == [list(line.totals) for line in final.sheet.results]


@pytest.mark.parametrize("limit", [0, 1, 40, 150, 400])
def test_an_unfinished_series_is_a_record_too(limit: int) -> None:
    record = played("points:num_players=3", "deals:num_deals=6", limit=limit)
    assert SeriesRecord.from_dict(json.loads(json.dumps(record.to_dict()))) == record


def test_a_replay_comes_past_every_position() -> None:
    record = played("points", "deals", seed=3)
    series, seen = engine.Series(record.rules, record.format, record.seed, record.first), 0
    for replayed in engine.replay_series(record):
        if seen:
            actions = [action for deal in record.actions for action in (None, *deal)]
            action = actions[seen]
            if action is None:
                series.next_deal()
            else:
                series.apply(action)
        assert replayed == series
        seen += 1
    assert seen == sum(len(deal) + 1 for deal in record.actions)


def test_a_record_reads_as_the_series_was_played() -> None:
    values = SHORT.to_dict()
    assert (values["rules"], values["series"], values["ending"]) == ("points:num_players=3", "pool_201", "unfinished")
    assert values["deals"][0]["actions"][0] in ("draw", "take")
    assert values["deals"][-1]["totals"] is None


@pytest.mark.parametrize("size", [0, 1, 100, -2])
def test_a_truncated_file_is_refused_with_its_path(size: int, tmp_path: Path) -> None:
    path = tmp_path / "series.json"
    engine.save_series(SHORT, path)
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(InvalidFile, match=r"series\.json"):
        engine.load_series(path)


def test_a_record_of_other_rules_and_a_record_of_a_deal_are_refused(tmp_path: Path) -> None:
    engine.save_series(SHORT, tmp_path / "series.json")
    with pytest.raises(InvalidFile, match=r"series\.json: a record of points:num_players=3, not of saha2025"):
        engine.load_series(tmp_path / "series.json", parse_rules("saha2025"))
    with pytest.raises(InvalidFile, match="not a record of a deal"):
        engine.load_record(tmp_path / "series.json")
    engine.save_record(engine.Record(rules=parse_rules("points"), seed=1), tmp_path / "deal.json")
    with pytest.raises(InvalidFile, match="not a record of a series"):
        engine.load_series(tmp_path / "deal.json")
    with pytest.raises(InvalidFile, match=r"missing\.json"):
        engine.load_series(tmp_path / "missing.json")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": "paplu-record"}, "not a record of a series"),
        ({"version": 0}, "version 0"),
        ({"engine_version": 99}, "engine version 99"),
        ({"version": True}, "version is True, and must be a whole number"),
        ({"rules": "points:max_turns=100"}, "mean another game"),
        ({"rules": "bridge"}, "unknown preset"),
        ({"series": "pool_62"}, "unknown format"),
        ({"series": "pool_61"}, "replay"),
        ({"seed": SHORT.seed + 1}, "replay"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": 1.0}, "seed is 1.0"),
        ({"first": 5}, "first=5"),
        ({"ending": "decided"}, "not whole"),
        ({"winners": [0]}, "not whole"),
        ({"deals": []}, "without deals"),
        ({"deals": "none"}, "deals is 'none', and must be a list"),
        ({"deals": [[]]}, "list of objects"),
        ({"deals": [{"actions": ["fly"]}]}, "cannot read 'fly'"),
        ({"deals": [{}]}, "missing part: actions"),
    ],
)
def test_a_changed_record_is_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidFile, match=words):
        SeriesRecord.from_dict({**SHORT.to_dict(), **change})


@pytest.mark.parametrize(
    "name", ["version", "engine_version", "rules", "rules_hash", "series", "seed", "first", "deals"]
)
def test_a_record_with_a_missing_part_is_refused(name: str) -> None:
    values = SHORT.to_dict()
    del values[name]
    with pytest.raises(InvalidFile, match=f"missing part: {name}"):
        SeriesRecord.from_dict(values)


def test_a_changed_score_is_refused() -> None:
    for part, value in (("totals", [0, 1]), ("returns", [1.0, -1.0]), ("totals", None)):
        values = json.loads(json.dumps(SHORT.to_dict()))
        values["deals"][0][part] = value
        with pytest.raises(InvalidFile, match="not whole"):
            SeriesRecord.from_dict(values)


def test_more_deals_than_the_series_has_are_refused() -> None:
    record = SeriesRecord(
        rules=parse_rules("points"),
        format=engine.parse_series("session:num_deals=1"),
        seed=1,
        actions=((engine.DROP,), ()),
    )
    with pytest.raises(PapluError, match="no next deal"):
        engine.final_series(record)
