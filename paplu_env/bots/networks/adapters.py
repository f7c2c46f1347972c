"""People's own models as policies: any function of observations and masks, and Stable-Baselines3 models."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from paplu_env import encoding as encodings
from paplu_env.bots.networks.logits import choose
from paplu_env.bots.policy import Actions, Keys, Masks, Policy, check_answers
from paplu_env.engine.actions import NUM_ACTIONS
from paplu_env.engine.state import Views
from paplu_env.errors import PapluError, PolicyMismatch
from paplu_env.rules import RuleSet

Observations = npt.NDArray[np.float32]  # (B, F)


def from_callable(
    fn: Callable[[Observations, Masks], npt.ArrayLike],
    encoding: str,
    rules: RuleSet | str = "points",
    name: str | None = None,
) -> Policy:
    """A policy from a function of observations and masks.

    Args:
        fn: takes observations ``(B, F)`` float32 and masks ``(B, A)`` bool, returns ``(B,)`` action ids.
            Both are copies, its own to write to.
            It has no keys, so for results that can be repeated it should not use chance of its own.
        encoding: name of the encoding that it reads, see ``encoding.names()``.
        rules: the rule set that it plays.
        name: what tables call it; the function's own name unless given.

    Raises:
        PapluError: an unknown encoding.
        IllegalAction: from ``act``, for an answer that the mask forbids, with the position.

    >>> first_legal = from_callable(lambda obs, masks: masks.argmax(axis=1), "cards-v1", name="first legal")
    >>> first_legal
    <CallablePolicy first legal for points>
    """
    return CallablePolicy(name or str(getattr(fn, "__name__", type(fn).__name__)), rules, fn, encoding)


def from_sb3(
    model: Any,
    encoding: str,
    rules: RuleSet | str = "points",
    deterministic: bool = True,
    name: str | None = None,
) -> Policy:
    """A policy from a Stable-Baselines3 model, such as sb3-contrib's MaskablePPO.

    Args:
        model: a trained model, or anything with its ``predict``. One whose ``predict`` takes
            ``action_masks`` is given them; another must have learned what is legal.
        encoding: name of the encoding that it was trained on.
        rules: the rule set that it plays.
        deterministic: the likeliest action; otherwise one drawn by the decision's key among the legal
            ones, which needs a model with a distribution over actions (PPO, A2C, MaskablePPO).
        name: what tables call it; the class's name unless given.

    Raises:
        PapluError: an unknown encoding.
        PolicyMismatch: a model with another number of features or actions, or without a distribution.
        IllegalAction: from ``act``, for an answer that the mask forbids, with the position.
    """
    return Sb3Policy(name or type(model).__name__, rules, model, encoding, deterministic)


class CallablePolicy(Policy):
    """A function of observations and masks; see `from_callable`."""

    def __init__(
        self, name: str, rules: RuleSet | str, fn: Callable[[Observations, Masks], npt.ArrayLike], encoding: str
    ) -> None:
        super().__init__(name, rules)
        self._fn = fn
        self._encoding = encodings.by_name(encoding)

    def _choose(self, views: Views, masks: Masks, keys: Keys) -> Actions:
        # A copy: answers are checked against the masks as they were, whatever the function does to its own.
        answers = self._fn(self._encoding.encode(views, self.rules), masks.copy())
        return _legal_answers(self.name, answers, views, masks)


class Sb3Policy(Policy):
    """A Stable-Baselines3 model; see `from_sb3`."""

    def __init__(self, name: str, rules: RuleSet | str, model: Any, encoding: str, deterministic: bool = True) -> None:
        super().__init__(name, rules)
        self._model = model
        self._encoding = encodings.by_name(encoding)
        self._is_deterministic = deterministic
        self._takes_masks = "action_masks" in inspect.signature(model.predict).parameters
        self._check_spaces(encoding)
        if not deterministic and not hasattr(getattr(model, "policy", None), "get_distribution"):
            raise PolicyMismatch(f"{name} has no distribution over actions to draw from: pass deterministic=True")

    def _check_spaces(self, encoding: str) -> None:
        """Refuse a model that was trained on observations or actions of another size."""
        expected = (self._encoding.num_features(self.rules),)
        shape = getattr(self._model.observation_space, "shape", None)
        if shape != expected:
            raise PolicyMismatch(
                f"{self.name} was trained on observations of shape {shape}; {encoding} has shape {expected} for "
                f"the rules {self.rules}: name the encoding and the rules that it was trained with"
            )
        actions = getattr(self._model.action_space, "n", None)
        if actions != NUM_ACTIONS:
            raise PolicyMismatch(f"{self.name} has {actions} actions, the game has {NUM_ACTIONS}")

    def _choose(self, views: Views, masks: Masks, keys: Keys) -> Actions:
        obs = self._encoding.encode(views, self.rules)
        if not self._is_deterministic:
            return choose(self._logits(obs, masks), masks, keys)
        options = {"action_masks": masks.copy()} if self._takes_masks else {}
        answers, _ = self._model.predict(obs, deterministic=True, **options)
        return _legal_answers(self.name, answers, views, masks)

    def _logits(self, obs: Observations, masks: Masks) -> npt.NDArray[np.float32]:
        """The model's logits. Its own sampling would use a global generator, and so not be repeatable."""
        network = self._model.policy
        network.set_training_mode(False)
        tensor, _ = network.obs_to_tensor(obs)
        options = {"action_masks": masks.copy()} if self._takes_masks else {}
        logits = network.get_distribution(tensor, **options).distribution.logits
        answer: npt.NDArray[np.float32] = logits.detach().cpu().numpy()
        return answer


def _legal_answers(name: str, answers: npt.ArrayLike, views: Views, masks: Masks) -> Actions:
    """Answers as ``(B,)`` int64, once they are known to be legal.

    Raises:
        PapluError: answers of another shape, or that aren't whole numbers.
        IllegalAction: an answer that its mask forbids.
    """
    given = np.asarray(answers)
    if given.shape != (len(views),) or given.dtype.kind not in "iu":
        raise PapluError(
            f"{name}: expected {len(views)} action ids, shape ({len(views)},), of an integer dtype, "
            f"not shape {given.shape} of {given.dtype}"
        )
    actions = given.astype(np.int64)
    check_answers(name, actions, views, masks)
    return actions
