"""The warm start: a network learns to decide as a bot does, and to foresee what the deal will bring."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from paplu_env import encoding as encodings
from paplu_env.bots import make_policy
from paplu_env.envs.rewards import Reward
from paplu_env.rules import parse_rules
from training.config import TrainConfig
from training.decisions import Decisions, collect_decisions
from training.network import ActorCritic, mask_logits
from training.progress import Progress

_TRIAL_DEALS = 64  # deals of the first chunk, from whose length the number for a full chunk is known
_FINAL_SHARE = 0.1  # of the step size, at the end


def clone(net: ActorCritic, config: TrainConfig, progress: Progress) -> dict[str, float]:
    """Train `net` in place as the ``[clone]`` section says.

    Returns:
        ``agreement``, the share of fresh decisions of the last chunk on which network and teacher agreed
        before it was learned, ``value_error``, the root mean square error of the value there, in units of
        the reward, and ``decisions``.
    """
    plan = config.clone
    optimizer = torch.optim.Adam(net.parameters(), lr=plan.learning_rate)
    reward = Reward(config.reward, parse_rules(config.rules))
    rng = np.random.default_rng(config.seed)
    done, agreement, value_error = 0, 0.0, 0.0
    for chunk in _chunks(config):
        for group in optimizer.param_groups:
            left = 1.0 - done / plan.decisions
            group["lr"] = plan.learning_rate * max(left, _FINAL_SHARE)
        # Shaping moves payments within a deal, by a potential that the value learns soon: it is left out.
        outcomes = reward.final(chunk.points, chunk.winners, chunk.seats).astype(np.float32)
        agreement, value_error = _compare(net, chunk, outcomes)
        for _ in range(plan.epochs):
            order = rng.permutation(len(chunk))
            for start in range(0, len(order), plan.batch_size):
                _step(net, optimizer, chunk, outcomes, order[start : start + plan.batch_size], plan.value_weight)
        done += len(chunk)
        progress.show(min(done, plan.decisions), f"agreement {agreement:.1%}, value error {value_error:.3f}")
    return {"agreement": agreement, "value_error": value_error, "decisions": done}


def _chunks(config: TrainConfig) -> Iterator[Decisions]:
    """Chunks of fresh decisions, as many as it takes; deals are whole, so sizes vary a little."""
    plan = config.clone
    teacher = make_policy(plan.teacher, parse_rules(config.rules))
    encoding = encodings.get(config.encoding)
    deals, done, number = _TRIAL_DEALS, 0, 0
    while done < plan.decisions:
        # Seeds of cloning, in their own range: the environment's are drawn from other generators.
        seed = int(np.random.SeedSequence([config.seed, number]).generate_state(1)[0])
        chunk = collect_decisions(teacher, encoding, deals, seed, plan.noise)
        yield chunk
        done, number = done + len(chunk), number + 1
        deals = max(1, min(plan.chunk, plan.decisions - done) * deals // len(chunk))


def _step(
    net: ActorCritic,
    optimizer: torch.optim.Optimizer,
    chunk: Decisions,
    outcomes: npt.NDArray[np.float32],
    rows: npt.NDArray[np.int64],
    value_weight: float,
) -> None:
    """One gradient step on some rows of a chunk."""
    logits, values = net(torch.from_numpy(chunk.obs[rows]))
    masked = mask_logits(logits, torch.from_numpy(chunk.masks[rows]))
    loss = functional.cross_entropy(masked, torch.from_numpy(chunk.actions[rows]))
    loss = loss + value_weight * functional.mse_loss(values, torch.from_numpy(outcomes[rows]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def _compare(net: ActorCritic, chunk: Decisions, outcomes: npt.NDArray[np.float32]) -> tuple[float, float]:
    """Share of equal decisions, and root mean square error of the value, on up to 8,192 rows of a chunk."""
    rows = slice(0, 8192)
    with torch.inference_mode():
        logits, values = net(torch.from_numpy(chunk.obs[rows]))
        answers = mask_logits(logits, torch.from_numpy(chunk.masks[rows])).argmax(dim=1).numpy()
    error = float(np.sqrt(np.mean((values.numpy() - outcomes[rows]) ** 2)))
    return float((answers == chunk.actions[rows]).mean()), error
