"""What was learned is not lost: signals, garbage in the log, missing files, temporaries of a killed run."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from paplu_env.errors import PapluError
from paplu_env.files import remove_temporaries
from tests.training.tiny import PER_UPDATE, TOML, tiny_config
from training.run.checkpoint import checkpoint_step
from training.run.folder import RunFolder
from training.run.interrupt import StopOnRequest, Stopped, signals_stop
from training.run.training_loop import TrainingRun, train
from training.train import main


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
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_sigterm_and_sighup_save_the_update_and_say_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], number: signal.Signals
) -> None:
    path, out = tmp_path / "tiny.toml", tmp_path / "run"
    path.write_text(TOML.replace("checkpoint_every = 1", "checkpoint_every = 100"), encoding="utf-8")
    report = TrainingRun._report

    def stopped(self: TrainingRun, speed: float) -> str:
        if self.model.num_timesteps == PER_UPDATE:
            os.kill(os.getpid(), number)
        return report(self, speed)

    before = signal.getsignal(number)
    with monkeypatch.context() as patch:
        patch.setattr(TrainingRun, "_report", stopped)
        assert main([str(path), "--out", str(out)]) == 128 + number
    assert f"python -m training.train {path} --out {out} --resume" in capsys.readouterr().err
    assert checkpoint_step(out / "latest.safetensors") == PER_UPDATE
    assert signal.getsignal(number) is before


def test_a_signal_before_the_first_checkpoint_says_how_to_go_on_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "tiny.toml"
    path.write_text(TOML, encoding="utf-8")
    monkeypatch.setattr(TrainingRun, "_begin", lambda *_: os.kill(os.getpid(), signal.SIGTERM))
    assert main([str(path), "--out", str(tmp_path / "run")]) == 143
    assert "--resume" in capsys.readouterr().err


def test_the_second_signal_stops_at_once_whichever_it_is() -> None:
    with StopOnRequest() as stop:
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.is_requested
        with pytest.raises(Stopped) as raised:
            os.kill(os.getpid(), signal.SIGINT)
    assert raised.value.status == 130


def test_a_signal_that_is_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        with signals_stop(), StopOnRequest() as stop:
            os.kill(os.getpid(), signal.SIGHUP)
            assert not stop.is_requested
    finally:
        signal.signal(signal.SIGHUP, before)


GARBAGE = [
    b'{"kind": "upd',
    b"\xff\xfe\x00",
    b"\x00" * 40,
    b"null",
    b"[1]",
    b"7",
    b'{"step": 1}',
    b"[" * 100_000,
    b'"x"\n',
]


@pytest.mark.parametrize("garbage", GARBAGE, ids=range(len(GARBAGE)))
def test_garbage_in_the_last_line_of_the_metrics_is_skipped(tmp_path: Path, garbage: bytes) -> None:
    folder = RunFolder(tmp_path)
    folder.log("update", 5, {"x": 1})
    with open(tmp_path / "metrics.jsonl", "ab") as file:
        file.write(garbage)
    assert [entry["step"] for entry in folder.metrics()] == [5]
    folder.forget_after(5)
    folder.log("match", 6, {})
    assert [entry["kind"] for entry in folder.metrics()] == ["update", "match"]


def test_a_run_goes_on_after_garbage_and_even_without_its_log(run: Path) -> None:
    with open(run / "metrics.jsonl", "ab") as file:
        file.write(b"\x00\xff garbage")
    train(tiny_config(ppo__timesteps=4 * PER_UPDATE), run, resume=True)
    assert RunFolder(run).metrics("update")[-1]["step"] == 4 * PER_UPDATE
    (run / "metrics.jsonl").unlink()
    train(tiny_config(ppo__timesteps=5 * PER_UPDATE), run, resume=True)
    assert checkpoint_step(run / "latest.safetensors") == 5 * PER_UPDATE


@pytest.mark.parametrize(("lost", "told"), [("latest.safetensors", "latest"), ("run.json", "no run.json")])
@pytest.mark.parametrize("resume", [False, True])
def test_a_run_of_which_a_part_is_lost_is_not_begun_anew_over_the_rest(
    run: Path, lost: str, told: str, resume: bool
) -> None:
    (run / lost).unlink()
    before = _bytes(run)
    with pytest.raises(PapluError, match=told if lost != "run.json" or not resume else "holds no run to resume"):
        train(tiny_config(), run, resume=resume)
    assert _bytes(run) == before


def test_a_resume_tidies_temporaries_of_dead_processes_and_of_this_runs_files_only(run: Path) -> None:
    dead = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    gone, here = int(dead.stdout), os.getpid()
    left = [f".latest.safetensors.{gone}.0123abcd.tmp", f".tiny.onnx.{gone}.0123abcd.old", f".lock.{here}.0123abcd.tmp"]
    kept = [f".latest.safetensors.{here}.0123abcd.tmp", f".mine.{gone}.0123abcd.tmp", ".latest.safetensors.tmp"]
    for name in (*left, *kept):
        (run / name).write_bytes(b"x")
    os.utime(run / left[2], (0, 0))  # a process of this number lives, and can't have written it
    (run / "selves" / f".self-1.safetensors.{gone}.0123abcd.tmp").write_bytes(b"x")
    train(tiny_config(), run, resume=True)
    hidden = {path.name for path in run.rglob(".*")}
    assert hidden == set(kept)
    remove_temporaries(run)
    assert {path.name for path in run.rglob(".*")} == {kept[0], kept[2]}
    remove_temporaries(run / "nowhere")


def test_a_run_that_had_only_measured_its_start_begins_anew(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run / "latest.safetensors").unlink()
    for path in (run / "selves").iterdir():
        path.unlink()
    match = RunFolder(run).metrics("match")[0]
    (run / "metrics.jsonl").write_text(json.dumps(match) + "\n")
    train(tiny_config(), run, resume=True)
    assert "begins anew" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["--help"], ["missing.toml"], ["--nonsense"]])
def test_help_and_mistakes_of_training_do_not_wait_for_torch(arguments: list[str]) -> None:
    lines = ["import sys", "from training.train import main", "try:", f"    main({arguments})", "finally:"]
    command = "\n".join([*lines, "    assert 'torch' not in sys.modules"])
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True)
    assert "AssertionError" not in done.stderr
