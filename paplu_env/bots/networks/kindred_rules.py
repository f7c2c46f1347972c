"""Rules under which a network can play though it was trained under others: those that differ where it can't tell.

A network is shown the table by its encoding, whose entries of rules it has only seen as they were while it learned. So
at a kindred table it is shown its own table's entries. That is sound for the options named here, which change neither
what completes a hand nor what a deal costs, and of which all other entries of the encodings say the same or the truth.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final

import numpy as np

from paplu_env.bots.policy import Masks
from paplu_env.engine.actions import DISCARD_BASE
from paplu_env.engine.blocked import unthrowable
from paplu_env.engine.state import DISCARD, NONE, Views
from paplu_env.errors import InvalidRules
from paplu_env.rules import RuleSet, as_rules

# Options that a network can't tell apart, with the reason.
_ALWAYS: Final = (
    "max_turns",  # when a deal is cut: the clock is that of its own table, and stands still at its end
    "block_taken_card",  # the mask tells which discard is barred; `stricter_masks` bars what its own table did
    "indicator_first",  # the order in which cards are dealt that nobody has seen
)
_FOR_TWO: Final = (
    "direction",  # the other seat is the next one either way
    "first_drop_returns_cards",  # a drop ends the deal
)
_WITHOUT_DROPS: Final = ("first_drop", "middle_drop", "first_drop_returns_cards")  # encodings say 0 or nothing


def differing(own: RuleSet, table: RuleSet) -> list[str]:
    """Names of the options in which two rule sets differ."""
    return [
        field.name
        for field in dataclasses.fields(RuleSet)
        if getattr(own, field.name) != getattr(table, field.name)
        and not (field.name == "printed_jokers" and own.num_jokers == table.num_jokers)
    ]


def can_tell(own: RuleSet, table: RuleSet) -> list[str]:
    """Names of the options that differ and that a network trained for ``own`` could tell, or must know, at a table."""
    untold = list(_ALWAYS)
    if own.num_players == table.num_players == 2:
        untold += _FOR_TWO
    if not own.drop_allowed and not table.drop_allowed:
        untold += _WITHOUT_DROPS
    return [name for name in differing(own, table) if name not in untold]


def nearest_rules(texts: Sequence[str], hashes: Sequence[str], table: RuleSet) -> RuleSet | None:
    """Of the rules that a file names, those with the fewest differences that a network could tell; the first of equals.

    Args:
        texts: rules strings.
        hashes: their hashes; a text that means other rules by now is passed over.

    Returns:
        None if no text means what it meant.
    """
    found = []
    for text, digest in zip(texts, hashes, strict=True):
        try:
            own = as_rules(text)
        except InvalidRules:
            continue
        if own.hash == digest:
            found.append(own)
    return min(found, key=lambda own: (len(can_tell(own, table)), len(differing(own, table))), default=None)


def stricter_masks(views: Views, masks: Masks, own: RuleSet, table: RuleSet) -> Masks:
    """Masks without the discard that only the network's own table bars: it has never learned when to choose it."""
    if own.block_taken_card == table.block_taken_card or table.block_taken_card:
        return masks
    stricter = masks.copy()
    for row in np.flatnonzero((views["phase"] == DISCARD) & (views["taken"] != NONE)).tolist():
        barred = int(unthrowable(views["hand"][row], int(views["taken"][row]), own.packed[0]))
        if barred != NONE:
            stricter[row, DISCARD_BASE + barred] = False  # others are held: a hand is never one card
    return stricter
