"""Options of a table: presets, validation by name, notation, and the record for kernels."""

import copy
import dataclasses
import json
import pickle
from collections.abc import Callable

import numpy as np
import pytest

from paplu_env import cards, rules
from paplu_env.errors import InvalidRules
from paplu_env.rules import PRESETS, RuleSet, as_rules, format_rules, parse_rules, preset, seats_of


def _wild_text(table: RuleSet, indicator: str) -> str:
    wild = table.wild_of(cards.parse_card(indicator))
    return cards.format_cards(face for face in range(53) if wild >> face & 1)


def test_the_default_is_points_rummy_for_two() -> None:
    table = RuleSet()
    assert table == preset("points")
    assert (table.num_players, table.num_cards, table.hand_size, table.max_points) == (2, 106, 13, 80)
    assert (table.first_drop, table.middle_drop, table.max_turns) == (20, 40, 200)
    assert table.has_standard_groups


# What RULES.md 3.25 says of each preset, beside the default game.
DIFFERENCES = {
    "points": "",
    "classic": "max_set_size=4 wrong_declare=allowed",
    "pagat": "printed_joker_indicator=twin first_drop=10 first_drop_returns_cards=true middle_drop=40 round_to=5 "
    "max_points=80 half_rate=true hand_rummy=true direction=anticlockwise",
    "online": "stock_out=reshuffle_keep_top gate=all_or_nothing",
    "one_life": "min_sequences=1",
    "paplu_bonus": "paplu_wild=true paplu_bonus=held",
    "tanala": "num_decks=3 tanala=true",
    "ten_card": "hand_size=10 min_sequences=1 max_points=60 wrong_declare_points=60 first_drop=10 middle_drop=30",
    "rummy_21": "hand_size=21 num_decks=3 printed_jokers=3 wild_neighbours=true printed_joker_indicator=aces "
    "min_sequences=3 min_pure_sequences=3 tanala=true special_hands=true gate=lives max_points=120 "
    "wrong_declare_points=120 first_drop=30 middle_drop=70",
    "one_pack": "num_decks=1 printed_jokers=1",
    "saha2025": "printed_joker_indicator=redraw stock_out=reshuffle_all turn_limit_result=lower_deadwood "
    "indicator_first=true",
}
SEATS = {
    "classic": (2, 6),
    "pagat": (2, 10),
    "tanala": (2, 10),
    "ten_card": (2, 9),
    "rummy_21": (2, 7),
    "one_pack": (2, 2),
}


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_what_the_rules_say_of_it(name: str) -> None:
    written = parse_rules("points:" + ",".join(DIFFERENCES[name].split()))
    assert preset(name).hash == written.hash
    assert seats_of(name) == SEATS.get(name, (2, 7))  # seven of thirteen cards is what two packs allow
    with pytest.raises(InvalidRules, match="num_players"):
        preset(name, num_players=seats_of(name)[1] + 1)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_goes_through_each_notation_and_back(name: str) -> None:
    table = preset(name)
    assert parse_rules(name) == table
    assert format_rules(table) == name
    assert RuleSet.from_dict(json.loads(json.dumps(table.to_dict()))) == table
    assert as_rules(table) is table
    assert as_rules(name) == as_rules({"preset": name}) == table


def test_overrides_go_there_and_back() -> None:
    text = "pagat:num_players=8,drop_allowed=false,round_to=0"
    table = parse_rules(text)
    assert (table.num_players, table.num_decks, table.drop_allowed, table.round_to) == (8, 3, False, 0)
    assert parse_rules(format_rules(table)) == table
    assert parse_rules("classic:max_set_size=none").max_set_size is None
    assert parse_rules("paplu_bonus:paplu_bonus=none").paplu_bonus == "none"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("pointz", "pointz"),
        ("points:wild=7", "wild"),
        ("points:max_turns", "max_turns"),
        ("points:max_turns=", "max_turns"),
        ("points:max_turns=0", "max_turns"),
        ("points:max_turns=251", "max_turns"),
        ("points:max_turns=1,max_turns=2", "twice"),
        ("points:drop_allowed=maybe", "drop_allowed"),
        ("points:drop_allowed=1", "drop_allowed"),
        ("points:gate=open", "gate"),
        ("points:num_players=11", "num_players"),
        ("points:num_players=8", "num_players"),
        ("one_pack:num_players=3", "num_players"),
        ("classic:num_players=7", "num_players"),
        ("points:hand_size=12", "hand_size"),
        ("points:max_set_size=3", "max_set_size"),
        ("points:min_naturals=3", "min_naturals"),
        ("points:num_decks=4", "num_decks"),
        ("points:max_points=none", "max_points"),
    ],
)
def test_what_cannot_be_played_is_refused_by_name(text: str, name: str) -> None:
    with pytest.raises(InvalidRules, match=name):
        parse_rules(text)


# Options that contradict each other, what the refusal says, and the nearest table that can be played.
CONTRADICTIONS = [
    (
        "num_players=8",
        ["num_players=8", "num_decks=2", "hand_size=13", "of 106 cards 0", "fewer than seats"],
        "num_players=7",
    ),
    ("num_decks=1,num_players=4", ["num_players=4", "num_decks=1", "of 53 cards -1"], "num_decks=1,num_players=3"),
    ("num_decks=1,printed_jokers=5,num_players=4", ["of 57 cards 3"], "num_decks=1,printed_jokers=6,num_players=4"),
    ("hand_size=21,num_players=5", ["hand_size=21", "of 106 cards -1"], "hand_size=21,num_players=4"),
    (
        "printed_joker_indicator=redraw,num_decks=1,printed_jokers=9,num_players=4",
        ["printed_joker_indicator=redraw", "printed_jokers=9", "the 8 cards left"],
        "printed_joker_indicator=redraw,num_decks=1,printed_jokers=9,num_players=4,indicator_first=true",
    ),
    ("hand_size=12", ["hand_size=12", "10 or 13 or 21"], "hand_size=10"),
    ("min_pure_sequences=3", ["min_pure_sequences=3", "min_sequences=2"], "min_pure_sequences=3,min_sequences=3"),
    ("min_sequences=0", ["min_pure_sequences=1", "min_sequences=0"], "min_sequences=0,min_pure_sequences=0"),
    (
        "gate=pure_opens_all,min_pure_sequences=0",
        ["gate=pure_opens_all", "min_pure_sequences=0"],
        "gate=pure_opens_all,min_pure_sequences=1",
    ),
    ("round_to=3", ["round_to=3", "0 or 5"], "round_to=5"),
    ("tanala=true", ["tanala=true", "num_decks=2", "three packs"], "tanala=true,num_decks=3"),
    ("special_hands=true,num_decks=3", ["special_hands=true", "hand_size=13", "of 21 cards"], "rummy_21"),
    (
        "special_hands=true,hand_size=21",
        ["special_hands=true", "num_decks=2", "three packs"],
        "special_hands=true,hand_size=21,num_decks=3",
    ),
    (
        "half_rate=true,full_count_if_never_drawn=true",
        ["half_rate=true", "full_count_if_never_drawn=true"],
        "hand_rummy=true,full_count_if_never_drawn=true",
    ),
    ("first_drop=41", ["first_drop=41", "middle_drop=40"], "first_drop=40"),
    ("middle_drop=81", ["middle_drop=81", "max_points=80"], "middle_drop=80"),
    ("max_points=39", ["middle_drop=40", "max_points=39"], "max_points=39,drop_allowed=false"),
    (
        "wrong_declare=allowed,wrong_declare_points=39",
        ["wrong_declare_points=39", "middle_drop=40"],
        "wrong_declare=allowed,wrong_declare_points=40",
    ),
    (
        "wrong_declare=allowed,wrong_declare_points=0,drop_allowed=false",
        ["wrong_declare=allowed", "wrong_declare_points=0"],
        "wrong_declare=allowed,wrong_declare_points=1,drop_allowed=false",
    ),
    ("loser_complete=81", ["loser_complete=81", "max_points=80"], "loser_complete=80"),
]


@pytest.mark.parametrize(("options", "words", "playable"), CONTRADICTIONS)
def test_options_that_contradict_each_other_are_refused_by_name(options: str, words: list[str], playable: str) -> None:
    with pytest.raises(InvalidRules) as refused:
        parse_rules(f"points:{options}")
    for word in words:
        assert word in str(refused.value)
    parse_rules(playable if playable in PRESETS else f"points:{playable}")


def test_values_of_the_wrong_kind_are_refused() -> None:
    for options in ({"max_turns": 10.0}, {"max_turns": True}, {"drop_allowed": "yes"}, {"gate": 1}):
        with pytest.raises(InvalidRules, match=next(iter(options))):
            RuleSet(**options)
    with pytest.raises(InvalidRules, match="names no rules"):
        as_rules(3)  # type: ignore[arg-type]
    for name in (3, None, ["points"]):
        with pytest.raises(InvalidRules, match="unknown preset"):
            preset(name)  # type: ignore[arg-type]


def test_a_rule_set_cannot_be_changed_but_replaced_and_is_checked_again() -> None:
    table = preset("points")
    with pytest.raises(dataclasses.FrozenInstanceError):
        table.max_points = 100  # type: ignore[misc]
    assert dataclasses.replace(table, max_points=100).max_points == 100
    with pytest.raises(InvalidRules):
        dataclasses.replace(table, max_points=0)


def test_wild_faces_follow_the_indicator() -> None:
    assert _wild_text(RuleSet(), "7H") == "7S 7H 7D 7C PJ"
    assert _wild_text(RuleSet(), "PJ") == "AS AH AD AC PJ"
    assert _wild_text(preset("pagat"), "PJ") == "PJ"
    assert _wild_text(preset("rummy_21"), "KH") == "KS AH QH KH KD KC PJ"
    assert _wild_text(preset("rummy_21"), "PJ") == "AS AH AD AC PJ"
    assert _wild_text(preset("paplu_bonus"), "KD") == "KS KH AD KD KC PJ"
    assert _wild_text(preset("paplu_bonus"), "PJ") == "AS AH AD AC PJ"
    with pytest.raises(InvalidRules, match="redraw"):
        preset("saha2025").wild_of(52)


def test_the_record_says_what_the_rule_set_says() -> None:
    for name in PRESETS:
        table = preset(name)
        record = table.packed[0]
        assert table.packed.shape == (1,)
        assert not table.packed.flags.writeable
        assert record["printed_jokers"] == table.num_jokers
        assert record["num_cards"] == table.num_cards
        for option, value in table.to_dict().items():
            if isinstance(value, (bool, int)):
                assert record[option] == value
            elif isinstance(value, str):
                assert record[option] == rules.choice_code(option, value)
        for indicator in range(52):
            assert record["wild_of"][indicator] == table.wild_of(indicator)
    assert preset("pagat").packed[0]["step"] == 1
    assert preset("pagat", num_players=4).packed[0]["step"] == 3
    assert RuleSet(num_players=4).packed[0]["step"] == 1


def test_hashes_tell_games_apart_and_nothing_else() -> None:
    hashes = [preset(name).hash for name in PRESETS]
    assert len(set(hashes)) == len(hashes)
    assert RuleSet(printed_jokers=2).hash == RuleSet().hash
    assert RuleSet(printed_jokers=2) == RuleSet() != RuleSet(printed_jokers=3)
    assert str(RuleSet(printed_jokers=2)) == "points"
    assert RuleSet(num_decks=3, printed_jokers=2) != RuleSet(num_decks=3)
    assert RuleSet(max_turns=199).hash != RuleSet().hash
    assert np.unique([preset(name).packed[0]["id"] for name in PRESETS]).size == len(PRESETS)


def test_pagat_takes_a_third_pack_from_seven_players() -> None:
    assert [preset("pagat", num_players=n).num_decks for n in (2, 6, 7, 10)] == [2, 2, 3, 3]


@pytest.mark.parametrize("copier", [copy.copy, copy.deepcopy, lambda rules: pickle.loads(pickle.dumps(rules))])
def test_copies_of_a_rule_set_have_a_read_only_record_of_their_own(copier: Callable[[RuleSet], RuleSet]) -> None:
    rules = preset("pagat", num_players=3)
    assert rules.packed.flags.writeable is False
    twin = copier(rules)
    assert twin == rules
    assert twin.hash == rules.hash
    assert twin.packed.flags.writeable is False


# What pickle.dumps wrote of preset("pagat", num_players=3) when rules were one file, `paplu_env/rules.py`.
OLD_PICKLE = (
    b"cpaplu_env.rules\n_rule_set_of\n((dVnum_players\nI3\nsVprinted_joker_indicator\nVtwin\nsVfirst_drop\nI10\n"
    b"sVfirst_drop_returns_cards\nI01\nsVround_to\nI5\nsVhalf_rate\nI01\nsVhand_rummy\nI01\nsVdirection\n"
    b"Vanticlockwise\nstR."
)


def test_pickles_name_a_place_that_stays_whatever_files_are_made_of_the_rules() -> None:
    assert pickle.loads(OLD_PICKLE) == preset("pagat", num_players=3)
    assert b"paplu_env.rules\n_rule_set_of\n" in pickle.dumps(preset("pagat", num_players=3), protocol=0)


def test_a_pickle_of_rules_with_an_option_that_this_version_does_not_have_is_refused_by_name() -> None:
    pickled = pickle.dumps(preset("points"), protocol=0).replace(b"half_rate", b"half_pace")
    with pytest.raises(InvalidRules, match=r"another version of paplu_env, this one has no option 'half_pace'"):
        pickle.loads(pickled)


def test_a_mapping_may_name_options_and_a_preset_and_nothing_else():
    assert RuleSet.from_dict({"preset": "one_pack", "first_drop": 10}) == preset("one_pack", first_drop=10)
    for key in ("name", "speed"):
        with pytest.raises(InvalidRules, match=f"unknown option '{key}': the options are preset, num_players"):
            RuleSet.from_dict({key: "points"})
