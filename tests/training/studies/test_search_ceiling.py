"""The yardstick of `search`: a search that is shown the cards, and plays no seat of ours."""

from __future__ import annotations

import numpy as np
import pytest

from paplu_env import engine
from paplu_env.bots import make_policy
from paplu_env.engine.state import States
from paplu_env.rules import as_rules
from training.studies.search_ceiling.measure import ShownSearch, main, play, reordered

RULES = "points:drop_allowed=false"


def _dealt() -> States:
    return engine.deal_many(as_rules(RULES), np.arange(3, dtype=np.uint64))


def test_worlds_share_all_cards_but_the_order_of_the_stock() -> None:
    state = _dealt()[1:2]
    worlds = reordered(state, 40, np.random.default_rng(1))
    size = int(state["stock_size"][0])
    stocks = worlds["cards"][:, :size]
    assert len(np.unique(stocks, axis=0)) == 40
    np.testing.assert_array_equal(np.sort(stocks), np.sort(state["cards"][:, :size]).repeat(40, axis=0))
    restored = worlds.copy()
    restored["cards"][:, :size], restored["seed"] = state["cards"][:, :size], state["seed"]
    np.testing.assert_array_equal(restored, state.repeat(40))


def test_it_follows_from_its_seed_and_plays_from_both_seats() -> None:
    agent, opponent = ShownSearch(RULES, 16), make_policy("mindist", RULES)
    points = play(agent, opponent, 3, 7)
    assert points.shape == (3, 2)
    assert points.all()  # without drops somebody wins
    np.testing.assert_array_equal(points, play(agent, opponent, 3, 7))
    assert not np.array_equal(points, play(agent, opponent, 3, 8))


def test_playing_for_wins_asks_only_who_wins() -> None:
    for_points, for_wins = ShownSearch(RULES, 16), ShownSearch(RULES, 16, for_wins=True)
    for agent in (for_points, for_wins):
        agent.states = _dealt()
    views = engine.player_views(agent.states, agent.states["current_player"].astype(np.int64))
    masks = engine.legal_action_masks(agent.states, agent.rules)
    keys = np.arange(3, dtype=np.uint64)
    for found in for_wins.compare(views, masks, keys):
        # A win and a loss count 80 each, so of n worlds every value is a multiple of 160 / n away from 80.
        steps = (80 - found.values[0]) / 160 * found.worlds[0]
        assert abs(steps - round(steps)) < 1e-9
        assert abs(found.values[0]) < 80
    assert any(found.values[0] * found.worlds[0] % 1 for found in for_points.compare(views, masks, keys))


def test_the_line_names_deals_seed_and_intervals(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mindist", "--deals", "2", "--worlds", "16", "--seed", "5"]) == 0
    told = capsys.readouterr().out
    assert "2 deals from both seats, seed 5, 16 worlds" in told
    assert "games won" in told


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["nobody"], "nobody"), (["--deals", "1"], "--deals 1"), (["--worlds", "0"], "worlds=0"),
     (["--rules", "points:num_players=3"], "two")],
)  # fmt: skip
def test_what_cannot_be_measured_is_refused(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert said in capsys.readouterr().err
