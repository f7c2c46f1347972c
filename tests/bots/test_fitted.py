"""Fitted numbers are used at the tables that their files name, whatever the fast kernels can answer."""

import dataclasses

import pytest

from paplu_env.bots.fitted import USUAL_HANDS, are_for
from paplu_env.bots.search.leaf_value import has_fitted_value
from paplu_env.evaluation.draw_luck import can_estimate
from paplu_env.melds.dispatch import has_fast_distance, has_fast_points
from paplu_env.rules import RuleSet, as_rules

# Rules; then whether the fast kernels answer for points and for distance, whether search asks its value, and
# whether the luck of the draws is estimated. As it was when the kernels' reach decided the last two.
ANSWERS = {
    "points": (True, True, True, True),
    "points:drop_allowed=false": (True, True, True, True),
    "points:gate=all_or_nothing": (True, True, True, True),
    "points:gate=every_meld": (False, True, False, False),
    "points:max_set_size=4": (True, True, True, True),
    "points:max_points=60": (True, True, False, True),
    "points:num_players=3": (True, True, False, False),
    "points:num_decks=3": (False, True, False, False),
    "points:printed_jokers=3": (False, True, False, False),
    "points:min_naturals=2": (False, False, False, False),
    "one_pack": (True, True, False, True),
    "one_life": (False, True, False, False),
    "ten_card": (False, True, False, False),
    "rummy_21": (False, False, False, False),
    "tanala": (False, False, False, False),
    "saha2025": (True, True, True, True),
    "saha2025:indicator_first=false": (True, True, True, False),
}


@pytest.mark.parametrize("text", ANSWERS)
def test_who_answers_is_told_apart_from_where_numbers_were_fitted(text: str) -> None:
    rules = as_rules(text)
    record = rules.packed[0]
    found = bool(has_fast_points(record)), bool(has_fast_distance(record)), has_fitted_value(rules), can_estimate(rules)
    assert found == ANSWERS[text]


def test_kernels_that_learn_an_option_switch_no_fitted_number_on(monkeypatch: pytest.MonkeyPatch) -> None:
    taught = dataclasses.replace(RuleSet(), min_naturals=2)
    monkeypatch.setattr(RuleSet, "has_standard_groups", True)
    assert taught.has_standard_groups
    assert not has_fitted_value(taught)
    assert not can_estimate(taught)


def test_every_option_that_a_file_names_decides() -> None:
    assert are_for(USUAL_HANDS, RuleSet())
    for option in USUAL_HANDS:
        assert not are_for({**USUAL_HANDS, option: []}, RuleSet()), option
