"""The layout of every encoding: named fields that fill an observation exactly."""

import pytest

from paplu_env import encoding
from paplu_env.errors import InvalidRules, PapluError
from paplu_env.rules import PRESETS, RuleSet

TABLES = [
    *PRESETS,
    "points:num_players=4",
    "pagat:num_players=10",
    "points:printed_jokers=0",
    "one_pack:printed_jokers=9",
]


@pytest.mark.parametrize("name", encoding.names())
@pytest.mark.parametrize("rules", TABLES)
def test_fields_cover_every_entry_once(name: str, rules: str) -> None:
    fields = encoding.by_name(name).fields(rules)
    assert fields[0].start == 0
    assert [field.start for field in fields[1:]] == [field.stop for field in fields[:-1]]
    assert fields[-1].stop == encoding.by_name(name).num_features(rules)


@pytest.mark.parametrize("name", encoding.names())
def test_fields_have_names_of_their_own_and_a_meaning(name: str) -> None:
    fields = encoding.by_name(name).fields("points")
    assert len({field.name for field in fields}) == len(fields)
    assert all(field.meaning for field in fields)


@pytest.mark.parametrize("name", encoding.names())
def test_number_of_features_depends_on_seats_and_packs_only(name: str) -> None:
    chosen = encoding.by_name(name)
    assert chosen.num_features("points") == chosen.num_features("rummy_21:num_decks=2,tanala=false,special_hands=false")
    assert chosen.num_features("points") == chosen.num_features(RuleSet(printed_jokers=7, drop_allowed=False))
    assert chosen.num_features("one_pack") < chosen.num_features("points") < chosen.num_features("tanala")
    assert chosen.num_features("points") < chosen.num_features("points:num_players=3")


def test_cards_v1_keeps_its_length() -> None:
    """Exported bots rest on it: a change of layout is a new name."""
    lengths = [
        encoding.by_name("cards-v1").num_features(rules) for rules in ("points", "one_pack", "points:num_players=4")
    ]
    assert lengths == [688, 635, 1016]


def test_features_v1_begins_with_cards_v1() -> None:
    cards, features = encoding.by_name("cards-v1").fields("points"), encoding.by_name("features-v1").fields("points")
    assert features[: len(cards)] == cards
    assert features[-1].stop == 865


def test_unknown_encoding_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(PapluError, match=r"cards-v2.*cards-v1, features-v1"):
        encoding.by_name("cards-v2")


def test_unknown_rules_are_refused() -> None:
    with pytest.raises(InvalidRules, match="nowhere"):
        encoding.by_name("cards-v1").num_features("nowhere")
