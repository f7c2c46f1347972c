"""PPO of RLlib on the multi-agent face: one policy learns both seats by playing against itself, with masks.

    python -m venv ray-env && ray-env/bin/pip install -c constraints-ray.txt "ray[rllib]" torch numba pettingzoo
    ray-env/bin/python -m training.recipes.rllib_ppo --timesteps 10000 --seed 0

Ray needs an environment of its own, because it pins older libraries. The masks are applied by RLlib's own
module for them, when acting and when updating; it takes them out of what the networks see. A few minutes.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import ray
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module import MultiRLModuleSpec, RLModule, RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

from paplu_env.cli.streams import prepare_streams
from paplu_env.envs.rllib import PapluMultiAgentEnv

POLICY = "both_seats"
BATCH = 2000  # decisions between two updates
DEALS = 200  # of one measurement
MEASURING = 2**30  # added to the seed of deals that are measured: none of them is learned from


def make_config(seed: int, batch: int = BATCH) -> PPOConfig:
    """PPO in this process alone, one policy for all agents."""
    return (
        PPOConfig()
        # RLlib's check of an environment samples actions without masks, which this one refuses.
        .environment(
            PapluMultiAgentEnv,
            env_config={"encoding": "cards-v1", "reward": "scaled"},
            disable_env_checking=True,
        )
        .framework("torch")
        .env_runners(num_env_runners=0)
        .learners(num_learners=0)
        .multi_agent(policies={POLICY}, policy_mapping_fn=lambda agent, episode, **_: POLICY)
        .rl_module(
            rl_module_spec=MultiRLModuleSpec(
                rl_module_specs={
                    POLICY: RLModuleSpec(
                        module_class=ActionMaskingTorchRLModule,
                        model_config={"fcnet_hiddens": [128, 128], "vf_share_layers": False},
                    )
                }
            )
        )
        # A deal ends by itself and is scored once, so nothing is discounted.
        .training(gamma=1.0, lr=1e-3, train_batch_size_per_learner=batch, minibatch_size=250, num_epochs=4)
        .debugging(seed=seed, log_level="ERROR")
    )


@torch.no_grad()
def points_against_random(module: RLModule, deals: int, seed: int) -> tuple[float, float]:
    """Mean points per deal against random legal play, from both seats, and half its 95 % interval."""
    env = PapluMultiAgentEnv({"encoding": "cards-v1", "reward": "points"})
    generator = np.random.default_rng(seed)
    scores = []
    for deal in range(deals):
        learner = f"player_{deal % 2}"
        observations, _ = env.reset(seed=seed if deal == 0 else None)
        is_over = False
        while not is_over:
            ((mover, seen),) = observations.items()
            probabilities = seen["action_mask"] / seen["action_mask"].sum()
            if mover == learner:
                batch = {Columns.OBS: {key: torch.as_tensor(value)[None] for key, value in seen.items()}}
                logits = module.forward_inference(batch)[Columns.ACTION_DIST_INPUTS][0].double()
                probabilities = torch.softmax(logits, -1).numpy()
            action = int(generator.choice(len(probabilities), p=probabilities))
            observations, rewards, terminated, truncated, _ = env.step({mover: action})
            is_over = terminated["__all__"] or truncated["__all__"]
        scores.append(rewards[learner])
    return float(np.mean(scores)), 1.96 * float(np.std(scores)) / deals**0.5


def main(arguments: list[str] | None = None) -> dict[str, Any]:
    """Learn, and print what it brought; returns points before and after, and the decisions learnt from."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--timesteps", type=int, default=10_000, help="decisions of both seats together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--deals", type=int, default=DEALS, help="deals of each measurement")
    options = parser.parse_args(arguments)

    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, ignore_reinit_error=True)
    algorithm = make_config(options.seed, min(BATCH, options.timesteps)).build_algo()

    def report(when: str) -> float:
        points, interval = points_against_random(algorithm.get_module(POLICY), options.deals, MEASURING + options.seed)
        print(f"{when} learning: {points:+.1f} ± {interval:.1f} points per deal against random ({options.deals} deals)")
        return points

    before, learnt, number = report("before"), 0, 0
    while learnt < options.timesteps:
        result = algorithm.train()
        number += 1
        learnt = int(result["num_env_steps_sampled_lifetime"])
        losses = result["learners"][POLICY]
        print(
            f"update {number}: {learnt} decisions, {result['env_runners']['episode_len_mean']:.1f} a deal, "
            f"entropy {losses['entropy']:.2f}, value loss {losses['vf_loss']:.4f}"
        )
    after = report("after")
    algorithm.stop()
    ray.shutdown()
    return {"before": before, "after": after, "decisions": learnt}


if __name__ == "__main__":
    prepare_streams()
    main()
