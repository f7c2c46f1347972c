"""The ``info`` of an environment, of one row as a dict and of many rows as a dict of arrays.

In every info:

- ``action_mask``: ``(110,)`` int8, 1 = legal; zeros when the deal is over.
- ``phase``: draw, discard or over.           ``current_player``: the seat to move, -1 when the deal is over.
- ``seat``: the seat whose view the observation is.           ``opponent``: the name of who plays against it.

At the end of a deal also:

- ``ending``: how it ended, a name of RULES.md 2.22 or forfeit.           ``winner``: a seat, -1 without one.
- ``returns``: ``(P,)`` int64 points of all seats, their sum is 0.           ``points``: the return of ``seat``.
- ``illegal_action``, only when one ended it: what was wrong with it.

After a reset also ``skipped_deals`` and ``skipped_points``: deals that the opponents ended before the
seat's first decision, and what they brought it.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env.engine.state import ENDING_NAMES, PHASE_NAMES
from paplu_env.envs.core.deal_batch import Ints, Tables
from paplu_env.envs.core.kernels import NO_ACTION
from paplu_env.envs.core.opponents import SELF

# How a deal ended, by the codes of `Tables.endings`: as RULES.md 2.22 and 2.26 name it.
ENDINGS: Final = (*ENDING_NAMES, "forfeit")

Columns = dict[str, npt.NDArray[Any]]  # key -> values, one per row

_PHASE_ARRAY: Final = np.array(PHASE_NAMES, dtype=object)
_SELF_ARRAY: Final = np.array([SELF], dtype=object)
_ENDING_ARRAY: Final = np.array(ENDINGS, dtype=object)


def row_info(tables: Tables, i: int, is_start: bool) -> dict[str, Any]:
    """The info of one row, of Python's own numbers and arrays that share no memory.

    Args:
        is_start: the row has just been dealt.
    """
    seat = int(tables.seats[i])
    info: dict[str, Any] = {
        "action_mask": tables.masks[i].astype(np.int8),
        "phase": PHASE_NAMES[tables.phases[i]],
        "current_player": int(tables.movers[i]),
        "seat": seat,
        "opponent": tables.pool.names[tables.line_ups[i]] if tables.pool else SELF,
    }
    if tables.over[i]:
        returns = tables.returns[i].copy()
        info["ending"] = ENDINGS[tables.endings[i]]
        info["winner"] = int(tables.winners[i])
        info["returns"] = returns
        info["points"] = int(returns[seat])
        if tables.forfeits[i] != NO_ACTION:
            info["illegal_action"] = tables.why_illegal(i, int(tables.forfeits[i]))
    if is_start:
        info["skipped_deals"] = int(tables.skipped_deals[i])
        info["skipped_points"] = int(tables.skipped_points[i])
    return info


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
    if len(rows) == tables.batch:
        masks = tables.mask_copies.take()
        np.copyto(masks, tables.masks)
    else:
        masks = tables.masks[rows]
    names = tables.pool.names if tables.pool else _SELF_ARRAY
    return {
        "action_mask": masks.view(np.int8),
        "phase": _PHASE_ARRAY[tables.phases[rows]],
        "current_player": tables.movers[rows],
        "seat": tables.seats[rows],
        "opponent": names[tables.line_ups[rows]],
    }


def _at_end(tables: Tables, rows: Ints) -> Columns:
    return {
        "ending": _ENDING_ARRAY[tables.endings[rows]],
        "winner": tables.winners[rows],
        "returns": tables.returns[rows],
        "points": tables.points(rows),
    }


def _illegal(tables: Tables, rows: Ints) -> Columns:
    texts = [tables.why_illegal(int(i), int(tables.forfeits[i])) for i in rows]
    return {"illegal_action": np.array(texts, dtype=object)}


def _at_start(tables: Tables, rows: Ints) -> Columns:
    return {"skipped_deals": tables.skipped_deals[rows], "skipped_points": tables.skipped_points[rows]}


def _add(info: dict[str, Any], batch: int, rows: Ints, columns: Columns) -> None:
    """Add columns of some rows as arrays of all rows; the others hold zeros, or None for texts."""
    has = np.zeros(batch, dtype=np.bool_)
    has[rows] = True
    for key, column in columns.items():
        if len(rows) == batch:
            info[key] = column
        else:
            info[key] = np.zeros((batch, *column.shape[1:]), column.dtype) if column.dtype != object else _nones(batch)
            info[key][rows] = column
        info[f"_{key}"] = has.copy()


def _nones(batch: int) -> npt.NDArray[np.object_]:
    """``(batch,)`` None; an empty array of objects holds nothing else, and is made ten times sooner than a full one."""
    return np.empty(batch, dtype=object)
