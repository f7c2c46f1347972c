"""The light player against a slow restatement that goes through the engine's own front door."""

from __future__ import annotations

import numpy as np
import pytest

from paplu_env import engine, melds
from paplu_env.bots.search.playout_policy import (
    LIVE,
    SCRATCH_ROWS,
    TO_THE_END,
    UNKNOWN,
    light_throw,
    live_cards,
    play_on,
)
from paplu_env.bots.search.solver_cache import new_solver_cache
from paplu_env.cards import NUM_FACES, parse_hand, wild_of_rank
from paplu_env.engine.actions import DECLARE_BASE, DISCARD_BASE, DRAW_CLOSED, TAKE_OPEN
from paplu_env.engine.state import DRAW, OVER, States
from paplu_env.engine.unseen_cards import unseen as unseen_cards
from paplu_env.melds.fast_distance.distance_table import distance_table
from paplu_env.rules import RuleSet, as_rules
from tests.bots.search.searched import after_moves


def played_on(states: States, turns: int, rules: RuleSet) -> States:
    """A copy of the rows, played on by the kernel."""
    states = engine.copy(states)
    scratch, cache = np.empty((SCRATCH_ROWS, NUM_FACES), dtype=np.uint8), new_solver_cache(rules)
    for i in range(len(states)):
        distances = np.full(rules.num_players, UNKNOWN, dtype=np.int64)
        play_on(states, i, turns, rules.packed, distance_table(), distances, cache, scratch)
    return states


def restated_action(states: States, i: int, rules: RuleSet) -> int:
    """What the light player does, in the words of its docstring."""
    row, legal = states[i], engine.legal_action_mask(states, i, rules)
    seat, wild = int(row["current_player"]), int(row["wild"])
    hand = row["hands"][seat].copy()
    view = engine.player_view(states, i, seat)
    if int(row["phase"]) == DRAW:
        if not legal[TAKE_OPEN]:
            return DRAW_CLOSED
        before = melds.distance(hand, wild, rules)
        hand[int(view["pile"][0, int(view["pile_size"][0]) - 1])] += 1
        return TAKE_OPEN if melds.distance(hand, wild, rules) < before else DRAW_CLOSED
    for face in range(NUM_FACES):
        if legal[DECLARE_BASE + face]:
            return DECLARE_BASE + face
    distances = {}
    for face in range(NUM_FACES):
        if legal[DISCARD_BASE + face]:
            hand[face] -= 1
            distances[face] = melds.distance(hand, wild, rules)
            hand[face] += 1
    lowest = min(distances.values())
    fewest = melds.distance(hand, wild, rules)  # of all discards, the blocked one included
    unseen = unseen_cards(view, 0, rules)
    worth = {}
    for face, left in distances.items():
        if left == lowest:
            hand[face] -= 1
            live = int(melds.outs(hand, wild, unseen, rules).sum()) if left == fewest else 0
            hand[face] += 1
            points = 10 if face % 13 == 0 or face % 13 > 8 else face % 13 + 1
            worth[face] = live - 1000 if wild >> face & 1 else live + 0.3 * points
    return DISCARD_BASE + max(worth, key=lambda face: (worth[face], -face))


@pytest.mark.parametrize("name", ["points:drop_allowed=false", "saha2025", "one_pack", "pagat"])
def test_the_kernel_plays_as_the_restatement_through_checked_actions(name: str) -> None:
    rules = as_rules(name)
    slow = engine.deal_many(rules, np.arange(40, 46, dtype=np.uint64))
    fast = played_on(slow, TO_THE_END, rules)
    for i in range(len(slow)):
        while int(slow[i]["phase"]) != OVER:
            engine.apply_action(slow, i, restated_action(slow, i, rules), rules)
    assert np.array_equal(fast["returns"], slow["returns"])
    assert fast.tobytes() == slow.tobytes()


def test_turns_are_counted_by_discards_and_the_one_under_way_is_the_first() -> None:
    rules = as_rules("points")
    at_draw, at_discard = after_moves(rules, 8, 4, seed=9), after_moves(rules, 8, 5, seed=9)
    for states, more in ((at_draw, 1), (at_discard, 0)):
        after = played_on(states, 1, rules)
        going_on = after["phase"] != OVER
        assert (after["phase"][going_on] == DRAW).all()
        assert (after["draws"] == states["draws"] + more).all()


def test_live_cards_are_those_unseen_by_the_seat() -> None:
    rules = as_rules("points")
    states = after_moves(rules, 6, 16, seed=3)
    live = np.empty(NUM_FACES, dtype=np.uint8)
    for i in range(len(states)):
        for seat in range(2):
            live_cards(states[i], seat, rules.packed[0], live)
            assert np.array_equal(live, unseen_cards(engine.player_view(states, i, seat), 0, rules))


def test_a_wild_card_goes_only_if_it_must() -> None:
    table, rules = distance_table(), as_rules("points")
    hand, wild = parse_hand("2S 3S 9H 9C KD 7H 4C 5D JS QH 8D TC 6S AH"), wild_of_rank(6)
    scratch = np.zeros((SCRATCH_ROWS, NUM_FACES), dtype=np.uint8)
    scratch[LIVE] = 1
    held = sum(1 << face for face in range(NUM_FACES) if hand[face])
    free, _ = light_throw(hand, wild, 0, rules.packed[0], table, scratch)
    assert not wild >> free & 1
    forced, _ = light_throw(hand, wild, held & ~wild, rules.packed[0], table, scratch)
    assert parse_hand("7H")[forced] == 1
    assert light_throw(hand, wild, held, rules.packed[0], table, scratch)[0] == -1
