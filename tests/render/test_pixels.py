"""The table as a picture: what is drawn follows from the view alone, and hidden cards are backs."""

from __future__ import annotations

import numpy as np
import pytest

from paplu_env import engine
from paplu_env.cards import NUM_FACES, parse_card
from paplu_env.engine.state import Views
from paplu_env.render import glyphs
from paplu_env.render.canvas import Canvas, text_width
from paplu_env.render.cards import CARD_HEIGHT, CARD_WIDTH, card_back, card_face
from paplu_env.render.pixels import HEIGHT, WIDTH, draw_view
from paplu_env.rules import RuleSet, as_rules, preset

POINTS = preset("points")


def _seen(rules: RuleSet = POINTS, seed: int = 1, seat: int = 0) -> Views:
    return engine.player_view(engine.deal(rules, seed), 0, seat)


def _places_of(picture: np.ndarray, card: np.ndarray) -> int:
    """How often a card lies open to its full height, by its left part, which others do not cover."""
    part = card[10 : CARD_HEIGHT - 10, 6:14].astype(int)
    height, width = part.shape[:2]
    pixels = picture.astype(int)
    top_rows = np.lib.stride_tricks.sliding_window_view(pixels, width, axis=1)
    candidates = np.argwhere((np.abs(top_rows - part[0].T) <= 1).all(axis=(2, 3)))
    return sum(
        bool((np.abs(pixels[y : y + height, x : x + width] - part) <= 1).all())
        for y, x in candidates
        if y + height <= len(pixels)
    )


def test_every_card_has_a_picture_of_its_own_and_wild_ones_another() -> None:
    pictures = {card_face(face, is_wild).tobytes() for face in range(NUM_FACES) for is_wild in (False, True)}
    assert len(pictures) == 2 * NUM_FACES
    assert card_back().shape == card_face(0, False).shape == (CARD_HEIGHT, CARD_WIDTH, 3)
    assert card_back().tobytes() not in pictures


def test_red_suits_are_red_and_black_ones_black() -> None:
    for card, is_red in (("7S", False), ("7H", True), ("7D", True), ("7C", False)):
        picture = card_face(parse_card(card), False).astype(int)
        reddest = (picture[..., 0] - picture[..., 1]).max()
        assert (reddest > 100) == is_red


def test_the_picture_is_of_the_promised_size_and_the_same_every_time() -> None:
    picture = draw_view(_seen(), POINTS)
    assert picture.shape == (HEIGHT, WIDTH, 3)
    assert picture.dtype == np.uint8
    assert WIDTH % 2 == HEIGHT % 2 == 0
    assert picture.tobytes() == draw_view(_seen(), POINTS).tobytes()


def test_the_opponents_cards_are_backs_until_they_are_known() -> None:
    views = _seen()
    assert _places_of(draw_view(views, POINTS)[:200], card_back()) == 13
    views["known"][0, 1, parse_card("7H")] = 1
    picture = draw_view(views, POINTS)[:200]
    assert _places_of(picture, card_back()) == 12
    is_wild = bool(int(views["wild"][0]) >> parse_card("7H") & 1)
    assert _places_of(picture, card_face(parse_card("7H"), is_wild)) == 1


def test_the_picture_stays_as_it_is_when_hidden_cards_are_dealt_anew() -> None:
    states = engine.deal(POINTS, 1)
    engine.apply_action(states, 0, engine.DRAW_CLOSED, POINTS)
    views = engine.player_view(states, 0, 1)
    world = engine.sample_world(views, 5, POINTS)
    assert world["hands"].tobytes() != states["hands"].tobytes()
    again = engine.player_view(world, 0, 1)
    assert draw_view(views, POINTS).tobytes() == draw_view(again, POINTS).tobytes()


def test_a_changed_fact_changes_the_picture() -> None:
    before = draw_view(_seen(), POINTS)
    for name, value in (("stock_size", 5), ("indicator", 3), ("draws", 0), ("phase", 1)):
        views = _seen()
        views[name] = value
        assert (draw_view(views, POINTS).tobytes() != before.tobytes()) == (name != "draws")


@pytest.mark.parametrize(
    "rules", ["points", "pagat:num_players=10", "rummy_21", "one_pack", "ten_card", "classic:num_players=4"]
)
def test_every_table_is_drawn_to_its_end(rules: str) -> None:
    table = as_rules(rules)
    states = engine.deal(table, 3)
    rng = np.random.default_rng(0)
    pictures = set()
    for step in range(1000):
        mask = engine.legal_action_mask(states, 0, table)
        if step < 4 or not mask.any():
            pictures.add(draw_view(engine.player_view(states, 0, 0), table).tobytes())
        if not mask.any():
            break
        mask[engine.DROP] &= mask.sum() == 1 or rng.random() < 0.1
        engine.apply_action(states, 0, int(rng.choice(np.flatnonzero(mask))), table)
    assert len(pictures) >= 4


def test_letters_differ_and_unknown_ones_are_blank() -> None:
    known = "ABCDEFGHIJKLMNPQRSTUVWXYZ123456789"
    assert len({glyphs.letter(character, 20, 2.5).tobytes() for character in known}) == len(known)
    assert not glyphs.letter("?", 20, 2.5).any()
    assert glyphs.letter("a", 20, 2.5) is not None
    np.testing.assert_array_equal(glyphs.letter("a", 20, 2.5), glyphs.letter("A", 20, 2.5))


def test_suits_and_star_fill_their_squares_without_leaving_them() -> None:
    for mask in (*(glyphs.suit(number, 40) for number in range(4)), glyphs.star(40)):
        assert mask.shape == (40, 40)
        assert 0 <= mask.min() <= mask.max() <= 1
        assert 0.2 < mask.mean() < 0.8
        # Alike on both sides of the upright axis, as every suit is.
        np.testing.assert_allclose(mask, mask[:, ::-1], atol=0.05)


def test_what_lies_outside_the_canvas_is_cut_off() -> None:
    canvas = Canvas(20, 10, (0, 0, 0))
    canvas.box(-5, -5, 10, 10, (255, 255, 255))
    canvas.box(30, 30, 5, 5, (255, 255, 255))
    canvas.paste(15, 5, card_back(), np.ones((CARD_HEIGHT, CARD_WIDTH), dtype=np.float32))
    image = canvas.image()
    assert (image[:5, :5] == 255).all()
    np.testing.assert_array_equal(image[5:, 15:], card_back()[:5, :5])
    assert not image[5:, :15].any()


def test_the_width_of_a_line_is_known_before_it_is_drawn() -> None:
    canvas = Canvas(400, 30, (0, 0, 0))
    assert canvas.text(0, 5, "draws a closed card", 12, (255, 255, 255)) == text_width("draws a closed card", 12)
    assert canvas.image().any()
