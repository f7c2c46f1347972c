"""A person at the table in the terminal: what is shown, what may be typed, and what stays hidden."""

import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from paplu_env import engine
from paplu_env.bots import make_policy
from paplu_env.cards import JOKER_BIT, SUIT_SYMBOLS, format_card, parse_hand
from paplu_env.engine import player_view
from paplu_env.errors import PapluError
from paplu_env.render.words import ending_words, log_words, seat_names, shown_words
from paplu_env.rules import PRESETS, parse_rules, preset
from paplu_env.ui.play import HELP, play_deals
from paplu_env.ui.screen import Screen

RULES = parse_rules("points:drop_allowed=false")


def _play(answers: list[str], rules: str = "points", seed: int = 5, **options: object) -> tuple[str, list[int]]:
    """The whole output of a session in which these lines are typed, and its results."""
    stream = io.StringIO()
    lines: Iterator[str] = iter(answers)

    def ask(prompt: str) -> str:
        stream.write(prompt)
        try:
            return next(lines)
        except StopIteration:
            raise EOFError from None

    table = parse_rules(rules)
    results = play_deals(
        make_policy("medium", table), table, seed=seed, ask=ask, screen=Screen(stream, width=200), **options
    )
    return stream.getvalue(), results


def test_dropping_at_once_costs_20() -> None:
    shown, results = _play(["drop"])
    assert results == [-20]
    assert "drop (−20)" in shown
    assert "You have dropped. medium-1 wins: you -20, medium-1 +20 points." in shown


def test_a_turn_is_drawing_and_throwing_and_then_a_drop_costs_40() -> None:
    states = engine.deal(parse_rules("points"), 5)
    drawn = int(states["cards"][0, int(states["stock_size"][0]) - 1])
    shown, results = _play(["d", format_card(drawn), "x"])
    assert f"you drew {format_card(drawn)[0]}{SUIT_SYMBOLS[drawn // 13]}" in shown
    assert f"you draw a closed card and throw {format_card(drawn)}" in shown
    if "medium-1 drops" not in shown:
        assert results == [-40]


def test_mistyped_and_illegal_lines_change_nothing_and_say_why() -> None:
    shown, results = _play(["fly", "7H", "declare 7H", "help", "", "log", "?", "drop"])
    assert "cannot read" in shown
    assert "a card must be drawn first" in shown
    assert "take (t)" in shown
    assert "closer with" in shown
    assert results == [-20]


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_played_with_its_hand_laid_out_and_advice(name: str) -> None:
    rules = preset(name)
    states = engine.deal(rules, 5)
    drawn = int(states["cards"][0, int(states["stock_size"][0]) - 1])
    shown, results = _play(["?", "d", "?", format_card(drawn), "x"], rules=name)
    assert shown.count("your hand") >= 2
    assert shown.count("from complete;") >= 2
    assert "closer with" in shown
    assert shown.count("without ") == 5
    assert f"you draw a closed card and throw {format_card(drawn)}" in shown
    if "medium-1 drops" not in shown:
        assert results == [-rules.middle_drop]


@pytest.mark.parametrize(
    ("rules", "hand", "laid"),
    [
        ("tanala", "7S 7S 7S 3H 4H PJ 9S 9H 9D KS KH KD KC", "[7♠ 7♠ 7♠] [3♥ 4♥ PJ*]"),
        ("ten_card", "3S 4S 5S 9S 9H 9D KS KH KD KC", "[3♠ 4♠ 5♠] [K♠ K♥ K♦ K♣] [9♠ 9♥ 9♦]"),
        (
            "rummy_21",
            "2S 2S 4S 4S 6H 6H 8H 8H TD TD QD QD 3C 3C 5C 5C 7D 9H JS KH KC",
            "[2♠ 2♠] [4♠ 4♠] [6♥ 6♥] [8♥ 8♥] [T♦ T♦] [Q♦ Q♦] [3♣ 3♣] [5♣ 5♣]  J♠",
        ),
    ],
)
def test_the_groups_of_other_tables_are_shown_as_they_are_laid(rules: str, hand: str, laid: str) -> None:
    table = parse_rules(rules)
    views = player_view(engine.deal(table, 5), 0, 0)
    views["hand"][0] = parse_hand(hand)
    views["wild"][0] = JOKER_BIT
    stream = io.StringIO()
    Screen(stream, width=200).table(views[0], table, ["you", "medium-1"])
    assert laid in stream.getvalue()
    assert "0 cards from complete; 0 points" in stream.getvalue()


def test_leaving_the_table_counts_nothing() -> None:
    for answers in (["quit"], ["d", "q"], []):
        shown, results = _play(answers)
        assert results == []
        assert "You left the table" in shown


def test_advice_ranks_discards_while_a_card_is_to_be_thrown() -> None:
    shown, _ = _play(["d", "?", "quit"])
    assert shown.count("without ") == 5


def test_advice_says_what_the_bot_would_do_in_this_place_and_why() -> None:
    shown, _ = _play(["?", "d", "?", "quit"])
    assert shown.count("medium-1 would") == 2
    assert "chosen 100%" in shown
    assert " outs, the next takes it " in shown


def test_watching_plays_to_the_end_and_shows_the_hands_after_a_declaration() -> None:
    shown, results = _play([], rules="points:drop_allowed=false", is_watching=True, deals=2)
    assert len(results) == 2
    assert shown.count(" declare") >= 2
    assert "2 deals:" in shown


def test_no_card_of_the_opponent_is_shown_before_the_hands_lie_open() -> None:
    """Two worlds: with another hand opposite, the person reads the same text up to the opponent's first move."""
    rules = parse_rules("points")
    states = engine.deal(rules, 5)
    texts = []
    for key in range(3):
        world = engine.sample_world(player_view(states, 0, 0), key, rules) if key else states
        stream = io.StringIO()
        Screen(stream, width=200).table(player_view(world, 0, 0)[0], rules, ["you", "medium-1"])
        texts.append(stream.getvalue())
    assert not np.array_equal(engine.sample_world(player_view(states, 0, 0), 1, rules)["hands"], states["hands"])
    assert texts[0] == texts[1] == texts[2]


def test_a_saved_deal_is_a_record(tmp_path: Path) -> None:
    path = tmp_path / "deal.json"
    _play(["drop"], save=str(path))
    record = engine.load_record(path)
    assert record.seed == 5
    assert [engine.format_action(action) for action in record.actions] == ["drop"]


def test_a_record_that_could_not_be_written_is_refused_before_the_deal(tmp_path: Path) -> None:
    for path in (tmp_path / "missing" / "deal.json", tmp_path):
        with pytest.raises(PapluError, match=str(path)):
            play_deals(make_policy("medium", RULES), RULES, seed=5, save=str(path), ask=_never_asked)


def _never_asked(prompt: str) -> str:
    raise AssertionError(prompt)


def test_piped_answers_are_shown_after_their_prompts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("help\nx\n"))
    play_deals(make_policy("medium", parse_rules("points")), parse_rules("points"), seed=5)
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if " > " in line] == [
        "draw / take / drop (−20) > help",
        "draw / take / drop (−20) > x",
    ]


def test_the_words_and_the_advice_fit_a_narrow_terminal() -> None:
    assert max(map(len, HELP.splitlines())) <= 80
    stream = io.StringIO()
    states = engine.deal(RULES, 3)
    engine.apply_action(states, 0, engine.DRAW_CLOSED, RULES)
    Screen(stream, width=80).advice(player_view(states, 0, 0), RULES)
    assert len(stream.getvalue().splitlines()) == 5


def test_colours_follow_the_stream_and_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    states = engine.deal(RULES, 1)

    class Terminal(io.StringIO):
        encoding = "utf-8"

        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured, plain = Terminal(), Terminal()
    Screen(coloured, width=200).table(player_view(states, 0, 0)[0], RULES, ["you", "bot"])
    monkeypatch.setenv("NO_COLOR", "1")
    Screen(plain, width=200).table(player_view(states, 0, 0)[0], RULES, ["you", "bot"])
    assert "\x1b[1;31m" in coloured.getvalue()
    assert "31m" not in plain.getvalue()


def test_the_log_in_words_tells_every_turn_once_and_names_the_declaration() -> None:
    rules = RULES
    bot = make_policy("medium", rules)
    states = engine.deal(rules, 4)
    decision = 0
    while not engine.is_over(states, 0):
        seat = int(states["current_player"][0])
        mask = engine.legal_action_mask(states, 0, rules)[None]
        action = bot.act(player_view(states, 0, seat), mask, np.array([decision], dtype=np.uint64))
        engine.apply_action(states, 0, int(action[0]), rules)
        decision += 1
    view = player_view(states, 0, 1)[0]
    names = seat_names(2, 1, "medium-1")
    words = log_words(view, names)
    assert len(words) == int(view["log_size"])
    assert sum("declare" in sentence for sentence in words) == 1
    assert "declare" in words[-1]
    assert log_words(view, names, since=3) == words[3:]
    assert "declared" in ending_words(view, names)
    assert len(shown_words(view, names)) == 2


def test_seats_are_named_from_where_one_sits() -> None:
    assert seat_names(2, 0, "bot") == ["you", "bot"]
    assert seat_names(3, 1, "bot") == ["bot 0", "you", "bot 2"]
