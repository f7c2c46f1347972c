"""Search: a function of view, key and worlds, blind to hidden cards, legal, and no worse than its base."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from paplu_env import engine
from paplu_env.bots import make_policy
from paplu_env.bots.playing import play_to_end
from paplu_env.bots.policy import Keys, Masks
from paplu_env.bots.search.agent import SearchAgent
from paplu_env.bots.search.budget import MAX_WORLDS, worlds_of_name
from paplu_env.bots.search.leaf_value import has_fitted_value
from paplu_env.engine.actions import DECLARE_BASE, DROP, TAKE_OPEN
from paplu_env.engine.state import DISCARD, DRAW, OVER, Views
from paplu_env.errors import InvalidHand, PapluError, PolicyMismatch
from paplu_env.evaluation import play_match
from paplu_env.rules import RuleSet, as_rules
from tests.bots.search.searched import after_moves, outcome
from tests.bots.tables import answer, lay_out, play

POINTS = as_rules("points")


def quick(rules: RuleSet = POINTS, worlds: int = 8) -> SearchAgent:
    """A search that stands on a fast base."""
    return SearchAgent(rules, worlds=worlds, base=make_policy("mindist", rules))


def positions(rules: RuleSet = POINTS, deals: int = 6, moves: int = 5, seed: int = 50) -> tuple[Views, Masks, Keys]:
    states = after_moves(rules, deals, moves, seed)
    views = engine.player_views(states, states["current_player"].astype(np.int64))
    return views, engine.legal_action_masks(states, rules), np.arange(len(states), dtype=np.uint64)


@pytest.mark.parametrize("moves", [4, 5])
def test_equal_keys_and_worlds_give_equal_answers_alone_and_in_a_batch(moves: int) -> None:
    views, masks, keys = positions(moves=moves)
    together = quick().act(views, masks, keys)
    alone = [int(quick().act(views[i : i + 1], masks[i : i + 1], keys[i : i + 1])[0]) for i in range(len(views))]
    assert together.tolist() == alone


def test_the_key_decides_which_worlds_are_met() -> None:
    views, masks, keys = positions(deals=1)
    first, second = (quick().compare(views, masks, keys + np.uint64(step))[0] for step in (0, 1))
    assert not np.array_equal(first.values, second.values)


def test_neither_threads_nor_batches_change_a_match() -> None:
    told = [
        play_match(quick(worlds=4), "mindist", deals=6, seed=2, batch=batch, threads=threads).points_per_deal
        for batch, threads in ((1024, 1), (4, 2))
    ]
    assert told[0] == told[1]


@pytest.mark.parametrize("moves", [6, 7])
def test_no_answer_changes_when_the_hidden_cards_do(moves: int) -> None:
    states = after_moves(POINTS, 6, moves, seed=70)
    seats = states["current_player"].astype(np.int64)
    views, keys = engine.player_views(states, seats), np.arange(len(states), dtype=np.uint64)
    others = engine.sample_worlds(views, keys + np.uint64(99), POINTS)
    assert (states["hands"] != others["hands"]).any()
    agent = quick()
    before = agent.compare(views, engine.legal_action_masks(states, POINTS), keys)
    after = agent.compare(engine.player_views(others, seats), engine.legal_action_masks(others, POINTS), keys)
    for one, other in zip(before, after, strict=True):
        assert np.array_equal(one.actions, other.actions)
        assert np.array_equal(one.values, other.values, equal_nan=True)
        assert one.chosen == other.chosen


@pytest.mark.parametrize("name", ["points", "saha2025", "classic", "one_pack", "pagat", "ten_card"])
def test_whole_deals_are_legal_from_the_first_decision_to_the_last(name: str) -> None:
    rules = as_rules(name)
    agent, states = quick(rules, worlds=2), engine.deal_many(rules, np.arange(3, dtype=np.uint64))
    moment = itertools.count()
    # Raises where an answer isn't legal.
    play_to_end(states, [agent, agent], lambda rows, due: np.full(len(due), next(moment), dtype=np.uint64))
    assert (states["phase"] == OVER).all()


def test_plain_python_finds_the_same() -> None:
    root = Path(__file__).resolve().parents[3]
    plain = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.bots.search.searched"],
        cwd=root,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
    )
    assert plain.returncode == 0, plain.stderr
    assert plain.stdout.strip() == outcome()


def test_a_complete_hand_is_declared_without_a_search() -> None:
    states = lay_out("AS 2S 3S 4H 5H 6H 7H 9C 9D 9S KC KD 2D", open_card="KS", indicator="8D")
    play(states, "take")
    views, masks = engine.player_view(states, 0, 0), engine.legal_action_masks(states, POINTS)
    (found,) = quick().compare(views, masks, np.zeros(1, dtype=np.uint64))
    assert found.actions[0] >= DECLARE_BASE
    assert found.worlds.tolist() == [0]
    assert np.isnan(found.values).all()


def test_draws_takes_and_drops_are_compared() -> None:
    views, masks, keys = positions(deals=12, moves=0)
    assert (views["phase"] == DRAW).all()
    compared = {int(action) for found in quick().compare(views, masks, keys) for action in found.actions}
    assert {DROP, TAKE_OPEN} <= compared


def test_a_hopeless_hand_is_dropped_although_the_base_plays_it_on() -> None:
    hand = "KS QH JD 9C 7S 5H 3D KC 8H TD QC 4S 2H"
    states = lay_out(hand, open_card="6D", indicator="AC")
    base = make_policy("easy-1", POINTS)  # never drops
    assert answer(base, states) != "drop"
    assert answer(SearchAgent(POINTS, worlds=128, base=base), states) == "drop"


def test_the_value_of_a_drop_is_its_price() -> None:
    views, masks, keys = positions(deals=12, moves=0)
    for found in quick().compare(views, masks, keys):
        for action, value in zip(found.actions, found.values, strict=True):
            if action == DROP:
                assert value == pytest.approx(-POINTS.first_drop)


def test_candidates_keep_the_distance_and_no_candidate_is_named_twice() -> None:
    views, masks, keys = positions(deals=12)
    assert (views["phase"] == DISCARD).all()
    for found in quick().compare(views, masks, keys):
        assert len(set(found.actions.tolist())) == len(found.actions)
        assert found.errors[0] == 0.0 or len(found.actions) == 1


def test_clear_cases_stop_before_the_worlds_are_used_up() -> None:
    views, masks, keys = positions(deals=12)
    found = quick(worlds=256).compare(views, masks, keys)
    worlds = np.array([each.worlds[0] for each in found if len(each.actions) > 1])
    assert (worlds <= 256).all()
    assert (worlds % 16 == 0).all()
    assert (worlds < 256).any()


def test_a_search_by_time_ends_with_the_worlds_or_with_the_time() -> None:
    views, masks, keys = positions(deals=4)
    base = make_policy("mindist", POINTS)
    hurried = SearchAgent(POINTS, milliseconds=1e-6, base=base).compare(views, masks, keys)
    assert {int(each.worlds[0]) for each in hurried if len(each.actions) > 1} == {4}
    patient = SearchAgent(POINTS, worlds=40, milliseconds=3_600_000, base=base)
    for timed, counted in zip(
        patient.compare(views, masks, keys), quick(worlds=40).compare(views, masks, keys), strict=True
    ):
        assert np.array_equal(timed.values, counted.values, equal_nan=True)


def test_search_plays_better_than_its_base() -> None:
    result = play_match(quick(worlds=16), "mindist", deals=40, seed=11, rules=POINTS)
    assert result.adjusted_points > 5


def test_explanations_carry_values_and_errors() -> None:
    views, masks, _ = positions(deals=1)
    told = quick().explain(views, masks, key=3)
    (found,) = quick().compare(views, masks, np.array([3], dtype=np.uint64))
    values = {candidate.action: candidate.value for candidate in told if candidate.value is not None}
    assert values == dict(zip(found.actions.tolist(), found.values.tolist(), strict=True))
    assert told[0].action == found.actions[found.chosen]


def test_names_tell_the_number_of_worlds() -> None:
    assert (make_policy("search").name, make_policy("search-64").name) == ("search", "search-64")
    assert make_policy("search-64").worlds == 64  # type: ignore[attr-defined]
    assert SearchAgent(POINTS, milliseconds=10).name == "search-10ms"
    assert worlds_of_name("search-0") is None
    with pytest.raises(PapluError, match="search-0"):
        make_policy("search-0")


def test_the_value_is_used_only_where_it_was_fitted() -> None:
    assert has_fitted_value(POINTS)
    for other in ("one_pack", "ten_card", "points:max_points=60"):
        assert not has_fitted_value(as_rules(other))


@pytest.mark.parametrize("wrong", [{"worlds": 0}, {"worlds": MAX_WORLDS + 1}, {"milliseconds": 0}, {"turns": 0}])
def test_budgets_out_of_range_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(PapluError, match=next(iter(wrong))):
        SearchAgent(POINTS, **wrong)  # type: ignore[arg-type]


def test_tables_of_more_seats_are_refused_with_another_bot_named() -> None:
    with pytest.raises(PapluError, match=r"4 seats.*outs"):
        make_policy("search", "points:num_players=4")


def test_a_base_for_other_rules_is_refused() -> None:
    with pytest.raises(PolicyMismatch, match="saha2025"):
        SearchAgent(POINTS, base=make_policy("mindist", "saha2025"))


def test_a_view_whose_cards_do_not_add_up_is_refused() -> None:
    views, masks, keys = positions(deals=1, moves=2)
    views["stock_size"] -= 1
    with pytest.raises(InvalidHand, match="do not add up"):
        quick().act(views, masks, keys)
