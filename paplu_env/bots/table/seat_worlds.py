"""What a seat at somebody else's table knows, as worlds of our engine: those that look like its view.

Every function makes new views and states, and refuses what no world allows.
"""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from paplu_env import engine
from paplu_env.cards import NUM_FACES, counts_of, faces_of, format_card, format_hand, parse_card, parse_cards
from paplu_env.engine.dealing import active_bits
from paplu_env.engine.state import DISCARD, DROPPED_FIRST, States, Views
from paplu_env.engine.text import describe_view
from paplu_env.engine.unseen_cards import unseen
from paplu_env.engine.world import sample_world_holding
from paplu_env.errors import InvalidHand, InvalidNotation
from paplu_env.rules import RuleSet

Held = dict[int, npt.NDArray[np.int64]]  # by seat: (53,) copies that a seat must hold at least


def opening_view(event: Mapping[str, Any], seat: int, rules: RuleSet) -> Views:
    """What a seat sees of a deal; what it doesn't see lies as it comes."""
    active = event.get("active", list(range(rules.num_players)))
    active_bits(rules, event["first"], active)
    if seat not in active:
        raise InvalidNotation(f"deal: seat {seat} is not among the active seats {active}, and is dealt no hand")
    own = faces_of(parse_counts(event["hand"], rules.hand_size, "deal"))
    indicator, open_card = parse_card(event["indicator"]), parse_card(event["open"])
    rules.wild_of(indicator)  # refuses a face that can't be the indicator
    seen = [*own, indicator, open_card]
    for face in sorted(set(seen)):
        if seen.count(face) > rules.copies(face):
            raise InvalidHand(
                f"deal: {seen.count(face)} of {format_card(face)} as hand, indicator and open card: "
                f"the pack has {rules.copies(face)}"
            )
    rest = [face for face in range(NUM_FACES) for _ in range(rules.copies(face) - seen.count(face))]
    step = int(rules.packed["step"][0])
    around = [(event["first"] + step * turn) % rules.num_players for turn in range(rules.num_players)]
    order = [each for each in around if each in active]
    hands = [own if each == seat else [rest.pop() for _ in own] for each in order]
    dealt = [card for cards in zip(*hands, strict=True) for card in cards]
    if rules.indicator_first:
        deck = [indicator, *dealt, open_card, *rest]
    else:
        deck = [*dealt, open_card, indicator, *rest]
    return engine.player_view(engine.deal_from(rules, deck, event["first"], active), 0, seat)


def parse_counts(text: Any, size: int, where: str) -> npt.NDArray[np.int64]:
    """A whole hand as counts."""
    if not isinstance(text, str):
        raise InvalidNotation(f"{where}: a hand is a text, not {reprlib.repr(text)}")
    counts = counts_of(parse_cards(text)).astype(np.int64)
    if counts.sum() != size:
        raise InvalidHand(f"{where}: {counts.sum()} cards in {reprlib.repr(text)}: a hand has {size}")
    return counts


def world_with(view: Views, held: Held, rules: RuleSet) -> States:
    """A world that looks like the view, and in which other seats hold at least these cards.

    Raises:
        InvalidHand: there is none; the message says what stands in the way.
    """
    free = unseen(view, 0, rules).astype(np.int64)
    for seat, cards in held.items():
        known = view["known"][0, seat].astype(np.int64)
        more = np.maximum(cards - known, 0)
        for face in np.flatnonzero(more > free).tolist():
            raise InvalidHand(
                f"seat {seat} can't hold {cards[face]} of {format_card(face)}: {known[face] + free[face]} can be "
                f"there, the others are seen elsewhere ({describe_view(view, 0)})"
            )
        if known.sum() + more.sum() > _hand_size(view, seat, rules):
            raise InvalidHand(
                f"seat {seat} can't hold {format_hand(cards)}: it holds {_hand_size(view, seat, rules)} cards, "
                f"{format_hand(known) or 'none'} of them taken from the open pile ({describe_view(view, 0)})"
            )
        free -= more
    return sample_world_holding(view, 0, rules, held)


def _hand_size(view: Views, seat: int, rules: RuleSet) -> int:
    """Cards that a seat in play holds now."""
    v = view[0]
    if rules.first_drop_returns_cards and int(v["status"][seat]) == DROPPED_FIRST:
        return 0
    return rules.hand_size + (int(v["phase"]) == DISCARD and int(v["current_player"]) == seat)


def with_drawn(before: Views, after: Views, face: int, rules: RuleSet) -> Views:
    """The view after the seat's own draw, with the card that it really was."""
    if unseen(before, 0, rules)[face] == 0:
        raise InvalidHand(
            f"draw: no {format_card(face)} can be in the closed stock, all are seen elsewhere "
            f"({describe_view(before, 0)})"
        )
    v = after.copy()
    v["hand"][0, int(after["drawn"][0])] -= 1
    v["hand"][0, face] += 1
    v["drawn"] = face
    # Another world with this hand, so that the solver is asked about it.
    return engine.player_view(engine.sample_world(v, 0, rules), 0, int(v["seat"][0]))
