"""The fit of `outs`: its regressions find what is there, and a whole fit writes weights that play."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from paplu_env.bots.outs.agent import OutsAgent
from paplu_env.bots.outs.take_odds import NUM_ODDS
from paplu_env.bots.outs.weights import CONSTANT, NUM_LINES, NUM_TERMS, parse_weights, shipped_weights
from paplu_env.errors import PapluError
from paplu_env.evaluation import play_match
from training.fit.outs import FitConfig, fit_lines, fit_odds, main
from training.learn.config import load

TINY = """\
rules = "points:drop_allowed=false"
opponents = ["mindist_opp"]
rounds = 1
drop_rules = "points"
drop_deals = 20
deals = 20
seed = 5
looked_at = 2
costs = [0.0, 5.0]
choice_deals = 3
final_deals = 3
"""


def test_lines_are_found_distance_by_distance_and_missing_ones_continue_downwards():
    rng = np.random.default_rng(3)
    true = rng.normal(size=(NUM_LINES, NUM_TERMS))
    distances = rng.integers(1, 4, size=20_000).astype(float)
    terms = np.concatenate([np.ones((20_000, 1)), rng.normal(size=(20_000, NUM_TERMS - 1))], axis=1)
    points = (true[distances.astype(int)] * terms).sum(axis=1) + rng.normal(size=20_000)
    found = fit_lines(distances, terms, points)
    assert np.abs(found[1:4] - true[1:4]).max() < 0.05
    assert np.array_equal(found[4, 1:], found[3, 1:])
    assert found[3, CONSTANT] > found[4, CONSTANT] > found[5, CONSTANT]


def test_odds_are_found():
    rng = np.random.default_rng(4)
    true = rng.normal(size=NUM_ODDS) / 3
    terms = np.concatenate([np.ones((50_000, 1)), rng.normal(size=(50_000, NUM_ODDS - 1))], axis=1)
    taken = (rng.random(50_000) < 1 / (1 + np.exp(-terms @ true))).astype(float)
    assert np.abs(fit_odds(terms, taken) - true).max() < 0.06


def test_a_fit_writes_weights_that_play_and_says_where_they_come_from(tmp_path: Path):
    config = tmp_path / "tiny.toml"
    config.write_text(TINY)
    out = tmp_path / "weights.json"
    assert main([str(config), "--out", str(out)]) == 0
    text = out.read_text()
    weights = parse_weights(text)
    rules = "points:drop_allowed=false"
    assert play_match(OutsAgent(rules, weights), "random", deals=10, rules=rules).win_rate > 0.5
    assert json.loads(text)["config"]["seed"] == 5
    assert json.loads(text)["fresh_deals"]["mindist_opp"]["deals"] == 3


def test_configurations_are_refused_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "bad.toml"
    path.write_text(TINY + "speed = 1\n")
    with pytest.raises(PapluError, match="unknown key 'speed'"):
        load(path, FitConfig)
    path.write_text(TINY.replace("\nrounds = 1\n", "\n"))
    with pytest.raises(PapluError, match="rounds is missing"):
        load(path, FitConfig)
    assert main([str(tmp_path / "none.toml")]) == 2
    assert "none.toml" in capsys.readouterr().err


def test_the_weights_that_ship_are_those_of_the_configuration_in_the_repository():
    shipped = json.loads(Path("paplu_env/bots/outs/outs_weights.json").read_text())
    config = load(Path("configs/outs/fit.toml"), FitConfig)
    assert shipped["config"]["seed"] == config.seed
    assert shipped["made_by"] == "python -m training.fit.outs configs/outs/fit.toml --drops-only"
    assert shipped_weights().lines.shape == (NUM_LINES, NUM_TERMS)
