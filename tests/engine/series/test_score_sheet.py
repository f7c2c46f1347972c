"""Score sheets worked out by hand: who has what after every deal, who is out, who starts, and the result."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from paplu_env.engine.series.format import parse_series
from paplu_env.engine.series.score_sheet import ScoreSheet
from paplu_env.errors import InvalidRules, PapluError
from paplu_env.rules import parse_rules

VOID = (-1, {})  # a deal without a winner, in which nobody pays

# One deal: who won it, and what the others lost to the winner.
Deal = tuple[int, Mapping[int, int]]
# One line of the sheet after it: who had the first turn, totals, seats out.
Line = tuple[int, list[int], list[int]]


def new_sheet(series: str, players: int, rules: str = "points", first: int = 0) -> ScoreSheet:
    chosen = parse_series(series)
    table = parse_rules(f"{rules}{',' if ':' in rules else ':'}num_players={players}")
    return ScoreSheet(chosen.table(table), chosen, first)


def returns_of(sheet: ScoreSheet, deal: Deal) -> list[int]:
    """The returns of a deal: every loser pays the winner."""
    winner, lost = deal
    returns = [0] * sheet.rules.num_players
    for seat, points in lost.items():
        returns[seat] -= points
        returns[winner] += points
    return returns


def write(sheet: ScoreSheet, deals: Sequence[tuple[Deal, Line]]) -> None:
    """Write deals down one by one, and compare the sheet after each."""
    for number, (deal, (first, totals, out)) in enumerate(deals, start=1):
        assert not sheet.is_over, f"over before deal {number}"
        assert sheet.first == first, f"deal {number}"
        sheet.add(returns_of(sheet, deal), deal[0])
        assert (sheet.totals, number) == (totals, number)
        assert [seat for seat in range(sheet.rules.num_players) if seat not in sheet.active] == out
        line = sheet.results[-1]
        assert (line.first, line.totals, line.out) == (first, tuple(totals), tuple(out))


def test_pool_101_to_its_end_with_two_out_at_once() -> None:
    sheet = new_sheet("pool_101", 4)
    write(
        sheet,
        [
            ((1, {0: 20, 2: 80, 3: 35}), (0, [20, 0, 80, 35], [])),
            ((0, {1: 40, 2: 21, 3: 66}), (1, [20, 40, 101, 101], [2, 3])),  # both reach the limit
            ((1, {0: 80}), (0, [100, 40, 101, 101], [2, 3])),  # 2 and 3 are passed over; 100 is not yet out
            ((0, {1: 61}), (1, [100, 101, 101, 101], [1, 2, 3])),
        ],
    )
    assert (sheet.ending, sheet.winners) == ("decided", (0,))
    assert sheet.returns().tolist() == [3, -1, -1, -1]
    assert sheet.ranking() == (1, 2, 3, 3)
    assert sheet.scores == (100, 101, 101, 101)
    assert sheet.chips is None


def test_the_last_two_out_at_once_leave_the_winner_alone() -> None:
    sheet = new_sheet("pool_61", 3)
    write(
        sheet,
        [
            ((2, {0: 15, 1: 60}), (0, [15, 60, 0], [])),
            ((2, {0: 60, 1: 15}), (1, [75, 75, 0], [0, 1])),
        ],
    )
    assert (sheet.ending, sheet.winners, sheet.returns().tolist()) == ("decided", (2,), [-1, -1, 2])
    assert sheet.ranking() == (2, 2, 1)


def test_pool_201_counts_to_201() -> None:
    sheet = new_sheet("pool_201", 2)
    write(
        sheet,
        [
            ((0, {1: 80}), (0, [0, 80], [])),
            ((1, {0: 25}), (1, [25, 80], [])),
            ((0, {1: 80}), (0, [25, 160], [])),
            ((0, {1: 40}), (1, [25, 200], [])),
            ((0, {1: 0}), (0, [25, 200], [])),  # a complete hand costs nothing
            ((0, {1: 2}), (1, [25, 202], [1])),
        ],
    )
    assert sheet.winners == (0,)


def test_under_strict_pool_a_total_must_exceed_the_limit() -> None:
    for series, is_out in (("pool_61", True), ("pool_61:strict_pool=true", False)):
        sheet = new_sheet(series, 2)
        write(
            sheet,
            [((0, {1: 60}), (0, [0, 60], [])), ((0, {1: 1}), (1, [0, 61], [1] if is_out else []))],
        )
        assert sheet.is_over == is_out
    write(sheet, [((0, {1: 1}), (0, [0, 62], [1]))])
    assert sheet.winners == (0,)


def test_a_seat_comes_back_at_one_more_than_the_highest() -> None:
    sheet = new_sheet("pool_101:rejoin=true", 3)
    write(
        sheet,
        [
            ((0, {1: 80, 2: 60}), (0, [0, 80, 60], [])),
            ((2, {0: 20, 1: 40}), (1, [20, 61, 60], [])),  # 1 had 120, and returns above the 60 of seat 2
            ((0, {1: 40, 2: 20}), (2, [20, 101, 80], [1])),  # 2 is above 79: nobody returns any more
            ((2, {0: 80}), (0, [100, 101, 80], [1])),
            ((0, {2: 40}), (2, [100, 101, 120], [1, 2])),
        ],
    )
    assert [line.rejoined for line in sheet.results] == [(), (1,), (), (), ()]
    assert sheet.rejoins == [0, 1, 0]
    # Four entries are in the pool: one of each seat and one of the rejoin.
    assert sheet.returns().tolist() == [3, -2, -1]
    assert sheet.ranking() == (1, 3, 2)


@pytest.mark.parametrize(
    ("pool", "losses", "highest", "returns_at"),
    [
        ("pool_61", (60, 20), 44, 45),
        ("pool_61", (60, 20), 45, None),
        ("pool_101", (80, 40), 79, 80),
        ("pool_101", (80, 40), 80, None),
    ],
)
def test_the_highest_total_decides_whether_a_seat_comes_back(
    pool: str, losses: tuple[int, int], highest: int, returns_at: int | None
) -> None:
    sheet = new_sheet(f"{pool}:rejoin=true", 3)
    sheet.add(returns_of(sheet, (0, {1: losses[0]})), 0)
    sheet.add(returns_of(sheet, (0, {1: losses[1], 2: highest})), 0)
    assert sheet.totals[1] == (returns_at or sum(losses))
    assert (1 in sheet.active) == (returns_at is not None)


@pytest.mark.parametrize(("highest", "is_back"), [(174, True), (175, False)])
def test_in_pool_201_a_seat_comes_back_up_to_174(highest: int, is_back: bool) -> None:
    sheet = new_sheet("pool_201:rejoin=true", 3)
    sheet.add(returns_of(sheet, (0, {1: 80, 2: 80})), 0)
    sheet.add(returns_of(sheet, (0, {1: 80, 2: 80})), 0)
    sheet.add(returns_of(sheet, (0, {1: 80, 2: highest - 160})), 0)
    assert (sheet.totals, sheet.active) == (([0, 175, 174], (0, 1, 2)) if is_back else ([0, 240, 175], (0, 2)))


def test_seats_that_go_out_together_come_back_together() -> None:
    sheet = new_sheet("pool_101:rejoin=true", 4)
    write(
        sheet,
        [
            ((3, {0: 10, 1: 80, 2: 80}), (0, [10, 80, 80, 0], [])),
            ((3, {0: 5, 1: 40, 2: 80}), (1, [15, 16, 16, 0], [])),
        ],
    )
    assert sheet.results[-1].rejoined == (1, 2)
    assert sheet.rejoins == [0, 1, 1, 0]


def test_heads_up_a_seat_comes_back_until_the_other_is_above_79() -> None:
    sheet = new_sheet("pool_101:rejoin=true", 2)
    write(
        sheet,
        [
            ((0, {1: 80}), (0, [0, 80], [])),
            ((0, {1: 80}), (1, [0, 1], [])),
            ((1, {0: 80}), (0, [80, 1], [])),
            ((0, {1: 80}), (1, [80, 81], [])),
            ((0, {1: 20}), (0, [80, 101], [1])),
        ],
    )
    assert sheet.returns().tolist() == [2, -2]


def test_the_winner_who_came_back_gets_its_own_entries_back() -> None:
    sheet = new_sheet("pool_61:rejoin=true", 2)
    write(
        sheet,
        [
            ((0, {1: 60}), (0, [0, 60], [])),
            ((0, {1: 15}), (1, [0, 1], [])),  # seat 1 comes back
            ((1, {0: 60}), (0, [60, 1], [])),
            ((1, {0: 60}), (1, [2, 1], [])),  # seat 0 comes back
            ((0, {1: 45}), (0, [2, 46], [])),
            ((1, {0: 60}), (1, [62, 46], [0])),  # 46 is above 44
        ],
    )
    assert (sheet.winners, sheet.rejoins) == ((1,), [1, 1])
    assert sheet.returns().tolist() == [-2, 2]


def test_a_pool_is_shared_when_everybody_left_has_eighty() -> None:
    deals: list[tuple[Deal, Line]] = [
        ((3, {0: 80, 1: 40, 2: 80}), (0, [80, 40, 80, 0], [])),
        ((1, {0: 40, 2: 5, 3: 80}), (1, [120, 40, 85, 80], [0])),  # 40 are too few to share
        ((2, {1: 40, 3: 0}), (2, [120, 80, 85, 80], [0])),
    ]
    sheet = new_sheet("pool_101:split=true", 4)
    write(sheet, deals)
    assert (sheet.ending, sheet.winners) == ("split", (1, 2, 3))
    np.testing.assert_allclose(sheet.returns(), [-1, 1 / 3, 1 / 3, 1 / 3])
    assert sheet.ranking() == (4, 1, 3, 1)
    without = new_sheet("pool_101", 4)
    write(without, deals)
    assert not without.is_over


@pytest.mark.parametrize(("series", "least"), [("pool_61", 45), ("pool_101", 80), ("pool_201", 175)])
def test_one_point_less_is_too_few_to_share(series: str, least: int) -> None:
    for points, is_shared in ((least, True), (least - 1, False)):
        sheet = new_sheet(f"{series}:split=true", 2)
        while sheet.totals[0] < points:
            sheet.add(returns_of(sheet, (1, {0: min(60, points - sheet.totals[0])})), 1)
        while sheet.totals[1] < least:
            assert not sheet.is_over
            sheet.add(returns_of(sheet, (0, {1: min(60, least - sheet.totals[1])})), 0)
        assert (sheet.ending == "split") == is_shared


def test_a_shared_pool_holds_the_rejoins_too() -> None:
    sheet = new_sheet("pool_101:rejoin=true,split=true", 2)
    write(
        sheet,
        [
            ((0, {1: 80}), (0, [0, 80], [])),
            ((0, {1: 80}), (1, [0, 1], [])),
            ((1, {0: 80}), (0, [80, 1], [])),
            ((0, {1: 79}), (1, [80, 80], [])),
        ],
    )
    assert (sheet.ending, sheet.returns().tolist()) == ("split", [0.5, -0.5])  # three entries, two shares


def test_deals_with_a_tie_for_the_lead_that_is_played_off() -> None:
    sheet = new_sheet("deals", 3)
    write(
        sheet,
        [
            ((0, {1: 40, 2: 20}), (0, [0, 40, 20], [])),
            ((1, {0: 20, 2: 0}), (1, [20, 40, 20], [1])),  # 0 and 2 share the lead
            (VOID, (2, [20, 40, 20], [1])),  # still tied
            ((2, {0: 80}), (0, [100, 40, 20], [1])),
        ],
    )
    assert (sheet.ending, sheet.winners) == ("decided", (2,))
    assert sheet.ranking() == (2, 3, 1)  # whoever played for the lead is before the others
    assert sheet.points == [-40, -20, 60]
    assert sheet.chips == (120, 140, 220)  # two times 80 each
    assert sheet.returns().tolist() == [-1, -1, 2]


def test_deals_without_a_tie_end_after_the_last() -> None:
    sheet = new_sheet("deals:num_deals=3", 2)
    write(
        sheet,
        [
            ((0, {1: 80}), (0, [0, 80], [])),
            ((1, {0: 20}), (1, [20, 80], [])),
            ((1, {0: 40}), (0, [60, 80], [])),
        ],
    )
    assert (sheet.winners, sheet.ranking(), sheet.chips) == ((0,), (1, 2), (260, 220))
    assert sheet.active == (0, 1)


def test_six_deals_in_which_three_seats_tie_and_then_two() -> None:
    sheet = new_sheet("deals:num_deals=6", 4, first=3)
    write(
        sheet,
        [
            ((3, {0: 10, 1: 10, 2: 10}), (3, [10, 10, 10, 0], [])),
            (VOID, (0, [10, 10, 10, 0], [])),
            ((0, {3: 80}), (1, [10, 10, 10, 80], [])),
            (VOID, (2, [10, 10, 10, 80], [])),
            (VOID, (3, [10, 10, 10, 80], [])),
            (VOID, (0, [10, 10, 10, 80], [3])),
            ((1, {0: 20, 2: 0}), (1, [30, 10, 10, 80], [0, 3])),
            ((1, {2: 20}), (2, [30, 10, 30, 80], [0, 3])),
        ],
    )
    assert (sheet.winners, sheet.ranking()) == ((1,), (3, 1, 2, 4))
    assert sheet.chips == (480 + 80 - 10 - 20, 480 - 10 + 20 + 20, 480 - 10 - 20, 480 + 30 - 80)


def test_everybody_may_tie_for_the_lead() -> None:
    sheet = new_sheet("deals", 3)
    write(sheet, [(VOID, (0, [0, 0, 0], [])), (VOID, (1, [0, 0, 0], []))])
    assert not sheet.is_over
    write(sheet, [((1, {0: 20, 2: 40}), (2, [20, 0, 40], []))])
    assert (sheet.winners, sheet.ranking()) == ((1,), (2, 1, 3))


def test_a_session_is_worth_its_points() -> None:
    sheet = new_sheet("session:num_deals=3", 3)
    write(
        sheet,
        [
            ((0, {1: 80, 2: 20}), (0, [0, 80, 20], [])),
            (VOID, (1, [0, 80, 20], [])),
            ((1, {0: 80, 2: 40}), (2, [80, 80, 60], [])),
        ],
    )
    assert (sheet.ending, sheet.winners) == ("decided", (1,))
    assert sheet.scores == (20, 40, -60)
    assert sheet.returns().tolist() == [20, 40, -60]
    assert sheet.ranking() == (2, 1, 3)


def test_the_best_of_a_session_may_be_two() -> None:
    sheet = new_sheet("session:num_deals=1", 4)
    write(sheet, [(VOID, (0, [0, 0, 0, 0], []))])
    assert (sheet.winners, sheet.ranking(), sheet.returns().tolist()) == ((0, 1, 2, 3), (1, 1, 1, 1), [0, 0, 0, 0])


def test_dealer_and_first_turn_pass_on_against_the_clock() -> None:
    sheet = new_sheet("pool_101", 4, "pagat", first=1)
    assert sheet.dealer == 2
    write(
        sheet,
        [
            ((0, {1: 80, 3: 80}), (1, [0, 80, 0, 80], [])),
            ((2, {1: 40}), (0, [0, 120, 0, 80], [1])),
            ((2, {0: 20}), (3, [20, 120, 0, 80], [1])),
            ((0, {3: 40}), (2, [20, 120, 0, 120], [1, 3])),
            ((0, {2: 20}), (0, [20, 120, 20, 120], [1, 3])),
        ],
    )
    assert (sheet.first, sheet.dealer) == (2, 0)


def test_the_dealer_is_the_seat_still_in_before_the_first() -> None:
    sheet = new_sheet("pool_61", 4)
    assert sheet.dealer == 3
    sheet.add(returns_of(sheet, (0, {1: 60})), 0)
    assert (sheet.dealer, sheet.first) == (0, 1)
    sheet.add(returns_of(sheet, (0, {1: 60})), 0)
    assert (sheet.dealer, sheet.first) == (0, 2)


def test_the_first_seat_may_be_the_one_that_goes_out() -> None:
    sheet = new_sheet("pool_61", 3, first=2)
    write(sheet, [((0, {2: 60}), (2, [0, 0, 60], [])), ((0, {1: 60, 2: 60}), (0, [0, 60, 120], [2]))])
    assert sheet.first == 1


def test_doubled_and_halved_points_weigh_what_they_cost() -> None:
    sheet = new_sheet("pool_201", 3)
    sheet.add([200, -160, -40], 0)  # hand rummy: twice the cap
    assert sheet.totals == [0, 160, 40]


def test_a_paplu_bonus_is_set_off_and_the_winner_of_the_deal_adds_nothing() -> None:
    sheet = new_sheet("pool_101", 3, "paplu_bonus")
    # Seat 0 wins 10 from seat 1 and 5 from seat 2; seat 2 holds three Paplus, 50 from each of the others.
    sheet.add([15 - 50, -10 - 50, -5 + 100], 0)
    assert sheet.totals == [0, 60, 0]
    assert sheet.points == [-35, -60, 95]


def test_a_deal_without_a_winner_may_still_cost_paplus() -> None:
    sheet = new_sheet("session", 2, "paplu_bonus")
    sheet.add([-10, 10], -1)
    assert (sheet.totals, sheet.points) == ([10, 0], [-10, 10])


def test_a_series_that_is_undecided_for_too_long_is_cut() -> None:
    for series in ("pool_101:max_deals=3", "deals:max_deals=3"):
        sheet = new_sheet(series, 2)
        for _ in range(3):
            assert not sheet.is_over
            sheet.add([0, 0], -1)
        assert (sheet.ending, sheet.winners, sheet.returns().tolist()) == ("truncated", (), [0, 0])


def test_the_last_deal_that_is_allowed_may_decide() -> None:
    sheet = new_sheet("pool_61:max_deals=2", 2)
    write(sheet, [((0, {1: 60}), (0, [0, 60], [])), ((0, {1: 1}), (1, [0, 61], [1]))])
    assert sheet.ending == "decided"


def test_sheets_copy_pickle_and_compare() -> None:
    sheet = new_sheet("pool_101:rejoin=true", 3)
    sheet.add([120, -80, -40], 0)
    for duplicate in (copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))):
        twin = duplicate(sheet)
        assert twin == sheet
        twin.add([0, -80, 80], 2)
        assert twin != sheet
        sheet.add([0, -80, 80], 2)
        assert twin == sheet


@pytest.mark.parametrize(
    ("returns", "winner", "words"),
    [
        ([10, -10], 0, "one number for each of 3 seats"),
        ([10, -10, 10], 0, "their sum is 0"),
        ([10.0, -10.0, 0.0], 0, "whole numbers"),
        ([10, -10, 0], None, "whole numbers"),
        ([10, -10, 0], 1.0, "whole numbers"),
        ([10, 0, -10], 0, "seat 2 isn't in"),
        ([0, 0, 0], 2, r"winner=2: the seats still in are \[0, 1\]"),
        ([0, 0, 0], 3, "winner=3"),
        ([0, 0, 0], -2, "winner=-2"),
    ],
)
def test_what_is_no_result_of_a_deal_is_refused_and_changes_nothing(
    returns: list[int], winner: int, words: str
) -> None:
    sheet = new_sheet("pool_61", 3)
    sheet.add([60, 0, -60], 0)
    sheet.add([60, 0, -60], 0)
    before = copy.deepcopy(sheet)
    with pytest.raises(PapluError, match=words):
        sheet.add(returns, winner)
    assert sheet == before


def test_a_finished_sheet_takes_no_more() -> None:
    sheet = new_sheet("session:num_deals=1", 2)
    sheet.add([1, -1], 0)
    with pytest.raises(PapluError, match=r"over \(decided\) after 1 deals"):
        sheet.add([1, -1], 0)


@pytest.mark.parametrize("first", [-1, 2, True, 0.0, None])
def test_a_first_seat_that_does_not_exist_is_refused(first: int) -> None:
    with pytest.raises(InvalidRules, match="first="):
        new_sheet("deals", 2, first=first)
