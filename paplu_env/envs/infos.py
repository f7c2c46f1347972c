"""The ``info`` of an environment, of one row as a dict and of many rows as a dict of arrays.

In every info:

- ``action_mask``: ``(110,)`` int8, 1 = legal; zeros when the deal is over.
- ``phase``: draw, discard or over.           ``current_player``: the seat to move, -1 when the deal is over.
- ``seat``: the seat whose view the observation is.           ``opponent``: the name of who plays against it.

At the end of a deal also:

- ``ending``: how it ended, a name of RULES.md or forfeit.           ``winner``: a seat, -1 without one.
- ``returns``: ``(P,)`` int64 points of all seats, their sum is 0.           ``points``: the return of ``seat``.
- ``illegal_action``, only when one ended it: what was wrong with it.

After a reset also ``skipped_deals`` and ``skipped_points``: deals that the opponents ended before the
seat's first decision, and what they brought it.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env.engine.state import ENDING_NAMES, NO_SEAT, OVER, PHASE_NAMES
from paplu_env.envs.kernels import NO_ACTION
from paplu_env.envs.opponents import SELF
from paplu_env.envs.tables import Ints, Tables

FORFEIT: Final = "forfeit"  # how a deal ended that an illegal action ended

Columns = dict[str, npt.NDArray[Any]]  # key -> values, one per row

_PHASES: Final = np.array(PHASE_NAMES, dtype=object)
_ENDINGS: Final = np.array(ENDING_NAMES, dtype=object)


def row_infos(tables: Tables, rows: Ints, is_start: bool) -> list[dict[str, Any]]:
    """The infos of some rows, one dict each.

    Args:
        rows: ``(N,)`` rising.
        is_start: the rows have just been dealt.
    """
    infos = _as_dicts(_common(tables, rows))
    ended = np.flatnonzero(tables.over[rows])
    if ended.size:
        _extend(infos, ended, _at_end(tables, rows[ended]))
        forfeited = ended[tables.forfeits[rows[ended]] != NO_ACTION]
        if forfeited.size:
            _extend(infos, forfeited, _illegal(tables, rows[forfeited]))
    if is_start:
        _extend(infos, np.arange(len(rows)), _at_start(tables, rows))
    return infos


def batch_info(tables: Tables, rows: Ints, started: Ints) -> dict[str, Any]:
    """The infos of some rows, in Gymnasium's form: beside each ``key`` a bool array ``_key`` of who has it.

    Args:
        rows: ``(N,)`` rising, who has an info.
        started: those of them that have just been dealt.
    """
    info: dict[str, Any] = {}
    _add(info, tables.batch, rows, _common(tables, rows))
    ended = rows[tables.over[rows]]
    if ended.size:
        _add(info, tables.batch, ended, _at_end(tables, ended))
        forfeited = ended[tables.forfeits[ended] != NO_ACTION]
        if forfeited.size:
            _add(info, tables.batch, forfeited, _illegal(tables, forfeited))
    if started.size:
        _add(info, tables.batch, started, _at_start(tables, started))
    return info


def _common(tables: Tables, rows: Ints) -> Columns:
    over = tables.over[rows]
    columns: Columns = {
        "action_mask": tables.masks[rows].view(np.int8),
        "phase": _PHASES[np.where(over, OVER, tables.states["phase"][rows])],
        "current_player": np.where(over, NO_SEAT, tables.states["current_player"][rows]).astype(np.int64),
        "seat": tables.seats[rows],
    }
    if tables.pool:
        columns["opponent"] = tables.pool.names[tables.line_ups[rows]]
    else:
        columns["opponent"] = np.full(len(rows), SELF, dtype=object)
    return columns


def _at_end(tables: Tables, rows: Ints) -> Columns:
    returns = tables.returns(rows)
    endings = _ENDINGS[tables.states["ending"][rows]]
    endings[tables.forfeits[rows] != NO_ACTION] = FORFEIT
    return {
        "ending": endings,
        "winner": tables.winners(rows),
        "returns": returns,
        "points": returns[np.arange(len(rows)), tables.seats[rows]],
    }


def _illegal(tables: Tables, rows: Ints) -> Columns:
    texts = [tables.why_illegal(int(i), int(tables.forfeits[i])) for i in rows]
    return {"illegal_action": np.array(texts, dtype=object)}


def _at_start(tables: Tables, rows: Ints) -> Columns:
    return {"skipped_deals": tables.skipped_deals[rows], "skipped_points": tables.skipped_points[rows]}


def _as_dicts(columns: Columns) -> list[dict[str, Any]]:
    """Columns as one dict a row, of Python's own numbers, and arrays that share no memory."""
    values = [
        [row.copy() for row in column] if column.ndim > 1 else column.tolist()  # tolist leaves no NumPy scalars
        for column in columns.values()
    ]
    return [dict(zip(columns, row, strict=True)) for row in zip(*values, strict=True)]


def _extend(infos: list[dict[str, Any]], places: Ints, columns: Columns) -> None:
    """Add columns to the dicts at these places."""
    for place, more in zip(places.tolist(), _as_dicts(columns), strict=True):
        infos[place] |= more


def _add(info: dict[str, Any], batch: int, rows: Ints, columns: Columns) -> None:
    """Add columns of some rows as arrays of all rows; the others hold zeros, or None for texts."""
    has = np.zeros(batch, dtype=np.bool_)
    has[rows] = True
    for key, column in columns.items():
        if len(rows) == batch:
            info[key] = column
        else:
            info[key] = np.full((batch, *column.shape[1:]), None if column.dtype == object else 0, dtype=column.dtype)
            info[key][rows] = column
        info[f"_{key}"] = has.copy()
