"""Runs that were begun by an earlier version stay readable, go on and can be exported.

``data/old_run`` was written at commit bb28b14, before the files of `training` moved into rooms, by
``python -m training.train`` with 128 decisions of a network of two hidden units.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from paplu_env.bots import make_policy
from training.learn.config import TrainConfig
from training.learn.weights import find_weights, load_weights
from training.run.checkpoint import checkpoint_step
from training.run.folder import RunFolder
from training.run.policy_file import export_run
from training.run.record import read_run
from training.run.training_loop import train

OLD = Path(__file__).parent / "data" / "old_run"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return Path(shutil.copytree(OLD, tmp_path / "old"))


def test_an_old_run_is_read_with_all_its_figures(run: Path) -> None:
    record = read_run(run)
    assert (record.name, record.decisions, len(record.updates), len(record.matches)) == ("old", 128, 2, 3)
    config = RunFolder(run).read_config()
    net, about = load_weights(find_weights(run), config.encoding, config.main_rules)
    assert net.config.hidden == (2,)
    assert about["step"] == record.best["step"]


def test_an_old_run_goes_on_from_its_checkpoint_and_is_exported(run: Path) -> None:
    values = RunFolder(run).read_config().to_dict()
    values["ppo"]["timesteps"] = 192
    train(TrainConfig.from_dict(values), run, resume=True)
    assert checkpoint_step(run / "latest.safetensors") == 192
    path = export_run(run)
    assert make_policy(str(path), None).name == "old"


def test_nothing_that_a_run_keeps_names_a_module() -> None:
    for path in sorted(OLD.iterdir()):
        text = path.read_bytes().decode("latin-1")
        assert "training." not in text, path.name
        assert "paplu_env." not in text, path.name
    assert json.loads((OLD / "run.json").read_text(encoding="utf-8"))["config"]["name"] == "old"
