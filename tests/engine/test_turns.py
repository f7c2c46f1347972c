"""What may be done in a turn and what it does: RULES.md 1.4, 1.5, 1.12, 1.13 and the settled questions, RULES.md 2."""

import numpy as np
import pytest

from paplu_env import engine
from paplu_env.cards import counts_of, format_card, parse_card, parse_cards
from paplu_env.engine.state import ENDING_NAMES, LOG_NOTHING, LOG_WRONG, STATUS_NAMES, States
from paplu_env.rules import parse_rules
from tests.engine.tables import COMPLETE, LOOSE, POINTS, draw_and_throw_back, lay_out, legal, pile_of, play, stock_of

THREE = "3C"


def known(states: States, seat: int, card: str) -> int:
    return int(states["known"][0, seat, parse_card(card)])


def ending(states: States) -> str:
    return ENDING_NAMES[int(states["ending"][0])]


# Drops


def test_first_drop_costs_20() -> None:
    states = play(lay_out([LOOSE], "7H", THREE), "drop")
    assert (ending(states), engine.returns(states, 0).tolist()) == ("drop", [-20, 20])
    assert (int(states["winner"][0]), int(states["finisher"][0])) == (1, 0)


def test_first_drop_costs_20_though_the_others_have_drawn() -> None:
    states = play(lay_out([LOOSE], "7H", THREE), "draw", "discard AS", "drop")
    assert engine.returns(states, 0).tolist() == [20, -20]


def test_later_drop_costs_40() -> None:
    states = draw_and_throw_back(lay_out([LOOSE], "7H", THREE), until_closed=76)
    play(states, "drop")
    assert (ending(states), engine.returns(states, 0).tolist()) == ("drop", [-40, 40])


def test_drop_is_offered_before_drawing_only() -> None:
    states = lay_out([LOOSE], "7H", THREE)
    assert legal(states) == ["draw", "take", "drop"]
    play(states, "draw")
    assert "drop" not in legal(states)


def test_drop_is_never_offered_without_the_option() -> None:
    rules = parse_rules("points:drop_allowed=false")
    states = lay_out([LOOSE], "7H", THREE, rules=rules)
    assert legal(states, rules) == ["draw", "take"]
    assert "drop_allowed=false" in engine.why_illegal(states, 0, engine.DROP, rules)


# The taken card


def test_taken_card_may_not_go_back_in_the_same_turn() -> None:
    states = play(lay_out([LOOSE], "7H", THREE), "take")
    assert "discard 7H" not in legal(states)
    assert "the very card just taken" in engine.why_illegal(states, 0, engine.parse_action("discard 7H"), POINTS)


def test_taken_card_may_go_back_a_turn_later() -> None:
    states = play(lay_out([LOOSE], "7H", THREE), "take", "discard AS", "draw", "discard drawn", "draw")
    assert "discard 7H" in legal(states)


def test_twin_of_the_taken_card_may_go_back() -> None:
    states = play(lay_out([LOOSE.replace("JC", "7H")], "7H", THREE), "take")
    assert "discard 7H" in legal(states)
    play(states, "discard 7H")
    assert pile_of(states) == parse_cards("7H")


def test_taken_card_may_go_back_without_the_option() -> None:
    rules = parse_rules("points:block_taken_card=false")
    states = play(lay_out([LOOSE], "7H", THREE, rules=rules), "take", rules=rules)
    assert "discard 7H" in legal(states, rules)


def test_taken_card_is_no_finish_card_but_its_twin_is() -> None:
    states = play(lay_out([COMPLETE], "QD", THREE), "take")
    assert "declare QD" not in legal(states)
    assert "the very card just taken" in engine.why_illegal(states, 0, engine.parse_action("declare QD"), POINTS)
    # The fourth king belongs to no group that needs it: twin of the taken king, it may finish.
    states = play(lay_out([COMPLETE], "KH", THREE), "take")
    assert "declare KH" in legal(states)


# Known pick-ups


def test_taking_a_card_makes_it_known_and_throwing_another_leaves_it_so() -> None:
    states = play(lay_out([LOOSE], "7H", THREE), "take")
    assert known(states, 0, "7H") == 1
    play(states, "discard AS")
    assert known(states, 0, "7H") == 1
    assert states["known"].sum() == 1


def test_throwing_a_known_card_later_ends_the_knowledge() -> None:
    states = play(lay_out([LOOSE], "7H", THREE), "take", "discard AS", "draw", "discard drawn", "draw", "discard 7H")
    assert known(states, 0, "7H") == 0


def test_a_copy_thrown_later_counts_as_the_known_one() -> None:
    states = play(
        lay_out([LOOSE.replace("JC", "7H")], "7H", THREE),
        "take",
        "discard AS",
        "draw",
        "discard drawn",
        "draw",
        "discard 7H",
    )
    assert states["hands"][0, 0, parse_card("7H")] == 1
    assert known(states, 0, "7H") == 0


def test_throwing_the_dealt_twin_in_the_turn_of_taking_leaves_the_taken_copy_known() -> None:
    states = play(lay_out([LOOSE.replace("JC", "7H")], "7H", THREE), "take", "discard 7H")
    assert known(states, 0, "7H") == 1


def test_throwing_the_taken_card_itself_without_the_block_ends_the_knowledge() -> None:
    rules = parse_rules("points:block_taken_card=false")
    states = play(lay_out([LOOSE], "7H", THREE, rules=rules), "take", "discard 7H", rules=rules)
    assert known(states, 0, "7H") == 0


def test_both_copies_taken_and_one_thrown_back_leave_one_known() -> None:
    states = lay_out([LOOSE, "7H"], "7H", THREE)
    play(states, "take", "discard AS", "draw", "discard 7H", "take")
    assert known(states, 0, "7H") == 2
    play(states, "discard 7H")
    assert known(states, 0, "7H") == 1
    assert states["hands"][0, 0, parse_card("7H")] == 1


def test_drawing_from_the_stock_makes_nothing_known() -> None:
    states = draw_and_throw_back(lay_out([LOOSE], "7H", THREE), until_closed=60)
    assert states["known"].sum() == 0


# Wild cards in the open pile


@pytest.mark.parametrize("card", ["PJ", "3H"])
@pytest.mark.parametrize(
    ("option", "turned_up", "later"), [("any", True, True), ("first_turn", True, False), ("never", False, False)]
)
def test_open_joker_says_who_may_take_a_wild_card(card: str, option: str, turned_up: bool, later: bool) -> None:
    rules = parse_rules(f"points:open_joker={option}")
    states = lay_out([LOOSE, card], card, THREE, rules=rules)
    assert ("take" in legal(states, rules)) == turned_up
    play(states, "draw", "discard any", "draw", f"discard {card}", rules=rules)
    assert ("take" in legal(states, rules)) == later


def test_a_turned_up_wild_card_is_the_first_players_alone() -> None:
    rules = parse_rules("points:open_joker=first_turn,num_players=3")
    states = lay_out([LOOSE], "PJ", THREE, rules=rules)
    assert "take" in legal(states, rules)
    play(states, "drop", rules=rules)
    assert "take" not in legal(states, rules)
    assert "open_joker=first_turn" in engine.why_illegal(states, 0, engine.TAKE_OPEN, rules)


def test_open_joker_leaves_other_cards_alone() -> None:
    rules = parse_rules("points:open_joker=never")
    assert "take" in legal(lay_out([LOOSE], "7H", THREE, rules=rules), rules)


# The last closed card


def test_last_closed_card_and_a_discard_make_the_deal_void() -> None:
    states = draw_and_throw_back(lay_out([LOOSE], "7H", THREE), until_closed=1)
    assert legal(states) == ["draw", "take", "drop"]
    draw_and_throw_back(states)
    assert (ending(states), engine.returns(states, 0).tolist()) == ("void", [0, 0])
    assert (int(states["winner"][0]), int(states["current_player"][0]), legal(states)) == (-1, -1, [])


def test_the_drawer_of_the_last_closed_card_may_declare() -> None:
    # Seat 1 draws the 78th card; its hand waits for any card at all.
    states = draw_and_throw_back(lay_out([LOOSE, COMPLETE], "7H", THREE), until_closed=1)
    play(states, "draw", "declare drawn")
    assert ending(states) == "declared"
    assert engine.returns(states, 0).tolist() == [-80, 80]


def test_taking_the_open_card_puts_off_the_void() -> None:
    states = draw_and_throw_back(lay_out([LOOSE], "7H", THREE), until_closed=1)
    play(states, "take")
    play(states, "discard any")
    assert (ending(states), int(states["stock_size"][0])) == ("unfinished", 1)


# The limit of turns


def test_max_turns_cuts_the_deal_after_the_discard() -> None:
    rules = parse_rules("points:max_turns=3")
    states = lay_out([LOOSE], "7H", THREE, rules=rules)
    draw_and_throw_back(states, rules, until_closed=76)
    play(states, "draw", rules=rules)
    assert ending(states) == "unfinished"
    play(states, "discard drawn", rules=rules)
    assert (ending(states), engine.returns(states, 0).tolist(), int(states["winner"][0])) == ("truncated", [0, 0], -1)


def test_a_declaration_in_the_last_turn_counts() -> None:
    rules = parse_rules("points:max_turns=1")
    states = play(lay_out([COMPLETE], "7H", THREE, rules=rules), "draw", rules=rules)
    play(states, "declare drawn", rules=rules)
    assert ending(states) == "declared"


def test_void_comes_before_the_limit() -> None:
    rules = parse_rules("points:max_turns=78")
    states = draw_and_throw_back(lay_out([LOOSE], "7H", THREE, rules=rules), rules)
    assert int(states["draws"][0]) == 78
    assert ending(states) == "void"


def test_the_limit_comes_before_a_reshuffle() -> None:
    rules = parse_rules("online:max_turns=78")
    states = draw_and_throw_back(lay_out([LOOSE], "7H", THREE, rules=rules), rules)
    assert (ending(states), int(states["reshuffles"][0])) == ("truncated", 0)


def test_drops_are_no_turns() -> None:
    rules = parse_rules("points:max_turns=2,num_players=3")
    states = play(lay_out([LOOSE], "7H", THREE, rules=rules), "drop", rules=rules)
    assert int(states["draws"][0]) == 0
    draw_and_throw_back(states, rules, until_closed=106 - 39 - 2 - 2)
    assert ending(states) == "truncated"


# Reshuffles


@pytest.mark.parametrize("option", ["reshuffle_keep_top", "reshuffle_all"])
def test_the_pile_becomes_the_stock(option: str) -> None:
    rules = parse_rules(f"points:stock_out={option},drop_allowed=false")
    states = lay_out([LOOSE], "7H", THREE, rules=rules)
    draw_and_throw_back(states, rules, until_closed=1)
    play(states, "draw", rules=rules)
    before = [*pile_of(states), int(states["drawn"][0])]
    play(states, "discard drawn", rules=rules)
    assert (int(states["stock_size"][0]), int(states["pile_size"][0])) == (78, 1)
    assert sorted(stock_of(states) + pile_of(states)) == sorted(before)
    assert stock_of(states) != before[:-1]
    assert (pile_of(states) == before[-1:]) == (option == "reshuffle_keep_top")
    assert (int(states["reshuffles"][0]), int(states["pile_log"][0])) == (1, 78)
    assert int(states["current_player"][0]) == 0
    assert engine.player_view(states, 0, 0)["pile"][0, 1] == 255


def test_a_reshuffle_follows_from_the_seed_of_the_deal() -> None:
    rules = parse_rules("saha2025:drop_allowed=false")
    stocks = [stock_of(draw_and_throw_back(engine.deal(rules, seed), rules, until_closed=1)) for seed in (1, 1, 2)]
    again = []
    for seed in (1, 1, 2):
        states = draw_and_throw_back(engine.deal(rules, seed), rules, until_closed=1)
        play(states, "draw", "discard drawn", rules=rules)
        again.append(stock_of(states))
    assert stocks[0] == stocks[1] != stocks[2]
    assert again[0] == again[1] != again[2]


def test_cards_taken_before_a_reshuffle_stay_known() -> None:
    rules = parse_rules("saha2025:drop_allowed=false,printed_joker_indicator=aces,indicator_first=false")
    states = play(lay_out([LOOSE], "7H", THREE, rules=rules), "take", "discard AS", rules=rules)
    draw_and_throw_back(states, rules, until_closed=1)
    play(states, "draw", "discard drawn", rules=rules)
    assert int(states["reshuffles"][0]) == 1
    assert known(states, 0, "7H") == 1


# Declarations


def test_declare_is_offered_exactly_for_the_finish_cards() -> None:
    states = play(lay_out([COMPLETE], "7H", THREE, stock="KH"), "draw")
    # Five kings: the finish card is any of them that leaves three suits, or the fourth with its group.
    assert [action for action in legal(states) if action.startswith("declare")] == ["declare KH"]
    play(states, "declare KH")
    assert (ending(states), int(states["winner"][0]), int(states["finisher"][0])) == ("declared", 0, 0)
    assert states["hands"][0, 0].tolist() == counts_of(parse_cards(COMPLETE)).tolist()
    assert pile_of(states)[-1] == parse_card("KH")


def test_nobody_must_declare() -> None:
    states = play(lay_out([COMPLETE], "7H", THREE, stock="QD"), "draw")
    assert "declare QD" in legal(states)
    play(states, "discard QD")
    assert ending(states) == "unfinished"


def test_a_dealt_complete_hand_must_draw_first() -> None:
    assert legal(lay_out([COMPLETE], "7H", THREE)) == ["draw", "take", "drop"]


def test_wrong_declaration_costs_80_and_the_opponent_wins() -> None:
    rules = parse_rules("points:wrong_declare=allowed")
    states = play(lay_out([LOOSE], "7H", THREE, rules=rules), "draw", rules=rules)
    options = legal(states, rules)
    assert [o.split()[1] for o in options if o.startswith("declare")] == [
        o.split()[1] for o in options if o.startswith("discard")
    ]
    play(states, "declare AS", rules=rules)
    assert (ending(states), engine.returns(states, 0).tolist(), int(states["winner"][0])) == (
        "wrong_declare",
        [-80, 80],
        1,
    )


def test_a_right_declaration_is_right_where_wrong_ones_are_allowed() -> None:
    rules = parse_rules("points:wrong_declare=allowed")
    states = play(lay_out([COMPLETE], "7H", THREE, stock="QD", rules=rules), "draw", "declare QD", rules=rules)
    assert ending(states) == "declared"


def test_after_a_wrong_declaration_among_three_the_deal_goes_on() -> None:
    rules = parse_rules("points:wrong_declare=allowed,num_players=3")
    states = play(lay_out([LOOSE], "7H", THREE, rules=rules), "draw", rules=rules)
    play(states, "declare AS", rules=rules)
    assert (ending(states), int(states["current_player"][0])) == ("unfinished", 1)
    assert STATUS_NAMES[int(states["status"][0, 0])] == "wrong declaration"
    assert pile_of(states) == parse_cards("7H AS")
    assert states["hands"][0, 0].sum() == 13
    assert [int(entry) & 63 for entry in states["log"][0, :2]] == [parse_card("AS"), LOG_NOTHING]
    assert int(states["log"][0, 1]) >> 6 & 63 == LOG_WRONG
    for seat in range(3):
        shown = engine.player_view(states, 0, seat)["shown"][0]
        assert shown[0].tolist() == states["hands"][0, 0].tolist()
        assert shown[1:].sum() == 0
    assert engine.returns(states, 0).tolist() == [0, 0, 0]
    play(states, "drop", rules=rules)
    assert (ending(states), engine.returns(states, 0).tolist()) == ("drop", [-80, -20, 100])


def test_a_wrong_declaration_with_the_last_closed_card_ends_in_a_void() -> None:
    rules = parse_rules("points:wrong_declare=allowed,num_players=3")
    states = draw_and_throw_back(lay_out([LOOSE, LOOSE], "7H", THREE, rules=rules), rules, until_closed=1)
    play(states, "draw", rules=rules)
    play(states, "declare any", rules=rules)
    assert (ending(states), engine.returns(states, 0).tolist()) == ("void", [0, 0, 0])


# Announcing


def test_a_dealt_complete_hand_may_be_announced_at_its_first_turn_only() -> None:
    rules = parse_rules("points:hand_rummy=true")
    states = lay_out([COMPLETE, LOOSE], "7H", THREE, rules=rules)
    assert legal(states, rules) == ["draw", "take", "drop", "announce"]
    later = play(engine.copy(states), "draw", rules=rules)
    assert "announce" not in legal(later, rules)
    play(later, "discard drawn", "draw", rules=rules)
    play(later, "discard drawn", rules=rules)
    assert legal(later, rules) == ["draw", "take", "drop"]
    assert "first turn" in engine.why_illegal(later, 0, engine.ANNOUNCE, rules)
    play(states, "announce", rules=rules)
    assert (ending(states), engine.returns(states, 0).tolist()) == ("announced", [80, -80])


def test_a_seat_that_comes_later_announces_at_its_own_first_turn() -> None:
    rules = parse_rules("points:hand_rummy=true")
    states = play(lay_out([LOOSE, COMPLETE], "7H", THREE, rules=rules), "draw", rules=rules)
    play(states, "discard drawn", rules=rules)
    assert "announce" in legal(states, rules)
    play(states, "announce", rules=rules)
    assert engine.returns(states, 0).tolist() == [-160, 160]


def test_other_hands_are_not_announced() -> None:
    rules = parse_rules("points:hand_rummy=true")
    assert "announce" not in legal(lay_out([LOOSE], "7H", THREE, rules=rules), rules)
    assert "announce" not in legal(lay_out([COMPLETE], "7H", THREE))
    assert "hand_rummy=false" in engine.why_illegal(lay_out([COMPLETE], "7H", THREE), 0, engine.ANNOUNCE, POINTS)


# More seats, both directions, cards that come back


@pytest.mark.parametrize(("direction", "order"), [("clockwise", [1, 2, 3, 0, 1]), ("anticlockwise", [1, 0, 3, 2, 1])])
def test_the_turn_passes_in_the_tables_direction(direction: str, order: list[int]) -> None:
    rules = parse_rules(f"points:num_players=4,direction={direction}")
    states, movers = engine.deal(rules, 5, first=1), []
    for _ in order:
        movers.append(int(states["current_player"][0]))
        play(states, "draw", "discard drawn", rules=rules)
    assert movers == order


def test_seats_that_are_out_or_not_dealt_in_get_no_turn() -> None:
    rules = parse_rules("points:num_players=5")
    states, movers = engine.deal(rules, 5, first=4, active=[0, 2, 3, 4]), []
    for action in ("drop", None, None, "drop", None, None):
        movers.append(int(states["current_player"][0]))
        if action:
            play(states, action, rules=rules)
        else:
            play(states, "draw", "discard drawn", rules=rules)
    assert movers == [4, 0, 2, 3, 0, 2]
    assert ending(states) == "unfinished"
    play(states, "drop", rules=rules)
    assert (ending(states), int(states["winner"][0])) == ("drop", 2)
    assert engine.returns(states, 0).tolist() == [-40, 0, 80, -20, -20]


def test_cards_of_a_first_drop_go_under_the_stock_shuffled() -> None:
    rules = parse_rules("pagat:num_players=3")
    states = lay_out([LOOSE], "7H", THREE, rules=rules)
    hand, stock = sorted(parse_cards(LOOSE)), stock_of(states)
    play(states, "drop", rules=rules)
    assert stock_of(states)[13:] == stock
    under = stock_of(states)[:13]
    assert sorted(under) == hand
    assert under != hand
    assert states["hands"][0, 0].sum() == 0
    assert int(states["current_player"][0]) == 2  # anti-clockwise


def test_cards_of_a_later_drop_stay_away() -> None:
    rules = parse_rules("pagat:num_players=3")
    states = draw_and_throw_back(lay_out([LOOSE], "7H", THREE, rules=rules), rules, until_closed=62)
    play(states, "drop", rules=rules)
    assert int(states["stock_size"][0]) == 62
    assert states["hands"][0, 0].sum() == 13


# Every action does what its words say


def test_every_kind_of_action_moves_exactly_its_card() -> None:
    states = lay_out([LOOSE], "7H", THREE, stock="QS")
    drawn = play(engine.copy(states), "draw")
    assert (drawn["hands"] - states["hands"])[0, 0].tolist() == counts_of(parse_cards("QS")).tolist()
    assert (stock_of(drawn), pile_of(drawn)) == (stock_of(states)[:-1], pile_of(states))
    taken = play(engine.copy(states), "take")
    assert (taken["hands"] - states["hands"])[0, 0].tolist() == counts_of(parse_cards("7H")).tolist()
    assert (stock_of(taken), pile_of(taken)) == (stock_of(states), [])
    for action in np.flatnonzero(engine.legal_action_mask(drawn, 0, POINTS)):
        thrown = engine.copy(drawn)
        engine.apply_action(thrown, 0, int(action), POINTS)
        face = int(action) - engine.DISCARD_BASE
        assert (drawn["hands"] - thrown["hands"])[0, 0].tolist() == counts_of([face]).tolist()
        assert pile_of(thrown) == [*pile_of(drawn), face]
        assert int(thrown["current_player"][0]) == 1


def test_every_action_id_is_legal_somewhere() -> None:
    rules = parse_rules("points:hand_rummy=true")
    seen = engine.legal_action_mask(lay_out([COMPLETE], "7H", THREE, rules=rules), 0, rules)
    for face in range(53):
        # Any card drawn to a complete hand is its finish card.
        states = play(lay_out([COMPLETE], "7H", THREE, stock=format_card(face), rules=rules), "draw", rules=rules)
        seen |= engine.legal_action_mask(states, 0, rules)
    assert seen.all()
