"""The deadwood kernel on worked hands, against the general search, and as plain Python."""

from __future__ import annotations

from random import Random

import pytest

from paplu_env.cards import Counts, format_hand, parse_hand, parse_rank, wild_of_rank
from paplu_env.melds.any_options.layout_search import deadwood_general
from paplu_env.melds.fast_points.deadwood_kernels import deadwood_kernel, points_kernel
from paplu_env.melds.fast_points.runs import COST, MOST_WILD, SAVINGS
from paplu_env.rules import RuleSet, preset
from tests.melds.samples import KINDS, draw_hand, run_as_plain_python

RULES = RuleSet().packed[0]
NO_CAP = 1 << 20


def deadwood(counts: Counts, wild: int) -> int:
    return int(deadwood_kernel(counts, wild, RULES))


@pytest.mark.parametrize(
    ("hand", "wild", "expected"),
    [
        ("AS 2S 3S 4H 5H 6H 7H 9C 9D 9S KC KD KS", "-", 0),
        ("AS 2S 4S 4H 5H 7H 7D 9C 9D 9S KC KD KS", "-", 96),  # no pure sequence: every card
        ("2S 3S 4S 9C 9D 9S KC KD KS 7H 8D TH JH", "-", 92),  # a pure sequence alone: its own nine points are free
        ("2S 3S 4S 5S 6S 7S 9C 9D 9S KC KD KS 7H", "-", 7),  # a run of six is both lives
        ("2S 3S 4S 5S 6S KC KD KS 9C 9D 9S 7H 8D", "-", 72),  # a run of five is one, free whole
        ("2S 3S 4S PJ TH JH 9C 9D 9S KC KD KS 5C", "-", 5),
        ("QS KS AS 2S 3S 4S 7H 7D 7C 9C 9D JH JD", "-", 38),  # the ace goes high
        ("7H 8H 9H KS AS 2S 4H 4D 4C 5D TD QC JC", "-", 69),  # and never between
        ("5H 6H 7H 8H 2S 3S PJ 9C 9D JC JD KS KD", "7", 43),  # a seven in its place, the joker between JD and KD
        ("7S 7S 7H 7H 7D 7D 7C 7C PJ PJ 2S 2H 2D", "7", 6),  # ten wild cards, but no pure sequence
        ("6S 7S 8S 7H 7D 7C PJ KS QH JD TC 9D 9C", "7", 10),
    ],
)
def test_deadwood_of_worked_hands(hand: str, wild: str, expected: int) -> None:
    assert deadwood(parse_hand(hand), wild_of_rank(parse_rank(wild))) == expected


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["points", "online", "classic"])
def test_the_fast_kernel_and_the_general_search_agree(kind: str, name: str) -> None:
    rules = preset(name)
    assert rules.has_standard_groups
    rng = Random(f"deadwood {kind} {name}")
    for number in range(400):
        counts, wild = draw_hand(rng, kind, 13 + number % 2)
        left = deadwood_kernel(counts, wild, rules.packed[0])
        assert left == deadwood_general(counts, wild, rules.packed[0], NO_CAP), (format_hand(counts), wild)
        assert points_kernel(counts, wild, rules.packed[0]) == min(left, 80), (format_hand(counts), wild)


def test_points_are_rounded_to_the_nearest_multiple_and_then_capped() -> None:
    rules = RuleSet(round_to=5).packed[0]
    wild = wild_of_rank(-1)
    for hand, expected in (
        ("7S 8S 9S TH JH QH KC KD KS 9D 9H 2H 2S", 15),  # 13, or 9 + 2 + 2
        ("7S 8S 9S TH JH QH KC KD KS 9D 9H 5H 8S", 20),  # 22, or 9 + 5 + 8
        ("9S TS JS TH JH QH KC KD 9D 9H 2S 5D TC", 45),  # 46
        ("AS 2S 4S 4H 5H 7H 7D 9C 9D 9S KC KD KS", 80),  # 95, capped
    ):
        assert points_kernel(parse_hand(hand), wild, rules) == expected


def test_tables_hold_the_best_runs_of_one_suit() -> None:
    rng = Random("tables")
    runs = [range(first, first + length) for length in (3, 4, 5) for first in range(15 - length)]
    worth = (10, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10)

    def best(held: frozenset[int], wild: int) -> int:
        options = [0]
        for run in runs:
            used = held & {rank % 13 for rank in run}
            if used and len(run) - len(used) <= wild:
                rest = best(held - used, wild - (len(run) - len(used)))
                options.append(sum(worth[rank] for rank in used) + rest)
        return max(options)

    for _ in range(25):
        held = frozenset(rng.sample(range(13), rng.randint(1, 5)))
        row = sum(1 << rank for rank in held)
        covered = [int(SAVINGS[row]) >> 8 * wild & 255 for wild in range(MOST_WILD + 1)]
        assert covered[:5] == [best(held, wild) for wild in range(5)], held
        everything = sum(worth[rank] for rank in held)
        cost = int(COST[row]) & 15
        assert [points == everything for points in covered] == [wild >= cost for wild in range(MOST_WILD + 1)]


def test_compiled_and_plain_python_give_the_same_deadwood() -> None:
    rng = Random("plain deadwood")
    hands = [draw_hand(rng, kind, 13 + number % 2) for kind in KINDS for number in range(10)]
    assert run_as_plain_python(
        hands,
        """
        from paplu_env.melds.fast_points.deadwood_kernels import deadwood_kernel, points_kernel
        from paplu_env.rules import RuleSet

        def answer(counts, wild):
            rules = RuleSet(round_to=5).packed[0]
            return [deadwood_kernel(counts, wild, rules), points_kernel(counts, wild, rules)]
        """,
    )
