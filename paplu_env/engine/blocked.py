"""The card just taken from the open pile: it may not be thrown in the same turn (RULES.md 1.5), and all know of it.

Both follow from the option ``block_taken_card``. Copies of a face can't be told apart, so where a second one is
held, that one may go, and the copy that stays is the one taken.
"""

from __future__ import annotations

from paplu_env._jit import accessor
from paplu_env.cards import Counts
from paplu_env.engine.state import NONE
from paplu_env.rules import RulesRow


@accessor
def blocked_face(taken: int, r: RulesRow) -> int:
    """The face of which one copy must stay in the hand this turn, `NONE` if there is none.

    Args:
        taken: face taken from the open pile this turn, `NONE` if none was.
    """
    return taken if int(r["block_taken_card"]) else NONE


@accessor
def unthrowable(hand: Counts, taken: int, r: RulesRow) -> int:
    """The face that may not be thrown, since its only copy was taken this turn; `NONE` if there is none.

    Args:
        hand: ``(53,)``, with the card taken.
        taken: as for `blocked_face`.
    """
    return taken if taken != NONE and int(r["block_taken_card"]) and int(hand[taken]) == 1 else NONE


@accessor
def known_after_throw(known: int, face: int, taken: int, r: RulesRow) -> int:
    """Known pick-ups of a face that its seat still holds, once one copy of it has been thrown.

    A blocked card stays in the hand, so a copy of it is known whatever the other one was (RULES.md 2.24). A twin that
    was known as well is gone and no longer counts.

    Args:
        known: copies of the face that were known before.
        taken: face taken from the open pile this turn, no face if none was.
    """
    stays = 1 if face == taken and int(r["block_taken_card"]) else 0
    return max(stays, known - 1)
