"""Many deals at a time as Gymnasium's native vector environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Unpack

import numpy as np
import numpy.typing as npt
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Discrete
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from paplu_env.engine.actions import NUM_ACTIONS
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
from paplu_env.envs.core.deal_batch import DealBatch, Floats, Observations
from paplu_env.envs.core.infos import batch_info
from paplu_env.envs.core.kernels import NEXT_DEAL
from paplu_env.envs.core.opponents import SELF, Opponents
from paplu_env.envs.core.saved import VersionedPickle
from paplu_env.envs.single import Frame, PapluEnv, check_render_mode, observation_space, render_row
from paplu_env.errors import PapluError

StepResult = tuple[Observations, Floats, Bools, Bools, dict[str, Any]]

_RENDER_MODES: Final = ("ansi", "rgb_array")  # a window shows one table
_NOBODY: Final = np.empty(0, dtype=np.int64)


class PapluVectorEnv(VersionedPickle, VectorEnv[Observations, Ints, npt.NDArray[Any]]):
    """``num_envs`` environments in one, equal step by step to a `SyncVectorEnv` of `PapluEnv`.

    Masks are in every info, and `action_masks` gives them as bool. Policies that act as opponents are asked
    for all games at once.

    Args:
        num_envs: how many.
        rules, opponent: as for `PapluEnv`.
        render_mode: None, "ansi" or "rgb_array".
        autoreset_mode: "NextStep" (the step after a deal's end deals the next one and ignores the action),
            "SameStep" (the step that ends a deal also deals the next one; the last observation and info
            are in ``info["final_obs"]`` and ``info["final_info"]``), or "Disabled" (reset what is over by
            ``reset(options={"reset_mask": …})``).
        copy: False: `reset` and `step` return one and the same observation array, overwritten each time.
        **options: see `BatchOptions`: encoding, reward, seat, illegal_action, threads.

    Raises:
        PapluError: an argument that names nothing, or cannot be.
    """

    def __init__(
        self,
        num_envs: int = 1,
        rules: Rules = "points",
        opponent: Opponents = "mindist_opp",
        *,
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        **options: Unpack[BatchOptions],
    ) -> None:
        self.render_mode = check_render_mode(render_mode, _RENDER_MODES)
        self._autoreset_mode = _read_autoreset_mode(autoreset_mode)
        self.metadata = {
            **PapluEnv.metadata,
            "render_modes": list(_RENDER_MODES),
            "autoreset_mode": self._autoreset_mode,
        }
        check_batch_options("PapluVectorEnv", options)
        self._deals = DealBatch(num_envs, rules, SELF if opponent == SELF else [opponent], **options)
        self.rules = self._deals.rules
        self.num_envs = num_envs
        self.single_observation_space = observation_space(self._deals)
        self.single_action_space = Discrete(NUM_ACTIONS)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._has_reset = False
        self._everybody = np.arange(num_envs)
        self._buffer = None if copy else np.empty((num_envs, self._deals.num_features), dtype=np.float32)

    @property  # type: ignore[misc]
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """The environments' generators, which are some deals ahead."""
        return tuple(self._deals.seeds.generator(i) for i in range(self.num_envs))

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """What the environments' generators were made from."""
        return tuple(self._deals.seeds.origin(i) for i in range(self.num_envs))

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """Deal in all environments, or in some.

        Args:
            seed: environment ``i`` gets ``seed + i``, or ``seed[i]``; with None it keeps its generator.
            options: only "reset_mask" is known, ``(num_envs,)`` bool: deal only in these.

        Raises:
            PapluError: another option, a mask or seeds that do not fit.
        """
        rest = dict(options or {})
        mask = rest.pop("reset_mask", None)
        check_reset_options(rest)
        rows = self._everybody if mask is None else self._read_reset_mask(mask)
        if not self._has_reset and len(rows) < self.num_envs:
            raise ResetNeeded("nothing has been dealt: the first reset is of all environments")
        for i, single in zip(range(self.num_envs), self._read_seeds(seed), strict=True):
            if single is not None and (mask is None or mask[i]):
                self._deals.seeds.reseed(i, single)
        self._deals.start(rows)
        self._has_reset = True
        return self._observe(), batch_info(self._deals, rows, started=rows)

    def step(self, actions: Ints) -> StepResult:
        """One action in each environment.

        Raises:
            PapluError: not ``num_envs`` whole numbers 0..109. Those of environments that reset are ignored.
            IllegalAction: one is not legal, under ``illegal_action="raise"``; nothing has been played then.
            gymnasium.error.ResetNeeded: nothing was dealt, or an environment is over and resets are disabled.
        """
        deals = self._deals
        given = self._read_actions(actions)
        ended = np.flatnonzero(deals.shown.over)
        if ended.size and self._autoreset_mode == AutoresetMode.DISABLED:
            raise ResetNeeded(f"environments {ended.tolist()} are over: reset them, by options['reset_mask']")
        check_range(given, ignored=deals.shown.over)
        turns = np.where(deals.shown.over, NEXT_DEAL, given) if ended.size else given
        deals.advance(self._everybody, turns)
        rewards = deals.rewards(self._everybody)
        terminated, truncated = deals.shown.over.copy(), np.zeros(self.num_envs, dtype=np.bool_)
        if terminated.any():
            truncated = terminated & deals.is_truncated(self._everybody)
            terminated &= ~truncated
        final: dict[str, Any] = {}
        if self._autoreset_mode == AutoresetMode.SAME_STEP and deals.shown.over.any():
            ended = np.flatnonzero(deals.shown.over)
            final = self._final(ended)
            deals.start(ended)
        info = batch_info(deals, self._everybody, started=ended)
        return self._observe(), rewards, terminated, truncated, info | final

    def action_masks(self) -> Bools:
        """``(num_envs, 110)`` bool, True = legal, a new array; all False where a deal is over."""
        return self._deals.shown.masks.copy()

    def render(self) -> tuple[Frame, ...] | None:
        """Every environment's table as text or as a picture; None without a render mode."""
        if self.render_mode is None:
            return None
        if not self._has_reset:
            raise ResetNeeded("nothing has been dealt: call reset() before render()")
        return tuple(render_row(self._deals, i, self.render_mode) for i in range(self.num_envs))

    def _final(self, rows: Ints) -> dict[str, Any]:
        """What same-step resets would hide: the last observations and infos of deals that are over."""
        has = np.zeros(self.num_envs, dtype=np.bool_)
        has[rows] = True
        observations = np.full(self.num_envs, None, dtype=object)
        for i, observation in zip(rows, self._deals.observe(rows), strict=True):
            observations[i] = observation.copy()
        final_info = batch_info(self._deals, rows, started=_NOBODY)
        return {"final_obs": observations, "_final_obs": has, "final_info": final_info, "_final_info": has.copy()}

    def _observe(self) -> Observations:
        return self._deals.observe(out=self._buffer)

    def _read_actions(self, actions: Any) -> Ints:
        if not self._has_reset:
            raise ResetNeeded("nothing has been dealt: call reset() before step()")
        return read_actions(actions, self.num_envs)

    def _read_seeds(self, seed: int | Sequence[int | None] | None) -> Sequence[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, (int, np.integer)):
            return [int(seed) + i for i in range(self.num_envs)]
        given: object = seed  # whatever callers hand over
        if isinstance(given, str) or not isinstance(given, (Sequence, np.ndarray)):
            raise PapluError(f"seed={given!r}: give one whole number, or one for each environment")
        if len(seed) != self.num_envs:
            raise PapluError(f"{len(seed)} seeds for {self.num_envs} environments: give one number, or one each")
        return seed

    def _read_reset_mask(self, mask: Any) -> Ints:
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (self.num_envs,):
            raise PapluError(f"options['reset_mask']: give a bool array of shape ({self.num_envs},)")
        if not mask.any():
            raise PapluError("options['reset_mask'] names no environment")
        return np.flatnonzero(mask)


def _read_autoreset_mode(mode: AutoresetMode | str) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except ValueError:
        known = ", ".join(repr(one.value) for one in AutoresetMode)
        raise PapluError(f"unknown autoreset mode {mode!r}: choose one of {known}") from None
