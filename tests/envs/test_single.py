"""The single environment: Gymnasium's protocol, masks, endings, illegal actions, skipped deals."""

from __future__ import annotations

import copy
import pickle
import random
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common.env_checker import check_env as check_env_sb3

from paplu_env import engine, melds
from paplu_env.bots import make_policy
from paplu_env.engine import DISCARD_BASE, DRAW_CLOSED, DROP, NUM_ACTIONS
from paplu_env.envs import PapluEnv
from paplu_env.envs.core.infos import row_info
from paplu_env.envs.core.kernels import NO_ACTION
from paplu_env.errors import IllegalAction, PapluError
from tests.envs.players import Cheater, Delegate, Overwriter, Passer, WrongDeclarer, pick
from tests.envs.reference import ReferenceEnv

# Warnings of the checkers that are about our choices, not about faults.
ALLOWED_WARNINGS = (
    "different from the unwrapped version",  # made by `gymnasium.make`, as users do
)


def _play(env: gymnasium.Env[Any, Any], seed: int, deals: int = 1) -> list[tuple[Any, ...]]:
    """What random legal play gives in some deals, steps and resets alike."""
    generator = np.random.default_rng(seed)
    rows: list[tuple[Any, ...]] = []
    for deal in range(deals):
        observation, info = env.reset(seed=seed if deal == 0 else None)
        rows.append((observation, 0.0, False, False, info))
        while not (rows[-1][2] or rows[-1][3]):
            rows.append(env.step(pick(generator, rows[-1][4]["action_mask"])))
    return rows


def _assert_equal(one: list[tuple[Any, ...]], other: list[tuple[Any, ...]]) -> None:
    assert len(one) == len(other)
    for (observation, *flags, info), (other_observation, *other_flags, other_info) in zip(one, other, strict=True):
        np.testing.assert_array_equal(observation, other_observation)
        assert flags == other_flags
        assert info.keys() == other_info.keys()
        for key, value in info.items():
            np.testing.assert_array_equal(value, other_info[key], err_msg=key)


@pytest.fixture(scope="module")
def env() -> gymnasium.Env[Any, Any]:
    return gymnasium.make("Paplu-v0", opponent="random", encoding="cards-v1")


@pytest.mark.parametrize("encoding", ["cards-v1", "features-v1"])
def test_gymnasiums_checker_finds_nothing(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")  # it opens a window too
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for seed in range(20):
            env = gymnasium.make("Paplu-v0", encoding=encoding, render_mode="ansi")
            env.action_space.seed(seed)
            check_env(env, skip_render_check=seed > 0)
    said = [str(warning.message) for warning in caught]
    assert [text for text in said if not any(allowed in text for allowed in ALLOWED_WARNINGS)] == []


def test_the_checker_of_stable_baselines3_finds_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seed in range(20):
            env = PapluEnv()
            env.action_space.seed(seed)
            check_env_sb3(env)


@pytest.mark.parametrize("opponent", ["random", "mindist_opp", "outside"])
@pytest.mark.parametrize("reward", ["points", "scaled", "win", "shaped:deadwood", "shaped:distance"])
def test_equals_the_slow_reference(opponent: str, reward: str) -> None:
    policy = Delegate("random") if opponent == "outside" else opponent
    env = PapluEnv(opponent=policy, encoding="cards-v1", reward=reward)
    reference = ReferenceEnv("points", make_policy(policy), "cards-v1", reward)
    generator = np.random.default_rng(1)
    for deal in range(12):
        seed = 5 if deal == 0 else None
        observation, info = env.reset(seed=seed)
        expected, expected_info = reference.reset(seed)
        _assert_equal([(observation, info)], [(expected, expected_info)])
        over = False
        while not over:
            action = pick(generator, info["action_mask"])
            if action == DROP and generator.random() < 0.8:
                action = DRAW_CLOSED  # or deals are over before they begin
            observation, reward_given, terminated, truncated, info = env.step(action)
            expected, expected_reward, *flags, expected_info = reference.step(action)
            _assert_equal([(observation, info)], [(expected, expected_info)])
            assert reward_given == pytest.approx(expected_reward, abs=1e-12)
            assert [terminated, truncated] == flags
            over = terminated or truncated


def test_equals_the_slow_reference_with_three_seats_and_the_learner_out() -> None:
    rules = "points:num_players=3"
    env = PapluEnv(rules=rules, opponent="random", encoding="cards-v1")
    reference = ReferenceEnv(rules, "random", "cards-v1")
    generator = np.random.default_rng(1)
    drops = 0
    for deal in range(20):
        seed = 5 if deal == 0 else None
        got = env.reset(seed=seed)
        _assert_equal([got], [reference.reset(seed)])
        over = False
        while not over:
            action = pick(generator, got[1]["action_mask"])
            drops += action == DROP
            observation, reward, terminated, truncated, info = env.step(action)
            expected, expected_reward, *flags, expected_info = reference.step(action)
            got = (observation, info)
            _assert_equal([got], [(expected, expected_info)])
            assert [reward, terminated, truncated] == [expected_reward, *flags]
            assert action != DROP or terminated or truncated  # the others finish the deal inside the step
            over = terminated or truncated
    assert drops > 3


def test_same_seed_and_actions_give_the_same_episode_whatever_the_global_generators_do() -> None:
    one = _play(PapluEnv(opponent="random", encoding="cards-v1"), seed=7, deals=5)
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002 (the point of the test)
    np.random.rand()  # noqa: NPY002
    _assert_equal(one, _play(PapluEnv(opponent="random", encoding="cards-v1"), seed=7, deals=5))


def test_fifty_resets_without_a_seed_follow_from_the_first_seed() -> None:
    observations = []
    for _ in range(2):
        env = PapluEnv(opponent="random", encoding="cards-v1")
        env.reset(seed=7)
        generator = env.np_random
        observations.append([env.reset()[0] for _ in range(50)])
        assert env.np_random is generator
    np.testing.assert_array_equal(observations[0], observations[1])
    assert len({observation.tobytes() for observation in observations[0]}) == 50


def test_the_seat_is_drawn_by_the_seed_or_fixed() -> None:
    env = PapluEnv(opponent="mindist", encoding="cards-v1", rules="points:drop_allowed=false")
    env.reset(seed=1)
    seats = [env.reset()[1]["seat"] for _ in range(60)]
    assert 15 < sum(seats) < 45
    for seat in (0, 1):
        fixed = PapluEnv(opponent="mindist", encoding="cards-v1", seat=seat)
        assert {fixed.reset()[1]["seat"] for _ in range(10)} == {seat}


def test_masks_are_int8_in_info_and_bool_from_the_method_and_never_empty_before_the_end(
    env: gymnasium.Env[Any, Any],
) -> None:
    env.action_space.seed(3)
    for seed in range(200):
        _, info = env.reset(seed=seed)
        over = False
        while not over:
            mask, masks = info["action_mask"], env.get_wrapper_attr("action_masks")()
            assert mask.dtype == np.int8
            assert mask.shape == (NUM_ACTIONS,)
            assert masks.dtype == np.bool_
            assert masks.flags.c_contiguous
            assert masks.any()
            np.testing.assert_array_equal(mask.astype(bool), masks)
            action = env.action_space.sample(mask)
            assert mask[action] == 1
            *_, terminated, truncated, info = env.step(action)
            over = terminated or truncated
        assert not info["action_mask"].any()
        assert not env.get_wrapper_attr("action_masks")().any()


def test_observations_stay_in_the_space_to_the_last() -> None:
    for encoding in ("cards-v1", "features-v1"):
        env = PapluEnv(opponent="mindist", encoding=encoding)
        for row in _play(env, seed=2, deals=30):
            assert env.observation_space.contains(row[0])


def test_arrays_that_were_returned_are_not_written_to_later(env: gymnasium.Env[Any, Any]) -> None:
    rows = _play(env, seed=11, deals=3)
    kept = copy.deepcopy(rows)
    _play(env, seed=12, deals=3)
    _assert_equal(rows, kept)


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize(
    ("rules", "opponent", "ending", "points"),
    [
        ("points", Passer(drop_at=1), "drop", 40),
        ("points:wrong_declare=allowed", WrongDeclarer("points:wrong_declare=allowed"), "wrong_declare", 80),
        ("points:max_turns=5", Passer("points:max_turns=5"), "truncated", 0),
        ("points:max_turns=250", Passer("points:max_turns=250"), "void", 0),
    ],
)
def test_endings_by_the_opponent_arrive_in_the_learners_step(
    seat: int, rules: str, opponent: Passer, ending: str, points: int
) -> None:
    env = PapluEnv(rules=rules, opponent=opponent, encoding="cards-v1", seat=seat)
    player = Passer(rules)
    _, info = env.reset(seed=4)
    over, total = False, 0.0
    while not over:
        mask = env.action_masks()[None]
        action = player.act(env._core.shown.views, mask, np.zeros(1, dtype=np.uint64))[0]
        observation, reward, terminated, truncated, info = env.step(action)
        total += reward
        over = terminated or truncated
    assert (info["ending"], info["points"], total, reward) == (ending, points, points, points)
    assert (terminated, truncated) == (ending != "truncated", ending == "truncated")
    assert list(info["returns"]) == ([points, -points] if seat == 0 else [-points, points])
    assert info["phase"] == "over"
    assert info["current_player"] == -1
    assert not info["action_mask"].any()
    assert env.observation_space.contains(observation)


@pytest.mark.parametrize("seat", [0, 1])
def test_the_learners_drops_cost_20_and_later_40(seat: int) -> None:
    env = PapluEnv(opponent=Passer(), encoding="cards-v1", seat=seat)
    env.reset(seed=1)
    *_, info = env.step(DROP)
    assert (info["ending"], info["points"], info["winner"]) == ("drop", -20, 1 - seat)
    _, info = env.reset()
    env.step(DRAW_CLOSED)
    env.step(int(np.flatnonzero(env.action_masks())[0]))
    *_, info = env.step(DROP)
    assert (info["ending"], info["points"], info["winner"]) == ("drop", -40, 1 - seat)


@pytest.mark.parametrize("seat", [0, 1])
def test_the_learners_wrong_declaration_costs_80(seat: int) -> None:
    rules = "points:wrong_declare=allowed"
    env = PapluEnv(rules=rules, opponent=Passer(rules), encoding="cards-v1", seat=seat)
    env.reset(seed=1)
    env.step(DRAW_CLOSED)
    _, reward, terminated, truncated, info = env.step(int(np.flatnonzero(env.action_masks())[-1]))
    assert (reward, terminated, truncated) == (-80.0, True, False)
    assert (info["ending"], info["winner"]) == ("wrong_declare", 1 - seat)
    assert info["returns"].sum() == 0


@pytest.mark.parametrize("opponent", ["mindist", Delegate("mindist")])
def test_a_declaration_pays_the_losers_points_and_shows_the_hands(opponent: Any) -> None:
    env = PapluEnv(opponent=opponent, encoding="cards-v1", rules="points")
    agent = make_policy("mindist")
    seen = set()
    for seed in range(40):
        env.reset(seed=seed)
        over = False
        while not over:
            views, mask = env._core.shown.views, env.action_masks()[None]
            *_, reward, terminated, truncated, info = env.step(agent.act(views, mask, np.zeros(1, dtype=np.uint64))[0])
            over = terminated or truncated
        if info["ending"] != "declared":
            continue
        seen.add(info["winner"] == info["seat"])
        view = env._core.shown.views[0]
        loser = 1 - info["winner"]
        cost = melds.points(view["shown"][loser], int(view["wild"]), env.rules)
        assert reward == (cost if info["winner"] == info["seat"] else -cost)
        assert info["returns"].sum() == 0
    assert seen == {True, False}


@pytest.mark.parametrize("seat", [0, 1])
def test_an_illegal_action_forfeits_the_deal_like_a_wrong_declaration(seat: int) -> None:
    for reward, paid in (("points", -80.0), ("scaled", -1.0), ("win", -1.0)):
        env = PapluEnv(opponent=Passer(), encoding="cards-v1", seat=seat, reward=reward)
        before, _ = env.reset(seed=1)
        observation, reward_given, terminated, truncated, info = env.step(DISCARD_BASE)
        assert (reward_given, terminated, truncated) == (paid, True, False)
        assert (info["ending"], info["points"], info["winner"]) == ("forfeit", -80, 1 - seat)
        assert info["returns"].sum() == 0
        assert not info["action_mask"].any()
        assert "a card must be drawn first" in info["illegal_action"]
        assert "hand" not in info["illegal_action"]  # the words tell no card
        np.testing.assert_array_equal(observation, before)
        with pytest.raises(ResetNeeded, match="over"):
            env.step(DRAW_CLOSED)
        env.reset()
        *_, terminated, truncated, _ = env.step(DRAW_CLOSED)
        assert not terminated


def test_an_illegal_action_may_raise_instead_and_changes_nothing() -> None:
    env = PapluEnv(opponent="random", encoding="cards-v1", illegal_action="raise")
    env.reset(seed=1)
    before = env.get_state()
    with pytest.raises(IllegalAction, match=r"discard AS is not legal: .* \(seat 0, phase draw, draw 0, hand "):
        env.step(DISCARD_BASE)
    after = env.get_state()
    assert all(np.array_equal(before["core"][key], after["core"][key]) for key in before["core"])
    env.step(DRAW_CLOSED)


def test_an_opponent_that_breaks_the_rules_is_named() -> None:
    env = PapluEnv(opponent=Cheater(), encoding="cards-v1", seat=1)
    with pytest.raises(IllegalAction, match="passer"):
        env.reset(seed=1)


def test_an_opponent_that_writes_to_its_mask_makes_nothing_legal() -> None:
    env = PapluEnv(opponent=Overwriter(), encoding="cards-v1", seat=1)
    with pytest.raises(IllegalAction, match="answered 109, announce"):
        env.reset(seed=0)


def test_deals_that_end_before_the_learners_first_decision_are_settled_counted_and_replaced() -> None:
    env = PapluEnv(opponent=Passer(drop_at=0), encoding="cards-v1")
    env.reset(seed=1)
    infos = [env.reset()[1] for _ in range(30)]
    skipped = np.array([info["skipped_deals"] for info in infos])
    assert {info["seat"] for info in infos} == {0}  # as seat 1 it never has a decision
    assert skipped.sum() > 10
    assert [info["skipped_points"] for info in infos] == (20 * skipped).tolist()


def test_after_100_skipped_deals_the_learner_starts() -> None:
    env = PapluEnv(opponent=Passer(drop_at=0), encoding="cards-v1", seat=1)
    _, info = env.reset(seed=1)
    assert (info["skipped_deals"], info["skipped_points"]) == (100, 2000)
    assert (info["seat"], info["current_player"], info["phase"]) == (1, 1, "draw")
    assert env._core.shown.views["first"][0] == 1
    *_, info = env.step(DROP)
    assert info["points"] == -20


def test_self_play_shows_each_seat_its_own_view_and_pays_the_seat_that_acted_last() -> None:
    env = PapluEnv(opponent="self", encoding="cards-v1", rules="points:max_turns=30")
    generator = np.random.default_rng(0)
    actors = set()
    for seed in range(40):
        _, info = env.reset(seed=seed)
        over = False
        while not over:
            actor = info["current_player"]
            assert info["seat"] == actor == env._core.shown.views["seat"][0]
            *_, reward, terminated, truncated, info = env.step(pick(generator, info["action_mask"]))
            over = terminated or truncated
            assert over or reward == 0
        assert info["seat"] == actor
        assert reward == info["returns"][actor]
        assert info["returns"].sum() == 0
        assert info["opponent"] == "self"
        actors.add(actor)
    assert actors == {0, 1}


def test_each_of_several_opponents_plays_its_relative_seat() -> None:
    rules = "points:num_players=3"
    line_up = [Passer(rules), Passer(rules, drop_at=0)]
    for seat in range(3):
        env = PapluEnv(rules=rules, opponent=line_up, encoding="cards-v1", seat=seat)
        env.reset(seed=1)
        env.step(DRAW_CLOSED)
        env.step(int(np.flatnonzero(env.action_masks())[0]))
        status = env._core.dealt.states["status"][0]
        assert [int(status[(seat + turns) % 3]) for turns in range(3)] == [0, 0, 1]


@pytest.mark.parametrize("copier", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_continue_identically_and_apart(copier: Any) -> None:
    env = PapluEnv(opponent="random", encoding="cards-v1")
    env.reset(seed=5)
    env.step(DRAW_CLOSED)
    twin = copier(env)
    for _ in range(2):  # the second time from where the copy was taken, though the first has been played on
        generator = np.random.default_rng(0)
        states = []
        for one in (env, twin):
            generator = np.random.default_rng(0)
            action = pick(generator, one.action_masks())
            one.step(action)
            states.append(_play_on(one, generator))
        _assert_equal(states[0], states[1])


def test_copies_share_no_memory() -> None:
    env = PapluEnv(opponent="random", encoding="cards-v1")
    env.reset(seed=5)
    one, other = _arrays_of(env), _arrays_of(copy.deepcopy(env))
    assert len(one) == len(other) > 20
    assert not any(np.shares_memory(array, copied) for array, copied in zip(one, other, strict=True))


def test_a_copy_draws_its_seeds_from_its_own_blocks() -> None:
    env = PapluEnv(opponent="random", encoding="cards-v1")
    env.reset(seed=5)
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        seeds, used, *_ = twin._core._arrays[0]
        assert seeds is twin._core.seeds.blocks
        assert used is twin._core.seeds.used
        assert all(array is held for array, held in zip(twin._core._arrays[2], twin._core.shown, strict=True))


def _arrays_of(env: PapluEnv) -> list[np.ndarray]:
    """Every array that an environment's deals hold, by themselves or in a tuple."""
    arrays, waiting = [], list(vars(env._core).values())
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, np.ndarray):
            arrays.append(value)
        elif isinstance(value, tuple):
            waiting += value
    return arrays


def _play_on(env: PapluEnv, generator: np.random.Generator) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    while env.action_masks().any():
        rows.append(env.step(pick(generator, env.action_masks())))
    observation, info = env.reset()
    return [*rows, (observation, 0.0, False, False, info)]


def test_a_state_put_back_gives_the_same_future() -> None:
    env = PapluEnv(opponent="random", encoding="cards-v1")
    env.reset(seed=5)
    env.step(DRAW_CLOSED)
    state = env.get_state()
    futures = []
    for one in (env, env, PapluEnv(opponent="random", encoding="cards-v1")):
        one.set_state(state)
        futures.append(_play_on(one, np.random.default_rng(0)))
    _assert_equal(futures[0], futures[1])
    _assert_equal(futures[0], futures[2])
    with pytest.raises(PapluError, match="get_state"):
        env.set_state({"core": {}})
    with pytest.raises(PapluError, match="get_state"):
        env.set_state(None)  # type: ignore[arg-type]
    with pytest.raises(PapluError, match="taken with rules="):
        PapluEnv(opponent="random", encoding="cards-v1", rules="points:max_turns=9").set_state(state)


@pytest.mark.parametrize(
    ("name", "value"),
    [("opponent", "self"), ("opponent", "mindist"), ("seat", 1), ("reward", "win"), ("rules", "points:max_turns=9")],
)
def test_a_state_taken_with_other_arguments_is_refused_before_anything_changes(name: str, value: Any) -> None:
    arguments = {"opponent": "random", "encoding": "cards-v1", "seat": 0}
    env = PapluEnv(**arguments)
    env.reset(seed=5)
    other = PapluEnv(**{**arguments, name: value})
    other.reset(seed=6)
    before = pickle.dumps(other.get_state())
    with pytest.raises(PapluError, match=f"taken with {name}="):
        other.set_state(env.get_state())
    assert pickle.dumps(other.get_state()) == before


def test_a_state_taken_before_the_first_reset_goes_back() -> None:
    fresh, env = PapluEnv(opponent="random", encoding="cards-v1"), PapluEnv(opponent="random", encoding="cards-v1")
    env.reset(seed=5)
    env.set_state(fresh.get_state())
    with pytest.raises(ResetNeeded):
        env.step(DRAW_CLOSED)
    assert np.array_equal(env.reset()[0], fresh.reset()[0])  # the generator went with the state


def test_observation_mask_and_info_stay_as_they_are_when_hidden_cards_are_dealt_anew() -> None:
    env = PapluEnv(opponent="mindist", encoding="features-v1", rules="points:drop_allowed=false")
    generator = np.random.default_rng(0)
    row = np.zeros(1, dtype=np.int64)
    worlds = 0
    for seed in range(30):
        _, info = env.reset(seed=seed)
        for _ in range(int(generator.integers(1, 12))):
            before, _, terminated, truncated, info = env.step(pick(generator, info["action_mask"]))
            if terminated or truncated:
                break
        else:
            deals = env._core
            world = engine.sample_world(deals.shown.views, seed, env.rules)
            assert world["hands"].tobytes() != deals.dealt.states["hands"].tobytes()
            deals.dealt.states[:] = world
            deals.play(row, np.array([NO_ACTION]), by_learners=False)
            np.testing.assert_array_equal(deals.observe()[0], before)
            again = row_info(deals, 0, is_start=False)
            assert again.keys() == info.keys()
            assert all(np.array_equal(again[key], info[key]) for key in info)
            worlds += 1
    assert worlds > 10


def test_ansi_shows_the_learners_hand_and_no_card_of_the_opponent() -> None:
    env = gymnasium.make("Paplu-v0", opponent="random", encoding="cards-v1", render_mode="ansi")
    env.reset(seed=3)
    text = env.render()
    assert isinstance(text, str)
    assert "your hand (13)" in text
    assert "seat" in text


@pytest.mark.parametrize("action", [1.0, "draw", None, True, [0], np.array([0]), np.float32(1), -1, NUM_ACTIONS])
def test_what_is_no_action_is_refused(action: Any) -> None:
    env = PapluEnv(opponent="random", encoding="cards-v1")
    env.reset(seed=1)
    with pytest.raises(PapluError, match=r"give one whole number 0\.\.109"):
        env.step(action)
    env.step(np.array(DRAW_CLOSED))  # a 0-d array is what models predict


def test_stepping_before_the_first_reset_is_refused() -> None:
    env = PapluEnv(opponent="random", encoding="cards-v1", render_mode="ansi")
    with pytest.raises(ResetNeeded, match="call reset"):
        env.step(DRAW_CLOSED)
    with pytest.raises(ResetNeeded, match="call reset"):
        env.render()
    assert not env.action_masks().any()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"rules": "pints"}, "unknown preset 'pints'"),
        ({"rules": "points:drops=true"}, "unknown option 'drops'"),
        ({"opponent": "mindst"}, "mindist"),
        ({"opponent": ["random", "random"]}, "2 opponents for 2 seats"),
        ({"opponent": ["self"]}, "every seat"),
        ({"opponent": 3}, "give a bot's name"),
        ({"opponent": [["random"]]}, "give a bot's name"),
        ({"encoding": ["cards-v1"]}, "cards-v1"),
        ({"encoding": "cards-v0"}, "cards-v1"),
        ({"reward": "money"}, "shaped:distance"),
        ({"reward": None}, "shaped:distance"),
        ({"reward": "shaped", "opponent": "self"}, "one learner"),
        ({"seat": 2}, r"0\.\.1 or 'random'"),
        ({"seat": "first"}, r"0\.\.1 or 'random'"),
        ({"illegal_action": "ignore"}, "forfeit or raise"),
        ({"render_mode": "rgb"}, "unknown render mode 'rgb'"),
    ],
)
def test_arguments_that_name_nothing_are_refused_in_words(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(PapluError, match=words):
        PapluEnv(**arguments)


def test_reset_options_are_refused_rather_than_forgotten() -> None:
    env = PapluEnv(opponent="random", encoding="cards-v1")
    env.reset(options={})
    with pytest.raises(PapluError, match="'opponent'"):
        env.reset(options={"opponent": "mindist"})
