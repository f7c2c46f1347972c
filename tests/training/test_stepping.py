"""Games are decided in halves, one played on while the other is decided; threads change no result."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from stable_baselines3.common.logger import Logger

from paplu_env import _jit
from paplu_env.envs.sb3 import PapluVecEnv
from tests.training.tiny import tiny_config
from training.config import TrainConfig
from training.learner import Learner
from training.mixed_env import MixedVecEnv, deal_tables, halves_of, shares_of
from training.rates import Rates
from training.stepping import Stepping
from training.throughput import timed_calls

TWO_TABLES = {"mixed": True, "also_rules": ["points"]}


def _env(config: TrainConfig) -> MixedVecEnv:
    return deal_tables(config, lambda _: config.opponents.bots, None, [11 + table for table in range(2)])


def _collected(**changes: object) -> Learner:
    """A learner after its first rollout."""
    config = tiny_config(encoding="features-v1", **changes)
    learner = Learner(config, _env(config))
    learner.set_logger(Logger(None, []))
    _, callback = learner._setup_learn(learner.n_steps * learner.n_envs, Rates(), True, "run", False)
    assert learner.collect_rollouts(learner.env, callback, learner.rollout_buffer, learner.n_steps)
    return learner


@pytest.mark.parametrize("threads", [1, 2])
def test_jobs_are_done_one_after_the_other_and_results_are_theirs(threads: int) -> None:
    done: list[int] = []
    with Stepping(threads) as stepping:
        waited = [stepping.start(lambda k=k: done.append(k) or k * k) for k in range(20)]
        assert [stepping.result(one) for one in waited] == [k * k for k in range(20)]
    assert done == list(range(20))


def test_whoever_waits_takes_slices_of_what_it_waits_for() -> None:
    meeting = threading.Barrier(2)  # passed by nobody unless two threads are in a slice at the same time
    names: set[str] = set()

    def work(start: int, stop: int) -> None:
        if start in (0, 32):
            meeting.wait(timeout=60)
        names.add(threading.current_thread().name)

    with Stepping(2) as stepping:
        stepping.result(stepping.start(_jit.run_slices, work, 256, 2))
    assert threading.current_thread().name in names
    assert any(name.startswith("paplu_env_step") for name in names)


def test_nobody_is_waited_for_who_has_not_begun_to_help() -> None:
    seen = np.zeros(256, dtype=np.int64)

    def work(start: int, stop: int) -> None:
        seen[start:stop] += 1

    with Stepping(2) as stepping:
        jobs = [stepping.start(_jit.run_slices, work, 256, 2) for _ in range(3)]
        jobs[2].exception()  # waits without helping
        for job in jobs:
            stepping.result(job)
    assert (seen == 3).all()


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_reaches_whoever_waits(threads: int) -> None:
    def fail() -> None:
        raise ValueError("not dealt")

    def ask(stepping: Stepping) -> None:
        stepping.result(stepping.start(fail))

    with Stepping(threads) as stepping, pytest.raises(ValueError, match="not dealt"):
        ask(stepping)


def test_an_error_in_a_shared_slice_reaches_both() -> None:
    meeting = threading.Barrier(2)

    def work(start: int, stop: int) -> None:
        if start in (0, 32):
            meeting.wait(timeout=60)
        if threading.current_thread() is threading.main_thread():
            raise ValueError("a slice")

    with Stepping(2) as stepping:
        job = stepping.start(_jit.run_slices, work, 256, 2)
        with pytest.raises(ValueError, match="a slice"):
            stepping.result(job)
        assert isinstance(job.exception(timeout=60), ValueError)


@pytest.mark.parametrize(
    "changes",
    [{}, TWO_TABLES, {"network__shared": False, "network__hidden_critic": True, "ppo__lookahead": 2}],
    ids=["one table", "two tables", "looking ahead"],
)
def test_a_rollout_is_the_same_on_one_thread_and_on_two(changes: dict[str, Any]) -> None:
    rooms = [_collected(threads=threads, games=80, **changes).rollout_buffer for threads in (1, 2)]
    for name in ("obs", "masks", "hidden", "actions", "log_probs", "values", "advantages", "tried", "gains"):
        one, two = (getattr(room, name) for room in rooms)
        assert (one is None) == (two is None), name
        assert one is None or torch.equal(one, two), name
    assert rooms[0].dones.any()
    assert np.array_equal(rooms[0].rewards, rooms[1].rewards)
    assert np.array_equal(rooms[0].dones, rooms[1].dones)


@pytest.mark.parametrize("changes", [{}, TWO_TABLES], ids=["one table", "two tables"])
def test_what_the_buffer_holds_is_what_the_games_gave(changes: dict[str, Any]) -> None:
    learner = _collected(**changes)
    room, config = learner.rollout_buffer, tiny_config(encoding="features-v1", **changes)
    env = _env(config)
    obs = env.reset()
    for step in range(learner.n_steps):
        assert np.array_equal(room.obs[step].numpy(), obs)
        assert np.array_equal(room.masks[step].numpy(), env.action_masks())
        obs, rewards, dones, _ = env.step(room.actions[step].numpy())
        assert np.array_equal(room.rewards[step], rewards)
        assert np.array_equal(room.dones[step], dones)
    assert room.dones.any()
    assert np.array_equal(learner._last_obs, obs)


def test_a_single_table_is_shared_by_two_parts_that_deal_what_one_would() -> None:
    config = tiny_config(games=7)
    assert [(share.table, share.first, share.games) for share in shares_of(config)] == [(0, 0, 3), (0, 3, 4)]
    split, whole = (
        _env(config),
        PapluVecEnv(
            7,
            config.rules,
            config.opponents.bots,
            encoding=config.encoding,
            reward=config.reward,
            seat="random",
            seed=11,
        ),
    )
    assert np.array_equal(split.reset(), whole.reset())
    for _ in range(30):
        assert np.array_equal(split.action_masks(), whole.action_masks())
        actions = split.action_masks().argmax(axis=1)
        for one, two in zip(split.step(actions)[:3], whole.step(actions)[:3], strict=True):
            assert np.array_equal(one, two)


def test_halves_hold_every_game_once_in_order() -> None:
    config = tiny_config(games=9, mixed=True, also_rules=["points", "saha2025"])
    env = _env_of_three(config)
    (first, front), (second, back) = halves_of(env)
    assert (front, back) == (slice(0, 3), slice(3, 9))
    assert first.parts + second.parts == env.parts
    assert halves_of(env.parts[0]) == [(env.parts[0], slice(0, 3))]


def _env_of_three(config: TrainConfig) -> MixedVecEnv:
    return deal_tables(config, lambda _: ["mindist"], None, [1, 2, 3])


@pytest.mark.parametrize("place", range(3))
def test_throughput_times_what_the_learner_asks(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    class Asked(Exception):
        pass

    def answer(*_: Any) -> None:
        raise Asked

    init: Callable[..., None] = Learner.__init__

    def make(learner: Learner, *given: Any, **named: Any) -> None:
        init(learner, *given, **named)
        owner, name = timed_calls(learner)[place]
        monkeypatch.setattr(owner, name, answer)

    monkeypatch.setattr(Learner, "__init__", make)
    with pytest.raises(Asked):
        _collected()
