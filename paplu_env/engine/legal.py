"""What the seat to move may do: a reason code per action, from which mask and words derive; 0 is legal."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import njit, run_slices
from paplu_env.cards import NUM_FACES
from paplu_env.engine.actions import (
    ANNOUNCE,
    DECLARE_BASE,
    DISCARD_BASE,
    DRAW_CLOSED,
    DROP,
    NUM_ACTIONS,
    TAKE_OPEN,
)
from paplu_env.engine.arguments import as_whole, check_out
from paplu_env.engine.blocked import blocked_face
from paplu_env.engine.piles import open_card
from paplu_env.engine.state import DISCARD, DRAW, OVER, StateRow, States, check_table
from paplu_env.errors import IllegalAction
from paplu_env.rules import RuleSet, RulesRow, choice_code

Mask = npt.NDArray[np.bool_]

# Reasons, and their words. 0 is the only one that lets an action through.
LEGAL: Final = 0
NO_SUCH_ACTION: Final = 1
DEAL_OVER: Final = 2
NOT_DRAWN: Final = 3
ALREADY_DRAWN: Final = 4
STOCK_EMPTY: Final = 5
PILE_EMPTY: Final = 6
NEVER_TAKE_WILD: Final = 7
WILD_TOO_LATE: Final = 8
DROP_OFF: Final = 9
NOT_HELD: Final = 10
JUST_TAKEN: Final = 11
NOT_COMPLETE: Final = 12
ANNOUNCE_OFF: Final = 13
ANNOUNCE_TOO_LATE: Final = 14
ANNOUNCE_NOT_COMPLETE: Final = 15
REASONS: Final = (
    "",
    f"there is no such action: actions are 0..{NUM_ACTIONS - 1}",
    "the deal is over",
    "a card must be drawn first",
    "a card has been drawn: discard or declare",
    "the closed stock is empty",
    "the open pile is empty",
    "a wild card may not be taken from the open pile (open_joker=never)",
    "only the first player may take a wild card, and only the turned-up one (open_joker=first_turn)",
    "nobody may drop at this table (drop_allowed=false)",
    "the seat does not hold that card",
    "it is the very card just taken from the open pile, which may not be thrown in the same turn",
    "the {hand_size} cards left would not be complete",  # see `reason_words`
    "hands are not announced at this table (hand_rummy=false)",
    "a hand is announced at the seat's first turn, before it draws",
    "the hand is not complete",
)

_SIZE_WORDS: Final = {10: "ten", 13: "thirteen", 21: "twenty-one"}
_ANY: Final = choice_code("open_joker", "any")
_NEVER: Final = choice_code("open_joker", "never")
_ALLOWED: Final = choice_code("wrong_declare", "allowed")


def legal_action_mask(states: States, i: int, rules: RuleSet) -> Mask:
    """What the seat to move may do in row ``i``.

    Returns:
        ``(A,)`` bool, True = legal, a new array; all False when the deal is over.

    Raises:
        InvalidRules: the row was dealt under other rules.
    """
    check_table(states, rules, i)
    mask = np.empty(NUM_ACTIONS, dtype=np.bool_)
    mask_kernel(states, i, rules.packed, mask)
    return mask


def legal_action_masks(states: States, rules: RuleSet, out: Mask | None = None, threads: int = 1) -> Mask:
    """What the seats to move may do, row by row.

    Args:
        out: ``(B, A)`` bool to write into, contiguous; a new array if not given.

    Returns:
        ``(B, A)`` bool.

    Raises:
        InvalidRules: a row was dealt under other rules.
        PapluError: ``out`` is of another shape or type.
    """
    check_table(states, rules)
    shape = (len(states), NUM_ACTIONS)
    if out is not None:
        check_out(out, shape, np.bool_)
    masks = np.empty(shape, dtype=np.bool_) if out is None else out
    run_slices(lambda start, stop: _mask_rows(states, rules.packed, masks, start, stop), len(states), threads)
    return masks


def why_illegal(states: States, i: int, action: int, rules: RuleSet) -> str:
    """Why the seat to move in row ``i`` may not do this, in words; empty if it may.

    Raises:
        IllegalAction: not a whole number.
        InvalidRules: the row was dealt under other rules.
    """
    check_table(states, rules, i)
    return reason_words(reason_kernel(states, i, as_action(action), rules.packed), rules)


def reason_words(reason: int, rules: RuleSet) -> str:
    """The words of a reason code at a table; empty for `LEGAL`."""
    return REASONS[reason].format(hand_size=_SIZE_WORDS[rules.hand_size])


def as_action(action: int) -> int:
    """An action as kernels take it; -1, which is no action, for any other number that is none.

    Raises:
        IllegalAction: not a whole number.
    """
    try:
        number = as_whole(action)
    except TypeError:
        raise IllegalAction(f"action {action!r}: actions are whole numbers 0..{NUM_ACTIONS - 1}") from None
    return number if 0 <= number < NUM_ACTIONS else -1


@njit
def mask_kernel(states: States, i: int, rules: npt.NDArray[np.void], mask: Mask) -> None:
    """Fill ``mask``, ``(A,)`` bool, for the seat to move in row ``i``. Nothing is checked."""
    s = states[i]
    r = rules[0]
    mask[:] = False
    phase = int(s["phase"])
    if phase == DRAW:
        mask[DRAW_CLOSED] = _legal_in_draw(s, DRAW_CLOSED, r) == LEGAL
        mask[TAKE_OPEN] = _legal_in_draw(s, TAKE_OPEN, r) == LEGAL
        mask[DROP] = _legal_in_draw(s, DROP, r) == LEGAL
        mask[ANNOUNCE] = _legal_in_draw(s, ANNOUNCE, r) == LEGAL
    elif phase == DISCARD:
        hand = s["hands"][int(s["current_player"])]
        blocked = blocked_face(int(s["taken"]), r)
        for face in range(NUM_FACES):
            mask[DISCARD_BASE + face] = _legal_in_discard(int(hand[face]), face == blocked) == LEGAL
        declarable = int(s["declarable"])
        if int(r["wrong_declare"]) == _ALLOWED:
            for face in range(NUM_FACES):
                mask[DECLARE_BASE + face] = mask[DISCARD_BASE + face]
        elif declarable != 0:
            for face in range(NUM_FACES):
                mask[DECLARE_BASE + face] = mask[DISCARD_BASE + face] and _legal_finish(declarable, face) == LEGAL


@njit
def reason_kernel(states: States, i: int, action: int, rules: npt.NDArray[np.void]) -> int:
    """The reason code of one action for the seat to move in row ``i``, `LEGAL` if it may be done."""
    s = states[i]
    r = rules[0]
    phase = int(s["phase"])
    if action < 0 or action >= NUM_ACTIONS:
        return NO_SUCH_ACTION
    if phase == OVER:
        return DEAL_OVER
    is_draw = action < DISCARD_BASE or action == ANNOUNCE
    if phase == DRAW:
        return _legal_in_draw(s, action, r) if is_draw else NOT_DRAWN
    if is_draw:
        return ALREADY_DRAWN
    face = action - DISCARD_BASE if action < DECLARE_BASE else action - DECLARE_BASE
    held = int(s["hands"][int(s["current_player"]), face])
    reason = _legal_in_discard(held, face == blocked_face(int(s["taken"]), r))
    if reason == LEGAL and action >= DECLARE_BASE and int(r["wrong_declare"]) != _ALLOWED:
        return _legal_finish(int(s["declarable"]), face)
    return reason


@njit
def _legal_in_draw(s: StateRow, action: int, r: RulesRow) -> int:
    """Reason for an action at the start of a turn: draw, take, drop or announce."""
    if action == DRAW_CLOSED:
        return LEGAL if int(s["stock_size"]) > 0 else STOCK_EMPTY
    if action == TAKE_OPEN:
        return _legal_take(s, r)
    if action == DROP:
        return LEGAL if int(r["drop_allowed"]) else DROP_OFF
    if int(r["hand_rummy"]) == 0:
        return ANNOUNCE_OFF
    if int(s["drew"][int(s["current_player"])]) > 0:
        return ANNOUNCE_TOO_LATE
    return LEGAL if int(s["complete"]) else ANNOUNCE_NOT_COMPLETE


@njit
def _legal_take(s: StateRow, r: RulesRow) -> int:
    """Reason for taking the open card; the option ``open_joker`` is about printed and wild cards."""
    if int(s["pile_size"]) == 0:
        return PILE_EMPTY
    option = int(r["open_joker"])
    if option == _ANY or int(s["wild"]) >> open_card(s) & 1 == 0:
        return LEGAL
    if option == _NEVER:
        return NEVER_TAKE_WILD
    is_turned_up = int(s["draws"]) == 0 and int(s["current_player"]) == int(s["first"])
    return LEGAL if is_turned_up else WILD_TOO_LATE


@njit
def _legal_in_discard(held: int, is_blocked: bool) -> int:
    """Reason for parting with a face of which ``held`` copies are in the hand."""
    if held == 0:
        return NOT_HELD
    return JUST_TAKEN if is_blocked and held == 1 else LEGAL


@njit
def _legal_finish(declarable: int, face: int) -> int:
    """Reason for declaring with a face that may be thrown, from the solver's answer."""
    return LEGAL if (declarable >> face) & 1 else NOT_COMPLETE


@njit
def _mask_rows(states: States, rules: npt.NDArray[np.void], masks: Mask, start: int, stop: int) -> None:
    for i in range(start, stop):
        mask_kernel(states, i, rules, masks[i])
