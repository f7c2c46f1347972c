"""A table where people and policies sit together: it holds the deal and hands out nothing but views."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paplu_env import engine
from paplu_env.bots import Policy
from paplu_env.bots.policy import decision_keys
from paplu_env.engine.chance import policy_seed_of
from paplu_env.engine.state import Views
from paplu_env.rules import RuleSet


class Table:
    """One deal under way; seats without a policy are people's.

    Args:
        rules: of the table.
        seed: of the deal.
        players: one policy per seat, None where a person sits.
        first: seat with the first turn.
        policy_seed: of the policies' chance; made of ``seed`` if not given, see `engine.chance.policy_seed_of`.
        number: of the deal among those that share ``policy_seed``, from 0.
    """

    def __init__(
        self,
        rules: RuleSet,
        seed: int,
        players: Sequence[Policy | None],
        first: int = 0,
        policy_seed: int | None = None,
        number: int = 0,
    ) -> None:
        self.rules = rules
        self.seed = seed
        self.first = first
        self.number = number
        self.policy_seed = policy_seed_of(seed) if policy_seed is None else policy_seed
        self.players = list(players)
        self.actions: list[int] = []
        self._states = engine.deal(rules, seed, first)

    def view(self, seat: int) -> Views:
        """``(1,)`` view of a seat, a new array."""
        return engine.player_view(self._states, 0, seat)

    @property
    def is_over(self) -> bool:
        return engine.is_over(self._states, 0)

    @property
    def current_player(self) -> int:
        """Seat to move, -1 when the deal is over."""
        return int(self._states["current_player"][0])

    def action_mask(self) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        """``(A,)`` bool of the seat to move."""
        return engine.legal_action_mask(self._states, 0, self.rules)

    def why_illegal(self, action: int) -> str:
        """Reason why the seat to move may not do this; empty if it may."""
        return engine.why_illegal(self._states, 0, action, self.rules)

    def act(self, action: int) -> None:
        """Do it for the seat to move.

        Raises:
            IllegalAction: it may not be done now; nothing has changed.
        """
        engine.apply_action(self._states, 0, action, self.rules)
        self.actions.append(action)

    def play_policies(self) -> None:
        """Let the policies move until a person has to, or the deal is over."""
        while not self.is_over:
            policy = self.players[self.current_player]
            if policy is None:
                return
            view = self.view(self.current_player)
            keys = decision_keys(self.policy_seed, self.number, view)
            self.act(int(policy.act(view, self.action_mask()[None], keys)[0]))

    def record(self) -> engine.Record:
        """The deal so far, as a record that replays."""
        return engine.Record(rules=self.rules, seed=self.seed, first=self.first, actions=tuple(self.actions))
