"""PPO of TorchRL through the PettingZoo face: one network learns both seats by playing against itself.

    python -m training.recipes.torchrl_ppo --timesteps 6000 --seed 0

It needs the extra ``torchrl``. TorchRL's `PettingZooWrapper` gives two masks, and both are needed:
``action_mask``, what may be done, goes into the distribution; ``mask``, whose turn it is, picks the rows
that are learnt from. The wrapper takes ``action_mask`` out of the observation, so that no network sees
it. A minute or two.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs.libs.pettingzoo import PettingZooWrapper
from torchrl.modules import MaskedCategorical, ProbabilisticActor
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from paplu_env.cli.streams import prepare_streams
from paplu_env.envs import aec

GROUP = "player"  # both seats are one group: their tensors are stacked, and one network plays for both
FRAMES = 1000  # decisions between two updates
EPOCHS = 4
MINIBATCH = 250
LEARNING_RATE = 1e-3
MAX_GRAD_NORM = 0.5
GAMMA = 1.0  # a deal ends by itself and is scored once
GAE_LAMBDA = 0.95
DEALS = 200  # of one measurement
MEASURING = 2**30  # added to the seed of deals that are measured: none of them is learned from


def actor_of(network: nn.Module, prefix: tuple[str, ...]) -> ProbabilisticActor:
    """An actor that finds its entries under a prefix: those of the group when acting, none when updating."""
    logits = TensorDictModule(
        network, in_keys=[(*prefix, "observation", "observation")], out_keys=[(*prefix, "logits")]
    )
    return ProbabilisticActor(
        logits,
        in_keys={"logits": (*prefix, "logits"), "mask": (*prefix, "action_mask")},
        out_keys=[(*prefix, "action")],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
        log_prob_key=(*prefix, "action_log_prob"),
    )


def critic_of(network: nn.Module, prefix: tuple[str, ...]) -> TensorDictModule:
    """A critic that finds its entries under a prefix."""
    return TensorDictModule(
        network, in_keys=[(*prefix, "observation", "observation")], out_keys=[(*prefix, "state_value")]
    )


def decisions_of(frames: TensorDict) -> TensorDict:
    """The rows in which a seat was to move, of both seats together: ``(N,)``."""
    return frames[GROUP][frames[GROUP, "mask"]]


@torch.no_grad()
def points_against_random(network: nn.Module, deals: int, seed: int) -> tuple[float, float]:
    """Mean points per deal against random legal play, from both seats, and half its 95 % interval."""
    env = aec.env(encoding="cards-v1", reward="points")
    generator = np.random.default_rng(seed)
    env.reset(seed=seed)
    scores = []
    for deal in range(deals):
        learner = f"player_{deal % 2}"
        for agent in env.agent_iter():
            observation, reward, terminated, truncated, _ = env.last()
            if terminated or truncated:
                if agent == learner:
                    scores.append(reward)
                env.step(None)
                continue
            mask = observation["action_mask"].astype(bool)
            if agent == learner:
                logits = network(torch.as_tensor(observation["observation"]))
                env.step(int(MaskedCategorical(logits=logits, mask=torch.as_tensor(mask)).sample()))
            else:
                env.step(int(generator.choice(np.flatnonzero(mask))))
        env.reset()
    return float(np.mean(scores)), 1.96 * float(np.std(scores)) / deals**0.5


def main(arguments: list[str] | None = None) -> dict[str, Any]:
    """Learn, and print what it brought; returns points before and after, and the decisions learnt from."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--timesteps", type=int, default=6_000, help="decisions of both seats together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--deals", type=int, default=DEALS, help="deals of each measurement")
    options = parser.parse_args(arguments)

    torch.manual_seed(options.seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="PettingZoo in TorchRL is tested using")
        env = PettingZooWrapper(
            aec.env(encoding="cards-v1", reward="scaled"),
            use_mask=True,
            group_map={GROUP: ["player_0", "player_1"]},
            seed=options.seed,
        )
    num_features = env.observation_spec[GROUP, "observation", "observation"].shape[-1]
    num_actions = env.observation_spec[GROUP, "action_mask"].shape[-1]
    actor_network = nn.Sequential(nn.Linear(num_features, 128), nn.Tanh(), nn.Linear(128, num_actions))
    critic_network = nn.Sequential(nn.Linear(num_features, 128), nn.Tanh(), nn.Linear(128, 1))
    advantages = GAE(gamma=GAMMA, lmbda=GAE_LAMBDA, value_network=critic_of(critic_network, (GROUP,)))
    advantages.set_keys(
        **{
            key: (GROUP, name)
            for key, name in {
                "advantage": "advantage",
                "value_target": "value_target",
                "value": "state_value",
                "reward": "reward",
                "done": "done",
                "terminated": "terminated",
            }.items()
        }
    )
    loss_of = ClipPPOLoss(actor_of(actor_network, ()), critic_of(critic_network, ()), normalize_advantage=True)
    optimizer = torch.optim.Adam(loss_of.parameters(), lr=LEARNING_RATE)

    def report(when: str) -> float:
        points, interval = points_against_random(actor_network, options.deals, MEASURING + options.seed)
        print(f"{when} learning: {points:+.1f} ± {interval:.1f} points per deal against random ({options.deals} deals)")
        return points

    before, learnt = report("before"), 0
    collector = Collector(
        env,
        actor_of(actor_network, (GROUP,)),
        auto_register_policy_transforms=True,
        frames_per_batch=min(FRAMES, options.timesteps),
        total_frames=options.timesteps,
    )
    for number, frames in enumerate(collector, 1):
        with torch.no_grad():
            advantages(frames)
        decisions = decisions_of(frames)
        losses = []
        for _ in range(EPOCHS):
            for rows in torch.randperm(len(decisions)).split(MINIBATCH):
                terms = loss_of(decisions[rows])
                loss = sum(value for name, value in terms.items() if name.startswith("loss_"))
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(loss_of.parameters(), MAX_GRAD_NORM)
                optimizer.step()
                losses.append(float(loss.detach()))
        learnt += len(decisions)
        finished = int(frames["next", "done"].sum())
        print(f"update {number}: {len(decisions)} decisions, {finished} deals, mean loss {np.mean(losses):.3f}")
    collector.shutdown()
    return {"before": before, "after": report("after"), "decisions": learnt}


if __name__ == "__main__":
    prepare_streams()
    main()
