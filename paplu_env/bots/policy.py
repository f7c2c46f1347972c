"""What every bot is: a stateless answer to what a seat may know, for many games at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt

from paplu_env.bots.explain import Candidate, explain
from paplu_env.cards import format_card, format_hand
from paplu_env.engine import chance
from paplu_env.engine.actions import NUM_ACTIONS, format_action
from paplu_env.engine.state import NONE, PHASE_NAMES, States, Views
from paplu_env.errors import IllegalAction, PapluError, PolicyMismatch
from paplu_env.rules import RuleSet, as_rules

Masks = npt.NDArray[np.bool_]  # (B, A), True = legal
Keys = npt.NDArray[np.uint64]  # (B,), one key per decision: all the chance that a policy may use
Actions = npt.NDArray[np.int64]  # (B,)

_SHOWN_ACTIONS: Final = 12  # legal actions named in a message; more would hide its point


@dataclass(frozen=True)
class Judgement:
    """What a policy thinks of each action in one position; NaN where it thinks nothing."""

    values: npt.NDArray[np.float64]  # (A,), points per deal that it expects, as far as it compares them
    errors: npt.NDArray[np.float64]  # (A,), standard errors of the values, where they come from samples
    probabilities: npt.NDArray[np.float64]  # (A,), with which it would choose

    @classmethod
    def nothing(cls) -> Judgement:
        """All NaN, to be filled."""
        return cls(*(np.full(NUM_ACTIONS, np.nan) for _ in range(3)))


class Policy(ABC):
    """One way to play one rule set.

    A policy keeps nothing between calls: what it remembers it reads from the view's public log, and what
    it leaves to chance follows from the key. Equal arguments give equal answers, row by row, whatever the
    other rows are; so a policy may be shared between games and between threads.

    Attributes:
        name: what tables and records call it.
        rules: the rule set that it plays.
        is_slow: a decision takes the greater part of a millisecond or more; matches then spend more on the luck of
            the draws.
    """

    is_slow: ClassVar[bool] = False

    def __init__(self, name: str, rules: RuleSet | str) -> None:
        self.name = name
        self.rules = as_rules(rules)

    def act(self, views: Views, masks: Masks, keys: Keys) -> Actions:
        """One legal action per row, for the seat whose view it is.

        Args:
            views: ``(B,)``, each of the seat that is to move. Not modified.
            masks: ``(B, A)`` bool or 0/1 integers, the legal actions. Not modified.
            keys: ``(B,)`` uint64, a hash of (policy seed, deal, seat, decision), from which no card
                follows.

        Returns:
            ``(B,)`` int64, a new array.

        Raises:
            PolicyMismatch: views of another rule set.
            IllegalAction: a row in which nobody is to move, or an answer that its mask forbids.
            PapluError: arrays of other shapes.
        """
        masks = self._checked(views, masks, keys)
        return self._choose(views, masks, np.asarray(keys, dtype=np.uint64))

    def judge(self, views: Views, masks: Masks, keys: Keys) -> Judgement:
        """What the policy thinks of the actions in one position; `explain` puts it into a reader's terms.

        A policy that only decides gives its choice the probability 1 and knows no values.

        Args:
            views, masks, keys: as for `act`, of one row.
        """
        judgement = Judgement.nothing()
        judgement.probabilities[:] = 0.0
        judgement.probabilities[int(self.act(views, masks, keys)[0])] = 1.0
        return judgement

    def explain(self, view: Views, mask: Masks | None = None, key: int = 0) -> list[Candidate]:
        """Why it would do what it would do: see `bots.explain.explain`."""
        return explain(self, view, mask, key)

    def within(self, worlds: int | None = None, milliseconds: float | None = None) -> Policy:
        """The same policy under a budget a decision; itself if it has none to spend, or none is given.

        Args:
            worlds: worlds that a search plays at most.
            milliseconds: time that a search takes; its answers are then not reproducible.

        Raises:
            PapluError: a budget out of range.
        """
        return self

    @abstractmethod
    def _choose(self, views: Views, masks: Masks, keys: Keys) -> Actions:
        """The answer of `act`; its arguments have been checked."""

    def _checked(self, views: Views, masks: Masks, keys: Keys) -> Masks:
        """The masks as bool, once everything fits together."""
        batch = len(views)
        if masks.shape != (batch, NUM_ACTIONS) or keys.shape != (batch,):
            raise PapluError(
                f"{self.name}: {batch} views need masks of shape ({batch}, {NUM_ACTIONS}) and keys of shape "
                f"({batch},), not {masks.shape} and {keys.shape}"
            )
        if not np.all(views["rules_id"] == self.rules.packed["id"][0]):
            raise PolicyMismatch(
                f"{self.name} was made for the rules {self.rules}, these views are of another rule set: "
                "make the policy for the rules of the table, as in make_policy(name, rules)"
            )
        masks = np.ascontiguousarray(masks, dtype=np.bool_)
        idle = np.flatnonzero(~masks.any(axis=1))
        if idle.size:
            row = int(idle[0])
            raise IllegalAction(
                f"{self.name}, row {row}: no action is legal, so this seat isn't to move ({describe_view(views, row)})"
            )
        return masks

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name} for {self.rules}>"


def decision_keys(policy_seed: int, deals: npt.ArrayLike, rows: States | Views) -> Keys:
    """Keys of the decisions that are due, one per row: the same in matches, environments and at tables.

    Args:
        policy_seed: 0..2**64-1, see `engine.chance.policy_seed_of`; never the seed of the deals.
        deals: ``(B,)``, numbers of the deals, from 0.
        rows: ``(B,)`` states or views.

    Returns:
        ``(B,)`` uint64.
    """
    return chance.decision_keys(policy_seed, deals, rows["current_player"], rows["draws"], rows["phase"])


def check_answers(name: str, answers: Actions, views: Views, masks: Masks) -> None:
    """Refuse answers that the masks forbid, naming the first with its position.

    Raises:
        IllegalAction: an id outside 0..A-1, or an action that is not legal.
    """
    inside = (answers >= 0) & (answers < NUM_ACTIONS)
    legal = masks[np.arange(len(answers)), np.where(inside, answers, 0)] & inside
    wrong = np.flatnonzero(~legal)
    if not wrong.size:
        return
    row = int(wrong[0])
    action = int(answers[row])
    said = format_action(action) if inside[row] else f"an unknown action (ids are 0..{NUM_ACTIONS - 1})"
    choices = np.flatnonzero(masks[row])
    legal_text = ", ".join(format_action(int(choice)) for choice in choices[:_SHOWN_ACTIONS])
    more = f" and {choices.size - _SHOWN_ACTIONS} more" if choices.size > _SHOWN_ACTIONS else ""
    raise IllegalAction(
        f"{name}, row {row}: answered {action}, {said}, which is not legal in {describe_view(views, row)}; "
        f"legal: {legal_text}{more}"
    )


def describe_view(views: Views, i: int) -> str:
    """What a seat sees, in one line, for messages."""
    view = views[i]
    pile_size = int(view["pile_size"])
    phase = int(view["phase"])
    parts = [
        f"seat {int(view['seat'])}",
        f"phase {PHASE_NAMES[phase]}",
        f"draw {int(view['draws'])}",
        f"hand {format_hand(view['hand'])}",
        f"open {format_card(int(view['pile'][pile_size - 1])) if pile_size else 'none'}",
        f"indicator {format_card(int(view['indicator']))}",
    ]
    if int(view["taken"]) != NONE:
        parts.append(f"just taken {format_card(int(view['taken']))}")
    return ", ".join(parts)
