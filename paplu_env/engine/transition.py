"""What an action does to a dealt state. Beside it `undo` takes moves back and `world` deals hidden cards anew.

A turn has two phases, each with its pair: `legal._legal_in_draw` says what may be done and
`_apply_in_draw` does it, then `_legal_in_discard` and `_apply_in_discard`.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import njit, run_slices
from paplu_env.cards import NUM_FACES
from paplu_env.engine.actions import (
    DECLARE_BASE,
    DISCARD_BASE,
    DRAW_CLOSED,
    DROP,
    NUM_ACTIONS,
    TAKE_OPEN,
    format_action,
)
from paplu_env.engine.arguments import whole_numbers
from paplu_env.engine.blocked import known_after_throw
from paplu_env.engine.chance import Purpose, mix, shuffle
from paplu_env.engine.legal import LEGAL, as_action, reason_kernel, reason_words
from paplu_env.engine.log import log_entry, with_log_face
from paplu_env.engine.piles import open_card
from paplu_env.engine.scoring import count_hands, settle
from paplu_env.engine.state import (
    ANNOUNCED,
    DECLARED,
    DISCARD,
    DRAW,
    DROPPED_FIRST,
    DROPPED_MIDDLE,
    ENDED_BY_DROP,
    IN,
    LOG_ANNOUNCED,
    LOG_CLOSED,
    LOG_DROPPED,
    LOG_WRONG,
    LOWER_DEADWOOD,
    NO_SEAT,
    NONE,
    OVER,
    PILE_CAPACITY,
    TRUNCATED,
    UNFINISHED,
    VOID,
    WRONG_DECLARE,
    WRONG_DECLARED,
    StateRow,
    States,
    check_table,
)
from paplu_env.engine.text import describe_view, format_position
from paplu_env.engine.view import player_view
from paplu_env.errors import IllegalAction
from paplu_env.melds.fast_points.declarable_kernels import declarable_kernel, is_complete_kernel
from paplu_env.rules import MAX_PLAYERS, RuleSet, RulesRow, choice_code

_VOID: Final = choice_code("stock_out", "void")
_KEEP_TOP: Final = choice_code("stock_out", "reshuffle_keep_top")
_TRUNCATE: Final = choice_code("turn_limit_result", "truncate")
_NEXT: Final = np.uint64(Purpose.NEXT_SHUFFLE)  # mixed into a seed that was used, it gives the next one


def apply_action(states: States, i: int, action: int, rules: RuleSet) -> None:
    """Do an action of the seat to move in row ``i``, in place.

    Raises:
        IllegalAction: it may not be done; the row is left as it was. The message names the action, the
            reason and what the seat to move sees; the whole position is the error's ``position``.
        InvalidRules: the row was dealt under other rules.
    """
    check_table(states, rules, i)
    chosen = as_action(action)
    reason = reason_kernel(states, i, chosen, rules.packed)
    if reason != LEGAL:
        raise _illegal(states, i, action, reason, rules)
    apply_kernel(states, i, chosen, rules.packed)


def apply_actions(states: States, actions: npt.ArrayLike, rules: RuleSet, threads: int = 1) -> None:
    """Do one action in every row, in place.

    Args:
        actions: ``(B,)`` integers; -1 leaves its row alone.

    Raises:
        IllegalAction: one of them may not be done; then no row has changed.
        PapluError: not one whole number per row; then no row has changed either.
        InvalidRules: a row was dealt under other rules.
    """
    check_table(states, rules)
    chosen = whole_numbers(actions, "actions", len(states))
    bad = _first_illegal(states, chosen, rules.packed)
    if bad >= 0:
        action = int(chosen[bad])
        raise _illegal(states, bad, action, reason_kernel(states, bad, action, rules.packed), rules)
    run_slices(lambda start, stop: _apply_rows(states, chosen, rules.packed, start, stop), len(states), threads)


def _illegal(states: States, i: int, action: int, reason: int, rules: RuleSet) -> IllegalAction:
    name = format_action(action) if 0 <= action < NUM_ACTIONS else f"action {action}"
    mover = int(states["current_player"][i])
    seen = "" if mover == NO_SEAT else f" ({describe_view(player_view(states, i, mover), 0)})"
    error = IllegalAction(f"{name}: {reason_words(reason, rules)}{seen}")
    error.position = format_position(states, i, rules)
    return error


@njit
def apply_kernel(states: States, i: int, action: int, rules: npt.NDArray[np.void]) -> None:
    """Do a legal action of the seat to move in row ``i``. Nothing is checked.

    The solver is asked here, once, for what the next phase needs, and nowhere deeper: every level of
    kernels that holds the solver compiles it again.
    """
    s = states[i]
    r = rules[0]
    seat = int(s["current_player"])
    ending = _apply_in_draw(s, seat, action, r) if int(s["phase"]) == DRAW else _apply_in_discard(s, seat, action, r)
    if ending != UNFINISHED:
        counts = np.zeros(MAX_PLAYERS, dtype=np.int64)
        count_hands(s, ending, counts, r)
        _finish(s, seat, ending, counts, r)
    elif int(s["phase"]) == DISCARD:
        s["declarable"] = int(declarable_kernel(s["hands"][seat], int(s["wild"]), r))
    elif int(r["hand_rummy"]):
        mover = int(s["current_player"])
        is_first_turn = int(s["drew"][mover]) == 0
        s["complete"] = int(is_first_turn and is_complete_kernel(s["hands"][mover], int(s["wild"]), r))


@njit
def _apply_in_draw(s: StateRow, seat: int, action: int, r: RulesRow) -> int:
    """Draw, take, drop or announce; returns the ending, `UNFINISHED` while the deal goes on."""
    if action == DRAW_CLOSED:
        top = int(s["stock_size"]) - 1
        face = int(s["cards"][top])
        s["cards"][top] = NONE
        s["stock_size"] = top
        _pick_up(s, seat, face, LOG_CLOSED)
        return UNFINISHED
    if action == TAKE_OPEN:
        top = PILE_CAPACITY - int(s["pile_size"])
        face = open_card(s)
        s["cards"][top] = NONE
        s["pile_size"] = int(s["pile_size"]) - 1
        s["taken"] = face
        s["known"][seat, face] = int(s["known"][seat, face]) + 1
        _pick_up(s, seat, face, face)
        return UNFINISHED
    if action == DROP:
        is_first = int(s["drew"][seat]) == 0
        _write_log(s, seat, LOG_DROPPED)
        if is_first and int(r["first_drop_returns_cards"]):
            _return_cards(s, seat, r)
        s["status"][seat] = DROPPED_FIRST if is_first else DROPPED_MIDDLE
        return ENDED_BY_DROP if _seats_in(s, r) == 1 else _pass_on(s, seat, r)
    _write_log(s, seat, LOG_ANNOUNCED)
    return ANNOUNCED


@njit
def _apply_in_discard(s: StateRow, seat: int, action: int, r: RulesRow) -> int:
    """Discard, or declare, rightly or wrongly; returns the ending, `UNFINISHED` while the deal goes on."""
    is_declaration = action >= DECLARE_BASE
    face = action - DECLARE_BASE if is_declaration else action - DISCARD_BASE
    is_right = (int(s["declarable"]) >> face) & 1
    _throw(s, seat, face, r)
    if is_declaration and is_right:
        return DECLARED
    if is_declaration:
        _write_log(s, seat, LOG_WRONG)
        s["status"][seat] = WRONG_DECLARED
        if _seats_in(s, r) == 1:
            return WRONG_DECLARE
    return _end_turn(s, seat, r)


@njit
def _pick_up(s: StateRow, seat: int, face: int, source: int) -> None:
    """Put a card that has left its pile into the hand."""
    s["hands"][seat, face] = int(s["hands"][seat, face]) + 1
    s["drew"][seat] = int(s["drew"][seat]) + 1
    s["draws"] = int(s["draws"]) + 1
    s["drawn"] = face
    s["complete"] = 0
    s["phase"] = DISCARD
    _write_log(s, seat, source)


@njit
def _throw(s: StateRow, seat: int, face: int, r: RulesRow) -> None:
    """Move a card from the hand to the open pile."""
    s["hands"][seat, face] = int(s["hands"][seat, face]) - 1
    s["known"][seat, face] = known_after_throw(int(s["known"][seat, face]), face, int(s["taken"]), r)
    size = int(s["pile_size"]) + 1
    s["pile_size"] = size
    s["cards"][PILE_CAPACITY - size] = face
    last = int(s["log_size"]) - 1
    s["log"][last] = with_log_face(int(s["log"][last]), face)
    s["declarable"] = 0
    s["taken"] = NONE
    s["drawn"] = NONE


@njit
def _end_turn(s: StateRow, seat: int, r: RulesRow) -> int:
    """After a discard: the deal is void or cut, or the next seat's turn begins; returns the ending."""
    is_stock_out = int(s["stock_size"]) == 0
    can_reshuffle = int(r["stock_out"]) != _VOID and int(s["pile_size"]) > 1
    if is_stock_out and not can_reshuffle:
        return VOID
    if int(s["draws"]) >= int(r["max_turns"]):
        return TRUNCATED if int(r["turn_limit_result"]) == _TRUNCATE else LOWER_DEADWOOD
    if is_stock_out:
        _reshuffle(s, r)
    return _pass_on(s, seat, r)


@njit
def _pass_on(s: StateRow, seat: int, r: RulesRow) -> int:
    """Begin the turn of the next seat still in, in the table's direction; the deal goes on."""
    players, step = int(r["num_players"]), int(r["step"])
    after = (seat + step) % players
    while int(s["status"][after]) != IN:
        after = (after + step) % players
    s["current_player"] = after
    s["phase"] = DRAW
    s["complete"] = 0
    return UNFINISHED


@njit
def _reshuffle(s: StateRow, r: RulesRow) -> None:
    """Make the open pile the stock, and leave or turn one card to open the new pile.

    The pile is shuffled from the order top first, so that it can move in place.
    """
    cards = s["cards"]
    size = int(s["pile_size"])
    top = PILE_CAPACITY - size
    opened = open_card(s)
    if int(r["stock_out"]) == _KEEP_TOP:
        top += 1
        size -= 1
    for place in range(size):
        cards[place] = cards[top + place]
    for place in range(size, PILE_CAPACITY):
        cards[place] = NONE
    shuffle(cards, size, s["seed"])
    s["seed"] = mix(s["seed"], _NEXT)
    if int(r["stock_out"]) != _KEEP_TOP:
        size -= 1
        opened = int(cards[size])
        cards[size] = NONE
    cards[PILE_CAPACITY - 1] = opened
    s["stock_size"] = size
    s["pile_size"] = 1
    s["pile_log"] = int(s["log_size"])
    s["reshuffles"] = int(s["reshuffles"]) + 1


@njit
def _return_cards(s: StateRow, seat: int, r: RulesRow) -> None:
    """Shuffle the hand as dealt and put it under the stock."""
    cards, hand, size = s["cards"], s["hands"][seat], int(r["hand_size"])
    for place in range(int(s["stock_size"]) - 1, -1, -1):
        cards[place + size] = cards[place]
    place = 0
    for face in range(NUM_FACES):
        for _ in range(int(hand[face])):
            cards[place] = face
            place += 1
        hand[face] = 0
    shuffle(cards, size, s["seed"])
    s["seed"] = mix(s["seed"], _NEXT)
    s["stock_size"] = int(s["stock_size"]) + size


@njit
def _seats_in(s: StateRow, r: RulesRow) -> int:
    seats = 0
    for seat in range(int(r["num_players"])):
        seats += 1 if int(s["status"][seat]) == IN else 0
    return seats


@njit
def _finish(s: StateRow, finisher: int, ending: int, counts: npt.NDArray[np.int64], r: RulesRow) -> None:
    """End the deal and settle it; ``counts`` is what `scoring.count_hands` said."""
    s["phase"] = OVER
    s["current_player"] = NO_SEAT
    s["complete"] = 0
    s["ending"] = ending
    s["finisher"] = finisher
    s["winner"] = settle(s, ending, finisher, counts, s["returns"], r)


@njit
def _write_log(s: StateRow, seat: int, source: int) -> None:
    """Add an entry whose discard is not yet there."""
    size = int(s["log_size"])
    s["log"][size] = log_entry(seat, source)
    s["log_size"] = size + 1


@njit
def _first_illegal(states: States, actions: npt.NDArray[np.int64], rules: npt.NDArray[np.void]) -> int:
    """The first row whose action may not be done, -1 if all may."""
    for i in range(len(actions)):
        if int(actions[i]) != -1 and reason_kernel(states, i, int(actions[i]), rules) != LEGAL:
            return i
    return -1


@njit
def _apply_rows(
    states: States, actions: npt.NDArray[np.int64], rules: npt.NDArray[np.void], start: int, stop: int
) -> None:
    for i in range(start, stop):
        if int(actions[i]) != -1:
            apply_kernel(states, i, int(actions[i]), rules)
