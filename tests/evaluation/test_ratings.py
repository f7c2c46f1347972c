"""Ratings: made-up strengths come back, intervals hold them, circles are seen, and nobody is infinitely strong."""

from __future__ import annotations

import numpy as np
import pytest

from paplu_env.errors import PapluError
from paplu_env.evaluation.ratings import PairScores, bradley_terry, rate

NAMES = ("a", "b", "c", "d")


def made_up(strengths: dict[str, float], deals: int, seed: int, spread: float = 30.0) -> list[PairScores]:
    """Results that a Bradley–Terry world would give, and points that are differences of strength over 20."""
    generator = np.random.default_rng(seed)
    names = list(strengths)
    pairs = []
    for a in range(len(names)):
        for b in range(a + 1, len(names)):
            gap = strengths[names[a]] - strengths[names[b]]
            chance = 1 / (1 + 10 ** (-gap / 400))
            wins = (generator.random((deals, 2)) < chance).mean(axis=1)
            pairs.append(PairScores(a, b, wins, gap / 20 + spread * generator.normal(size=deals), 2))
    return pairs


def test_the_ratings_of_two_are_the_log_odds_of_their_games():
    ratings = bradley_terry(np.array([[0.0, 7599.5], [2399.5, 0.0]]))
    assert ratings[0] - ratings[1] == pytest.approx(400 * np.log10(7600 / 2400))
    assert ratings.sum() == pytest.approx(0)


def test_strengths_that_made_the_results_come_back_within_their_intervals():
    truth = {"a": 120.0, "b": 20.0, "c": -40.0, "d": -100.0}
    held = 0
    for seed in range(12):
        ratings = rate(NAMES, made_up(truth, 800, seed), seed=seed, resamples=200)
        for entry in ratings.standings:
            held += entry.rating_interval[0] <= truth[entry.name] <= entry.rating_interval[1]
            held += entry.points_interval[0] <= truth[entry.name] / 20 <= entry.points_interval[1]
        assert ratings.standings[0].name == "a"
    assert held / 96 > 0.88, "95 of 100 intervals hold the truth, give or take"


def test_many_tables_at_once_are_rated_as_one_by_one():
    tables = np.random.default_rng(1).integers(1, 50, (5, 4, 4)).astype(float)
    together = bradley_terry(tables)
    assert np.allclose(together, [bradley_terry(table) for table in tables], atol=1e-4)


def test_whoever_wins_every_game_has_a_finite_rating():
    ratings = bradley_terry(np.array([[0.0, 100.0], [0.0, 0.0]]))
    assert np.isfinite(ratings).all()
    assert 600 < ratings[0] - ratings[1] < 1000


def test_a_circle_is_named_once_and_from_any_order_of_the_pairs():
    even = np.full(400, 0.5)
    beats = np.tile([0.75, 0.5], 200)
    pairs = [PairScores(0, 1, beats, 4 * beats - 2, 2), PairScores(1, 2, beats, 4 * beats - 2, 2)]
    back = PairScores(0, 2, 1 - beats, 2 - 4 * beats, 2)
    ratings = rate(("rock", "scissors", "paper"), [back, *pairs], resamples=200)
    assert ratings.win_cycles == ratings.point_cycles == (("rock", "scissors", "paper"),)
    assert abs(ratings.misfits[0].wins) == pytest.approx(0.125, abs=0.01)
    unsure = PairScores(0, 2, even, np.zeros(400), 2)
    assert rate(("rock", "scissors", "paper"), [unsure, *pairs], resamples=200).win_cycles == ()


def test_a_ladder_has_no_circle_and_fits():
    ratings = rate(NAMES, made_up({"a": 300.0, "b": 100.0, "c": -100.0, "d": -300.0}, 3000, 2), resamples=100)
    assert ratings.win_cycles == ratings.point_cycles == ()
    assert all(abs(misfit.wins) < 0.03 for misfit in ratings.misfits)


def test_a_pair_that_stopped_early_counts_by_its_own_deals():
    pairs = made_up({"a": 100.0, "b": 0.0, "c": -100.0}, 2000, 3)
    short = PairScores(pairs[0].a, pairs[0].b, pairs[0].wins[:500], pairs[0].points[:500], 2)
    ratings = rate(NAMES[:3], [short, *pairs[1:]], resamples=200)
    assert [entry.name for entry in ratings.standings] == ["a", "b", "c"]


def test_policies_that_no_match_connects_are_refused():
    pairs = [PairScores(0, 1, np.full(4, 0.5), np.zeros(4), 2), PairScores(2, 3, np.full(4, 0.5), np.zeros(4), 2)]
    with pytest.raises(PapluError, match="a and c can't be rated together"):
        rate(NAMES, pairs)
