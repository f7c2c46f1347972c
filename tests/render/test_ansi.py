"""Views as text: what is shown, what is marked, and that nothing hidden is."""

from __future__ import annotations

import re

import numpy as np

from paplu_env import engine
from paplu_env.cards import format_card, parse_card, parse_hand
from paplu_env.engine.state import empty_views
from paplu_env.render.ansi import format_view
from paplu_env.rules import RuleSet, preset

POINTS = preset("points")


def _seen(rules: RuleSet, seed: int, seat: int, steps: int = 0) -> np.ndarray:
    """The view of a seat after some random moves."""
    states = engine.deal(rules, seed)
    generator = np.random.default_rng(seed)
    for _ in range(steps):
        legal = np.flatnonzero(engine.legal_action_mask(states, 0, rules))
        legal = legal[legal != engine.DROP]
        engine.apply_action(states, 0, int(generator.choice(legal)), rules)
    return engine.player_view(states, 0, seat)


def test_the_hand_is_sorted_by_suit_and_wild_cards_are_marked() -> None:
    views = _seen(POINTS, seed=1, seat=0)
    views["hand"][0] = parse_hand("KS 2S 7H 7D 3H PJ AS 9C 9C 8D QD TD JC")
    views["wild"][0] = sum(1 << parse_card(card) for card in ("7S", "7H", "7D", "7C", "PJ"))
    assert "your hand (13): AS 2S KS  3H 7H*  7D* 8D TD QD  9C 9C JC  PJ*" in format_view(views, POINTS)


def test_open_card_indicator_and_piles_are_told() -> None:
    views = _seen(POINTS, seed=1, seat=0)
    text = format_view(views, POINTS)
    assert f"indicator {format_card(int(views['indicator'][0]))}" in text
    assert f"open card {format_card(int(views['pile'][0, 0]))}" in text
    assert "open pile 1 · closed stock 78" in text
    assert "to move: you (draw)" in text
    assert "to move: seat 0" in format_view(_seen(POINTS, seed=1, seat=1), POINTS)


def test_what_an_opponent_took_and_holds_is_told() -> None:
    views = _seen(POINTS, seed=1, seat=0)
    views["known"][0, 1, parse_card("5H")] = 2
    assert re.search(r"seat 1: in, 0 draws, took and holds 5H\*? 5H", format_view(views, POINTS))


def test_no_card_of_another_hand_is_written_before_the_end() -> None:
    rules = preset("points", num_players=4)
    for seed in range(20):
        views = _seen(rules, seed, seat=1, steps=seed)
        hidden = views.copy()
        text = format_view(views, rules)
        line = next(line for line in text.splitlines() if line.startswith("seat 2"))
        told = re.findall(r"\b([A2-9TJQK][SHDC]|PJ)\b", line)
        assert len(told) == int(views["known"][0, 2].sum())
        np.testing.assert_array_equal(views, hidden)  # looking changes nothing


def test_turns_and_endings_are_told_in_words() -> None:
    states = engine.deal(POINTS, 1)
    engine.apply_action(states, 0, engine.DRAW_CLOSED, POINTS)
    assert "you drew" in format_view(engine.player_view(states, 0, 0), POINTS)
    discard = int(np.flatnonzero(engine.legal_action_mask(states, 0, POINTS))[0])
    engine.apply_action(states, 0, discard, POINTS)
    engine.apply_action(states, 0, engine.DROP, POINTS)
    text = format_view(engine.player_view(states, 0, 0), POINTS)
    assert f"you drew, threw {format_card(discard - engine.DISCARD_BASE)}; seat 1 dropped" in text
    assert "over (drop): you won, points by seat +20 -20" in text
    assert "seat 1: dropped first" in text
    assert "seat 0 won" in format_view(engine.player_view(states, 0, 1), POINTS)


def test_colour_is_asked_for_and_marks_red_suits_and_wild_cards() -> None:
    views = _seen(POINTS, seed=1, seat=0)
    plain, coloured = format_view(views, POINTS), format_view(views, POINTS, color=True)
    assert "\x1b" not in plain
    assert "\x1b[31m" in coloured
    assert re.sub(r"\x1b\[\d+m", "", coloured) == plain


def test_an_empty_hand_and_pile_are_shown_as_none() -> None:
    text = format_view(empty_views(POINTS, 1), POINTS)
    assert "open card none" in text
    assert "your hand (0): none" in text
