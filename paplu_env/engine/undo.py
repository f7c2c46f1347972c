"""Moves taken back: the position before a draw or a discard, from the position after it.

Nothing is noted when an action is done. The log says whose turn it was and where the card came from, so that both
halves of a turn can be taken back, in worlds too, where nobody has made them. The log doesn't say which card came
from the stock: that is for the caller to know or to guess. Drops, declarations, announcements, and a discard after
which the deal ended or the pile became the stock can't be taken back.

A kernel that tries actions copies the row first and drops the copy. A row of a table for two has fewer than a thousand
bytes: copying it takes as long as a single action, and a thousandth of the play that follows. So nothing would be
gained by notes of what each action changes.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paplu_env._jit import njit
from paplu_env.cards import NUM_FACES
from paplu_env.engine.arguments import whole_numbers
from paplu_env.engine.blocked import known_after_throw
from paplu_env.engine.log import log_face, log_seat, log_source, with_log_face
from paplu_env.engine.state import (
    DISCARD,
    DRAW,
    LOG_CLOSED,
    LOG_NOTHING,
    NONE,
    PILE_CAPACITY,
    StateRow,
    States,
    check_table,
)
from paplu_env.errors import PapluError
from paplu_env.melds.fast_points.declarable_kernels import declarable_kernel, is_complete_kernel
from paplu_env.rules import RuleSet, RulesRow


def take_back_draw(states: States, drawn: npt.ArrayLike, rules: RuleSet) -> None:
    """Undo the draw of the seat that is to discard, in every row, in place.

    Args:
        drawn: ``(B,)`` faces: the card that each seat drew. One from the stock goes back on its top.

    Raises:
        PapluError: in some row no seat is to discard, or it can't have drawn that card; then no row has changed.
        InvalidRules: a row was dealt under other rules.
    """
    faces = _check_drawn(states, drawn, rules)
    _take_back_draws(states, faces, rules.packed)


def take_back_discard(states: States, rules: RuleSet) -> None:
    """Undo the discard by which the last turn ended, in every row, in place.

    What the seat drew in that turn is known if it came from the open pile; else ``drawn`` is none until
    `name_drawn` says it.

    Raises:
        PapluError: in some row the last thing that happened isn't a discard that passed the turn on, or the pile was
            reshuffled after it; then no row has changed.
        InvalidRules: a row was dealt under other rules.
    """
    check_table(states, rules)
    bad = int(_first_without_discard(states))
    if bad >= 0:
        raise PapluError(f"row {bad}: the last move was no discard, or one that can't be taken back")
    _take_back_discards(states, rules.packed)


def name_drawn(states: States, drawn: npt.ArrayLike, rules: RuleSet) -> None:
    """Say which card the seat that is to discard has drawn, in every row, in place.

    Args:
        drawn: ``(B,)`` faces.

    Raises:
        PapluError: as for `take_back_draw`.
        InvalidRules: a row was dealt under other rules.
    """
    states["drawn"] = _check_drawn(states, drawn, rules)


def _check_drawn(states: States, drawn: npt.ArrayLike, rules: RuleSet) -> npt.NDArray[np.int64]:
    """The faces as kernels take them, if each can be what the seat to discard has drawn."""
    check_table(states, rules)
    faces, rows = whole_numbers(drawn, "drawn", len(states)), np.arange(len(states))
    held = states["hands"][rows, states["current_player"], np.clip(faces, 0, NUM_FACES - 1)]
    is_drawn = (states["phase"] == DISCARD) & (faces >= 0) & (faces < NUM_FACES) & (held > 0)
    is_drawn &= (states["taken"] == NONE) | (states["taken"] == faces)
    if not is_drawn.all():
        raise PapluError(f"row {int(np.argmin(is_drawn))}: no seat is to discard that can have drawn this card")
    return faces


@njit
def _first_without_discard(states: States) -> int:
    """The first row in which no discard can be taken back, -1 if there is none."""
    for i in range(len(states)):
        s = states[i]
        size = int(s["log_size"])
        if int(s["phase"]) != DRAW or size == 0 or int(s["pile_log"]) == size:
            return i
        entry = int(s["log"][size - 1])
        if log_source(entry) > LOG_CLOSED or log_face(entry) >= NUM_FACES:
            return i
    return -1


@njit
def _take_back_draws(states: States, drawn: npt.NDArray[np.int64], rules: npt.NDArray[np.void]) -> None:
    for i in range(len(states)):
        _take_back_draw(states[i], int(drawn[i]), rules[0])


@njit
def _take_back_discards(states: States, rules: npt.NDArray[np.void]) -> None:
    for i in range(len(states)):
        _take_back_discard(states[i], rules[0])


@njit
def _take_back_draw(s: StateRow, face: int, r: RulesRow) -> None:
    """The reverse of `transition._apply_in_draw`, of a draw or a card taken."""
    seat, last = int(s["current_player"]), int(s["log_size"]) - 1
    s["hands"][seat, face] = int(s["hands"][seat, face]) - 1
    if log_source(int(s["log"][last])) == LOG_CLOSED:
        size = int(s["stock_size"])
        s["cards"][size] = face
        s["stock_size"] = size + 1
    else:
        size = int(s["pile_size"]) + 1
        s["pile_size"] = size
        s["cards"][PILE_CAPACITY - size] = face
        s["known"][seat, face] = int(s["known"][seat, face]) - 1
    s["log"][last] = 0
    s["log_size"] = last
    s["draws"] = int(s["draws"]) - 1
    s["drew"][seat] = int(s["drew"][seat]) - 1
    s["phase"] = DRAW
    s["taken"] = NONE
    s["drawn"] = NONE
    s["declarable"] = 0
    if int(r["hand_rummy"]) and int(s["drew"][seat]) == 0:
        s["complete"] = int(is_complete_kernel(s["hands"][seat], int(s["wild"]), r))


@njit
def _take_back_discard(s: StateRow, r: RulesRow) -> None:
    """The reverse of `transition._apply_in_discard`, of a plain discard, and of the turn passed on."""
    last, size = int(s["log_size"]) - 1, int(s["pile_size"])
    entry = int(s["log"][last])
    seat, source, face = log_seat(entry), log_source(entry), log_face(entry)
    s["cards"][PILE_CAPACITY - size] = NONE
    s["pile_size"] = size - 1
    s["hands"][seat, face] = int(s["hands"][seat, face]) + 1
    s["known"][seat, face] = _known_before_throw(s, seat, face, r)
    s["log"][last] = with_log_face(entry, LOG_NOTHING)
    s["current_player"] = seat
    s["phase"] = DISCARD
    s["complete"] = 0
    s["taken"] = source if source < NUM_FACES else NONE
    s["drawn"] = source if source < NUM_FACES else NONE
    s["declarable"] = int(declarable_kernel(s["hands"][seat], int(s["wild"]), r))


@njit
def _known_before_throw(s: StateRow, seat: int, face: int, r: RulesRow) -> int:
    """Known pick-ups of a face by a seat before the discard of the log's last entry: its turns read again."""
    known, last = 0, int(s["log_size"]) - 1
    for place in range(last + 1):
        entry = int(s["log"][place])
        if log_seat(entry) != seat:
            continue
        source = log_source(entry)
        if source == face:
            known += 1
        if place < last and log_face(entry) == face:
            known = known_after_throw(known, face, source, r)
    return known
