"""The RLlib face: the PettingZoo environment in another protocol; run where Ray is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from paplu_env.engine import DISCARD_BASE, DRAW_CLOSED, DROP
from paplu_env.errors import IllegalAction, PapluError
from tests.envs.players import pick

pytest.importorskip("ray.rllib", reason="Ray is not installed; it needs an environment of its own")

from paplu_env.envs import aec
from paplu_env.envs.rllib import PapluMultiAgentEnv


@pytest.mark.parametrize("rules", ["points", "points:max_turns=3", "classic:num_players=4"])
def test_it_is_the_pettingzoo_environment_step_by_step(rules: str) -> None:
    config = {"rules": rules, "encoding": "cards-v1", "reward": "scaled"}
    env, reference = PapluMultiAgentEnv(config), aec.env(**config)
    generator = np.random.default_rng(0)
    endings = set()
    for deal in range(12):
        seed = 4 if deal == 0 else None
        observations, infos = env.reset(seed=seed)
        reference.reset(seed=seed)
        assert infos == {}
        is_over = False
        while not is_over:
            mover = reference.agent_selection
            assert list(observations) == [mover]
            assert env.observation_spaces[mover].contains(observations[mover])
            expected = reference.observe(mover)
            assert np.array_equal(observations[mover]["observations"], expected["observation"])
            assert np.array_equal(observations[mover]["action_mask"], expected["action_mask"])
            action = pick(generator, expected["action_mask"])
            if action == DROP and generator.random() < 0.7:
                action = DRAW_CLOSED
            observations, rewards, terminated, truncated, infos = env.step({mover: action})
            reference.step(action)
            is_over = terminated["__all__"] or truncated["__all__"]
            assert terminated["__all__"] == reference.terminations[mover]
            assert truncated["__all__"] == reference.truncations[mover]
            if not is_over:
                assert rewards == {mover: 0.0}
        assert rewards == reference.rewards
        assert set(observations) == set(rewards) == set(infos) == set(env.possible_agents)
        assert not any(observation["action_mask"].any() for observation in observations.values())
        endings.add(infos["player_0"]["ending"])
    assert endings & {"drop", "truncated"}


def test_actions_out_of_turn_and_illegal_ones_are_refused() -> None:
    env = PapluMultiAgentEnv({"encoding": "cards-v1"})
    env.reset(seed=1)
    refused: list[dict[str, Any]] = [{}, {"player_1": 0}, {"player_0": 0, "player_1": 0}]
    for actions in refused:
        with pytest.raises(PapluError, match="turn of player_0 alone"):
            env.step(actions)
    with pytest.raises(IllegalAction):
        env.step({"player_0": DISCARD_BASE})
    env.step({"player_0": DRAW_CLOSED})


def test_unknown_arguments_are_refused() -> None:
    with pytest.raises(PapluError, match="poker"):
        PapluMultiAgentEnv({"rules": "poker"})
    with pytest.raises(TypeError, match="opponent"):
        PapluMultiAgentEnv({"opponent": "random"})
