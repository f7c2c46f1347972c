"""The rules engine: deals, what is legal, what actions do, what a seat may know, and records.

Beside the functions stand the numbers of actions (``DRAW_CLOSED`` … ``ANNOUNCE``) and those that a view holds:
``view["phase"]`` is ``DRAW``, ``DISCARD`` or ``OVER``; ``view["status"]`` of a seat is ``IN``, ``DROPPED_FIRST``,
``DROPPED_MIDDLE``, ``WRONG_DECLARED`` or ``NOT_ACTIVE``; ``view["ending"]`` is ``UNFINISHED`` until the deal is over.
``PHASE_NAMES``, ``STATUS_NAMES`` and ``ENDING_NAMES`` are their words, by number.
"""

from paplu_env.engine.actions import (
    ANNOUNCE,
    DECLARE_BASE,
    DISCARD_BASE,
    DRAW_CLOSED,
    DROP,
    NUM_ACTIONS,
    TAKE_OPEN,
    format_action,
    parse_action,
)
from paplu_env.engine.consistency import check
from paplu_env.engine.dealing import deal, deal_from, deal_into, deal_many
from paplu_env.engine.legal import legal_action_mask, legal_action_masks, why_illegal
from paplu_env.engine.playout import random_playouts
from paplu_env.engine.record import ENGINE_VERSION, Record, final_state, load_record, replay, save_record
from paplu_env.engine.scoring import is_over, returns
from paplu_env.engine.series.format import FORMATS, SeriesFormat, as_series, format_series, parse_series
from paplu_env.engine.series.record import SeriesRecord, final_series, load_series, replay_series, save_series
from paplu_env.engine.series.score_sheet import DealResult, ScoreSheet
from paplu_env.engine.series.series import Series
from paplu_env.engine.state import (
    ANNOUNCED,
    DECLARED,
    DISCARD,
    DRAW,
    DROPPED_FIRST,
    DROPPED_MIDDLE,
    ENDED_BY_DROP,
    ENDING_NAMES,
    IN,
    LOWER_DEADWOOD,
    NOT_ACTIVE,
    OVER,
    PHASE_NAMES,
    STATUS_NAMES,
    TRUNCATED,
    UNFINISHED,
    VOID,
    WRONG_DECLARE,
    WRONG_DECLARED,
    copy,
)
from paplu_env.engine.text import format_position, parse_position
from paplu_env.engine.transition import apply_action, apply_actions
from paplu_env.engine.unseen_cards import unseen
from paplu_env.engine.view import player_view, player_views
from paplu_env.engine.world import sample_world, sample_worlds

__all__ = [
    "ANNOUNCE",
    "ANNOUNCED",
    "DECLARED",
    "DECLARE_BASE",
    "DISCARD",
    "DISCARD_BASE",
    "DRAW",
    "DRAW_CLOSED",
    "DROP",
    "DROPPED_FIRST",
    "DROPPED_MIDDLE",
    "ENDED_BY_DROP",
    "ENDING_NAMES",
    "ENGINE_VERSION",
    "FORMATS",
    "IN",
    "LOWER_DEADWOOD",
    "NOT_ACTIVE",
    "NUM_ACTIONS",
    "OVER",
    "PHASE_NAMES",
    "STATUS_NAMES",
    "TAKE_OPEN",
    "TRUNCATED",
    "UNFINISHED",
    "VOID",
    "WRONG_DECLARE",
    "WRONG_DECLARED",
    "DealResult",
    "Record",
    "ScoreSheet",
    "Series",
    "SeriesFormat",
    "SeriesRecord",
    "apply_action",
    "apply_actions",
    "as_series",
    "check",
    "copy",
    "deal",
    "deal_from",
    "deal_into",
    "deal_many",
    "final_series",
    "final_state",
    "format_action",
    "format_position",
    "format_series",
    "is_over",
    "legal_action_mask",
    "legal_action_masks",
    "load_record",
    "load_series",
    "parse_action",
    "parse_position",
    "parse_series",
    "player_view",
    "player_views",
    "random_playouts",
    "replay",
    "replay_series",
    "returns",
    "sample_world",
    "sample_worlds",
    "save_record",
    "save_series",
    "unseen",
    "why_illegal",
]
