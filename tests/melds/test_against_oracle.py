"""The kernels and the oracle give the same answers: hands of every kind, of thirteen and of fourteen cards."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from paplu_env import melds
from paplu_env.cards import NUM_FACES
from paplu_env.rules import RuleSet
from tests import oracle
from tests.melds.batches import KINDS_AND_SIZES, batch
from tests.oracle.hands import Hand, dense_hand, hands, near_complete_hand, random_wild_faces

POINTS = RuleSet()


def compare(drawn: list[Hand]) -> None:
    """Every number that the solver gives for these hands, which all have the same size."""
    counts, wilds = batch(drawn)
    deadwoods = melds.deadwoods(counts, wilds, POINTS)
    point_counts = melds.point_counts(counts, wilds, POINTS)
    distances = melds.distances(counts, wilds, POINTS)
    finishes = melds.declarables(counts, wilds, POINTS) if len(drawn[0][0]) == 14 else None
    for row, (cards, wild) in enumerate(drawn):
        name = (oracle.write(cards), wild)
        assert deadwoods[row] == oracle.deadwood(cards, wild), name
        assert point_counts[row] == min(deadwoods[row], 80), name
        assert distances[row] == oracle.distance(cards, wild), name
        if finishes is not None:
            assert set(np.flatnonzero(finishes[row])) == oracle.declarable(cards, wild), name


@pytest.mark.parametrize(("kind", "size"), KINDS_AND_SIZES)
def test_every_number_is_the_oracles(kind: str, size: int) -> None:
    compare(list(hands(kind, 15 if kind == "random" else 40, 11, size)))


@pytest.mark.parametrize("size", [13, 14])
def test_any_faces_may_be_wild(size: int) -> None:
    rng = Random(f"any faces {size}")
    compare([(dense_hand(rng, size)[0], random_wild_faces(rng)) for _ in range(20)])
    compare([(near_complete_hand(rng, size)[0], random_wild_faces(rng)) for _ in range(20)])


def test_outs_are_the_unseen_faces_that_lower_the_distance() -> None:
    rng = Random("outs")
    drawn = [next(hands(kind, 1, seed=0)) for kind in ("dense", "wild_heavy", "near_complete")]
    for cards, wild in drawn:
        counts, _ = batch([(cards, wild)])
        unseen = np.array([rng.randint(0, 2 - int(held)) for held in counts[0]])
        now = oracle.distance(cards, wild)
        lowering = [face for face in range(NUM_FACES) if unseen[face] and oracle.distance([*cards, face], wild) < now]
        found = melds.outs(counts[0], wild, unseen, POINTS)
        assert list(np.flatnonzero(found)) == lowering, (oracle.write(cards), wild)
        assert (found[lowering] == unseen[lowering]).all()


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_twenty_thousand_wild_heavy_hands(part: int) -> None:
    compare(list(hands("wild_heavy", 1000, 1000 + part, 14 if part % 5 == 3 else 13)))


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "size"), KINDS_AND_SIZES)
def test_a_thousand_hands_of_every_kind(kind: str, size: int) -> None:
    compare(list(hands(kind, 1000, 12, size)))
