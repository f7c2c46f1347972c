"""Whole series played on the engine: what every deal begins with, what is written down, and what follows."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from paplu_env import engine
from paplu_env.bots import make_policy
from paplu_env.engine.chance import keys_for
from paplu_env.engine.series.series import Series, deal_seed
from paplu_env.engine.state import NOT_ACTIVE
from paplu_env.errors import IllegalAction, InvalidRules, PapluError
from paplu_env.rules import parse_rules
from tests.engine.played_series import TABLES, play, step


def play_by_rule_agents(rules: str, series_format: str, seed: int) -> Series:
    series = Series(rules, series_format, seed)
    policy, decisions = make_policy("mindist_minscore", series.rules), 0
    while not series.is_over:
        if series.is_deal_over:
            series.next_deal()
        seat = series.current_player
        view = engine.player_view(series.states, 0, seat)
        mask = engine.legal_action_mask(series.states, 0, series.rules)
        series.apply(int(policy.act(view, mask[None], keys_for(seed, series.deal_number, seat, decisions))[0]))
        decisions += 1
    return series


@pytest.mark.parametrize(("rules", "series_format"), TABLES)
def test_a_series_adds_up_from_its_first_deal_to_its_result(rules: str, series_format: str) -> None:
    series = Series(rules, series_format, seed=11, first=1)
    generator, players = np.random.default_rng(5), series.rules.num_players
    clockwise = series.rules.direction == "clockwise"
    first, active, totals, points = 1, list(range(players)), [0] * players, [0] * players
    while True:
        # The deal is the one that the engine deals from its seed, first seat and seats still in.
        dealt = engine.deal(series.rules, deal_seed(11, series.deal_number), first, active)
        assert series.states.tobytes() == dealt.tobytes()
        assert list(series.active) == active
        for seat in range(players):
            is_in = seat in active
            assert (int(series.states["status"][0, seat]) == NOT_ACTIVE) != is_in
            assert int(series.states["hands"][0, seat].sum()) == (series.rules.hand_size if is_in else 0)
        while not series.is_deal_over:
            assert series.current_player in active
            step(series, generator)
        assert engine.check(series.states, 0, series.rules) == []
        returns, winner = engine.returns(series.states, 0), int(series.states["winner"][0])
        line = series.sheet.results[-1]
        assert (line.returns, line.winner, line.first, line.active) == (tuple(returns), winner, first, tuple(active))
        for seat in range(players):
            points[seat] += int(returns[seat])
            totals[seat] += max(0, -int(returns[seat])) if seat != winner else 0
            if seat in line.rejoined:
                totals[seat] = line.totals[seat]
        assert (series.sheet.totals, series.sheet.points) == (totals, points)
        assert sum(points) == 0
        if series.is_over:
            break
        active = [seat for seat in active if seat not in line.out]
        first = (first + (1 if clockwise else -1)) % players
        while first not in active:
            first = (first + (1 if clockwise else -1)) % players
        series.next_deal()
    assert series.returns().sum() == pytest.approx(0, abs=1e-9)
    assert (series.sheet.winners == ()) == series.is_truncated
    assert all(series.ranking()[seat] == 1 for seat in series.sheet.winners)
    if series.format.is_pool and not series.is_truncated:
        assert set(series.sheet.winners) == set(series.active)


@pytest.mark.parametrize("series_format", ["pool_101:rejoin=true", "pool_61", "deals:num_deals=6", "session"])
def test_rule_agents_play_a_series_to_a_result(series_format: str) -> None:
    series = play_by_rule_agents("points:num_players=3", series_format, seed=2)
    assert series.sheet.ending in ("decided", "split")
    assert len({result.winner for result in series.sheet.results} - {-1}) > 1


def test_equal_seeds_give_equal_series_and_other_seeds_other_cards() -> None:
    one, other = play(Series("points", "deals", 4), 1), play(Series("points", "deals", 4), 1)
    assert one == other
    assert one != Series("points", "deals", 4)
    assert Series(seed=4) != Series(seed=5)
    seeds = {deal_seed(seed, number) for seed in range(50) for number in range(50)}
    assert len(seeds) == 2500


@pytest.mark.parametrize("duplicate", [copy.deepcopy, Series.copy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_goes_on_alike_and_leaves_the_original_alone(duplicate: object) -> None:
    series = Series("points:num_players=3", "pool_61:rejoin=true", seed=8)
    generator = np.random.default_rng(3)
    while len(series.sheet.results) < 2:
        step(series, generator)
        if series.is_deal_over:
            series.next_deal()
    twin = duplicate(series)  # type: ignore[operator]
    assert twin == series
    before = series.states.tobytes()
    play(twin, 6)
    assert series.states.tobytes() == before
    assert twin != series
    assert play(series, 6) == twin


def test_a_deal_that_is_cut_counts_nothing_and_the_next_seat_starts() -> None:
    series = Series("points:max_turns=1,drop_allowed=false", "deals")
    generator = np.random.default_rng(0)
    while not series.is_deal_over:
        step(series, generator)
    assert engine.state.ENDING_NAMES[int(series.states["ending"][0])] == "truncated"
    assert (series.scores, series.sheet.first, series.is_over) == ((0, 0), 1, False)


def test_a_pool_plays_by_its_own_prices() -> None:
    series = Series("points", "pool_201")
    series.apply(engine.DROP)
    assert series.scores == (25, 0)
    series.next_deal()
    assert (series.current_player, series.sheet.dealer, series.deal_number) == (1, 0, 1)


def test_between_deals_nothing_may_be_done_but_dealing() -> None:
    series = Series("points", "deals")
    with pytest.raises(PapluError, match="deal 0 is not written down yet"):
        series.next_deal()
    with pytest.raises(PapluError, match="deal 0 is on, seat 0 is to move"):
        series.settle()
    series.apply(engine.DROP)
    assert series.current_player == -1
    with pytest.raises(IllegalAction, match="next_deal"):
        series.apply(engine.DRAW_CLOSED)
    with pytest.raises(PapluError, match="written down already"):
        series.settle()
    series.next_deal()
    series.apply(engine.DRAW_CLOSED)
    before = series.copy()
    with pytest.raises(IllegalAction, match="drop"):
        series.apply(engine.DROP)
    assert series == before


def test_after_the_end_nothing_may_be_done() -> None:
    series = Series("points", "session:num_deals=1")
    series.apply(engine.DROP)
    assert series.is_over
    with pytest.raises(IllegalAction, match="the series is over"):
        series.apply(engine.DRAW_CLOSED)
    with pytest.raises(PapluError, match="no next deal"):
        series.next_deal()


def test_a_deal_played_by_kernels_is_settled_by_hand() -> None:
    series = Series("points", "deals")
    engine.apply_action(series.states, 0, engine.DROP, series.rules)
    assert series.scores == (0, 0)
    series.settle()
    assert series.scores == (20, 0)


def test_a_series_says_where_it_stands() -> None:
    series = Series("points", "deals")
    assert repr(series) == "<Series deals of points: deal 0, seat 0 to move, scores [0, 0]>"
    series.apply(engine.DROP)
    assert "deal 0, between deals, scores [20, 0]" in repr(series)
    with pytest.raises(TypeError, match="unhashable"):
        hash(series)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"rules": "nowhere"}, "unknown preset"),
        ({"format": "pool_7"}, "unknown format"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": 2**64}, "seed="),
        ({"first": 2}, "first=2"),
        ({"rules": parse_rules("points:loser_complete=70"), "format": "pool_61"}, "loser_complete=70"),
    ],
)
def test_a_series_that_cannot_be_is_refused(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidRules, match=words):
        Series(**arguments)  # type: ignore[arg-type]
