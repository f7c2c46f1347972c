"""The warm start: a network learns to decide as a bot does, and to foresee what the deal will bring."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import torch
from torch.nn import functional

from paplu_env import encoding as encodings
from paplu_env.bots import make_policy
from paplu_env.envs.core.rewards import Reward
from training.learn.config import TrainConfig
from training.learn.decisions import Decisions, collect_decisions, kept_decisions
from training.learn.network import ActorCritic, mask_logits
from training.learn.suit_symmetry import SuitSymmetry, draw_symmetry, suit_symmetries
from training.run.progress import Progress

_DECISIONS_A_DEAL: Final = 26  # of good players on a table for two, both seats together
_COMPARED: Final = 8192  # decisions of a chunk that are looked at before they are learned
_FINAL_SHARE: Final = 0.1  # of the step size, at the end


def clone(net: ActorCritic, config: TrainConfig, progress: Progress) -> dict[str, float]:
    """Train `net` in place as the ``[clone]`` section says.

    Returns:
        ``agreement``, the share of fresh decisions of the last chunk on which network and teacher agreed
        before it was learned, ``value_error``, the root mean square error of the value there, in units of
        the reward, and ``decisions``.
    """
    plan = config.clone
    optimizer = torch.optim.Adam(net.parameters(), lr=plan.learning_rate)
    orders = (
        suit_symmetries(config.encoding, config.network.hidden_layout, config.main_rules) if plan.permutes_suits else []
    )
    rng = np.random.default_rng(config.seed)
    done, agreement, value_error = 0, 0.0, 0.0
    for chunk in _chunks(config):
        for group in optimizer.param_groups:
            left = 1.0 - done / plan.decisions
            group["lr"] = plan.learning_rate * max(left, _FINAL_SHARE)
        examples = _examples(net, config, chunk)
        agreement, value_error = _compare(net, examples)
        for _ in range(plan.epochs):
            for rows in torch.from_numpy(rng.permutation(len(chunk))).split(plan.batch_size):
                batch = _rows(examples, rows)
                _step(net, optimizer, _relabelled(batch, draw_symmetry(orders)) if orders else batch, plan.value_weight)
        done += len(chunk)
        progress.show(min(done, plan.decisions), f"agreement {agreement:.1%}, value error {value_error:.3f}")
    return {"agreement": agreement, "value_error": value_error, "decisions": done}


class _Examples(NamedTuple):
    """Decisions of the teacher as tensors."""

    obs: torch.Tensor  # (N, F) float32
    masks: torch.Tensor  # (N, A) bool
    hidden: torch.Tensor | None  # (N, H) float32, for a critic that sees it
    actions: torch.Tensor  # (N,) int64
    outcomes: torch.Tensor  # (N,) float32, in units of the reward


def _chunks(config: TrainConfig) -> Iterator[Decisions]:
    """Chunks of decisions, as many as it takes, of one table after the other; deals are whole, so sizes vary."""
    plan = config.clone
    teachers = [make_policy(plan.teacher, table) for table in config.tables]
    done, number = 0, 0
    while done < plan.decisions:
        # Seeds of cloning, in their own range: the environment's are drawn from other generators.
        seed = int(np.random.SeedSequence([config.seed, number]).generate_state(1)[0])
        deals = max(1, min(plan.chunk, plan.decisions - done) // _DECISIONS_A_DEAL)
        teacher = teachers[number % len(teachers)]
        if plan.keep:
            chunk = kept_decisions(Path(plan.keep), teacher, deals, seed, plan.noise)
        else:
            chunk = collect_decisions(teacher, deals, seed, plan.noise)
        yield chunk
        done, number = done + len(chunk), number + 1


def _examples(net: ActorCritic, config: TrainConfig, chunk: Decisions) -> _Examples:
    # Shaping moves payments within a deal, by a potential that the value learns soon: it is left out.
    layout = encodings.hidden_layout(net.config.hidden_layout)
    outcomes = Reward(config.reward, chunk.rules).final(chunk.points, chunk.winners, chunk.seats)
    return _Examples(
        obs=torch.from_numpy(chunk.obs(encodings.by_name(config.encoding))),
        masks=torch.from_numpy(chunk.masks()),
        hidden=torch.from_numpy(chunk.hidden(layout)) if net.config.hidden_critic else None,
        actions=torch.from_numpy(chunk.actions),
        outcomes=torch.from_numpy(outcomes.astype(np.float32)),
    )


def _rows(examples: _Examples, rows: torch.Tensor | slice) -> _Examples:
    return _Examples(*(None if part is None else part[rows] for part in examples))


def _relabelled(batch: _Examples, order: SuitSymmetry) -> _Examples:
    return _Examples(
        obs=batch.obs[:, order.features],
        masks=batch.masks[:, order.sources],
        hidden=None if batch.hidden is None else batch.hidden[:, order.hidden],
        actions=order.becomes[batch.actions],
        outcomes=batch.outcomes,
    )


def _step(net: ActorCritic, optimizer: torch.optim.Optimizer, batch: _Examples, value_weight: float) -> None:
    """One gradient step."""
    logits, values = net(batch.obs, batch.masks, batch.hidden)
    loss = functional.cross_entropy(mask_logits(logits, batch.masks), batch.actions)
    loss = loss + value_weight * functional.mse_loss(values, batch.outcomes)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def _compare(net: ActorCritic, examples: _Examples) -> tuple[float, float]:
    """Share of equal decisions, and root mean square error of the value, on some rows of a chunk."""
    part = _rows(examples, slice(0, _COMPARED))
    with torch.inference_mode():
        logits, values = net(part.obs, part.masks, part.hidden)
        answers = mask_logits(logits, part.masks).argmax(dim=1)
        error = float((values - part.outcomes).square().mean().sqrt())
        return float((answers == part.actions).float().mean()), error
