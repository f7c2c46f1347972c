"""A run of training from its beginning, or its last checkpoint, to its end: clone, play, learn, measure, save."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from stable_baselines3.common.logger import Logger, TensorBoardOutputFormat

from paplu_env.bots import make_policy
from paplu_env.errors import PapluError
from paplu_env.evaluation import play_match
from training.learn.clone import clone
from training.learn.config import BUDGET, TrainConfig
from training.learn.learner import Learner
from training.learn.mixed_env import deal_tables, parts_of
from training.learn.opponents import NetworkPolicy, OpponentPool
from training.learn.weights import find_weights, load_weights, save_weights
from training.run.checkpoint import checkpoint_step, load_checkpoint, save_checkpoint
from training.run.deal_stats import DealStats
from training.run.folder import RunFolder
from training.run.folding import FoldingWatch
from training.run.interrupt import StopOnRequest, Stopped
from training.run.progress import Progress
from training.run.tensors import Tensors

_LOGGED: Final = {  # SB3's name -> ours
    "train/entropy_loss": "entropy",
    "train/policy_gradient_loss": "policy_loss",
    "train/value_loss": "value_loss",
    "train/approx_kl": "kl",
    "train/clip_fraction": "clip_fraction",
    "train/explained_variance": "explained_variance",
    "train/magnet_kl": "magnet_kl",
    "train/guess_loss": "guess_loss",
}


def train(config: TrainConfig, out: Path, resume: bool = False, start_from: Path | None = None) -> RunFolder:
    """Run a configuration from its beginning or its last checkpoint to its end.

    Args:
        config: what to do.
        out: the run's folder.
        resume: go on in a folder that holds this run already, from its beginning if there is no checkpoint
            yet. Its budget may be another one than before, larger to extend it.
        start_from: weights of the same encoding and network to begin with, see `find_weights`.

    Returns:
        The folder, no longer locked; its ``best`` is the network that did best against the fixed agent.

    Raises:
        OnlyFolds: the learner drops nearly every deal, and ``stop_when_folding`` is on.
        PapluError: there is nothing to resume, another run is at work in the folder, it holds another run or one
            whose description or checkpoint is missing, weights are given to a run that has its own checkpoint, or the
            folder can't be written.
        InvalidFile: a checkpoint or weights that can't be used.
        KeyboardInterrupt: Ctrl-C, SIGTERM or SIGHUP; once the first checkpoint is written, another one is written
            before this is raised, so that only the update under way is waited for.
    """
    # Everything that is given is looked at before the folder holds a run, so that a slip can be mended
    # and the same command given again.
    start = None if start_from is None else _load_start(config, find_weights(start_from))
    folder = RunFolder(out)
    if resume and not folder.holds_run:
        raise PapluError(f"{out}: holds no run to resume; name its folder by --out, or begin one without --resume")
    if start_from is not None and resume and folder.latest.exists():
        raise PapluError(
            f"{out}: goes on from its own checkpoint, so it can't begin with {start_from}; leave out --from, or "
            "begin a new run with --out"
        )
    run = TrainingRun(config, folder)
    with folder:
        folder.check_complete()
        folder.begin(config, resume)
        if resume:
            folder.remove_leftovers()
        if resume and not folder.latest.exists():
            print("there is no checkpoint yet: the run begins anew", flush=True)
        try:
            run.go(start)
        except PapluError:
            raise
        except OSError as error:  # of TensorBoard, which writes its files itself
            raise PapluError(
                f"{error.filename or out}: cannot be written ({error.strerror}); free some space or mend its rights, "
                "then go on with --resume from the last checkpoint"
            ) from error
    return folder


@dataclass(frozen=True)
class _Start:
    """Weights to begin with, and where they come from."""

    name: str
    step: int | None
    tensors: Tensors


def _load_start(config: TrainConfig, path: Path) -> _Start:
    """The weights of a file, once they are known to fit the configuration.

    Raises:
        InvalidFile: a missing, truncated or foreign file.
        PapluError: weights of another encoding, of observations of another size, or of another network.
    """
    net, about = load_weights(path, config.encoding, config.main_rules)
    if net.config != config.network:
        theirs, ours = asdict(net.config), asdict(config.network)
        told = ", ".join(f"{key} = {theirs[key]!r}, not {ours[key]!r}" for key in theirs if theirs[key] != ours[key])
        raise PapluError(f"{path}: holds a network of another shape: give [network] its own values ({told})")
    return _Start(path.name, about.get("step"), net.tensors())


class TrainingRun:
    """The parts of one run, and the order in which they work."""

    def __init__(self, config: TrainConfig, folder: RunFolder) -> None:
        self.config = config
        self.folder = folder
        self.rules = config.main_rules
        torch.set_num_threads(config.threads)
        self.pool = OpponentPool(config, folder.selves)
        self.examiner = make_policy(config.evaluation.opponent, self.rules)
        self.schedule = _Schedule(config)
        self.deal_stats = DealStats()
        self.folding = FoldingWatch()
        self.warning: str | None = None  # about the last update
        self.best_score = -np.inf
        self.began = time.monotonic()

    def go(self, start: _Start | None) -> None:
        """Begin or resume, then collect, learn, measure and save until the decisions are used up."""
        config = self.config
        step = checkpoint_step(self.folder.latest) if self.folder.latest.exists() else 0
        # A run that goes on gets other deals than the ones it has learned from.
        seeds = np.random.SeedSequence([config.seed, step]).generate_state(len(config.tables))
        env = deal_tables(config, self.pool.policies, self.pool.weights, seeds.tolist())
        self.model = Learner(config, env, self.schedule)
        logger = Logger(str(self.folder.tensorboard), [TensorBoardOutputFormat(str(self.folder.tensorboard))])
        self.model.set_logger(logger)
        try:
            if self.folder.latest.exists():
                self._resume()
            else:
                self._begin(start)
            self._learn()
        finally:
            logger.close()
            env.close()

    def _begin(self, start: _Start | None) -> None:
        """The weights that learning starts from: given ones, cloned ones, or random ones."""
        config, net = self.config, self.model.policy.net
        self.folder.forget_after(-1)
        if start is not None:
            net.load_tensors(start.tensors)
            self.folder.log("start", 0, {"from": start.name, "its_step": start.step})
        if config.clone.decisions:
            if start is not None:
                print(f"cloning over the weights of {start.name}; to keep them, leave out [clone]", flush=True)
            with Progress(f"cloning {config.clone.teacher}", config.clone.decisions) as progress:
                figures = clone(net, config, progress)
            self.folder.log("clone", 0, {"seconds": round(self.seconds, 1), **figures})
        plan = config.evaluation
        print(f"measuring the start by {plan.deals:,} deals against {plan.opponent}", flush=True)
        print(self._measure(), flush=True)
        self._save()

    def _resume(self) -> None:
        """The state of the last checkpoint; what was written after it is forgotten."""
        about = load_checkpoint(self.folder.latest, self.model)
        self.pool.restore(about["selves"])
        self.pool.tidy()
        self.began -= about["seconds"]
        _, best = load_weights(self.folder.best, self.config.encoding, self.rules)
        self.best_score = best["evaluation"]["points_per_deal"]
        self.folder.forget_after(self.model.num_timesteps)
        print(f"resumed at {self.model.num_timesteps:,} decisions", flush=True)
        if not self.folder.metrics("match"):  # the log was lost, and a checkpoint tells of a match
            print(self._measure(), flush=True)
        if self._progress() >= 1.0:
            minutes = self.config.minutes
            is_late = minutes > 0 and self.seconds >= 60.0 * minutes
            print(f"the budget is used up; raise {BUDGET[is_late]} in the configuration to extend the run")

    def _learn(self) -> None:
        """Updates until the decisions or the minutes are used up, or somebody asks to stop."""
        config, model = self.config, self.model
        per_update = config.games * config.ppo.steps
        if self._progress() < 1.0:
            print(f"learning, {per_update:,} decisions of {config.games:,} deals in each update", flush=True)
        with (
            StopOnRequest() as stop,
            Progress(f"training {config.name}", config.ppo.timesteps, model.num_timesteps) as progress,
        ):
            while self._progress() < 1.0:
                update = model.num_timesteps // per_update
                if config.opponents.self_share and update % config.opponents.add_every == 0:
                    self.pool.add(model.num_timesteps, model.policy.net)
                for part, env in zip(parts_of(config), model.env.parts, strict=True):
                    env.set_opponents(self.pool.policies(part.table), self.pool.weights)

                self.schedule.progress = self._progress()
                start = time.monotonic()
                model.learn(per_update, callback=self.deal_stats, log_interval=None, reset_num_timesteps=False)
                text = self._report(per_update / (time.monotonic() - start))

                if self.warning:
                    progress.say(self.warning)
                is_hopeless = config.stop_when_folding and self.folding.is_hopeless
                is_last = self._progress() >= 1.0
                if is_last or (update + 1) % config.evaluation.every == 0:
                    progress.say(self._measure())
                if is_last or is_hopeless or stop.is_requested or (update + 1) % config.checkpoint_every == 0:
                    self._save()
                progress.show(min(model.num_timesteps, config.ppo.timesteps), text)
                if stop.is_requested and not is_last:
                    raise Stopped(stop.number)
                if is_hopeless and not is_last:
                    raise self.folding.error(self.deal_stats.last)

    @property
    def seconds(self) -> float:
        """How long the run has been at work, in all its sittings."""
        return time.monotonic() - self.began

    def _progress(self) -> float:
        """How much of the run is done, by decisions or by time, whichever is more; 1 at the end."""
        config = self.config
        by_time = self.seconds / (60.0 * config.minutes) if config.minutes else 0.0
        by_decisions = self.model.num_timesteps / config.ppo.timesteps if config.ppo.timesteps else 1.0
        return min(1.0, max(by_time, by_decisions))

    def _report(self, speed: float) -> str:
        """Write the figures of an update to the metrics and to TensorBoard; a short text for the bar."""
        model = self.model
        figures: dict[str, Any] = {"seconds": round(self.seconds, 1), "speed": round(speed)}
        values = model.logger.name_to_value
        figures.update({ours: round(float(values[name]), 6) for name, ours in _LOGGED.items() if name in values})
        figures["entropy"] = -figures["entropy"]
        figures.update(self.deal_stats.take())
        self.warning = self.folding.note(figures, self._progress())
        for key, value in figures.items():
            if isinstance(value, (int, float)):
                model.logger.record(f"paplu/{key}", value)
        for name, share in figures["by_opponent"].items():
            model.logger.record(f"points/{'past selves' if name.startswith('self-') else name}", share["points"])
        model.logger.dump(model.num_timesteps)
        self.folder.log("update", model.num_timesteps, figures)
        return f"points {figures['points']:+.1f}, length {figures['length']:.1f}, entropy {figures['entropy']:.2f}"

    def _measure(self) -> str:
        """A match against the fixed agent; the network is kept if it is the best so far."""
        plan, step = self.config.evaluation, self.model.num_timesteps
        net = self.model.player
        player = NetworkPolicy(self.config.name, net, self.config.encoding, self.rules)
        was_half, net.is_half = net.is_half, False  # files are float32, and it is they that are measured
        try:
            result = play_match(player, self.examiner, deals=plan.deals, seed=plan.seed, rules=self.rules).to_dict()
        finally:
            net.is_half = was_half
        is_best = result["points_per_deal"] > self.best_score
        if is_best:
            self.best_score = result["points_per_deal"]
            about = {"step": step, "evaluation": result, "seconds": round(self.seconds, 1)}
            save_weights(self.folder.best, self.model.player, self.config, about)
        self.folder.log("match", step, result)
        self.model.logger.record("match/points_per_deal", result["points_per_deal"])
        self.model.logger.record("match/win_rate", result["win_rate"])
        return (
            f"after {step:,} decisions against {plan.opponent}: {result['points_per_deal']:+.2f} points per deal, "
            f"{result['win_rate']:.1%} won{' (best so far)' if is_best else ''}"
        )

    def _save(self) -> None:
        """A checkpoint; past selves that it no longer names are then deleted."""
        match = {key: value for key, value in self.folder.metrics("match")[-1].items() if key != "kind"}
        about = {"step": self.model.num_timesteps, "evaluation": match, "seconds": round(self.seconds, 1)}
        save_weights(self.folder.last, self.model.player, self.config, about)
        save_checkpoint(self.folder.latest, self.model, {"selves": self.pool.state(), "seconds": self.seconds})
        self.pool.tidy()


class _Schedule:
    """Adam's step size, falling in a straight line over the whole run; SB3 only knows of one update at a time."""

    def __init__(self, config: TrainConfig) -> None:
        self.progress = 0.0
        self._start = config.ppo.learning_rate
        self._end = config.ppo.final_learning_rate

    def __call__(self, _: float) -> float:
        return self._start + (self._end - self._start) * self.progress
