"""Intervals: how often they hold the truth on made-up matches, and what they say at the edges."""

from __future__ import annotations

import numpy as np
import pytest

from paplu_env.errors import PapluError
from paplu_env.evaluation.stats import mean_interval, share_interval, standard_error, student_t


@pytest.mark.parametrize(
    ("degrees", "point"), [(1, 12.7062), (5, 2.5706), (9, 2.2622), (12, 2.1788), (30, 2.0423), (400, 1.9659)]
)
def test_student_points_are_those_of_the_tables(degrees, point):
    assert student_t(degrees) == pytest.approx(point, abs=6e-4)


def test_one_deal_has_no_interval():
    with pytest.raises(PapluError, match="at least two deals"):
        mean_interval(np.array([3.0]))


@pytest.mark.parametrize("deals", [8, 200])
def test_the_interval_of_points_holds_the_truth_in_95_of_100_matches(deals):
    rng = np.random.default_rng(1)
    # Two equal bots: what the cards decide cancels within a deal, what is left is worth up to 80 points.
    held = 0
    for _ in range(2000):
        low, high = mean_interval(rng.choice([-60.0, -25.0, 0.0, 25.0, 60.0], size=(deals, 2)).mean(axis=1))
        held += low <= 0 <= high
    assert held / 2000 == pytest.approx(0.95, abs=0.02)


@pytest.mark.parametrize("shared", [0.0, 0.6, -0.6])
@pytest.mark.parametrize("truth", [0.5, 0.9])
def test_the_interval_of_a_share_holds_the_truth_whether_rotations_agree_or_not(truth, shared):
    rng = np.random.default_rng(2)
    held = 0
    for _ in range(1500):
        first = rng.random(300) < truth
        alike = rng.random(300) < abs(shared)
        # With negative correlation the second game of a deal takes its luck from the other end.
        opposite = rng.permutation(first) if shared == 0 else first if shared > 0 else ~first
        second = np.where(alike, opposite, rng.random(300) < truth)
        low, high = share_interval((first.astype(float) + second) / 2)
        mean = truth if shared >= 0 else truth * (1 + shared) / 2 + truth / 2 - shared * (1 - truth) / 2
        held += low <= mean <= high
    assert held / 1500 == pytest.approx(0.95, abs=0.025)


def test_games_of_one_deal_that_agree_count_as_one_observation():
    rng = np.random.default_rng(3)
    once = rng.choice([0.0, 1.0], size=400)
    clustered = share_interval(once)
    as_if_independent = share_interval(np.repeat(once, 2))
    assert clustered[1] - clustered[0] > 1.35 * (as_if_independent[1] - as_if_independent[0])


def test_a_share_of_one_is_not_taken_for_certain():
    low, high = share_interval(np.ones(100))
    assert high == 1.0
    assert low == pytest.approx(100 / (100 + student_t(99) ** 2))
    low, high = share_interval(np.zeros(100))
    assert low == 0.0
    assert 0.03 < high < 0.05


@pytest.mark.parametrize("share", [0.0, 1 / 3, 0.5, 1.0])
@pytest.mark.parametrize("deals", [2, 50, 10_000])
def test_a_share_that_every_deal_repeats_is_not_taken_for_certain(deals, share):
    low, high = share_interval(np.full(deals, share))
    assert 0 <= low <= share <= high <= 1
    # None of n deals was another: up to about 4 of n may be, at 95 %, and each moves the share by up to 1.
    allowed = student_t(deals - 1) ** 2 / (deals + student_t(deals - 1) ** 2)
    assert high - low == pytest.approx(allowed)


def test_the_interval_holds_the_truth_where_many_matches_show_no_spread():
    rng = np.random.default_rng(4)
    # One deal in thirty is won from both seats, all others from one: half of the matches see none of them.
    held = 0
    for _ in range(1500):
        low, high = share_interval(np.where(rng.random(20) < 1 / 30, 1.0, 0.5))
        held += low <= 0.5 + 0.5 / 30 <= high
    assert held / 1500 > 0.95


def test_standard_error_is_the_spread_of_clusters_over_the_root_of_their_number():
    assert standard_error(np.array([1.0, 3.0, 5.0, 7.0])) == pytest.approx(np.std([1, 3, 5, 7], ddof=1) / 2)
