"""Who sits opposite the learner: fixed bots, and past selves spread over the whole run."""

from __future__ import annotations

from pathlib import Path

import torch

from paplu_env import encoding as encodings
from paplu_env.bots import make_policy
from paplu_env.bots.networks.logits import choose
from paplu_env.bots.policy import Actions, Keys, Masks, Policy
from paplu_env.engine.state import Views
from paplu_env.rules import RuleSet
from training.learn.config import TrainConfig
from training.learn.network import ActorCritic, mask_logits
from training.learn.weights import load_weights, save_weights


class NetworkPolicy(Policy):
    """A network as a player; it plays the weights as they are when it acts."""

    def __init__(
        self, name: str, net: ActorCritic, encoding: str, rules: RuleSet | str, deterministic: bool = True
    ) -> None:
        super().__init__(name, rules)
        self.net = net
        self.encoding = encodings.by_name(encoding)
        self.deterministic = deterministic

    def _choose(self, views: Views, masks: Masks, keys: Keys) -> Actions:
        obs, allowed = torch.from_numpy(self.encoding.encode(views, self.rules)), torch.from_numpy(masks)
        with torch.inference_mode():
            logits = mask_logits(self.net.logits(obs, allowed), allowed).numpy()
        return choose(logits, masks, None if self.deterministic else keys)


class OpponentPool:
    """Bots and past selves, with the weights by which one of them is drawn for each deal.

    Past selves draw their actions from the probabilities that they had, as they did when they were the
    learner. Each is a file of its own in `folder`, written once; the pool's state names them.
    """

    def __init__(self, config: TrainConfig, folder: Path) -> None:
        self._config = config
        self._folder = folder
        self.bots = [[make_policy(name, rules) for name in config.opponents.bots] for rules in config.tables]
        self.selves: dict[int, list[Policy]] = {}  # per table, by the timestep at which they were the learner

    def policies(self, table: int = 0) -> list[Policy]:
        """All opponents at one of the configuration's `tables`: the bots, then the past selves from the oldest on."""
        return [*self.bots[table], *(each[table] for each in self.selves.values())]

    @property
    def weights(self) -> list[float]:
        """The share of deals that each of `policies` sits opposite; they sum to 1."""
        num_bots = len(self.bots[0])
        self_share = self._config.opponents.self_share if self.selves else 0.0
        bot_weight = (1.0 - self_share) / num_bots
        self_weight = self_share / max(len(self.selves), 1)
        return [bot_weight] * num_bots + [self_weight] * len(self.selves)

    def add(self, step: int, net: ActorCritic) -> None:
        """Keep the learner as it is now; of too many, the one is dropped that leaves the steps most even."""
        save_weights(self._path(step), net, self._config, {"step": step})
        self._remember(step)
        if len(self.selves) > self._config.opponents.pool_size:
            del self.selves[_dispensable(list(self.selves))]

    def state(self) -> list[int]:
        """The steps of the past selves, `restore` reads them back."""
        return list(self.selves)

    def restore(self, steps: list[int]) -> None:
        """Take up the past selves of these steps from their files.

        Raises:
            InvalidFile: a past self's file is missing, truncated or foreign.
        """
        self.selves = {}
        for step in steps:
            self._remember(step)

    def tidy(self) -> None:
        """Delete the files of past selves that are no longer in the pool; the last checkpoint must agree."""
        kept = {self._path(step) for step in self.selves}
        for path in self._folder.glob("self-*.safetensors"):
            if path not in kept:
                path.unlink()

    def _remember(self, step: int) -> None:
        encoding = self._config.encoding
        net, _ = load_weights(self._path(step), encoding, self._config.main_rules)
        if self._config.precision == "bfloat16":
            net.trunk.to(torch.bfloat16)  # as it multiplied when it was the learner
        self.selves[step] = [
            NetworkPolicy(f"self-{step}", net, encoding, rules, deterministic=False) for rules in self._config.tables
        ]

    def _path(self, step: int) -> Path:
        return self._folder / f"self-{step:012d}.safetensors"


def _dispensable(steps: list[int]) -> int:
    """The step whose neighbours are nearest to each other; the first and the last stay, if there are more."""
    if len(steps) <= 2:
        return steps[0]
    gaps = [after - before for before, after in zip(steps, steps[2:], strict=False)]
    return steps[1 + gaps.index(min(gaps))]
