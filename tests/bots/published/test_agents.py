"""Each row of the published agents' table on hand-written positions: drop, pick, throw, ties, declarations."""

from __future__ import annotations

import numpy as np
import pytest

from paplu_env import engine
from paplu_env.bots import make_policy
from paplu_env.bots.published.kernels import RELATED
from paplu_env.cards import parse_card
from paplu_env.errors import IllegalAction, PapluError, PolicyMismatch
from paplu_env.rules import as_rules
from tests.bots.tables import answer, answers, lay_out, play

# Tens are wild throughout (the indicator is a ten), and no hand holds one unless it says so.
INDICATOR = "TC"

# Both lives, two pairs, three cards of no use: distance 3, and left over are J, Q and 5.
TWO_PAIRS = "2S 3S 4S 6H 7H 8H 9D 9C KD KC JS QH 5D"
# Both lives, a pair of twos, five loose cards. Points: 2 + 2 + 9 + 5 + three of 10 = 48.
LOW_PAIR = "2S 3S 4S 6H 7H 8H 2D 2C KD 9S QC JH 5D"
# Hardly two cards go together: 94 points, a distance over 5.
NOTHING = "AS 4S 7S JS 2H 5H 8H QH 3D 6D 9D KD AC"
THINKERS = ("minscore", "mindist", "mindist_minscore", "mindist_opp")
SEEKERS = ("mindist", "mindist_minscore", "mindist_opp")


@pytest.mark.parametrize(("open_card", "action"), [("7D", "take"), ("8D", "draw")])
def test_minscore_takes_the_open_card_for_three_points_and_not_for_two(open_card, action):
    # A ten-point card would go for it: 48 - 10 + 7 = 45, 48 - 10 + 8 = 46.
    assert answer("minscore", lay_out(LOW_PAIR, open_card, INDICATOR)) == action


def test_minscore_takes_the_open_card_for_a_complete_hand_whatever_it_saves():
    # One point short: without the open ace of clubs two twos of hearts and diamonds cost 4, less than 3 is saved.
    hand = "2S 3S 4S 6H 7H 8H JD QD KD AD 5C 5D 2H"
    assert answer("minscore", lay_out(hand, "5S", INDICATOR)) == "take"


def test_minscore_with_a_complete_hand_does_not_take_a_card_it_could_not_throw_back():
    complete = "2S 3S 4S 6H 7H 8H 9D 9C 9S KD KC KH KS"
    assert answer("minscore", lay_out(complete, "5D", INDICATOR)) == "draw"
    assert answer("minscore", lay_out(complete, "5S", INDICATOR)) == "take"  # the run grows, a king can go


def test_minscore_throws_the_highest_value_left_over_card_of_the_lowest_face_when_points_fall():
    states = play(lay_out(LOW_PAIR, "8D", INDICATOR, stock="3D"), "draw")
    assert answer("minscore", states) == "discard JH"  # J, Q and K count ten each


def test_minscore_throws_the_drawn_card_when_points_do_not_fall():
    states = play(lay_out(LOW_PAIR, "8D", INDICATOR, stock="KH"), "draw")
    assert answer("minscore", states) == "discard KH"


def test_minscore_throws_a_left_over_card_after_taking_the_open_one():
    states = play(lay_out(LOW_PAIR, "7D", INDICATOR), "take")
    assert answer("minscore", states) == "discard JH"


def test_minscore_is_blind_above_the_cap():
    states = play(
        lay_out(NOTHING, "8D", INDICATOR, stock="2H", rules="points:drop_allowed=false"),
        "draw",
        rules="points:drop_allowed=false",
    )
    assert answer("minscore", states, "points:drop_allowed=false") == "discard 2H"


def test_minscore_drops_at_the_cap_and_not_below():
    assert answer("minscore", lay_out(NOTHING, "8D", INDICATOR)) == "drop"
    assert answer("minscore", lay_out("AS KS JS AH QH 9H AD KD 2D AC 3C 2C 5S", "8D", INDICATOR)) == "drop"
    # 10 + 10 + 10 + 10 + 10 + 9 + 2 + 2 + 3 + 5 + 4 + 2 + 2 = 79
    assert answer("minscore", lay_out("AS KS JS AH QH 9H 2D 2C 3C 5S 4D 2H 2S", "8D", INDICATOR)) != "drop"


@pytest.mark.parametrize("name", SEEKERS)
def test_seekers_drop_at_distance_five_and_not_at_four(name):
    # A pure run and a pair stand; the others are strangers.
    assert answer(name, lay_out("2S 3S 4S 6H 7H 9D 9C KD KC JS QH 5D AD", "8D", INDICATOR)) != "drop"
    assert answer(name, lay_out(NOTHING, "8D", INDICATOR)) == "drop"


@pytest.mark.parametrize("name", THINKERS)
def test_thinkers_drop_at_their_own_first_turn_only(name):
    states = lay_out(NOTHING, "8D", INDICATOR, stock="8D 8C 8H", other="AS")
    play(states, "draw", "discard 8D", "draw", "discard AS")
    assert "drop" in _legal(states)
    assert answer(name, states) != "drop"


@pytest.mark.parametrize("name", THINKERS)
def test_thinkers_do_not_drop_where_drops_are_off(name):
    rules = "points:drop_allowed=false"
    assert answer(name, lay_out(NOTHING, "8D", INDICATOR, rules=rules), rules) != "drop"


@pytest.mark.parametrize("name", SEEKERS)
@pytest.mark.parametrize(("open_card", "action"), [("9S", "take"), ("5S", "take"), ("7D", "draw"), ("9D", "draw")])
def test_seekers_take_the_open_card_if_the_distance_falls(name, open_card, action):
    assert answer(name, lay_out(TWO_PAIRS, open_card, INDICATOR)) == action


@pytest.mark.parametrize(("name", "thrown"), [("mindist", "JS"), ("mindist_minscore", "5D"), ("mindist_opp", "5D")])
def test_seekers_throw_the_highest_value_or_the_cheapest_left_over_card_when_the_distance_falls(name, thrown):
    drew = play(lay_out(TWO_PAIRS, "7D", INDICATOR, stock="9S"), "draw")
    took = play(lay_out(TWO_PAIRS, "9S", INDICATOR), "take")
    assert answer(name, drew) == answer(name, took) == f"discard {thrown}"


def test_mindist_throws_the_drawn_card_when_the_distance_stays():
    states = play(lay_out(TWO_PAIRS, "7D", INDICATOR, stock="4C"), "draw")
    assert answer("mindist", states) == "discard 4C"


def test_mindist_minscore_lowers_the_points_when_the_distance_stays():
    # Any ten-point card outside the runs would do; of J, Q and the kings the jack has the lowest face.
    states = play(lay_out(TWO_PAIRS, "7D", INDICATOR, stock="4C"), "draw")
    assert answer("mindist_minscore", states) == "discard JS"


def test_mindist_minscore_throws_the_drawn_card_when_no_discard_lowers_the_points():
    # With the cap reached before and after every discard nothing can fall.
    rules = "points:drop_allowed=false"
    states = play(lay_out(NOTHING, "8D", INDICATOR, stock="KD", rules=rules), "draw", rules=rules)
    assert answer("mindist_minscore", states, rules) == "discard KD"


def test_mindist_opp_throws_the_highest_value_left_over_card_when_nothing_is_known():
    states = play(lay_out(TWO_PAIRS, "7D", INDICATOR, stock="4C"), "draw")
    assert answer("mindist_opp", states) == "discard JS"  # not the drawn four


def test_mindist_opp_holds_back_what_is_related_to_a_card_that_the_other_took():
    states = lay_out(TWO_PAIRS, "JD", INDICATOR, stock="4C", other="7C", first=1)
    play(states, "take", "discard 7C", "draw")
    assert answer("mindist_opp", states) == "discard QH"


def test_mindist_opp_throws_what_is_related_to_a_card_that_the_other_threw_though_it_took_one_too():
    states = lay_out(TWO_PAIRS, "JD", INDICATOR, stock="4C", other="JC", first=1)
    play(states, "take", "discard JC", "draw")
    assert answer("mindist_opp", states) == "discard JS"


@pytest.mark.parametrize(("drawn", "thrown"), [("4C", "4C"), ("5D", "JS")])
def test_mindist_opp_throws_a_cheap_safe_card_and_without_one_the_highest_value(drawn, thrown):
    # Taken were a queen of spades, neighbour of the jack and of the other queen's rank, and a five.
    states = lay_out(TWO_PAIRS, "QS", INDICATOR, stock=f"5S {drawn}", other="7C 2D", first=1)
    play(states, "take", "discard 7C", "draw", "discard 5S", "take", "discard 2D", "draw")
    assert answer("mindist_opp", states) == f"discard {thrown}"


def test_mindist_opp_remembers_a_card_that_was_taken_and_thrown_again():
    states = lay_out(TWO_PAIRS, "JD", INDICATOR, stock="4C 4C", other="7C", first=1)
    play(states, "take", "discard 7C", "draw", "discard 4C", "draw", "discard JD", "draw")
    assert answer("mindist_opp", states) == "discard JS"  # thrown counts more than taken


def test_related_cards_are_those_of_the_published_numbering():
    def related(one: str, other: str) -> bool:
        answers = [int(RELATED[parse_card(a)]) >> parse_card(b) & 1 for a, b in ((one, other), (other, one))]
        assert answers[0] == answers[1]
        return bool(answers[0])

    assert related("7H", "7C")
    assert related("7H", "7H")
    assert related("7H", "8H")
    assert not related("7H", "8C")
    assert not related("7H", "9H")
    assert related("KH", "AH")
    assert not related("AH", "2H")
    for one, other in (("AD", "2C"), ("AC", "2H"), ("AH", "2S"), ("AS", "PJ")):
        assert related(one, other), "the numbering runs on from one suit to the next, and to the joker"
    assert not related("2D", "PJ")
    assert related("PJ", "PJ")


@pytest.mark.parametrize("name", [*THINKERS, "random", "easy-1", "medium-1"])
def test_every_agent_declares_as_soon_as_it_can(name):
    hand = "2S 3S 4S 6H 7H 8H 9D 9C 9S KD KC KH 5D"
    states = play(lay_out(hand, "7D", INDICATOR, stock="KS"), "draw")
    assert answer(name, states) == "declare 5D"


def test_the_finish_card_is_the_highest_value_of_the_lowest_face():
    complete = "2S 3S 4S 6H 7H 8H 9D 9C 9S KD KC KH KS"
    states = play(lay_out(complete, "7D", INDICATOR, stock="5S"), "draw")
    assert answer("mindist", states) == "declare KS"


def test_a_taken_card_is_not_thrown_back_but_its_twin_is():
    for key in range(200):
        states = play(lay_out(TWO_PAIRS, "AH", INDICATOR), "take")
        assert answer("random", states, key=key) != "discard AH"
    twin = play(lay_out(TWO_PAIRS, "JS", INDICATOR), "take")
    thrown = [answer("random", twin, key=key) for key in range(400)]
    assert "discard JS" in thrown
    # One of the two jacks is blocked: thirteen cards can go, each as often as any other.
    assert thrown.count("discard JS") < 60


def test_random_drops_one_turn_in_three_takes_one_in_two_and_throws_any_card():
    rules = as_rules("points")
    states = np.repeat(lay_out(TWO_PAIRS, "7D", INDICATOR, stock="5D"), 6000)
    said = answers("random", states)
    shares = np.bincount(said, minlength=3) / len(said)
    assert shares[engine.DROP] == pytest.approx(1 / 3, abs=0.03)
    assert shares[engine.TAKE_OPEN] == pytest.approx(1 / 3, abs=0.03)
    engine.apply_actions(states, np.full(6000, engine.DRAW_CLOSED), rules)
    thrown = np.bincount(answers("random", states) - engine.DISCARD_BASE, minlength=53)
    assert thrown[parse_card("5D")] / 6000 == pytest.approx(2 / 14, abs=0.03)
    assert thrown[parse_card("2S")] / 6000 == pytest.approx(1 / 14, abs=0.03)
    assert np.count_nonzero(thrown) == 13


def test_the_easy_tier_sometimes_looks_away_but_throws_no_wild_card_and_never_drops():
    states = np.repeat(lay_out(NOTHING, "8D", INDICATOR), 400)
    assert engine.DROP not in answers("easy-1", states)
    states = np.repeat(lay_out(TWO_PAIRS, "9S", INDICATOR, stock="TH"), 2000)
    assert np.mean(answers("easy-1", states) == engine.TAKE_OPEN) == pytest.approx(3 / 4, abs=0.05)
    engine.apply_actions(states, np.full(2000, engine.DRAW_CLOSED), as_rules("points"))
    said = answers("easy-1", states)
    careful = answers("mindist", states[:1])[0]
    assert np.mean(said == careful) == pytest.approx(3 / 4 + 1 / 4 / 13, abs=0.05)
    assert engine.DISCARD_BASE + parse_card("TH") not in said


def test_a_policy_of_other_rules_is_refused():
    states = lay_out(TWO_PAIRS, "7D", INDICATOR)
    policy = make_policy("mindist", "points:drop_allowed=false")
    with pytest.raises(PolicyMismatch, match="drop_allowed=false"):
        policy.act(
            engine.player_views(states, [0]),
            engine.legal_action_masks(states, as_rules("points")),
            np.zeros(1, dtype=np.uint64),
        )


def test_a_policy_is_not_asked_when_its_seat_is_not_to_move():
    states = lay_out(TWO_PAIRS, "7D", INDICATOR)
    idle = np.zeros((1, engine.NUM_ACTIONS), dtype=bool)
    with pytest.raises(IllegalAction, match="isn't to move"):
        make_policy("mindist").act(engine.player_views(states, [1]), idle, np.zeros(1, dtype=np.uint64))


def test_arrays_of_other_shapes_are_refused():
    states = lay_out(TWO_PAIRS, "7D", INDICATOR)
    views, masks = engine.player_views(states, [0]), engine.legal_action_masks(states, as_rules("points"))
    with pytest.raises(PapluError, match=r"\(1, 110\)"):
        make_policy("mindist").act(views, masks[:, :50], np.zeros(1, dtype=np.uint64))


def _legal(states) -> list[str]:
    return [
        engine.format_action(int(a)) for a in np.flatnonzero(engine.legal_action_masks(states, as_rules("points"))[0])
    ]
