"""The PettingZoo face: conformance, each agent's own view, masks, endings and final rewards."""

from __future__ import annotations

import copy
import pickle
import random
import warnings
from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils import seeding
from pettingzoo.test import api_test, render_test, seed_test

from paplu_env import encoding, engine
from paplu_env.bots import make_policy
from paplu_env.cards import format_card
from paplu_env.engine import DECLARE_BASE, DISCARD_BASE, DRAW_CLOSED, DROP, NUM_ACTIONS, TAKE_OPEN
from paplu_env.engine.state import IN
from paplu_env.envs import PapluEnv, aec
from paplu_env.errors import IllegalAction, InvalidRules, PapluError
from paplu_env.rules import PRESETS, RuleSet, parse_rules, preset
from tests.engine.tables import COMPLETE, lay_out
from tests.envs.players import pick

# Warnings of PettingZoo's tests that are about our choices, not about faults.
ALLOWED_WARNINGS = (
    "probably should be gymnasium.spaces.box",  # a dict, because the mask is part of the observation
    "Observation is not a NumPy array",  # the same
    "whatever lasts is an argument of the environment",  # `api_test` gives an option to `reset`
)


def _tables() -> list[RuleSet]:
    """Every preset for every number of players that it can be played by."""
    tables = []
    for name in PRESETS:
        for num_players in range(2, 11):
            try:
                tables.append(preset(name, num_players=num_players))
            except InvalidRules:
                continue
    return tables


TABLES = _tables()


def _patient(generator: np.random.Generator, mask: np.ndarray) -> int:
    """A random legal action; drops and declarations, which would end most deals at once, are rare."""
    action = pick(generator, mask)
    is_rash = action == DROP or action >= DECLARE_BASE
    return pick(generator, np.where(np.arange(NUM_ACTIONS) < DECLARE_BASE, mask, 0)) if is_rash else action


def _start(rules: RuleSet | str, states: np.ndarray, reward: str = "points") -> Any:
    """An environment in a position of our own."""
    env = aec.env(rules, encoding="cards-v1", reward=reward)
    env.reset(seed=0)
    env.unwrapped._states[:] = states
    env.unwrapped.agent_selection = f"player_{int(states['current_player'][0])}"
    return env


def test_every_number_of_seats_and_every_preset_is_tried() -> None:
    assert {rules.num_players for rules in TABLES} == set(range(2, 11))
    assert len(TABLES) > 60


@pytest.mark.parametrize("encoding_name", encoding.names())
@pytest.mark.parametrize("rules", ["points", "pagat:num_players=4", "classic:num_players=6", "points:max_turns=4"])
def test_pettingzoos_tests_find_nothing(rules: str, encoding_name: str, capsys: pytest.CaptureFixture[str]) -> None:
    def make(render_mode: str | None = None) -> Any:
        return aec.env(rules, encoding=encoding_name, render_mode=render_mode)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(make(), num_cycles=100)
        seed_test(make, num_cycles=100)
        render_test(make)
    said = [str(warning.message) for warning in caught]
    assert [text for text in said if not any(allowed in text for allowed in ALLOWED_WARNINGS)] == []
    assert "your hand" in capsys.readouterr().out  # the human mode printed


def test_pettingzoos_tests_find_nothing_in_any_preset_with_any_number_of_seats(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for rules in TABLES:
            api_test(aec.env(rules, encoding="cards-v1"), num_cycles=10)
    assert capsys.readouterr().out.count("Passed API test") == len(TABLES)


@pytest.mark.parametrize("name", PRESETS)
def test_a_deal_is_the_engines_own_to_the_last_reward_of_every_seat(name: str) -> None:
    """The loop of PettingZoo's documentation beside a deal of the engine with the same seed and actions."""
    generator = np.random.default_rng(1)
    endings = set()
    for number, rules in enumerate(rules for rules in TABLES if str(rules).split(":")[0] == name):
        env = aec.env(rules, encoding="cards-v1")
        for deal in range(3):
            seed = 100 * number + deal
            env.reset(seed=seed)
            deal_seed = seeding.np_random(seed)[0].bit_generator.random_raw()
            states = engine.deal(rules, int(deal_seed))
            totals: dict[str, float] = defaultdict(float)
            for agent in env.agent_iter():
                observation, reward, terminated, truncated, _ = env.last()
                totals[agent] += reward
                if terminated or truncated:
                    env.step(None)
                    continue
                seat = int(states["current_player"][0])
                assert agent == f"player_{seat}"
                assert int(states["status"][0, seat]) == IN
                mask = engine.legal_action_mask(states, 0, rules)
                assert np.array_equal(observation["action_mask"], mask)
                assert not any(env.terminations.values())
                assert not any(env.truncations.values())
                assert not any(env.rewards.values())
                assert not any(env.infos.values())  # or libraries that make tensors of infos would break
                action = pick(generator, mask) if deal == 0 else _patient(generator, mask)
                engine.apply_action(states, 0, action, rules)
                env.step(action)
                if engine.is_over(states, 0):
                    returns = engine.returns(states, 0)
                    ending = env.infos[agent]["ending"]
                    assert list(env.rewards.values()) == returns.tolist()
                    assert set(env.terminations.values()) == {ending != "truncated"}
                    assert set(env.truncations.values()) == {ending == "truncated"}
                    for other, info in env.infos.items():
                        assert info["points"] == returns[env.unwrapped._seats[other]]
                        assert info["returns"].tolist() == returns.tolist()
                        assert info["winner"] == int(states["winner"][0])
                    endings.add(ending)
            assert [totals[agent] for agent in env.possible_agents] == engine.returns(states, 0).tolist()
            assert sum(totals.values()) == 0
            assert env.agents == []
    assert endings


def _policies_play(rules: RuleSet, deals: int) -> list[dict[str, Any]]:
    """The last infos of deals between rule agents, played through the observations' masks."""
    env, policy = aec.env(rules, encoding="cards-v1"), make_policy("mindist_opp", rules)
    ends = []
    for deal in range(deals):
        env.reset(seed=deal)
        while not any(env.terminations.values()) and not any(env.truncations.values()):
            agent = env.agent_selection
            seat = env.unwrapped._seats[agent]
            mask = env.observe(agent)["action_mask"][None].astype(bool)
            view = engine.player_view(env.unwrapped._states, 0, seat)
            env.step(int(policy.act(view, mask, np.array([deal], dtype=np.uint64))[0]))
        ends.append(dict(env.infos[env.agents[0]], rewards=list(env.rewards.values())))
    return ends


@pytest.mark.parametrize("rules", ["points", "classic:num_players=4", "pagat:num_players=3"])
def test_deals_that_are_played_to_a_declaration_pay_every_seat(rules: str) -> None:
    ends = _policies_play(parse_rules(rules), 12)
    declared = [end for end in ends if end["ending"] == "declared"]
    assert declared
    for end in declared:
        assert end["rewards"] == end["returns"].tolist()
        assert sum(end["rewards"]) == 0
        assert max(end["rewards"]) == end["rewards"][end["winner"]] > 0


# Hands by what they cost when threes are wild.
LOOSE = "AS 5S 9S KS 2H 6H TH 4D 8D QD 2C 7C JC"  # no pure sequence: all of it, capped at 80
HAND_24 = "AS 2S 3S | 4H 5H 6H | 9C 9D 9S | KC 2D 4D 8S"
HAND_11 = "4C 5C 6C 7C | TD JD QD | 8S 8H 8D | 2D 2S 7S"
TURN = ["draw", "discard drawn"]
WRONG, THREE = "points:wrong_declare=allowed", "points:num_players=3,wrong_declare=allowed"
ENDINGS = [  # rules, hands, actions, how the deal ends, what every seat gets
    ("points", [COMPLETE, HAND_24], ["draw", "declare drawn"], "declared", [24, -24]),
    ("points", [LOOSE, COMPLETE], [*TURN, "draw", "declare drawn"], "declared", [-80, 80]),
    ("points:hand_rummy=true", [COMPLETE, HAND_24], ["announce"], "announced", [24, -24]),
    ("points:hand_rummy=true", [HAND_24, COMPLETE], [*TURN, "announce"], "announced", [-48, 48]),
    (WRONG, [LOOSE, HAND_24], ["draw", "declare drawn"], "wrong_declare", [-80, 80]),
    (WRONG, [LOOSE, HAND_24], [*TURN, "draw", "declare drawn"], "wrong_declare", [80, -80]),
    ("points", [], ["drop"], "drop", [-20, 20]),
    ("points", [], [*TURN, "drop"], "drop", [20, -20]),
    ("points", [], [*TURN, *TURN, "drop"], "drop", [-40, 40]),
    ("points", [], [*TURN, *TURN, *TURN, "drop"], "drop", [40, -40]),
    ("points", [], TURN * 78, "void", [0, 0]),
    ("points:max_turns=3", [], TURN * 3, "truncated", [0, 0]),
    ("saha2025:max_turns=2", [LOOSE, HAND_24], TURN * 2, "lower_deadwood", [-80, 80]),
    ("saha2025:max_turns=2", [HAND_24, LOOSE], TURN * 2, "lower_deadwood", [80, -80]),
    ("saha2025:max_turns=2", [LOOSE, LOOSE], TURN * 2, "lower_deadwood", [0, 0]),
    (THREE, [], ["drop", *TURN, "drop"], "drop", [-20, 40, -20]),
    (THREE, [LOOSE], ["draw", "declare drawn", "drop"], "drop", [-80, -20, 100]),
    (THREE, [LOOSE, COMPLETE, HAND_11], ["drop", "draw", "declare drawn"], "declared", [-20, 31, -11]),
    (THREE, [LOOSE, COMPLETE, HAND_11], ["draw", "declare drawn"] * 2, "declared", [-80, 91, -11]),
]


@pytest.mark.parametrize(("rules", "hands", "actions", "ending", "expected"), ENDINGS)
def test_each_ending_pays_each_seat_what_the_rules_say(
    rules: str, hands: list[str], actions: list[str], ending: str, expected: list[int]
) -> None:
    env = _start(rules, lay_out(hands, "6C", "3C", rules=parse_rules(rules)))
    for words in actions:
        assert not any(env.rewards.values())
        _act(env, words)
    assert list(env.rewards.values()) == expected
    assert {info["ending"] for info in env.infos.values()} == {ending}
    for agent in env.agent_iter():  # the dead steps give each seat its reward once
        _, reward, terminated, truncated, info = env.last()
        assert reward == info["points"] == expected[env.unwrapped._seats[agent]]
        assert (terminated, truncated) == (ending != "truncated", ending == "truncated")
        env.step(None)


def _act(env: Any, words: str) -> None:
    """Do an action written in words, in which ``drawn`` is the card drawn this turn."""
    drawn = int(env.unwrapped._states["drawn"][0])
    env.step(engine.parse_action(words.replace("drawn", format_card(drawn)) if "drawn" in words else words))


def test_scaled_and_win_pay_the_same_result_in_their_units() -> None:
    hands = lay_out([LOOSE, COMPLETE, HAND_11], "6C", "3C", rules=parse_rules(THREE))
    for reward, expected in (("scaled", [-20 / 80, 31 / 80, -11 / 80]), ("win", [-0.5, 1.0, -0.5])):
        env = _start(THREE, hands, reward)
        for words in ("drop", "draw", "declare drawn"):
            _act(env, words)
        assert list(env.rewards.values()) == expected
        assert env.infos["player_1"]["points"] == 31


def test_the_mask_after_a_reset_is_that_of_a_first_turn() -> None:
    """Whoever starts may draw, take and drop, and nothing else, whatever was dealt."""
    env = aec.env(encoding="cards-v1")
    env.reset(seed=0)
    for _ in range(500):
        assert np.flatnonzero(env.last()[0]["action_mask"]).tolist() == [DRAW_CLOSED, TAKE_OPEN, DROP]
        assert not env.observe("player_1")["action_mask"].any()
        env.reset()


def test_a_mask_is_all_zeros_exactly_for_seats_not_to_move_and_after_the_end() -> None:
    generator = np.random.default_rng(3)
    env = aec.env("classic:num_players=4", encoding="cards-v1")
    for deal in range(10):
        env.reset(seed=deal)
        while not any(env.terminations.values()):
            masks = {agent: env.observe(agent)["action_mask"] for agent in env.agents}
            assert [agent for agent, mask in masks.items() if mask.any()] == [env.agent_selection]
            env.step(_patient(generator, masks[env.agent_selection]))
        assert not any(env.observe(agent)["action_mask"].any() for agent in env.agents)


def test_the_action_space_samples_with_the_mask_as_it_comes() -> None:
    env = aec.env(encoding="cards-v1")
    env.reset(seed=0)
    for agent in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        mask = observation["action_mask"]
        assert mask.dtype == np.int8
        action = None if terminated or truncated else env.action_space(agent).sample(mask)
        assert action is None or mask[action] == 1
        env.step(action)


@pytest.mark.parametrize("encoding_name", encoding.names())
@pytest.mark.parametrize("rules", ["points", "pagat:num_players=5"])
def test_observe_tells_nothing_that_the_agent_cannot_know(rules: str, encoding_name: str) -> None:
    """Two worlds: what an agent cannot see is dealt anew, and not a byte of what it observes changes."""
    table, generator, tried = parse_rules(rules), np.random.default_rng(5), 0
    env, other = aec.env(rules, encoding=encoding_name), aec.env(rules, encoding=encoding_name)
    other.reset(seed=0)
    for deal in range(3):
        env.reset(seed=deal)
        for step in range(40):
            for agent, seat in env.unwrapped._seats.items():
                seen = env.observe(agent)
                view = engine.player_view(env.unwrapped._states, 0, seat)
                other.unwrapped._states[:] = engine.sample_world(view, 100 * deal + step, table)
                again = other.observe(agent)
                assert again["observation"].tobytes() == seen["observation"].tobytes()
                assert again["action_mask"].tobytes() == seen["action_mask"].tobytes()
                tried += env.unwrapped._states.tobytes() != other.unwrapped._states.tobytes()
            if any(env.terminations.values()):
                break
            env.step(_patient(generator, env.last()[0]["action_mask"]))
    assert tried > 100


def test_deals_are_those_of_the_gymnasium_environment_for_the_same_seed() -> None:
    env, single = aec.env(encoding="cards-v1"), PapluEnv(opponent="self", encoding="cards-v1")
    generator = np.random.default_rng(1)
    for deal in range(10):
        seed = 7 if deal == 0 else None  # later deals follow from the generators
        env.reset(seed=seed)
        observation, info = single.reset(seed=seed)
        over = False
        while not over:
            seen = env.last()[0]
            assert env.agent_selection == f"player_{info['current_player']}"
            assert np.array_equal(seen["observation"], observation)
            assert np.array_equal(seen["action_mask"], info["action_mask"])
            action = _patient(generator, info["action_mask"])
            env.step(action)
            observation, _, terminated, truncated, info = single.step(action)
            over = terminated or truncated
        assert list(env.rewards.values()) == info["returns"].tolist()


def test_deals_follow_from_the_seed_whatever_the_global_generators_do() -> None:
    seen: list[list[bytes]] = []
    for chaos in (1, 2):
        env = aec.env(encoding="cards-v1")
        env.reset(seed=5)
        random.seed(chaos)
        np.random.seed(chaos)  # noqa: NPY002 (the point of the test)
        hands = []
        for _ in range(30):
            hands.append(env.observe("player_0")["observation"].tobytes())
            env.reset()
        seen.append(hands)
    assert seen[0] == seen[1]
    assert len(set(seen[0])) == 30


def test_an_illegal_action_raises_and_changes_nothing() -> None:
    env = aec.env(encoding="cards-v1")
    env.reset(seed=1)
    before = env.unwrapped._states.tobytes()
    for action in (DISCARD_BASE, NUM_ACTIONS, -1):
        with pytest.raises(IllegalAction):
            env.step(action)
    for action in (1.0, "draw", True, [0], np.array([0, 1]), 2**70, -(2**63)):
        with pytest.raises(PapluError, match="one whole number"):
            env.step(action)
    assert env.unwrapped._states.tobytes() == before
    assert env.agent_selection == "player_0"
    env.step(np.int64(DRAW_CLOSED))


def test_calls_in_a_wrong_order_are_refused() -> None:
    env = aec.raw_env(encoding="cards-v1", render_mode="ansi")
    for call in (lambda: env.step(0), lambda: env.observe("player_0"), env.render):
        with pytest.raises(ResetNeeded, match="call reset"):
            call()
    env.reset(seed=1)
    env.step(DROP)
    with pytest.raises(ValueError, match="None"):
        env.step(DRAW_CLOSED)
    env.step(None)
    env.step(None)
    assert env.agents == []
    with pytest.raises(ResetNeeded, match="call reset"):
        env.step(None)
    assert "over (drop)" in env.render()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"render_mode": "rgb"}, "unknown render mode"),
        ({"reward": "shaped"}, "one learner"),
        ({"reward": "score"}, "unknown reward"),
        ({"encoding": "cards-v9"}, "cards-v9"),
        ({"rules": "poker"}, "poker"),
    ],
)
def test_arguments_that_name_nothing_are_refused(arguments: dict[str, str], words: str) -> None:
    with pytest.raises(PapluError, match=words):
        aec.env(**arguments)


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_continues_on_its_own_and_identically(clone: Any) -> None:
    generator = np.random.default_rng(2)
    env = aec.env("points:drop_allowed=false", encoding="cards-v1")
    env.reset(seed=1)
    for _ in range(9):
        env.step(_patient(generator, env.last()[0]["action_mask"]))
    twin = clone(env)
    before = env.unwrapped._states.tobytes()
    actions = []
    while not any(twin.terminations.values()):
        actions.append(_patient(generator, twin.last()[0]["action_mask"]))
        twin.step(actions[-1])
    assert env.unwrapped._states.tobytes() == before
    for action in actions:
        env.step(action)
    twin.reset(), env.reset()
    assert env.unwrapped._states.tobytes() == twin.unwrapped._states.tobytes()
