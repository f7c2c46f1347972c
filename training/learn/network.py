"""The network, and the policy class through which MaskablePPO trains it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from torch import nn
from torch.nn import functional

from paplu_env import encoding as encodings
from paplu_env.bots.networks.onnx import MASKED_LOGIT
from paplu_env.cards import NUM_FACES
from paplu_env.encoding import HIDDEN_V1, hidden_layout
from paplu_env.engine.actions import DECLARE_BASE, DISCARD_BASE, NUM_ACTIONS
from paplu_env.rules import RuleSet
from training.learn.config import NetworkConfig
from training.run.tensors import Tensors

_ACTIVATIONS: Final[dict[str, type[nn.Module]]] = {"relu": nn.ReLU, "tanh": nn.Tanh}
_ACTION_GAIN: Final = 0.01  # small, so that fresh play is even over the legal actions
_VALUE_GAIN: Final = 1.0
_LEAST_LOG: Final = -80.0  # the logarithm of 2e-35, which a float32 still holds with all its digits
_LEAST_PART: Final = 1e-24


class ActorCritic(nn.Module):
    """Observations ``(N, F)`` to logits ``(N, A)`` and values ``(N,)``.

    Args:
        columns: ``(53, K)``, see `face_columns`; needed if ``config.face_width`` isn't 0.
        num_hidden: ``H``, entries of the hidden layout; needed if ``config.hidden_critic``.
        num_guesses: entries of the other hands, the first of any hidden layout; needed if ``config.guesses_hand``.
    """

    def __init__(
        self,
        num_features: int,
        config: NetworkConfig,
        columns: npt.NDArray[np.int64] | None = None,
        num_hidden: int = 0,
        num_guesses: int = 0,
    ) -> None:
        super().__init__()
        self.config = config
        self.is_half = False  # whether the trunks multiply in bfloat16
        self.trunk = _trunk(num_features, config)
        self.action_head: nn.Module
        if config.face_width:
            assert columns is not None, "a network with a layer for faces needs their columns"
            self.action_head = FaceHead(config.hidden[-1], config.face_width, columns)
        else:
            self.action_head = FlatHead(config.hidden[-1])
        critic_features = num_features + (num_hidden if config.hidden_critic else 0)
        self.value_trunk = nn.Identity() if config.shared else _trunk(critic_features, config)
        self.value_head = _linear(config.hidden[-1], 1, _VALUE_GAIN)
        self.guess_head = _linear(config.hidden[-1], num_guesses, _ACTION_GAIN) if config.guesses_hand else None

    def forward(
        self, obs: torch.Tensor, masks: torch.Tensor | None = None, hidden: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits and values.

        Args:
            masks: ``(N, A)`` bool, if the logits of illegal actions don't matter: much work is then left out.
                They are not masked.
            hidden: ``(N, H)``, for a critic that sees it.
        """
        trunk = self.run(self.trunk, obs)
        return self.action_head(trunk, obs, masks), self._values(trunk, obs, hidden)

    def learn(
        self, obs: torch.Tensor, masks: torch.Tensor, hidden: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
        """As `forward`, and the logits ``(N, G)`` of the guess at the other hands, if there is one."""
        trunk = self.run(self.trunk, obs)
        guesses = None if self.guess_head is None else self.guess_head(trunk)
        return self.action_head(trunk, obs, masks), self._values(trunk, obs, hidden), guesses

    def logits(self, obs: torch.Tensor, masks: torch.Tensor | None = None) -> torch.Tensor:
        """The logits alone, as `forward` gives them."""
        found: torch.Tensor = self.action_head(self.run(self.trunk, obs), obs, masks)
        return found

    def values(self, obs: torch.Tensor, hidden: torch.Tensor | None = None) -> torch.Tensor:
        """The values alone, as `forward` gives them."""
        return self._values(self.run(self.trunk, obs) if self.config.shared else obs, obs, hidden)

    def run(self, trunk: nn.Module, inputs: torch.Tensor) -> torch.Tensor:
        """The last layer of a trunk, float32 whatever it multiplies in."""
        if not self.is_half:
            found: torch.Tensor = trunk(inputs.to(next(trunk.parameters()).dtype))
            return found.float()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            found = trunk(inputs)
        return found.float()

    def _values(self, trunk: torch.Tensor, obs: torch.Tensor, hidden: torch.Tensor | None) -> torch.Tensor:
        if not self.config.shared:
            if self.config.hidden_critic:
                assert hidden is not None, "this critic sees the hidden cards: hand them over"
                obs = torch.cat((obs, hidden), dim=1)
            trunk = self.run(self.value_trunk, obs)
        found: torch.Tensor = self.value_head(trunk).squeeze(-1)
        return found

    def tensors(self) -> Tensors:
        """Copies of the weights by name."""
        return {name: value.detach().numpy().copy() for name, value in self.state_dict().items()}

    def load_tensors(self, tensors: Tensors) -> None:
        """Take over weights that `tensors` gave.

        Raises:
            RuntimeError: names or shapes of another network.
        """
        self.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in tensors.items()})


def make_network(config: NetworkConfig, encoding: str, rules: RuleSet) -> ActorCritic:
    """A fresh network for observations of this encoding under these rules."""
    return ActorCritic(
        encodings.by_name(encoding).num_features(rules),
        config,
        face_columns(encoding, rules),
        hidden_layout(config.hidden_layout).num_features(rules),
        num_guesses(rules),
    )


def num_guesses(rules: RuleSet) -> int:
    """``G``, how many entries of `hidden-v1` and its successors tell the other hands; they come first."""
    hands = HIDDEN_V1.fields(rules)[0]
    assert (hands.name, hands.start) == ("hands", 0)
    return hands.size


class FlatHead(nn.Module):
    """Logits from the trunk alone: every action has weights of its own."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.all = _linear(hidden, NUM_ACTIONS, _ACTION_GAIN)

    def forward(self, hidden: torch.Tensor, obs: torch.Tensor, masks: torch.Tensor | None = None) -> torch.Tensor:
        logits: torch.Tensor = self.all(hidden)
        return logits


class FaceHead(nn.Module):
    """Logits from the trunk, and for discards and declarations also from what the observation says of the face.

    One small layer with the same weights for all 53 faces sees the face's own entries and the trunk: what
    is learned of throwing one card holds for every other at once.
    """

    def __init__(self, hidden: int, width: int, columns: npt.NDArray[np.int64]) -> None:
        super().__init__()
        self.all = _linear(hidden, NUM_ACTIONS, _ACTION_GAIN)
        self.own = _linear(columns.shape[1], width, 2**0.5)
        self.around = _linear(hidden, width, 1.0)
        self.throw_or_declare = _linear(width, 2, _ACTION_GAIN)
        self.register_buffer("columns", torch.from_numpy(columns), persistent=False)

    def forward(self, hidden: torch.Tensor, obs: torch.Tensor, masks: torch.Tensor | None = None) -> torch.Tensor:
        """Logits ``(N, A)``; with masks those of illegal discards and declarations are the trunk's alone."""
        logits, around = self._from_trunk(hidden)
        if masks is not None:
            return self._add_legal(logits, around, obs, masks)
        entries = obs.index_select(1, self.columns.reshape(-1)).reshape(-1, *self.columns.shape)
        faces = torch.relu(self.own(entries) + around.unsqueeze(1))
        by_face = self.throw_or_declare(faces).transpose(1, 2).reshape(-1, 2 * NUM_FACES)
        # The discards and then the declarations stand side by side, between the draws and the announcement.
        return logits + functional.pad(by_face, (DISCARD_BASE, NUM_ACTIONS - DECLARE_BASE - NUM_FACES))

    def _from_trunk(self, hidden: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """What `all` and `around` say, in one product: two of their widths take a quarter longer."""
        parts = (self.all, self.around)
        weight, bias = torch.cat([part.weight for part in parts]), torch.cat([part.bias for part in parts])
        logits, around = functional.linear(hidden, weight, bias).split([part.out_features for part in parts], dim=1)
        return logits, around

    def _add_legal(
        self, logits: torch.Tensor, around: torch.Tensor, obs: torch.Tensor, masks: torch.Tensor
    ) -> torch.Tensor:
        """The same sum over the faces that may be thrown or declared: about 6 of 53 in a usual decision."""
        by_use = masks[:, DISCARD_BASE : DISCARD_BASE + 2 * NUM_FACES].unflatten(1, (2, NUM_FACES))
        rows, faces = by_use.any(dim=1).nonzero(as_tuple=True)
        entries = obs[rows.unsqueeze(1), self.columns[faces]].float()
        judged = torch.relu(self.own(entries) + around.index_select(0, rows))
        by_use = self.throw_or_declare(judged)
        places = rows * NUM_ACTIONS + faces
        flat = logits.flatten().index_add(0, places + DISCARD_BASE, by_use[:, 0])
        return flat.index_add(0, places + DECLARE_BASE, by_use[:, 1]).reshape_as(logits)


def face_columns(encoding: str, rules: RuleSet) -> npt.NDArray[np.int64]:
    """``(53, K)``: where an observation speaks of each face, column by column of its fields by face."""
    fields = [field for field in encodings.by_name(encoding).fields(rules) if field.is_by_face]
    rows = [np.arange(field.start, field.stop).reshape(-1, NUM_FACES) for field in fields]
    return np.concatenate(rows).T.copy()


class MaskedLogits(nn.Module):
    """What is exported of an `ActorCritic`: observations and masks to logits."""

    def __init__(self, net: ActorCritic) -> None:
        super().__init__()
        self.trunk = net.trunk
        self.action_head = net.action_head

    def forward(self, obs: torch.Tensor, action_mask: torch.Tensor) -> torch.Tensor:
        """Logits ``(N, A)`` with `MASKED_LOGIT` where the mask ``(N, A)`` is False."""
        return mask_logits(self.action_head(self.trunk(obs), obs), action_mask)


class LeanPolicy(MaskableActorCriticPolicy):
    """MaskablePPO's policy over an `ActorCritic`: the same numbers as the stock one, with less work.

    The stock policy builds a distribution object that normalises, masks, normalises again and validates
    its arguments, in every minibatch; here one log-softmax over masked logits gives all that PPO needs.
    """

    def __init__(self, *args: Any, make_net: Callable[[], ActorCritic], **kwargs: Any) -> None:
        self.make_net = make_net
        super().__init__(*args, **kwargs)

    def _build(self, lr_schedule: Any) -> None:
        self.net = self.make_net()
        self.optimizer = self.optimizer_class(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)

    def forward(
        self, obs: torch.Tensor, deterministic: bool = False, action_masks: np.ndarray | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Actions ``(N,)``, values ``(N, 1)`` and log-probabilities ``(N,)``."""
        log_probs, values = self._log_probs(obs, action_masks)
        actions = log_probs.argmax(dim=1) if deterministic else sample(log_probs)
        return actions, values[:, None], pick(log_probs, actions)

    def log_probs(self, obs: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
        """Log-probabilities ``(N, A)`` alone; masks as bool."""
        return torch.log_softmax(mask_logits(self.net.logits(obs, masks), masks), dim=1)

    def draw(self, log_probs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Actions ``(N,)`` drawn by these, and their log-probabilities ``(N,)``."""
        actions = sample(log_probs)
        return actions, pick(log_probs, actions)

    def evaluate_actions(
        self, obs: torch.Tensor, actions: torch.Tensor, action_masks: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Values ``(N, 1)``, log-probabilities ``(N,)`` of the actions, and entropies ``(N,)``."""
        log_probs, values = self._log_probs(obs, action_masks)
        entropy = -(probabilities(log_probs) * log_probs).sum(dim=1)
        return values[:, None], pick(log_probs, actions), entropy

    def predict_values(self, obs: torch.Tensor) -> torch.Tensor:
        """Values ``(N, 1)``."""
        return self.net(obs)[1][:, None]

    def get_distribution(self, obs: torch.Tensor, action_masks: np.ndarray | None = None) -> Any:
        """The stock distribution object, for `predict` and for callers that know SB3."""
        distribution = self.action_dist.proba_distribution(action_logits=self.net(obs)[0])
        if action_masks is not None:
            distribution.apply_masking(action_masks)
        return distribution

    def _log_probs(self, obs: torch.Tensor, masks: Any) -> tuple[torch.Tensor, torch.Tensor]:
        logits, values = self.net(obs)
        if masks is not None:
            logits = mask_logits(logits, torch.as_tensor(masks, dtype=torch.bool))
        return torch.log_softmax(logits, dim=1), values


def sample(log_probs: torch.Tensor) -> torch.Tensor:
    """``(N,)`` actions drawn by log-probabilities ``(N, A)``, with torch's generator."""
    reached = probabilities(log_probs).cumsum(dim=1)
    last = reached[:, -1:]
    # Below this a sum changes by what masked actions have left of a probability, above it by that of legal ones alone.
    part = (torch.rand_like(last) * last).clamp_min(_LEAST_PART).minimum(last.nextafter(torch.zeros_like(last)))
    return torch.searchsorted(reached, part, right=True).squeeze(1)


def mask_logits(logits: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    """Logits with `MASKED_LOGIT` where the mask is False; no gradient flows there."""
    return torch.where(masks, logits, MASKED_LOGIT)


def probabilities(log_probs: torch.Tensor) -> torch.Tensor:
    """Of log-probabilities, at once: `exp` takes ten times as long where its result is too small for a float."""
    return log_probs.clamp_min(_LEAST_LOG).exp()


def pick(log_probs: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
    """``(N,)`` the entries ``(N, A)`` of the actions ``(N,)``."""
    return log_probs.gather(1, actions.long()[:, None]).squeeze(1)


def _trunk(num_features: int, config: NetworkConfig) -> nn.Sequential:
    widths = (num_features, *config.hidden)
    layers: list[nn.Module] = []
    for fan_in, fan_out in itertools.pairwise(widths):
        layers += [_linear(fan_in, fan_out, 2**0.5), _ACTIVATIONS[config.activation]()]
    return nn.Sequential(*layers)


def _linear(fan_in: int, fan_out: int, gain: float) -> nn.Linear:
    """A layer with orthogonal weights, the usual start for PPO."""
    layer = nn.Linear(fan_in, fan_out)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer
