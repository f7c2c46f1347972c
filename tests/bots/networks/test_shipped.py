"""Networks that ship with the package are bots by name: in Python, on the command line, and without torch."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from paplu_env import bots
from paplu_env.bots.networks.onnx import OnnxPolicy
from paplu_env.bots.networks.shipped import INDEX, policies_folder
from paplu_env.cli.main import main
from paplu_env.errors import InvalidFile, PapluError, PolicyMismatch
from tests.toy_policy import write_toy_policy
from training.ship import write_index

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of shipped policies: one plays ``points``, one ``one_pack``."""
    write_toy_policy(tmp_path, "toy")
    write_toy_policy(tmp_path, "small", rules="one_pack")
    write_index(tmp_path)
    monkeypatch.setenv("PAPLU_POLICIES_DIR", str(tmp_path))
    return tmp_path


def test_the_checkout_has_an_index_that_the_cards_give(tmp_path: Path) -> None:
    assert policies_folder() == ROOT / "policies"
    shutil.copytree(ROOT / "policies", tmp_path, dirs_exist_ok=True)
    assert write_index(tmp_path).read_bytes() == (ROOT / "policies" / INDEX).read_bytes()


def test_every_policy_of_the_package_can_be_played() -> None:
    for name, shipped in bots.shipped_policies().items():
        for rules in shipped.rules:
            assert bots.make_policy(name, rules).name == name


def test_a_shipped_policy_is_made_by_its_name(folder: Path) -> None:
    policy = bots.make_policy("toy")
    assert isinstance(policy, OnnxPolicy)
    assert (policy.name, policy.path) == ("toy", folder / "toy.onnx")
    assert str(bots.make_policy("small", None).rules) == str(bots.make_policy("small").rules) == "one_pack"
    with pytest.raises(PolicyMismatch, match="trained for one_pack, not for points"):
        bots.make_policy("small", "points")
    with pytest.raises(PapluError, match=r"Did you mean toy\?.*outs.*small, toy"):
        bots.make_policy("toyy")


def test_the_index_says_what_the_cards_say(folder: Path) -> None:
    small, toy = bots.shipped_policies().values()
    assert (small.name, small.rules, toy.rules) == ("small", ("one_pack",), ("points",))
    assert toy.bytes == (folder / toy.file).stat().st_size
    assert str(toy.strength[0]) == "65.1% and +12.3 against mindist_opp"


def test_without_an_index_no_policy_ships(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAPLU_POLICIES_DIR", str(tmp_path))
    assert bots.shipped_policies() == {}
    with pytest.raises(PapluError, match="there is no bot 'toy'"):
        bots.make_policy("toy")


@pytest.mark.parametrize("text", ["[", '{"format": "paplu-policies-0"}', "[]", '{"format": "paplu-policies-1"}'])
def test_a_broken_index_is_refused_by_its_path(folder: Path, text: str) -> None:
    (folder / INDEX).write_text(text, encoding="utf-8")
    with pytest.raises(InvalidFile, match=r"index\.json"):
        bots.make_policy("toy")
    # What is no network doesn't wait for it.
    assert bots.make_policy("mindist").name == "mindist"


@pytest.mark.parametrize(
    "field", ["name", "about", "file", "card", "encoding", "rules", "bytes", "microseconds", "strength"]
)
@pytest.mark.parametrize("value", [[[]], {"a": 1}, True])
def test_an_index_with_a_value_of_another_type_is_refused_by_its_path(folder: Path, field: str, value: object) -> None:
    index = json.loads((folder / INDEX).read_text())
    index["policies"][0][field] = value
    (folder / INDEX).write_text(json.dumps(index))
    with pytest.raises(InvalidFile, match=rf"index\.json: is no index of policies \({field}"):
        bots.shipped_policies()


@pytest.mark.parametrize("field", ["opponent", "rules", "deals", "win_rate", "points_interval"])
def test_a_strength_in_the_index_is_held_to_its_types_too(folder: Path, field: str) -> None:
    index = json.loads((folder / INDEX).read_text())
    for value in (None, [1, 2, 3]):
        index["policies"][0]["strength"][0][field] = value
        (folder / INDEX).write_text(json.dumps(index))
        with pytest.raises(InvalidFile, match=f"{field} "):
            bots.shipped_policies()


def test_the_command_lists_matches_and_seats_shipped_policies(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bots"]) == 0
    shown = capsys.readouterr().out
    row = next(line for line in shown.splitlines() if line.startswith("toy "))
    for part in ("points", "cards-v1", "MB", "0.12 ms", "65.1% and +12.3 against mindist_opp", "random weights"):
        assert part in row
    assert main(["bots", "--json"]) == 0
    assert [bot["name"] for bot in json.loads(capsys.readouterr().out)][-2:] == ["small", "toy"]
    assert main(["match", "small", "random", "--deals", "4", "--threads", "1", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["a"], result["rules"]) == ("small", "one_pack")
    assert main(["play", "toy", "--watch", "--seed", "1"]) == 0


def test_an_installed_package_plays_its_policies_without_torch(folder: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    shutil.copytree(ROOT / "paplu_env", site / "paplu_env", ignore=shutil.ignore_patterns("__pycache__"))
    for path in folder.glob("*.*"):
        (site / "paplu_env" / "_policies").mkdir(exist_ok=True)
        shutil.copy(path, site / "paplu_env" / "_policies")
    play = "from paplu_env import bots; print(bots.make_policy('toy').path)"
    environment = {"PYTHONPATH": str(site), "PATH": "", "HOME": str(tmp_path), "PAPLU_QUIET": "1"}

    def run(code: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", code]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    found = run(f"import sys; sys.modules['torch'] = None; {play}")
    assert found.stdout.strip() == str(site / "paplu_env" / "_policies" / "toy.onnx"), found.stderr
    refused = run(f"import sys; sys.modules['onnxruntime'] = None; {play}")
    assert "pip install 'paplu-env[onnx]'" in refused.stderr
