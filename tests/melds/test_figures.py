"""The known frequencies of hands come out of a simulation: seeded deals, tolerances from the standard errors."""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt
import pytest

from paplu_env import melds
from paplu_env.cards import FACE_POINTS, NUM_FACES, PRINTED_JOKER
from paplu_env.rules import RuleSet, preset

DEALS = 60_000
PUBLISHED_DEALS = 10_000  # behind the figures that come from the study
SIGMAS = 4.0
POINTS = RuleSet()


@functools.cache
def dealt(rules_name: str) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Counts and wild masks of thirteen dealt cards, the indicator drawn before them."""
    rules = preset(rules_name)
    rng = np.random.default_rng(2025)
    pack = np.repeat(np.arange(NUM_FACES), [rules.copies(face) for face in range(NUM_FACES)])
    counts = np.zeros((DEALS, NUM_FACES), dtype=np.uint8)
    wilds = np.zeros(DEALS, dtype=np.int64)
    for row in range(DEALS):
        deck = rng.choice(pack, 16, replace=False)
        first = 0
        while rules.printed_joker_indicator == "redraw" and deck[first] == PRINTED_JOKER:
            first += 1
        wilds[row] = rules.wild_of(int(deck[first]))
        np.add.at(counts[row], np.delete(deck, first)[:13], 1)
    return counts, wilds


def is_near(share: float, told: float, deals: int = DEALS) -> bool:
    """Whether a share of all deals is what is told, which may come from ``deals`` deals itself."""
    error = np.sqrt(told * (1 - told) * (1 / DEALS + 1 / deals))
    return abs(share - told) <= SIGMAS * error + 0.0005  # told to three digits


def wild_counts(counts: npt.NDArray[np.uint8], wilds: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return (counts * (wilds[:, None] >> np.arange(NUM_FACES) & 1)).sum(axis=1)


def test_a_pure_sequence_is_dealt_in_36_6_percent_of_hands() -> None:
    counts, wilds = dealt("points")
    natural = ~(wilds[:, None] >> np.arange(NUM_FACES) & 1).astype(bool)
    everything = (counts * natural * FACE_POINTS.astype(np.int64)).sum(axis=1)
    # Of three neighbours at the most one is wild, so that a pure sequence always saves points.
    assert is_near(float((melds.deadwoods(counts, wilds, POINTS) < everything).mean()), 0.366, deals=4_000_000)


def test_a_complete_hand_is_dealt_once_in_1300() -> None:
    counts, wilds = dealt("points")
    share = float((melds.distances(counts, wilds, POINTS) == 0).mean())
    assert abs(share - 0.00077) <= SIGMAS * np.sqrt(0.00077 / DEALS)


def test_the_distances_of_dealt_hands_are_the_published_ones() -> None:
    distances = melds.distances(*dealt("saha2025"), preset("saha2025"))
    for distance, told in enumerate([0.001, 0.021, 0.157, 0.377, 0.337, 0.101, 0.006]):
        assert is_near(float((distances == distance).mean()), told, PUBLISHED_DEALS), distance
    error = distances.std() * np.sqrt(1 / DEALS + 1 / PUBLISHED_DEALS)
    assert distances.mean() == pytest.approx(3.36, abs=SIGMAS * error + 0.005)


def test_the_points_of_dealt_hands_are_the_published_ones() -> None:
    points = melds.point_counts(*dealt("saha2025"), preset("saha2025"))
    error = points.std() * np.sqrt(1 / DEALS + 1 / PUBLISHED_DEALS)
    assert points.mean() == pytest.approx(66.8, abs=SIGMAS * error + 0.05)
    assert np.median(points) == pytest.approx(78, abs=1)
    assert is_near(float((points == 80).mean()), 0.474, PUBLISHED_DEALS)


@pytest.mark.parametrize(("wild", "told"), [(0, 0.290), (1, 0.407), (2, 0.221)])
def test_wild_cards_are_dealt_as_often_as_they_should_be(wild: int, told: float) -> None:
    counts, wilds = dealt("points")
    assert is_near(float((wild_counts(counts, wilds) == wild).mean()), told)
    assert wild_counts(counts, wilds).mean() == pytest.approx(1.11, abs=0.02)
