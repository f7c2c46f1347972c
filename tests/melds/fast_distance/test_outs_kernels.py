"""The outs kernels against their definition: draw each unseen face, and look at the distance."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from paplu_env.cards import NUM_FACES, PRINTED_JOKER, Counts, format_hand, parse_cards, parse_hand, wild_of_rank
from paplu_env.melds.fast_distance.distance_kernels import discard_distances_kernel, distance_kernel
from paplu_env.melds.fast_distance.distance_table import distance_table
from paplu_env.melds.fast_distance.outs_kernels import discard_outs_kernel, outs_kernel
from paplu_env.rules import RuleSet
from tests.melds.samples import KINDS, draw_hand, run_as_plain_python

RULES = RuleSet().packed[0]


def outs(counts: Counts, wild: int, unseen: Counts) -> Counts:
    found = np.zeros(NUM_FACES, dtype=np.uint8)
    outs_kernel(counts, wild, unseen, RULES, distance_table(), found)
    return found


def draw_unseen(rng: Random, counts: Counts) -> Counts:
    """What two packs hold beside a hand, some faces seen elsewhere."""
    seen = [rng.random() < 0.2 for _ in range(NUM_FACES)]
    return np.where(seen, 0, 2 - counts).astype(np.uint8)


@pytest.mark.parametrize("kind", KINDS)
def test_outs_are_the_unseen_faces_that_lower_the_distance(kind: str) -> None:
    rng = Random(f"outs {kind}")
    for _ in range(150):
        counts, wild = draw_hand(rng, kind, 13)
        unseen = draw_unseen(rng, counts)
        before = distance_kernel(counts, wild, RULES, distance_table())
        expected = np.zeros(NUM_FACES, dtype=np.uint8)
        for face in np.flatnonzero(unseen):
            counts[face] += 1
            if distance_kernel(counts, wild, RULES, distance_table()) < before:
                expected[face] = unseen[face]
            counts[face] -= 1
        assert np.array_equal(outs(counts, wild, unseen), expected), (format_hand(counts), wild)


@pytest.mark.parametrize("kind", KINDS)
def test_outs_after_a_discard_are_those_of_the_hand_without_it(kind: str) -> None:
    rng = Random(f"discard outs {kind}")
    distances, totals, expected = (np.zeros(NUM_FACES, dtype=np.uint8) for _ in range(3))
    for _ in range(150):
        counts, wild = draw_hand(rng, kind, 14)
        unseen = draw_unseen(rng, counts)
        lowest = discard_outs_kernel(counts, wild, unseen, RULES, distance_table(), distances, totals)
        assert lowest == discard_distances_kernel(counts, wild, RULES, distance_table(), expected)
        assert np.array_equal(distances, expected)
        for face in range(NUM_FACES):
            left = 0
            if distances[face] == lowest:
                counts[face] -= 1
                left = int(outs(counts, wild, unseen).sum())
                counts[face] += 1
            assert totals[face] == left, (format_hand(counts), wild, face)


def test_a_complete_hand_has_no_outs() -> None:
    hand = parse_hand("AS 2S 3S 4H 5H 6H 7H 9C 9D 9S KC KD KS")
    assert outs(hand, wild_of_rank(-1), np.full(NUM_FACES, 2, dtype=np.uint8)).sum() == 0


def test_outs_of_a_hand_that_lacks_one_card_of_its_pure_sequence() -> None:
    hand = parse_hand("3S 4S 8S 8H 9H PJ 9C 9D 9S JC JD JH JS")
    unseen = np.full(NUM_FACES, 2, dtype=np.uint8) - hand
    # A two or a five of spades completes the pure run; others may free the joker for the eight of spades.
    found = outs(hand, wild_of_rank(-1), unseen)
    assert sorted(np.flatnonzero(found)) == sorted(
        face for face in range(NUM_FACES) if face != PRINTED_JOKER and _completes(hand, face)
    )
    assert set(parse_cards("2S 5S")) <= set(np.flatnonzero(found))


def _completes(hand: Counts, face: int) -> bool:
    drawn = hand.copy()
    drawn[face] += 1
    return bool(distance_kernel(drawn, wild_of_rank(-1), RULES, distance_table()) == 0)


def test_compiled_and_plain_python_give_the_same_outs() -> None:
    rng = Random("plain outs")
    hands = [draw_hand(rng, kind, 13 + number % 2) for kind in KINDS for number in range(6)]
    assert run_as_plain_python(
        hands,
        """
        from paplu_env.melds.fast_distance.distance_table import distance_table
        from paplu_env.melds.fast_distance.outs_kernels import discard_outs_kernel, outs_kernel
        from paplu_env.rules import RuleSet

        def answer(counts, wild):
            unseen = (2 - counts).astype(np.uint8)
            out, totals = np.zeros((2, 53), dtype=np.uint8)
            if counts.sum() == 13:
                outs_kernel(counts, wild, unseen, RuleSet().packed[0], distance_table(), out)
            else:
                discard_outs_kernel(counts, wild, unseen, RuleSet().packed[0], distance_table(), out, totals)
            return [*out.tolist(), *totals.tolist()]
        """,
    )
