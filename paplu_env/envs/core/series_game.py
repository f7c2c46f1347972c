"""One series seen from its learner's seat: the core of the environment, played through the engine's functions.

A series' seed is one raw output of the environment's generator; the deals, the learner's seat and the
opponents' chance follow from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env import encoding as encodings
from paplu_env.bots.policy import Policy, check_answers, decision_keys
from paplu_env.engine import legal_action_mask, player_view
from paplu_env.engine.actions import NUM_ACTIONS
from paplu_env.engine.chance import policy_seed_of
from paplu_env.engine.scoring import forfeit
from paplu_env.engine.series.format import SeriesFormat, as_series
from paplu_env.engine.series.score_sheet import ScoreSheet
from paplu_env.engine.series.series import Series
from paplu_env.engine.state import NO_SEAT, NOT_ACTIVE, OVER, PHASE_NAMES, Views
from paplu_env.envs.core.arguments import Rules
from paplu_env.envs.core.kernels import FORFEIT, MAX_SKIPPED, draw_seat
from paplu_env.envs.core.learner_seat import (
    ENDINGS,
    Seat,
    WhenIllegal,
    check_illegal_action,
    explain_illegal,
    place_in_line_up,
    read_seat,
    refuse,
)
from paplu_env.envs.core.opponents import SELF, Opponents, read_line_up
from paplu_env.envs.core.rewards import REWARDS, Reward, check_for_self_play
from paplu_env.envs.core.saved import check_arguments
from paplu_env.errors import PapluError
from paplu_env.rules import RuleSet

SERIES_REWARDS: Final = (*REWARDS, "series")
AT_THE_END: Final = ("win", "series")  # rewards that no deal pays before the series is over


# Attributes that the future hangs on, besides the series.
_PLAIN_STATE: Final = ("seat", "forfeited", "skipped_deals", "skipped_points", "_due", "_first", "_shaped")


class SeriesGame:
    """A learner and its opponents in one series after another.

    Args:
        rules, series, opponent, encoding, reward, seat, illegal_action: as `PapluSeriesEnv` takes them.

    Raises:
        PapluError: an argument that names nothing, or cannot be.
    """

    series: Series  # from the first `start` on
    seat: int  # the learner's; in self-play the seat to move, or that acted last
    forfeited: int | None  # the illegal action that ended the series
    skipped_deals: int  # deals of series before this one that ended before the learner's first decision
    skipped_points: int  # what these brought it, in points
    _due: float  # what the learner has earned since it was last paid
    _first: float | None  # potential of the learner's first hand of the deal, None before it saw one
    _shaped: float  # paid for potentials in this deal

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
        check_illegal_action(illegal_action)
        self.format = as_series(series)
        self.rules = self.format.table(rules)
        self.encoding = encodings.by_name(encoding)
        self.illegal_action = illegal_action
        # One that is paid at the end still needs to be known by name.
        self._deal_reward = None if reward in AT_THE_END else _read_reward(reward, self.rules)
        self._reward_name = reward if self._deal_reward is None else self._deal_reward.name
        self._learner = read_seat(seat, self.rules)
        self._policies: tuple[Policy, ...] = ()  # by relative seat; none in self-play
        self.opponent = SELF
        if opponent != SELF:
            line_up = read_line_up(opponent, self.rules)
            self._policies, self.opponent = line_up.policies, line_up.name
        elif self._deal_reward is not None:
            check_for_self_play(reward, self._deal_reward)
        self.seat, self.forfeited, self.skipped_deals, self.skipped_points = 0, None, 0, 0
        self._begin_payments()

    def start(self, draw_seed: Callable[[], int]) -> None:
        """Begin a series in which the learner comes to decide, and play on until it does."""
        self.forfeited, self.skipped_deals, self.skipped_points = None, 0, 0
        for skipped in range(MAX_SKIPPED + 1):
            seed = draw_seed()
            self.seat = draw_seat(self._learner, np.uint64(seed), self.rules.num_players)
            self.series = Series(self.rules, self.format, seed, self.seat if skipped == MAX_SKIPPED else 0)
            self._told = 0
            self._begin_payments()
            self._play_on()
            if not self.series.is_over:
                return
            self.skipped_deals += len(self.sheet.results)
            self.skipped_points += self.sheet.points[self.seat]

    def step(self, action: int) -> float:
        """Let the learner act, and play on until it decides again or the series is over.

        Returns:
            What is due to the learner since it was last paid.

        Raises:
            IllegalAction: under ``illegal_action="raise"``; nothing has changed then.
        """
        self._told = len(self.sheet.results)
        if self.masks()[action]:
            self._apply(action)
            self._play_on()
        elif self.illegal_action == "raise":
            refuse(self.series.states, 0, action, self.rules)
        else:
            self.forfeited = action
            self._due += self._pay_deal() + self._pay_series()
        due, self._due = self._due, 0.0
        return due

    @property
    def sheet(self) -> ScoreSheet:
        """The score sheet of the series."""
        return self.series.sheet

    @property
    def is_terminated(self) -> bool:
        """Whether the series has a result, or an illegal action ended it."""
        return self.forfeited is not None or (self.series.is_over and not self.is_truncated)

    @property
    def is_truncated(self) -> bool:
        """Whether the series was cut; a deal that is cut is only one deal of many."""
        return self.series.is_truncated

    @property
    def num_features(self) -> int:
        """Length of an observation."""
        return self.encoding.num_features(self.rules)

    def view(self) -> Views:
        """``(1,)`` what the learner's seat may know of the deal."""
        return player_view(self.series.states, 0, self.seat)

    def observe(self) -> npt.NDArray[np.float32]:
        """``(F,)`` the learner's observation, with the score sheet where the encoding knows of one."""
        observation: npt.NDArray[np.float32] = self.encoding.encode(self.view(), self.rules, sheets=[self.sheet])[0]
        return observation

    def masks(self) -> npt.NDArray[np.bool_]:
        """``(A,)`` bool, True = legal, a new array; all False when the series is over."""
        if self.forfeited is not None:
            return np.zeros(NUM_ACTIONS, dtype=np.bool_)
        return legal_action_mask(self.series.states, 0, self.rules)

    def info(self, is_start: bool) -> dict[str, Any]:
        """What an info says, see `PapluSeriesEnv`."""
        state, sheet = self.series.states[0], self.sheet
        is_over = self.is_terminated or self.is_truncated
        info: dict[str, Any] = {
            "action_mask": self.masks().view(np.int8),
            "phase": PHASE_NAMES[OVER if is_over else int(state["phase"])],
            "current_player": NO_SEAT if is_over else self.series.current_player,
            "seat": self.seat,
            "opponent": self.opponent,
            "deal": self.series.deal_number,
            "scores": np.array(sheet.scores, dtype=np.int64),
            "in_series": np.array([seat in sheet.active for seat in range(self.rules.num_players)], dtype=np.int8),
            "rejoins": np.array(sheet.rejoins, dtype=np.int64),
            "results": tuple(sheet.results[self._told :]),
        }
        if is_start:
            info |= {"skipped_deals": self.skipped_deals, "skipped_points": self.skipped_points}
        if is_over:
            returns, winner = self._last_deal()
            info |= {
                "ending": ENDINGS[int(state["ending"]) if self.forfeited is None else FORFEIT],
                "winner": winner,
                "returns": returns,
                "points": int(returns[self.seat]),
                "series_ending": sheet.ending if self.forfeited is None else ENDINGS[FORFEIT],
                "series_winners": self._winners(),
                "series_returns": self._returns(),
                "ranking": np.array(sheet.ranking(), dtype=np.int64),
            }
        if self.forfeited is not None:
            info["illegal_action"] = explain_illegal(self.series.states, 0, self.forfeited, self.rules)
        return info

    def get_state(self) -> dict[str, Any]:
        """Everything that the future hangs on, and the arguments that give it its meaning."""
        return {
            "arguments": self._arguments(),
            "series": self.series.copy() if hasattr(self, "series") else None,
            **{name: getattr(self, name) for name in _PLAIN_STATE},
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Put back what `get_state` gave.

        Raises:
            PapluError: the state is of a game with other arguments; nothing has changed then.
        """
        if not {"arguments", "series", *_PLAIN_STATE} <= set(state):
            raise PapluError("this is no state of a series environment: take one with get_state()")
        check_arguments(state["arguments"], self._arguments())
        for name in _PLAIN_STATE:
            setattr(self, name, state[name])
        if state["series"] is not None:
            self.series = state["series"].copy()
            self._told = len(self.sheet.results)

    def _arguments(self) -> dict[str, Any]:
        """What gives a state its meaning; opponents can be told apart by name only."""
        return {
            "series": str(self.format),
            "rules": str(self.rules),
            "opponent": self.opponent,
            "encoding": self.encoding.name,
            "reward": self._reward_name,
            "seat": self._learner,
            "illegal_action": self.illegal_action,
        }

    def _play_on(self) -> None:
        """Ask the opponents and deal on until the learner is to move or the series is over."""
        while not self.series.is_over:
            if self.series.is_deal_over:
                self.series.next_deal()
            mover = self.series.current_player
            if not self._policies:
                self.seat = mover  # every seat is played from outside
            if mover == self.seat:
                self._shape()
                return
            self._apply(self._answer(mover))
        self._due += self._pay_series()

    def _apply(self, action: int) -> None:
        self.series.apply(action)
        if self.series.is_deal_over:
            self._due += self._pay_deal()

    def _answer(self, mover: int) -> int:
        """What the opponent to move does."""
        policy = self._policies[place_in_line_up(mover, self.seat, self.rules)]
        keys = decision_keys(policy_seed_of(self.series.seed), self.series.deal_number, self.series.states)
        views, masks = player_view(self.series.states, 0, mover), self.masks()[None]
        answers = np.asarray(policy.act(views.copy(), masks.copy(), keys))
        check_answers(policy.name, answers, views, masks, is_shown=False)
        return int(answers[0])

    def _begin_payments(self) -> None:
        self._due, self._first, self._shaped = 0.0, None, 0.0

    def _shape(self) -> None:
        """Pay for the rise of the potential since the learner's last decision in this deal."""
        if self._deal_reward is None or not self._deal_reward.is_shaped:
            return
        potential = float(self._deal_reward.potentials(self.view())[0])
        if self._first is None:
            self._first = potential
        rise = potential - self._first - self._shaped
        self._due += rise
        self._shaped += rise

    def _pay_deal(self) -> float:
        """What the deal that has ended pays the learner; nothing if it was out of it."""
        is_dealt_in = int(self.series.states["status"][0, self.seat]) != NOT_ACTIVE
        if self._deal_reward is None or not is_dealt_in:
            return 0.0
        returns, winner = self._last_deal()
        paid = self._deal_reward.final(returns[[self.seat]], np.array([winner]), np.array([self.seat]))
        shaped, self._first, self._shaped = self._shaped, None, 0.0  # the potential is 0 at the end of a deal
        return float(paid[0]) - shaped

    def _pay_series(self) -> float:
        """What the end of the series pays the learner, under the rewards that pay nothing before."""
        if self._reward_name == "series":
            return float(self._returns()[self.seat])
        if self._reward_name != "win":
            return 0.0
        return win_reward(self.seat, self._winners(), self.rules.num_players)

    def _last_deal(self) -> tuple[npt.NDArray[np.int64], int]:
        """Returns and winner of the deal on the table: after an illegal action the seat that is paid for it."""
        state, players = self.series.states[0], self.rules.num_players
        if self.forfeited is None:
            return state["returns"][:players].astype(np.int64), int(state["winner"])
        returns, collector = np.zeros(players, dtype=np.int64), self.sheet.seat_after(self.seat)
        forfeit(returns, self.seat, collector, self.rules.packed[0])
        return returns, collector

    def _winners(self) -> tuple[int, ...]:
        """Seats that won the series."""
        return self.sheet.winners if self.forfeited is None else (self.sheet.seat_after(self.seat),)

    def _returns(self) -> npt.NDArray[np.float64]:
        """``(P,)`` what the series brought each seat, in entries or points."""
        if self.forfeited is None:
            return self.sheet.returns()
        if self.format.name == "session":
            returns: npt.NDArray[np.float64] = np.array(self.sheet.points, dtype=np.float64) + self._last_deal()[0]
            return returns
        entries = np.zeros(self.rules.num_players)
        entries[self.seat] = -1.0 - self.sheet.rejoins[self.seat]
        entries[self.sheet.seat_after(self.seat)] = -entries[self.seat]
        return entries


def format_scores(sheet: ScoreSheet, deal: int) -> str:
    """The running scores in one line, as of deal number ``deal`` from 1."""
    scores = ", ".join(
        f"seat {seat} {score}{'' if seat in sheet.active else ' (out)'}" for seat, score in enumerate(sheet.scores)
    )
    return f"{sheet.format}, deal {deal}: {scores}"


def win_reward(seat: int, winners: tuple[int, ...], players: int) -> float:
    """What the reward "win" pays a seat at the end of a series that these seats share; 0 without a winner."""
    if not winners:
        return 0.0
    share = players / len(winners) if seat in winners else 0.0
    return (share - 1.0) / (players - 1)


def _read_reward(reward: str, rules: RuleSet) -> Reward:
    """A reward that deals pay."""
    try:
        return Reward(reward, rules)
    except PapluError:
        raise PapluError(f"unknown reward {reward!r}: choose one of {', '.join(SERIES_REWARDS)}") from None
