"""The environment once more, slowly and in the open: one deal at a time, from the engine's own functions.

It shares with `paplu_env.envs` only what the docstrings there promise, no code: the seed of a deal is one raw
output of the environment's generator, and the seat and the opponents follow from it; their keys follow from a seed
of their own, made of the seed of `reset`, and from the number of the deal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium.utils import seeding

from paplu_env import encoding, engine, melds
from paplu_env.bots import Policy, make_policy
from paplu_env.engine.chance import below, mix, policy_seed_of
from paplu_env.engine.state import ENDING_NAMES, PHASE_NAMES
from paplu_env.rules import as_rules

Step = tuple[np.ndarray, float, bool, bool, dict[str, Any]]


class ReferenceEnv:
    """What `PapluEnv` should be, with one opponent for all other seats."""

    def __init__(
        self, rules: str, opponent: str | Policy, encoding_name: str, reward: str = "points", seat: Any = "random"
    ) -> None:
        self.rules = as_rules(rules)
        self.opponent = make_policy(opponent, self.rules)
        self.encoding = encoding.by_name(encoding_name)
        self.reward = reward
        self.fixed_seat = seat

    def reset(self, seed: int | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        if seed is not None:
            self.generator, _ = seeding.np_random(seed)
            self.policy_seed, self.dealt = policy_seed_of(seed), 0
        skipped = skipped_points = 0
        while True:
            deal_seed = np.uint64(self.generator.bit_generator.random_raw())
            players = self.rules.num_players
            self.seat = below(_mix(deal_seed, 101), players) if self.fixed_seat == "random" else self.fixed_seat
            first = self.seat if skipped == 100 else 0
            self.deal_key = _mix(np.uint64(self.policy_seed), self.dealt)
            self.dealt += 1
            self.states = engine.deal(self.rules, int(deal_seed), first=first)
            self._play_opponents()
            if not self.is_over:
                break
            skipped += 1
            skipped_points += int(engine.returns(self.states, 0)[self.seat])
        if self.reward.startswith("shaped"):
            self.first = self.potential = self._potential()
        return self._observe(), self._info() | {"skipped_deals": skipped, "skipped_points": skipped_points}

    def step(self, action: int) -> Step:
        engine.apply_action(self.states, 0, action, self.rules)
        self._play_opponents()
        ending = ENDING_NAMES[int(self.states["ending"][0])]
        truncated = self.is_over and ending == "truncated"
        terminated = self.is_over and not truncated
        return self._observe(), self._reward(terminated), terminated, truncated, self._info()

    @property
    def is_over(self) -> bool:
        return bool(engine.is_over(self.states, 0))

    def mask(self) -> np.ndarray:
        return engine.legal_action_mask(self.states, 0, self.rules)

    def view(self) -> np.ndarray:
        return engine.player_view(self.states, 0, self.seat)

    def _play_opponents(self) -> None:
        while not self.is_over and int(self.states["current_player"][0]) != self.seat:
            mover = int(self.states["current_player"][0])
            draws = int(self.states["draws"][0])
            in_draw = PHASE_NAMES[int(self.states["phase"][0])] == "draw"
            key = _mix(_mix(self.deal_key, mover), 2 * draws if in_draw else 2 * draws + 1)
            view = engine.player_view(self.states, 0, mover)
            action = self.opponent.act(view, self.mask()[None], np.array([key]))[0]
            engine.apply_action(self.states, 0, int(action), self.rules)

    def _observe(self) -> np.ndarray:
        return self.encoding.encode(self.view(), self.rules)[0]

    def _potential(self) -> float:
        view = self.view()[0]
        measure: Callable[..., int] = melds.deadwood if self.reward == "shaped:deadwood" else melds.distance
        unit = self.rules.max_points if self.reward == "shaped:deadwood" else self.rules.hand_size
        return -measure(view["hand"], int(view["wild"]), self.rules) / unit

    def _reward(self, terminated: bool) -> float:
        points, winner = int(engine.returns(self.states, 0)[self.seat]), int(self.states["winner"][0])
        reward = {
            "points": float(points),
            "win": 0.0 if winner < 0 else 1.0 if winner == self.seat else -1.0 / (self.rules.num_players - 1),
        }.get(self.reward, points / self.rules.max_points)
        if self.reward.startswith("shaped"):
            potential = self.first if terminated else self._potential()
            reward += (potential - self.first) - (self.potential - self.first)
            self.potential = potential
        return reward

    def _info(self) -> dict[str, Any]:
        info = {
            "action_mask": self.mask().astype(np.int8),
            "phase": PHASE_NAMES[int(self.states["phase"][0])],
            "current_player": int(self.states["current_player"][0]),
            "seat": self.seat,
            "opponent": self.opponent.name,
        }
        if self.is_over:
            returns = engine.returns(self.states, 0)
            info |= {
                "ending": ENDING_NAMES[int(self.states["ending"][0])],
                "winner": int(self.states["winner"][0]),
                "returns": returns,
                "points": int(returns[self.seat]),
            }
        return info


def _mix(key: np.uint64, value: int) -> np.uint64:
    """`chance.mix` called from Python, where a compiled function gives back an int without its type."""
    return np.uint64(mix(key, np.uint64(value)))
