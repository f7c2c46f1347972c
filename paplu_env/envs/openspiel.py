"""Paplu as an OpenSpiel Python game, ``python_paplu``, for OpenSpiel's bots, algorithms and playthroughs.

Importing this module registers the game; before that `pyspiel.load_game` says "Unknown game 'python_paplu'"::

    import pyspiel
    from paplu_env.envs import openspiel  # registers python_paplu

    game = pyspiel.load_game("python_paplu(num_deals=1000,seed=7)")
    game = pyspiel.load_game("python_paplu", {"rules": "points:drop_allowed=false,max_turns=60"})

Its parameters, each of which may be left out:

``rules``
    of the table, "points" by default. OpenSpiel's strings keep ``=`` and ``,`` for themselves, so there ``:`` and ``;``
    stand for them: ``python_paplu(rules=points:drop_allowed:false;max_turns:60)``.
``num_deals``
    1..1,000,000, how many deals chance chooses from, 10,000 by default.
``seed``
    0..2**63-1, which the deals follow from, 0 by default.

What OpenSpiel writes in C++ for information states made anew crashes for every game that is written in Python:
`pyspiel.ISMCTSBot` ends the process. Its Python twin, `open_spiel.python.algorithms.ismcts.ISMCTSBot`, plays this game.

Chance is one node at the root whose outcomes are a sample of deals: ``num_deals`` of them, equally
likely, the k-th dealt from a key made of ``seed`` and k. After it a game is a function of its actions: reshuffles
follow from the deal too. OpenSpiel's mode for chance that cannot be listed
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
from paplu_env.rules import MAX_PLAYERS, RuleSet, as_rules, preset

try:
    import pyspiel
except ImportError as error:
    raise ImportError("paplu_env.envs.openspiel needs OpenSpiel: pip install 'paplu-env[openspiel]'") from error

RULES: Final = preset("points")  # unless others are given
SHORT_NAME: Final = "python_paplu"

_ENCODING: Final = encodings.by_name("cards-v1")
_PLAYERS: Final = tuple(f"p{seat}" for seat in range(MAX_PLAYERS))
_UNKNOWN: Final = "?"  # a card that another seat drew, in a world that was sampled
_KEY_BITS: Final = 53  # bits of a key that one number in [0, 1) gives

_MOST_FOR_PAPLUS: Final = 50  # points from each other seat, for all three of three packs in one hand
_PARAMETERS: Final = {"rules": "points", "num_deals": 10_000, "seed": 0}
_MAX_DEALS: Final = 1_000_000  # the chance node lists every outcome as an object

_GAME_TYPE: Final = pyspiel.GameType(
    short_name=SHORT_NAME,
    long_name="Indian Rummy (Paplu)",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=MAX_PLAYERS,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=True,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification=_PARAMETERS,
)


class PapluGame(pyspiel.Game):
    """The rules, and the deals that chance may choose.

    Args:
        params: ``rules``, ``num_deals`` and ``seed``, as OpenSpiel reads them from the game's string; see the module.

    Raises:
        InvalidRules: rules that can't be read.
        PapluError: a parameter out of its range.
    """

    rules: RuleSet
    num_deals: int
    seed: int

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        given = {**_PARAMETERS, **(params or {})}
        self.rules = rules = _read_rules(str(given["rules"]))
        given["rules"] = _write_rules(rules)
        self.num_deals, self.seed = int(given["num_deals"]), int(given["seed"])
        if not 1 <= self.num_deals <= _MAX_DEALS or self.seed < 0:
            raise PapluError(
                f"num_deals={self.num_deals}, seed={self.seed}: give 1..{_MAX_DEALS} deals and a seed from 0"
            )
        info = pyspiel.GameInfo(
            num_distinct_actions=engine.NUM_ACTIONS,
            max_chance_outcomes=self.num_deals,
            num_players=rules.num_players,
            min_utility=-float(_most_to_pay(rules)),
            max_utility=float(_most_to_pay(rules) * (rules.num_players - 1)),
            utility_sum=0.0,
            max_game_length=2 * rules.max_turns + rules.num_players - 1,  # two decisions a draw, and drops
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
        return PapluObserver(kind.perfect_recall, self.rules)


class PapluState(pyspiel.State):
    """One deal, before or after chance has chosen it.

    `clone`, `serialize` and pickling are OpenSpiel's own, which copy what this object holds.
    """

    def __init__(self, game: PapluGame) -> None:
        super().__init__(game)
        self._states: States = empty_states(game.rules, 1)
        self._is_dealt = False
        # Closed cards that each seat drew, in order: a seat remembers when it drew what.
        self._draws: list[list[str]] = [[] for _ in range(game.rules.num_players)]

    @property
    def rules(self) -> RuleSet:
        """The rules of the game that this is a state of."""
        rules: RuleSet = self.get_game().rules
        return rules

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
            return [0.0] * self.rules.num_players
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
        world._states = engine.sample_world(view, int(sampler() * (1 << _KEY_BITS)), self.rules)
        world._draws = [
            list(drawn) if seat == player else [_UNKNOWN] * len(drawn) for seat, drawn in enumerate(self._draws)
        ]
        return world

    def _legal_actions(self, player: int) -> list[int]:
        legal: list[int] = np.flatnonzero(engine.legal_action_mask(self._states, 0, self.rules)).tolist()
        return legal

    def _apply_action(self, action: int) -> None:
        if not self._is_dealt:
            key = mix(np.uint64(self.get_game().seed), np.uint64(action))
            engine.deal_into(self._states, 0, self.rules, int(key))
            self._is_dealt = True
            return
        seat = self.current_player()
        try:
            engine.apply_action(self._states, 0, action, self.rules)
        except IllegalAction as error:
            without_position(error)
            raise
        if action == engine.DRAW_CLOSED:
            self._draws[seat].append(format_card(int(self._states["drawn"][0])))

    def _action_to_string(self, player: int, action: int) -> str:
        return f"deal {action}" if player == pyspiel.PlayerId.CHANCE else engine.format_action(action)

    def __str__(self) -> str:
        return engine.format_position(self._states, 0, self.rules) if self._is_dealt else "not dealt"

    def observation_of(self, player: int) -> npt.NDArray[np.float32]:
        """``(F,)`` what a seat may know as cards-v1 has it; zeros before the deal."""
        if not self._is_dealt:
            return np.zeros(_ENCODING.num_features(self.rules), dtype=np.float32)
        view = engine.player_view(self._states, 0, player)
        observation: npt.NDArray[np.float32] = _ENCODING.encode(view, self.rules)[0]
        return observation

    def table_of(self, player: int) -> str:
        """The table as a seat sees it now, in words."""
        return format_view(engine.player_view(self._states, 0, player), self.rules) if self._is_dealt else str(self)

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

    def __init__(self, has_perfect_recall: bool, rules: RuleSet) -> None:
        self._has_perfect_recall = has_perfect_recall
        self.tensor = np.zeros(_ENCODING.num_features(rules), dtype=np.float32)
        self.dict = {"info_state" if has_perfect_recall else "observation": self.tensor}

    def set_from(self, state: PapluState, player: int) -> None:
        """Fill ``tensor`` for a seat."""
        self.tensor[:] = state.observation_of(player)

    def string_from(self, state: PapluState, player: int) -> str:
        """The same in words: the table as it lies, or with perfect recall all that the seat has seen."""
        return state.information_of(player) if self._has_perfect_recall else state.table_of(player)


def _read_rules(text: str) -> RuleSet:
    """Rules as a parameter has them, with OpenSpiel's stand-ins for ``=`` and ``,`` or without.

    Raises:
        InvalidRules: they can't be read.
    """
    name, _, options = text.partition(":")
    return as_rules(f"{name}:{options.replace(';', ',').replace(':', '=')}" if options else name)


def _write_rules(rules: RuleSet) -> str:
    """Rules as OpenSpiel's strings can hold them, the inverse of `_read_rules`."""
    return str(rules).replace("=", ":").replace(",", ";")


def _most_to_pay(rules: RuleSet) -> int:
    """A bound on what one seat may lose in a deal."""
    counted = 2 * rules.max_points if rules.hand_rummy else rules.max_points
    highest = max(counted, rules.first_drop, rules.middle_drop, rules.wrong_declare_points)
    return highest + (_MOST_FOR_PAPLUS if rules.paplu_bonus != "none" else 0)


pyspiel.register_game(_GAME_TYPE, PapluGame)
