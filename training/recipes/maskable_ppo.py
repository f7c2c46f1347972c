"""Stock MaskablePPO of sb3-contrib on the single environment: nothing of ours but the environment's name.

    python -m training.recipes.maskable_ppo --timesteps 20000 --seed 0

It shows that the masks reach sb3-contrib by its own ways while it learns and while it is measured:
``illegal_action="raise"`` would end the program at the first action that isn't legal. About a minute.
"""

from __future__ import annotations

import argparse

import gymnasium
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy

OPPONENT = "random"
DEALS = 300  # of one measurement; the interval is about 2 points
MEASURING = 2**30  # added to the seed of deals that are measured: none of them is learned from


def main(arguments: list[str] | None = None) -> tuple[float, float]:
    """Learn, and print and return the points per deal before and after."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--timesteps", type=int, default=20_000, help="decisions to learn from")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--deals", type=int, default=DEALS, help="deals of each measurement")
    options = parser.parse_args(arguments)

    table = {"opponent": OPPONENT, "encoding": "cards-v1", "illegal_action": "raise"}
    env = gymnasium.make("paplu_env:Paplu-v0", reward="scaled", **table)
    test_env = gymnasium.make("paplu_env:Paplu-v0", reward="points", **table)
    steps = min(1024, options.timesteps)  # decisions between two updates
    # A deal ends by itself and is scored once, so nothing is discounted.
    model = MaskablePPO("MlpPolicy", env, gamma=1.0, n_steps=steps, batch_size=256, seed=options.seed, device="cpu")

    results = []
    for when in ("before", "after"):
        if when == "after":
            model.learn(options.timesteps)
        test_env.reset(seed=MEASURING + options.seed)  # the same deals both times
        points, deviation = evaluate_policy(
            model, test_env, n_eval_episodes=options.deals, deterministic=False, warn=False
        )
        points, interval = float(points), 1.96 * float(deviation) / options.deals**0.5
        print(
            f"{when} learning: {points:+.1f} ± {interval:.1f} points per deal "
            f"against {OPPONENT} ({options.deals} deals)"
        )
        results.append(points)
    return results[0], results[1]


if __name__ == "__main__":
    main()
