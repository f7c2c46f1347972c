"""The rules engine: deals, what is legal, what actions do, what a seat may know, and records."""

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
from paplu_env.engine.checks import check
from paplu_env.engine.deal import deal, deal_from, deal_into, deal_many
from paplu_env.engine.legal import legal_action_mask, legal_action_masks, why_illegal
from paplu_env.engine.scoring import is_over, returns
from paplu_env.engine.state import copy
from paplu_env.engine.text import format_position, parse_position
from paplu_env.engine.transition import apply_action, apply_actions
from paplu_env.engine.view import player_view, player_views

__all__ = [
    "ANNOUNCE",
    "DECLARE_BASE",
    "DISCARD_BASE",
    "DRAW_CLOSED",
    "DROP",
    "NUM_ACTIONS",
    "TAKE_OPEN",
    "apply_action",
    "apply_actions",
    "check",
    "copy",
    "deal",
    "deal_from",
    "deal_into",
    "deal_many",
    "format_action",
    "format_position",
    "is_over",
    "legal_action_mask",
    "legal_action_masks",
    "parse_action",
    "parse_position",
    "player_view",
    "player_views",
    "returns",
    "why_illegal",
]
