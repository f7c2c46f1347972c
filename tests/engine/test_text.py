"""Positions as one line of text, there and back."""

import pytest

from paplu_env import engine
from paplu_env.errors import InvalidHand, InvalidNotation, InvalidRules
from paplu_env.rules import parse_rules
from tests.engine.tables import COMPLETE, LOOSE, POINTS, TABLES, lay_out, play, random_steps


@pytest.mark.parametrize("text", TABLES)
def test_whole_games_go_through_text_and_back_to_the_same_bytes(text: str) -> None:
    rules = parse_rules(text)
    for step, states in enumerate(random_steps(rules, games=3, seed=6, longest=step_is_long(text))):
        if step % 5 == 0 or (states["current_player"] < 0).all():
            for i in range(3):
                line = engine.format_position(states, i, rules)
                assert "\n" not in line
                assert engine.parse_position(line, rules).tobytes() == states[i : i + 1].tobytes()


def step_is_long(text: str) -> bool:
    """Tables on which declarations and drops are left out, so that stocks run out."""
    return not text.startswith(("classic", "paplu_bonus"))


def test_a_line_reads_as_the_table_looks() -> None:
    states = play(lay_out([LOOSE, COMPLETE], "7H", "3C", stock="QD JD"), "take", "discard AS", "draw")
    line = engine.format_position(states, 0, POINTS)
    assert line.startswith(
        "rules points; first 0; indicator 3C; hand 0 5S 9S KS 2H 6H 7H TH 4D 8D QD 2C 7C JC; hand 1 AS 2S 3S 9S"
    )
    assert "; pile AS; drawn QD; seed " in line
    assert line.endswith("; log 0:7H/AS 1:draw")
    assert line.split("; stock ")[1].split(";")[0].endswith(" JD")


def test_parts_that_follow_from_the_others_may_be_left_out() -> None:
    states = engine.parse_position(f"indicator 3C; hand 0 {LOOSE}; hand 1 {COMPLETE}; pile 7H", POINTS)
    assert engine.check(states, 0, POINTS) == []
    assert int(states["stock_size"][0]) == 78
    assert int(states["current_player"][0]) == 0


def test_an_ending_is_settled_when_it_is_read() -> None:
    states = play(lay_out([COMPLETE, LOOSE], "7H", "3C", stock="QD"), "draw", "declare QD")
    line = engine.format_position(states, 0, POINTS)
    assert line.endswith("; log 0:draw/QD; ending declared")
    assert engine.returns(engine.parse_position(line, POINTS), 0).tolist() == [80, -80]


BASE = f"indicator 3C; hand 0 {LOOSE}; hand 1 {COMPLETE}; pile 7H"


@pytest.mark.parametrize(
    ("line", "error", "words"),
    [
        ("", InvalidNotation, "no indicator"),
        ("nonsense", InvalidNotation, "cannot read 'nonsense'"),
        (f"{BASE}; pile 8H", InvalidNotation, "stands twice"),
        (f"{BASE}; seed x", InvalidNotation, "cannot read a number"),
        (f"{BASE}; seed -1", InvalidNotation, "cannot read a number"),
        (f"{BASE}; first 2", InvalidNotation, "not seats of this table"),
        (f"{BASE}; ending won", InvalidNotation, "unknown ending 'won'"),
        (f"{BASE}; ending void", InvalidNotation, "by the log the deal is unfinished"),
        (f"{BASE}; ending declared", InvalidNotation, "by the log the deal is unfinished"),
        (f"{BASE}; log 0:pass", InvalidNotation, "cannot read 'pass'"),
        (f"{BASE}; log 7H", InvalidNotation, "as a turn"),
        (f"{BASE}; log 1:draw", InvalidNotation, "seat 0 is to move, not seat 1"),
        (f"{BASE}; log 0:drop 1:draw", InvalidNotation, "goes on after turn 1"),
        (f"{BASE}; log 0:QD/AS", InvalidHand, "open pile"),
        (f"{BASE}; log 0:draw", InvalidHand, "seat 0 holds 13 cards: it must hold 14"),
        (f"{BASE}; drawn AS", InvalidNotation, "while a turn is under way only"),
        (f"indicator 3C; hand 0 {LOOSE}; pile 7H", InvalidHand, "seat 1 holds 0 cards"),
        (f"{BASE}; stock 7H 7H 7H", InvalidHand, "lie about"),
        (BASE.replace("7H", "7H 8H"), InvalidHand, "closed cards"),
        (BASE.replace("7H", "KS KS"), InvalidHand, "4 of KS: the pack has 2"),
        (f"{BASE}; log {'0:draw/AS ' * 300}", InvalidNotation, "at most 252"),
        (f"{BASE}; first ²", InvalidNotation, "cannot read a number"),
        (f"{BASE}; first", InvalidNotation, "cannot read a number"),
        (f"{BASE}; first 300", InvalidNotation, "not seats of this table"),
        (f"{BASE}; seed 1_0", InvalidNotation, "cannot read a number"),
        (f"{BASE}; seed {2**64}", InvalidNotation, "cannot read a number"),
        (f"{BASE}; seed {'9' * 5000}", InvalidNotation, "cannot read a number"),
        (f"{BASE}; active 0 0 1", InvalidNotation, "not seats of this table"),
        (f"{BASE}; active", InvalidNotation, "not seats of this table"),
        (f"{BASE}; hand 7 AS AS", InvalidNotation, "'hand 7'"),
        (f"{BASE}; hand", InvalidNotation, "'hand' in"),
        (f"{BASE}; log ²:draw", InvalidNotation, "as a turn"),
        (f"{BASE}; log {'9' * 5000}:draw", InvalidNotation, "as a turn"),
        (f"{BASE}; log 0:draw/", InvalidNotation, "as a turn"),
        (f"{BASE}; log 0:drop/AS", InvalidNotation, "no card moves"),
        (f"{BASE}; log 0:announce", InvalidNotation, "hand_rummy=false"),
        (f"{BASE}; log 0:wrong", InvalidNotation, "wrong_declare=masked"),
        (BASE.replace("7H", "7H " * 170), InvalidHand, "170 open cards"),
        (BASE.replace("7H", "7H " * 300), InvalidHand, "300 open cards"),
    ],
)
def test_lines_that_no_game_could_reach_are_refused(line: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        engine.parse_position(line, POINTS)


@pytest.mark.parametrize(
    ("options", "log", "words"),
    [
        ("drop_allowed=false", "0:drop", "drop_allowed=false"),
        ("hand_rummy=true", "0:announce", "only a complete hand"),
        ("hand_rummy=true", "0:draw/AS 1:draw/3S 0:draw/KS 1:announce", "at the seat's first turn"),
        ("wrong_declare=allowed", "0:wrong", "follows the discard of its own seat"),
        ("wrong_declare=allowed", "0:draw/AS 1:wrong", "seat 0 is to move, not seat 1"),
        ("wrong_declare=allowed", "0:drop 1:wrong", "goes on after turn 1"),
        ("wrong_declare=allowed", "0:draw/AS 1:draw/9S 1:wrong", "the declaration was right"),
        ("open_joker=never", "0:3D/AS", "takes the wild card 3D: open_joker=never"),
        ("open_joker=first_turn", "0:draw/3D 1:3D/AS", "takes the wild card 3D: open_joker=first_turn"),
        ("open_joker=first_turn", "0:draw/AS 1:draw/9S 0:3D/AS", "takes the wild card 3D: open_joker=first_turn"),
    ],
)
def test_a_log_of_moves_that_the_table_forbids_is_refused(options: str, log: str, words: str) -> None:
    with pytest.raises(InvalidNotation, match=words):
        engine.parse_position(f"{BASE}; log {log}", parse_rules(f"points:{options}"))


@pytest.mark.parametrize("active", ["0", "1"])
def test_a_deal_with_one_active_seat_is_refused(active: str) -> None:
    line = f"first {active}; active {active}; indicator 3C; hand {active} {LOOSE}; pile 7H"
    for log in ("", "; log " + active + ":drop"):
        with pytest.raises(InvalidNotation, match="a deal needs two seats or more"):
            engine.parse_position(line + log, POINTS)


def test_a_hand_of_a_seat_that_is_not_active_is_refused() -> None:
    with pytest.raises(InvalidNotation, match="'hand 2' in"):
        engine.parse_position(f"{BASE}; active 0 1; hand 2 KD", parse_rules("points:num_players=3"))


def test_a_line_is_read_and_written_under_the_rules_of_its_table() -> None:
    states = engine.deal(POINTS, 5)
    with pytest.raises(InvalidRules):
        engine.format_position(states, 0, parse_rules("one_pack"))
    line = engine.format_position(states, 0, POINTS)
    for other in ("one_pack", "points:max_turns=100", "points:wrong_declare=allowed"):
        with pytest.raises(InvalidRules, match=f"a position of points, not of {other}"):
            engine.parse_position(line, parse_rules(other))
    with pytest.raises(InvalidRules, match="unknown preset 'bridge'"):
        engine.parse_position(line.replace("rules points", "rules bridge"), POINTS)
    named_otherwise = line.replace("rules points", "rules points:printed_jokers=2")
    assert engine.parse_position(named_otherwise, POINTS).tobytes() == states.tobytes()
    with pytest.raises(InvalidHand):
        engine.parse_position(line.removeprefix("rules points; "), parse_rules("one_pack"))
