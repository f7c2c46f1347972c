"""``paplu bot``: through a pipe a bot plays as it does at our own engine, and bad lines change nothing."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paplu_env import __version__, bots, engine
from paplu_env.bots.policy import Actions, Keys, Masks, Policy
from paplu_env.bots.search.agent import SearchAgent
from paplu_env.bots.table.events import Event, events_after, opening_event
from paplu_env.bots.table.protocol import MESSAGES, PROTOCOL, Conversation
from paplu_env.cli import bot as command
from paplu_env.engine.chance import match_deal_seeds
from paplu_env.engine.state import OVER
from paplu_env.errors import InvalidNotation, PapluError
from paplu_env.evaluation.games import Decisions, play_games
from paplu_env.rules import as_rules

ROOT = Path(__file__).resolve().parents[3]
HELLO = {"type": "hello", "protocol": PROTOCOL}
HAND = "4S 5S 6S 8H 9H TH 7C 7D 7H KS KH 2D 3C"
DEAL = {"type": "deal", "seat": 0, "hand": HAND, "indicator": "5D", "open": "QC", "first": 0}
Ask = Callable[[Event], dict[str, Any]]


def _talk(bot: str = "mindist", *messages: Event) -> Ask:
    talk = Conversation(bot)
    ask = lambda message: talk.answer(json.dumps(message))  # noqa: E731 - the other end of a pipe
    for message in messages:
        assert ask(message)["type"] in ("hello", "ok")
    return ask


@contextlib.contextmanager
def _pipe(*arguments: str) -> Iterator[Ask]:
    """A bot in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-m", "paplu_env.cli.main", "bot", *arguments],
        cwd=ROOT,
        env={**os.environ, "PAPLU_QUIET": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None

    def ask(message: Event) -> dict[str, Any]:
        process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    try:
        yield ask
        assert ask({"type": "quit"}) == {"type": "bye"}
        assert process.wait(timeout=60) == 0
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(("name", "text"), [("easy", "points"), ("random", "classic:num_players=3")])
def test_a_match_through_the_pipe_has_the_actions_of_a_match_at_our_engine(name: str, text: str) -> None:
    rules, seed, deals = as_rules(text), 5, 4
    inside = bots.make_policy(name, rules)
    played: list[Decisions] = []
    policies = [inside] * rules.num_players
    play_games(
        policies,
        deals,
        seed,
        batch=64,
        record=lambda _, decisions: played.append(decisions),
        luck=False,
        policy_seed=seed,
    )
    (match,) = played
    with _pipe(name, "--rules", text, "--seed", str(seed)) as ask:
        hello = ask(HELLO)
        assert (hello["type"], hello["rules"], hello["bot"]) == ("hello", text, inside.name)
        for number in range(deals):
            for place in range(rules.num_players):
                expected = match.actions[(match.deals == number) & (match.rotations == place)]
                assert _play_piped(ask, inside, number, place, seed) == expected.tolist()


def _play_piped(ask: Ask, inside: Policy, number: int, place: int, seed: int) -> list[int]:
    """A deal in which one seat is played through the pipe and the others at our engine; all actions."""
    rules = inside.rules
    states = engine.deal_many(rules, match_deal_seeds(seed, number), number % rules.num_players)
    seats = [bots.Seat(inside, rules, seat, seed) for seat in range(rules.num_players)]
    views = [engine.player_view(states, 0, seat) for seat in range(rules.num_players)]
    for seat, view in zip(seats, views, strict=True):
        seat.see(opening_event(view, number))
    assert ask(opening_event(views[place], number)) == {"type": "ok"}
    actions: list[int] = []
    while int(states["phase"][0]) != OVER:
        mover = int(states["current_player"][0])
        if mover == place:
            answer = ask({"type": "decide"})
            assert engine.parse_action(answer["action"]) == answer["id"]
            action = int(answer["id"])
        else:
            action = seats[mover].decide()
        engine.apply_action(states, 0, action, rules)
        actions.append(action)
        after = [engine.player_view(states, 0, seat) for seat in range(rules.num_players)]
        for seat, before, new in zip(seats, views, after, strict=True):
            for event in events_after(before, action, new):
                seat.see(event)
                if seat.seat == place:
                    assert ask(event) == {"type": "ok"}
        views = after
    return actions


def test_the_hello_says_who_plays_what() -> None:
    answer = _talk("mindist_opp")({**HELLO, "rules": "one_pack", "seed": 3})
    assert answer == {
        "type": "hello",
        "protocol": PROTOCOL,
        "bot": "mindist_opp",
        "version": __version__,
        "rules": "one_pack",
        "rules_hash": as_rules("one_pack").hash,
        "seats": 2,
        "encoding": None,
        "takes_budget": False,
    }


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("", "the line is not JSON"),
        ("[}", "the line is not JSON"),
        (b"\xff\xfe", "the line is not JSON (not UTF-8"),
        ("[" * 50_000, "nested too deeply"),
        ("1" * 5_000, "a number of 5000 digits"),
        ('{"type": "decide", "type": "quit"}', "has the key 'type' twice"),
        (json.dumps({**DEAL, "hand": "4S " * 3_000_000}), "a line of over 65,536 bytes"),
        (json.dumps({**DEAL, "hand": "4S " * 3_000}), "hand has 9,000 characters"),
        (json.dumps({**DEAL, "number": 10**25}), "whole number of 84 bits"),
        (json.dumps({**DEAL, "active": [[0]] * 1000}), "active has 1,000 entries"),
        ('{"type": "decide", "milliseconds": 1' + "0" * 400 + "}", "a number of 401 digits"),
        ('{"type": "decide", "milliseconds": 1e400}', "the number 1e400, which is out of range"),
        ('{"type": "decide", "milliseconds": 1e300}', "milliseconds=1e+300: must be above 0 and at most"),
        ('{"type": "decide", "milliseconds": -0.0}', "milliseconds=-0.0: must be above 0"),
        ('{"type": "decide", "milliseconds": NaN}', "NaN is not JSON"),
        ("[]", "a mapping is needed"),
        ('{"type": []}', "a mapping is needed"),
        ('{"type": "dance"}', "its type one of hello, deal"),
        ('{"type": "decide", "explain": 1}', "explain is 1, and must be true or false"),
        ('{"type": "hello", "protocol": "paplu-bot 0"}', "speaks 'paplu-bot 1', not 'paplu-bot 0'"),
        ('{"type": "hello", "protocol": "paplu-bot 1", "rules": "pontoon"}', "pontoon"),
        ('{"type": "hello", "protocol": "paplu-bot 1", "seed": -1}', "seed=-1"),
        (json.dumps({**DEAL, "seat": 2}), r"seats of this table are 0..1"),
        (json.dumps({key: value for key, value in DEAL.items() if key != "seat"}), "seat is missing"),
        (json.dumps({**DEAL, "hand": "4S"}), "a hand has 13"),
        (json.dumps({"type": "draw", "seat": 1}), "seat 0 is to move"),
    ],
)
def test_a_bad_line_gets_an_error_with_the_reason_and_changes_nothing(line: str | bytes, part: str) -> None:
    talk = Conversation("mindist")
    for message in (HELLO, DEAL):
        talk.answer(json.dumps(message))
    answer = talk.answer(line)
    assert answer["type"] == "error"
    assert answer["error"] in {error.__name__ for error in PapluError.__subclasses__()} | {"PapluError"}
    assert part in answer["reason"]
    assert talk.answer('{"type": "decide"}')["action"] == "draw"


def test_nothing_is_answered_before_the_hello() -> None:
    for message in (DEAL, {"type": "decide"}):
        assert "the first line is a hello" in _talk()(message)["reason"]
    assert "no deal has been seen yet" in _talk("mindist", HELLO)({"type": "decide"})["reason"]


def test_a_bot_may_sit_elsewhere_in_the_next_deal() -> None:
    ask = _talk("mindist", HELLO, DEAL, {**DEAL, "seat": 1, "first": 1})
    assert ask({"type": "decide"})["type"] == "action"
    assert ask({"type": "draw", "seat": 1, "card": "KD"}) == {"type": "ok"}
    assert ask({"type": "draw", "seat": 0})["error"] == "IllegalAction"


def test_deals_are_counted_whatever_the_seat() -> None:
    deals = [{**DEAL, "seat": seat, "first": seat} for seat in (0, 1, 1, 0)] * 8
    counted, numbered = _talk("random", HELLO), _talk("random", HELLO)
    answers = []
    for number, deal in enumerate(deals):
        assert (counted(deal), numbered({**deal, "number": number})) == ({"type": "ok"}, {"type": "ok"})
        answers.append(counted({"type": "decide"}))
        assert answers[-1] == numbered({"type": "decide"})
    assert len({answer["id"] for answer in answers}) > 1


def test_a_decision_is_explained_on_demand() -> None:
    answer = _talk("outs", HELLO, DEAL)({"type": "decide", "explain": True})
    best, *others = answer["candidates"]
    assert best["action"] == answer["action"]
    assert best["probability"] == 1.0
    assert {candidate["action"] for candidate in (best, *others)} == {"draw", "take", "drop"}
    assert set(best) == {"action", "probability", "value", "error", "distance", "outs", "risk"}


def test_a_search_keeps_to_the_worlds_that_it_is_given() -> None:
    ask = _talk("search", HELLO, DEAL)
    few, again = ask({"type": "decide", "worlds": 2}), ask({"type": "decide", "worlds": 2})
    assert few == again
    search = bots.make_policy("search")
    states = engine.deal(search.rules, 1)
    engine.apply_action(states, 0, engine.DRAW_CLOSED, search.rules)
    position = engine.player_view(states, 0, 0), engine.legal_action_masks(states, search.rules)
    assert search.within(worlds=2).compare(*position, np.zeros(1, dtype=np.uint64))[0].worlds.max() == 2
    assert search.within() is search
    assert ask({"type": "decide", "milliseconds": 1})["type"] == "action"
    assert "worlds=0" in ask({"type": "decide", "worlds": 0})["reason"]
    assert "milliseconds=0" in ask({"type": "decide", "milliseconds": 0})["reason"]


def test_the_help_names_every_message() -> None:
    assert all(f'"type": "{kind}"' in command.EXAMPLES for kind in MESSAGES)


def test_a_host_that_goes_away_ends_the_bot() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "paplu_env.cli.main", "bot", "random"],
        cwd=ROOT,
        input=f"\n{json.dumps(HELLO)}\n",
        env={**os.environ, "PAPLU_QUIET": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr, len(ended.stdout.splitlines())) == (0, "", 1)


def test_a_bot_that_does_not_exist_is_refused_before_the_first_line() -> None:
    with pytest.raises(PapluError, match="there is no bot 'nobody'"):
        Conversation("nobody")


def test_a_fault_inside_a_bot_is_an_error_line_and_the_seat_lives_on() -> None:
    class Faulty(Policy):
        is_broken = False

        def _choose(self, views: engine.Views, masks: Masks, keys: Keys) -> Actions:
            if self.is_broken:
                raise ZeroDivisionError("x" * 100_000)
            return masks.argmax(axis=1)

    bot = Faulty("faulty", "points")
    talk = Conversation(bot)
    for message in (HELLO, DEAL):
        talk.answer(json.dumps(message))
    bot.is_broken = True
    answer = talk.answer('{"type": "decide"}')
    assert (answer["type"], answer["error"]) == ("error", "ZeroDivisionError")
    assert len(answer["reason"]) <= 1001
    bot.is_broken = False
    assert talk.answer('{"type": "decide"}')["action"] == "draw"


@pytest.mark.parametrize("bot", ["mindist", "search-8"])
@pytest.mark.parametrize("milliseconds", [float("nan"), float("inf"), 10**400, 0, -1, "5"])
def test_a_budget_is_a_finite_number_whoever_is_asked(bot: str, milliseconds: Any) -> None:
    seat = bots.Seat(bot)
    seat.see(DEAL)
    with pytest.raises(PapluError, match="milliseconds="):
        seat.decide(milliseconds=milliseconds)
    with pytest.raises(PapluError, match="milliseconds="):
        seat.policy.within(milliseconds=milliseconds)
    with pytest.raises(PapluError, match="worlds="):
        seat.explain(worlds=1.5)  # type: ignore[arg-type]


def test_a_text_in_an_event_is_refused_by_its_length_before_anybody_reads_it() -> None:
    seat = bots.Seat("mindist")
    with pytest.raises(InvalidNotation, match="hand has 9,000,000 characters") as refused:
        seat.see({**DEAL, "hand": "4S " * 3_000_000})
    assert len(str(refused.value)) < 200
    with pytest.raises(InvalidNotation, match="a whole number of 16610 bits"):
        seat.see({**DEAL, "number": 10**5000})


@pytest.mark.parametrize("command", ["bot random", "play easy"])
def test_a_command_whose_standard_input_is_closed_ends_without_a_traceback(command: str) -> None:
    ended = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m paplu_env.cli.main {command} <&-"],
        cwd=ROOT,
        env={**os.environ, "PAPLU_QUIET": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_line_that_is_too_long_gets_one_reply_and_the_next_line_its_own() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "paplu_env.cli.main", "bot", "random"],
        cwd=ROOT,
        input=f"{'[' * 10_000_000}\n\n{json.dumps({'type': 'quit'})}\n",
        env={**os.environ, "PAPLU_QUIET": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    replies = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [reply["type"] for reply in replies] == ["error", "bye"]
    assert "a line of over 65,536 bytes" in replies[0]["reason"]
    assert ended.stderr == ""


def test_a_decision_by_the_clock_and_its_reasons_come_from_one_search(monkeypatch: pytest.MonkeyPatch) -> None:
    searches: list[Policy] = []
    compare = SearchAgent.compare
    monkeypatch.setattr(SearchAgent, "compare", lambda self, *given: (searches.append(self), compare(self, *given))[1])
    hand = "6S 8S 9S 4H AD 2D 6D 8D 4C 5C 7C 9C PJ"
    ask = _talk("search", HELLO, {**DEAL, "hand": hand, "indicator": "4D", "open": "5C"})
    assert ask({"type": "draw", "seat": 0, "card": "3H"}) == {"type": "ok"}
    searches.clear()
    for milliseconds in (1, 5, 20, 20, 20):
        answer = ask({"type": "decide", "milliseconds": milliseconds, "explain": True})
        (chosen,) = [each for each in answer["candidates"] if each["probability"] == 1.0]
        assert chosen["action"] == answer["action"]
    assert len(searches) == 5


def test_the_time_that_an_explanation_takes_is_taken_off_that_of_the_search() -> None:
    search = bots.make_policy("search").within(milliseconds=100)
    assert search._with_less_time(0.03).milliseconds == pytest.approx(70)
    assert search._with_less_time(0.3).milliseconds == 0
    by_worlds = bots.make_policy("search")
    assert by_worlds._with_less_time(1) is by_worlds


@pytest.mark.parametrize("bot", ["random", "mindist", "outs", "search-8", "points-2"])
def test_a_decision_and_its_reasons_are_those_that_are_given_apart(bot: str) -> None:
    seat = bots.Seat(bot, seed=3)
    for number in range(3):
        seat.see({**DEAL, "number": number})
        assert seat.decide_and_explain() == (seat.decide(), seat.explain())
