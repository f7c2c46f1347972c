"""Deals played to their end by random legal actions inside one kernel, for benchmarks and broad tests."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paplu_env._jit import njit
from paplu_env.engine.actions import NUM_ACTIONS
from paplu_env.engine.arguments import as_seed, as_seeds
from paplu_env.engine.chance import below, draw_below
from paplu_env.engine.dealing import active_bits, deal_kernel
from paplu_env.engine.legal import Mask, mask_kernel
from paplu_env.engine.state import OVER, States, empty_states
from paplu_env.engine.transition import apply_kernel
from paplu_env.rules import RuleSet


def random_playouts(rules: RuleSet, deals: int, seed: int = 0) -> tuple[int, npt.NDArray[np.int64]]:
    """Play deals by actions drawn uniformly from the exact mask, on one thread.

    Args:
        seed: of the first deal; the second has ``seed + 1`` and so on. The choices follow from it too.

    Returns:
        The number of decisions, and how often each ending came, ``(8,)`` int64 by ending code.
    """
    states = empty_states(rules, 1)
    endings = np.zeros(8, dtype=np.int64)
    mask = np.empty(NUM_ACTIONS, dtype=np.bool_)
    everybody = active_bits(rules, 0, None)
    return int(_play_deals(states, 0, rules.packed, as_seed(seed), deals, 0, everybody, mask, endings)), endings


@njit
def play_out(states: States, i: int, rules: npt.NDArray[np.void], key: np.uint64, mask: Mask) -> int:
    """Play row ``i`` to its end by random legal actions; ``mask``, ``(A,)``, is written.

    Returns:
        The number of decisions.
    """
    decisions = 0
    while int(states[i]["phase"]) != OVER:
        mask_kernel(states, i, rules, mask)
        legal = 0
        for action in range(NUM_ACTIONS):
            legal += int(mask[action])
        key, rank = draw_below(key, legal)
        action = 0
        while rank > 0 or not mask[action]:
            rank -= int(mask[action])
            action += 1
        apply_kernel(states, i, action, rules)
        decisions += 1
    return decisions


@njit
def _play_deals(
    states: States,
    i: int,
    rules: npt.NDArray[np.void],
    seed: np.uint64,
    deals: int,
    first: int,
    everybody: int,
    mask: Mask,
    endings: npt.NDArray[np.int64],
) -> int:
    decisions = 0
    for deal in range(deals):
        number = seed + np.uint64(deal)
        deal_kernel(states, i, rules, number, first, everybody)
        decisions += play_out(states, i, rules, number, mask)
        endings[int(states[i]["ending"])] += 1
    return decisions


def random_actions(masks: npt.NDArray[np.integer] | Mask, keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """One action per row, drawn uniformly from those that its mask allows.

    Args:
        masks: ``(B, A)`` bool or int8; -1 is the answer for a row without a legal action.
        keys: ``(B,)`` uint64.

    Returns:
        ``(B,)`` int64.
    """
    actions = np.empty(len(masks), dtype=np.int64)
    _choose_rows(np.ascontiguousarray(masks).view(np.bool_), as_seeds(keys, "key", len(masks)), actions)
    return actions


@njit
def _choose_rows(masks: Mask, keys: npt.NDArray[np.uint64], actions: npt.NDArray[np.int64]) -> None:
    for i in range(len(actions)):
        actions[i] = _choose(masks[i], keys[i])


@njit
def _choose(mask: Mask, key: np.uint64) -> int:
    """A legal action drawn by a key, -1 if there is none."""
    legal = 0
    for action in range(NUM_ACTIONS):
        legal += int(mask[action])
    if legal == 0:
        return -1
    rank = below(key, legal)
    for action in range(NUM_ACTIONS):
        rank -= int(mask[action])
        if rank < 0:
            return action
    return -1
