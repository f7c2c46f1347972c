"""``series-v1``: the score sheet beside the cards, each fact at its own entries."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np
import pytest

from paplu_env import encoding, engine
from paplu_env.encoding.series_v1 import SeriesV1
from paplu_env.engine.series.format import FORMATS, parse_series
from paplu_env.engine.series.score_sheet import ScoreSheet
from paplu_env.engine.series.series import Series
from paplu_env.errors import InvalidRules, PapluError
from paplu_env.rules import RuleSet, parse_rules
from tests.encoding.positions import sampled_views
from tests.engine.played_series import TABLES, step

SERIES_V1 = SeriesV1()
FOUR = parse_rules("points:num_players=4")


def encode(series: Series, seat: int, sheet: ScoreSheet | None = None) -> np.ndarray:
    view = engine.player_view(series.states, 0, seat)
    return SERIES_V1.encode(view, series.rules, sheets=[sheet or series.sheet])[0]


def value(observation: np.ndarray, name: str, rules: RuleSet) -> list[float]:
    (field,) = (field for field in SERIES_V1.fields(rules) if field.name == name)
    return [float(entry) for entry in observation[field.start : field.stop]]


def test_it_is_cards_v1_and_then_the_sheet() -> None:
    for rules, series_format in TABLES[:4]:
        series = Series(rules, series_format, seed=3)
        cards = encoding.by_name("cards-v1")
        fields = SERIES_V1.fields(series.rules)
        assert fields[: len(cards.fields(series.rules))] == cards.fields(series.rules)
        view = engine.player_view(series.states, 0, 1)
        seen = cards.encode(view, series.rules)[0]
        assert encode(series, 1)[: len(seen)].tobytes() == seen.tobytes()


def test_it_keeps_its_length() -> None:
    lengths = [SERIES_V1.num_features(rules) for rules in ("points", "one_pack", "points:num_players=4")]
    assert lengths == [688 + 22, 635 + 22, 1016 + 30]


@pytest.mark.parametrize(("rules", "series_format"), TABLES)
def test_every_entry_is_in_the_unit_interval_in_every_deal_of_a_series(rules: str, series_format: str) -> None:
    series, generator = Series(rules, series_format, seed=2), np.random.default_rng(1)
    while True:
        for seat in range(series.rules.num_players):
            observation = encode(series, seat)
            assert np.isfinite(observation).all()
            assert observation.min() >= 0
            assert observation.max() <= 1
            assert sum(value(observation, "dealer", series.rules)) == 1
            assert sum(value(observation, "format", series.rules)) == 1
        if series.is_over:
            break
        if series.is_deal_over:
            series.next_deal()
        while not series.is_deal_over:
            step(series, generator)


@pytest.mark.parametrize("rules", ["points:num_players=4", "pagat:num_players=4"])
def test_seats_are_told_by_turns_from_the_seat_that_looks(rules: str) -> None:
    series = Series(rules, "pool_101", first=2)
    turn = 1 if series.rules.direction == "clockwise" else -1
    series.sheet.totals[:] = [10, 20, 30, 40]
    series.sheet.rejoins[:] = [0, 1, 2, 3]
    series.sheet.active = (0, 1, 3)
    for me in range(4):
        seats, observation = [(me + turn * relative) % 4 for relative in range(4)], encode(series, me)
        np.testing.assert_allclose(value(observation, "score", series.rules), [(10 + 10 * s) / 101 for s in seats])
        np.testing.assert_allclose(value(observation, "rejoins", series.rules), [1 / (1 + s) for s in seats])
        assert value(observation, "in_series", series.rules) == [seat != 2 for seat in seats]
        assert value(observation, "dealer", series.rules) == [seat == (2 - turn) % 4 for seat in seats]


def test_the_dealer_is_among_those_who_were_dealt_in() -> None:
    series = Series(FOUR, "pool_61")
    series.sheet.add([120, 0, -60, -60], 0)
    series.sheet.add([20, -20, 0, 0], 0)
    series.sheet.add([30, 0, -15, -15], 0)  # 2 and 3 are out
    series._deal()
    assert series.sheet.first == 0
    assert value(encode(series, 0), "dealer", series.rules) == [0, 1, 0, 0]


def _total(sheet: ScoreSheet) -> None:
    sheet.totals[2] += 1


def _rejoins(sheet: ScoreSheet) -> None:
    sheet.rejoins[3] += 1


def _out(sheet: ScoreSheet) -> None:
    sheet.active = (0, 1, 3)


def _strict(sheet: ScoreSheet) -> None:
    sheet.format = parse_series("pool_101:strict_pool=true")


def _rejoin(sheet: ScoreSheet) -> None:
    sheet.format = parse_series("pool_101:rejoin=true")


def _split(sheet: ScoreSheet) -> None:
    sheet.format = parse_series("pool_101:split=true")


def _over(sheet: ScoreSheet) -> None:
    sheet.ending = "decided"


@pytest.mark.parametrize(
    ("change", "name", "entries"),
    [
        (_total, "score", [1]),
        (_rejoins, "rejoins", [2]),
        (_out, "in_series", [1]),
        (_strict, "format_options", [1]),
        (_rejoin, "format_options", [2]),
        (_split, "format_options", [3]),
        (_over, "deals", [3]),
    ],
)
def test_one_fact_changes_its_own_entries(change: Callable[[ScoreSheet], None], name: str, entries: list[int]) -> None:
    series = Series(FOUR, "pool_101", seed=1)
    changed = copy.deepcopy(series.sheet)
    change(changed)
    before, after = encode(series, 1), encode(series, 1, changed)
    (field,) = (field for field in SERIES_V1.fields(FOUR) if field.name == name)
    assert np.flatnonzero(before != after).tolist() == [field.start + entry for entry in entries]


def test_the_format_is_told_by_name_and_numbers() -> None:
    expected = {
        "deals": [0, 0, 0, 0, 1 / 2],
        "deals:num_deals=6": [0, 0, 0, 0, 1 / 6],
        "pool_61": [61 / 201, 0, 0, 0, 0],
        "pool_101": [101 / 201, 0, 0, 0, 0],
        "pool_201": [1, 0, 0, 0, 0],
        "session": [0, 0, 0, 0, 1 / 10],
    }
    for text, options in expected.items():
        series = Series("points", text)
        observation = encode(series, 0)
        assert value(observation, "format", series.rules) == [name == series.format.name for name in FORMATS]
        np.testing.assert_allclose(value(observation, "format_options", series.rules), options, rtol=1e-6)


def test_scores_without_a_limit_are_told_in_hands_of_the_cap() -> None:
    deals, session = Series("points", "deals"), Series("points", "session")
    for series in (deals, session):
        series.sheet.add([-40, 40], 1)
    np.testing.assert_allclose(value(encode(deals, 0), "score", deals.rules), [0.5 + 0.5 / 3, 0.5], rtol=1e-6)
    np.testing.assert_allclose(
        value(encode(session, 0), "score", session.rules), [0.5 - 0.5 / 3, 0.5 + 0.5 / 3], rtol=1e-6
    )


def test_deals_played_and_left_and_the_play_off_are_told() -> None:
    series = Series("points", "deals")
    told = []
    for _ in range(3):
        told.append(value(encode(series, 0), "deals", series.rules))
        series.sheet.add([0, 0], -1)
    np.testing.assert_allclose(told, [[0, 1 / 2, 0, 0], [1 / 2, 1, 0, 0], [2 / 3, 1, 1, 0]], rtol=1e-6)
    pool = Series("points", "pool_101")
    assert value(encode(pool, 0), "deals", pool.rules) == [0, 0, 0, 0]


def test_without_a_sheet_a_deal_is_a_session_of_its_own() -> None:
    views = sampled_views(FOUR, games=2, every=37)
    sheet = ScoreSheet(FOUR, parse_series("session:num_deals=1"))
    alone = SERIES_V1.encode(views, FOUR)
    assert alone.tobytes() == SERIES_V1.encode(views, FOUR, sheets=[sheet] * len(views)).tobytes()
    out = np.full_like(alone, np.nan)
    assert SERIES_V1.encode(views, FOUR, out, sheets=[sheet] * len(views)) is out
    assert out.tobytes() == alone.tobytes()


def test_seats_that_were_not_dealt_in_are_not_in_the_series() -> None:
    view = engine.player_view(engine.deal(FOUR, 1, first=3, active=[0, 3]), 0, 0)
    observation = SERIES_V1.encode(view, FOUR)[0]
    assert value(observation, "in_series", FOUR) == [1, 0, 0, 1]
    assert value(observation, "dealer", FOUR) == [1, 0, 0, 0]


def test_sheets_that_do_not_fit_the_views_are_refused() -> None:
    series = Series("points", "pool_61")
    view = engine.player_view(series.states, 0, 0)
    with pytest.raises(PapluError, match="1 views and 2 score sheets"):
        SERIES_V1.encode(view, series.rules, sheets=[series.sheet] * 2)
    with pytest.raises(InvalidRules, match="the score sheet is of points"):
        SERIES_V1.encode(view, series.rules, sheets=[Series("points", "pool_101").sheet])
