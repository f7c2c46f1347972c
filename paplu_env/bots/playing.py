"""Deals played to the end by policies, side by side: the loop behind matches, fits and collected decisions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from paplu_env import engine
from paplu_env.bots.policy import Actions, Keys, Masks, Policy, check_answers
from paplu_env.engine.state import OVER, States, Views
from paplu_env.errors import IllegalAction
from paplu_env.workers import check_stop

Rows = npt.NDArray[np.int64]
KeysOf = Callable[[Rows, States], Keys]  # from the rows that are due and their states, one key per row


@dataclass
class Step:
    """One action in each of the ``N`` deals that are still on: decided, and not yet done."""

    rows: Rows  # (N,), places of these deals among all of them
    states: States  # (N,), before the action; changed in place when the loop goes on
    seats: npt.NDArray[np.int64]  # (N,), who is to move
    players: npt.NDArray[np.int64]  # (N,), the place of its policy in the list
    views: Views  # (N,), what the seat knows
    masks: Masks  # (N, A), what it may do
    actions: Actions  # (N,), what its policy answers; whoever watches may put other legal actions here


def play_steps(
    states: States,
    policies: Sequence[Policy],
    keys_of: KeysOf,
    seating: npt.NDArray[np.int64] | None = None,
    name_of: Callable[[int], str] = "deal {}".format,
) -> Iterator[Step]:
    """Play deals to their ends, one action in each of them at a time.

    The deals move on while the caller iterates: it sees every step before its actions are done, and all deals are
    over once there are no more steps. A caller with nothing to see writes `play_to_end`.

    Args:
        states: ``(B,)``, anywhere between the deal and the end; played in place, and complete when the steps end.
        policies: made for the rules of the states.
        keys_of: gives the keys of the decisions that are due.
        seating: ``(B, P)``, for every deal and seat the place of its policy in the list; if not given, each
            policy sits at the seat of its own place.
        name_of: what an error calls the deal of a row.

    Raises:
        IllegalAction: an action that isn't legal; it says whose it is and in which deal.
    """
    rules = policies[0].rules
    rows = np.flatnonzero(states["phase"] != OVER)
    going = states if rows.size == len(states) else states[rows]
    while rows.size:
        seats = going["current_player"].astype(np.int64)
        players = seats if seating is None else seating[rows, seats]
        views = engine.player_views(going, seats)
        masks = engine.legal_action_masks(going, rules)
        keys = keys_of(rows, going)
        actions = np.empty(rows.size, dtype=np.int64)
        for player, policy in enumerate(policies):
            own = np.flatnonzero(players == player)
            if own.size:
                check_stop()
                actions[own] = policy.act(views[own], masks[own], keys[own])
        step = Step(rows, going, seats, players, views, masks, actions)
        yield step
        _apply(step, policies, name_of)
        over = going["phase"] == OVER
        if over.any():
            if going is not states:
                states[rows[over]] = going[over]
            rows, going = rows[~over], going[~over]


def play_to_end(
    states: States, policies: Sequence[Policy], keys_of: KeysOf, seating: npt.NDArray[np.int64] | None = None
) -> None:
    """As `play_steps`, with nobody looking on."""
    for _ in play_steps(states, policies, keys_of, seating):
        pass


def _apply(step: Step, policies: Sequence[Policy], name_of: Callable[[int], str]) -> None:
    """Apply one action per deal; an illegal one is reported with who played it and in which deal."""
    rules = policies[0].rules
    missing = np.flatnonzero(step.actions < 0)[:1]
    if missing.size:  # the engine would leave the row alone, and the deal would never end
        name = policies[step.players[missing[0]]].name
        check_answers(name, step.actions[missing], step.views[missing], step.masks[missing])
    try:
        engine.apply_actions(step.states, step.actions, rules)
    except IllegalAction as error:
        answers = enumerate(step.actions.tolist())
        wrong = next(i for i, action in answers if engine.why_illegal(step.states, i, action, rules))
        policy = policies[step.players[wrong]]
        raise IllegalAction(f"{policy.name} in {name_of(int(step.rows[wrong]))}: {error}") from error
