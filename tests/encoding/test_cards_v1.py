"""What ``cards-v1`` says: one fact is changed at a time, and exactly the expected entries move."""

import numpy as np
import pytest

from paplu_env import encoding, engine
from paplu_env.cards import parse_card, parse_cards
from paplu_env.encoding.cards_v1 import RULE_ENTRIES
from paplu_env.engine.state import DROPPED_MIDDLE, NONE, WRONG_DECLARED, Views
from paplu_env.rules import as_rules
from tests.encoding.positions import dealt, play

CARDS = encoding.by_name("cards-v1")
FIRST_HAND = "AS 2S 3S 5H 6H 8H 9D TD QD 2C 4C 7C KC"
SECOND_HAND = "AS 4S 6S 8S 3H 7H JH 2D 4D 8D 9C TC JC"
START = dealt([FIRST_HAND, SECOND_HAND], "QS", "6D", stock="KH KD 5C 9H PJ")


def fields_of(views: Views, rules: str = "points") -> dict[str, np.ndarray]:
    """The observation of one view, by field and in its shape."""
    row = CARDS.encode(views, rules)[0]
    return {field.name: row[field.start : field.stop].reshape(field.shape) for field in CARDS.fields(rules)}


def said(actions: str = "", seat: int = 0, rules: str = "points") -> dict[str, np.ndarray]:
    """What a seat sees after actions from the start."""
    return fields_of(engine.player_view(play(START, actions, rules), 0, seat), rules)


def moved(before: Views, after: Views, rules: str = "points") -> dict[str, dict[tuple[int, ...], tuple[float, float]]]:
    """Entries that differ between two views, by field and index: (before, after)."""
    old, new = fields_of(before, rules), fields_of(after, rules)
    changes = {}
    for name, values in old.items():
        places = [tuple(map(int, place)) for place in np.argwhere(values != new[name])]
        if places:
            changes[name] = {place: (float(values[place]), float(new[name][place])) for place in places}
    return changes


def view(actions: str = "", seat: int = 0) -> Views:
    return engine.player_view(play(START, actions), 0, seat)


def cards_in(plane: np.ndarray) -> list[int]:
    return [int(face) for face in np.flatnonzero(plane)]


def faces(text: str) -> list[int]:
    return sorted(parse_cards(text))


def face(text: str) -> int:
    return parse_card(text)


def test_the_start_of_a_deal_says_what_lies_on_the_table() -> None:
    start = said()
    assert cards_in(start["hand"][0]) == faces(FIRST_HAND)
    assert not start["hand"][1].any()
    assert cards_in(start["wild"]) == faces("6S 6H 6D 6C PJ")
    assert cards_in(start["indicator"]) == [face("6D")]
    assert cards_in(start["open"]) == [face("QS")]
    assert not any(start[name].any() for name in ("drawn", "thrown", "held", "refused", "has_drawn", "owes"))
    assert start["phase"].tolist() == [1, 0, 0]
    assert start["turn"].tolist() == start["first"].tolist() == [1, 0]
    assert start["drop_cost"] == np.float32(20 / 80)
    assert start["stock"].tolist() == [np.float32(78 / 106), np.float32(1 / 79)]
    assert start["clock"].tolist() == [0, 1, 0]


def test_unseen_are_all_copies_but_those_in_hand_indicator_and_pile() -> None:
    unseen = said()["unseen"]
    seen = parse_cards(FIRST_HAND + " QS 6D")
    assert unseen.tolist() == [1 - seen.count(card) / 2 for card in range(53)]


def test_the_other_seat_sees_the_same_table_from_its_place() -> None:
    other = said(seat=1)
    assert cards_in(other["hand"][0]) == faces(SECOND_HAND)
    assert other["turn"].tolist() == other["first"].tolist() == [0, 1]


def test_a_second_copy_is_a_fact_of_its_own() -> None:
    before = view()
    after = before.copy()
    after["hand"][0, face("5H")] = 2
    assert moved(before, after) == {
        "hand": {(1, face("5H")): (0, 1)},
        "unseen": {(face("5H"),): (0.5, 0)},
    }


def test_printed_jokers_beyond_the_packs_are_counted_in_the_last_row() -> None:
    rules = "one_pack:printed_jokers=4"
    states = engine.deal(as_rules(rules), 1)
    views = engine.player_view(states, 0, 0)
    told = []
    for jokers in range(5):
        views["hand"][0, 52] = jokers
        told.append(float(fields_of(views, rules)["hand"][0, 52]))
    assert told == [0, 0.25, 0.5, 0.75, 1]


def test_a_joker_of_a_pack_short_of_jokers_fills_its_own_row() -> None:
    rules = "points:printed_jokers=1"
    views = engine.player_view(engine.deal(as_rules(rules), 1), 0, 0)
    views["hand"][0, 52] = 1
    assert fields_of(views, rules)["hand"][:, 52].tolist() == [1, 0]


def test_a_drawn_card_goes_to_the_hand_and_what_it_leaves_moves() -> None:
    changes = moved(view(), view("draw"))
    assert changes["hand"] == {(0, face("KH")): (0, 1)}
    assert changes["unseen"] == {(face("KH"),): (1, 0.5)}
    assert changes["drawn"] == {(face("KH"),): (0, 0.5)}
    assert changes["has_drawn"] == {(0,): (0, 1)}
    assert changes["drop_cost"] == {(0,): (0.25, 0.5)}
    assert changes["phase"] == {(0,): (1, 0), (1,): (0, 1)}
    assert set(changes) == {"hand", "unseen", "drawn", "has_drawn", "drop_cost", "phase", "stock", "clock"}


def test_a_card_drawn_by_another_seat_stays_hidden() -> None:
    changes = moved(view("draw", seat=1), view("", seat=1))
    assert set(changes) == {"refused", "has_drawn", "phase", "stock", "clock"}


def test_a_taken_card_is_known_to_all_and_may_not_go_back() -> None:
    own = moved(view(), view("take"))
    assert own["drawn"] == {(face("QS"),): (0, 1)}
    assert own["held"] == {(0, face("QS")): (0, 0.5)}
    assert own["open"] == {(face("QS"),): (1, 0)}
    assert own["hand"] == {(0, face("QS")): (0, 1)}
    assert "unseen" not in own
    other = moved(view(seat=1), view("take", seat=1))
    assert other["held"] == {(1, face("QS")): (0, 0.5)}
    assert "drawn" not in other
    assert "unseen" not in other


def test_a_taken_card_may_go_back_where_it_is_not_blocked() -> None:
    rules = "points:block_taken_card=false"
    states = dealt([FIRST_HAND, SECOND_HAND], "QS", "6D", rules=rules)
    after = fields_of(engine.player_view(play(states, "take", rules), 0, 0), rules)
    assert after["drawn"][face("QS")] == np.float32(0.5)


def test_a_refused_card_is_marked_for_the_seat_that_left_it() -> None:
    other = moved(view(seat=1), view("draw", seat=1))
    assert other["refused"] == {(0, face("QS")): (0, 1)}
    assert not said("draw")["refused"].any()


def test_taking_the_open_card_refuses_nothing() -> None:
    assert not said("take", seat=1)["refused"].any()
    assert not said("take, discard KC, take, discard JC", seat=1)["refused"].any()


def test_a_discard_is_marked_for_the_seat_that_threw_it() -> None:
    changes = moved(view("draw", seat=1), view("draw, discard KC", seat=1))
    assert changes["thrown"] == {(1, face("KC")): (0, 1)}
    assert changes["open"] == {(face("QS"),): (1, 0), (face("KC"),): (0, 1)}
    assert changes["unseen"] == {(face("KC"),): (1, 0.5)}
    assert changes["turn"] == {(0,): (0, 1), (1,): (1, 0)}
    assert set(changes) == {"thrown", "open", "unseen", "turn", "phase"}


def test_a_mark_grows_older_with_every_card_that_its_seat_throws() -> None:
    play_on = "draw, discard KC, draw, discard JC, draw, discard KH, draw, discard 9C"
    thrown, refused = said(play_on)["thrown"], said(play_on)["refused"]
    assert {card: float(thrown[0, card]) for card in cards_in(thrown[0])} == {face("KH"): 1, face("KC"): 0.75}
    assert {card: float(thrown[1, card]) for card in cards_in(thrown[1])} == {face("9C"): 1, face("JC"): 0.75}
    assert {card: float(refused[0, card]) for card in cards_in(refused[0])} == {face("KH"): 1, face("KC"): 0.75}
    later = said(play_on + ", draw, discard 5C")["thrown"]
    assert later[0, face("KC")] == np.float32(0.5 + 0.5 / 3)
    assert later[1, face("JC")] == 0.75


def test_a_face_thrown_twice_has_the_age_of_the_later_throw() -> None:
    states = dealt([FIRST_HAND.replace("AS", "KC"), SECOND_HAND], "QS", "6D")
    once = play(states, "draw, discard KC, draw, discard 9C")
    twice = play(once, "draw, discard KC")
    assert fields_of(engine.player_view(twice, 0, 0))["thrown"][0, face("KC")] == 1


def test_a_throw_is_remembered_when_the_card_is_taken() -> None:
    after = said("draw, discard KC, take, discard JC")
    assert after["thrown"][0, face("KC")] == 1
    assert after["held"][1, face("KC")] == 0.5
    assert after["unseen"][face("KC")] == 0.5


def test_a_taken_card_is_forgotten_when_it_is_thrown_again() -> None:
    after = said("draw, discard KC, take, discard JC, draw, discard KH, draw, discard KC")
    assert not after["held"].any()
    assert after["thrown"][1, face("KC")] == 1


def test_marks_do_not_change_while_a_seat_thinks() -> None:
    turn = "draw, discard KC, draw, discard JC"
    before, after = said(turn), said(turn + ", draw")
    assert before["thrown"].tolist() == after["thrown"].tolist()
    assert before["refused"].tolist() == after["refused"].tolist()


def test_a_new_wild_rank_moves_only_the_wild_faces() -> None:
    before = view()
    after = before.copy()
    after["wild"] = as_rules("points").wild_of(face("7D"))
    changes = moved(before, after)
    assert set(changes) == {"wild"}
    assert {card for (card,) in changes["wild"]} == set(faces("6S 6H 6D 6C 7S 7H 7D 7C"))


def test_another_indicator_of_the_same_rank_moves_the_indicator_and_what_is_unseen() -> None:
    other = engine.player_view(dealt([FIRST_HAND, SECOND_HAND], "QS", "6C", stock="KH KD 5C 9H PJ"), 0, 0)
    assert set(moved(view(), other)) == {"indicator", "unseen"}


def test_first_turn_and_later_turn_differ_with_the_same_hand() -> None:
    early = view()
    late = early.copy()
    late["drew"], late["draws"] = 1, 2
    assert set(moved(early, late)) == {"has_drawn", "drop_cost", "clock"}


def test_known_and_unknown_pick_up_differ() -> None:
    before = view("draw, discard KC")
    after = before.copy()
    after["known"][0, 1, face("7H")] = 1
    assert moved(before, after) == {
        "held": {(1, face("7H")): (0, 0.5)},
        "unseen": {(face("7H"),): (1, 0.5)},
    }


def test_who_has_the_first_turn_is_told() -> None:
    before = view()
    after = before.copy()
    after["first"] = 1
    assert moved(before, after) == {"first": {(0,): (1, 0), (1,): (0, 1)}}


def test_a_shorter_stock_moves_only_the_stock() -> None:
    before = view()
    after = before.copy()
    after["stock_size"] = 1
    assert moved(before, after) == {
        "stock": {
            (0,): (float(np.float32(78 / 106)), float(np.float32(1 / 106))),
            (1,): (float(np.float32(1 / 79)), 0.5),
        }
    }


def test_a_seat_that_is_out_owes_what_its_way_out_costs() -> None:
    rules = "points:num_players=4,wrong_declare=allowed,wrong_declare_points=100"
    before = engine.player_view(engine.deal(as_rules(rules), 3), 0, 1)
    after = before.copy()
    after["status"][0, 3] = DROPPED_MIDDLE
    after["status"][0, 0] = WRONG_DECLARED
    assert moved(before, after, rules) == {
        "in_play": {(2,): (1, 0), (3,): (1, 0)},
        "owes": {(2,): (0, float(np.float32(0.4))), (3,): (0, 1)},
    }


def test_a_hand_that_lies_open_is_seen() -> None:
    before = view("draw, discard KC")
    after = before.copy()
    for card in parse_cards(SECOND_HAND):
        after["shown"][0, 1, card] = 1
    changes = moved(before, after)
    assert set(changes) == {"held", "unseen"}
    assert {card for _, card in changes["held"]} == {card for (card,) in changes["unseen"]} == set(faces(SECOND_HAND))


@pytest.mark.parametrize("direction", ["clockwise", "anticlockwise"])
def test_relative_seat_one_plays_next_whichever_way_play_goes(direction: str) -> None:
    rules = as_rules(f"points:num_players=4,direction={direction}")
    states = engine.deal(rules, 11, first=2)
    for _ in range(4):
        mover = int(states["current_player"][0])
        after = engine.copy(states)
        engine.apply_action(after, 0, engine.DRAW_CLOSED, rules)
        discard = int(np.flatnonzero(after["hands"][0, mover])[0])
        engine.apply_action(after, 0, engine.DISCARD_BASE + discard, rules)
        seen = fields_of(engine.player_view(after, 0, mover), str(rules))
        assert seen["turn"].tolist() == [0, 1, 0, 0]
        assert seen["thrown"][0, discard] == 1
        states = after


def test_rules_that_forbid_drops_cost_nothing_to_drop() -> None:
    rules = "points:drop_allowed=false"
    assert fields_of(engine.player_view(engine.deal(as_rules(rules), 1), 0, 0), rules)["drop_cost"] == 0


def test_every_option_that_players_feel_has_an_entry() -> None:
    """The others are visible in fields of their own: what is wild, who is next, how many sit at the table."""
    felt = {name.split()[0].rstrip(",") for name, _ in RULE_ENTRIES}
    elsewhere = {
        "num_players",
        "printed_joker_indicator",
        "indicator_first",
        "wild_neighbours",
        "paplu_wild",
        "direction",
    }
    assert felt | elsewhere == set(as_rules("points").to_dict())
    assert not felt & elsewhere


def test_after_a_reshuffle_the_old_pile_is_unseen_and_refusals_start_anew() -> None:
    rules = as_rules("one_pack:stock_out=reshuffle_keep_top,drop_allowed=false")
    states = engine.deal(rules, 4)
    rng = np.random.default_rng(1)
    while int(states["reshuffles"][0]) == 0:
        mask = engine.legal_action_mask(states, 0, rules)
        mask[engine.DECLARE_BASE :] = False
        engine.apply_action(states, 0, int(rng.choice(np.flatnonzero(mask))), rules)
    mover = int(states["current_player"][0])
    views = engine.player_view(states, 0, mover)
    seen = fields_of(views, str(rules))
    known = views["hand"][0].astype(int) + views["known"][0, 1 - mover]
    known[[int(views["indicator"][0]), int(views["pile"][0, 0])]] += 1
    assert np.array_equal(seen["unseen"], 1 - known)
    assert int(views["pile"][0, 1]) == NONE
    assert not seen["refused"].any()
    assert seen["thrown"].any(axis=1).all()
    assert seen["clock"][2] == 0.5
