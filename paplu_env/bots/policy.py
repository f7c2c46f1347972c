"""What every bot is: a stateless answer to what a seat may know, for many games at once."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt

from paplu_env import engine
from paplu_env.bots.explanation import NOT_TOLD, Candidate, Judgement, judged_candidates, known_candidates
from paplu_env.bots.search.budget import check_budget
from paplu_env.engine import chance
from paplu_env.engine.actions import NUM_ACTIONS, format_action
from paplu_env.engine.state import States, Views
from paplu_env.engine.text import describe_view
from paplu_env.errors import IllegalAction, PapluError, PolicyMismatch
from paplu_env.rules import RuleSet, as_rules

Masks = npt.NDArray[np.bool_]  # (B, A), True = legal
Keys = npt.NDArray[np.uint64]  # (B,), one key per decision: all the chance that a policy may use
Actions = npt.NDArray[np.int64]  # (B,)

_SHOWN_ACTIONS: Final = 12  # legal actions named in a message; more would hide its point


class Policy(ABC):
    """One way to play one rule set. A bot of your own is a subclass with a method ``_choose``.

    A policy keeps nothing between calls: what it remembers it reads from the view's public log, and its
    random choices follow from the key. Equal arguments give equal answers, row by row, whatever the
    other rows are, so games and threads may share one policy.

    Attributes:
        name: what tables and records call it.
        rules: the rule set that it plays.
        is_slow: whether a decision takes about a millisecond or more; matches then spend more time on the luck of
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
        """What the policy thinks of the actions in one position; `explain` tells it to a reader.

        A policy that only decides gives its choice the probability 1 and knows no values; this is the default.

        Args:
            views, masks, keys: as for `act`, of one row.
        """
        judgement = Judgement.nothing(int(self.act(views, masks, keys)[0]))
        judgement.probabilities[:] = 0.0
        judgement.probabilities[judgement.action] = 1.0
        return judgement

    def explain(self, view: Views, mask: Masks | None = None, key: int = 0) -> list[Candidate]:
        """Why the policy would do what it would do: its judgement of each legal action, with what the solver knows.

        Args:
            view: ``(1,)``, of the seat that is to move, made for the policy's rules. Not modified.
            mask: ``(1, A)`` bool, the legal actions; if not given, they are worked out from the view.
            key: the decision's key, which a policy that plays by chance answers to.

        Returns:
            One candidate per legal action, ordered by probability and then by value.

        Raises:
            PolicyMismatch: a view of another rule set.
            IllegalAction: the seat isn't to move.
        """
        return self.act_and_explain(view, mask, key)[1]

    def act_and_explain(self, view: Views, mask: Masks | None = None, key: int = 0) -> tuple[int, list[Candidate]]:
        """The answer of `act` and that of `explain`, for one position and from one judgement.

        Args, and what is raised, are those of `explain`. A policy with a time per decision keeps to it, the
        explanation included.
        """
        start = time.monotonic()
        masks = legal_masks(view, self.rules) if mask is None else mask
        keys = np.array([key], dtype=np.uint64)
        masks = self._checked(view, masks, keys)
        known = known_candidates(view, masks, self.rules)
        judgement = self._with_less_time(time.monotonic() - start).judge(view, masks, keys)
        action = judgement.action if judgement.action != NOT_TOLD else int(self.act(view, masks, keys)[0])
        return action, judged_candidates(known, judgement)

    def within(self, worlds: int | None = None, milliseconds: float | None = None) -> Policy:
        """The same policy with a budget per decision; the policy itself if it spends none, or none is given.

        Args:
            worlds: the most worlds that a search plays.
            milliseconds: how long a search goes on; its answers are then not reproducible.

        Raises:
            PapluError: a budget out of range.
        """
        check_budget(worlds, milliseconds)
        return self

    def _with_less_time(self, spent: float) -> Policy:
        """The same policy, whose next decision has ``spent`` fewer seconds; itself if it doesn't look at the clock."""
        return self

    @abstractmethod
    def _choose(self, views: Views, masks: Masks, keys: Keys) -> Actions:
        """The answer of `act`, whose arguments have been checked: views, masks as bool, keys as uint64."""

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


def legal_masks(views: Views, rules: RuleSet) -> Masks:
    """``(1, A)`` bool, what the seat of one view may do."""
    # What is legal depends on what the seat sees, so any world that looks like the view will do.
    return engine.legal_action_masks(engine.sample_world(views, 0, rules), rules)


def check_answers(name: str, answers: Actions, views: Views, masks: Masks, is_shown: bool = True) -> None:
    """Refuse answers that the masks forbid; the message names the first of them and its position.

    Args:
        name: of the policy, for the message.
        answers: ``(B,)`` int64.
        views: ``(B,)``.
        masks: ``(B, A)`` bool.
        is_shown: whether the message tells what the policy's seat sees; False where somebody else's side reads it.

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
    if not is_shown:
        raise IllegalAction(
            f"{name}, an opponent, answered {action}, {said}, which is not legal at seat {int(views['seat'][row])}; "
            "a match against it (evaluation.play_match) says in which position"
        )
    choices = np.flatnonzero(masks[row])
    legal_text = ", ".join(format_action(int(choice)) for choice in choices[:_SHOWN_ACTIONS])
    more = f" and {choices.size - _SHOWN_ACTIONS} more" if choices.size > _SHOWN_ACTIONS else ""
    raise IllegalAction(
        f"{name}, row {row}: answered {action}, {said}, which is not legal in {describe_view(views, row)}; "
        f"legal: {legal_text}{more}"
    )
