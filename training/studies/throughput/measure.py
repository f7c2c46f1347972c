"""Where the time of training goes: ``python -m training.studies.throughput`` measures the learner and its parts.

All rates are decisions of the learner per second of the wall clock, in the median of several updates of real play
that follow a first one, which compiles. Beside them stands what bounds them: the same network in a bare loop of torch,
the environment without a network, and the stock classes.
"""

from __future__ import annotations

import argparse
import dataclasses
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env import VecEnv

from paplu_env.envs import PapluEnv
from paplu_env.errors import PapluError
from paplu_env.files import check_target, json_of, write_json
from training.learn.config import TrainConfig, load_config
from training.learn.learner import Learner
from training.learn.mixed_env import MixedVecEnv, deal_tables

CONFIG: Final = Path(__file__).with_name("config.toml")
_STOCK_STEPS: Final = 2048  # decisions between two updates of the stock class on one environment, its own default
_FORMAT: Final = "paplu-throughput-1"  # of the file that --json names

_EPILOG: Final = """\
examples:
  python -m training.studies.throughput
  python -m training.studies.throughput configs/points-2/part_1.toml --threads 1 --rounds 5
  python -m training.studies.throughput --precision float32 --threads 2 --json throughput.json
Run it on a quiet machine: with another busy process two threads may be slower than one.
"""


@dataclass(frozen=True)
class Rate:
    """One line of the table."""

    name: str
    per_second: float
    meaning: str


def measure(config: TrainConfig, rounds: int) -> list[Rate]:
    """All lines, for a configuration; cloning and matches are left out."""
    torch.set_num_threads(config.threads)
    learner = _learner(config)
    clock = _Clock()
    with clock.watch(learner):
        for number in range(rounds + 1):
            if number == 1:
                clock.forget()
            learner.learn(_per_update(config), callback=_Silent(), log_interval=None, reset_num_timesteps=False)
    collect, update, network = (clock.median(name) for name in ("collect", "update", "network"))
    decisions = _per_update(config)
    whole = collect + update
    share = (update + network) / whole
    epochs = config.ppo.epochs
    told = f"collecting, updating; {share:.1%} of the time in the network and its distribution"
    rates = [
        Rate("all in", decisions / whole, told),
        Rate("collecting", decisions / collect, "the environment, opponents and the network's choices"),
        Rate("updating", decisions / update, f"{epochs} passes over what was collected"),
        Rate("bare torch", _bare(learner, rounds) / epochs, f"{epochs} passes on one batch that stays in place"),
        Rate("environment", _environment(config, rounds), "random legal moves against the same opponents"),
        Rate("stock, same batch", _stock(config, rounds), "MaskablePPO and its MlpPolicy on the same tables"),
        Rate("stock, one table", _single(config, rounds), "the same with its own batch on a single environment"),
    ]
    learner.env.close()
    return rates


class _Clock:
    """Seconds spent in the parts of an update, update by update."""

    def __init__(self) -> None:
        self.spent: dict[str, list[float]] = {"collect": [], "update": [], "network": []}
        self._network = 0.0

    def forget(self) -> None:
        """Begin anew."""
        self.spent = {name: [] for name in self.spent}

    def median(self, name: str) -> float:
        """Seconds per update."""
        return statistics.median(self.spent[name])

    @contextmanager
    def watch(self, learner: Learner) -> Iterator[None]:
        """Note what the learner does."""
        collect, update = learner.collect_rollouts, learner.train

        def timed(function: Callable[..., Any]) -> Callable[..., Any]:
            def call(*given: Any) -> Any:
                start = time.perf_counter()
                found = function(*given)
                self._network += time.perf_counter() - start
                return found

            return call

        def collect_timed(*given: Any, **named: Any) -> bool:
            self._network, start = 0.0, time.perf_counter()
            is_whole = collect(*given, **named)
            self.spent["collect"].append(time.perf_counter() - start)
            self.spent["network"].append(self._network)
            return is_whole

        def update_timed() -> None:
            start = time.perf_counter()
            update()
            self.spent["update"].append(time.perf_counter() - start)

        given: Any = learner
        given.collect_rollouts, given.train = collect_timed, update_timed
        asked = timed_calls(learner)
        for owner, name in asked:
            setattr(owner, name, timed(getattr(owner, name)))
        try:
            yield
        finally:
            for owner, name in asked:
                delattr(owner, name)


def timed_calls(learner: Learner) -> list[tuple[Any, str]]:
    """Owners and names of all that a learner asks its network for while it collects."""
    return [(learner.policy, "log_probs"), (learner.policy, "draw"), (learner.policy.net, "values")]


class _Silent(BaseCallback):
    """Says nothing and stops nothing."""

    def _on_step(self) -> bool:
        return True


def _per_update(config: TrainConfig) -> int:
    return config.games * config.ppo.steps


def _tables(config: TrainConfig) -> MixedVecEnv:
    bots = list(config.opponents.bots)
    return deal_tables(config, lambda _: bots, None, [config.seed] * len(config.tables))


def _learner(config: TrainConfig) -> Learner:
    learner = Learner(config, _tables(config))
    learner.set_logger(Logger(None, []))
    return learner


def _bare(learner: Learner, rounds: int) -> float:
    """Rows per second of forward, loss, backward and Adam alone."""
    batch = learner._relabelled(learner.rollout_buffer.flat()).rows(torch.arange(learner.batch_size))
    parameters, optimizer = list(learner.policy.parameters()), learner.policy.optimizer
    seconds = []
    for _ in range(5 * rounds):
        start = time.perf_counter()
        loss, _ = learner.loss(batch, 0.2)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 0.5)
        optimizer.step()
        seconds.append(time.perf_counter() - start)
    return learner.batch_size / statistics.median(seconds)


def _environment(config: TrainConfig, rounds: int) -> float:
    env = _tables(config)
    rng = np.random.default_rng(config.seed)
    env.reset()
    seconds = []
    for _ in range(config.ppo.steps * rounds):
        masks = env.action_masks()
        actions = np.where(masks, rng.random(masks.shape), -1.0).argmax(axis=1)
        start = time.perf_counter()
        env.step(actions)
        seconds.append(time.perf_counter() - start)
    env.close()
    return config.games / statistics.median(seconds)


def _stock(config: TrainConfig, rounds: int) -> float:
    ppo = config.ppo
    return _stock_rate(_tables(config), _per_update(config), rounds, n_steps=ppo.steps, batch_size=ppo.batch_size,
                       n_epochs=ppo.epochs, hidden=config.network.hidden)  # fmt: skip


def _single(config: TrainConfig, rounds: int) -> float:
    """On one `PapluEnv`, as a user of SB3 would begin."""
    env = PapluEnv(config.rules, opponent=config.opponents.bots[0], encoding=config.encoding, reward=config.reward)
    return _stock_rate(env, _STOCK_STEPS, max(1, rounds // 2), n_steps=_STOCK_STEPS, n_epochs=config.ppo.epochs,
                       hidden=config.network.hidden)  # fmt: skip


def _stock_rate(env: Any, decisions: int, rounds: int, hidden: tuple[int, ...], **options: Any) -> float:
    model = MaskablePPO(
        MaskableActorCriticPolicy,
        env,
        policy_kwargs={"net_arch": list(hidden), "activation_fn": torch.nn.ReLU},
        seed=0,
        device="cpu",
        **options,
    )
    model.set_logger(Logger(None, []))
    seconds = []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        model.learn(decisions, log_interval=None, reset_num_timesteps=False)
        seconds.append(time.perf_counter() - start)
    assert isinstance(model.env, VecEnv)
    model.env.close()
    return decisions / statistics.median(seconds[1:])


def main(arguments: list[str] | None = None) -> int:
    """The command line.

    Returns:
        0 when the table is printed, 2 if it can't be had as asked.
    """
    parser = argparse.ArgumentParser(
        prog="python -m training.studies.throughput",
        description=__doc__,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("config", type=Path, nargs="?", default=CONFIG, help="TOML file (the study's config.toml)")
    parser.add_argument("--threads", type=int, help="threads of network and environment instead of the file's")
    parser.add_argument("--precision", choices=("float32", "bfloat16"), help="instead of the file's")
    parser.add_argument("--rounds", type=int, default=5, help="updates that are timed (5)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to a file, too")
    parser.add_argument("--force", action="store_true", help="write over a file that this command did not write")
    given = parser.parse_args(arguments)
    try:
        if given.json is not None:
            check_target(given.json, json_of("format", _FORMAT), given.force)
        config = load_config(given.config)
        changes = {"threads": given.threads, "precision": given.precision}
        config = dataclasses.replace(config, **{key: value for key, value in changes.items() if value is not None})
        if given.rounds < 1:
            raise PapluError(f"--rounds {given.rounds}: time at least one update")
        rates = measure(config, given.rounds)
        threads = f"{config.threads} thread{'s' if config.threads > 1 else ''}"
        print(f"{config.name}: {config.precision}, {threads}, {_per_update(config):,} decisions per update")
        for rate in rates:
            print(f"{rate.name:>18} {rate.per_second:>10,.0f} decisions/s  {rate.meaning}")
        if given.json is not None:
            about = {
                "format": _FORMAT,
                "config": config.to_dict(),
                "rates": [dataclasses.asdict(rate) for rate in rates],
            }
            write_json(given.json, about)
    except PapluError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0
