"""Why a policy would do something: each legal action with what the policy thinks of it and what the solver knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from paplu_env.bots.outs.take_odds import interest, take_chance
from paplu_env.bots.outs.weights import shipped_weights
from paplu_env.cards import Counts
from paplu_env.engine.actions import DECLARE_BASE, DISCARD_BASE, DRAW_CLOSED, NUM_ACTIONS, TAKE_OPEN, format_action
from paplu_env.engine.piles import open_card_of_view
from paplu_env.engine.state import DISCARD, Views
from paplu_env.engine.unseen_cards import unseen
from paplu_env.melds import distance, outs
from paplu_env.rules import RuleSet

NOT_TOLD: Final = -1  # the action of a judgement that doesn't say what the policy does


@dataclass(frozen=True)
class Judgement:
    """What a policy thinks of each action in one position; NaN where it has no opinion."""

    values: npt.NDArray[np.float64]  # (A,), points per deal that it expects, for the actions that it compares
    errors: npt.NDArray[np.float64]  # (A,), standard errors of the values, where they come from samples
    probabilities: npt.NDArray[np.float64]  # (A,), with which it would choose each action
    action: int = NOT_TOLD  # what it does here, by the decision's key; a policy may leave it to `Policy.act`

    @classmethod
    def nothing(cls, action: int = NOT_TOLD) -> Judgement:
        """All NaN, to be filled."""
        values, errors, probabilities = (np.full(NUM_ACTIONS, np.nan) for _ in range(3))
        return cls(values, errors, probabilities, action)


@dataclass(frozen=True)
class Candidate:
    """One legal action, as the policy and the solver see it."""

    action: int
    probability: float  # with which the policy would choose it
    value: float | None  # points per deal that the policy expects of it; None if it doesn't say
    error: float | None  # standard error of the value, where it comes from samples
    distance: int | None  # of the best hand that the action leaves; None where it leaves none
    outs: int | None  # unseen copies that lower that distance
    risk: float | None  # estimated chance that the next player takes the thrown card

    def __str__(self) -> str:
        """The candidate in a line of words."""
        words = [format_action(self.action)]
        if self.value is not None:
            words.append(f"worth {self.value:+.1f}" + (f" ± {self.error:.1f}" if self.error else ""))
        words.append(f"chosen {self.probability:.0%}")
        if self.distance is not None:
            words.append(f"{self.distance} from complete")
        if self.outs is not None:
            words.append(f"{self.outs} outs")
        if self.risk is not None:
            words.append(f"the next takes it {self.risk:.0%}")
        return ", ".join(words)


def known_candidates(views: Views, masks: npt.NDArray[np.bool_], rules: RuleSet) -> list[Candidate]:
    """The legal actions of one position with what the solver knows of them, whoever plays.

    Args:
        views: ``(1,)``, of the seat that is to move. Not modified.
        masks: ``(1, A)`` bool, the legal actions.
        rules: of the views.

    Returns:
        One candidate per legal action, ids rising. All of them rest on the view alone: the distance and the outs are
        those of the seat's own hand, the risk is what `outs` estimates.
    """
    candidates = []
    for action in np.flatnonzero(masks[0]).tolist():
        after, live = _hand_after(views, action, rules)
        risk = _risk(views, action - DISCARD_BASE, rules) if DISCARD_BASE <= action < DECLARE_BASE else None
        candidates.append(Candidate(action, 0.0, None, None, after, live, risk))
    return candidates


def judged_candidates(known: Sequence[Candidate], judgement: Judgement) -> list[Candidate]:
    """Candidates with what a policy thinks of them, ordered by probability and then by value."""
    candidates = [
        replace(
            each,
            probability=float(np.nan_to_num(judgement.probabilities[each.action])),
            value=_known(judgement.values[each.action]),
            error=_known(judgement.errors[each.action]),
        )
        for each in known
    ]
    return sorted(candidates, key=lambda each: (-each.probability, each.value is None, -(each.value or 0.0)))


def _known(number: float) -> float | None:
    return None if np.isnan(number) else float(number)


def _hand_after(views: Views, action: int, rules: RuleSet) -> tuple[int | None, int | None]:
    """Distance and live outs of the hand that an action leaves, after the best discard if one is still to come."""
    view = views[0]
    hand, wild = np.array(view["hand"]), int(view["wild"])
    if action == DRAW_CLOSED:
        return _distance_and_outs(hand, views, rules)
    if action == TAKE_OPEN:
        hand[open_card_of_view(view)] += 1
        return int(distance(hand, wild, rules)), None
    if int(view["phase"]) == DISCARD:
        hand[(action - DISCARD_BASE) % (DECLARE_BASE - DISCARD_BASE)] -= 1
        return _distance_and_outs(hand, views, rules)
    return None, None


def _distance_and_outs(hand: Counts, views: Views, rules: RuleSet) -> tuple[int, int]:
    wild = int(views[0]["wild"])
    return int(distance(hand, wild, rules)), int(outs(hand, wild, unseen(views, 0, rules), rules).sum())


def _risk(views: Views, face: int, rules: RuleSet) -> float:
    view = views[0]
    draws = int(view["drew"][int(view["seat"])])
    wanted, unwanted = interest(view)
    left = unseen(views, 0, rules)
    odds = shipped_weights().odds
    return float(take_chance(face, int(view["wild"]), left, int(wanted), int(unwanted), draws, odds))
