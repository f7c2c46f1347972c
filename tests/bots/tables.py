"""Hand-written positions: a deal laid out card by card, so that a test says what it is about."""

from __future__ import annotations

import numpy as np

from paplu_env import engine
from paplu_env.bots import Policy, make_policy
from paplu_env.cards import PRINTED_JOKER, parse_card, parse_cards
from paplu_env.engine.actions import format_action, parse_action
from paplu_env.engine.state import States
from paplu_env.rules import RuleSet, as_rules


def lay_out(
    hand: str,
    open_card: str,
    indicator: str,
    stock: str = "",
    other: str = "",
    first: int = 0,
    rules: RuleSet | str = "points",
) -> States:
    """A deal for two in which seat 0 holds ``hand``; cards not given are the lowest faces left over.

    Args:
        stock: the next closed cards, the first to be drawn first.
        other: cards of seat 1, as many as matter.
        first: seat with the first turn.
    """
    table = as_rules(rules)
    left = [face for face in range(PRINTED_JOKER + 1) for _ in range(table.copies(face))]
    hands = [parse_cards(hand), parse_cards(other)]
    face_up, turned, closed = parse_card(open_card), parse_card(indicator), parse_cards(stock)
    assert len(hands[0]) == table.hand_size
    for face in (*hands[0], *hands[1], face_up, turned, *closed):
        left.remove(face)
    while len(hands[1]) < table.hand_size:
        hands[1].append(left.pop(0))
    rounds = zip(hands[first], hands[1 - first], strict=True)
    dealt = [face for pair in rounds for face in pair]
    deck = [turned, *dealt, face_up] if table.indicator_first else [*dealt, face_up, turned]
    return engine.deal_from(table, deck + closed + left, first=first)


def no_keys(rows: np.ndarray, due: States) -> np.ndarray:
    """Keys of decisions that leave nothing to chance."""
    return np.zeros(len(rows), dtype=np.uint64)


def play(states: States, *actions: str, rules: RuleSet | str = "points") -> States:
    """Apply actions in words, whoever is to move; the same row is returned."""
    for action in actions:
        engine.apply_action(states, 0, parse_action(action), as_rules(rules))
    return states


def answer(policy: Policy | str, states: States, rules: RuleSet | str = "points", key: int = 0) -> str:
    """What a policy does for the seat to move, in words."""
    return format_action(int(answers(policy, states, rules, key)[0]))


def answers(policy: Policy | str, states: States, rules: RuleSet | str = "points", key: int = 0) -> np.ndarray:
    """What a policy does in every row; row ``i`` gets the key ``key + i``."""
    table = as_rules(rules)
    seats = states["current_player"].astype(np.int64)
    keys = np.arange(key, key + len(states), dtype=np.uint64)
    return make_policy(policy, table).act(
        engine.player_views(states, seats), engine.legal_action_masks(states, table), keys
    )
