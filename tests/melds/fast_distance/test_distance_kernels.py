"""The distance kernels against their definition, cards in notation, and as plain Python."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from paplu_env.cards import NUM_FACES, PRINTED_JOKER, Counts, format_hand, parse_hand, parse_rank, wild_of_rank
from paplu_env.melds.fast_distance.distance_kernels import NOT_HELD, discard_distances_kernel, distance_kernel
from paplu_env.melds.fast_distance.distance_table import (
    MAX_PLACES,
    WEIGHTS,
    backwards,
    covers,
    distance_table,
    join,
    lane,
)
from paplu_env.rules import RuleSet
from tests.melds.samples import KINDS, draw_hand, run_as_plain_python

RULES = RuleSet().packed[0]


def distance(counts: Counts, wild: int) -> int:
    return int(distance_kernel(counts, wild, RULES, distance_table()))


@pytest.mark.parametrize(
    ("hand", "wild", "expected"),
    [
        ("AS 2S 3S 4H 5H 6H 7H 9C 9D 9S KC KD KS", "-", 0),
        ("4H 5H 6H 7H 8H 9H KS KH KD KC 2S 2H 2D", "-", 0),  # a run of six is both lives
        ("5H 6H 7H 8H 9H KS KH KD KC 2S 2H 2D 2C", "-", 1),  # a run of five is one
        ("QS KS AS 2H 3H PJ 9C 9D 9S JC JD JH JS", "-", 0),
        ("KS AS 2S 3H 4H PJ 9C 9D 9S JC JD JH JS", "-", 1),  # the ace is never between
        ("3S 4S 5S 3D 4D 5D 3C 4C 5C 6C 9S 9H 9D", "4", 0),  # fours stand in pure sequences at their own place
        ("3S 5S 7S 4D 4C 4H PJ 9C 9D 9S JC JD JH", "4", 1),  # no wild card fills the pure sequence
        ("2S 2H 2D 2C 5S 5H 5D 5C 9S 9H 9D 9C KS", "-", 4),  # two sets of four leave room for one sequence only
        ("7S 7S 7H 7H 7D 7D 7C 7C PJ PJ 2S 2H 2D", "7", 2),  # one seven stands in the pure sequence
    ],
)
def test_distance_of_worked_hands(hand: str, wild: str, expected: int) -> None:
    assert distance(parse_hand(hand), wild_of_rank(parse_rank(wild))) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_fourteen_cards_take_the_best_discard_and_each_discard_is_the_hand_without_it(kind: str) -> None:
    rng = Random(f"discards {kind}")
    out = np.zeros(NUM_FACES, dtype=np.uint8)
    for _ in range(400):
        counts, wild = draw_hand(rng, kind, 14)
        lowest = discard_distances_kernel(counts, wild, RULES, distance_table(), out)
        assert lowest == out.min() == distance(counts, wild), (format_hand(counts), wild)
        for face in range(NUM_FACES):
            if counts[face]:
                counts[face] -= 1
                assert out[face] == distance(counts, wild), (format_hand(counts), wild, face)
                counts[face] += 1
            else:
                assert out[face] == NOT_HELD


@pytest.mark.parametrize("kind", KINDS)
def test_one_more_wild_card_or_one_card_replaced_moves_the_distance_by_at_most_one(kind: str) -> None:
    rng = Random(f"neighbours {kind}")
    for _ in range(400):
        counts, wild = draw_hand(rng, kind, 13)
        before = distance(counts, wild)
        counts[rng.choice(np.flatnonzero(counts))] -= 1
        counts[rng.choice(np.flatnonzero(counts < 2))] += 1
        assert abs(distance(counts, wild) - before) <= 1
        counts[PRINTED_JOKER] += 1
        assert distance(counts, wild) in (before - 2, before - 1, before, before + 1)


def test_any_card_can_go_where_only_the_pure_sequence_is_far() -> None:
    hand = parse_hand("5S 7S QS 2H 5H 5H 6H TH 2D 5D JD 9C KC PJ")
    out = np.zeros(NUM_FACES, dtype=np.uint8)
    assert discard_distances_kernel(hand, wild_of_rank(4), RULES, distance_table(), out) == 3
    assert set(out[hand > 0]) == {3}


def test_rows_of_the_table_hold_the_best_runs_of_one_suit() -> None:
    rng = Random("rows")
    table = distance_table()
    runs = [range(first, first + length) for length in (3, 4, 5) for first in range(15 - length)]

    def cover(copies: tuple[int, ...], places: int) -> int:
        best = 0
        for run in runs:
            held = [rank % 13 for rank in run if copies[rank % 13]]
            if held and len(run) <= places:
                left = tuple(number - (rank in held) for rank, number in enumerate(copies))
                best = max(best, len(held) + cover(left, places - len(run)))
        return best

    for _ in range(12):
        copies = [0] * 13
        for rank in rng.choices(range(13), k=4):
            copies[rank] = min(2, copies[rank] + 1)
        row = int(table[sum(weight * number for weight, number in zip(WEIGHTS, copies, strict=True))])
        for places in (3, 4, 6, 8, 13):
            assert lane(row, places) == cover(tuple(copies), places), (copies, places)


def test_joined_rows_share_the_places_out_in_the_best_way() -> None:
    rng = Random("rows joined")
    table = distance_table()
    for _ in range(200):
        row, other = (int(table[rng.randrange(len(table))]) for _ in range(2))
        joined = join(row, other, MAX_PLACES)
        for places in range(3, 14):
            best = max(lane(row, given) + lane(other, places - given) for given in range(places + 1))
            assert lane(joined, places) == best
            assert covers(row, other, backwards(other), places, best)
            assert not covers(row, other, backwards(other), places, best + 1)


def test_compiled_and_plain_python_give_the_same_distances() -> None:
    rng = Random("plain")
    hands = [draw_hand(rng, kind, 13 + number % 2) for kind in KINDS for number in range(8)]
    assert run_as_plain_python(
        hands,
        """
        from paplu_env.melds.fast_distance.distance_kernels import discard_distances_kernel, distance_kernel
        from paplu_env.melds.fast_distance.distance_table import distance_table
        from paplu_env.rules import RuleSet

        def answer(counts, wild):
            out = np.zeros(53, dtype=np.uint8)
            if counts.sum() == 14:
                discard_distances_kernel(counts, wild, RuleSet().packed[0], distance_table(), out)
            return [distance_kernel(counts, wild, RuleSet().packed[0], distance_table()), *out.tolist()]
        """,
    )
