"""The game as a Gymnasium environment: one learner's seat, the others played inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box, Discrete

from paplu_env.engine.actions import NUM_ACTIONS
from paplu_env.engine.state import TRUNCATED
from paplu_env.envs.core.arguments import Rules, check_reset_options, read_action
from paplu_env.envs.core.deal_batch import DealBatch
from paplu_env.envs.core.infos import row_info
from paplu_env.envs.core.kernels import NEXT_DEAL
from paplu_env.envs.core.learner_seat import Seat, WhenIllegal
from paplu_env.envs.core.opponents import SELF, Opponents
from paplu_env.envs.core.saved import LearnerEnv, Observation
from paplu_env.envs.core.seeds import SeedStreams
from paplu_env.errors import PapluError

if TYPE_CHECKING:
    from paplu_env.render.window import Window

Frame = str | npt.NDArray[np.uint8]  # a table as text, or as a picture (height, width, 3)

RENDER_MODES: Final = ("ansi", "rgb_array", "human")
_ROW: Final = np.zeros(1, dtype=np.int64)  # the only row of the batch
_DEAL: Final = np.full(1, NEXT_DEAL)  # what it is to do in a reset


class PapluEnv(LearnerEnv):
    """One learner against opponents that are played inside `step` and `reset`.

    An episode is one deal. An observation is what the learner's seat may know, encoded; an action is one
    of 110, of which ``info["action_mask"]`` (int8) or `action_masks` (bool) says the legal ones. What
    ``info`` holds is in `paplu_env.envs.core.infos`, what the rewards mean in `paplu_env.envs.core.rewards`.

    `reset` deals on until the learner has a decision: a deal that the opponents end before is settled,
    counted in ``info["skipped_deals"]`` and ``info["skipped_points"]``, and replaced by the next; after
    100 of them in a row the learner starts. With more than two seats a learner that is out leaves the
    others to finish the deal inside `step`, which returns the settled reward.

    With ``opponent="self"`` every seat is played from outside: each observation is the view of
    ``info["current_player"]``, and the reward is 0 until the end, then that of the seat that acted last;
    ``info["returns"]`` has all seats'.

    Args:
        rules: a preset, a rules string such as "points:drop_allowed=false", a mapping, or a `RuleSet`.
        opponent: a bot by name, a policy's path or a policy, for all other seats; a list of them in
            the order of play after the learner; or "self".
        encoding: what an observation is, see `paplu_env.encoding`.
        reward: one of `paplu_env.envs.REWARDS`.
        seat: the learner's, or "random". Seat 0 has the first turn.
        illegal_action: "forfeit": the deal terminates, the learner pays ``rules.wrong_declare_points`` to
            the seat after it, and ``info["illegal_action"]`` says why; "raise": `IllegalAction`, and the
            deal is left as it was.
        render_mode: None; "ansi": `render` returns the table as text; "rgb_array": as a picture, ``(640, 1024, 3)``
            uint8, which needs no display; "human": `reset` and `step` show it in a window (extra ``play``).

    Raises:
        PapluError: an argument that names nothing, or cannot be.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 2}  # noqa: RUF012 (Gymnasium's form)

    _core: DealBatch

    def __init__(
        self,
        rules: Rules = "points",
        opponent: Opponents = "mindist_opp",
        encoding: str = "features-v1",
        reward: str = "points",
        seat: Seat = "random",
        illegal_action: WhenIllegal = "forfeit",
        render_mode: str | None = None,
    ) -> None:
        self.render_mode = check_render_mode(render_mode, RENDER_MODES)
        self._core = DealBatch(
            1,
            rules,
            SELF if opponent == SELF else [opponent],
            seeds=SeedStreams(1, block=1),  # nothing is drawn ahead: `np_random` is the user's too
            encoding=encoding,
            reward=reward,
            seat=seat,
            illegal_action=illegal_action,
        )
        self.rules = self._core.rules
        self.observation_space = observation_space(self._core)
        self.action_space = Discrete(NUM_ACTIONS)
        self._action = np.zeros(1, dtype=np.int64)
        self._has_reset = False
        self._window: Window | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Deal until the learner must decide.

        Args:
            seed: makes the generator anew that the deals' seeds are drawn from.
            options: none are known; whatever lasts is an argument of the environment.
        """
        check_reset_options(options)
        super().reset(seed=seed)
        deals = self._core
        self._adopt()
        deals.seeds.refill(_ROW)
        deals.advance(_ROW, _DEAL)
        self._has_reset = True
        if self.render_mode == "human":
            self._show()
        return deals.observe()[0], row_info(deals, 0, is_start=True)

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Let the learner act, and the others until it must decide again or the deal is over.

        Raises:
            PapluError: the action is no whole number 0..109.
            IllegalAction: it is not legal, under ``illegal_action="raise"``.
            gymnasium.error.ResetNeeded: no deal is on.
        """
        deals = self._core
        self._check_reset("step()")
        if deals.shown.over[0]:
            raise ResetNeeded("the deal is over: call reset() for the next one")
        self._action[0] = read_action(action)
        deals.advance(_ROW, self._action)
        is_over = bool(deals.shown.over[0])
        reward = float(deals.rewards(_ROW)[0]) if is_over or deals.reward.is_shaped else 0.0
        is_truncated = is_over and bool(deals.shown.endings[0] == TRUNCATED)
        info = row_info(deals, 0, is_start=False)
        if self.render_mode == "human":
            self._show()
        return deals.observe()[0], reward, is_over and not is_truncated, is_truncated, info

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """``(110,)`` bool, True = legal, a new array; all False when no deal is on."""
        masks: npt.NDArray[np.bool_] = self._core.shown.masks[0].copy()
        return masks

    def render(self) -> Frame | None:
        """The table as the learner sees it, as text or as a picture; None in a window or without a render mode."""
        if self.render_mode is None:
            gymnasium.logger.warn(
                f"render() shows nothing without a render mode: make the environment with one of {RENDER_MODES}"
            )
            return None
        self._check_reset("render()")
        if self.render_mode == "human":
            self._show()
            return None
        return render_row(self._core, 0, self.render_mode)

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_window": None}  # a copy opens its own

    def _show(self) -> None:
        from paplu_env.render.pixels import draw_view
        from paplu_env.render.window import Window  # only for those who look: it needs pygame

        picture = draw_view(self._core.shown.views, self.rules)
        if self._window is None:
            self._window = Window(picture.shape[1], picture.shape[0])
        self._window.show(picture, self.metadata["render_fps"])

    def get_state(self) -> dict[str, Any]:
        """Everything that the future hangs on, for `set_state`; later steps leave it as it is."""
        self._adopt()
        return super().get_state()

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Put back what `get_state` gave, here or in another environment with equal arguments.

        Raises:
            PapluError: it is no state, was saved by another version, or was taken where the arguments were others.
        """
        self._adopt()
        super().set_state(state)

    def _adopt(self) -> None:
        """Draw from `np_random`, which users may replace at any time."""
        self._core.seeds.adopt(0, self.np_random, self.np_random_seed)


class UnknownRenderMode(PapluError, TypeError):
    """A render mode that isn't ours; a `TypeError` too, since helpers that try a mode fall back on that alone."""


def check_render_mode(render_mode: str | None, modes: Sequence[str]) -> str | None:
    """The render mode, once it is known to be one of these."""
    if render_mode is not None and render_mode not in modes:
        raise UnknownRenderMode(f"unknown render mode {render_mode!r}: choose one of {', '.join(modes)}, or None")
    return render_mode


def observation_space(deals: DealBatch) -> Box[np.float32]:
    """The space of one observation."""
    return Box(0.0, 1.0, (deals.num_features,), np.float32)


def render_row(deals: DealBatch, i: int, render_mode: str) -> Frame:
    """What the learner of row ``i`` sees, as text or as a picture."""
    # Imported only for those who look.
    if render_mode == "ansi":
        from paplu_env.render.ansi import format_view

        return format_view(deals.shown.views[i : i + 1], deals.rules, color=False)
    from paplu_env.render.pixels import draw_view

    return draw_view(deals.shown.views[i : i + 1], deals.rules)
