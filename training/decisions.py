"""Decisions of a bot in games that it plays against itself: what cloning learns from and exports are checked on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from paplu_env.bots.policy import Policy
from paplu_env.encoding import Encoding
from paplu_env.engine import apply_actions, deal_many, legal_action_masks, player_views
from paplu_env.engine.actions import DECLARE_BASE, DROP, NUM_ACTIONS
from paplu_env.engine.chance import keys_for
from paplu_env.engine.state import NO_SEAT, OVER


@dataclass(frozen=True)
class Decisions:
    """``N`` decisions of whole deals, in no particular order."""

    obs: npt.NDArray[np.float32]  # (N, F)
    masks: npt.NDArray[np.bool_]  # (N, A)
    actions: npt.NDArray[np.int64]  # (N,), what the teacher would do
    seats: npt.NDArray[np.int64]  # (N,), who decided
    points: npt.NDArray[np.int64]  # (N,), what the deal brought that seat in the end
    winners: npt.NDArray[np.int64]  # (N,), the seat that won the deal, -1 without a winner

    def __len__(self) -> int:
        return len(self.actions)


def collect_decisions(teacher: Policy, encoding: Encoding, deals: int, seed: int, noise: float = 0.0) -> Decisions:
    """Play deals with the teacher in every seat, and write down what it does.

    Args:
        teacher: the bot; its rules are played.
        encoding: what a decision is seen through.
        deals: how many deals, side by side.
        seed: seed of the deals, of the teacher's chance and of the noise.
        noise: share of moves that are replaced by a random one once the teacher has been asked, so that its
            answers in positions that it would not reach are learned too. It never drops and never prevents
            a declaration.
    """
    rules = teacher.rules
    rng = np.random.default_rng(seed)
    states = deal_many(rules, rng.integers(2**63, size=deals, dtype=np.uint64))
    deal_of = np.arange(deals)  # the deal of each row of `states`, which holds those still under way
    returns = np.zeros((deals, rules.num_players), dtype=np.int64)
    winners = np.full(deals, NO_SEAT, dtype=np.int64)
    parts: list[tuple[npt.NDArray[Any], ...]] = []
    decision = 0
    while len(states):
        seats = states["current_player"].astype(np.int64)
        views = player_views(states, seats)
        masks = legal_action_masks(states, rules)
        actions = teacher.act(views, masks, keys_for(seed, deal_of, seats, decision))
        parts.append((encoding.encode(views, rules), masks, actions, seats, deal_of))
        apply_actions(states, _with_noise(actions, masks, noise, rng), rules)
        over = states["phase"] == OVER
        returns[deal_of[over]] = states["returns"][over, : rules.num_players]
        winners[deal_of[over]] = states["winner"][over]
        states, deal_of = states[~over], deal_of[~over]
        decision += 1
    obs, all_masks, all_actions, all_seats, owners = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Decisions(obs, all_masks, all_actions, all_seats, returns[owners, all_seats], winners[owners])


def _with_noise(
    actions: npt.NDArray[np.int64], masks: npt.NDArray[np.bool_], noise: float, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """The actions, with a share of those that neither drop nor declare replaced by random legal ones."""
    if noise == 0.0:
        return actions
    allowed = masks.copy()
    allowed[:, DROP] = False
    allowed[:, DECLARE_BASE:NUM_ACTIONS] = False
    scores = np.where(allowed, rng.random(masks.shape), -1.0)
    replaced = (rng.random(len(actions)) < noise) & (actions < DECLARE_BASE) & (actions != DROP)
    return np.where(replaced, scores.argmax(axis=1), actions)
