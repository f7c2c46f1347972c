"""A trained network becomes a shipped bot by one command, measured, timed and listed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from paplu_env import bots
from paplu_env.errors import InvalidFile, PapluError
from tests.toy_policy import write_toy_policy
from tests.training.tiny import RULES, tiny_config
from training.learn.weights import find_weights, load_weights
from training.ship import main, read_card, write_index
from training.train import train


def test_a_run_is_shipped_and_then_played_and_trained_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train(tiny_config(), tmp_path / "run")
    folder = tmp_path / "policies"
    folder.mkdir()
    words = ["--name", "tiny-1", "--about", "as small as it gets", "--against", "random", "--deals", "6"]
    assert main([str(tmp_path / "run"), *words, "--folder", str(folder)]) == 0
    assert sorted(path.name for path in folder.iterdir()) == [
        "index.json", "tiny-1.json", "tiny-1.onnx", "tiny-1.safetensors"
    ]  # fmt: skip

    monkeypatch.setenv("PAPLU_POLICIES_DIR", str(folder))
    (shipped,) = bots.shipped_policies().values()
    assert (shipped.name, shipped.about, shipped.encoding) == ("tiny-1", "as small as it gets", "cards-v1")
    assert [match.opponent for match in shipped.strength] == ["random"]
    assert shipped.strength[0].deals == 6
    assert shipped.microseconds is not None
    assert shipped.microseconds > 0
    policy = bots.make_policy("tiny-1", RULES)
    assert policy.name == "tiny-1"

    weights = find_weights(folder / "tiny-1")
    assert weights == folder / "tiny-1.safetensors"
    again = train(tiny_config(name="again", clone__decisions=0), tmp_path / "again", start_from=folder / "tiny-1")
    (start,) = again.metrics("start")
    assert start["from"] == "tiny-1.safetensors"
    _, about = load_weights(weights, "cards-v1", policy.rules)
    assert "step" in about


@pytest.mark.parametrize(
    ("name", "about", "part"),
    [
        ("outs", "a bot", "that of another bot"),
        ("hard", "a bot", "that of another bot"),
        ("search-64", "a bot", "that of another bot"),
        ("../up", "a bot", "small letters"),
        ("Points", "a bot", "small letters"),
        ("points-2", "two\nlines", "in one line"),
        ("points-2", " ", "in one line"),
    ],
)
def test_names_that_are_taken_and_words_that_do_not_fit_are_refused(
    name: str, about: str, part: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path), "--name", name, "--about", about, "--folder", str(tmp_path)]) == 2
    assert part in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_the_index_alone_is_written_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_toy_policy(tmp_path, "toy")
    card = read_card(path.with_suffix(".json"))
    # An export that nobody has described stays out of the index.
    (tmp_path / "draft.json").write_text(json.dumps({"format": card["format"]}), encoding="utf-8")
    assert main(["--folder", str(tmp_path)]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "index.json")
    index = json.loads((tmp_path / "index.json").read_text(encoding="utf-8"))
    assert [entry["name"] for entry in index["policies"]] == ["toy"]


def test_cards_that_describe_no_policy_are_refused_by_name(tmp_path: Path) -> None:
    path = write_toy_policy(tmp_path, "toy")
    path.unlink()
    with pytest.raises(InvalidFile, match=r"toy\.json.*missing"):
        write_index(tmp_path)
    path.with_suffix(".json").write_text("{}", encoding="utf-8")
    with pytest.raises(InvalidFile, match=r"toy\.json"):
        write_index(tmp_path)


def test_a_folder_without_a_run_is_not_shipped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "none"), "--name", "points-2", "--about", "a bot", "--folder", str(tmp_path)]) == 2
    assert "error:" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([str(tmp_path / "none")])
    assert issubclass(InvalidFile, PapluError)
