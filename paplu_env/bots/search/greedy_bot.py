"""`light`, the greedy player of `playout_policy` as a bot: lowest distance, then most live outs, at little cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from paplu_env._jit import as_int64, lowest_bit, njit
from paplu_env.bots.policy import Actions, Keys, Masks, Policy
from paplu_env.bots.search.playout_policy import LIVE, SCRATCH_ROWS, light_throw
from paplu_env.cards import NUM_FACES
from paplu_env.engine.actions import DECLARE_BASE, DISCARD_BASE, DRAW_CLOSED, TAKE_OPEN
from paplu_env.engine.piles import open_card_of_view
from paplu_env.engine.state import DRAW, Views
from paplu_env.engine.unseen_cards import unseen_kernel
from paplu_env.melds.fast_distance.distance_kernels import distance_kernel
from paplu_env.melds.fast_distance.distance_table import Table, distance_table


class LightAgent(Policy):
    """Takes the open card if that lowers the distance, declares at once, never drops.

    Of the cards that keep the distance lowest it throws the one that leaves most outs, counting points a little.
    Against `outs` it loses a point or two per deal, in a hundredth of the time: an opponent to train against.
    """

    def _choose(self, views: Views, masks: Masks, keys: Keys) -> Actions:
        actions = np.empty(len(views), dtype=np.int64)
        _choose_kernel(views, masks, self.rules.packed, distance_table(), actions)
        return actions


@njit
def _choose_kernel(
    views: Any, masks: npt.NDArray[np.bool_], rules: Any, table: Table, actions: npt.NDArray[np.int64]
) -> None:
    """Write one action per view. Unchecked: every row's seat is to move."""
    r = rules[0]
    hand = np.empty(NUM_FACES, dtype=np.uint8)
    scratch = np.empty((SCRATCH_ROWS, NUM_FACES), dtype=np.uint8)
    for i in range(len(views)):
        view, mask = views[i], masks[i]
        wild = as_int64(int(view["wild"]))
        for face in range(NUM_FACES):
            hand[face] = view["hand"][face]
        if int(view["phase"]) == DRAW:
            actions[i] = DRAW_CLOSED
            if mask[TAKE_OPEN]:
                before = int(distance_kernel(hand, wild, r, table))
                hand[open_card_of_view(view)] += 1
                if int(distance_kernel(hand, wild, r, table)) < before:
                    actions[i] = TAKE_OPEN
            continue
        finish, blocked = as_int64(0), as_int64(0)
        for face in range(NUM_FACES):
            if mask[DECLARE_BASE + face] and int(view["declarable"]) >> face & 1:
                finish |= 1 << face
            if int(hand[face]) and not mask[DISCARD_BASE + face]:
                blocked |= 1 << face
        if finish:
            actions[i] = DECLARE_BASE + lowest_bit(finish)
        else:
            unseen_kernel(views, i, r, scratch[LIVE])
            thrown, _ = light_throw(hand, wild, blocked, r, table, scratch)
            actions[i] = DISCARD_BASE + thrown
