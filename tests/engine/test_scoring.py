"""Settlement: a table of cases for every ending, with drops, wrong declarations, rates and bonuses."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from paplu_env import engine
from paplu_env.cards import parse_card, parse_hand
from paplu_env.engine.scoring import count_hands, settle
from paplu_env.engine.state import ENDING_NAMES, empty_states
from paplu_env.rules import MAX_PLAYERS, parse_rules
from tests import oracle
from tests.engine.tables import COMPLETE, draw_and_throw_back, lay_out, play

# Hands by what they cost when threes are wild. Under a three of clubs the Paplu is the four of clubs.
LOOSE = "AS 5S 9S KS 2H 6H TH 4D 8D QD 2C 7C JC"  # no pure sequence: all of it, capped
HAND_24 = "AS 2S 3S | 4H 5H 6H | 9C 9D 9S | KC 2D 4D 8S"
HAND_7 = "AS 2S 3S | 4H 5H 6H | 9C 9D 9S | KC KD KS | 7D"
HAND_28 = "AS 2S 3S | 4H 5H 6H | 9C 9D 9S | KC KD 4C 4C"  # two Paplus among them
ONE_PAPLU = "AS 2S 3S | 4H 5H 6H | 9C 9D 9S | 4C 4D 4S 4H"  # complete
# Statuses as in `STATUS_NAMES`.
IN, FIRST, LATER, WRONG, ABSENT = range(5)


@dataclass
class Case:
    """How a deal stood when it ended, and what every seat gets."""

    name: str
    ending: str
    hands: list[str]
    expected: list[int]
    rules: str = "points"
    status: list[int] = field(default_factory=list)  # everybody in unless given
    drew: list[int] = field(default_factory=list)  # three draws each unless given
    finisher: int = 0
    winner: int = 0
    indicator: str = "3C"


def three(options: str = "") -> str:
    """A table of three with some options."""
    return "points:num_players=3,wrong_declare=allowed" + (f",{options}" if options else "")


HALF, DOUBLE, LOWEST = "half_rate=true", "hand_rummy=true", "turn_limit_result=lower_deadwood"
HELD, LAID = "paplu_bonus=held", "paplu_bonus=declared"

CASES = [
    Case("declared: the loser's count", "declared", [COMPLETE, HAND_24], [24, -24]),
    Case("declared: the cap", "declared", [COMPLETE, LOOSE], [80, -80]),
    Case("declared: by seat 1", "declared", [LOOSE, COMPLETE], [-80, 80], finisher=1, winner=1),
    Case("declared: a complete loser", "declared", [COMPLETE, COMPLETE], [0, 0]),
    Case("declared: a complete loser's price", "declared", [COMPLETE, COMPLETE], [2, -2], "points:loser_complete=2"),
    Case("declared: no such price otherwise", "declared", [COMPLETE, HAND_7], [7, -7], "points:loser_complete=2"),
    Case("declared: rounding", "declared", [COMPLETE, HAND_24], [25, -25], "points:round_to=5"),
    Case("declared: one life only", "declared", [COMPLETE, LOOSE], [80, -80], "online"),
    Case(
        "declared: drop, wrong declaration and count",
        "declared",
        [LOOSE, COMPLETE, LOOSE, HAND_24],
        [-20, 124, -80, -24],
        "points:num_players=4,wrong_declare=allowed",
        [FIRST, IN, WRONG, IN],
        finisher=1,
        winner=1,
    ),
    Case(
        "declared: a seat not dealt in", "declared", [COMPLETE, "", LOOSE], [40, 0, -40], three(), [IN, ABSENT, LATER]
    ),
    Case(
        "declared: a wrong declaration's own price",
        "declared",
        [COMPLETE, LOOSE, HAND_7],
        [67, -60, -7],
        three("wrong_declare_points=60"),
        [IN, WRONG, IN],
    ),
    Case("half rate: rounded up", "declared", [COMPLETE, HAND_7], [4, -4], "points:half_rate=true", drew=[1, 0]),
    Case("half rate: after the cap", "declared", [COMPLETE, LOOSE], [40, -40], "points:half_rate=true", drew=[1, 0]),
    Case("half rate: after rounding", "declared", [COMPLETE, HAND_24], [13, -13], "pagat", drew=[1, 0]),
    Case("half rate: not if drawn", "declared", [COMPLETE, HAND_7], [7, -7], "points:half_rate=true", drew=[1, 1]),
    Case("half rate: not later", "declared", [COMPLETE, HAND_7], [7, -7], "points:half_rate=true", drew=[2, 0]),
    Case(
        "half rate: packers pay their drop",
        "declared",
        [LOOSE, COMPLETE, HAND_7],
        [-20, 24, -4],
        three(HALF),
        [FIRST, IN, IN],
        [0, 1, 0],
        finisher=1,
        winner=1,
    ),
    Case(
        "never drawn: the cap",
        "declared",
        [COMPLETE, HAND_7],
        [80, -80],
        "points:full_count_if_never_drawn=true",
        drew=[1, 0],
    ),
    Case(
        "never drawn: else the count", "declared", [COMPLETE, HAND_7], [7, -7], "points:full_count_if_never_drawn=true"
    ),
    Case(
        "never drawn: packers pay their drop",
        "declared",
        [COMPLETE, LOOSE, COMPLETE],
        [100, -20, -80],
        three("full_count_if_never_drawn=true"),
        [IN, FIRST, IN],
        [1, 0, 0],
    ),
    Case(
        "announced: ordinary before the draw",
        "announced",
        [COMPLETE, HAND_24],
        [24, -24],
        f"points:{DOUBLE}",
        drew=[0, 0],
    ),
    Case(
        "announced: twice, above the cap, and a drop",
        "announced",
        [LOOSE, LOOSE, COMPLETE],
        [-160, -20, 180],
        three(DOUBLE),
        [IN, FIRST, IN],
        [1, 0, 0],
        finisher=2,
        winner=2,
    ),
    Case(
        "announced: rounding, then twice; a wrong declaration as ever",
        "announced",
        [HAND_24, LOOSE, COMPLETE],
        [-50, -80, 130],
        three(f"{DOUBLE},round_to=5"),
        [IN, WRONG, IN],
        [1, 1, 0],
        finisher=2,
        winner=2,
    ),
    Case("drop: first", "drop", [LOOSE, LOOSE], [-20, 20], status=[FIRST, IN], winner=1),
    Case("drop: later", "drop", [LOOSE, LOOSE], [40, -40], status=[IN, LATER], finisher=1),
    Case(
        "drop: the last one left", "drop", [LOOSE, LOOSE, LOOSE], [-20, 100, -80], three(), [FIRST, IN, WRONG], winner=1
    ),
    Case("drop: own amounts", "drop", ["", LOOSE], [-10, 10], "pagat", status=[FIRST, IN], winner=1),
    Case("wrong declaration", "wrong_declare", [LOOSE, COMPLETE], [-80, 80], "classic", [WRONG, IN], winner=1),
    Case(
        "wrong declaration: the last one left",
        "wrong_declare",
        [LOOSE, LOOSE, LOOSE],
        [-40, -80, 120],
        three(),
        [LATER, WRONG, IN],
        finisher=1,
        winner=2,
    ),
    Case(
        "void: packers too pay nothing",
        "void",
        [LOOSE, LOOSE, HAND_28],
        [0, 0, 0],
        three(HELD),
        [FIRST, WRONG, IN],
        winner=-1,
    ),
    Case(
        "truncated: nobody pays",
        "truncated",
        [LOOSE, LOOSE, HAND_28],
        [0, 0, 0],
        three(HELD),
        [FIRST, IN, IN],
        winner=-1,
    ),
    Case("lowest hand: it wins", "lower_deadwood", [HAND_24, HAND_7], [-24, 24], f"points:{LOWEST}", winner=1),
    Case("lowest hand: a tie", "lower_deadwood", [LOOSE, LOOSE], [0, 0], f"points:{LOWEST}", winner=-1),
    Case(
        "lowest hand: a tie that does not matter",
        "lower_deadwood",
        [HAND_24, HAND_7, HAND_24],
        [-24, 48, -24],
        three(LOWEST),
        winner=1,
    ),
    Case(
        "lowest hand: seats that are out pay, and cannot win",
        "lower_deadwood",
        [COMPLETE, HAND_24, HAND_28],
        [-40, 68, -28],
        three(LOWEST),
        [LATER, IN, IN],
        winner=1,
    ),
    Case(
        "lowest hand: a tie, and packers pay nothing",
        "lower_deadwood",
        [LOOSE, HAND_24, HAND_24],
        [0, 0, 0],
        three(LOWEST),
        [FIRST, IN, IN],
        winner=-1,
    ),
    Case(
        "lowest hand: two complete ones tie, whatever a lost one costs",
        "lower_deadwood",
        [COMPLETE, COMPLETE],
        [0, 0],
        f"points:{LOWEST},loser_complete=2",
        winner=-1,
    ),
    Case("Paplus held: one", "declared", [ONE_PAPLU, HAND_24], [34, -34], f"points:{HELD}"),
    Case("Paplus held: two, by the loser", "declared", [COMPLETE, HAND_28], [3, -3], f"points:{HELD}"),
    Case("Paplus held: outside the cap", "declared", [ONE_PAPLU, LOOSE], [90, -90], f"points:{HELD}"),
    Case("Paplus held: at a drop", "drop", [LOOSE, HAND_28], [-45, 45], f"points:{HELD}", [FIRST, IN], winner=1),
    Case(
        "Paplus held: who is out pays and does not collect",
        "declared",
        [COMPLETE, HAND_28, HAND_28],
        [40 + 28 - 25, -40 - 25, -28 + 50],
        three(HELD + ",num_decks=3"),
        [IN, LATER, IN],
    ),
    Case(
        "Paplus held: three of three packs",
        "drop",
        [LOOSE, "4C 4C 4C AS 5S 9S KS 2H 6H TH 4D 8D QD"],
        [-70, 70],
        f"points:{HELD},num_decks=3",
        [FIRST, IN],
        winner=1,
    ),
    Case(
        "Paplus held: settled in a tie",
        "lower_deadwood",
        [HAND_28, HAND_28],
        [0, 0],
        f"points:{HELD},{LOWEST},num_decks=3",
        winner=-1,
    ),
    Case(
        "Paplus held: collected in a tie",
        "lower_deadwood",
        [LOOSE, LOOSE.replace("4D", "4C")],
        [-10, 10],
        f"points:{HELD},{LOWEST}",
        winner=-1,
    ),
    Case(
        "Paplus held: none under a joker", "declared", [ONE_PAPLU, LOOSE], [80, -80], f"points:{HELD}", indicator="PJ"
    ),
    Case("Paplus declared: the winner's", "declared", [ONE_PAPLU, HAND_24], [34, -34], f"points:{LAID}"),
    Case("Paplus declared: not the loser's", "declared", [COMPLETE, HAND_28], [28, -28], f"points:{LAID}"),
    Case(
        "Paplus declared: not at a drop", "drop", [LOOSE, HAND_28], [-20, 20], f"points:{LAID}", [FIRST, IN], winner=1
    ),
    Case(
        "Paplus declared: from everybody, out or in",
        "declared",
        [ONE_PAPLU, LOOSE, HAND_7, ""],
        [20 + 7 + 20, -30, -17, 0],
        f"points:num_players=4,{LAID}",
        [IN, FIRST, IN, ABSENT],
    ),
    Case(
        "Paplus declared: announced ones too",
        "announced",
        [ONE_PAPLU, HAND_24],
        [34, -34],
        f"points:{LAID},{DOUBLE}",
        drew=[0, 0],
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_settlement(case: Case) -> None:
    rules = parse_rules(case.rules)
    states = empty_states(rules, 1)
    s = states[0]
    s["num_players"] = rules.num_players
    s["indicator"] = parse_card(case.indicator)
    s["wild"] = rules.wild_of(int(s["indicator"]))
    for seat, hand in enumerate(case.hands):
        s["hands"][seat] = parse_hand(hand)
    s["status"][: rules.num_players] = case.status or [IN] * rules.num_players
    s["drew"][: rules.num_players] = case.drew or [3] * rules.num_players
    counts, ending = np.zeros(MAX_PLAYERS, dtype=np.int64), ENDING_NAMES.index(case.ending)
    count_hands(s, ending, counts, rules.packed[0])
    winner = settle(s, ending, case.finisher, counts, s["returns"], rules.packed[0])
    assert engine.returns(states, 0).tolist() == case.expected
    assert sum(case.expected) == 0
    assert winner == case.winner


@pytest.mark.parametrize(("hand", "count"), [(HAND_24, 24), (HAND_7, 7), (HAND_28, 28), (COMPLETE, 0), (LOOSE, 80)])
def test_the_hands_of_the_table_cost_what_it_says(hand: str, count: int) -> None:
    assert oracle.points(oracle.read(hand), oracle.wild_rank("3")) == count


def test_every_ending_is_in_the_table() -> None:
    assert {case.ending for case in CASES} == set(ENDING_NAMES[1:])


def test_a_finish_card_is_not_held() -> None:
    rules = parse_rules("points:paplu_bonus=held")
    states = play(lay_out([COMPLETE, LOOSE], "7H", "3C", stock="4C", rules=rules), "draw", "declare 4C", rules=rules)
    assert engine.returns(states, 0).tolist() == [80, -80]


def test_the_lowest_hand_wins_at_the_limit_of_saha2025() -> None:
    rules = parse_rules("saha2025:max_turns=2")
    states = lay_out([LOOSE, HAND_24], "7H", "3C", rules=rules)
    draw_and_throw_back(states, rules, until_closed=76)
    assert ENDING_NAMES[int(states["ending"][0])] == "lower_deadwood"
    assert (int(states["winner"][0]), engine.returns(states, 0).tolist()) == (1, [-80, 80])


def test_a_declaration_on_the_first_draw_is_played_at_half_rate() -> None:
    rules = parse_rules("points:half_rate=true")
    states = play(lay_out([COMPLETE, LOOSE], "7H", "3C", stock="QD", rules=rules), "draw", "declare QD", rules=rules)
    assert engine.returns(states, 0).tolist() == [40, -40]
