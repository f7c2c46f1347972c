"""Why a policy would do something: its candidate actions with what it thinks of them and what the solver knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paplu_env import engine
from paplu_env.bots.outs.take_odds import interest, take_chance
from paplu_env.bots.outs.weights import shipped_weights
from paplu_env.cards import Counts
from paplu_env.engine.actions import DECLARE_BASE, DISCARD_BASE, DRAW_CLOSED, TAKE_OPEN, format_action
from paplu_env.engine.piles import open_card_of_view
from paplu_env.engine.state import DISCARD, Views
from paplu_env.engine.unseen_cards import unseen
from paplu_env.melds import distance, outs

if TYPE_CHECKING:
    from paplu_env.bots.policy import Policy


@dataclass(frozen=True)
class Candidate:
    """One legal action, as the policy and the solver see it."""

    action: int
    probability: float  # with which the policy would choose it
    value: float | None  # points per deal that the policy expects of it, None if it doesn't say
    error: float | None  # standard error of the value, where it comes from samples
    distance: int | None  # of the hand that it leaves at best, None where it leaves none
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


def explain(policy: Policy, views: Views, masks: np.ndarray | None = None, key: int = 0) -> list[Candidate]:
    """The legal actions of one position, the policy's favourite first.

    Args:
        views: ``(1,)``, of the seat that is to move, made for the policy's rules. Not modified.
        masks: ``(1, A)`` bool, the legal actions; if not given, they are worked out from the view.
        key: the decision's key, which a policy that plays by chance answers to.

    Returns:
        One candidate per legal action, by probability and then by value. All of them rest on the view
        alone: the distance and the outs are of the seat's own hand, the risk is that of `outs`.

    Raises:
        PolicyMismatch: views of another rule set.
        IllegalAction: the seat isn't to move.
    """
    if masks is None:
        # What is legal depends on what the seat sees, so any world that looks like this will do.
        masks = engine.legal_action_masks(engine.sample_world(views, key, policy.rules), policy.rules)
    judgement = policy.judge(views, masks, np.array([key], dtype=np.uint64))
    candidates = []
    for action in np.flatnonzero(masks[0]).tolist():
        after, live = _hand_after(policy, views, action)
        candidates.append(
            Candidate(
                action=action,
                probability=float(np.nan_to_num(judgement.probabilities[action])),
                value=_known(judgement.values[action]),
                error=_known(judgement.errors[action]),
                distance=after,
                outs=live,
                risk=_risk(policy, views, action - DISCARD_BASE) if DISCARD_BASE <= action < DECLARE_BASE else None,
            )
        )
    return sorted(candidates, key=lambda each: (-each.probability, each.value is None, -(each.value or 0.0)))


def _known(number: float) -> float | None:
    return None if np.isnan(number) else float(number)


def _hand_after(policy: Policy, views: Views, action: int) -> tuple[int | None, int | None]:
    """Distance and live outs of the hand that an action leaves, after the best discard if one is still to come."""
    rules, view = policy.rules, views[0]
    hand, wild = np.array(view["hand"]), int(view["wild"])
    if action == DRAW_CLOSED:
        return _nearest(hand, views, policy)
    if action == TAKE_OPEN:
        hand[open_card_of_view(view)] += 1
        return int(distance(hand, wild, rules)), None
    if int(view["phase"]) == DISCARD:
        hand[(action - DISCARD_BASE) % (DECLARE_BASE - DISCARD_BASE)] -= 1
        return _nearest(hand, views, policy)
    return None, None


def _nearest(hand: Counts, views: Views, policy: Policy) -> tuple[int, int]:
    rules, wild = policy.rules, int(views[0]["wild"])
    return int(distance(hand, wild, rules)), int(outs(hand, wild, unseen(views, 0, rules), rules).sum())


def _risk(policy: Policy, views: Views, face: int) -> float:
    view = views[0]
    draws = int(view["drew"][int(view["seat"])])
    wanted, unwanted = interest(view)
    left = unseen(views, 0, policy.rules)
    odds = shipped_weights().odds
    return float(take_chance(face, int(view["wild"]), left, int(wanted), int(unwanted), draws, odds))
