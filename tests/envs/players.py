"""Players for the tests: random legal actions, and opponents that do one thing."""

from __future__ import annotations

import numpy as np

from paplu_env.bots import Policy, make_policy
from paplu_env.cards import NUM_FACES
from paplu_env.engine import ANNOUNCE, DECLARE_BASE, DISCARD_BASE, DRAW_CLOSED, DROP
from paplu_env.engine.state import DRAW


def pick(generator: np.random.Generator, mask: np.ndarray) -> int:
    """One of the legal actions at random; 0 if there is none."""
    legal = np.flatnonzero(mask)
    return int(generator.choice(legal)) if legal.size else 0


def pick_many(generator: np.random.Generator, masks: np.ndarray) -> np.ndarray:
    """One legal action per row at random; 0 in rows without one."""
    return np.array([pick(generator, mask) for mask in masks])


class Delegate(Policy):
    """A rule agent that does not look like one, so that environments must ask it from outside their kernels."""

    def __init__(self, name: str, rules: str = "points") -> None:
        super().__init__(name, rules)
        self._agent_inside = make_policy(name, rules)

    def _choose(self, views: np.ndarray, masks: np.ndarray, keys: np.ndarray) -> np.ndarray:
        return self._agent_inside.act(views, masks, keys)


class Passer(Policy):
    """Draws from the stock and throws the first card that it may; drops at its turn ``drop_at``, if given."""

    def __init__(self, rules: str = "points", drop_at: int | None = None) -> None:
        super().__init__("passer", rules)
        self._drop_at = drop_at

    def _choose(self, views: np.ndarray, masks: np.ndarray, keys: np.ndarray) -> np.ndarray:
        answers = masks[:, DISCARD_BASE : DISCARD_BASE + NUM_FACES].argmax(axis=1) + DISCARD_BASE
        turns = views["drew"][np.arange(len(views)), views["seat"]]
        in_draw = views["phase"] == DRAW
        answers[in_draw] = DRAW_CLOSED
        if self._drop_at is not None:
            answers[in_draw & (turns == self._drop_at)] = DROP
        return answers.astype(np.int64)


class WrongDeclarer(Passer):
    """Draws from the stock and declares with the first card that it may, complete or not."""

    def _choose(self, views: np.ndarray, masks: np.ndarray, keys: np.ndarray) -> np.ndarray:
        answers = super()._choose(views, masks, keys)
        declares = masks[:, DECLARE_BASE : DECLARE_BASE + NUM_FACES]
        finish = declares.argmax(axis=1) + DECLARE_BASE
        return np.where(declares.any(axis=1), finish, answers)


class Overwriter(Passer):
    """Writes to the masks that it is given, and then answers with an action that wasn't legal."""

    def _choose(self, views: np.ndarray, masks: np.ndarray, keys: np.ndarray) -> np.ndarray:
        masks[:] = True
        return np.full(len(views), ANNOUNCE, dtype=np.int64)


class Cheater(Passer):
    """Answers with an action that no mask allows at a start of a turn."""

    def _choose(self, views: np.ndarray, masks: np.ndarray, keys: np.ndarray) -> np.ndarray:
        return np.full(len(views), DECLARE_BASE, dtype=np.int64)
