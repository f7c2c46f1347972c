"""The study of dropping: its classes are means of what was brought, and it writes a table, numbers and a plot."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from paplu_env import engine
from paplu_env.bots.outs.agent import OutsAgent
from paplu_env.bots.outs.weights import shipped_weights
from paplu_env.engine import DROP
from paplu_env.melds import distances
from paplu_env.rules import parse_rules
from training.fit.outs import published_rule
from training.studies.drop_value.measure import main


def test_the_published_rule_drops_first_hands_beyond_four_and_no_others() -> None:
    rules = parse_rules("points")
    states = engine.deal_many(rules, np.arange(300, dtype=np.uint64))
    views = engine.player_views(states, np.zeros(300, dtype=np.int64))
    agent = OutsAgent(rules, published_rule(shipped_weights()))
    dropped = agent.act(views, engine.legal_action_masks(states, rules), np.zeros(300, dtype=np.uint64)) == DROP
    assert dropped.any()
    assert np.array_equal(dropped, distances(views["hand"], views["wild"], rules) > 4)


def test_a_study_writes_its_classes_and_further_hands_are_worth_less(tmp_path: Path) -> None:
    out = tmp_path / "study"
    assert (
        main(
            [
                "--deals",
                "250",
                "--match-deals",
                "4",
                "--ceiling-deals",
                "12",
                "--playouts",
                "2",
                "--seed",
                "3",
                "--out",
                str(out),
            ]
        )
        == 0
    )
    classes = json.loads(out.with_suffix(".json").read_text())["classes"]
    first = [each for each in classes if each["drop"] == "first" and list(each["by"]) == ["distance"]]
    assert 300 < sum(each["hands"] for each in first) <= 500, "each deal twice, but for classes of too few hands"
    means = [each["points"] for each in sorted(first, key=lambda each: each["by"]["distance"])]
    assert means == sorted(means, reverse=True), "further from complete is worth less"
    table = out.with_suffix(".md").read_text()
    assert table.count("points per deal**") == 2
    assert "| perfect |" in table
    assert "</svg>" in out.with_suffix(".svg").read_text()
