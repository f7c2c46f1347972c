"""One deal as a PettingZoo AEC environment: every seat is an agent, and each sees the table from its own place."""

from __future__ import annotations

import operator
import warnings
from typing import Any, Final, TypeAlias, TypedDict

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box, Dict, Discrete, Space
from gymnasium.utils import seeding

from paplu_env import encoding as encodings
from paplu_env import engine
from paplu_env.engine.series.score_sheet import ScoreSheet
from paplu_env.engine.state import ENDING_NAMES, OVER, TRUNCATED, Views, empty_states
from paplu_env.envs.core.arguments import Rules
from paplu_env.envs.core.rewards import Reward
from paplu_env.envs.core.saved import VersionedPickle
from paplu_env.envs.core.seeds import draw_seeds
from paplu_env.errors import IllegalAction, InvalidRules, PapluError, without_position
from paplu_env.render.ansi import format_view
from paplu_env.rules import as_rules

try:
    from pettingzoo import AECEnv
    from pettingzoo.utils.wrappers import OrderEnforcingWrapper
except ImportError as error:
    raise ImportError("paplu_env.envs.aec needs PettingZoo: pip install 'paplu-env[aec]'") from error


class Observation(TypedDict):
    """What an agent gets to see."""

    observation: npt.NDArray[np.float32]  # (F,), what its seat may know, encoded
    action_mask: npt.NDArray[np.int8]  # (110,), 1 = legal; zeros for a seat that is not to move


Wrapped: TypeAlias = OrderEnforcingWrapper[str, Observation, int]

RENDER_MODES: Final = ("human", "ansi")


def env(
    rules: Rules = "points",
    encoding: str = "features-v1",
    reward: str = "points",
    render_mode: str | None = None,
) -> Wrapped:
    """A `PapluAECEnv` in PettingZoo's wrapper that refuses calls in a wrong order; the arguments are the same."""
    return enforce_order(PapluAECEnv(rules, encoding, reward, render_mode))


def enforce_order(env: PapluAECEnv) -> Wrapped:
    """PettingZoo's wrapper around an environment, which refuses calls in a wrong order."""
    wrapped: Wrapped = OrderEnforcingWrapper(env)
    return wrapped


class PapluAECEnv(VersionedPickle, AECEnv[str, Observation, int]):
    """All seats of one deal as agents ``player_0``, ``player_1``, …, the number being the seat.

    An episode is one deal, and seat 0 has the first turn. `observe` gives any agent its own view at any
    time; only the one to move has a mask that isn't all zeros. A seat that has dropped or declared wrongly
    is not selected again but stays an agent, for its account is open until the deal ends. Then all agents
    terminate together (or are truncated together, at ``max_turns``) with their final rewards; before that
    every reward is 0. It deals what `PapluEnv` with ``opponent="self"`` deals for the same seed.

    At the end ``infos[agent]`` holds ``ending``, ``winner`` (-1 without one), ``returns`` of all seats and
    ``points``, the agent's own, all as in `paplu_env.envs.core.infos`. Before that infos are empty, because some
    libraries make tensors of whatever they find in the first ones.

    There is no parallel form: one seat moves at a time, so all but one action of a joint step would mean
    nothing.

    Args:
        rules: a preset, a rules string such as "pagat:num_players=5", a mapping, or a `RuleSet`.
        encoding: what an observation is, see `paplu_env.encoding`.
        reward: "points", "scaled" or "win", see `paplu_env.envs.core.rewards`.
        render_mode: None; "ansi": `render` returns the table as text; "human": it is printed, and after
            every action too. Both show it as the seat to move sees it, or the seat that ended the deal.

    Raises:
        PapluError: an argument that names nothing, or cannot be.
    """

    metadata = {  # noqa: RUF012 (PettingZoo's form)
        "name": "paplu_v0",
        "render_modes": list(RENDER_MODES),
        "render_fps": 1,
        "is_parallelizable": False,
    }

    def __init__(
        self,
        rules: Rules = "points",
        encoding: str = "features-v1",
        reward: str = "points",
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise PapluError(f"unknown render mode {render_mode!r}: choose one of {', '.join(RENDER_MODES)}, or None")
        self.render_mode = render_mode
        self.rules = as_rules(rules)
        self.encoding = encodings.by_name(encoding)
        self.reward = Reward(reward, self.rules)
        if self.reward.is_shaped:
            raise PapluError(
                f"reward={reward!r} is for one learner: with every seat an agent take points, scaled or win"
            )
        self.possible_agents = [f"player_{seat}" for seat in range(self.rules.num_players)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._observation_spaces = {agent: self._make_observation_space() for agent in self.possible_agents}
        self._action_spaces = {agent: Discrete(engine.NUM_ACTIONS) for agent in self.possible_agents}
        self._states = empty_states(self.rules, 1)
        self._generator: np.random.Generator | None = None
        self._is_dealt = False
        self.agents: list[str] = []

    def observation_space(self, agent: str) -> Space[Any]:
        """The space of `Observation`.

        Raises:
            InvalidRules: no seat of this game has an agent of this name.
        """
        return self._observation_spaces[self.possible_agents[self._seat_of(agent)]]

    def action_space(self, agent: str) -> Discrete:
        """The 110 actions; ``sample(mask)`` takes masks as observations hold them.

        Raises:
            InvalidRules: no seat of this game has an agent of this name.
        """
        return self._action_spaces[self.possible_agents[self._seat_of(agent)]]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal.

        Args:
            seed: makes the generator anew that the deals' seeds are drawn from.
            options: none are known; PettingZoo's own tests pass some, so they are met with a warning only.
        """
        if options:
            names = ", ".join(map(repr, options))
            warnings.warn(f"reset ignores {names}: whatever lasts is an argument of the environment", stacklevel=2)
        if seed is not None or self._generator is None:
            self._generator, _ = seeding.np_random(seed)
        self._begin(int(draw_seeds(self._generator, 1)[0]))
        self._is_dealt = True
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.agent_selection = self._agent_to_move()
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._render_for_humans()

    def step(self, action: int | np.integer[Any] | None) -> None:
        """Let the selected agent act; None for one whose deal is over.

        Raises:
            IllegalAction: the action is not legal; the deal is left as it was.
            PapluError: it is no whole number.
            gymnasium.error.ResetNeeded: no deal is on.
        """
        if not self.agents:
            raise ResetNeeded("no deal is on: call reset() before step()")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._play(_read_action(action))
        self._cumulative_rewards[agent] = 0.0
        self._accumulate_rewards()
        is_over = self.terminations[agent] or self.truncations[agent]
        self.agent_selection = self.agents[0] if is_over else self._agent_to_move()  # dead steps begin with the first
        self._render_for_humans()

    def observe(self, agent: str) -> Observation:
        """What an agent's seat may know now, and what it may do, all new arrays.

        Raises:
            InvalidRules: no seat of this game has an agent of this name.
            gymnasium.error.ResetNeeded: nothing has been dealt.
        """
        self._check_dealt("observe()")
        seat = self._seat_of(agent)
        mask = np.zeros(engine.NUM_ACTIONS, dtype=np.int8)
        if int(self._states["current_player"][0]) == seat:
            mask[:] = engine.legal_action_mask(self._states, 0, self.rules)
        return {"observation": self._encode(engine.player_view(self._states, 0, seat)), "action_mask": mask}

    def render(self) -> str | None:
        """The table as text, or printed; None without a render mode.

        Raises:
            gymnasium.error.ResetNeeded: nothing has been dealt.
        """
        if self.render_mode is None:
            gymnasium.logger.warn("render() shows nothing without a render mode: make the environment with one")
            return None
        self._check_dealt("render()")
        state = self._states[0]
        seat = int(state["finisher"] if int(state["phase"]) == OVER else state["current_player"])
        text = self._describe(seat)
        if self.render_mode == "ansi":
            return text
        print(text, end="\n\n")
        return None

    def close(self) -> None:
        """Nothing is held that must be given back."""

    def _make_observation_space(self) -> Space[Any]:
        shape = (self.encoding.num_features(self.rules),)
        mask = Box(0, 1, (engine.NUM_ACTIONS,), np.int8)
        return Dict({"observation": Box(0.0, 1.0, shape, np.float32), "action_mask": mask})

    def _seat_of(self, agent: str) -> int:
        seat = self._seats.get(agent)
        if seat is None:
            raise InvalidRules(f"agent {agent!r}: the agents of this game are {', '.join(self.possible_agents)}")
        return seat

    def _agent_to_move(self) -> str:
        return self.possible_agents[int(self._states["current_player"][0])]

    def _begin(self, seed: int) -> None:
        """Start an episode."""
        engine.deal_into(self._states, 0, self.rules, seed)

    def _play(self, action: int) -> None:
        """Do an action of the seat to move, and write rewards and the end of the episode if it brings them."""
        try:
            engine.apply_action(self._states, 0, action, self.rules)
        except IllegalAction as error:
            without_position(error)
            raise
        if engine.is_over(self._states, 0):
            self.rewards = self._deal_rewards()
            self._end(self._deal_infos(), is_truncated=int(self._states["ending"][0]) == TRUNCATED)

    def _encode(self, view: Views) -> npt.NDArray[np.float32]:
        observation: npt.NDArray[np.float32] = self.encoding.encode(view, self.rules, sheets=self._sheets())[0]
        return observation

    def _sheets(self) -> list[ScoreSheet] | None:
        """The score sheet that observations show; None in a single deal."""
        return None

    def _describe(self, seat: int) -> str:
        return format_view(engine.player_view(self._states, 0, seat), self.rules)

    def _end(self, infos: dict[str, dict[str, Any]], is_truncated: bool) -> None:
        """Terminate or truncate all agents."""
        self.terminations = dict.fromkeys(self.agents, not is_truncated)
        self.truncations = dict.fromkeys(self.agents, is_truncated)
        self.infos = infos

    def _deal_rewards(self) -> dict[str, float]:
        """What the deal on the table, which is over, pays each agent."""
        returns, seats = engine.returns(self._states, 0), np.arange(self.rules.num_players)
        paid = self.reward.final(returns, np.full(len(seats), int(self._states["winner"][0])), seats)
        return {agent: float(paid[seat]) for agent, seat in self._seats.items()}

    def _deal_infos(self) -> dict[str, dict[str, Any]]:
        """How the deal on the table, which is over, ended, for each agent."""
        state, returns = self._states[0], engine.returns(self._states, 0)
        outcome = {"ending": ENDING_NAMES[int(state["ending"])], "winner": int(state["winner"])}
        return {
            agent: outcome | {"returns": returns.copy(), "points": int(returns[seat])}
            for agent, seat in self._seats.items()
        }

    def _check_dealt(self, call: str) -> None:
        if not self._is_dealt:
            raise ResetNeeded(f"nothing has been dealt: call reset() before {call}")

    def _render_for_humans(self) -> None:
        if self.render_mode == "human":
            self.render()


raw_env = PapluAECEnv  # PettingZoo's name for an environment without wrappers


def _read_action(action: Any) -> int:
    """An action as an int; the engine knows which numbers are actions.

    Raises:
        PapluError: it is no whole number, or one beyond the engine's int64.
    """
    try:
        if not isinstance(action, bool) and abs(number := operator.index(action)) < 2**63:
            return number
    except TypeError:
        pass
    raise PapluError(f"action {action!r}: give one whole number 0..{engine.NUM_ACTIONS - 1}")
