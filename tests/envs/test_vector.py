"""The native vector environment: equal to Gymnasium's own over single ones, in every mode, and its protocol."""

from __future__ import annotations

import copy
import multiprocessing
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.error import ResetNeeded
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics, RescaleObservation

from paplu_env import engine
from paplu_env.engine import DISCARD_BASE, DRAW_CLOSED, DROP, NUM_ACTIONS
from paplu_env.envs import PapluEnv, PapluVectorEnv
from paplu_env.errors import IllegalAction, PapluError
from paplu_env.rules import RuleSet, as_rules, preset
from tests.envs.players import Delegate, Passer, pick_many

# A draw now and then cuts deals short, and drops are rarer than among random actions.
SHORT = "points:max_turns=24"


def _sync(num_envs: int, autoreset_mode: str = "NextStep", **arguments: Any) -> SyncVectorEnv:
    return SyncVectorEnv([lambda: PapluEnv(**arguments)] * num_envs, autoreset_mode=autoreset_mode)


def _assert_equal_infos(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert one.keys() == other.keys()
    for key, value in one.items():
        if isinstance(value, dict):
            _assert_equal_infos(value, other[key])
        elif key == "final_obs":
            for observation, other_observation in zip(value, other[key], strict=True):
                np.testing.assert_array_equal(observation, other_observation)
        else:
            assert value.dtype == other[key].dtype, key
            np.testing.assert_array_equal(value, other[key], err_msg=key)


def _assert_equal_steps(one: tuple[Any, ...], other: tuple[Any, ...]) -> None:
    *arrays, infos = one
    *other_arrays, other_infos = other
    for array, other_array in zip(arrays, other_arrays, strict=True):
        assert array.dtype == other_array.dtype
        np.testing.assert_array_equal(array, other_array)
    _assert_equal_infos(infos, other_infos)


def _patient(generator: np.random.Generator, masks: np.ndarray) -> np.ndarray:
    """Random legal actions, in which drops are rare."""
    actions = pick_many(generator, masks)
    return np.where((actions == DROP) & (generator.random(len(actions)) < 0.9), DRAW_CLOSED, actions)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize(
    "arguments",
    [
        {"opponent": "random", "reward": "points"},
        {"opponent": "random", "reward": "shaped:deadwood", "rules": SHORT},
        {"opponent": "mindist_opp", "reward": "scaled"},
        {"opponent": "easy", "reward": "shaped:distance", "encoding": "features-v1"},
        {"opponent": Delegate("random"), "reward": "win"},
        {"opponent": Passer(SHORT), "rules": SHORT, "seat": 1},
        {"opponent": "self", "rules": SHORT},
    ],
    ids=lambda arguments: "-".join(str(value) for value in arguments.values()),
)
def test_native_equals_sync_step_by_step(arguments: dict[str, Any], mode: str) -> None:
    arguments = {"encoding": "cards-v1", **arguments}
    num_envs = 12
    native = PapluVectorEnv(num_envs, **arguments, autoreset_mode=mode)
    sync = _sync(num_envs, mode, **arguments)
    generator = np.random.default_rng(0)
    one, other = native.reset(seed=3), sync.reset(seed=3)
    _assert_equal_steps(one, other)
    ended = 0
    for _ in range(60):
        actions = _patient(generator, one[-1]["action_mask"])
        one, other = native.step(actions), sync.step(actions)
        _assert_equal_steps(one, other)
        ended += int((one[2] | one[3]).sum())
    assert ended > 10


@pytest.mark.parametrize(
    "opponent", ["random", "minscore", "mindist", "mindist_minscore", "mindist_opp", "easy-1", "medium-1"]
)
def test_native_equals_sync_with_every_rule_agent(opponent: str) -> None:
    arguments: dict[str, Any] = {"opponent": opponent, "encoding": "cards-v1", "rules": "points:max_turns=12"}
    native, sync = PapluVectorEnv(5, **arguments), _sync(5, **arguments)
    one, other = native.reset(seed=4), sync.reset(seed=4)
    generator = np.random.default_rng(0)
    ended = 0
    for _ in range(25):
        _assert_equal_steps(one, other)
        actions = _patient(generator, one[-1]["action_mask"])
        one, other = native.step(actions), sync.step(actions)
        ended += int((one[2] | one[3]).sum())
    assert ended > 5


def test_native_equals_sync_when_illegal_actions_end_deals() -> None:
    native = PapluVectorEnv(8, opponent="random", encoding="cards-v1")
    sync = _sync(8, opponent="random", encoding="cards-v1")
    _assert_equal_steps(native.reset(seed=3), sync.reset(seed=3))
    generator = np.random.default_rng(0)
    reasons = set()
    for _ in range(40):
        actions = generator.integers(0, 12, 8)
        one, other = native.step(actions), sync.step(actions)
        _assert_equal_steps(one, other)
        reasons |= set(one[-1].get("illegal_action", []))
    assert len(reasons) > 3


def test_native_equals_sync_with_three_seats() -> None:
    arguments: dict[str, Any] = {"rules": "points:num_players=3", "opponent": ["mindist", "random"]}
    native = PapluVectorEnv(6, **arguments, encoding="cards-v1")
    sync = _sync(6, **arguments, encoding="cards-v1")
    one, other = native.reset(seed=3), sync.reset(seed=3)
    generator = np.random.default_rng(0)
    for _ in range(40):
        _assert_equal_steps(one, other)
        actions = _patient(generator, one[-1]["action_mask"])
        one, other = native.step(actions), sync.step(actions)


def test_hundreds_of_deals_of_the_native_environment_equal_single_ones() -> None:
    arguments: dict[str, Any] = {"opponent": "random", "encoding": "cards-v1"}
    native = PapluVectorEnv(64, **arguments, autoreset_mode="SameStep")
    generator = np.random.default_rng(0)
    _, infos = native.reset(seed=100)
    played: list[list[list[int]]] = [[[]] for _ in range(64)]
    results: list[list[tuple[Any, ...]]] = [[] for _ in range(64)]
    for _ in range(60):
        actions = _patient(generator, infos["action_mask"])
        _, rewards, terminated, truncated, infos = native.step(actions)
        for i in range(64):
            played[i][-1].append(int(actions[i]))
            if terminated[i] or truncated[i]:
                final = infos["final_info"]
                results[i].append((rewards[i], truncated[i], final["ending"][i], tuple(final["returns"][i])))
                played[i].append([])
    assert sum(map(len, results)) > 300
    for i in range(0, 64, 4):
        single = PapluEnv(**arguments)
        for deal, expected in enumerate(results[i]):
            single.reset(seed=100 + i if deal == 0 else None)
            for action in played[i][deal]:
                _, reward, terminated, truncated, info = single.step(action)
            assert terminated or truncated
            assert (reward, truncated, info["ending"], tuple(info["returns"])) == expected


def test_threads_change_nothing() -> None:
    envs = [PapluVectorEnv(50, opponent=Delegate("easy-1"), encoding="cards-v1", threads=n) for n in (1, 3)]
    steps = [env.reset(seed=1) for env in envs]
    generator = np.random.default_rng(0)
    for _ in range(30):
        _assert_equal_steps(steps[0], steps[1])
        actions = _patient(generator, steps[0][-1]["action_mask"])
        steps = [env.step(actions) for env in envs]


def test_the_number_of_environments_beside_it_changes_nothing() -> None:
    few = PapluVectorEnv(3, opponent="random", encoding="cards-v1")
    many = PapluVectorEnv(30, opponent="random", encoding="cards-v1")
    np.testing.assert_array_equal(few.reset(seed=5)[0], many.reset(seed=5)[0][:3])


def test_64_environments_open_with_64_different_hands() -> None:
    env = PapluVectorEnv(64, opponent="random", encoding="cards-v1")
    observations, _ = env.reset(seed=3)
    assert len({observation.tobytes() for observation in observations}) == 64
    seeds = [7, 7, *range(100, 162)]
    observations, _ = env.reset(seed=seeds)
    np.testing.assert_array_equal(observations[0], observations[1])
    single, _ = PapluEnv(opponent="random", encoding="cards-v1").reset(seed=131)
    np.testing.assert_array_equal(observations[33], single)
    assert env.np_random_seed == tuple(seeds)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_a_manual_reset_leaves_no_reset_behind(mode: str) -> None:
    arguments: dict[str, Any] = {"opponent": "random", "encoding": "cards-v1"}
    native, sync = PapluVectorEnv(8, **arguments, autoreset_mode=mode), _sync(8, mode, **arguments)
    one, other = native.reset(seed=1), sync.reset(seed=1)
    drops = np.full(8, DRAW_CLOSED)
    drops[:4] = DROP
    _assert_equal_steps(native.step(drops), sync.step(drops))
    one, other = native.reset(seed=2), sync.reset(seed=2)
    _assert_equal_steps(one, other)
    actions = np.full(8, DRAW_CLOSED)
    one, other = native.step(actions), sync.step(actions)
    assert (one[-1]["phase"] == "discard").all()  # a real step in every environment
    _assert_equal_steps(one, other)


def test_a_partial_reset_deals_only_where_it_is_asked_to() -> None:
    arguments: dict[str, Any] = {"opponent": "random", "encoding": "cards-v1"}
    native, sync = PapluVectorEnv(8, **arguments), _sync(8, **arguments)
    native.reset(seed=1), sync.reset(seed=1)
    drops = np.full(8, DRAW_CLOSED)
    drops[:4] = DROP
    native.step(drops), sync.step(drops)
    mask = np.arange(8) % 2 == 0
    seeds = list(range(50, 58))
    _assert_equal_steps(
        native.reset(seed=seeds, options={"reset_mask": mask.copy()}),
        sync.reset(seed=seeds, options={"reset_mask": mask.copy()}),
    )
    actions = np.zeros(8, dtype=np.int64)
    _assert_equal_steps(native.step(actions), sync.step(actions))


def test_disabled_autoreset_waits_for_the_users_reset() -> None:
    native = PapluVectorEnv(4, opponent="random", encoding="cards-v1", autoreset_mode=AutoresetMode.DISABLED)
    native.reset(seed=1)
    *_, terminated, _, _ = native.step(np.array([DROP, DRAW_CLOSED, DRAW_CLOSED, DRAW_CLOSED]))
    assert terminated.tolist() == [True, False, False, False]
    with pytest.raises(ResetNeeded, match=r"\[0\]"):
        native.step(np.zeros(4, dtype=np.int64))
    native.reset(options={"reset_mask": terminated})
    actions = pick_many(np.random.default_rng(0), native.action_masks())
    native.step(actions)


def test_masks_are_in_every_info_and_never_empty_but_at_the_end() -> None:
    env = PapluVectorEnv(32, opponent="random", encoding="cards-v1")
    generator = np.random.default_rng(0)
    _, infos = env.reset(seed=1)
    over = np.zeros(32, dtype=bool)
    for _ in range(60):
        assert infos["_action_mask"].all()
        assert infos["action_mask"].dtype == np.int8
        np.testing.assert_array_equal(infos["action_mask"].any(axis=1), ~over)
        np.testing.assert_array_equal(infos["action_mask"].astype(bool), env.action_masks())
        env.action_space.seed(1)
        actions = pick_many(generator, infos["action_mask"])
        *_, terminated, truncated, infos = env.step(actions)
        over = terminated | truncated


def test_masks_after_a_reset_are_what_the_engine_gives_reasons_for() -> None:
    env = PapluVectorEnv(1000, opponent="mindist", encoding="cards-v1")
    _, infos = env.reset(seed=1)
    states = env._deals.dealt.states
    for i in range(0, 1000, 4):
        reasons = [engine.why_illegal(states, i, action, env.rules) for action in range(NUM_ACTIONS)]
        np.testing.assert_array_equal(infos["action_mask"][i], [reason == "" for reason in reasons])


def test_the_step_that_resets_is_no_step_of_the_game() -> None:
    env = PapluVectorEnv(4, opponent=Passer(), encoding="cards-v1", illegal_action="raise", seat=0)
    env.reset(seed=1)
    *_, terminated, _, infos = env.step(np.array([DROP, DRAW_CLOSED, DRAW_CLOSED, DRAW_CLOSED]))
    assert terminated.tolist() == [True, False, False, False]
    actions = pick_many(np.random.default_rng(0), infos["action_mask"])
    actions[0] = -1  # whatever stands there is ignored
    _, rewards, terminated, truncated, infos = env.step(actions)
    assert (rewards[0], terminated[0], truncated[0]) == (0.0, False, False)
    assert infos["_skipped_deals"].tolist() == [True, False, False, False]
    assert env._deals.shown.views["draws"][0] == 0


@pytest.mark.parametrize(
    "make", [lambda arguments: _sync(3, **arguments), lambda arguments: PapluVectorEnv(3, **arguments)]
)
def test_what_was_asked_for_lasts_over_every_reset(make: Any) -> None:
    rules = "points:max_turns=7"
    env = make({"rules": rules, "opponent": Passer(rules), "seat": 1, "encoding": "cards-v1"})
    generator = np.random.default_rng(0)
    _, infos = env.reset(seed=1)
    deals = 0
    for _ in range(200):
        assert set(infos["seat"]) == {1}
        assert set(infos["opponent"]) == {"passer"}
        *_, terminated, truncated, infos = env.step(_patient(generator, infos["action_mask"]))
        deals += int((terminated | truncated).sum())
        if truncated.any():
            assert set(infos["ending"][truncated]) == {"truncated"}
    assert deals > 60


def test_returned_arrays_are_not_written_to_later_unless_asked() -> None:
    for is_copied in (True, False):
        env = PapluVectorEnv(4, opponent="random", encoding="cards-v1", copy=is_copied)
        first, infos = env.reset(seed=1)
        kept, kept_mask = first.copy(), infos["action_mask"].copy()
        second, *_ = env.step(np.zeros(4, dtype=np.int64))
        assert (first is second) == (not is_copied)
        np.testing.assert_array_equal(infos["action_mask"], kept_mask)
        if is_copied:
            np.testing.assert_array_equal(first, kept)


def test_infos_turn_into_the_dicts_of_single_environments() -> None:
    arguments: dict[str, Any] = {"opponent": "random", "encoding": "cards-v1"}
    listed = DictInfoToList(PapluVectorEnv(4, **arguments, autoreset_mode="SameStep"))
    _, infos = listed.reset(seed=1)
    singles = [PapluEnv(**arguments) for _ in range(4)]
    expected = [single.reset(seed=1 + i)[1] for i, single in enumerate(singles)]
    generator = np.random.default_rng(0)
    for _ in range(100):
        for info, single_info in zip(infos, expected, strict=True):
            info = {key: value for key, value in info.items() if not key.startswith("final_")}
            assert info.keys() == single_info.keys()
            for key, value in info.items():
                np.testing.assert_array_equal(value, single_info[key])
        actions = _patient(generator, np.array([info["action_mask"] for info in infos]))
        *_, infos = listed.step(actions)
        for i, single in enumerate(singles):
            *_, terminated, truncated, expected[i] = single.step(int(actions[i]))
            if terminated or truncated:
                final = {key: value for key, value in infos[i]["final_info"].items() if key in expected[i]}
                assert final.keys() == expected[i].keys()
                expected[i] = single.reset()[1]


def test_gymnasiums_vector_wrappers_run() -> None:
    env = RecordEpisodeStatistics(PapluVectorEnv(8, opponent="random", encoding="cards-v1"))
    _, infos = env.reset(seed=1)
    generator = np.random.default_rng(0)
    totals = []
    for _ in range(40):
        *_, infos = env.step(pick_many(generator, infos["action_mask"]))
        if "episode" in infos:
            done = infos["_episode"]
            totals += (infos["episode"]["r"][done] == infos["points"][done]).tolist()
    assert len(totals) > 20
    assert all(totals)
    scaled = RescaleObservation(
        PapluVectorEnv(2, opponent="random", encoding="cards-v1"), min_obs=np.float32(-1), max_obs=np.float32(1)
    )
    assert scaled.reset(seed=1)[0].min() == -1.0


@pytest.mark.parametrize("mode", ["sync", "async", "vector_entry_point", None])
def test_make_vec_gives_the_right_class_and_options_reach_it(mode: str | None) -> None:
    env = gymnasium.make_vec(
        "Paplu-v0",
        num_envs=4,
        vectorization_mode=mode,
        reward="scaled",
        opponent="random",
        encoding="cards-v1",
        rules="points:drop_allowed=false",
        render_mode="ansi",
    )
    classes = {"sync": SyncVectorEnv, "async": AsyncVectorEnv}
    assert isinstance(env.unwrapped, classes.get(mode or "", PapluVectorEnv))
    assert env.num_envs == 4
    assert env.render_mode == "ansi"
    assert env.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
    assert env.spec is not None
    assert env.spec.kwargs["reward"] == "scaled"
    _, infos = env.reset(seed=1)
    assert not infos["action_mask"][:, DROP].any()
    assert env.observation_space.contains(env.step(np.zeros(4, dtype=np.int64))[0])
    frames = env.render()
    assert len(frames) == 4
    assert all(isinstance(frame, str) for frame in frames)
    env.close()
    env.close()


@pytest.mark.parametrize(
    "rules", [RuleSet(max_turns=9), {"max_turns": 9}, "points:max_turns=9", preset("pagat", num_players=4)], ids=str
)
def test_rules_in_any_form_come_back_from_a_spec_in_json(rules: Any) -> None:
    arguments: dict[str, Any] = {"rules": rules, "opponent": "random", "encoding": "cards-v1"}
    single = gymnasium.make("Paplu-v0", **arguments)
    many = gymnasium.make_vec("Paplu-v0", num_envs=2, **arguments)
    assert single.spec is not None
    assert many.spec is not None
    again = gymnasium.make(EnvSpec.from_json(single.spec.to_json()))
    many_again = gymnasium.make_vec(EnvSpec.from_json(many.spec.to_json()))
    assert again.unwrapped.rules == many_again.unwrapped.rules == single.unwrapped.rules == as_rules(rules)


def test_an_environment_made_from_its_spec_is_the_same() -> None:
    env = gymnasium.make_vec("Paplu-v0", num_envs=3, reward="win", opponent="random", encoding="cards-v1")
    again = gymnasium.make_vec(env.spec)
    np.testing.assert_array_equal(env.reset(seed=1)[0], again.reset(seed=1)[0])
    single = gymnasium.make("Paplu-v0", reward="win", opponent="random", encoding="cards-v1")
    assert single.spec is not None
    twin = gymnasium.make(EnvSpec.from_json(single.spec.to_json()))
    np.testing.assert_array_equal(single.reset(seed=1)[0], twin.reset(seed=1)[0])


@pytest.mark.parametrize("context", ["spawn", "fork"])
def test_workers_find_the_environment_by_module_and_id(context: str) -> None:
    arguments: dict[str, Any] = {"opponent": "random", "encoding": "cards-v1"}

    def make() -> gymnasium.Env[Any, Any]:
        return gymnasium.make("paplu_env:Paplu-v0", **arguments)

    native = PapluVectorEnv(2, **arguments)
    one = native.reset(seed=1)  # kernels have run in the parent before it forks
    workers = AsyncVectorEnv([make] * 2, context=context)
    try:
        np.testing.assert_array_equal(one[0], workers.reset(seed=1)[0])
        generator = np.random.default_rng(0)
        for _ in range(10):
            actions = pick_many(generator, one[-1]["action_mask"])
            one, other = native.step(actions), workers.step(actions)
            for array, other_array in zip(one[:4], other[:4], strict=True):
                np.testing.assert_array_equal(array, other_array)
    finally:
        workers.close()


def _observe_on_threads(sender: Any, seed: int) -> None:
    sender.send(PapluVectorEnv(8, opponent="random", encoding="cards-v1", threads=2).reset(seed=seed)[0])


@pytest.mark.parametrize("context", ["spawn", "fork"])
def test_threads_run_in_workers_after_they_have_run_in_the_parent(context: str) -> None:
    expected = PapluVectorEnv(8, opponent="random", encoding="cards-v1", threads=2).reset(seed=1)[0]
    processes = multiprocessing.get_context(context)
    receiver, sender = processes.Pipe(duplex=False)
    worker = processes.Process(target=_observe_on_threads, args=(sender, 1))
    worker.start()
    assert receiver.poll(60)
    np.testing.assert_array_equal(receiver.recv(), expected)
    worker.join(60)
    assert worker.exitcode == 0


def test_arrays_that_are_kept_over_many_steps_stay_as_they_were() -> None:
    env = PapluVectorEnv(4, opponent="random", encoding="cards-v1", autoreset_mode="SameStep")
    generator = np.random.default_rng(0)
    env.reset(seed=1)
    held, copies, masks = [], [], env.action_masks()
    for k in range(30):
        step = env.step(pick_many(generator, masks))
        masks = env.action_masks()
        if k % 3:  # the others are let go of, and their memory is used again
            held.append(step)
            copies.append(copy.deepcopy(step))
    for one, other in zip(held, copies, strict=True):
        _assert_equal_steps(one, other)


def test_an_illegal_action_anywhere_raises_before_anything_is_played() -> None:
    env = PapluVectorEnv(3, opponent="random", encoding="cards-v1", illegal_action="raise")
    env.reset(seed=1)
    before = env._deals.get_state()
    with pytest.raises(IllegalAction, match="environment 1: discard AS is not legal"):
        env.step(np.array([DRAW_CLOSED, DISCARD_BASE, DRAW_CLOSED]))
    after = env._deals.get_state()
    assert all(np.array_equal(before[key], after[key]) for key in before)


@pytest.mark.parametrize(
    "actions", [[0], [0.0, 1.0, 0.0], [[0, 0, 0]], [[0], [0, 0], 0], [True, False, True], [0, -1, 0], [0, 110, 0], None]
)
def test_what_are_no_actions_is_refused(actions: Any) -> None:
    env = PapluVectorEnv(3, opponent="random", encoding="cards-v1")
    env.reset(seed=1)
    with pytest.raises(PapluError, match=r"whole numbers|0\.\.109"):
        env.step(actions)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"num_envs": 0}, "num_envs=0"),
        ({"num_envs": 2, "threads": 0}, "threads=0"),
        ({"num_envs": 2, "autoreset_mode": "Never"}, "'NextStep', 'SameStep', 'Disabled'"),
        ({"num_envs": 2, "render_mode": "human"}, "unknown render mode"),
    ],
)
def test_arguments_that_cannot_be_are_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(PapluError, match=words):
        PapluVectorEnv(**arguments, opponent="random", encoding="cards-v1")


def test_stepping_before_reset_and_wrong_resets_are_refused() -> None:
    env = PapluVectorEnv(3, opponent="random", encoding="cards-v1")
    with pytest.raises(ResetNeeded, match="call reset"):
        env.step(np.zeros(3, dtype=np.int64))
    with pytest.raises(ResetNeeded, match="first reset"):
        env.reset(options={"reset_mask": np.array([True, False, True])})
    for mask in ([True, False, True], np.zeros(3, dtype=bool), np.ones(2, dtype=bool), np.ones(3)):
        with pytest.raises(PapluError, match="reset_mask"):
            env.reset(options={"reset_mask": mask})
    with pytest.raises(PapluError, match="2 seeds for 3"):
        env.reset(seed=[1, 2])
    for seed in (1.5, "12"):
        with pytest.raises(PapluError, match="one whole number, or one for each"):
            env.reset(seed=seed)  # type: ignore[arg-type]
    with pytest.raises(PapluError, match="'opponent'"):
        env.reset(options={"opponent": "random"})


def test_an_unknown_keyword_is_refused_by_the_name_of_the_class() -> None:
    with pytest.raises(TypeError, match=r"PapluVectorEnv\(\) got an unexpected keyword argument 'encodin'"):
        PapluVectorEnv(2, opponent="random", encodin="cards-v1")  # type: ignore[call-arg]


def test_the_space_of_actions_is_one_number_each() -> None:
    env = PapluVectorEnv(3, opponent="random", encoding="cards-v1")
    assert env.action_space.nvec.tolist() == [NUM_ACTIONS] * 3
    assert env.single_action_space.n == NUM_ACTIONS
