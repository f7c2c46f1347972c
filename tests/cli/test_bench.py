"""What `paplu bench` makes of its measurements; how fast anything is, no test asks."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from paplu_env.cards import parse_hand, parse_rank
from paplu_env.cli.bench.command import measure
from paplu_env.cli.bench.hands import make_hands
from paplu_env.cli.bench.instructions import count_instructions
from paplu_env.cli.bench.rows import SOLVERS, Row, calibration
from paplu_env.cli.bench.worst import find_worst
from paplu_env.rules import preset


def test_bench_holds_rows_against_their_bars_and_times_single_hands() -> None:
    solver = replace(SOLVERS[0], bars={})
    hands, wilds = make_hands("dense", 13, 8, 1)
    work = partial(solver.ask, hands, wilds, preset("points"))
    rows = [
        calibration(),
        Row("solver", "easy", "hand", 8, work, bar=1e9, asked=(solver, hands, wilds)),
        Row("solver", "hard", "hand", 8, work, bar=0.0),
        Row("solver", "not twice as slow as a billionth of easy", "hand", 8, work, bar_times=(2e-9, "easy")),
    ]
    first, easy, hard, relative = measure(rows, 1)
    assert (first.ratio, first.is_met, first.single_hands) == (1, None, None)
    assert (easy.is_met, hard.is_met, relative.is_met) == (True, False, False)
    assert relative.bar_microseconds == pytest.approx(2e-9 * easy.microseconds)
    assert easy.single_hands is not None
    assert 0 < easy.single_hands.p50 <= easy.single_hands.p90 <= easy.single_hands.p99


def test_search_for_slow_hands_meets_hands_that_can_be_solved_again() -> None:
    for solver in SOLVERS[1:3]:
        worst = find_worst(solver, 3)
        assert parse_hand(worst.hand).sum() == solver.size
        assert 0 <= parse_rank(worst.wild) < 13
        assert worst.microseconds > 0


def test_instructions_grow_with_the_work_where_they_are_counted() -> None:
    few, many = (count_instructions(partial(sum, range(steps))) for steps in (1_000, 1_000_000))
    if few is None or many is None:
        assert few is None
        assert many is None
    else:
        assert many > 10 * few
