"""RLlib's recipe runs, and its samples hold every seat's final reward; run where Ray is installed."""

from __future__ import annotations

import pytest

pytest.importorskip("ray.rllib", reason="Ray is not installed; it needs an environment of its own")

from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner

from training.recipes import rllib_ppo


def test_rllib_learns_both_seats_through_the_multi_agent_face(capsys: pytest.CaptureFixture[str]) -> None:
    result = rllib_ppo.main(["--timesteps", "300", "--deals", "10"])
    assert result["decisions"] >= 300
    assert "update 1: 300 decisions" in capsys.readouterr().out


def test_the_final_reward_is_credited_also_to_the_seat_that_was_waiting() -> None:
    episodes = MultiAgentEnvRunner(config=rllib_ppo.make_config(seed=0)).sample(num_episodes=30)
    for episode in episodes:
        for part in episode.agent_episodes.values():
            assert part.get_return() == pytest.approx(part.get_infos(-1)["points"] / 80)
    # Both seats have acted in many of them, so one was waiting when the deal ended.
    assert sum(len(episode.agent_episodes) == 2 for episode in episodes) > 5
