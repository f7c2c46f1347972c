"""The rule agents as policies: those of BASELINES.md 2 by their published names, and the one behind the easy tier."""

from __future__ import annotations

from typing import Final

import numpy as np

from paplu_env.bots.policy import Actions, Keys, Masks, Policy
from paplu_env.bots.published.kernels import (
    LAPSING,
    MINDIST,
    MINDIST_MINSCORE,
    MINDIST_OPP,
    MINSCORE,
    RANDOM,
    choose_kernel,
)
from paplu_env.engine.state import Views
from paplu_env.errors import PapluError
from paplu_env.melds.fast_distance.distance_table import distance_table
from paplu_env.rules import RuleSet

_AGENTS: Final = {
    "random": RANDOM,
    "minscore": MINSCORE,
    "mindist": MINDIST,
    "mindist_minscore": MINDIST_MINSCORE,
    "mindist_opp": MINDIST_OPP,
    "mindist_lapsing": LAPSING,  # not published: the easy tier
}


class RuleAgent(Policy):
    """A rule agent; all of them declare as soon as they can.

    A card is *left over* if throwing it keeps the agent's metric lowest; unless something else is
    said, the one worth most points is thrown, the lowest face of equals. The thrifty agents, `mindist_minscore`
    and `mindist_opp`, throw the one worth fewest when the distance has just fallen. After taking a card from the
    pile every agent throws as if its metric had fallen. Points are those that a loser pays, so they are capped.

    - ``random``: drops one turn in three where drops are allowed, takes the open card one time in two,
      throws any card.
    - ``minscore``: drops at the cap; takes the open card for 3 points or a complete hand; throws a
      left-over card if the points fall, else the drawn card.
    - ``mindist``: drops at a distance over 4; takes the open card if the distance falls; throws a
      left-over card if it falls, else the drawn card.
    - ``mindist_minscore``: as ``mindist``, but with the distance unchanged it compares the points of the
      fourteen cards, nothing thrown, with the fewest after a discard, and throws what the latter leaves
      over; if no discard is better, the drawn card.
    - ``mindist_opp``: as ``mindist``, but with the distance unchanged it throws the left-over card worth
      most among those related to something that others threw, or to nothing that they took; if there is none,
      among all left-over cards. *Related* is odd on purpose, see `published.kernels.RELATED`.
    - ``mindist_lapsing``: ``mindist`` that never drops and, in one decision of four, doesn't look: it draws from the
      stock, or throws any card that isn't wild.

    The study's own code calls left over what lies outside the one arrangement that its search meets
    first, which keeps natural runs together; these agents go by the definition, so that their answers
    follow from the cards alone. That makes ``mindist_opp``, which throws such a card nearly every turn,
    about two points a deal weaker than the study's, and changes the others little.

    Drops happen only at an agent's own first turn, ``random`` excepted. With more than two seats
    ``mindist_opp`` treats all others as its opponent.

    Args:
        name: what it is called.
        rules: what it plays.
        plays: which of these agents it is; the one of that name if not given. The frozen tiers have names of their
            own.

    Raises:
        PapluError: there is no such agent.
    """

    def __init__(self, name: str, rules: RuleSet | str = "points", plays: str | None = None) -> None:
        super().__init__(name, rules)
        agent = _AGENTS.get(name if plays is None else plays)
        if agent is None:
            raise PapluError(f"there is no rule agent {plays or name!r}: the rule agents are {', '.join(_AGENTS)}")
        self.agent = agent

    def _choose(self, views: Views, masks: Masks, keys: Keys) -> Actions:
        actions = np.empty(len(views), dtype=np.int64)
        choose_kernel(self.agent, views, masks, keys, self.rules.packed, distance_table(), actions)
        return actions
