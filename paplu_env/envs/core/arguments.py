"""Arguments that several environments take: options of batches, options of ``reset``, and actions."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

from paplu_env.engine.actions import NUM_ACTIONS
from paplu_env.envs.core.learner_seat import Seat, WhenIllegal
from paplu_env.errors import PapluError
from paplu_env.rules import RuleSet

Rules = RuleSet | str | Mapping[str, Any]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class BatchOptions(TypedDict, total=False):
    """What environments of many deals hand to `DealBatch` as it is; the defaults stand there."""

    encoding: str  # what an observation is, see `paplu_env.encoding`
    reward: str  # one of `paplu_env.envs.REWARDS`
    seat: Seat  # the learner's, or "random", by each deal's seed; seat 0 has the first turn
    illegal_action: WhenIllegal  # "forfeit" ends the deal and costs ``wrong_declare_points``; "raise" refuses it
    threads: int  # threads that share the deals; results do not depend on it


def check_batch_options(taker: str, options: Mapping[str, Any]) -> None:
    """Refuse an unknown keyword by the name of whom it was given to.

    Raises:
        TypeError: as Python raises it.
    """
    known = BatchOptions.__annotations__
    for name in options:
        if name not in known:
            options_known = ", ".join(known)
            raise TypeError(f"{taker}() got an unexpected keyword argument {name!r}: the options are {options_known}")


def check_reset_options(options: Mapping[str, Any] | None) -> None:
    """Refuse options of ``reset``: they would be gone at the next deal without a word.

    Raises:
        PapluError: there is one.
    """
    if options:
        raise PapluError(
            f"reset takes no option {', '.join(map(repr, options))}: rules, opponents and the like are arguments "
            "of the environment, so that they last over every deal"
        )


def read_action(action: Any) -> int:
    """An action as an int.

    Raises:
        PapluError: it is not one whole number 0..109.
    """
    try:
        number = operator.index(action)
    except TypeError:
        number = -1
    if isinstance(action, bool) or not 0 <= number < NUM_ACTIONS:
        raise PapluError(f"action {action!r}: give one whole number 0..{NUM_ACTIONS - 1}")
    return number


def read_actions(actions: Any, batch: int) -> Ints:
    """Actions as ``(batch,)`` int64, not yet known to be 0..109, see `check_range`.

    Raises:
        PapluError: they are no whole numbers, or not ``batch`` of them.
    """
    try:
        given = np.asarray(actions)
    except ValueError:
        raise PapluError(f"actions of unequal lengths: give {batch} whole numbers") from None
    if given.shape != (batch,) or given.dtype.kind not in "iu":
        raise PapluError(f"actions of shape {given.shape} and dtype {given.dtype}: give {batch} whole numbers")
    return given.astype(np.int64, copy=False)


def check_range(actions: Ints, ignored: Bools | None = None) -> None:
    """Refuse numbers that are no actions, naming the first one's environment.

    Args:
        ignored: ``(B,)``, environments whose actions mean nothing.

    Raises:
        PapluError: an action outside 0..109.
    """
    is_wrong = (actions < 0) | (actions >= NUM_ACTIONS)
    if ignored is not None:
        is_wrong &= ~ignored
    if is_wrong.any():
        first = int(is_wrong.argmax())
        raise PapluError(f"environment {first}: action {actions[first]}: actions are 0..{NUM_ACTIONS - 1}")
