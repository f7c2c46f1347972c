"""Every value of every option of RULES.md 3.1, as it shows at the table, with two seats and with more.

What a turn does under the default options is in `test_turns`, the options of hands are in `test_hand_options`,
and what endings pay in `test_settlement_table`.
"""

from __future__ import annotations

import pytest

from paplu_env import engine
from paplu_env.cards import format_cards, parse_card, parse_cards
from paplu_env.engine.state import ENDING_NAMES, States
from paplu_env.rules import RuleSet, parse_rules
from tests.engine.tables import (
    BOTH_LIVES,
    LOOSE,
    ONE_LIFE,
    THREE_RUNS,
    draw_and_throw_back,
    lay_out,
    legal,
    pile_of,
    play,
    stock_of,
)


def ending(states: States) -> str:
    return ENDING_NAMES[int(states["ending"][0])]


# num_players, direction


@pytest.mark.parametrize("direction", ["clockwise", "anticlockwise"])
@pytest.mark.parametrize("players", range(2, 11))
def test_every_number_of_seats_is_dealt_in_and_takes_turns(players: int, direction: str) -> None:
    rules = RuleSet(num_players=players, num_decks=3, direction=direction)
    states, movers = engine.deal(rules, 5, first=players - 1), []
    assert states["hands"][0].sum(axis=1)[:players].tolist() == [13] * players
    assert int(states["stock_size"][0]) == 159 - 13 * players - 2
    for _ in range(players + 1):
        movers.append(int(states["current_player"][0]))
        play(states, "draw", "discard drawn", rules=rules)
    clockwise = [players - 1, *range(players)]
    assert movers == (clockwise if direction == "clockwise" else [*range(players - 1, -1, -1), players - 1])


# num_decks, printed_jokers, hand_size


@pytest.mark.parametrize("hand_size", [10, 13, 21])
@pytest.mark.parametrize("decks", [1, 2, 3])
@pytest.mark.parametrize("jokers", [None, 0, 1, 9])
def test_the_packs_hold_what_the_options_say(decks: int, jokers: int | None, hand_size: int) -> None:
    rules = RuleSet(num_decks=decks, printed_jokers=jokers, hand_size=hand_size)
    states = engine.deal(rules, 3)
    places = [int(states["indicator"][0]), *stock_of(states), *pile_of(states)]
    for seat in (0, 1):
        hand = states["hands"][0, seat]
        assert hand.sum() == hand_size
        places += [face for face in range(53) for _ in range(hand[face])]
    all_jokers = decks if jokers is None else jokers
    assert sorted(places) == [face for face in range(52) for _ in range(decks)] + [52] * all_jokers


# printed_joker_indicator, indicator_first


@pytest.mark.parametrize(("option", "wild"), [("aces", "AS AH AD AC PJ"), ("twin", "PJ"), ("redraw", "8S 8H 8D 8C PJ")])
@pytest.mark.parametrize("indicator_first", [False, True])
@pytest.mark.parametrize("players", [2, 4])
def test_a_joker_turned_up_as_indicator(players: int, indicator_first: bool, option: str, wild: str) -> None:
    rules = RuleSet(num_players=players, printed_joker_indicator=option, indicator_first=indicator_first)
    place = 0 if indicator_first else 13 * players + 1
    rest = parse_cards("AS 2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS")
    pack = [face for face in range(52) for _ in range(2)]
    for face in (parse_card("8H"), *rest):
        pack.remove(face)
    deck = [*(rest + pack)[:place], 52, 52, parse_card("8H"), *(rest + pack)[place:]]
    states = engine.deal_from(rules, deck)
    assert format_cards(face for face in range(53) if int(states["wild"][0]) >> face & 1) == wild
    is_redrawn = option == "redraw"
    assert int(states["indicator"][0]) == (parse_card("8H") if is_redrawn else 52)
    deck.pop(place + (2 if is_redrawn else 0))
    assert int(states["hands"][0, 0, deck[0]]) > 0
    assert pile_of(states) == [deck[13 * players]]
    assert stock_of(states)[::-1] == deck[13 * players + 1 :]


# open_joker, block_taken_card


@pytest.mark.parametrize("players", [2, 5])
@pytest.mark.parametrize(("option", "may_first", "may_later"), [("any", 1, 1), ("first_turn", 1, 0), ("never", 0, 0)])
def test_wild_cards_of_the_open_pile(players: int, option: str, may_first: int, may_later: int) -> None:
    rules = parse_rules(f"points:num_players={players},num_decks=3,open_joker={option}")
    states = lay_out([LOOSE, LOOSE], "PJ", "3C", stock="3H", rules=rules)
    assert ("take" in legal(states, rules)) == bool(may_first)
    play(states, "draw", rules=rules)
    play(states, "discard 3H", rules=rules)
    assert ("take" in legal(states, rules)) == bool(may_later)


@pytest.mark.parametrize("players", [2, 5])
@pytest.mark.parametrize("blocks", ["true", "false"])
def test_the_taken_card_and_the_option_that_blocks_it(players: int, blocks: str) -> None:
    rules = parse_rules(f"points:num_players={players},num_decks=3,block_taken_card={blocks}")
    states = play(lay_out([LOOSE], "7H", "3C", rules=rules), "take", rules=rules)
    assert ("discard 7H" in legal(states, rules)) == (blocks == "false")


# stock_out


@pytest.mark.parametrize("option", ["void", "reshuffle_keep_top", "reshuffle_all"])
@pytest.mark.parametrize("returns_cards", [False, True])
def test_cards_of_seats_that_are_out_stay_away_from_a_reshuffle(option: str, returns_cards: bool) -> None:
    rules = RuleSet(num_players=3, num_decks=1, stock_out=option, first_drop_returns_cards=returns_cards)
    states = play(engine.deal(rules, 8), "drop", rules=rules)
    closed = 53 - 3 * 13 - 2 + (13 if returns_cards else 0)
    assert int(states["stock_size"][0]) == closed
    draw_and_throw_back(states, rules, until_closed=1)
    play(states, "draw", rules=rules)
    last = int(states["drawn"][0])
    play(states, "discard drawn", rules=rules)
    if option == "void":
        assert (ending(states), stock_of(states)) == ("void", [])
        return
    assert (ending(states), len(stock_of(states)), len(pile_of(states))) == ("unfinished", closed, 1)
    assert (pile_of(states) == [last]) or option == "reshuffle_all"
    assert int(states["hands"][0, 0].sum()) == (0 if returns_cards else 13)
    assert engine.check(states, 0, rules) == []


def test_a_reshuffle_shows_no_card_of_the_pile_to_anybody() -> None:
    rules = parse_rules("online:num_players=3,num_decks=1")
    states = draw_and_throw_back(engine.deal(rules, 8), rules, until_closed=1)
    play(states, "draw", "discard drawn", rules=rules)
    for seat in range(3):
        view = engine.player_view(states, 0, seat)
        assert view["pile"][0, :2].tolist() == [pile_of(states)[0], 255]
        assert int(view["pile_size"][0]) == 1


# drop_allowed, first_drop, middle_drop, first_drop_returns_cards


@pytest.mark.parametrize(("first", "middle"), [(20, 40), (10, 30), (0, 80)])
def test_drops_cost_what_the_options_say_and_the_last_seat_collects(first: int, middle: int) -> None:
    rules = RuleSet(num_players=4, first_drop=first, middle_drop=middle)
    states = play(engine.deal(rules, 2), "draw", "discard drawn", "drop", "draw", "discard drawn", rules=rules)
    play(states, "drop", "drop", rules=rules)
    assert ending(states) == "drop"
    assert engine.returns(states, 0).tolist() == [-middle, -first, 2 * first + middle, -first]


@pytest.mark.parametrize("players", [2, 3])
def test_nobody_drops_without_the_option(players: int) -> None:
    rules = RuleSet(num_players=players, drop_allowed=False)
    states = engine.deal(rules, 2)
    for _ in range(players + 1):
        assert "drop" not in legal(states, rules)
        play(states, "draw", "discard drawn", rules=rules)


@pytest.mark.parametrize(("option", "size"), [(True, 13), (False, 0)])
def test_a_first_drop_returns_its_cards_only_with_the_option(option: bool, size: int) -> None:
    rules = RuleSet(num_players=3, first_drop_returns_cards=option)
    states = engine.deal(rules, 2)
    stock = stock_of(states)
    play(states, "drop", rules=rules)
    assert stock_of(states)[size:] == stock
    assert states["hands"][0, 0].sum() == 13 - size


# wrong_declare


@pytest.mark.parametrize("players", [2, 4])
def test_a_wrong_declaration_is_offered_only_where_it_is_allowed(players: int) -> None:
    for option in ("masked", "allowed"):
        rules = parse_rules(f"points:num_players={players},wrong_declare={option},wrong_declare_points=60")
        states = play(lay_out([LOOSE], "7H", "3C", stock="TD", rules=rules), "draw", rules=rules)
        declares = [action.split()[1] for action in legal(states, rules) if action.startswith("declare")]
        discards = [action.split()[1] for action in legal(states, rules) if action.startswith("discard")]
        assert declares == (discards if option == "allowed" else [])
    play(states, "declare TD", rules=rules)
    while not engine.is_over(states, 0):
        play(states, "drop", rules=rules)
    assert engine.returns(states, 0)[0] == -60


# half_rate, hand_rummy, full_count_if_never_drawn, loser_complete


def declared_by_seat_1(options: str, loser: str) -> list[int]:
    """Returns when seat 1 declares on its first draw, seat 0 has drawn, seat 2 has not and seat 3 would be next."""
    rules = parse_rules(f"points:num_players=4,num_decks=3,{options}")
    states = lay_out([loser, THREE_RUNS, loser, loser], "7H", "3C", stock="AH TD", rules=rules)
    play(states, "draw", "discard AH", "draw", "declare TD", rules=rules)
    return engine.returns(states, 0).tolist()


def test_half_rate_is_for_seats_that_have_not_drawn() -> None:
    assert declared_by_seat_1("half_rate=false", ONE_LIFE) == [-73, 219, -73, -73]
    assert declared_by_seat_1("half_rate=true", ONE_LIFE) == [-73, 147, -37, -37]


def test_half_rate_ends_with_the_declarers_first_draw() -> None:
    rules = parse_rules("points:num_players=3,num_decks=3,half_rate=true")
    states = lay_out([THREE_RUNS, LOOSE, LOOSE], "7H", "3C", stock="TC TD TH", rules=rules)
    play(states, "draw", "discard TC", "draw", "discard TD", "drop", "draw", "declare TH", rules=rules)
    assert engine.returns(states, 0).tolist() == [100, -80, -20]


def test_a_loser_who_never_drew_pays_the_cap_with_the_option() -> None:
    assert declared_by_seat_1("full_count_if_never_drawn=true", BOTH_LIVES) == [-32, 192, -80, -80]
    assert declared_by_seat_1("full_count_if_never_drawn=false", BOTH_LIVES) == [-32, 96, -32, -32]


def test_a_complete_loser_pays_what_the_option_says() -> None:
    complete = "4S 5S 6S | 4H 5H 6H | 9C 9D 9S | KC KD KS KH"
    assert declared_by_seat_1("loser_complete=0", complete) == [0, 0, 0, 0]
    assert declared_by_seat_1("loser_complete=2", complete) == [-2, 6, -2, -2]
    assert declared_by_seat_1("loser_complete=2,half_rate=true", complete) == [-2, 4, -1, -1]


def test_hand_rummy_is_announced_at_double_rate_to_those_who_have_drawn() -> None:
    rules = parse_rules("points:num_players=4,num_decks=3,hand_rummy=true")
    states = lay_out([BOTH_LIVES, LOOSE, THREE_RUNS, BOTH_LIVES], "7H", "3C", stock="AH TD", rules=rules)
    play(states, "draw", "discard AH", "drop", rules=rules)
    assert "announce" in legal(states, rules)
    play(states, "announce", rules=rules)
    assert (ending(states), int(states["winner"][0])) == ("announced", 2)
    assert engine.returns(states, 0).tolist() == [-64, -20, 116, -32]


def test_no_hand_is_announced_without_the_option() -> None:
    rules = parse_rules("points:num_players=4,num_decks=3")
    assert "announce" not in legal(lay_out([THREE_RUNS], "7H", "3C", rules=rules), rules)


# paplu_bonus

TWO_PAPLUS = "4S 5S 6S | 4H 5H 6H | 9C 9D 9S | KC KD 4C 4C"  # 28 beside the groups


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("none", [28 + 20 + 80, -28, -20, -80]),
        ("held", [128 - 25, -28 + 75, -20 - 25, -80 - 25]),
        ("declared", [128, -28, -20, -80]),
    ],
)
def test_paplus_of_a_loser_count_for_their_holder_only_if_held(option: str, expected: list[int]) -> None:
    rules = parse_rules(f"points:num_players=4,num_decks=3,paplu_bonus={option}")
    states = lay_out([THREE_RUNS, TWO_PAPLUS, LOOSE, LOOSE], "7H", "3C", stock="TC 8H 8S 9H", rules=rules)
    play(states, "draw", "discard TC", "draw", "discard 8H", "drop", "draw", "discard 8S", "draw", rules=rules)
    play(states, "declare 9H", rules=rules)
    assert engine.returns(states, 0).tolist() == expected


@pytest.mark.parametrize(("option", "bonus"), [("none", 0), ("held", 25), ("declared", 20)])
def test_paplus_of_the_winner(option: str, bonus: int) -> None:
    rules = parse_rules(f"points:num_players=3,num_decks=3,paplu_bonus={option}")
    winner = "AD 2D 3D | 6D 7D 8D | 4C 4D 4S | 4C 5C 6C 7C"
    states = lay_out([winner, BOTH_LIVES, LOOSE], "7H", "3C", stock="TD", rules=rules)
    play(states, "draw", "declare TD", rules=rules)
    assert engine.returns(states, 0).tolist() == [112 + 2 * bonus, -32 - bonus, -80 - bonus]


# max_turns, turn_limit_result


@pytest.mark.parametrize("players", [2, 3, 6])
@pytest.mark.parametrize("max_turns", [1, 4])
def test_max_turns_counts_the_draws_of_all_seats_together(players: int, max_turns: int) -> None:
    rules = RuleSet(num_players=players, num_decks=3, max_turns=max_turns)
    states = engine.deal(rules, 6)
    for turn in range(max_turns):
        assert int(states["current_player"][0]) == turn % players
        play(states, "draw", "discard drawn", rules=rules)
    assert (ending(states), int(states["draws"][0])) == ("truncated", max_turns)


def test_the_lowest_hand_wins_at_the_limit_and_who_is_out_pays() -> None:
    rules = parse_rules("points:num_players=4,num_decks=3,max_turns=2,turn_limit_result=lower_deadwood")
    states = lay_out([LOOSE, BOTH_LIVES, "", ONE_LIFE], "7H", "3C", stock="AH TD", rules=rules)
    play(states, "drop", "draw", "discard AH", "drop", "draw", "discard TD", rules=rules)
    assert (ending(states), int(states["winner"][0])) == ("lower_deadwood", 1)
    assert engine.returns(states, 0).tolist() == [-20, 113, -20, -73]


def test_a_tie_at_the_limit_has_no_winner_and_nobody_pays() -> None:
    rules = parse_rules("points:num_players=3,num_decks=3,max_turns=2,turn_limit_result=lower_deadwood")
    states = lay_out([BOTH_LIVES, BOTH_LIVES, LOOSE], "7H", "3C", stock="AH TD", rules=rules)
    play(states, "draw", "discard AH", "draw", "discard TD", rules=rules)
    assert (ending(states), int(states["winner"][0])) == ("lower_deadwood", -1)
    assert engine.returns(states, 0).tolist() == [0, 0, 0]
