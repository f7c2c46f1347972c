"""Several deals with running scores as a Gymnasium environment: one episode is one series."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box, Discrete

from paplu_env.engine.actions import NUM_ACTIONS
from paplu_env.engine.series.format import SeriesFormat
from paplu_env.engine.series.series import Series
from paplu_env.envs.core.arguments import Rules, check_reset_options, read_action
from paplu_env.envs.core.learner_seat import Seat, WhenIllegal
from paplu_env.envs.core.opponents import Opponents
from paplu_env.envs.core.saved import LearnerEnv, Observation
from paplu_env.envs.core.series_game import SeriesGame, format_scores
from paplu_env.envs.single import check_render_mode

_RENDER_MODES: Final = ("ansi",)


class PapluSeriesEnv(LearnerEnv):
    """One learner in a series of deals, from the first deal to the result.

    As `PapluEnv`, but an episode is a whole series: when a deal ends the next one is dealt inside `step`,
    and the observation is of the learner's next decision. Deals that end without a decision of the
    learner's, or that it is out of, are played inside too. The seat and the opponents stay for the series.

    Rewards, of which a deal pays the first four as it ends (in `step`; what `reset` comes past is paid
    with the first step):

    - ``points``, the default: the learner's points of every deal, so the sum is its points on the sheet.
    - ``scaled``: the same over ``max_points``; ``shaped:…``: with a potential inside each deal.
    - ``win``: nothing before the end; then +1 for the winner of the series, -1/(P-1) for the others; winners
      that share it get (P/W - 1)/(P-1) each; 0 if the series was cut.
    - ``series``: nothing before the end; then what the series brought, in entries (in a session points),
      see `engine.ScoreSheet.returns`.

    The unit of a deal is points and that of most series entries, so no reward adds the one to the other.
    The potential of ``shaped:…`` is 0 at the end of every deal. With ``opponent="self"`` every seat is played
    from outside, as in `PapluEnv`, and a deal pays the seat that acted last in it.

    ``info`` has what `paplu_env.envs.core.infos` says, the ending and returns at the end being those of the last
    deal, and always:

    - ``deal``: number of the deal that is on, from 0.           ``scores``: ``(P,)`` int64 running scores.
    - ``in_series``: ``(P,)`` int8, 1 for the seats still in.           ``rejoins``: ``(P,)`` int64.
    - ``results``: a tuple with the `engine.DealResult` of every deal that ended since the last info.

    and at the end of the series:

    - ``series_ending``: decided, split, truncated or forfeit.           ``series_winners``: a tuple of seats.
    - ``series_returns``: ``(P,)`` float64 entries or points.           ``ranking``: ``(P,)`` places from 1.

    A series that is cut at ``max_deals`` is truncated. An illegal action under "forfeit" ends it: the
    learner pays ``wrong_declare_points`` for the deal, and its entries for the series, to the seat after it.

    Args:
        rules, opponent, seat, illegal_action: as in `PapluEnv`. A pool has prices of its own: a policy given
            as an object must have been made for the rules with these prices, see `SeriesFormat.table`.
        encoding: "series-v1" sees the running scores; with another they are in ``info`` alone.
        reward: one of `paplu_env.envs.SERIES_REWARDS`.
        render_mode: None, or "ansi": `render` returns the table and the running scores as text.
        series: the format, a text such as "pool_101" or "deals:num_deals=3", a mapping or a `SeriesFormat`.

    Raises:
        PapluError: an argument that names nothing, or cannot be.
    """

    metadata = {"render_modes": list(_RENDER_MODES), "render_fps": 1}  # noqa: RUF012 (Gymnasium's form)

    _core: SeriesGame

    def __init__(
        self,
        rules: Rules = "points",
        opponent: Opponents = "mindist_opp",
        encoding: str = "series-v1",
        reward: str = "points",
        seat: Seat = "random",
        illegal_action: WhenIllegal = "forfeit",
        render_mode: str | None = None,
        series: SeriesFormat | str | Mapping[str, Any] = "pool_101",
    ) -> None:
        self.render_mode = check_render_mode(render_mode, _RENDER_MODES)
        self._core = SeriesGame(rules, series, opponent, encoding, reward, seat, illegal_action)
        self.rules = self._core.rules
        self.observation_space = Box(0.0, 1.0, (self._core.num_features,), np.float32)
        self.action_space = Discrete(NUM_ACTIONS)
        self._has_reset = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a series and play on until the learner must decide.

        Args:
            seed: makes the generator anew that the seeds of the series are drawn from.
            options: none are known; whatever lasts is an argument of the environment.
        """
        check_reset_options(options)
        super().reset(seed=seed)
        self._core.start(lambda: int(self.np_random.bit_generator.random_raw()))
        self._has_reset = True
        return self._core.observe(), self._core.info(is_start=True)

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Let the learner act, and play on until it must decide again or the series is over.

        Raises:
            PapluError: the action is no whole number 0..109.
            IllegalAction: it is not legal, under ``illegal_action="raise"``.
            gymnasium.error.ResetNeeded: no series is on.
        """
        game = self._core
        self._check_reset("step()")
        if game.is_terminated or game.is_truncated:
            raise ResetNeeded("the series is over: call reset() for the next one")
        reward = game.step(read_action(action))
        info = game.info(is_start=False)
        return game.observe(), reward, game.is_terminated, game.is_truncated, info

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """``(110,)`` bool, True = legal, a new array; all False when no series is on."""
        return self._core.masks() if self._has_reset else np.zeros(NUM_ACTIONS, dtype=np.bool_)

    def render(self) -> str | None:
        """The table as the learner sees it and the running scores, as text; None without a render mode."""
        if self.render_mode is None:
            gymnasium.logger.warn('render() shows nothing without a render mode: make the environment with "ansi"')
            return None
        self._check_reset("render()")
        from paplu_env.render.ansi import format_view  # only for those who look

        shown = format_view(self._core.view(), self.rules, color=False)
        return f"{shown.rstrip()}\n{format_scores(self._core.sheet, self._core.series.deal_number + 1)}\n"

    @property
    def series(self) -> Series:
        """A copy of the series as it stands, hidden cards and all: for looking into it, not for learning.

        Raises:
            gymnasium.error.ResetNeeded: no series has begun.
        """
        self._check_reset("reading series")
        return self._core.series.copy()
