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
from paplu_env.rules import PRESETS, RuleSet, as_rules, format_rules, parse_rules, preset


def _wild_text(table: RuleSet, indicator: str) -> str:
    wild = table.wild_of(cards.parse_card(indicator))
    return cards.format_cards(face for face in range(53) if wild >> face & 1)


def test_the_default_is_points_rummy_for_two() -> None:
    table = RuleSet()
    assert table == preset("points")
    assert (table.num_players, table.num_cards, table.hand_size, table.max_points) == (2, 106, 13, 80)
    assert (table.first_drop, table.middle_drop, table.max_turns) == (20, 40, 200)
    assert table.has_standard_groups


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
        ("points:min_pure_sequences=3", "min_pure_sequences"),
        ("points:min_pure_sequences=0,gate=pure_opens_all", "pure_opens_all"),
        ("points:round_to=3", "round_to"),
        ("points:tanala=true", "tanala"),
        ("points:special_hands=true", "special_hands"),
        ("points:half_rate=true,full_count_if_never_drawn=true", "half_rate"),
        ("points:first_drop=50", "first_drop"),
        ("points:middle_drop=90", "middle_drop"),
        ("points:max_set_size=3", "max_set_size"),
        ("points:min_naturals=3", "min_naturals"),
        ("points:num_decks=4", "num_decks"),
        ("points:max_points=none", "max_points"),
    ],
)
def test_what_cannot_be_played_is_refused_by_name(text: str, name: str) -> None:
    with pytest.raises(InvalidRules, match=name):
        parse_rules(text)


def test_values_of_the_wrong_kind_are_refused() -> None:
    for options in ({"max_turns": 10.0}, {"max_turns": True}, {"drop_allowed": "yes"}, {"gate": 1}):
        with pytest.raises(InvalidRules, match=next(iter(options))):
            RuleSet(**options)
    with pytest.raises(InvalidRules, match="names no rules"):
        as_rules(3)  # type: ignore[arg-type]


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
