"""A run from its first decision to its export: masks hold, a killed run goes on, nobody shares a folder."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from paplu_env.bots import make_policy
from paplu_env.envs.sb3 import PapluVecEnv
from paplu_env.errors import InvalidFile, PapluError, PolicyMismatch
from paplu_env.evaluation import play_match
from tests.training.tiny import PER_UPDATE, RULES, TOML, tiny_config
from training.export import export_run
from training.learn.opponents import NetworkPolicy, OpponentPool
from training.learn.weights import load_weights
from training.run.checkpoint import checkpoint_step
from training.run.folder import RunFolder
from training.run.tensors import load_tensors
from training.run.training_loop import TrainingRun
from training.train import main, train

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of three updates, on an environment that raises on illegal actions."""
    out = tmp_path_factory.mktemp("runs") / "tiny"
    train(tiny_config(), out)
    return out


@pytest.fixture(scope="module")
def exported(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the finished run, and with its export under ``bots/``."""
    folder = tmp_path_factory.mktemp("exported")
    shutil.copytree(finished, folder / "run")
    (folder / "bots").mkdir()
    export_run(finished, folder / "bots" / "my.bot-1.onnx")
    return folder


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    """A copy of the finished run, to be changed."""
    return Path(shutil.copytree(finished, tmp_path / "tiny"))


def test_a_run_leaves_everything_that_the_next_steps_need(finished: Path) -> None:
    folder = RunFolder(finished)
    description = folder.read()
    assert folder.read_config() == tiny_config()
    assert {"paplu_env", "python", "torch", "sb3-contrib"} <= set(description["versions"])
    assert "commit" in description
    assert checkpoint_step(folder.latest) == 3 * PER_UPDATE
    assert any(folder.tensorboard.iterdir())
    assert [entry["step"] for entry in folder.metrics("update")] == [PER_UPDATE, 2 * PER_UPDATE, 3 * PER_UPDATE]
    assert [entry["step"] for entry in folder.metrics("match")] == [0, 2 * PER_UPDATE, 3 * PER_UPDATE]
    assert len(folder.metrics("clone")) == 1
    for entry in folder.metrics("update"):
        assert {"speed", "entropy", "kl", "points", "length", "dropped", "void", "by_opponent", "by_seat"} <= set(entry)
        assert 0 < entry["entropy"] < 5


def test_best_is_the_network_that_did_best_and_latest_the_newest(finished: Path) -> None:
    folder = RunFolder(finished)
    matches = {entry["step"]: entry["points_per_deal"] for entry in folder.metrics("match")}
    net, about = load_weights(folder.best, "cards-v1", make_policy("random", RULES).rules)
    assert about["evaluation"]["points_per_deal"] == max(matches.values())
    assert matches[about["step"]] == max(matches.values())
    assert about["evaluation"]["b"] == "minscore"
    assert net.action_head.all.out_features == 110


def test_the_network_of_the_last_checkpoint_can_be_exported_instead_of_the_best(finished: Path, tmp_path: Path) -> None:
    folder, rules = RunFolder(finished), make_policy("random", RULES).rules
    net, about = load_weights(folder.last, "cards-v1", rules)
    newest = load_tensors(folder.latest, "paplu-checkpoint-1")[0]
    np.testing.assert_array_equal(net.tensors()["trunk.0.weight"], newest["net.trunk.0.weight"])
    assert about["step"] == about["evaluation"]["step"] == 3 * PER_UPDATE
    export_run(finished, tmp_path / "end.onnx", last=True)
    exported, _ = load_weights(tmp_path / "end.safetensors", "cards-v1", rules)
    np.testing.assert_array_equal(exported.tensors()["trunk.0.weight"], newest["net.trunk.0.weight"])


def test_a_match_measures_the_weights_as_they_are_exported(tmp_path: Path) -> None:
    config = tiny_config(precision="bfloat16", ppo__timesteps=PER_UPDATE, ppo__average=0.5, clone__decisions=0)
    train(config, tmp_path / "run")
    folder, rules = RunFolder(tmp_path / "run"), make_policy("random", RULES).rules
    net, about = load_weights(folder.last, "cards-v1", rules)
    plan = config.evaluation
    player = NetworkPolicy("again", net, "cards-v1", rules)
    again = play_match(player, plan.opponent, deals=plan.deals, seed=plan.seed, rules=rules).to_dict()
    assert again["points_per_deal"] == about["evaluation"]["points_per_deal"]


def test_a_saved_network_plays_its_matches_again_exactly(finished: Path) -> None:
    config = tiny_config()
    rules = make_policy("random", RULES).rules
    net, about = load_weights(RunFolder(finished).best, "cards-v1", rules)
    player = NetworkPolicy("tiny", net, "cards-v1", rules)
    plan = config.evaluation
    again = play_match(player, plan.opponent, deals=plan.deals, seed=plan.seed, rules=rules).to_dict()
    assert again["points_per_deal"] == about["evaluation"]["points_per_deal"]
    assert list(again["wins"]) == about["evaluation"]["wins"]


def test_a_finished_run_resumes_to_its_end_without_another_step(run: Path) -> None:
    before = (run / "latest.safetensors").read_bytes()
    train(tiny_config(), run, resume=True)
    assert (run / "latest.safetensors").read_bytes() == before


def test_a_resumed_run_goes_on_with_the_counter_the_pool_and_the_generators(tmp_path: Path) -> None:
    config = tiny_config(clone__decisions=0, evaluation__every=100)

    class Killed(Exception): ...

    def kill_after_two(self: object) -> None:
        original(self)
        if self.model.num_timesteps == 2 * PER_UPDATE:  # type: ignore[attr-defined]
            raise Killed

    original = TrainingRun._save
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TrainingRun, "_save", kill_after_two)
        with pytest.raises(Killed):
            train(config, tmp_path / "run")
    folder = RunFolder(tmp_path / "run")
    tensors, about = load_tensors(folder.latest, "paplu-checkpoint-1")
    assert (about["step"], about["selves"]) == (2 * PER_UPDATE, [0, PER_UPDATE])
    assert {"rng.torch", "rng.numpy", "net.trunk.0.weight", "adam.exp_avg.net.trunk.0.weight"} <= set(tensors)

    train(config, tmp_path / "run", resume=True)
    _, after = load_tensors(folder.latest, "paplu-checkpoint-1")
    assert after["step"] == 3 * PER_UPDATE
    assert after["updates"] == 3 * config.ppo.epochs
    assert after["selves"] == [0, 2 * PER_UPDATE]  # of three the middle one is dispensable, two are kept
    assert {path.name for path in folder.selves.iterdir()} == {
        f"self-{step:012d}.safetensors" for step in after["selves"]
    }
    assert [entry["step"] for entry in folder.metrics("update")] == [PER_UPDATE, 2 * PER_UPDATE, 3 * PER_UPDATE]


def test_what_was_written_after_the_last_checkpoint_is_forgotten(run: Path) -> None:
    folder = RunFolder(run)
    folder.log("update", 99 * PER_UPDATE, {"speed": 1})
    with open(run / "metrics.jsonl", "a", encoding="utf-8") as file:
        file.write('{"kind": "upd')  # a line that a killed run left half
    (folder.selves / "self-000000099999.safetensors").write_bytes(b"never named by a checkpoint")
    train(tiny_config(), run, resume=True)
    assert max(entry["step"] for entry in folder.metrics()) == 3 * PER_UPDATE
    assert not (folder.selves / "self-000000099999.safetensors").exists()


def test_a_run_ends_when_its_minutes_are_used_up(tmp_path: Path) -> None:
    config = tiny_config(minutes=1e-6, ppo__timesteps=100 * PER_UPDATE)
    train(config, tmp_path / "run")  # cloning alone takes longer than that
    assert checkpoint_step(tmp_path / "run" / "latest.safetensors") == 0


def test_two_runs_of_one_configuration_make_equal_first_updates(tmp_path: Path) -> None:
    config = tiny_config(ppo__timesteps=PER_UPDATE, clone__decisions=0)
    tensors = []
    for name in ("one", "two"):
        torch.rand(3)
        np.random.rand(3)  # noqa: NPY002 - global state must not matter
        train(config, tmp_path / name)
        tensors.append(load_tensors(tmp_path / name / "latest.safetensors", "paplu-checkpoint-1")[0])
    assert tensors[0].keys() == tensors[1].keys()
    for key, value in tensors[0].items():
        np.testing.assert_array_equal(value, tensors[1][key], err_msg=key)


def test_a_run_killed_at_any_moment_resumes(tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(
        TOML.replace(f"timesteps = {3 * PER_UPDATE}", "timesteps = 1_000_000"), encoding="utf-8"
    )
    out = tmp_path / "run"
    command = [sys.executable, "-m", "training.train", str(tmp_path / "tiny.toml"), "--out", str(out)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PAPLU_QUIET": "1"}
    steps = []
    for more in ([], ["--resume"]):
        process = subprocess.Popen(
            command + more, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        reached = steps[-1] if steps else 0
        while process.poll() is None and not (
            (out / "latest.safetensors").exists() and checkpoint_step(out / "latest.safetensors") > reached
        ):
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        _, errors = process.communicate()
        assert process.returncode == -signal.SIGKILL, errors.decode()
        steps.append(checkpoint_step(out / "latest.safetensors"))  # readable: written whole or not at all
    assert 0 < steps[0] < steps[1]


def _press_ctrl_c_in(patch: pytest.MonkeyPatch, name: str, at: int, times: int = 1) -> None:
    """Ctrl-C whenever a method of the run is called at this many decisions."""
    original = getattr(TrainingRun, name)

    def pressed(self: TrainingRun, *arguments: object) -> object:
        if self.model.num_timesteps == at:
            for _ in range(times):
                os.kill(os.getpid(), signal.SIGINT)
        return original(self, *arguments)

    patch.setattr(TrainingRun, name, pressed)


def test_ctrl_c_finishes_the_update_saves_it_and_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "tiny.toml", tmp_path / "run"
    path.write_text(TOML.replace("checkpoint_every = 1", "checkpoint_every = 100"), encoding="utf-8")
    before = signal.getsignal(signal.SIGINT)
    with monkeypatch.context() as patch:
        _press_ctrl_c_in(patch, "_report", at=2 * PER_UPDATE)
        assert main([str(path), "--out", str(out)]) == 130
    said = capsys.readouterr().err
    assert f"python -m training.train {path} --out {out} --resume" in said
    assert checkpoint_step(out / "latest.safetensors") == 2 * PER_UPDATE
    assert signal.getsignal(signal.SIGINT) is before
    assert main([str(path), "--out", str(out), "--resume"]) == 0
    assert [entry["step"] for entry in RunFolder(out).metrics("update")] == [PER_UPDATE, 2 * PER_UPDATE, 3 * PER_UPDATE]


def test_a_second_ctrl_c_stops_at_once_and_leaves_the_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tiny_config(clone__decisions=0, checkpoint_every=100)
    _press_ctrl_c_in(monkeypatch, "_report", at=PER_UPDATE, times=2)
    with pytest.raises(KeyboardInterrupt):
        train(config, tmp_path / "run")
    assert checkpoint_step(tmp_path / "run" / "latest.safetensors") == 0


def test_there_is_something_to_see_between_cloning_and_the_first_update(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train(tiny_config(ppo__timesteps=PER_UPDATE), tmp_path / "run")
    said = capsys.readouterr().out
    places = [
        said.index(words)
        for words in ("cloning", "measuring the start", "after 0 decisions", "learning, 128", "training")
    ]
    assert places == sorted(places)


def test_a_run_that_was_never_begun_cannot_be_resumed(tmp_path: Path) -> None:
    with pytest.raises(PapluError, match="holds no run to resume"):
        train(tiny_config(), tmp_path / "run", resume=True)
    assert not (tmp_path / "run").exists()


def test_a_finished_run_is_extended_by_a_larger_budget(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train(tiny_config(), run, resume=True)
    assert "raise ppo.timesteps in the configuration to extend" in capsys.readouterr().out
    longer = tiny_config(ppo__timesteps=5 * PER_UPDATE)
    train(longer, run, resume=True)
    folder = RunFolder(run)
    assert checkpoint_step(folder.latest) == 5 * PER_UPDATE
    assert [entry["step"] for entry in folder.metrics("update")] == [k * PER_UPDATE for k in range(1, 6)]
    assert folder.read_config() == longer
    assert [entry["ppo.timesteps"] for entry in folder.read()["extended"]] == [3 * PER_UPDATE]


def test_a_second_run_in_the_same_folder_is_refused(run: Path) -> None:
    with RunFolder(run), pytest.raises(PapluError, match="another run is at work"):
        train(tiny_config(), run, resume=True)


def test_a_folder_with_a_run_is_only_used_with_resume(run: Path) -> None:
    with pytest.raises(PapluError, match="holds a run already; continue it with --resume"):
        train(tiny_config(), run)


def test_a_run_resumes_only_with_its_own_configuration(run: Path) -> None:
    with pytest.raises(PapluError, match=r"other values of seed, ppo\.epochs"):
        train(tiny_config(seed=9, ppo__epochs=1), run, resume=True)


@pytest.mark.parametrize("name", ["latest.safetensors", "best.safetensors"])
def test_a_truncated_or_foreign_checkpoint_is_refused_with_its_path(run: Path, name: str) -> None:
    data = (run / name).read_bytes()
    for content, words in ((data[:-1], "truncated"), (b"not a checkpoint", "truncated"), (b"", "truncated")):
        (run / name).write_bytes(content)
        with pytest.raises(InvalidFile, match=rf"{name}.*{words}"):
            train(tiny_config(), run, resume=True)


def test_weights_where_a_checkpoint_should_be_are_refused(run: Path) -> None:
    shutil.copy(run / "best.safetensors", run / "latest.safetensors")
    with pytest.raises(InvalidFile, match="foreign, or of another version"):
        train(tiny_config(), run, resume=True)


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(PapluError, match="cannot be written"):
        train(tiny_config(), tmp_path / "file" / "run")


def test_a_full_disk_is_said_and_the_run_goes_on_when_there_is_space(tmp_path: Path) -> None:
    config, out = tiny_config(clone__decisions=0), tmp_path / "run"

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(out / "tensorboard"))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("training.run.training_loop.Logger.dump", full)
        with pytest.raises(PapluError, match=r"tensorboard: cannot be written \(No space left.*go on with --resume"):
            train(config, out)
    train(config, out, resume=True)
    assert checkpoint_step(out / "latest.safetensors") == 3 * PER_UPDATE
    (out / "metrics.jsonl").unlink()
    (out / "metrics.jsonl").symlink_to("/dev/full")
    with pytest.raises(PapluError, match=r"metrics\.jsonl: cannot be written \(No space left on device\)"):
        RunFolder(out).log("match", 0, {})


@pytest.mark.parametrize("given", ["bots/my.bot-1", "bots/my.bot-1.onnx", "bots/my.bot-1.safetensors", "run"])
def test_learning_goes_on_from_an_exported_bot_or_a_run(
    exported: Path, given: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "tiny.toml", tmp_path / "next"
    toml = TOML.replace("decisions = 1500", "decisions = 0").replace(f"timesteps = {3 * PER_UPDATE}", "timesteps = 0")
    path.write_text(toml, encoding="utf-8")
    assert main([str(path), "--out", str(out), "--from", str(exported / given)]) == 0
    rules = make_policy("random", RULES).rules
    old, new = (load_weights(p / "best.safetensors", "cards-v1", rules)[0] for p in (exported / "run", out))
    for key, value in old.tensors().items():
        np.testing.assert_array_equal(value, new.tensors()[key])
    assert RunFolder(out).metrics("start")[0]["from"].endswith(".safetensors")


def test_a_bot_without_weights_beside_it_cannot_be_gone_on_from(exported: Path, tmp_path: Path) -> None:
    shutil.copy(exported / "bots" / "my.bot-1.onnx", tmp_path / "alone.onnx")
    with pytest.raises(InvalidFile, match=r"alone\.safetensors: there is no such file; learning goes on from weights"):
        train(tiny_config(), tmp_path / "next", start_from=tmp_path / "alone.onnx")


def test_a_run_can_begin_with_the_weights_of_another(finished: Path, tmp_path: Path) -> None:
    config = tiny_config(clone__decisions=0, ppo__timesteps=0)
    train(config, tmp_path / "next", start_from=finished / "best.safetensors")
    rules = make_policy("random", RULES).rules
    old, new = (load_weights(path / "best.safetensors", "cards-v1", rules)[0] for path in (finished, tmp_path / "next"))
    for key, value in old.tensors().items():
        np.testing.assert_array_equal(value, new.tensors()[key])


def test_weights_of_another_shape_or_encoding_are_refused(finished: Path, tmp_path: Path) -> None:
    wide = tiny_config(clone__decisions=0, network__hidden=[16])
    with pytest.raises(PapluError, match=r"another shape: give \[network\] its own values \("):
        train(wide, tmp_path / "wide", start_from=finished / "best.safetensors")
    other = tiny_config(clone__decisions=0, encoding="features-v1")
    with pytest.raises(PolicyMismatch, match="was trained on 'cards-v1'"):
        train(other, tmp_path / "other", start_from=finished / "best.safetensors")


def test_a_run_that_could_not_begin_can_be_begun_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tiny.toml").write_text(TOML, encoding="utf-8")
    command = [
        str(tmp_path / "tiny.toml"),
        "--out",
        str(tmp_path / "run"),
        "--from",
        str(tmp_path / "none.safetensors"),
    ]
    assert main(command) == 2
    assert "none.safetensors: there is no such file" in capsys.readouterr().err
    for key in ("opponents__bots", "evaluation__opponent"):
        with pytest.raises(PapluError, match="nobody"):
            train(tiny_config(**{key: ["nobody"] if key.endswith("bots") else "nobody"}), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_weights_to_begin_with_are_refused_by_a_run_that_goes_on(finished: Path, run: Path) -> None:
    with pytest.raises(PapluError, match="goes on from its own checkpoint"):
        train(tiny_config(), run, resume=True, start_from=finished / "best.safetensors")


def test_the_command_line_says_what_is_wrong_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "wrong.toml").write_text('name = "x"\nfoo = 1\n', encoding="utf-8")
    assert main([str(tmp_path / "wrong.toml"), "--out", str(tmp_path / "run")]) == 2
    assert "unknown key 'foo'" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_the_pool_draws_in_the_configured_shares(finished: Path, tmp_path: Path) -> None:
    config = tiny_config(opponents__pool_size=6, opponents__self_share=0.6)
    rules = make_policy("random", RULES).rules
    net, _ = load_weights(finished / "best.safetensors", "cards-v1", rules)
    pool = OpponentPool(config, tmp_path)
    assert [policy.name for policy in pool.policies()] == ["mindist_opp", "random"]
    assert pool.weights == [0.5, 0.5]
    for step in range(5):
        pool.add(step, net)
    assert len(pool.policies()) == 7
    assert pool.weights == pytest.approx([0.2, 0.2] + [0.12] * 5)
    assert {policy.name for policy in pool.policies()[2:]} == {f"self-{step}" for step in range(5)}


def test_a_full_pool_stays_spread_over_the_run(finished: Path, tmp_path: Path) -> None:
    rules = make_policy("random", RULES).rules
    net, _ = load_weights(finished / "best.safetensors", "cards-v1", rules)
    pool = OpponentPool(tiny_config(opponents__pool_size=4), tmp_path)
    for step in range(13):
        pool.add(step, net)
    steps = pool.state()
    assert (steps[0], steps[-1], len(steps)) == (0, 12, 4)
    assert max(np.diff(steps)) <= 8
    pool.tidy()
    again = OpponentPool(tiny_config(opponents__pool_size=4), tmp_path)
    again.restore(steps)
    assert again.state() == steps


def test_opponents_are_met_as_often_as_they_should_be(finished: Path, tmp_path: Path) -> None:
    rules = make_policy("random", RULES).rules
    net, _ = load_weights(finished / "best.safetensors", "cards-v1", rules)
    pool = OpponentPool(tiny_config(opponents__bots=["mindist_opp"], opponents__self_share=0.25), tmp_path)
    pool.add(0, net)
    env = PapluVecEnv(
        num_envs=256,
        rules=rules,
        opponents=pool.policies(),
        opponent_weights=pool.weights,
        encoding="cards-v1",
        seed=4,
    )
    env.reset()
    names = [info["opponent"] for info in env.reset_infos]
    seats = [info["seat"] for info in env.reset_infos]
    # 256 draws at 1/4: five standard deviations are 35; seats: 5 · 8.
    assert abs(names.count("self-0") - 64) < 35
    assert abs(sum(seats) - 128) < 40


@pytest.mark.parametrize(
    "garbage", [b"\xff\xfe\x00{", b'{"kind": "update"', b"[1, 2]\n", b'{"step": 3}\n', b"[" * 100_000]
)
def test_garbage_at_the_end_of_the_metrics_does_not_break_a_resume(tmp_path: Path, garbage: bytes) -> None:
    out = tmp_path / "run"
    train(tiny_config(), out)
    with open(out / "metrics.jsonl", "ab") as file:
        file.write(garbage)
    train(tiny_config(ppo__timesteps=4 * PER_UPDATE), out, resume=True)
    steps = [entry["step"] for entry in RunFolder(out).metrics("update")]
    assert steps == [number * PER_UPDATE for number in (1, 2, 3, 4)]


def test_a_missing_checkpoint_beside_what_a_run_came_to_is_an_error_and_no_new_start(tmp_path: Path) -> None:
    out = tmp_path / "run"
    train(tiny_config(), out)
    (out / "latest.safetensors").unlink()
    kept = (out / "metrics.jsonl").read_bytes(), (out / "best.safetensors").read_bytes()
    with pytest.raises(PapluError, match=r"latest\.safetensors is missing"):
        train(tiny_config(), out, resume=True)
    assert kept == ((out / "metrics.jsonl").read_bytes(), (out / "best.safetensors").read_bytes())
