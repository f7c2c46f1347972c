"""`Learner`: MaskablePPO with the same update and less work around it, and what our recipe adds to it."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.utils import explained_variance
from stable_baselines3.common.vec_env import VecEnv
from torch.nn import functional

from paplu_env.encoding import by_name, hidden_layout
from paplu_env.errors import PapluError
from training.learn.async_step import AsyncStepper
from training.learn.config import TrainConfig
from training.learn.lookahead import LEAST_PROBABILITY, Tried, try_actions
from training.learn.mixed_env import halves_of
from training.learn.network import ActorCritic, LeanPolicy, make_network, mask_logits, pick, probabilities
from training.learn.rollout_buffer import Batch, RolloutBuffer
from training.learn.suit_symmetry import draw_symmetry, suit_symmetries

_ROWS_AT_A_TIME: Final = 8192  # of a whole buffer that is only looked at


class _Turn(NamedTuple):
    """What some games have come to."""

    obs: npt.NDArray[np.float32]  # (N, F)
    masks: npt.NDArray[np.bool_]  # (N, A)
    hidden: npt.NDArray[np.float32] | None  # (N, H), for critics that see it
    rewards: Any = None  # (N,) of the last decisions, whether they ended the deal, and what is said of that
    dones: Any = None
    infos: Any = ()


class Learner(MaskablePPO):
    """MaskablePPO over a `LeanPolicy`; ``tests/training/learn/test_learner.py`` holds that its loss is the stock one.

    What is left out is work: distribution objects, copies, and numbers that are asked for in every minibatch.
    What is added, each by its key in the configuration: a critic that sees the hidden cards, a magnet, a guess at
    the other hands, relabelled suits, and products in bfloat16.

    Args:
        config: the run.
        env: has ``action_masks`` and, for hidden cards, ``critic_obs``, as `PapluVecEnv` has them.
        learning_rate: Adam's step size as SB3 takes it; the configuration's first one if not given.
    """

    policy: Any
    rollout_buffer: Any

    def __init__(self, config: TrainConfig, env: VecEnv, learning_rate: Any = None) -> None:
        ppo, rules = config.ppo, config.main_rules
        self.ppo = ppo
        self.magnet: ActorCritic | None = None
        self.average: ActorCritic | None = None
        self._layout = hidden_layout(config.network.hidden_layout)
        self._encoding, self._reward = by_name(config.encoding), config.reward
        self._threads = config.threads
        self._symmetries = (
            suit_symmetries(config.encoding, config.network.hidden_layout, rules) if ppo.permutes_suits else []
        )
        is_half = config.precision == "bfloat16"
        sees_hidden = config.network.hidden_critic or config.network.guesses_hand
        super().__init__(
            LeanPolicy,
            env,
            learning_rate=ppo.learning_rate if learning_rate is None else learning_rate,
            n_steps=ppo.steps,
            batch_size=ppo.batch_size,
            n_epochs=ppo.epochs,
            gamma=ppo.gamma,
            gae_lambda=ppo.gae_lambda,
            clip_range=ppo.clip_range,
            ent_coef=ppo.entropy,
            vf_coef=ppo.value_weight,
            max_grad_norm=ppo.max_grad_norm,
            target_kl=ppo.target_kl or None,
            rollout_buffer_class=RolloutBuffer,  # type: ignore[arg-type]
            rollout_buffer_kwargs={
                "num_tried": ppo.lookahead,
                "num_hidden": self._layout.num_features(rules) if sees_hidden else 0,
                "dtype": torch.bfloat16 if is_half else torch.float32,
            },
            policy_kwargs={"make_net": partial(make_network, config.network, config.encoding, rules)},
            seed=config.seed,
            device="cpu",
        )
        self.policy.net.is_half = is_half

    def collect_rollouts(
        self,
        env: VecEnv,
        callback: BaseCallback,
        rollout_buffer: Any,
        n_rollout_steps: int,
        use_masking: bool = True,
    ) -> bool:
        """Play until the buffer is full; values are asked for all at once.

        The games are decided in two halves, and with two threads one half is played on while the other is decided,
        see `AsyncStepper`. So a callback hears of a step when other games may be under way in the next one: it finds
        what it may know in its ``locals``, and leaves the environment alone. If it stops, that next step is still
        played and counted.

        The network decides on one thread: a second one of torch's would go on spinning for milliseconds after every
        product, on the core that the environment needs.

        Raises:
            PapluError: a game asks for a decision and allows no action.
        """
        assert use_masking, "a learner without masks would choose illegal actions"
        assert n_rollout_steps == len(self.rollout_buffer.obs)
        callback.on_rollout_start()
        cut: list[tuple[int, int, npt.NDArray[np.float32]]] = []
        halves = halves_of(env)
        is_stopped = False
        with _on_one_thread(), AsyncStepper(self._threads) as stepper:
            waited = [stepper.start(partial(self._look, half, rows)) for half, rows in halves]
            for step in range(n_rollout_steps + 1):
                turns = []
                for k, (half, rows) in enumerate(halves):
                    turn = stepper.result(waited[k])
                    turns.append(turn)
                    if step < n_rollout_steps:
                        actions = self._decide(step, half, rows, turn)
                        waited[k] = stepper.start(partial(self._play, half, actions))
                if step and not self._note(step - 1, turns, cut, callback):
                    is_stopped = True
                    break
            if is_stopped and step < n_rollout_steps:
                turns = [stepper.result(job) for job in waited]
                self.num_timesteps += env.num_envs
        obs = np.concatenate([turn.obs for turn in turns])
        self._last_obs, self._last_episode_starts = obs, np.concatenate([turn.dones for turn in turns])
        if is_stopped:
            return False
        self._value(env, obs, cut)
        callback.on_rollout_end()
        return True

    def _look(self, env: Any, rows: slice) -> _Turn:
        """What the first decisions of a rollout see."""
        hidden = env.critic_obs(self._layout) if self.rollout_buffer.hidden is not None else None
        assert self._last_obs is not None
        return _Turn(self._last_obs[rows], env.action_masks(), hidden)  # type: ignore[call-overload]

    def _decide(self, step: int, env: Any, rows: slice, turn: _Turn) -> npt.NDArray[np.int64]:
        """Write a decision of some games into the buffer."""
        stuck = np.flatnonzero(~turn.masks.any(axis=1))
        if stuck.size:
            raise PapluError(
                f"after {self.num_timesteps:,} decisions the mask of game {rows.start + stuck[0]} allows no action: "
                "the environment asks a seat that isn't to move, and learning from that would be learning nonsense"
            )
        buffer, policy = self.rollout_buffer, self.policy
        obs, masks = buffer.obs[step, rows], buffer.masks[step, rows]
        obs.copy_(torch.from_numpy(turn.obs))
        masks.copy_(torch.from_numpy(turn.masks))
        if turn.hidden is not None:
            buffer.hidden[step, rows] = torch.from_numpy(turn.hidden)
        with torch.inference_mode():
            log_probs = policy.log_probs(obs, masks)
            if buffer.tried is not None:
                tried = self.try_actions(log_probs, getattr(env, "parts", [env]))
                buffer.tried[step, rows], buffer.tried_probs[step, rows], buffer.gains[step, rows] = tried
            actions, buffer.log_probs[step, rows] = policy.draw(log_probs)
            buffer.actions[step, rows] = actions
        chosen: npt.NDArray[np.int64] = actions.numpy()
        return chosen

    def _play(self, env: Any, actions: npt.NDArray[np.int64]) -> _Turn:
        """What some games come to."""
        obs, rewards, dones, infos = env.step(actions)
        hidden = env.critic_obs(self._layout) if self.rollout_buffer.hidden is not None else None
        return _Turn(obs, env.action_masks(), hidden, rewards, dones, infos)

    def _note(
        self,
        step: int,
        turns: list[_Turn],
        cut: list[tuple[int, int, npt.NDArray[np.float32]]],
        callback: BaseCallback,
    ) -> bool:
        """Write what a step of all games brought; whether the callback wants to go on."""
        buffer = self.rollout_buffer
        rewards = buffer.rewards[step] = np.concatenate([turn.rewards for turn in turns])
        dones = buffer.dones[step] = np.concatenate([turn.dones for turn in turns])
        infos = [info for turn in turns for info in turn.infos]
        self.num_timesteps += len(dones)
        callback.update_locals(
            {"self": self, "rollout_buffer": buffer, "rewards": rewards, "dones": dones, "infos": infos}
        )
        if not callback.on_step():
            return False
        self._update_info_buffer(infos, dones)
        for i in np.flatnonzero(dones).tolist():
            if infos[i].get("TimeLimit.truncated", False):
                cut.append((step, i, infos[i]["terminal_observation"]))
        return True

    def try_actions(self, log_probs: torch.Tensor, parts: list[Any]) -> Tried:
        """What the likeliest actions of the decisions that are due in some environments would lead to.

        Args:
            log_probs: ``(N, A)``.
            parts: `PapluVecEnv`, ``N`` games in all.
        """
        net, count = self.policy.net, self.ppo.lookahead
        return try_actions(parts, net, log_probs, count, self._encoding, self._layout, self._reward)

    def _value(self, env: VecEnv, obs: Any, cut: list[tuple[int, int, npt.NDArray[np.float32]]]) -> None:
        """Ask the critic for all positions of the buffer, and for those in which it ends."""
        buffer, net = self.rollout_buffer, self.policy.net
        hidden = None if buffer.hidden is None else torch.from_numpy(env.critic_obs(self._layout))  # type: ignore[attr-defined]
        whole = buffer.flat()
        with torch.inference_mode():
            parts = [
                net.values(whole.obs[rows], None if whole.hidden is None else whole.hidden[rows])
                for rows in _slices(len(whole.obs))
            ]
            torch.cat(parts, out=buffer.values.view(-1))
            last = net.values(torch.from_numpy(obs), hidden)
            for step, i, terminal in cut:
                if hidden is None:
                    value = net.values(torch.from_numpy(terminal)[None])[0]
                else:
                    # The hidden cards of a deal that was cut are gone; its last decision knew nearly as much.
                    value = buffer.values[step, i]
                buffer.rewards[step, i] += self.gamma * float(value)
        buffer.finish(last.numpy())

    def train(self) -> None:
        """The update of the stock class."""
        self._update_learning_rate(self.policy.optimizer)
        clip = self.clip_range(self._current_progress_remaining)  # type: ignore[operator]
        whole = self.rollout_buffer.flat()
        self._move_magnet()
        epochs = [self._relabelled(whole) for _ in range(self.n_epochs)]  # before a weight has changed
        parameters = list(self.policy.parameters())
        logged: list[dict[str, torch.Tensor]] = []
        is_far = False
        for batch in epochs:
            for rows in torch.randperm(len(batch.obs)).split(self.batch_size):
                loss, figures = self.loss(batch.rows(rows), clip)
                logged.append(figures)
                is_far = self.target_kl is not None and float(figures["approx_kl"]) > 1.5 * self.target_kl
                if is_far:
                    break
                self.policy.optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(parameters, self.max_grad_norm)
                self.policy.optimizer.step()
            self._n_updates += 1
            if is_far:
                break
        self._average()
        for name in logged[0]:
            self.logger.record(f"train/{name}", float(torch.stack([figures[name] for figures in logged]).mean()))
        values, returns = self.rollout_buffer.values.numpy().reshape(-1), whole.returns.numpy()
        self.logger.record("train/explained_variance", float(explained_variance(values, returns)))

    @property
    def player(self) -> ActorCritic:
        """The network that is measured and kept: the running average, or the newest weights."""
        return self.policy.net if self.average is None else self.average

    def _average(self) -> None:
        """Bring the running average up to date; a young one is the even mean of what there was."""
        if not self.ppo.average:
            return
        if self.average is None:
            self.average = copy.deepcopy(self.policy.net)
        update = self._update
        kept = min(self.ppo.average, (update - 1) / max(update, 1))
        with torch.no_grad():
            for mean, newest in zip(self.average.parameters(), self.policy.net.parameters(), strict=True):
                mean.lerp_(newest, 1.0 - kept)

    def loss(self, batch: Batch, clip: float) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """PPO's loss on a minibatch (Schulman et al. 2017), and the figures that are logged by SB3's names."""
        ppo = self.ppo
        logits, values, guesses = self.policy.net.learn(batch.obs, batch.masks, batch.hidden)
        log_probs = torch.log_softmax(mask_logits(logits, batch.masks), dim=1)
        probs = probabilities(log_probs)
        entropy = -(probs * log_probs).sum(dim=1).mean()
        log_ratio = pick(log_probs, batch.actions) - batch.log_probs
        ratio = log_ratio.exp()
        if batch.tried is None:
            advantages = batch.advantages
            advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
            clipped = ratio.clamp(1 - clip, 1 + clip)
            policy_loss = -torch.min(advantages * ratio, advantages * clipped).mean()
        else:
            policy_loss = _loss_of_tried(batch, probs, clip)
        value_loss = functional.mse_loss(values, batch.returns)
        loss = policy_loss - self.ent_coef * entropy + self.vf_coef * value_loss
        with torch.no_grad():
            figures = {
                "entropy_loss": -entropy.detach(),
                "policy_gradient_loss": policy_loss.detach(),
                "value_loss": value_loss.detach(),
                "approx_kl": (ratio - 1 - log_ratio).mean(),
                "clip_fraction": ((ratio - 1).abs() > clip).float().mean(),
            }
        if batch.magnet is not None:
            # Masked entries have no probability; their log-probabilities are as low on both sides.
            pull = (probs * (log_probs - batch.magnet)).sum(dim=1).mean()
            loss = loss + ppo.magnet * pull
            figures["magnet_kl"] = pull.detach()
        if guesses is not None:
            assert batch.hidden is not None
            held = batch.hidden[:, : guesses.shape[1]].float()
            guess_loss = functional.binary_cross_entropy_with_logits(guesses, held)
            loss = loss + ppo.guess_weight * guess_loss
            figures["guess_loss"] = guess_loss.detach()
        return loss, figures

    def _relabelled(self, batch: Batch) -> Batch:
        """The batch with its suits relabelled by chance, if that is asked for, and what the magnet thinks of it."""
        net = self.policy.net
        if self._symmetries:
            order = draw_symmetry(self._symmetries)
            batch = batch._replace(
                obs=batch.obs[:, order.features],
                masks=batch.masks[:, order.sources],
                hidden=None if batch.hidden is None else batch.hidden[:, order.hidden],
                actions=order.becomes[batch.actions],
                tried=None if batch.tried is None else order.becomes[batch.tried],
            )
            # The network isn't quite the same for all suits, so these decisions had other probabilities.
            log_probs = _log_probs(net, batch)
            batch = batch._replace(log_probs=pick(log_probs, batch.actions))
            if batch.tried is not None and batch.tried_probs is not None:
                again = log_probs.exp().gather(1, batch.tried)
                batch = batch._replace(tried_probs=torch.where(batch.tried_probs > 0, again, 0.0))
        if not self.ppo.magnet:
            return batch
        assert self.magnet is not None
        return batch._replace(magnet=_log_probs(self.magnet, batch))

    @property
    def _update(self) -> int:
        """The number of the update under way, from 1 on; SB3 counts passes, of which an update may skip some."""
        return self.num_timesteps // (self.n_steps * self.n_envs)

    def _move_magnet(self) -> None:
        """Take the policy as it is for the magnet, at the first update and whenever its time is over."""
        is_due = self.ppo.magnet_every > 0 and (self._update - 1) % self.ppo.magnet_every == 0
        if self.ppo.magnet and (self.magnet is None or is_due):
            self.magnet = copy.deepcopy(self.policy.net)


def _loss_of_tried(batch: Batch, probs: torch.Tensor, clip: float) -> torch.Tensor:
    """PPO's clipped loss in expectation over the actions that were tried, instead of for the one that was played."""
    assert batch.tried is not None
    assert batch.tried_probs is not None
    assert batch.gains is not None
    before = batch.tried_probs
    ratio = probs.gather(1, batch.tried) / before.clamp_min(LEAST_PROBABILITY)
    clipped = ratio.clamp(1 - clip, 1 + clip)
    return -(before * torch.min(batch.gains * ratio, batch.gains * clipped)).sum(dim=1).mean()


@contextmanager
def _on_one_thread() -> Iterator[None]:
    """Torch's products without help."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _log_probs(net: ActorCritic, batch: Batch) -> torch.Tensor:
    """``(N, A)`` log-probabilities of a whole buffer, without gradients."""
    with torch.no_grad():
        return torch.cat(
            [
                torch.log_softmax(mask_logits(net.logits(batch.obs[rows], batch.masks[rows]), batch.masks[rows]), dim=1)
                for rows in _slices(len(batch.obs))
            ]
        )


def _slices(count: int) -> Iterator[slice]:
    """Slices of `_ROWS_AT_A_TIME` rows that cover all."""
    return (slice(first, first + _ROWS_AT_A_TIME) for first in range(0, count, _ROWS_AT_A_TIME))
