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

from paplu_env.engine.state import PHASE_NAMES
from paplu_env.envs.core.arguments import Ints
from paplu_env.envs.core.deal_batch import DealBatch
from paplu_env.envs.core.kernels import NO_ACTION
from paplu_env.envs.core.learner_seat import ENDINGS
from paplu_env.envs.core.opponents import SELF

Columns = dict[str, npt.NDArray[Any]]  # key -> values, one per row

_PHASE_ARRAY: Final = np.array(PHASE_NAMES, dtype=object)
_SELF_ARRAY: Final = np.array([SELF], dtype=object)
_ENDING_ARRAY: Final = np.array(ENDINGS, dtype=object)


def row_info(deals: DealBatch, i: int, is_start: bool) -> dict[str, Any]:
    """The info of one row, of Python's own numbers and arrays that share no memory.

    Args:
        is_start: the row has just been dealt.
    """
    seat = int(deals.dealt.seats[i])
    info: dict[str, Any] = {
        "action_mask": deals.shown.masks[i].astype(np.int8),
        "phase": PHASE_NAMES[deals.shown.phases[i]],
        "current_player": int(deals.shown.movers[i]),
        "seat": seat,
        "opponent": deals.pool.names[deals.dealt.line_ups[i]] if deals.pool else SELF,
    }
    if deals.shown.over[i]:
        returns = deals.shown.returns[i].copy()
        info["ending"] = ENDINGS[deals.shown.endings[i]]
        info["winner"] = int(deals.shown.winners[i])
        info["returns"] = returns
        info["points"] = int(returns[seat])
        if deals.shown.forfeits[i] != NO_ACTION:
            info["illegal_action"] = deals.why_illegal(i, int(deals.shown.forfeits[i]))
    if is_start:
        info["skipped_deals"] = int(deals.shown.skipped_deals[i])
        info["skipped_points"] = int(deals.shown.skipped_points[i])
    return info


def batch_info(deals: DealBatch, rows: Ints, started: Ints) -> dict[str, Any]:
    """The infos of some rows, in Gymnasium's form: beside each ``key`` a bool array ``_key`` of who has it.

    Args:
        rows: ``(N,)`` rising, who has an info.
        started: those of them that have just been dealt.
    """
    info: dict[str, Any] = {}
    _add(info, deals.num_deals, rows, _common(deals, rows))
    ended = rows[deals.shown.over[rows]]
    if ended.size:
        _add(info, deals.num_deals, ended, _at_end(deals, ended))
        forfeited = ended[deals.shown.forfeits[ended] != NO_ACTION]
        if forfeited.size:
            _add(info, deals.num_deals, forfeited, _illegal(deals, forfeited))
    if started.size:
        _add(info, deals.num_deals, started, _at_start(deals, started))
    return info


def _common(deals: DealBatch, rows: Ints) -> Columns:
    if len(rows) == deals.num_deals:
        masks = deals.mask_copies.take()
        np.copyto(masks, deals.shown.masks)
    else:
        masks = deals.shown.masks[rows]
    names = deals.pool.names if deals.pool else _SELF_ARRAY
    return {
        "action_mask": masks.view(np.int8),
        "phase": _PHASE_ARRAY[deals.shown.phases[rows]],
        "current_player": deals.shown.movers[rows],
        "seat": deals.dealt.seats[rows],
        "opponent": names[deals.dealt.line_ups[rows]],
    }


def _at_end(deals: DealBatch, rows: Ints) -> Columns:
    return {
        "ending": _ENDING_ARRAY[deals.shown.endings[rows]],
        "winner": deals.shown.winners[rows],
        "returns": deals.shown.returns[rows],
        "points": deals.points(rows),
    }


def _illegal(deals: DealBatch, rows: Ints) -> Columns:
    texts = [deals.why_illegal(int(i), int(deals.shown.forfeits[i])) for i in rows]
    return {"illegal_action": np.array(texts, dtype=object)}


def _at_start(deals: DealBatch, rows: Ints) -> Columns:
    return {"skipped_deals": deals.shown.skipped_deals[rows], "skipped_points": deals.shown.skipped_points[rows]}


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
