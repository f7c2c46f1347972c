"""A series of deals as a PettingZoo AEC environment: one episode is one series, running scores are observed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from paplu_env.engine.series.format import SeriesFormat, as_series
from paplu_env.engine.series.score_sheet import ScoreSheet
from paplu_env.engine.series.series import Series
from paplu_env.envs.aec import PapluAECEnv, Wrapped, enforce_order
from paplu_env.envs.core.arguments import Rules
from paplu_env.envs.core.series_game import AT_THE_END, format_scores, win_reward
from paplu_env.errors import IllegalAction, without_position


def env(
    rules: Rules = "points",
    encoding: str = "series-v1",
    reward: str = "points",
    render_mode: str | None = None,
    series: SeriesFormat | str | Mapping[str, Any] = "pool_101",
) -> Wrapped:
    """A `PapluSeriesAECEnv` in PettingZoo's wrapper that refuses calls in a wrong order; the arguments are the same."""
    return enforce_order(PapluSeriesAECEnv(rules, encoding, reward, render_mode, series))


class PapluSeriesAECEnv(PapluAECEnv):
    """As `PapluAECEnv`, but an episode is a series: when a deal ends the next one is dealt within `step`.

    Seats keep their numbers. One that is out of the series is not selected any more, but stays an agent to
    the end, when all terminate together, or are truncated together at ``max_deals``. The series is that of
    `PapluSeriesEnv` with ``opponent="self"`` for the same seed.

    Rewards "points" and "scaled" are paid to all agents as each deal ends; "win" and "series" once, at the
    end of the series, as `PapluSeriesEnv` says. At the end ``infos[agent]`` holds, besides how the last deal
    ended, ``series_ending``, ``series_winners``, ``series_returns``, ``ranking`` and ``scores``, all as there.

    Args:
        rules, reward, render_mode: as in `PapluAECEnv`; "series" is a reward too. A pool has prices of its own.
        encoding: "series-v1" sees the running scores.
        series: the format, a text such as "pool_101" or "deals:num_deals=3", a mapping or a `SeriesFormat`.

    Raises:
        PapluError: an argument that names nothing, or cannot be.
    """

    metadata = {**PapluAECEnv.metadata, "name": "paplu_series_v0"}  # noqa: RUF012 (PettingZoo's form)

    def __init__(
        self,
        rules: Rules = "points",
        encoding: str = "series-v1",
        reward: str = "points",
        render_mode: str | None = None,
        series: SeriesFormat | str | Mapping[str, Any] = "pool_101",
    ) -> None:
        self.format = as_series(series)
        self._final_reward = reward if reward in AT_THE_END else None
        priced = self.format.table(rules)
        super().__init__(priced, encoding, "points" if self._final_reward else reward, render_mode)
        self._series: Series | None = None

    def _begin(self, seed: int) -> None:
        self._series = Series(self.rules, self.format, seed)
        self._states = self._series.states  # every deal of the series is dealt into these

    def _play(self, action: int) -> None:
        series = self._under_way()
        try:
            series.apply(action)
        except IllegalAction as error:
            without_position(error)
            raise
        self.rewards = dict.fromkeys(self.agents, 0.0)
        if not series.is_deal_over:
            return
        if self._final_reward is None:
            self.rewards = self._deal_rewards()
        if not series.is_over:
            series.next_deal()
            return
        if self._final_reward is not None:
            self.rewards = self._series_rewards(series)
        outcome = {
            "series_ending": series.sheet.ending,
            "series_winners": series.sheet.winners,
            "series_returns": series.returns(),
            "ranking": np.array(series.ranking(), dtype=np.int64),
            "scores": np.array(series.scores, dtype=np.int64),
        }
        infos = {agent: info | outcome for agent, info in self._deal_infos().items()}
        self._end(infos, is_truncated=series.is_truncated)

    def _sheets(self) -> list[ScoreSheet] | None:
        return [self._under_way().sheet]

    def _describe(self, seat: int) -> str:
        sheet = self._under_way().sheet
        return f"{super()._describe(seat)}\n{format_scores(sheet, len(sheet.results) + 1)}"

    def _series_rewards(self, series: Series) -> dict[str, float]:
        """What the end of the series pays each agent."""
        if self._final_reward == "series":
            return {agent: float(series.returns()[seat]) for agent, seat in self._seats.items()}
        winners, players = series.sheet.winners, self.rules.num_players
        return {agent: win_reward(seat, winners, players) for agent, seat in self._seats.items()}

    def _under_way(self) -> Series:
        assert self._series is not None  # every caller has checked that a series has begun
        return self._series


raw_env = PapluSeriesAECEnv  # PettingZoo's name for an environment without wrappers
