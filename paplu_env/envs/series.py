"""Several deals with running scores as a Gymnasium environment: one episode is one series."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from paplu_env.encoding.series_v1 import SeriesV1
from paplu_env.engine.chance import mix
from paplu_env.engine.series import Series
from paplu_env.engine.series_format import SeriesFormat, as_series
from paplu_env.engine.state import NOT_ACTIVE, OVER
from paplu_env.envs.infos import FORFEIT
from paplu_env.envs.kernels import NO_ACTION
from paplu_env.envs.opponents import SELF, Opponents
from paplu_env.envs.rewards import REWARDS
from paplu_env.envs.seeds import Seeds
from paplu_env.envs.single import Observation, PapluEnv
from paplu_env.envs.tables import (
    MAX_SKIPPED,
    Bools,
    Floats,
    Ints,
    Observations,
    Rules,
    Seat,
    Tables,
    WhenIllegal,
)
from paplu_env.errors import PapluError
from paplu_env.rules import as_rules

SERIES_REWARDS: Final = (*REWARDS, "series")
_AT_THE_END: Final = ("win", "series")  # rewards that no deal pays before the series is over


class PapluSeriesEnv(PapluEnv):
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
    In self-play a deal pays the seat that acted last in it.

    ``info`` has what `paplu_env.envs.infos` says, the endings and returns there being those of the last
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
        rules, opponent, seat, illegal_action, render_mode: as in `PapluEnv`. A pool has prices of its own.
        encoding: "series-v1" sees the running scores; with another they are in ``info`` alone.
        reward: one of `paplu_env.envs.SERIES_REWARDS`.
        series: the format, a text such as "pool_101" or "deals:num_deals=3", a mapping or a `SeriesFormat`.

    Raises:
        PapluError: an argument that names nothing, or cannot be.
    """

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
        self._series_tables = SeriesTables(rules, series, opponent, encoding, reward, seat, illegal_action)
        self._set_up(self._series_tables, render_mode)

    @property
    def series(self) -> Series:
        """A copy of the series as it stands, hidden cards and all: for looking into it, not for learning."""
        return self._series_tables.series.copy()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a series and play on until the learner must decide; see `PapluEnv.reset`."""
        observation, info = super().reset(seed=seed, options=options)
        return observation, info | self._series_tables.info()

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Let the learner act, and play on until it must decide again or the series is over; see `PapluEnv.step`."""
        observation, reward, is_terminated, is_truncated, info = super().step(action)
        return observation, reward, is_terminated, is_truncated, info | self._series_tables.info()

    def render(self) -> Any:
        """What `PapluEnv.render` shows; under text also the running scores."""
        frame = super().render()
        if not isinstance(frame, str):
            return frame
        sheet = self._series_tables.series.sheet
        scores = ", ".join(
            f"seat {seat} {score}{'' if seat in sheet.active else ' (out)'}" for seat, score in enumerate(sheet.scores)
        )
        return f"{frame.rstrip()}\n{sheet.format}, deal {len(sheet.results) + (not sheet.is_over)}: {scores}\n"


class SeriesTables(Tables):
    """One row of tables on which a whole series is played."""

    def __init__(
        self,
        rules: Rules,
        series: SeriesFormat | str | Mapping[str, Any],
        opponent: Opponents,
        encoding: str,
        reward: str,
        seat: Seat,
        illegal_action: WhenIllegal,
    ) -> None:
        self.format = as_series(series)
        self.is_paid_at_the_end = reward in _AT_THE_END
        if reward not in (*SERIES_REWARDS, "shaped"):
            raise PapluError(f"unknown reward {reward!r}: choose one of {', '.join(SERIES_REWARDS)}")
        super().__init__(
            1,
            self.format.table(as_rules(rules)),
            SELF if opponent == SELF else [opponent],
            encoding,
            "win" if self.is_paid_at_the_end else reward,
            seat,
            illegal_action,
        )
        self._reward_name = reward if self.is_paid_at_the_end else self.reward.name
        self.series = Series(self.rules, self.format)  # replaced at the first start
        self._unpaid = 0.0  # rewards of deals that ended before the learner could be paid
        self._told = 0  # deals whose results an info has told

    def start(self, rows: Ints, draw_seeds: Callable[[Ints], Seeds]) -> None:
        """Begin a series in which the learner comes to decide, and play on until it does."""
        self.over[rows] = False
        self.forfeits[rows] = NO_ACTION
        self.skipped_deals[rows] = 0
        self.skipped_points[rows] = 0
        for skipped in range(MAX_SKIPPED + 1):
            seeds = draw_seeds(rows)
            self._deal(rows, seeds, learner_starts=False)  # the seat, the opponents and their chance
            first = int(self.seats[0]) if skipped == MAX_SKIPPED else 0
            self.series = Series(self.rules, self.format, int(seeds[0]), first)
            self.states[:] = self.series.states
            self.series.states = self.states  # one row, which the kernels play on and the series settles
            self._told = 0
            self._potentials[rows] = 0.0
            self._unpaid = self._play_on(rows, self._only_play_on[:1])
            if not self.series.is_over:
                break
            self.skipped_deals[rows] += len(self.series.sheet.results)
            self.skipped_points[rows] += self.series.sheet.points[int(self.seats[0])]

    def step(self, rows: Ints, actions: Ints) -> Floats:
        """Let the learner act, and play on until it decides again or the series is over."""
        self._told = len(self.series.sheet.results)
        if self.masks[0, actions[0]]:
            reward = self._play_on(rows, actions)
        else:
            self._forfeit(rows, actions)
            reward = self._pay(rows, is_over=True)
        if self.over[0] and self.is_paid_at_the_end:
            reward += self._result()
        reward += self._unpaid
        self._unpaid = 0.0
        return np.array([reward])

    def _play_on(self, rows: Ints, actions: Ints) -> float:
        """Play until the learner must decide or the series is over; what that pays the learner."""
        reward = 0.0
        is_new_deal = bool(actions[0] == NO_ACTION)
        self._play(rows, actions)
        while int(self.states["phase"][0]) == OVER:
            self.series.settle()
            reward += self._pay(rows, is_over=True)
            if self.series.is_over:
                self.over[rows] = True
                return reward
            self.series.next_deal()
            is_new_deal = True
            self._decision_keys[0] = mix(self._decision_keys[0], np.uint64(self.series.deal_number))
            self._play(rows, self._only_play_on[:1])
        if not is_new_deal:
            reward += self._pay(rows, is_over=False)
        elif self.reward.is_shaped:
            self._first_potentials[rows] = self.reward.potentials(self.views[rows])
            self._potentials[rows] = 0.0
        return reward

    def _pay(self, rows: Ints, is_over: bool) -> float:
        """What the learner is paid for the deal so far: nothing for one that it is out of."""
        is_dealt_in = int(self.states["status"][0, int(self.seats[0])]) != NOT_ACTIVE
        if self.is_paid_at_the_end or not is_dealt_in:
            return 0.0
        return float(self._rewards(rows, np.array([is_over]))[0])

    def _result(self) -> float:
        """What the series pays at its end, for the rewards that pay nothing before."""
        seat, players = int(self.seats[0]), self.rules.num_players
        if self._reward_name == "series":
            return float(self.series_returns()[seat])
        winners = self.series_winners()
        if not winners:
            return 0.0
        return ((players / len(winners) if seat in winners else 0.0) - 1.0) / (players - 1)

    def series_winners(self) -> tuple[int, ...]:
        """Seats that won the series: after an illegal action the seat that is paid for it."""
        if self.forfeits[0] != NO_ACTION:
            return (self.series.sheet.seat_after(int(self.seats[0])),)
        return self.series.sheet.winners

    def series_returns(self) -> Floats:
        """``(P,)`` what the series brought each seat, in entries or points."""
        sheet = self.series.sheet
        if self.forfeits[0] == NO_ACTION:
            return sheet.returns()
        if self.format.name == "session":
            of_the_deal: Ints = self.returns(np.zeros(1, dtype=np.int64))[0]
            return of_the_deal + np.array(sheet.points, dtype=np.float64)
        payer = int(self.seats[0])
        returns = np.zeros(self.rules.num_players)
        returns[payer] = -1.0 - sheet.rejoins[payer]
        returns[sheet.seat_after(payer)] -= returns[payer]
        return returns

    def info(self) -> dict[str, Any]:
        """What an info says of the series."""
        sheet = self.series.sheet
        info: dict[str, Any] = {
            "deal": self.series.deal_number,
            "scores": np.array(sheet.scores, dtype=np.int64),
            "in_series": np.isin(np.arange(self.rules.num_players), sheet.active).astype(np.int8),
            "rejoins": np.array(sheet.rejoins, dtype=np.int64),
            "results": tuple(sheet.results[self._told :]),
        }
        if self.over[0]:
            info |= {
                "series_ending": sheet.ending if self.forfeits[0] == NO_ACTION else FORFEIT,
                "series_winners": self.series_winners(),
                "series_returns": self.series_returns(),
                "ranking": np.array(sheet.ranking(), dtype=np.int64),
            }
        return info

    def is_truncated(self, rows: Ints) -> Bools:
        """Whether the series was cut; a deal that was cut is one deal of many."""
        return np.full(len(rows), self.series.is_truncated)

    def observe(self, rows: Ints | None = None, out: Observations | None = None) -> Observations:
        """The learner's observation, with the score sheet where the encoding knows of one."""
        if isinstance(self.encoding, SeriesV1):
            return self.encoding.encode(self.views, self.rules, out=out, sheets=[self.series.sheet])
        return super().observe(rows, out)

    def get_state(self) -> dict[str, Any]:
        """What `Tables.get_state` gives, and the series."""
        return {**super().get_state(), "series": self.series.copy(), "unpaid": self._unpaid}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Put back what `get_state` gave; see `Tables.set_state`."""
        series = state.get("series")
        if not isinstance(series, Series):
            raise PapluError("the state holds no series: it was not taken from an environment like this one")
        super().set_state(state)
        self.series = series.copy()
        self.series.states = self.states
        self._unpaid = float(state["unpaid"])
        self._told = len(self.series.sheet.results)

    def _arguments(self) -> dict[str, Any]:
        return {**super()._arguments(), "reward": self._reward_name, "series": str(self.format)}

    def _after(self, seats: Ints) -> Ints:
        return np.array([self.series.sheet.seat_after(int(seat)) for seat in seats], dtype=np.int64)
