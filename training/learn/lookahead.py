"""What the likeliest actions would have led to: every one of them is tried in the deal as it really lies.

A critic that sees the hidden cards can be asked about any position. So a learner need not wait for the end of the
deal to know what an action was worth: the action is done, the others play their turns as the light player does, and
the critic is asked at the next decision. All actions of a decision share the luck of their deal, which therefore
cancels when they are compared. What a seat may not know enters the comparison as it enters any outcome, and is
averaged over by learning: the policy itself never sees it.

This is a policy gradient over all actions (Ciosek and Whiteson, "Expected Policy Gradients", 2018; Foerster et al.,
"Counterfactual Multi-Agent Policy Gradients", 2018), with one step of the rules between the policy and the critic.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from paplu_env._jit import njit
from paplu_env.bots.search.playout_policy import SCRATCH_ROWS, UNKNOWN, play_on
from paplu_env.bots.search.solver_cache import empty_solver_cache
from paplu_env.cards import NUM_FACES
from paplu_env.encoding import Encoding, HiddenLayout
from paplu_env.engine import apply_actions, player_views
from paplu_env.engine.state import OVER, States
from paplu_env.envs.core.rewards import Reward
from paplu_env.envs.sb3 import PapluVecEnv
from paplu_env.melds.fast_distance.distance_table import Table, distance_table
from training.learn.network import ActorCritic

LEAST_PROBABILITY: Final = 0.01  # of an action that is tried: rarer ones would hardly be moved by what is found


class Tried(NamedTuple):
    """The actions of each decision that were tried; unused places have the probability 0."""

    actions: torch.Tensor  # (N, K) int64
    probabilities: torch.Tensor  # (N, K) when they were tried
    gains: torch.Tensor  # (N, K) value above the mean of the row, in units of the reward; 0 without a comparison


def try_actions(
    parts: list[PapluVecEnv],
    net: ActorCritic,
    log_probs: torch.Tensor,
    count: int,
    encoding: Encoding,
    layout: HiddenLayout,
    reward: str,
) -> Tried:
    """Try the likeliest actions of every learner's decision that is due.

    Args:
        parts: the environments, in the order of the rows.
        net: has a critic of this hidden layout.
        log_probs: ``(N, A)`` of the policy, illegal actions at (nearly) no probability.
        count: ``K``, actions of a decision at most.
    """
    top = torch.topk(log_probs, count, dim=1)
    probabilities = top.values.exp()
    probabilities = torch.where(probabilities >= LEAST_PROBABILITY, probabilities, 0.0)
    is_tried = (probabilities > 0) & ((probabilities > 0).sum(dim=1, keepdim=True) > 1)
    values = torch.zeros(len(log_probs), count)
    rows, places = is_tried.nonzero(as_tuple=True)
    actions = top.indices[rows, places]
    found, start = [], 0
    for part in parts:
        here = (rows >= start) & (rows < start + part.num_envs)
        found.append(_values(part, net, rows[here] - start, actions[here], encoding, layout, reward))
        start += part.num_envs
    values[rows, places] = torch.cat(found)
    weight = probabilities / probabilities.sum(dim=1, keepdim=True).clamp_min(LEAST_PROBABILITY)
    gains = torch.where(is_tried, values - (weight * values).sum(dim=1, keepdim=True), 0.0)
    return Tried(top.indices, probabilities, gains)


def _values(
    env: PapluVecEnv,
    net: ActorCritic,
    rows: torch.Tensor,
    actions: torch.Tensor,
    encoding: Encoding,
    layout: HiddenLayout,
    reward: str,
) -> torch.Tensor:
    """``(B,)`` what the deals of these rows are worth to their learners after these actions."""
    rules = env.rules
    states, seats = (part[rows.numpy()] for part in env.positions())
    apply_actions(states, actions.numpy(), rules)
    _play_others(states, seats, rules.packed, distance_table())
    is_over = states["phase"] == OVER
    points = states["returns"][np.arange(len(states)), seats].astype(np.int64)
    paid = Reward(reward, rules).final(points, states["winner"].astype(np.int64), seats)
    values = torch.from_numpy(np.where(is_over, paid, 0.0).astype(np.float32))
    going = np.flatnonzero(~is_over)
    if going.size:
        states, seats = states[going], seats[going]
        obs = torch.from_numpy(encoding.encode(player_views(states, seats), rules))
        hidden = torch.from_numpy(layout.encode(states, seats, rules))
        values[torch.from_numpy(going)] = net.values(obs, hidden)
    return values


@njit
def _play_others(states: States, seats: npt.NDArray[np.int64], rules: Any, table: Table) -> None:
    """Play every row on until its seat is to move or the deal is over; drawing, a seat stays to move."""
    distances = np.empty(int(rules[0]["num_players"]), dtype=np.int64)
    scratch, cache = np.empty((SCRATCH_ROWS, NUM_FACES), dtype=np.uint8), empty_solver_cache(int(rules[0]["hand_size"]))
    for i in range(len(states)):
        distances[:] = UNKNOWN
        while int(states[i]["phase"]) != OVER and int(states[i]["current_player"]) != int(seats[i]):
            play_on(states, i, 1, rules, table, distances, cache, scratch)
