"""`outs`, our rule agent: exact distance and live outs, and numbers fitted to played deals."""

from __future__ import annotations

import numpy as np

from paplu_env.bots.explanation import Judgement
from paplu_env.bots.outs.kernels import SCRATCH_ROWS, WORTHLESS, choose_kernel, judge_discards, judge_draw
from paplu_env.bots.outs.weights import Weights, shipped_weights
from paplu_env.bots.policy import Actions, Keys, Masks, Policy
from paplu_env.cards import NUM_FACES
from paplu_env.engine.actions import DECLARE_BASE, DISCARD_BASE, NUM_ACTIONS
from paplu_env.engine.state import DRAW, Views
from paplu_env.melds.fast_distance.distance_table import distance_table
from paplu_env.rules import RuleSet


class OutsAgent(Policy):
    """Keeps, of the hands with the lowest distance, the one that is worth most; `outs.kernels` tells how.

    It declares as soon as it can, and drops a hand whose estimated value is below the cost of the drop.
    With more than two seats it treats all others as the next player.

    Args:
        weights: the numbers to play by; if not given, those that ship with `outs`.
    """

    is_slow = True

    def __init__(self, rules: RuleSet | str = "points", weights: Weights | None = None, name: str = "outs") -> None:
        super().__init__(name, rules)
        self.weights = shipped_weights() if weights is None else weights

    def _choose(self, views: Views, masks: Masks, keys: Keys) -> Actions:
        actions = np.empty(len(views), dtype=np.int64)
        choose_kernel(views, masks, self.rules.packed, distance_table(), self.weights, actions)
        return actions

    def judge(self, views: Views, masks: Masks, keys: Keys) -> Judgement:
        """Values of what it compares: a draw with the open card, or the discards that it looked at.

        An open card that lowers the distance is taken without a comparison, and a complete hand is declared at once.
        """
        judgement = super().judge(views, masks, keys)
        masks = self._checked(views, masks, keys)
        values, scratch = np.full(NUM_ACTIONS, np.nan), np.empty((SCRATCH_ROWS, NUM_FACES), dtype=np.uint8)
        table, weights, r = distance_table(), self.weights, self.rules.packed[0]
        if int(views[0]["phase"]) == DRAW:
            judge_draw(views, 0, masks[0], r, table, weights, values, scratch)
        else:
            judge_discards(views, 0, masks[0], r, table, weights, values[DISCARD_BASE:DECLARE_BASE], scratch)
        judgement.values[:] = np.where(values > WORTHLESS, values, np.nan)
        return judgement
