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


def _log_likelihood(ratings: np.ndarray, wins: np.ndarray) -> float:
    """Of the results and half a game more for each side of a pair, said once more and slowly."""
    total = 0.0
    for a in range(len(wins)):
        for b in range(len(wins)):
            if wins[a, b] + wins[b, a] > 0:
                total -= (wins[a, b] + 0.5) * np.log1p(10 ** ((ratings[b] - ratings[a]) / 400))
    return total


def _tables() -> list[np.ndarray]:
    """Twenty bots of which each wins every game against those below; random ones; a chain; one game in a million."""
    generator = np.random.default_rng(5)
    ladder = np.triu(np.full((20, 20), 4000.0), 1)
    chain = np.diag(np.full(5, 300.0), 1)
    lone = np.array([[0.0, 1e6, 1e6], [1.0, 0.0, 1e6], [0.0, 0.0, 0.0]])
    return [ladder, generator.integers(0, 40, (6, 6)).astype(float) * (1 - np.eye(6)), chain, lone]


def test_no_other_ratings_make_the_results_likelier() -> None:
    generator = np.random.default_rng(7)
    for wins in _tables():
        ratings = bradley_terry(wins)
        best = _log_likelihood(ratings, wins)
        assert ratings.mean() == pytest.approx(0, abs=1e-6)
        for size in (1e-2, 1.0, 30.0):  # the likelihood is concave: what no small step betters, nothing betters
            for _ in range(40):
                assert _log_likelihood(ratings + size * generator.normal(size=len(wins)), wins) < best + 1e-9
        for player in range(len(wins)):
            nudge = np.eye(len(wins))[player]
            slope = _log_likelihood(ratings + nudge, wins) - _log_likelihood(ratings - nudge, wins)
            assert abs(slope) < 1e-6 * max(1.0, abs(best))


def test_a_general_optimiser_finds_the_same_ratings() -> None:
    optimize = pytest.importorskip("scipy.optimize", reason="scipy is only a second opinion here")
    for wins in _tables():
        found = optimize.minimize(lambda ratings, wins=wins: -_log_likelihood(ratings, wins), np.zeros(len(wins)))
        for _ in range(20):  # it stops early on flat ground: start it anew from where it stands
            found = optimize.minimize(lambda ratings, wins=wins: -_log_likelihood(ratings, wins), found.x)
        ours = _log_likelihood(bradley_terry(wins), wins)
        assert ours >= -found.fun - 1e-6 * abs(found.fun)


def test_a_ladder_of_twenty_is_as_long_as_its_likeliest_ratings() -> None:
    """The MM algorithm is at 13,104 points after ten thousand steps."""
    ladder = bradley_terry(_tables()[0])
    assert np.ptp(ladder) == pytest.approx(16_025, abs=1)
    assert (np.diff(ladder) < 0).all()


def test_where_no_rating_is_finite_the_table_says_so() -> None:
    sure, even = np.ones(10), np.full(10, 0.5)
    gains = np.ones(10)
    pairs = [PairScores(2, 0, sure, gains, 2), PairScores(0, 1, even, gains, 2), PairScores(2, 1, sure, gains, 2)]
    ratings = rate(("a", "b", "top"), pairs, resamples=20)
    assert ratings.groups == (("top",), ("a", "b"))
    assert ratings.caution.startswith("No finite rating between top > a, b: ")
    lost = PairScores(2, 1, np.append(sure[1:], 0.5), gains, 2)
    finite = rate(("a", "b", "top"), [*pairs[:2], lost], resamples=20)
    assert finite.groups == (("a", "b", "top"),)
    assert finite.caution == ""


def test_groups_that_never_met_have_no_ratings() -> None:
    apart = np.zeros((4, 4))
    apart[0, 1] = apart[2, 3] = 5.0
    with pytest.raises(PapluError, match="no chain of games"):
        bradley_terry(apart)


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
