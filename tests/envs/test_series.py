"""The series environment: Gymnasium's protocol over whole series, rewards, infos, masks, illegal actions."""

from __future__ import annotations

import copy
import json
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils import seeding
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import RecordEpisodeStatistics, TimeLimit
from stable_baselines3.common.env_checker import check_env as check_env_sb3

from paplu_env import engine
from paplu_env.bots import make_policy
from paplu_env.bots.policy import decision_keys
from paplu_env.encoding.series_v1 import SeriesV1
from paplu_env.engine import DISCARD_BASE, DRAW_CLOSED, DROP, Series
from paplu_env.engine.chance import below, mix, policy_seed_of
from paplu_env.envs import SERIES_REWARDS, PapluSeriesEnv
from paplu_env.errors import IllegalAction, InvalidRules, PapluError, PolicyMismatch
from paplu_env.rules import parse_rules
from tests.envs.players import Cheater, Passer, pick
from tests.envs.series_trajectories import GOLDEN, TABLES, golden, trajectories

# Warnings of the checkers that are about our choices, not about faults.
ALLOWED_WARNINGS = ("different from the unwrapped version",)  # made by `gymnasium.make`, as users do


def choose(generator: np.random.Generator, mask: np.ndarray) -> int:
    """A random legal action that seldom drops."""
    action = pick(generator, mask)
    return DRAW_CLOSED if action == DROP and mask[DRAW_CLOSED] and generator.random() < 0.7 else action


def play(env: gymnasium.Env[Any, Any], seed: int, series: int = 1) -> list[tuple[Any, ...]]:
    """What random legal play gives in some series, steps and resets alike."""
    generator = np.random.default_rng(seed)
    rows: list[tuple[Any, ...]] = []
    for number in range(series):
        observation, info = env.reset(seed=seed if number == 0 else None)
        rows.append((observation, 0.0, False, False, info))
        while not (rows[-1][2] or rows[-1][3]):
            rows.append(env.step(np.int64(choose(generator, rows[-1][4]["action_mask"]))))
    return rows


def assert_equal(one: list[tuple[Any, ...]], other: list[tuple[Any, ...]]) -> None:
    assert len(one) == len(other)
    for (observation, *flags, info), (other_observation, *other_flags, other_info) in zip(one, other, strict=True):
        np.testing.assert_array_equal(observation, other_observation)
        assert flags == other_flags
        assert info.keys() == other_info.keys()
        for key, value in info.items():
            np.testing.assert_array_equal(value, other_info[key], err_msg=key)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"series": "deals:num_deals=3", "opponent": "random", "reward": "win", "encoding": "cards-v1"},
        {"rules": "pagat:num_players=3", "series": "pool_61:rejoin=true", "opponent": "random", "reward": "series"},
        {"series": "session:num_deals=2", "opponent": "self"},
        {"series": "deals", "reward": "shaped:distance", "encoding": "features-v1"},
    ],
)
def test_gymnasiums_checker_finds_nothing(options: dict[str, Any]) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for seed in range(5):
            env = gymnasium.make("PapluSeries-v0", render_mode="ansi", **options)
            env.action_space.seed(seed)
            check_env(env)
    said = [str(warning.message) for warning in caught]
    assert [text for text in said if not any(allowed in text for allowed in ALLOWED_WARNINGS)] == []


def test_the_checker_of_stable_baselines3_finds_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seed in range(5):
            env = PapluSeriesEnv()
            env.action_space.seed(seed)
            check_env_sb3(env)


def test_made_by_id_its_spec_serialises() -> None:
    env = gymnasium.make("paplu_env:PapluSeries-v0", rules="points:max_turns=9", series={"name": "deals"})
    assert env.spec is not None
    assert env.spec.entry_point == "paplu_env.envs.series:PapluSeriesEnv"
    again = gymnasium.make(gymnasium.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    assert json.loads(env.spec.to_json())["kwargs"] == {"rules": "points:max_turns=9", "series": {"name": "deals"}}
    assert_equal(play(env, 1), play(again, 1))


@pytest.mark.parametrize(
    ("rules", "series_format", "seat"),
    [
        ("points", "pool_101:rejoin=true", "random"),
        ("points:num_players=4", "pool_61", 2),
        ("pagat:num_players=3", "deals:num_deals=3", "random"),
    ],
)
def test_equals_the_engine_played_in_the_open(rules: str, series_format: str, seat: Any) -> None:
    """The same series again from the engine's own functions, with no code of the environment's."""
    names = ["random", "mindist", "minscore"][: parse_rules(rules).num_players - 1]
    env = PapluSeriesEnv(rules, opponent=names, seat=seat, series=series_format)
    rows = play(env, seed=5, series=2)
    generator, _ = seeding.np_random(5)
    actions, k = np.random.default_rng(5), 0
    players = env.rules.num_players
    opponents = [make_policy(name, env.rules) for name in names]
    while k < len(rows):
        seed = np.uint64(generator.bit_generator.random_raw())
        me = below(np.uint64(mix(seed, np.uint64(101))), players) if seat == "random" else seat
        series, paid = Series(rules, series_format, int(seed)), 0
        policy_seed, is_learners_first = policy_seed_of(int(seed)), True
        while not series.is_over:
            if series.is_deal_over:
                series.next_deal()
            mover, view = series.current_player, engine.player_view(series.states, 0, series.current_player)
            mask = engine.legal_action_mask(series.states, 0, series.rules)
            if mover == me:
                observation, reward, terminated, truncated, info = rows[k]
                k += 1
                np.testing.assert_array_equal(
                    observation, SeriesV1().encode(view, series.rules, sheets=[series.sheet])[0]
                )
                np.testing.assert_array_equal(info["action_mask"], mask)
                assert (terminated, truncated, info["seat"], info["deal"]) == (False, False, me, series.deal_number)
                assert info["scores"].tolist() == list(series.scores)
                # What ended before the learner's first decision is paid with its first step.
                assert reward == (0 if is_learners_first else series.sheet.points[me] - paid)
                paid = paid if is_learners_first else series.sheet.points[me]
                is_learners_first = False
                action = choose(actions, mask)
            else:
                turn = 1 if series.rules.direction == "clockwise" else -1
                policy = opponents[(mover - me) * turn % players - 1]
                keys = decision_keys(policy_seed, series.deal_number, view)
                action = int(policy.act(view, mask[None], keys)[0])
            series.apply(action)
        if is_learners_first:
            continue  # the learner had no decision: the environment came past this series in `reset`
        _, reward, terminated, truncated, info = rows[k]
        k += 1
        assert (terminated, truncated) == (True, False)
        assert reward == series.sheet.points[me] - paid
        assert info["series_winners"] == series.sheet.winners
        np.testing.assert_array_equal(info["series_returns"], series.returns())
        assert info["ranking"].tolist() == list(series.ranking())
        assert not info["action_mask"].any()


def test_rewards_are_those_of_the_docstring() -> None:
    """One and the same series under every reward."""
    totals, last = {}, {}
    for reward in SERIES_REWARDS:
        env = PapluSeriesEnv("points:num_players=3", "random", reward=reward, seat=1, series="pool_61:rejoin=true")
        rows = play(env, seed=4)
        totals[reward], last[reward] = sum(row[1] for row in rows), rows[-1][1]
        sheet, info = env.series.sheet, rows[-1][4]
        assert sum(row[1] for row in rows[:-1]) == 0 or reward not in ("win", "series")
    assert totals["points"] == sheet.points[1]
    for reward in ("scaled", "shaped:deadwood", "shaped:distance"):
        assert totals[reward] == pytest.approx(sheet.points[1] / 60)
    assert totals["win"] == last["win"] == (1.0 if sheet.winners == (1,) else -0.5)
    assert totals["series"] == last["series"] == sheet.returns()[1] == info["series_returns"][1]


def test_a_shared_pool_pays_win_in_parts() -> None:
    env = PapluSeriesEnv("points:num_players=4", "random", reward="win", seat=0, series="pool_61")
    env.reset(seed=1)
    sheet = env._core.sheet
    sheet.ending, sheet.winners = "split", (0, 2)
    assert env._core._pay_series() == pytest.approx(1 / 3)
    sheet.winners = (2, 3)
    assert env._core._pay_series() == pytest.approx(-1 / 3)


def test_shaping_pays_while_a_deal_is_on() -> None:
    rows = play(PapluSeriesEnv(opponent="random", reward="shaped", series="deals"), seed=2)
    assert sum(row[1] != 0 for row in rows) > 4


def test_results_of_deals_are_told_once_each() -> None:
    env = PapluSeriesEnv("points:num_players=3", "random", series="session:num_deals=9")
    told = [result for row in play(env, seed=3) for result in row[4]["results"]]
    assert told == env.series.sheet.results
    assert len(told) == 9


def test_a_learner_that_is_out_leaves_the_others_to_finish_the_series() -> None:
    env = PapluSeriesEnv("points:num_players=4", "random", seat=0, series="pool_61")
    _, info = env.reset(seed=2)
    while True:
        action = DROP if info["action_mask"][DROP] else int(np.flatnonzero(info["action_mask"])[-1])
        observation, reward, terminated, _, info = env.step(np.int64(action))
        if terminated:
            break
        assert info["in_series"][0] == 1
    assert info["in_series"].tolist().count(1) == 1
    assert info["in_series"][0] == 0
    assert info["series_returns"][0] == -1
    assert len(info["results"]) > 1
    assert (info["results"][-1].returns[0], reward) == (0, -15)
    assert env.observation_space.contains(observation)


@pytest.mark.parametrize("series_format", ["session:num_deals=1", "deals"])
def test_series_that_end_before_the_learner_decides_are_counted_and_replaced(series_format: str) -> None:
    env = PapluSeriesEnv(opponent=Passer(drop_at=0), series=series_format, seat=1)
    _, info = env.reset(seed=1)
    if series_format == "deals":
        # The second deal is the learner's to begin, and what the first brought is paid with its first step.
        assert (info["skipped_deals"], info["deal"], info["scores"].tolist()) == (0, 1, [20, 0])
        assert info["results"][0].returns == (-20, 20)
        assert env.step(np.int64(DRAW_CLOSED))[1] == 20
    else:
        assert (info["skipped_deals"], info["skipped_points"], info["deal"]) == (100, 2000, 0)
        assert env.series.sheet.first == 1


def test_a_series_that_is_cut_is_truncated() -> None:
    env = PapluSeriesEnv(
        "points:max_turns=2,drop_allowed=false",
        "random",
        series="pool_61:max_deals=3",
        reward="win",
        encoding="cards-v1",
    )
    rows = play(env, seed=1)
    *_, reward, terminated, truncated, info = rows[-1]
    assert (reward, terminated, truncated) == (0, False, True)
    assert (info["series_ending"], info["series_winners"], info["ending"]) == ("truncated", (), "truncated")
    assert info["series_returns"].tolist() == [0, 0]
    assert not any(row[3] for row in rows[:-1])


def test_in_self_play_every_seat_is_played_from_outside() -> None:
    env = PapluSeriesEnv("points:num_players=3", "self", series="deals:num_deals=3")
    generator = np.random.default_rng(3)
    observation, info = env.reset(seed=3)
    terminated = False
    while not terminated:
        seat = info["current_player"]
        assert info["seat"] == seat
        before = env.series
        np.testing.assert_array_equal(
            observation,
            SeriesV1().encode(engine.player_view(before.states, 0, seat), env.rules, sheets=[before.sheet])[0],
        )
        observation, reward, terminated, _, info = env.step(np.int64(choose(generator, info["action_mask"])))
        assert reward == sum(result.returns[seat] for result in info["results"])
    assert info["opponent"] == "self"


@pytest.mark.parametrize("reward", ["points", "series"])
@pytest.mark.parametrize("series_format", ["pool_101:rejoin=true", "session"])
def test_an_illegal_action_ends_the_series_and_is_paid_for(reward: str, series_format: str) -> None:
    env = PapluSeriesEnv("points:num_players=3", "random", seat=2, reward=reward, series=series_format)
    _, info = env.reset(seed=6)
    env._core.sheet.active = (1, 2)  # the seat after the learner is out
    before = env.series
    _, paid, terminated, truncated, info = env.step(np.int64(DISCARD_BASE))
    assert (terminated, truncated, info["ending"], info["series_ending"]) == (True, False, "forfeit", "forfeit")
    assert "discard AS is not legal" in info["illegal_action"]
    assert info["returns"].tolist() == [0, 80, -80]
    assert (info["winner"], info["series_winners"], info["points"]) == (1, (1,), -80)
    assert not info["action_mask"].any()
    assert not env.action_masks().any()
    assert (info["phase"], info["current_player"]) == ("over", -1)
    if series_format == "session":
        expected = np.array(before.sheet.points) + [0, 80, -80]
    else:
        expected = np.array([0, 1, -1])
    assert info["series_returns"].tolist() == expected.tolist()
    assert paid == (expected[2] if reward == "series" else -80 + before.sheet.points[2])
    assert env.series == before
    with pytest.raises(ResetNeeded, match="the series is over"):
        env.step(np.int64(DRAW_CLOSED))
    env.reset()
    assert env.action_masks().any()


def test_an_illegal_action_may_be_refused_instead_and_changes_nothing() -> None:
    env = PapluSeriesEnv(opponent=Passer(drop_at=0), series="deals", seat=1, illegal_action="raise")
    _, info = env.reset(seed=1)
    before = env.series
    with pytest.raises(IllegalAction, match=r"discard AS is not legal: .* \(seat \d, phase draw, .*hand "):
        env.step(np.int64(DISCARD_BASE))
    assert env.series == before
    np.testing.assert_array_equal(env.action_masks(), info["action_mask"])
    assert env.step(np.int64(DRAW_CLOSED))[1] == 20  # still due


@pytest.mark.parametrize("action", [-1, 110, 1.5, "draw", None, True, [3], np.array([3])])
def test_what_is_no_action_is_refused(action: Any) -> None:
    env = PapluSeriesEnv(opponent="random")
    env.reset(seed=1)
    before = env.series
    with pytest.raises(PapluError, match=r"give one whole number 0\.\.109"):
        env.step(action)
    assert env.series == before
    env.step(np.uint64(DRAW_CLOSED))


def test_nothing_goes_before_the_first_reset() -> None:
    env = PapluSeriesEnv(render_mode="ansi")
    for call in (lambda: env.step(np.int64(0)), env.render, lambda: env.series):
        with pytest.raises(ResetNeeded):
            call()
    assert not env.action_masks().any()
    with pytest.raises(PapluError, match="reset takes no option 'series'"):
        env.reset(options={"series": "deals"})


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"series": "pool_7"}, InvalidRules, "unknown format"),
        ({"series": 101}, InvalidRules, "names no series"),
        ({"rules": "bridge"}, InvalidRules, "unknown preset"),
        ({"opponent": "nobody"}, PapluError, "no bot 'nobody'"),
        ({"opponent": ["random", "random"]}, PapluError, "2 opponents for 2 seats"),
        ({"opponent": Passer(), "series": "pool_201"}, PolicyMismatch, "was made for the rules points"),
        ({"encoding": "series-v2"}, PapluError, "unknown encoding"),
        ({"reward": "chips"}, PapluError, "unknown reward 'chips'.*series"),
        ({"reward": "shaped", "opponent": "self"}, PapluError, "for one learner"),
        ({"seat": 2}, PapluError, "seat=2"),
        ({"seat": True}, PapluError, "seat=True"),
        ({"illegal_action": "ignore"}, PapluError, "illegal_action='ignore'"),
        ({"render_mode": "rgb"}, TypeError, "unknown render mode 'rgb'"),
    ],
)
def test_an_argument_that_names_nothing_is_refused(
    arguments: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        PapluSeriesEnv(**arguments)


def test_a_cheating_opponent_is_named() -> None:
    env = PapluSeriesEnv(opponent=Cheater(), seat=1)
    with pytest.raises(IllegalAction, match="passer"):
        env.reset(seed=1)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_continues_identically(duplicate: Any) -> None:
    env = PapluSeriesEnv("points:num_players=3", "random", reward="shaped", series="pool_61:rejoin=true")
    generator = np.random.default_rng(1)
    _, info = env.reset(seed=9)
    for _ in range(30):
        *_, info = env.step(np.int64(choose(generator, info["action_mask"])))
        if not info["action_mask"].any():
            _, info = env.reset()
    twin, choices = duplicate(env), copy.deepcopy(generator)
    other = PapluSeriesEnv("points:num_players=3", "random", reward="shaped", series="pool_61:rejoin=true")
    other.set_state(env.get_state())
    assert_equal(_continue(env, info, generator), _continue(twin, info, copy.deepcopy(choices)))
    env.set_state(other.get_state())
    assert_equal(_continue(env, info, copy.deepcopy(choices)), _continue(other, info, choices))


def _continue(env: PapluSeriesEnv, info: dict[str, Any], generator: np.random.Generator) -> list[tuple[Any, ...]]:
    rows = [env.step(np.int64(choose(generator, info["action_mask"])))]
    while not (rows[-1][2] or rows[-1][3]):
        rows.append(env.step(np.int64(choose(generator, rows[-1][4]["action_mask"]))))
    observation, info = env.reset()
    return [*rows, (observation, info)]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"series": "pool_61"}, "series='pool_101'"),
        ({"reward": "win"}, "reward='points'"),
        ({"opponent": "mindist"}, "opponent='random'"),
        ({"rules": "saha2025"}, "rules='points'"),
        ({"seat": 1}, "seat=-1"),
        ({"encoding": "cards-v1"}, "encoding='series-v1'"),
    ],
)
def test_a_state_of_another_environment_is_refused(change: dict[str, Any], words: str) -> None:
    env, other = PapluSeriesEnv(opponent="random"), PapluSeriesEnv(**{"opponent": "random", **change})
    env.reset(seed=1)
    other.reset(seed=1)
    before = other.series
    with pytest.raises(PapluError, match=words):
        other.set_state(env.get_state())
    assert other.series == before
    for state in (None, {}, {**env.get_state(), "core": {}}):
        with pytest.raises(PapluError, match="this is no state"):
            env.set_state(state)


def test_it_works_under_wrappers_and_side_by_side() -> None:
    env = RecordEpisodeStatistics(TimeLimit(PapluSeriesEnv(opponent="random", series="pool_201"), 5))
    rows = play(env, seed=1)
    assert len(rows) <= 6
    assert rows[-1][4]["episode"]["r"] == sum(row[1] for row in rows)
    several = gymnasium.make_vec(
        "PapluSeries-v0", num_envs=3, vectorization_mode="sync", opponent="random", series="deals"
    )
    _, infos = several.reset(seed=1)
    generator = np.random.default_rng(1)
    for _ in range(60):
        observations, *_, infos = several.step([choose(generator, mask) for mask in infos["action_mask"]])
    assert several.observation_space.contains(observations)


def test_what_the_table_shows_is_text_with_the_scores() -> None:
    env = PapluSeriesEnv(opponent="random", series="pool_61", render_mode="ansi", seat=0)
    env.reset(seed=1)
    env._core.sheet.totals[:] = [12, 34]
    text = env.render()
    assert text is not None
    assert "your hand" in text
    assert text.endswith("pool_61, deal 1: seat 0 12, seat 1 34\n")
    silent = PapluSeriesEnv()
    with pytest.warns(UserWarning, match="render mode"):
        assert silent.render() is None


def test_a_pool_brings_its_prices_into_the_rules_and_keeps_those_of_the_table() -> None:
    assert PapluSeriesEnv("points", series="pool_201").rules.first_drop == 25
    assert PapluSeriesEnv("points:first_drop=5", series="pool_201").rules.first_drop == 5
    with pytest.raises(InvalidRules, match="first_drop=20 contradicts pool_201"):
        PapluSeriesEnv("points:first_drop=20", series="pool_201")


def test_golden_series_are_what_they_were() -> None:
    assert golden() == json.loads(GOLDEN.read_text(encoding="utf-8")), (
        "the behaviour of PapluSeries-v0 has changed: that needs a new environment id (see series_trajectories.py)"
    )


def test_plain_python_plays_the_same_series_as_compiled_kernels() -> None:
    code = "from tests.envs.series_trajectories import TABLES, trajectories; print(*trajectories(*TABLES[-1], 1))"
    shown = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        cwd=Path(__file__).resolve().parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.split() == trajectories(*TABLES[-1], 1)
