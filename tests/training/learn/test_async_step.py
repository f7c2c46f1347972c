"""Games are decided in halves, one played on while the other is decided; threads change no result."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from stable_baselines3.common.logger import Logger

from paplu_env import _jit
from paplu_env.envs.sb3 import PapluVecEnv
from paplu_env.errors import PapluError
from tests.training.tiny import tiny_config
from training.learn.async_step import AsyncStepper, Job
from training.learn.config import TrainConfig
from training.learn.learner import Learner
from training.learn.mixed_env import MixedVecEnv, deal_tables, halves_of, parts_of
from training.run.deal_stats import DealStats
from training.studies.throughput.measure import timed_calls

TWO_TABLES = {"mixed": True, "also_rules": ["points"]}


def _env(config: TrainConfig) -> MixedVecEnv:
    return deal_tables(config, lambda _: config.opponents.bots, None, [11 + table for table in range(2)])


def _learner(**changes: object) -> Learner:
    config = tiny_config(encoding="features-v1", **changes)
    learner = Learner(config, _env(config))
    learner.set_logger(Logger(None, []))
    return learner


def _collected(**changes: object) -> Learner:
    """A learner after its first rollout."""
    learner = _learner(**changes)
    _, callback = learner._setup_learn(learner.n_steps * learner.n_envs, DealStats(), True, "run", False)
    assert learner.collect_rollouts(learner.env, callback, learner.rollout_buffer, learner.n_steps)
    return learner


@pytest.mark.parametrize("threads", [1, 2])
def test_jobs_are_done_one_after_the_other_and_results_are_theirs(threads: int) -> None:
    done: list[int] = []
    with AsyncStepper(threads) as stepper:
        waited = [stepper.start(lambda k=k: done.append(k) or k * k) for k in range(20)]
        assert [stepper.result(one) for one in waited] == [k * k for k in range(20)]
    assert done == list(range(20))


def test_whoever_waits_takes_slices_of_what_it_waits_for() -> None:
    meeting = threading.Barrier(2)  # passed by nobody unless two threads are in a slice at the same time
    names: set[str] = set()

    def work(start: int, stop: int) -> None:
        if start in (0, 32):
            meeting.wait(timeout=60)
        names.add(threading.current_thread().name)

    with AsyncStepper(2) as stepper:
        stepper.result(stepper.start(partial(_jit.run_slices, work, 256, 2)))
    assert threading.current_thread().name in names
    assert any(name.startswith("paplu_env_step") for name in names)


def test_nobody_is_waited_for_who_has_not_begun_to_help() -> None:
    seen, is_over = np.zeros(256, dtype=np.int64), threading.Event()

    def work(start: int, stop: int) -> None:
        seen[start:stop] += 1

    with AsyncStepper(2) as stepper:
        jobs = [stepper.start(partial(_jit.run_slices, work, 256, 2)) for _ in range(3)]
        stepper.start(is_over.set)
        assert is_over.wait(timeout=60)  # without helping
        assert all(job.is_done for job in jobs)
        for job in jobs:
            stepper.result(job)
    assert (seen == 3).all()


def test_work_that_comes_after_a_finished_job_is_not_waited_for() -> None:
    is_asked = threading.Event()

    def work(start: int, stop: int) -> None:
        assert is_asked.wait(timeout=60)

    with AsyncStepper(2) as stepper:
        first = stepper.start(lambda: 1)
        last = stepper.start(partial(_jit.run_slices, work, 256, 2))
        while not first.is_done:
            pass
        assert stepper.result(first) == 1
        assert not last.is_done
        is_asked.set()
        stepper.result(last)


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_is_raised_where_the_result_is_asked_for(threads: int) -> None:
    def fail() -> None:
        raise ValueError("not dealt")

    with AsyncStepper(threads) as stepper:
        job = stepper.start(fail)
        with pytest.raises(ValueError, match="not dealt"):
            stepper.result(job)
        assert stepper.result(stepper.start(lambda: 5)) == 5


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
def test_an_error_in_a_shared_slice_stops_both(kind: type[BaseException]) -> None:
    meeting = threading.Barrier(2)

    def work(start: int, stop: int) -> None:
        if start in (0, 32):
            meeting.wait(timeout=60)
        if threading.current_thread() is threading.main_thread():
            raise kind("a slice")

    jobs: list[Job[None]] = []

    def ask() -> None:
        with AsyncStepper(2) as stepper:
            jobs.append(stepper.start(partial(_jit.run_slices, work, 256, 2)))
            stepper.result(jobs[0])

    with pytest.raises(kind, match="a slice"):
        ask()
    assert jobs[0].is_done
    with pytest.raises(kind, match="a slice"):
        jobs[0].result()


@pytest.mark.parametrize(
    "changes",
    [{}, TWO_TABLES, {"network__shared": False, "network__hidden_critic": True, "ppo__lookahead": 2}],
    ids=["one table", "two tables", "looking ahead"],
)
def test_a_rollout_is_the_same_on_any_number_of_threads(changes: dict[str, Any]) -> None:
    first, *others = (_collected(threads=threads, games=80, **changes).rollout_buffer for threads in (1, 2, 3))
    assert first.dones.any()
    for other in others:
        for name in ("obs", "masks", "hidden", "actions", "log_probs", "values", "advantages", "tried", "gains"):
            one, two = getattr(first, name), getattr(other, name)
            assert (one is None) == (two is None), name
            assert one is None or torch.equal(one, two), name
        assert np.array_equal(first.rewards, other.rewards)
        assert np.array_equal(first.dones, other.dones)


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


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("after", [3, 16])
def test_a_callback_that_stops_leaves_the_learner_where_its_games_are(after: int, threads: int) -> None:
    learner = _learner(threads=threads)
    calls: list[int] = []

    def go_on(given: dict[str, Any], _: dict[str, Any]) -> bool:
        calls.append(len(given["infos"]))
        return len(calls) < after

    _, callback = learner._setup_learn(128, go_on, True, "run", False)
    assert not learner.collect_rollouts(learner.env, callback, learner.rollout_buffer, learner.n_steps)
    assert calls == [8] * after
    played = min(after + 1, learner.n_steps)
    assert learner.num_timesteps == 8 * played
    env = _env(tiny_config(encoding="features-v1"))
    obs = env.reset()
    for step in range(played):
        obs, *_ = env.step(learner.rollout_buffer.actions[step].numpy())
    assert np.array_equal(learner._last_obs, obs)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_mask_that_allows_nothing_stops_training_before_it_is_decided_on(threads: int) -> None:
    learner = _learner(threads=threads)
    part, steps = learner.env.parts[1], []  # type: ignore[attr-defined]
    masks = part.action_masks

    def emptied() -> Any:
        steps.append(0)
        found = masks()
        found[2] &= len(steps) < 5
        return found

    part.action_masks = emptied
    with pytest.raises(PapluError, match="the mask of game 6 allows no action"):
        learner.learn(128, callback=DealStats(), log_interval=None)


def test_deals_that_are_cut_are_valued_by_their_own_last_observation() -> None:
    learner = _collected(rules="points:max_turns=6", games=6, threads=2)
    room, env = learner.rollout_buffer, _env(tiny_config(encoding="features-v1", rules="points:max_turns=6", games=6))
    env.reset()
    cut = 0
    for step in range(learner.n_steps):
        _, rewards, dones, infos = env.step(room.actions[step].numpy())
        for i in np.flatnonzero(dones):
            if infos[i]["TimeLimit.truncated"]:
                with torch.inference_mode():
                    last = torch.from_numpy(infos[i]["terminal_observation"])[None]
                    rewards[i] += learner.gamma * float(learner.policy.net.values(last)[0])
                cut += 1
        np.testing.assert_allclose(room.rewards[step], rewards, atol=1e-6)
    assert cut


def test_a_single_table_is_shared_by_two_parts_that_deal_what_one_would() -> None:
    config = tiny_config(games=7)
    assert [tuple(part) for part in parts_of(config)] == [(0, 0, 3), (0, 3, 4)]
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
