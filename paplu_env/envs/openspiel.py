"""The default game as an OpenSpiel Python game, ``python_paplu``, for OpenSpiel's bots, algorithms and playthroughs.

Importing this module registers it: ``pyspiel.load_game("python_paplu(num_deals=1000,seed=7)")``.

Chance is one node at the root whose outcomes are a sample of deals: ``num_deals`` of them, equally
likely, the k-th dealt from a key made of ``seed`` and k. After it a game is a function of its actions,
since the preset ``points`` never reshuffles. OpenSpiel's mode for chance that cannot be listed
(``SAMPLED_STOCHASTIC``) is not used: it needs a generator inside the game that OpenSpiel saves and puts
back, which Python games cannot offer, and histories could not be played again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env import encoding as encodings
from paplu_env import engine
from paplu_env.cards import format_card, format_cards, format_hand
from paplu_env.engine.chance import mix
from paplu_env.engine.state import NO_SEAT, NONE, PHASE_NAMES, STATUS_NAMES, States, empty_states
from paplu_env.errors import IllegalAction, PapluError, without_position
from paplu_env.render.ansi import format_view
from paplu_env.render.words import log_words
from paplu_env.rules import preset

try:
    import pyspiel
except ImportError as error:
    raise ImportError("paplu_env.envs.openspiel needs OpenSpiel: pip install 'paplu-env[openspiel]'") from error

RULES: Final = preset("points")
SHORT_NAME: Final = "python_paplu"

_ENCODING: Final = encodings.by_name("cards-v1")
_PLAYERS: Final = ("p0", "p1")
_UNKNOWN: Final = "?"  # a card that another seat drew, in a world that was sampled
_KEY_BITS: Final = 53  # bits of a key that one number in [0, 1) gives

_PARAMETERS: Final = {"num_deals": 10_000, "seed": 0}
_MAX_DEALS: Final = 1_000_000  # the chance node lists every outcome as an object

_GAME_TYPE: Final = pyspiel.GameType(
    short_name=SHORT_NAME,
    long_name="Indian Rummy (Paplu), Points Rummy for two",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=RULES.num_players,
    min_num_players=RULES.num_players,
    provides_information_state_string=True,
    provides_information_state_tensor=True,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification=_PARAMETERS,
)


class PapluGame(pyspiel.Game):
    """The rules, and the deals that chance may choose.

    Args:
        params: ``num_deals`` 1..1,000,000 and ``seed`` 0.. as OpenSpiel reads them from the game's string.

    Raises:
        PapluError: a parameter out of its range.
    """

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        given = {**_PARAMETERS, **(params or {})}
        self.num_deals, self.seed = int(given["num_deals"]), int(given["seed"])
        if not 1 <= self.num_deals <= _MAX_DEALS or self.seed < 0:
            raise PapluError(
                f"num_deals={self.num_deals}, seed={self.seed}: give 1..{_MAX_DEALS} deals and a seed from 0"
            )
        info = pyspiel.GameInfo(
            num_distinct_actions=engine.NUM_ACTIONS,
            max_chance_outcomes=self.num_deals,
            num_players=RULES.num_players,
            min_utility=-float(RULES.max_points),
            max_utility=float(RULES.max_points),
            utility_sum=0.0,
            max_game_length=2 * RULES.max_turns + 1,  # two decisions a draw, and a drop
        )
        super().__init__(_GAME_TYPE, info, given)

    def new_initial_state(self) -> PapluState:
        """A state in which nothing has been dealt."""
        return PapluState(self)

    def make_py_observer(
        self, iig_obs_type: Any = None, params: Mapping[str, Any] | None = None
    ) -> PapluObserver | None:
        """What writes a seat's observations; None for parts of them, which are not told apart here.

        Raises:
            PapluError: parameters are given.
        """
        if params:
            raise PapluError(f"observers take no parameters, not {dict(params)}")
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        if not kind.public_info or kind.private_info != pyspiel.PrivateInfoType.SINGLE_PLAYER:
            return None
        return PapluObserver(kind.perfect_recall)


class PapluState(pyspiel.State):
    """One deal, before or after chance has chosen it.

    `clone`, `serialize` and pickling are OpenSpiel's own, which copy what this object holds.
    """

    def __init__(self, game: PapluGame) -> None:
        super().__init__(game)
        self._states: States = empty_states(RULES, 1)
        self._is_dealt = False
        # Closed cards that each seat drew, in order: a seat remembers when it drew what.
        self._draws: list[list[str]] = [[] for _ in _PLAYERS]

    def current_player(self) -> int:
        """The seat to move, or OpenSpiel's word for chance or the end."""
        if not self._is_dealt:
            return int(pyspiel.PlayerId.CHANCE)
        seat = int(self._states["current_player"][0])
        return int(pyspiel.PlayerId.TERMINAL) if seat == NO_SEAT else seat

    def is_terminal(self) -> bool:
        """Whether the deal is over."""
        return self._is_dealt and engine.is_over(self._states, 0)

    def returns(self) -> list[float]:
        """Points of both seats, zeros until the deal is over."""
        if not self._is_dealt:
            return [0.0] * RULES.num_players
        return [float(points) for points in engine.returns(self._states, 0)]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """All deals of the game, equally likely."""
        num_deals = self.get_game().num_deals
        return [(deal, 1.0 / num_deals) for deal in range(num_deals)]

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> PapluState:
        """A state that looks the same to a seat, with what it cannot see dealt anew, as searching bots ask for it.

        Its history is this state's, so it can be played on but not be made again from its history.

        Args:
            sampler: gives numbers in [0, 1).
        """
        world: PapluState = self.clone()
        view = engine.player_view(self._states, 0, player)
        world._states = engine.sample_world(view, int(sampler() * (1 << _KEY_BITS)), RULES)
        world._draws = [
            list(drawn) if seat == player else [_UNKNOWN] * len(drawn) for seat, drawn in enumerate(self._draws)
        ]
        return world

    def _legal_actions(self, player: int) -> list[int]:
        legal: list[int] = np.flatnonzero(engine.legal_action_mask(self._states, 0, RULES)).tolist()
        return legal

    def _apply_action(self, action: int) -> None:
        if not self._is_dealt:
            key = mix(np.uint64(self.get_game().seed), np.uint64(action))
            engine.deal_into(self._states, 0, RULES, int(key))
            self._is_dealt = True
            return
        seat = self.current_player()
        try:
            engine.apply_action(self._states, 0, action, RULES)
        except IllegalAction as error:
            without_position(error)
            raise
        if action == engine.DRAW_CLOSED:
            self._draws[seat].append(format_card(int(self._states["drawn"][0])))

    def _action_to_string(self, player: int, action: int) -> str:
        return f"deal {action}" if player == pyspiel.PlayerId.CHANCE else engine.format_action(action)

    def __str__(self) -> str:
        return engine.format_position(self._states, 0, RULES) if self._is_dealt else "not dealt"

    def observation_of(self, player: int) -> npt.NDArray[np.float32]:
        """``(F,)`` what a seat may know as cards-v1 has it; zeros before the deal."""
        if not self._is_dealt:
            return np.zeros(_ENCODING.num_features(RULES), dtype=np.float32)
        observation: npt.NDArray[np.float32] = _ENCODING.encode(engine.player_view(self._states, 0, player), RULES)[0]
        return observation

    def table_of(self, player: int) -> str:
        """The table as a seat sees it now, in words."""
        return format_view(engine.player_view(self._states, 0, player), RULES) if self._is_dealt else str(self)

    def information_of(self, player: int) -> str:
        """All that a seat has seen so far, in one line: states share it exactly if the seat can't tell them apart."""
        if not self._is_dealt:
            return f"{_PLAYERS[player]} not dealt"
        view = engine.player_view(self._states, 0, player)[0]
        parts = [
            f"{_PLAYERS[player]} {PHASE_NAMES[int(view['phase'])]}",
            f"indicator {format_card(int(view['indicator']))}",
            f"pile {format_cards(view['pile'][: int(view['pile_size'])])}",
            f"hand {format_hand(view['hand'])}",
            f"drew {' '.join(self._draws[player])}",
        ]
        if int(view["drawn"]) != NONE:
            parts.append(f"now {format_card(int(view['drawn']))}")
        parts += log_words(view, _PLAYERS)
        for seat, shown in enumerate(view["shown"]):
            if shown.any():
                parts.append(f"{_PLAYERS[seat]} {STATUS_NAMES[int(view['status'][seat])]} shows {format_hand(shown)}")
        return "; ".join(part.rstrip() for part in parts)


class PapluObserver:
    """Writes what one seat knows into ``tensor`` and strings, as `pyspiel` asks of Python games.

    Both kinds of tensor are cards-v1: it keeps who threw, took and refused what and how long ago, but not in
    which order the seat itself drew its cards. The information state string keeps that too.
    """

    def __init__(self, has_perfect_recall: bool) -> None:
        self._has_perfect_recall = has_perfect_recall
        self.tensor = np.zeros(_ENCODING.num_features(RULES), dtype=np.float32)
        self.dict = {"info_state" if has_perfect_recall else "observation": self.tensor}

    def set_from(self, state: PapluState, player: int) -> None:
        """Fill ``tensor`` for a seat."""
        self.tensor[:] = state.observation_of(player)

    def string_from(self, state: PapluState, player: int) -> str:
        """The same in words: the table as it lies, or with perfect cache all that the seat has seen."""
        return state.information_of(player) if self._has_perfect_recall else state.table_of(player)


pyspiel.register_game(_GAME_TYPE, PapluGame)
