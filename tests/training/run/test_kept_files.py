"""No export, card or page is written over what a run keeps: the run would be destroyed by its own export."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from paplu_env.errors import PapluError
from tests.training.tiny import tiny_config
from training import export, report
from training.run.folder import check_not_kept
from training.run.policy_file import export_run
from training.run.shipping import ship
from training.run.training_loop import train


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run."""
    folder = tmp_path_factory.mktemp("runs") / "tiny"
    train(tiny_config(), folder)
    return folder


@pytest.fixture
def run(trained: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(trained, tmp_path / "tiny"))


def _bytes(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


KEPT = ["run", "latest", "best", "last", "exploit", "selves/new", "tensorboard/x", "RUN"]


@pytest.mark.parametrize("name", KEPT)
def test_an_export_over_a_file_of_the_run_is_refused_by_name_and_writes_nothing(run: Path, name: str) -> None:
    before = _bytes(run)
    with pytest.raises(PapluError, match="keeps this file") as raised:
        export_run(run, run / f"{name}.onnx", last=True)
    assert name.split("/")[0] in str(raised.value)
    assert _bytes(run) == before


@pytest.mark.parametrize("name", ["run", "latest", "best"])
def test_a_run_of_that_name_is_refused_its_default_place_and_exported_elsewhere(run: Path, name: str) -> None:
    about = json.loads((run / "run.json").read_text())
    about["config"]["name"] = name
    (run / "run.json").write_text(json.dumps(about))
    before = _bytes(run)
    with pytest.raises(PapluError, match="keeps this file"):
        export_run(run, last=True)
    assert _bytes(run) == before
    elsewhere = run.parent / f"{name}.onnx"
    assert export_run(run, elsewhere, last=True) == elsewhere
    assert _bytes(run) == before


def test_another_runs_folder_and_links_into_one_are_held_against_it_too(run: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(run, other)
    (tmp_path / "link").symlink_to(other)
    for folder in (other, tmp_path / "link"):
        with pytest.raises(PapluError, match="keeps this file"):
            export_run(run, folder / "best.onnx", last=True)
        with pytest.raises(PapluError, match="keeps this file"):
            ship(run, "latest", "a bot", folder=folder, last=True)
    check_not_kept(tmp_path / "run.json", other / "tiny.onnx", other / "tiny.json")  # no run's


def test_the_commands_say_it(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = _bytes(run)
    assert export.main([str(run), "--last", "--out", str(run / "latest.onnx")]) == 2
    assert report.main([str(run), "--out", str(run / "metrics.jsonl")]) == 2
    assert capsys.readouterr().err.count("keeps this file") == 2
    assert _bytes(run) == before


def test_the_index_of_shipped_policies_is_no_name_of_one(run: Path, tmp_path: Path) -> None:
    with pytest.raises(PapluError, match="'index'"):
        ship(run, "index", "a bot", folder=tmp_path, last=True)
