"""Dealing: from seeds and from given decks, in order, each card once, every card equally often."""

import json
from pathlib import Path
from random import Random

import numpy as np
import pytest

from paplu_env import engine
from paplu_env.cards import PRINTED_JOKER, parse_card, parse_cards
from paplu_env.errors import InvalidHand, InvalidRules
from paplu_env.rules import parse_rules
from tests.engine.golden import deck_of
from tests.engine.tables import POINTS, TABLES, cards_in_all_places, pile_of, stock_of

GOLDEN = json.loads((Path(__file__).parent / "data" / "golden_decks.json").read_text())["decks"]


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden["rules"])
def test_a_seed_gives_its_golden_deck(golden: dict[str, str]) -> None:
    rules, seed = parse_rules(golden["rules"]), int(golden["seed"])
    assert deck_of(golden["rules"], seed) == golden["deck"]
    dealt = engine.deal(rules, seed)
    given = engine.deal_from(rules, parse_cards(golden["deck"]), seed=seed)
    assert dealt.tobytes() == given.tobytes()


@pytest.mark.parametrize("text", ["points", "saha2025"])
def test_cards_go_round_one_at_a_time(text: str) -> None:
    rules = parse_rules(text)
    deck = parse_cards(deck_of("points", 7))
    assert PRINTED_JOKER not in (deck[0], deck[27])
    states = engine.deal_from(rules, deck, first=1)
    round_of_cards = deck[1:] if rules.indicator_first else deck
    indicator = deck[0] if rules.indicator_first else deck[27]
    for seat, faces in ((1, round_of_cards[0:26:2]), (0, round_of_cards[1:26:2])):
        assert states["hands"][0, seat].tolist() == np.bincount(faces, minlength=53).tolist()
    assert pile_of(states) == [round_of_cards[26]]
    assert int(states["indicator"][0]) == indicator
    assert stock_of(states)[::-1] == (round_of_cards[27:] if rules.indicator_first else deck[28:])


def test_cards_go_round_against_the_clock_and_past_seats_that_are_out() -> None:
    rules = parse_rules("pagat:num_players=4")
    deck = parse_cards(deck_of("pagat:num_players=4", 3))
    states = engine.deal_from(rules, deck, first=0, active=[0, 1, 3])
    for nth, seat in enumerate((0, 3, 1)):
        assert states["hands"][0, seat].tolist() == np.bincount(deck[nth:39:3], minlength=53).tolist()
    assert states["hands"][0, 2].sum() == 0
    assert int(states["stock_size"][0]) == 106 - 39 - 2


def test_two_players_leave_78_closed_cards() -> None:
    states = engine.deal(POINTS, 5)
    assert int(states["stock_size"][0]) == 78
    assert states["hands"][0].sum(axis=1).tolist() == [13, 13]


def _deck_with_jokers_at(*places: int) -> list[int]:
    rest = [face for face in range(52) for _ in range(2)]
    Random(4).shuffle(rest)
    for place in places:
        rest.insert(place, PRINTED_JOKER)
    return rest


def test_joker_as_indicator_makes_aces_wild_and_leaves_78_closed_cards() -> None:
    states = engine.deal_from(POINTS, _deck_with_jokers_at(27, 50))
    assert int(states["indicator"][0]) == PRINTED_JOKER
    assert int(states["wild"][0]) == POINTS.wild_of(PRINTED_JOKER) == sum(1 << f for f in (0, 13, 26, 39, 52))
    assert int(states["stock_size"][0]) == 78


def test_joker_as_indicator_leaves_only_its_twins_wild_under_twin() -> None:
    rules = parse_rules("points:printed_joker_indicator=twin")
    states = engine.deal_from(rules, _deck_with_jokers_at(27, 50))
    assert int(states["wild"][0]) == 1 << PRINTED_JOKER


@pytest.mark.parametrize(("text", "place"), [("saha2025", 0), ("points:printed_joker_indicator=redraw", 27)])
def test_redraw_takes_the_next_card_that_is_no_joker_and_leaves_the_jokers(text: str, place: int) -> None:
    deck = _deck_with_jokers_at(place, place + 1)
    states = engine.deal_from(parse_rules(text), deck)
    without = deck[: place + 2] + deck[place + 3 :]
    assert int(states["indicator"][0]) == deck[place + 2] != PRINTED_JOKER
    assert states["hands"][0, 0].tolist() == np.bincount(without[0:26:2], minlength=53).tolist()
    assert stock_of(states)[::-1] == without[27:]
    assert int(states["stock_size"][0]) == 78


@pytest.mark.parametrize("text", TABLES)
def test_every_card_is_dealt_once(text: str) -> None:
    rules = parse_rules(text)
    states = engine.deal_many(rules, np.arange(50, dtype=np.uint64))
    assert (cards_in_all_places(states) == [rules.copies(face) for face in range(53)]).all()


def test_a_batch_deals_what_single_deals_do_on_any_number_of_threads() -> None:
    seeds = np.array([0, 1, 2**63, 2**64 - 1, 77], dtype=np.uint64)
    firsts = [0, 1, 1, 0, 1]
    batch = engine.deal_many(POINTS, seeds, first=firsts)
    singles = [engine.deal(POINTS, int(seed), first=first) for seed, first in zip(seeds, firsts, strict=True)]
    assert batch.tobytes() == np.concatenate(singles).tobytes()
    assert engine.deal_many(POINTS, seeds, first=firsts, threads=2).tobytes() == batch.tobytes()


def test_a_deal_into_a_used_row_leaves_nothing_of_the_old_game() -> None:
    rules = parse_rules("online:num_players=4,num_decks=3,max_turns=250")
    states = engine.deal(rules, 3)
    for _ in range(400):
        mask = engine.legal_action_mask(states, 0, rules)
        engine.apply_action(states, 0, int(np.flatnonzero(mask & (np.arange(110) != engine.DROP))[-1]), rules)
        if engine.is_over(states, 0):
            break
    engine.deal_into(states, 0, rules, 9, first=2)
    assert states.tobytes() == engine.deal(rules, 9, first=2).tobytes()


def test_every_face_comes_everywhere_equally_often() -> None:
    deals = 20_000
    states = engine.deal_many(POINTS, np.arange(deals, dtype=np.uint64))
    copies = np.array([POINTS.copies(face) for face in range(53)])
    expected = deals * copies / 106
    # Chi-square with 52 degrees of freedom: 89.3 at p = 0.001.
    for faces in (states["cards"][:, 77], states["cards"][:, 0], states["indicator"], states["cards"][:, -1]):
        counts = np.bincount(faces, minlength=53)
        assert ((counts - expected) ** 2 / expected).sum() < 89.3
    for seat in (0, 1):
        counts = states["hands"][:, seat].astype(np.int64).sum(axis=0)
        # Thirteen cards without putting back: the variance is smaller than that of thirteen single places.
        variance = deals * 13 * copies / 106 * (1 - copies / 106) * (106 - 13) / 105
        assert ((counts - 13 * expected) ** 2 / variance).sum() * 52 / 53 < 89.3


def test_a_deck_must_be_the_whole_pack() -> None:
    deck = parse_cards(deck_of("points", 7))
    with pytest.raises(InvalidHand, match="a deck of 105 cards: the pack of this table has 106"):
        engine.deal_from(POINTS, deck[:-1])
    twice = [parse_card("7H") if face == parse_card("8H") else face for face in deck]
    with pytest.raises(InvalidHand, match="the deck holds 4 of 7H, the pack 2"):
        engine.deal_from(POINTS, twice)
    with pytest.raises(InvalidHand, match="there is no face 53"):
        engine.deal_from(POINTS, [53, *deck[1:]])


def test_seats_and_seeds_out_of_range_are_refused() -> None:
    rules = parse_rules("classic:num_players=4")
    for arguments in ({"first": 4}, {"first": 2, "active": [0, 1]}, {"active": [0]}, {"active": [0, 5]}):
        with pytest.raises(InvalidRules, match="seat"):
            engine.deal(rules, 1, **arguments)
    for seed in (-1, 2**64):
        with pytest.raises(InvalidRules, match="seed"):
            engine.deal(rules, seed)
        with pytest.raises(InvalidRules, match="seed"):
            engine.deal_many(rules, [seed])
