"""What every environment asks about its learner: its seat, and how its illegal actions are met and explained."""

from __future__ import annotations

from typing import Final, Literal, NoReturn, TypeVar

import numpy as np
import numpy.typing as npt

from paplu_env.engine import player_view, why_illegal
from paplu_env.engine.actions import format_action
from paplu_env.engine.state import ENDING_NAMES, States
from paplu_env.engine.text import describe_view
from paplu_env.envs.core.kernels import ANY_SEAT
from paplu_env.errors import IllegalAction, InvalidRules, PapluError
from paplu_env.rules import RuleSet

Seat = int | Literal["random"]
WhenIllegal = Literal["forfeit", "raise"]
_Seats = TypeVar("_Seats", int, npt.NDArray[np.int64])

# How a deal ended, by the engine's codes and `kernels.FORFEIT`: as RULES.md 2.22 and 2.26 name it.
ENDINGS: Final = (*ENDING_NAMES, "forfeit")


def read_seat(seat: Seat, rules: RuleSet) -> int:
    """The learner's seat as a number, `ANY_SEAT` for "random".

    Raises:
        InvalidRules: the game has no such seat.
    """
    if seat == "random":
        return ANY_SEAT
    if isinstance(seat, bool) or not isinstance(seat, int) or not 0 <= seat < rules.num_players:
        raise InvalidRules(f"seat={seat!r}: give 0..{rules.num_players - 1} or 'random'")
    return seat


def check_illegal_action(illegal_action: str) -> None:
    """Refuse what is no way to meet an illegal action.

    Raises:
        PapluError: neither "forfeit" nor "raise".
    """
    if illegal_action not in ("forfeit", "raise"):
        raise PapluError(f"illegal_action={illegal_action!r}: choose forfeit or raise")


def place_in_line_up(seats: _Seats, learners: _Seats, rules: RuleSet) -> _Seats:
    """Where other seats stand in their learners' line-ups: 0 for the seat that plays directly after the learner.

    Args:
        seats: one seat or ``(N,)``, none of them its learner's.
        learners: the learners' seats, of the same shape.
    """
    step = int(rules.packed["step"][0])  # to the next seat; its own inverse, so multiplying counts the turns
    return (seats - learners) * step % rules.num_players - 1


def explain_illegal(states: States, i: int, action: int, rules: RuleSet) -> str:
    """What is wrong with an action in row ``i``, in words that tell no hidden card."""
    return f"{format_action(action)} is not legal: {why_illegal(states, i, action, rules)}"


def refuse(states: States, i: int, action: int, rules: RuleSet, where: str = "") -> NoReturn:
    """Refuse an action in row ``i``.

    Args:
        where: begins the message; it names the environment where there are several.

    Raises:
        IllegalAction: always, with the reason and what the seat to move sees.
    """
    seen = describe_view(player_view(states, i, int(states["current_player"][i])), 0)
    raise IllegalAction(f"{where}{explain_illegal(states, i, action, rules)} ({seen})")
