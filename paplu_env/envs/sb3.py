"""Many deals at a time as a `VecEnv` of Stable-Baselines3, with masks and a pool of opponents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, Literal, Unpack

import numpy as np
from gymnasium.spaces import Discrete

from paplu_env.encoding import HIDDEN_V1, HiddenLayout
from paplu_env.engine.actions import NUM_ACTIONS
from paplu_env.engine.state import States
from paplu_env.envs.core.arguments import (
    BatchOptions,
    Bools,
    Ints,
    Rules,
    check_batch_options,
    check_range,
    check_reset_options,
    read_actions,
)
from paplu_env.envs.core.deal_batch import DealBatch, Observations
from paplu_env.envs.core.infos import row_info
from paplu_env.envs.core.opponents import Opponents
from paplu_env.envs.core.saved import VersionedPickle
from paplu_env.envs.single import observation_space
from paplu_env.errors import PapluError

try:
    from stable_baselines3.common.vec_env import VecEnv
    from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvStepReturn
except ImportError as error:
    raise ImportError("paplu_env.envs.sb3 needs Stable-Baselines3: pip install 'paplu-env[train]'") from error

_ROOT_ATTRIBUTES: Final = ("render_mode", "rules")  # what `get_attr` finds in every environment alike


class PapluVecEnv(VersionedPickle, VecEnv):
    """``num_envs`` learners' seats for Stable-Baselines3, each deal against opponents drawn from a pool.

    What an observation, an action and a reward are is as in `PapluEnv`, and so are deals for equal seeds.
    Deals start anew within the step that ends one, as Stable-Baselines3 wants it: the last observation is
    then in ``infos[i]["terminal_observation"]``. Infos of deals that go on are empty; that of a deal's end
    holds what `paplu_env.envs.core.infos` says, and ``TimeLimit.truncated``. Wrap it in `VecMonitor` for
    episode statistics.

    Args:
        num_envs: how many.
        opponents: bots by name, policies' paths or policies; each deal draws one by its seed. With more
            than two seats each fills all other seats, or is itself a list in the order of play.
        opponent_weights: how often each is drawn, equally without.
        seed: environment ``i`` gets ``seed + i`` at the first reset; at random without.
        terminal_observations: "truncated": only infos of deals that were cut hold one, which is all that
            Stable-Baselines3's own algorithms read, and one observation in ten need not be worked out.
        **options: see `BatchOptions`: encoding, reward, seat, threads; and illegal_action, here "raise" if not
            given, since Stable-Baselines3's own evaluation drops the masks without a word.

    Raises:
        PapluError: an argument that names nothing, or cannot be.
    """

    def __init__(
        self,
        num_envs: int = 512,
        rules: Rules = "points",
        opponents: Opponents = "mindist_opp",
        opponent_weights: Sequence[float] | None = None,
        *,
        seed: int | None = None,
        terminal_observations: Literal["all", "truncated"] = "all",
        **options: Unpack[BatchOptions],
    ) -> None:
        check_batch_options("PapluVecEnv", options)
        if terminal_observations not in ("all", "truncated"):
            raise PapluError(f"terminal_observations={terminal_observations!r}: choose all or truncated")
        self._shows_every_end = terminal_observations == "all"
        raising: BatchOptions = {"illegal_action": "raise", **options}
        self._deals = DealBatch(
            num_envs,
            rules,
            _read_opponents(opponents),
            weights=opponent_weights,
            **raising,
        )
        self.rules = self._deals.rules
        self._everybody = np.arange(num_envs)
        self._actions: Ints | None = None
        self.render_mode = None
        super().__init__(num_envs, observation_space(self._deals), Discrete(NUM_ACTIONS))
        if seed is not None:
            self.seed(seed)

    def reset(self) -> Observations:
        """Deal in all environments, with the seeds of the last call of `seed`, if any since."""
        for options in self._options:
            check_reset_options(options)
        for i, seed in enumerate(self._seeds):
            if seed is not None:
                self._deals.seeds.reseed(i, seed)
        self._reset_seeds()
        self._actions = None
        self._deals.start(self._everybody)
        self.reset_infos = [row_info(self._deals, i, is_start=True) for i in range(self.num_envs)]
        return self._deals.observe()

    def step_async(self, actions: np.ndarray[Any, Any]) -> None:
        """Keep the actions for `step_wait`.

        Raises:
            PapluError: not ``num_envs`` whole numbers 0..109.
        """
        given = read_actions(actions, self.num_envs)
        check_range(given)
        self._actions = given

    def step_wait(self) -> VecEnvStepReturn:
        """Play them.

        Raises:
            IllegalAction: one is not legal, under ``illegal_action="raise"``; nothing has been played then.
            PapluError: nothing has been dealt, or no actions were given.
        """
        deals = self._deals
        if self._actions is None or deals.shown.over[0]:
            raise PapluError("no actions to play: call reset(), then step(actions)")
        actions, self._actions = self._actions, None
        deals.advance(self._everybody, actions)
        rewards = deals.rewards(self._everybody).astype(np.float32)
        dones = deals.shown.over.copy()
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        ended = np.flatnonzero(dones)
        if ended.size:
            self._end(ended, infos)
        return deals.observe(), rewards, dones, infos

    def action_masks(self) -> Bools:
        """``(num_envs, 110)`` bool, True = legal, a new array."""
        return self._deals.shown.masks.copy()

    def critic_obs(self, layout: HiddenLayout = HIDDEN_V1) -> Observations:
        """``(num_envs, H)`` what a layout of hidden cards says of each deal beside its observation, a new array.

        The hidden cards are for a critic alone: an actor that sees them has learnt another game.

        Raises:
            PapluError: nothing has been dealt.
        """
        deals = self._deals
        if deals.shown.over[0]:
            raise PapluError("nothing has been dealt: call reset() before critic_obs()")
        return layout.encode(deals.dealt.states, deals.dealt.seats, self.rules, threads=deals.threads)

    def positions(self) -> tuple[States, Ints]:
        """``(num_envs,)`` copies of the states, whose seats to move are the learners', and ``(num_envs,)`` those seats.

        As `critic_obs` they hold hidden cards: for critics and for looking ahead in training.

        Raises:
            PapluError: nothing has been dealt.
        """
        deals = self._deals
        if deals.shown.over[0]:
            raise PapluError("nothing has been dealt: call reset() before positions()")
        return deals.dealt.states.copy(), deals.dealt.seats.astype(np.int64)

    def set_opponents(self, opponents: Opponents, weights: Sequence[float] | None = None) -> None:
        """Take other opponents; each environment meets them from its next deal on.

        Raises:
            PapluError: unknown opponents, or weights that do not fit; nothing has changed then.
        """
        self._deals.set_opponents(_read_opponents(opponents), weights)

    def has_attr(self, attr_name: str) -> bool:
        """Whether `get_attr` or `env_method` knows this name."""
        return attr_name in _ROOT_ATTRIBUTES or attr_name in self._methods()

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """An attribute of some environments: render_mode, rules, or the method action_masks."""
        if attr_name in _ROOT_ATTRIBUTES:
            return [getattr(self, attr_name) for _ in self._get_indices(indices)]
        method = self._methods().get(attr_name)
        if method is None:
            raise AttributeError(f"the environments have no attribute {attr_name!r}")
        return [partial(method, i) for i in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Refused: what can change between deals has a method here, `set_opponents`."""
        raise AttributeError(f"{attr_name!r} cannot be set: make another environment, or call set_opponents")

    def env_method(
        self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method of some environments; there is one, ``action_masks``: ``(110,)`` bool each."""
        method = self._methods().get(method_name)
        if method is None:
            raise AttributeError(f"the environments have no method {method_name!r}")
        return [method(i, *method_args, **method_kwargs) for i in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: VecEnvIndices = None) -> list[bool]:
        """Nothing is wrapped."""
        return [False for _ in self._get_indices(indices)]

    def close(self) -> None:
        """Nothing is held that must be given back."""

    def _end(self, ended: Ints, infos: list[dict[str, Any]]) -> None:
        """Say how deals ended, and deal the next ones."""
        deals = self._deals
        is_cut = deals.is_truncated(ended)
        for i, cut in zip(ended.tolist(), is_cut.tolist(), strict=True):
            infos[i] = row_info(deals, i, is_start=False)
            infos[i]["TimeLimit.truncated"] = cut
        shown = ended if self._shows_every_end else ended[is_cut]
        if shown.size:
            for i, observation in zip(shown.tolist(), deals.observe(shown), strict=True):
                infos[i]["terminal_observation"] = observation.copy()
        deals.start(ended)
        for i in ended.tolist():
            self.reset_infos[i] = row_info(deals, i, is_start=True)

    def _methods(self) -> dict[str, Callable[..., Any]]:
        return {"action_masks": self._mask_of}

    def _mask_of(self, i: int) -> Bools:
        mask: Bools = self._deals.shown.masks[i].copy()
        return mask


def _read_opponents(opponents: Opponents) -> list[Opponents]:
    """The pool as a list, also of one."""
    return list(opponents) if isinstance(opponents, (list, tuple)) else [opponents]
