"""Training's commands leave alone what they did not write, and ask before the work, not after it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.training.tiny import TOML, tiny_config
from training import export, report, ship, vectors
from training.fit import draw_luck, leaf_value, outs
from training.run.training_loop import train
from training.studies.drop_value import measure as drop_value
from training.studies.saha2025 import measure as saha2025
from training.studies.search_strength import measure as search_strength
from training.studies.throughput import measure as throughput


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run."""
    folder = tmp_path_factory.mktemp("runs") / "tiny"
    train(tiny_config(), folder)
    return folder


@pytest.fixture
def run(trained: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(trained, tmp_path / "tiny"))


def _refuses(command: Any, arguments: list[str], path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path.write_bytes(b"mine")
    assert command.main(arguments) == 2
    said = capsys.readouterr()
    assert str(path) in said.err
    assert "--force" in said.err
    assert (path.read_bytes(), said.out) == (b"mine", "")


@pytest.mark.parametrize("ending", [".onnx", ".json", ".safetensors"])
def test_an_export_replaces_exports_and_nothing_else(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], ending: str
) -> None:
    arguments = [str(run), "--last", "--out", str(tmp_path / "bot.onnx")]
    _refuses(export, arguments, tmp_path / f"bot{ending}", capsys)
    assert export.main([*arguments, "--force"]) == 0
    assert export.main(arguments) == 0


def test_a_page_and_its_pictures_replace_pages_and_pictures_and_nothing_else(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, pictures = tmp_path / "page.html", tmp_path / "pictures"
    pictures.mkdir()
    arguments = [str(run), "--out", str(page), "--pictures", str(pictures)]
    _refuses(report, arguments, page, capsys)
    page.unlink()
    _refuses(report, arguments, pictures / "tiny-seats.png", capsys)
    assert not page.exists()
    assert report.main([*arguments, "--force"]) == 0
    assert report.main(arguments) == 0
    assert page.read_text().startswith("<!doctype html>")


def test_a_policy_is_shipped_over_no_file_of_others(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "policies"
    folder.mkdir()
    arguments = [str(run), "--name", "tiny-1", "--about", "a bot", "--last", "--folder", str(folder)]
    for name in ("tiny-1.safetensors", "index.json"):
        _refuses(ship, arguments, folder / name, capsys)
        assert [path.name for path in folder.iterdir()] == [name]
        (folder / name).unlink()
    assert ship.main(arguments) == 0
    assert ship.main(arguments) == 0


CONFIGS = Path(__file__).parents[2] / "configs"


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        (vectors, ["--out"]),
        (draw_luck, ["--out"]),
        (leaf_value, [str(CONFIGS / "search" / "fit.toml"), "--out"]),
        (outs, [str(CONFIGS / "outs" / "fit.toml"), "--out"]),
        (saha2025, ["--out"]),
        (throughput, ["tiny.toml", "--json"]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_long_work_is_refused_before_it_begins(
    command: Any, arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tiny.toml").write_text(TOML)
    _refuses(command, [*arguments, str(tmp_path / "out")], tmp_path / "out", capsys)


@pytest.mark.parametrize("ending", [".json", ".md", ".svg"])
def test_the_studies_write_beside_nothing_of_others(tmp_path: Path, capsys: Any, ending: str) -> None:
    _refuses(drop_value, ["--out", str(tmp_path / "out")], tmp_path / f"out{ending}", capsys)
    config = tmp_path / "mine.toml"
    shutil.copy(Path(search_strength.__file__).with_name("config.toml"), config)
    _refuses(search_strength, [str(config)], tmp_path / f"mine{ending}", capsys)


@pytest.mark.parametrize(("study", "arguments"), [(drop_value, ["--out", "x"]), (search_strength, [])])
def test_a_study_that_could_not_draw_its_plot_is_refused_before_it_begins(
    study: Any, arguments: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert study.main(arguments) == 2
    assert "paplu-env[report]" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_the_files_that_ship_are_known_as_their_commands_own(capsys: Any, tmp_path: Path) -> None:
    from paplu_env.evaluation.draw_luck import FILE
    from paplu_env.files import check_target, json_of
    from training.run.policy_file import _check_targets

    check_target(FILE, json_of("command", "python -m training.fit.draw_luck"))
    root = CONFIGS.parent
    check_target(root / "paplu_env/bots/search/leaf_value.npz", leaf_value._OWN)
    check_target(root / "paplu_env/bots/outs/outs_weights.json", json_of("made_by", "python -m training.fit.outs"))
    _check_targets(False, *sorted((root / "policies").glob("*-2.*")))
