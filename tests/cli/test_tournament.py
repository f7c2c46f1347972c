"""``paplu tournament`` as people type it."""

from __future__ import annotations

import json

import pytest
import torch

from paplu_env.cli.main import main
from training.export import export_module


def test_bots_by_name_give_tables_and_the_same_again_as_data(capsys):
    command = ["tournament", "random", "mindist", "--deals", "30", "--rules", "points", "--rules", "one_pack"]
    assert main(command) == 0
    shown = capsys.readouterr().out
    assert "points: 30 deals per pair" in shown
    assert "one_pack: 30 deals per pair" in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert main([*command, "--json", "--workers", "1"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert f"{data['tables'][0]['matches'][0]['points_per_deal']:+.1f}" in shown


def test_a_config_is_played_into_a_folder_and_again_without_playing(capsys, tmp_path):
    config = tmp_path / "small.toml"
    config.write_text('policies = ["random", "mindist"]\nrules = ["points"]\ndeals = 20\n')
    command = ["tournament", str(config), "--out", str(tmp_path / "run")]
    assert main(command) == 0
    first = capsys.readouterr().out
    assert "report.html" in first
    assert {path.name for path in (tmp_path / "run").iterdir()} == {
        "chunks",
        "tournament.json",
        "results.json",
        "results.md",
        "report.html",
    }
    assert main(command) == 0
    assert capsys.readouterr().out == first
    assert main([*command, "--seed", "8"]) == 2
    assert "seed = 0, here 8" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("random",), "at least two"),
        (("random", "random"), "named twice"),
        (("random", "nobody"), "there is no bot 'nobody'"),
        (("none.toml",), "none.toml: cannot be read (No such file"),
        (("none.toml", "random"), "give it alone"),
        (("random", "mindist", "--until", "0"), "above 0"),
        (("random", "mindist", "--deals", "1"), "2 to 10,000,000"),
        (("random", "mindist", "--rules", "points:num_players=4"), "table of 4"),
    ],
)
def test_mistakes_get_a_sentence(capsys, arguments, words):
    try:
        status = main(["tournament", *arguments])
    except SystemExit as stop:  # argparse
        status = int(stop.code or 0)
    shown = capsys.readouterr()
    assert status == 2
    assert words in shown.err
    assert "Traceback" not in shown.err


def test_a_match_can_stop_early(capsys):
    assert main(["match", "mindist", "random", "--deals", "30", "--until", "50", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["deals"] == 30


def test_an_exported_bot_brings_its_rules_and_meets_bots_by_path(capsys, tmp_path):
    class First(torch.nn.Module):
        """Plays the first legal action."""

        def forward(self, obs, mask):
            return -torch.arange(mask.shape[1], dtype=torch.float32) + 0 * obs.sum(dim=1, keepdim=True)

    path = tmp_path / "first.onnx"
    export_module(First(), "cards-v1", "points:drop_allowed=false", path)
    assert main(["tournament", str(path), "mindist", "--deals", "4", "--json", "--out", str(tmp_path / "run")]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["schedule"]["rules"] == ["points:drop_allowed=false"]
    plan = json.loads((tmp_path / "run" / "tournament.json").read_text())
    assert list(plan["files"]) == [str(path)]
