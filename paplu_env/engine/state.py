"""A deal as one row of a structured array: what the engine knows (state) and what one seat may know (view).

Each has two dtypes, for tables of up to two and of up to ten seats, so that kernels compile twice and no
more. Many deals are many rows; functions take ``(states, i)`` and write in place.

Phases, statuses and endings are plain numbers: kernels store and compare them with the fields of rows, where an
``IntEnum`` would be another type to compile every callee for. Their names, by number, are in ``…_NAMES``.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from paplu_env.cards import NUM_FACES
from paplu_env.errors import InvalidRules
from paplu_env.rules import MAX_CARDS, MAX_PLAYERS, MAX_TURNS, RuleSet

States = npt.NDArray[np.void]  # (B,) of SMALL_STATE or LARGE_STATE
Views = npt.NDArray[np.void]  # (B,) of SMALL_VIEW or LARGE_VIEW
StateRow = np.void  # one row of states
ViewRow = np.void  # one row of views

NONE: Final = 255  # no card, in fields that hold a face
NO_SEAT: Final = -1

# Phases: what the seat to move may do.
DRAW: Final = 0  # draw, take, drop, announce
DISCARD: Final = 1  # discard or declare
OVER: Final = 2
PHASE_NAMES: Final = ("draw", "discard", "over")

# How a seat stands in the deal.
IN: Final = 0
DROPPED_FIRST: Final = 1
DROPPED_MIDDLE: Final = 2
WRONG_DECLARED: Final = 3
NOT_ACTIVE: Final = 4  # not dealt in (series)
STATUS_NAMES: Final = ("in", "dropped first", "dropped later", "wrong declaration", "not active")

# How a deal ended; `UNFINISHED` while it is on. All but `TRUNCATED` terminate.
UNFINISHED: Final = 0
DECLARED: Final = 1
ANNOUNCED: Final = 2
WRONG_DECLARE: Final = 3
ENDED_BY_DROP: Final = 4
VOID: Final = 5
TRUNCATED: Final = 6
LOWER_DEADWOOD: Final = 7
ENDING_NAMES: Final = (
    "unfinished",
    "declared",
    "announced",
    "wrong_declare",
    "drop",
    "void",
    "truncated",
    "lower_deadwood",
)

# The public log: one uint16 per turn, ``seat << 12 | source << 6 | discard``, made and read by `engine.log`. The
# source is the face that was taken from the open pile, or one of the LOG_… codes; the discard is the face thrown
# (a declaration's finish card too), or LOG_NOTHING while the turn is under way and for turns without one.
LOG_SEAT_SHIFT: Final = 12
LOG_SOURCE_SHIFT: Final = 6
LOG_FACE_MASK: Final = 63
LOG_CLOSED: Final = 53  # drew from the closed stock
LOG_DROPPED: Final = 54  # gave up, no card moved
LOG_WRONG: Final = 55  # a second entry after the turn's own: that discard was a wrong declaration
LOG_ANNOUNCED: Final = 56  # announced a dealt-complete hand
LOG_NOTHING: Final = 63

SMALL_SEATS: Final = 2  # the most seats of a table that uses the small rows
PILE_CAPACITY: Final = MAX_CARDS  # stock and open pile share one array, from its two ends

# One entry per draw, and one for each seat that goes out without a draw or declares wrongly.
_LOG_CAPACITY: Final = {SMALL_SEATS: MAX_TURNS + SMALL_SEATS, MAX_PLAYERS: MAX_TURNS + MAX_PLAYERS}


def _public_fields(seats: int) -> list[tuple[object, ...]]:
    """Fields that everybody at the table may read, equal in states and views."""
    return [
        ("wild", np.int64),  # bitmask of wild faces
        ("log", np.uint16, (_LOG_CAPACITY[seats],)),  # public log, see LOG_…
        ("returns", np.int16, (seats,)),  # points, set when the deal ends, sum 0
        ("log_size", np.uint16),  # entries of the log in use
        ("pile_log", np.uint16),  # entries of the log before the last reshuffle of the pile
        ("draws", np.uint16),  # draws by all seats together
        ("known", np.uint8, (seats, NUM_FACES)),  # copies that a seat took from the open pile and still holds
        ("status", np.uint8, (seats,)),  # IN, DROPPED_FIRST, …
        ("drew", np.uint8, (seats,)),  # draws of each seat
        ("num_players", np.uint8),
        ("first", np.uint8),  # seat that had the first turn
        ("current_player", np.int8),  # seat to move, NO_SEAT when over
        ("phase", np.uint8),  # DRAW, DISCARD or OVER
        ("indicator", np.uint8),  # face of the indicator
        ("taken", np.uint8),  # face taken from the open pile this turn, NONE otherwise
        ("stock_size", np.uint8),  # closed cards left
        ("pile_size", np.uint8),  # cards in the open pile
        ("reshuffles", np.uint8),  # times that the pile became the stock
        ("ending", np.uint8),  # UNFINISHED, DECLARED, …
        ("winner", np.int8),  # seat, NO_SEAT without one
        ("finisher", np.int8),  # seat whose action ended the deal, NO_SEAT before
    ]


def _state_dtype(seats: int) -> np.dtype[np.void]:
    fields = _public_fields(seats) + [
        ("seed", np.uint64),  # of the next shuffle; hidden
        ("declarable", np.int64),  # finish faces that leave the mover's hand complete, 0 in other phases
        ("complete", np.uint8),  # hand_rummy: 1 if the mover may announce, at its first turn before it draws
        ("rules_id", np.int64),  # RuleSet.packed["id"] of the table
        ("hands", np.uint8, (seats, NUM_FACES)),  # copies held by each seat
        # Closed stock from index 0 (its top is cards[stock_size - 1]), open pile from the last index
        # down (its bottom is cards[-1], its top cards[PILE_CAPACITY - pile_size]); NONE between them.
        ("cards", np.uint8, (PILE_CAPACITY,)),
        ("drawn", np.uint8),  # face drawn this turn from either place, NONE before
    ]
    return _row_dtype(fields)


def _view_dtype(seats: int) -> np.dtype[np.void]:
    fields = _public_fields(seats) + [
        ("declarable", np.int64),  # as in the state if the view's seat is in its discard phase, else 0
        ("rules_id", np.int64),
        ("hand", np.uint8, (NUM_FACES,)),  # own cards
        ("shown", np.uint8, (seats, NUM_FACES)),  # hands that lie open (RULES.md 2.23), zeros otherwise
        ("pile", np.uint8, (PILE_CAPACITY,)),  # open pile, bottom first; NONE beyond pile_size
        ("seat", np.uint8),  # whose view it is
        ("drawn", np.uint8),  # face that this seat drew this turn, NONE otherwise
    ]
    return _row_dtype(fields)


def _row_dtype(fields: list[tuple[object, ...]]) -> np.dtype[np.void]:
    """A row of these fields, widest first and the last bytes named, so that equal rows are equal bytes."""
    fields = sorted(fields, key=lambda field: -np.dtype(field[1]).itemsize)  # type: ignore[call-overload]
    holes = np.dtype(fields, align=True).itemsize - np.dtype(fields).itemsize
    return np.dtype(fields + [("unused", np.uint8, (holes,))] * (holes > 0), align=True)


SMALL_STATE: Final = _state_dtype(SMALL_SEATS)
LARGE_STATE: Final = _state_dtype(MAX_PLAYERS)
SMALL_VIEW: Final = _view_dtype(SMALL_SEATS)
LARGE_VIEW: Final = _view_dtype(MAX_PLAYERS)


def is_small(rules: RuleSet) -> bool:
    """Whether a table's rows are the small ones."""
    return rules.num_players <= SMALL_SEATS


def empty_states(rules: RuleSet, batch: int) -> States:
    """``(batch,)`` rows of the table's state dtype, all zero: not yet dealt."""
    return np.zeros(batch, dtype=SMALL_STATE if is_small(rules) else LARGE_STATE)


def empty_views(rules: RuleSet, batch: int) -> Views:
    """``(batch,)`` rows of the table's view dtype, all zero."""
    return np.zeros(batch, dtype=SMALL_VIEW if is_small(rules) else LARGE_VIEW)


def check_table(states: States, rules: RuleSet, i: int | None = None) -> None:
    """Refuse states, or row ``i`` of them, that were not dealt under these rules.

    Raises:
        InvalidRules: another row dtype, or another rule set.
    """
    _check_rows(states, SMALL_STATE if is_small(rules) else LARGE_STATE, rules, i)


def check_row_dtype(states: States, rules: RuleSet) -> None:
    """Refuse rows that a state of this table doesn't fit into, whatever they hold.

    Raises:
        InvalidRules: another row dtype, or no row of rows.
    """
    _check_dtype(states, SMALL_STATE if is_small(rules) else LARGE_STATE, rules)


def check_views(views: Views, rules: RuleSet) -> None:
    """Refuse views of a game under other rules.

    Raises:
        InvalidRules: another row dtype, or another rule set.
    """
    _check_rows(views, SMALL_VIEW if is_small(rules) else LARGE_VIEW, rules, None)


def _check_rows(rows: npt.NDArray[np.void], dtype: np.dtype[np.void], rules: RuleSet, i: int | None) -> None:
    _check_dtype(rows, dtype, rules)
    found, expected = rows["rules_id"], rules.packed["id"][0]
    is_other = (found != expected).any() if i is None else found[i] != expected
    if is_other:
        raise InvalidRules(f"the deal was not dealt under the rules {rules}")


def _check_dtype(rows: npt.NDArray[np.void], dtype: np.dtype[np.void], rules: RuleSet) -> None:
    # Structured dtypes are compared field by field, which a single action should not wait for.
    if rows.ndim != 1 or (rows.dtype is not dtype and rows.dtype != dtype):
        raise InvalidRules(f"these rows are not of a table with {rules.num_players} seats ({rules})")


def copy(states: States, i: int | None = None) -> States:
    """A copy of all rows, or of row ``i`` as ``(1,)``; it shares no memory with the original.

    Raises:
        IndexError: there is no such row.
    """
    if i is not None:
        states[i]  # a slice would be empty
    rows = np.ascontiguousarray(states if i is None else states[i:][:1])
    return rows.view(np.uint8).copy().view(rows.dtype)  # as bytes: NumPy copies structured rows field by field
