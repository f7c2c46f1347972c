"""Formats of series: notation both ways, defaults, a pool's prices, and what is refused."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from paplu_env.engine.series.format import FORMATS, SeriesFormat, as_series, format_series, parse_series
from paplu_env.engine.series.series import Series
from paplu_env.errors import InvalidRules
from paplu_env.rules import RuleSet, parse_rules


def _every_format() -> list[SeriesFormat]:
    """Every format with every switch, and some numbers."""
    formats = [SeriesFormat(name="deals", num_deals=n, max_deals=m) for n in (2, 3, 6) for m in (None, 6, 250, 300)]
    formats += [SeriesFormat(name="session", num_deals=n) for n in (1, 10, 10_000)]
    for name in ("pool_61", "pool_101", "pool_201"):
        for switches in range(8):
            strict, rejoin, split = bool(switches & 1), bool(switches & 2), bool(switches & 4)
            for limit in (None, 1, 40):
                formats.append(
                    SeriesFormat(name=name, strict_pool=strict, rejoin=rejoin, split=split, max_deals=limit)  # type: ignore[arg-type]
                )
    return formats


def test_every_format_goes_to_text_and_back() -> None:
    for series in _every_format():
        assert parse_series(format_series(series)) == series
        assert as_series(str(series)) is not None
        assert pickle.loads(pickle.dumps(series)) == series == copy.deepcopy(series)
        assert hash(copy.deepcopy(series)) == hash(series)


@pytest.mark.parametrize("name", FORMATS)
def test_a_name_alone_is_the_format_with_its_defaults(name: str) -> None:
    assert format_series(parse_series(name)) == name


def test_equal_formats_are_equal_however_they_were_named() -> None:
    assert parse_series("deals") == parse_series("deals:num_deals=2") == as_series({"name": "deals"})
    assert parse_series("session") == SeriesFormat(name="session", num_deals=10)
    assert parse_series(" pool_101 : rejoin = TRUE").rejoin
    assert as_series({"name": "pool_61", "split": True}) == parse_series("pool_61:split=true")


@pytest.mark.parametrize(
    ("name", "limit", "drops", "cap", "rejoin_limit", "split_from"),
    [
        ("pool_61", 61, (15, 30), 60, 44, 45),
        ("pool_101", 101, (20, 40), 80, 79, 80),
        ("pool_201", 201, (25, 50), 80, 174, 175),
    ],
)
def test_a_pool_costs_what_the_law_says(
    name: str, limit: int, drops: tuple[int, int], cap: int, rejoin_limit: int, split_from: int
) -> None:
    pool = parse_series(name).pool
    assert pool is not None
    assert (pool.limit, pool.rejoin_limit, pool.split_from) == (limit, rejoin_limit, split_from)
    for rules in ("points", "classic:num_players=4", "points:drop_allowed=false"):
        table = parse_series(name).table(rules)
        assert table == parse_series(name).table(parse_rules(rules))
        assert (table.first_drop, table.middle_drop) == drops
        assert (table.max_points, table.wrong_declare_points) == (cap, cap)
        assert table.drop_allowed == parse_rules(rules).drop_allowed
        assert parse_series(name).table(table) == table


def _prices(rules: RuleSet) -> tuple[int, int, int, int]:
    return rules.first_drop, rules.middle_drop, rules.max_points, rules.wrong_declare_points


@pytest.mark.parametrize(
    ("name", "rules", "prices"),
    [
        ("pool_101", "rummy_21", (30, 70, 120, 120)),
        ("pool_201", "rummy_21:max_points=100", (30, 70, 100, 120)),
        ("pool_201", "points:first_drop=10", (10, 50, 80, 80)),
        ("pool_61", "ten_card", (10, 30, 60, 60)),
        ("pool_61", "pagat:num_players=7", (10, 30, 60, 60)),
        ("pool_201", {"max_points": 90}, (25, 50, 90, 80)),
        ("pool_201", RuleSet(middle_drop=45), (25, 45, 80, 80)),
        ("pool_101", "points:first_drop=20,max_points=80", (20, 40, 80, 80)),
        ("pool_201", "pagat:first_drop=25", (25, 50, 80, 80)),
    ],
)
def test_a_pool_keeps_the_prices_in_which_a_table_differs_from_the_default_game(
    name: str, rules: Any, prices: tuple[int, int, int, int]
) -> None:
    series = parse_series(name)
    assert _prices(series.table(rules)) == _prices(Series(rules, series).rules) == prices
    assert series.table(series.table(rules)) == series.table(rules)


@pytest.mark.parametrize(
    ("name", "rules", "words"),
    [
        ("pool_201", "points:first_drop=20", "first_drop=20 contradicts pool_201: .* is 25 in this pool"),
        ("pool_201", {"middle_drop": 40}, "middle_drop=40 contradicts pool_201: .* is 50 in this pool"),
        ("pool_61", "pagat:first_drop=20", "first_drop=20 contradicts pool_61: .* is 15 in this pool"),
        ("pool_61", "points:max_points=80", "max_points=80 contradicts pool_61: .* is 60 in this pool"),
        ("pool_101", "points:middle_drop=10", "first_drop=20 is more than middle_drop=10"),
    ],
)
def test_a_price_that_is_written_out_is_never_replaced_in_silence(name: str, rules: Any, words: str) -> None:
    with pytest.raises(InvalidRules, match=words):
        Series(rules, name)


def test_deals_and_sessions_leave_the_table_as_it_is() -> None:
    for name in ("deals", "session"):
        assert parse_series(name).table(parse_rules("rummy_21")) == parse_rules("rummy_21")


def test_a_table_that_a_pool_makes_impossible_is_refused_by_name() -> None:
    with pytest.raises(InvalidRules, match="loser_complete=70"):
        parse_series("pool_61").table(RuleSet(loser_complete=70))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("pool_301", "unknown format 'pool_301'.*deals, pool_61, pool_101, pool_201, session"),
        ("", "unknown format ''"),
        ("pool_101:lives=3", "unknown option 'lives'.*num_deals"),
        ("pool_101:rejoin", "cannot read 'rejoin'"),
        ("pool_101:rejoin=", "cannot read 'rejoin='"),
        ("pool_101:rejoin=true,rejoin=true", "rejoin is given twice"),
        ("pool_101:rejoin=yes", "rejoin='yes': must be true or false"),
        ("pool_101:rejoin=1", "rejoin=1: must be true or false"),
        ("pool_101:num_deals=3", "num_deals=3 contradicts pool_101"),
        ("pool_101:max_deals=0", "max_deals=0"),
        ("pool_101:name=deals", "unknown option 'name'"),
        ("deals:num_deals=4", "num_deals=4: deals are played by 2, 3 or 6"),
        ("deals:num_deals=true", "num_deals=True: must be a whole number"),
        ("deals:num_deals=two", "num_deals='two': must be a whole number"),
        ("deals:num_deals=6,max_deals=5", "max_deals=5.*needs 6 deals"),
        ("deals:rejoin=true", "rejoin=true contradicts deals"),
        ("deals:split=true", "split=true contradicts deals"),
        ("session:strict_pool=true", "strict_pool=true contradicts session"),
        ("session:num_deals=0", "num_deals=0: a session has 1 to 10000 deals"),
        ("session:num_deals=10001", "num_deals=10001"),
        ("session:max_deals=20", "max_deals=20 contradicts session"),
    ],
)
def test_what_contradicts_a_format_is_refused_by_name(text: str, words: str) -> None:
    with pytest.raises(InvalidRules, match=words):
        parse_series(text)


@pytest.mark.parametrize("series", [None, 101, ["pool_101"], {"rejoin": True}, {"name": ["deals"]}])
def test_what_names_no_format_is_refused(series: Any) -> None:
    with pytest.raises(InvalidRules, match=r"names no series|unknown format"):
        as_series(series)
