"""A seat that is told of a game by events knows just what our own engine would show it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random

import numpy as np
import pytest

from paplu_env import bots, engine
from paplu_env.bots.table import events as table_events
from paplu_env.bots.table.events import EVENTS, Event, events_after, opening_event
from paplu_env.cards import format_card, parse_cards
from paplu_env.engine.state import OVER, States, Views
from paplu_env.errors import IllegalAction, InvalidHand, InvalidNotation, PapluError
from paplu_env.evaluation.games import play_games
from paplu_env.rules import RuleSet, as_rules
from tests.engine.random_tables import likely_deck, random_rules, random_seats

TABLES = (
    "points",
    "saha2025:max_turns=60,drop_allowed=false",
    "one_pack",
    "points:stock_out=reshuffle_keep_top,num_decks=1,drop_allowed=false",
    "saha2025:num_decks=1,max_turns=90,drop_allowed=false",
    "classic:num_players=4",
    "pagat:num_players=5",
    "pagat:num_players=3,max_turns=9,turn_limit_result=lower_deadwood,paplu_bonus=held",
    "rummy_21:num_players=3",
)


def _views(states: States, rules: RuleSet) -> list[Views]:
    return [engine.player_view(states, 0, seat) for seat in range(rules.num_players)]


def _follow(states: States, rules: RuleSet, random: Random, seats: list[bots.Seat]) -> Iterator[list[Event]]:
    """Play a deal by chance and tell the seats; yields the latest event of every seat, after they saw it."""
    views = _views(states, rules)
    openings = [opening_event(view) for view in views]
    for seat in seats:
        seat.see(openings[seat.seat])
    yield openings
    while int(states["phase"][0]) != OVER:
        mask = engine.legal_action_mask(states, 0, rules)
        legal = np.flatnonzero(mask).tolist()
        quiet = [action for action in legal if action != engine.DROP and action < engine.DECLARE_BASE]
        right = [a for a in legal if a >= engine.DECLARE_BASE and int(states["declarable"][0]) >> a - 56 & 1]
        if right and random.random() < 0.8:
            action = random.choice(right)
        else:
            action = random.choice(legal if random.random() < 0.03 else quiet)
        engine.apply_action(states, 0, action, rules)
        after = _views(states, rules)
        told = [events_after(before, action, new) for before, new in zip(views, after, strict=True)]
        for seat in seats:
            for event in told[seat.seat]:
                seat.see(json.loads(json.dumps(event)))
        views = after
        yield [events[-1] for events in told]


def _check_equal(seat: bots.Seat, states: States) -> None:
    expected = engine.player_view(states, 0, seat.seat)
    found = seat.view
    differing = [name for name in found.dtype.names or () if found[name].tobytes() != expected[name].tobytes()]
    assert found.tobytes() == expected.tobytes(), differing
    is_to_move = int(states["current_player"][0]) == seat.seat
    assert seat.is_to_move == is_to_move
    if is_to_move:
        assert np.array_equal(seat.mask()[0], engine.legal_action_mask(states, 0, seat.rules))


@pytest.mark.parametrize("text", TABLES)
def test_a_seat_sees_what_the_engine_shows_it_byte_for_byte(text: str) -> None:
    rules = as_rules(text)
    seats = [bots.Seat("random", rules, seat) for seat in range(rules.num_players)]
    random = Random(text)
    for number in range(6):
        states = engine.deal(rules, number, first=number % rules.num_players)
        for _ in _follow(states, rules, random, seats):
            for seat in seats:
                _check_equal(seat, states)


def test_a_seat_follows_hands_that_are_finished_under_any_options() -> None:
    random, endings = Random(5), set()
    for _ in range(60):
        rules = random_rules(random)
        active = random_seats(rules, random)
        first = random.choice(active)
        deck = likely_deck(rules, active, first, random)
        if rules.printed_joker_indicator == "redraw" and 52 in (deck[0], deck[len(active) * rules.hand_size + 1]):
            continue  # the deck means another indicator than its place says
        states = engine.deal_from(rules, deck, first, active)
        seats = [bots.Seat("random", rules, seat) for seat in active]
        for _ in _follow(states, rules, random, seats):
            for seat in seats:
                _check_equal(seat, states)
        endings.add(int(states["ending"][0]))
    assert len(endings) >= 6, "of the seven endings most occur"


@pytest.mark.parametrize(
    ("name", "text"), [("random", "points"), ("easy", "classic:num_players=3"), ("outs", "one_pack")]
)
def test_a_seat_answers_as_the_same_bot_does_in_a_match(name: str, text: str) -> None:
    rules, seed = as_rules(text), 11
    policy = bots.make_policy(name, rules)
    chance = engine.chance.policy_seed_of(seed)
    seats = [bots.Seat(policy, rules, seat, seed=chance) for seat in range(rules.num_players)]
    for number in range(3):
        states = engine.deal_many(rules, engine.chance.match_deal_seeds(seed, number), number % rules.num_players)
        views = _views(states, rules)
        for seat, view in zip(seats, views, strict=True):
            seat.see(opening_event(view, number))
        while int(states["phase"][0]) != OVER:
            action = seats[int(states["current_player"][0])].decide()
            engine.apply_action(states, 0, action, rules)
            after = _views(states, rules)
            for seat, before, new in zip(seats, views, after, strict=True):
                for event in events_after(before, action, new):
                    seat.see(event)
            views = after
        (expected,) = play_games([policy] * rules.num_players, 1, seed, batch=8, start=number, luck=False)[:, 0]
        assert states["returns"][0, : rules.num_players].tolist() == expected["returns"].tolist()
        assert int(states["draws"][0]) == int(expected["turns"])


HAND = "4S 5S 6S 8H 9H TH 7C 7D 7H KS KH 2D 3C"
DEAL = {"type": "deal", "hand": HAND, "indicator": "5D", "open": "QC", "first": 0}
# Of 9H one copy is in the own hand and one in the pile, so a third does not exist.
THIRD = [DEAL, "draw 0 9H", "discard 0 9H", "draw 1"]
JOKER_THROWN = [DEAL, "draw 0 PJ", "discard 0 KS", "draw 1", "discard 1 PJ"]
OTHER_HAND = HAND.replace("9H", "PJ")
REFUSED = [
    ([], "no mapping", InvalidNotation, "a mapping is needed"),
    ([], {"type": "dance"}, InvalidNotation, "its type one of deal"),
    ([], "draw 0 QS", IllegalAction, "the first event is a deal"),
    ([], {**DEAL, "hand": "4S 5S"}, InvalidHand, "a hand has 13"),
    ([], {**DEAL, "hand": HAND.replace("KS", "QC").replace("KH", "QC")}, InvalidHand, "3 of QC"),
    ([], {**DEAL, "first": 2}, PapluError, "first=2"),
    ([], {**DEAL, "seat": 1}, InvalidNotation, "this is seat 0"),
    ([], {**DEAL, "active": [1]}, PapluError, r"active=\[1\]"),
    ([], {**DEAL, "number": -1}, InvalidNotation, "number -1"),
    ([], {"type": "deal", "hand": HAND, "indicator": "5D", "first": 0}, InvalidNotation, "open is missing"),
    ([], {**DEAL, "first": True}, InvalidNotation, "must be a whole number"),
    ([], {**DEAL, "colour": 3}, InvalidNotation, "no field 'colour'"),
    ([DEAL], "draw 1", IllegalAction, "seat 0 is to move"),
    ([DEAL], "draw 0", InvalidNotation, "which card this seat drew"),
    ([DEAL], "draw 0 5X", InvalidNotation, "5X"),
    ([DEAL], "discard 0 4S", IllegalAction, "must be drawn first"),
    ([DEAL], "take 0 KC", IllegalAction, "not the open card"),
    ([DEAL], "announce 0", IllegalAction, "not announced at this table"),
    ([DEAL], {"type": "reshuffle", "open": "KC"}, IllegalAction, "closed cards left"),
    ([DEAL], {"type": "end"}, IllegalAction, "the deal goes on"),
    ([DEAL, "take 0"], "discard 0 QC", IllegalAction, "very card just taken"),
    ([DEAL, "take 0"], "discard 0 AS", IllegalAction, "does not hold"),
    ([DEAL, "take 0"], "declare 0 4S", IllegalAction, "would not be complete"),
    ([DEAL, "drop 0"], "draw 1", IllegalAction, "the deal is over"),
    ([DEAL, "drop 0"], {"type": "end", "returns": [20, -20]}, IllegalAction, r"\[-20, 20\]"),
    ([DEAL, "drop 0"], {"type": "end", "ending": "void"}, IllegalAction, "by the rules points it is 'drop'"),
    ([DEAL, "drop 0"], {"type": "end", "hands": {"1": HAND}}, InvalidNotation, "hands of seats 1"),
    ([DEAL, "take 0", "discard 0 KS"], "draw 1 QS", InvalidNotation, "hidden"),
    (THIRD, "discard 1 9H", InvalidHand, "can't hold 1 of 9H: 0 can be there"),
    (THIRD[:-1] + ["take 1"], "discard 1 9H", IllegalAction, "very card just taken"),
    (THIRD, "declare 1 2S", InvalidNotation, "which hand"),
    (THIRD, {"type": "declare", "seat": 1, "card": "2S", "hand": OTHER_HAND}, IllegalAction, "would not be complete"),
    (THIRD, {"type": "declare", "seat": 1, "card": "2S", "hand": "2S 3S"}, InvalidHand, "a hand has 13"),
    (JOKER_THROWN, "draw 0 PJ", InvalidHand, "no PJ can be in the closed stock"),
]


def _event(words: str | Event) -> str | Event:
    """An event from short words, ``discard 0 KS``; anything else as it is."""
    if not isinstance(words, str) or not words.split()[1].isdigit():
        return words
    kind, seat, *card = words.split()
    return {"type": kind, "seat": int(seat), **({"card": card[0]} if card else {})}


@pytest.mark.parametrize(("before", "event", "error", "part"), REFUSED)
def test_what_cannot_have_happened_is_refused_and_changes_nothing(before, event, error, part) -> None:
    seat = bots.Seat("mindist", "points")
    for words in before:
        seat.see(_event(words))
    view = seat.view.tobytes() if before else None
    with pytest.raises(error, match=part):
        seat.see(_event(event))
    if before:
        assert seat.view.tobytes() == view
    else:
        seat.see(DEAL)


@pytest.mark.parametrize("text", ["points", "saha2025:num_decks=1,max_turns=60", "classic:num_players=3"])
def test_any_event_is_taken_in_whole_or_refused_whole(text: str) -> None:
    rules, random = as_rules(text), Random(text)
    refused = taken = 0
    for number in range(8):
        seat = bots.Seat("random", rules, number % rules.num_players)
        seat.see(opening_event(engine.player_view(engine.deal(rules, number), 0, seat.seat)))
        for _ in range(150):
            kind = random.choice(
                ("draw", "take", "discard", "discard", "discard", "declare", "reshuffle", "end", "drop")
            )
            event: Event = {"type": kind, "seat": random.randrange(rules.num_players)}
            if kind in ("discard", "declare") or (kind == "draw" and event["seat"] == seat.seat):
                event["card"] = format_card(random.randrange(53))
            if kind in ("reshuffle", "end"):
                event = {"type": kind, **({"open": "7H"} if kind == "reshuffle" else {})}
            before = None if seat._position is None else seat._position.view.tobytes()
            try:
                seat.see(event)
                taken += 1
            except PapluError:
                refused += 1
                assert seat._position is not None
                assert seat._position.view.tobytes() == before
            if seat.is_to_move:
                world = engine.sample_world(seat.view, 1, rules)  # its cards add up
                assert engine.check(world, 0, rules) == []
                assert seat.mask()[0, seat.decide()]
    assert refused > 100
    assert taken > 50


def test_a_seat_answers_only_in_turn() -> None:
    seat = bots.Seat("mindist", "points")
    with pytest.raises(IllegalAction, match="the first event is a deal"):
        seat.decide()
    seat.see({**DEAL, "first": 1})
    for ask in (seat.decide, seat.explain, seat.mask):
        with pytest.raises(IllegalAction, match="seat 1 is to move, not seat 0"):
            ask()


def test_a_seat_that_the_table_has_not_is_refused() -> None:
    with pytest.raises(PapluError, match=r"seats of this table are 0\.\.1"):
        bots.Seat("mindist", "points", seat=2)


def test_a_reshuffled_pile_is_told_before_the_deal_goes_on() -> None:
    rules = as_rules("saha2025:num_decks=1,drop_allowed=false,max_turns=90")
    states = engine.deal(rules, 3)
    seat = bots.Seat("random", rules)
    view = engine.player_view(states, 0, 0)
    seat.see(opening_event(view))
    while not int(states["reshuffles"][0]):
        mask = engine.legal_action_mask(states, 0, rules)
        action = engine.DRAW_CLOSED if mask[engine.DRAW_CLOSED] else int(np.flatnonzero(mask)[0])
        engine.apply_action(states, 0, action, rules)
        after = engine.player_view(states, 0, 0)
        for event in events_after(view, action, after):
            if event["type"] == "reshuffle":
                for ask in (
                    lambda: seat.see({"type": "draw", "seat": 0, "card": "2S"}),
                    seat.decide,
                    lambda: seat.view,
                ):
                    with pytest.raises(IllegalAction, match="the next event is a reshuffle"):
                        ask()
                held = format_card(int(np.flatnonzero(after["hand"][0])[0]))
                with pytest.raises(InvalidHand, match="did not lie in the pile"):
                    seat.see({"type": "reshuffle", "open": held})
            seat.see(event)
        view = after
    assert seat.view.tobytes() == view.tobytes()


def test_hands_that_lie_open_are_zeros_until_the_end_tells_them() -> None:
    rules = as_rules("points:num_players=3")
    complete = "4S 5S 6S 8H 9H TH JH 7C 7D 7H KS KH KD"
    states = engine.deal_from(rules, _deck_for(complete, rules))
    seat = bots.Seat("mindist", rules)
    view = engine.player_view(states, 0, 0)
    seat.see(opening_event(view))
    for action in (engine.DRAW_CLOSED, engine.DECLARE_BASE):
        if action == engine.DECLARE_BASE:
            action += int(states["drawn"][0])
        engine.apply_action(states, 0, action, rules)
        after = engine.player_view(states, 0, 0)
        events = events_after(view, action, after)
        seat.see(events[0])
        view = after
    assert not seat.view["shown"][0, 1:].any()
    assert not seat.view["returns"].any()
    end = events[-1]
    with pytest.raises(InvalidNotation, match="are of seats 1, 2"):
        seat.see({"type": "end"})
    with pytest.raises(IllegalAction, match="by the rules points:num_players=3 it is"):
        seat.see({**end, "returns": [1, 2, -3]})
    with pytest.raises(InvalidHand, match="seat 1 can't hold"):
        seat.see({**end, "hands": {**end["hands"], "1": complete}})
    seat.see(end)
    assert seat.view.tobytes() == view.tobytes()


def _deck_for(hand: str, rules: RuleSet) -> list[int]:
    """A deck that deals the first seat this hand."""
    own = parse_cards(hand)
    left = [face for face in range(53) for _ in range(rules.copies(face))]
    for face in own:
        left.remove(face)
    dealt = [card for face in own for card in (face, left.pop(), left.pop())]
    return [*dealt, *left[::-1]]


def test_every_type_of_event_is_described() -> None:
    assert all(f"``{kind}``" in (table_events.__doc__ or "") for kind in EVENTS)
