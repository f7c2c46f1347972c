"""The luck of the draws: zero on average, exactly; and taking it off steadies the points without moving them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from paplu_env import engine, melds
from paplu_env.bots import make_policy
from paplu_env.engine.state import DRAW
from paplu_env.evaluation import draw_luck, play_games, play_match
from paplu_env.evaluation.result import cluster_points
from paplu_env.evaluation.stats import mean_interval
from paplu_env.rules import as_rules
from training.fit.draw_luck import fit, gather, main

RULES = as_rules("points:drop_allowed=false")


def positions(seed: int, draws: int) -> engine.States:
    """A game in its draw phase after ``draws`` draws."""
    states = engine.deal(RULES, seed)
    policy = make_policy("mindist", RULES)
    while int(states["draws"][0]) < draws or int(states["phase"][0]) != DRAW:
        seat = states["current_player"].astype(np.int64)
        views, masks = engine.player_views(states, seat), engine.legal_action_masks(states, RULES)
        engine.apply_actions(states, policy.act(views, masks, np.zeros(1, dtype=np.uint64)), RULES)
    return states


@pytest.mark.parametrize("is_careful", [False, True])
@pytest.mark.parametrize(("seed", "draws"), [(1, 0), (1, 1), (5, 4), (9, 7)])
def test_the_mean_over_every_card_that_may_come_is_exactly_zero(seed, draws, is_careful):
    states = positions(seed, draws)
    size = int(states["stock_size"][0])
    each = np.repeat(states, size)
    for place in range(size):  # every card of the stock in turn on top
        cards = each["cards"][place]
        cards[place], cards[size - 1] = cards[size - 1], cards[place]
    luck = draw_luck.luck_of_draws(each, np.arange(size), RULES, is_careful)
    assert abs(luck.mean()) < 1e-6, "each is a whole number of millionths"
    assert luck.std() > 0.5
    order = np.random.default_rng(seed).permutation(size - 1)
    shuffled = engine.copy(states)
    shuffled["cards"][0, : size - 1] = states["cards"][0, order]
    same_top = draw_luck.luck_of_draws(shuffled, np.array([0]), RULES, is_careful)
    assert same_top == pytest.approx(luck[-1], abs=1e-5), "what lies under the top doesn't matter"


def test_a_card_that_completes_the_hand_is_the_best_luck_and_worth_the_same_whichever_it_is():
    states = positions(1, 14)
    seat, size = int(states["current_player"][0]), int(states["stock_size"][0])
    hands, wild = states["hands"][0], int(states["wild"][0])
    assert melds.distance(hands[seat], wild, RULES) == 1
    completing = melds.outs(hands[seat], wild, 2 - hands[seat], RULES) > 0
    each = np.repeat(states, size)
    for place in range(size):
        cards = each["cards"][place]
        cards[place], cards[size - 1] = cards[size - 1], cards[place]
    luck = draw_luck.luck_of_draws(each, np.arange(size), RULES, is_careful=True)
    wins = completing[states["cards"][0, :size]]
    assert wins.sum() > 1
    assert np.ptp(luck[wins]) < 1e-5
    assert luck[wins].min() > luck[~wins].max()


def test_both_seats_have_the_same_luck_with_the_same_cards():
    states = positions(5, 4)
    seat = int(states["current_player"][0])
    turned = engine.copy(states)
    turned["hands"][0] = states["hands"][0, ::-1]
    turned["current_player"] = 1 - seat
    row = np.array([0])
    assert draw_luck.luck_of_draws(states, row, RULES) == draw_luck.luck_of_draws(turned, row, RULES)


def test_over_many_deals_the_luck_is_zero_and_points_spread_less_without_it():
    policies = [make_policy(name, RULES) for name in ("mindist_opp", "mindist_minscore")]
    games = play_games(policies, deals=600, seed=3, batch=1024)
    luck = games["luck"].mean(axis=1)
    low, high = mean_interval(luck)
    assert low < 0 < high
    plain, adjusted = cluster_points(games)
    assert adjusted is not None
    assert plain.var() > 1.5 * adjusted.var()
    low, high = mean_interval(plain - adjusted)
    assert low < 0 < high


def test_beside_a_slow_player_the_luck_is_estimated_with_more_care_and_says_more():
    policies = [make_policy(name, RULES) for name in ("light", "mindist_opp")]
    _, quick = cluster_points(play_games(policies, deals=200, seed=3, batch=512))
    policies[0].is_slow = True
    games = play_games(policies, deals=200, seed=3, batch=512)
    plain, careful = cluster_points(games)
    assert quick is not None
    assert careful is not None
    assert careful.var() < quick.var() < plain.var()
    low, high = mean_interval(games["luck"].mean(axis=1))
    assert low < 0 < high
    assert [make_policy(name, RULES).is_slow for name in ("outs", "search-64", "mindist")] == [True, True, False]


def test_a_deal_learns_the_factor_on_its_luck_from_other_deals_only():
    policies = [make_policy(name, RULES) for name in ("mindist", "minscore")]
    games = play_games(policies, deals=120, seed=4, batch=1024)
    _, before = cluster_points(games)
    changed = games.copy()
    changed["returns"][0, :, 0] += 50
    _, after = cluster_points(changed)
    assert before is not None
    assert after is not None
    moved = after - before
    assert moved[0] == pytest.approx(50)
    assert np.allclose(moved[2::2], 0), "deals of even number learn from those of odd number"
    assert not np.allclose(moved[1::2], 0)


def test_a_match_reports_the_adjusted_points_beside_the_plain_ones():
    result = play_match("mindist_opp", "minscore", deals=200, seed=2, rules=RULES)
    assert result.adjusted_points is not None
    assert result.adjusted_interval is not None
    assert result.adjusted_interval[0] < result.adjusted_points < result.adjusted_interval[1]
    assert result.saving == pytest.approx((result.points_error / result.adjusted_error) ** 2)
    assert f"{result.adjusted_points:+.2f} [" in str(result)
    assert json.loads(json.dumps(result.to_dict()))["saving"] == result.saving
    without = play_match("mindist_opp", "minscore", deals=200, seed=2, rules=RULES, luck=False)
    assert (without.adjusted_points, without.saving) == (None, None)
    assert without.points_per_deal == result.points_per_deal


@pytest.mark.parametrize(
    ("rules", "can"),
    [
        ("points", True),
        ("one_pack", True),
        ("saha2025", True),
        ("saha2025:indicator_first=false", False),
        ("points:num_players=3", False),
    ],
)
def test_luck_is_estimated_where_the_next_card_is_any_card_of_the_stock(rules, can):
    assert draw_luck.can_estimate(as_rules(rules)) == can
    if can:
        assert play_match("mindist", "minscore", deals=30, seed=1, rules=rules).adjusted_points is not None


def test_a_bot_against_itself_is_even_in_luck_too():
    result = play_match("mindist", "mindist", deals=40, seed=3)
    assert result.adjusted_points == 0.0
    assert result.saving is None


def test_the_fit_finds_what_features_say_and_its_command_stands_in_the_file():
    features, points = gather([make_policy("mindist", RULES), make_policy("minscore", RULES)], deals=60, seed=1)
    assert features.shape == (len(points), draw_luck.NUM_FEATURES)
    into, out_of = fit(features, points, epochs=500, seed=1)
    left = np.maximum(features @ into, 0) @ out_of - points
    assert left.var() < 0.8 * points.var()
    about = json.loads(draw_luck.FILE.read_text(encoding="utf-8"))
    assert about["command"].startswith("python -m training.fit.draw_luck")
    assert np.array(about["into"]).shape == (draw_luck.NUM_FEATURES, len(about["out_of"]))


def test_a_fit_goes_into_the_file_that_is_named_and_leaves_the_shipped_one_alone(tmp_path, capsys):
    before, path = draw_luck.FILE.read_bytes(), tmp_path / "luck.json"
    assert main(["--deals", "4", "--epochs", "1", "--out", str(path)]) == 0
    assert np.array(json.loads(path.read_text(encoding="utf-8"))["into"]).shape[0] == draw_luck.NUM_FEATURES
    assert draw_luck.FILE.read_bytes() == before
    assert main(["--deals", "4", "--epochs", "1", "--out", str(tmp_path / "none" / "luck.json")]) == 2
    assert "there is no folder" in capsys.readouterr().err
