"""The card just taken: when it may go, and what everybody knows after another copy of it went."""

import numpy as np
import pytest

from paplu_env import engine
from paplu_env.cards import NUM_FACES, counts_of
from paplu_env.engine.blocked import blocked_face, known_after_throw, unthrowable
from paplu_env.engine.piles import open_card, open_card_of_view, pile_card
from paplu_env.engine.state import DISCARD, NONE
from paplu_env.rules import parse_rules
from tests.engine.tables import TABLES, pile_of, random_steps

BLOCKS, FREE = (parse_rules(f"points:block_taken_card={value}").packed[0] for value in ("true", "false"))


def test_one_copy_of_the_face_taken_stays_and_a_second_may_go() -> None:
    one, two = counts_of([7]), counts_of([7, 7])
    assert blocked_face(7, BLOCKS) == 7
    assert unthrowable(one, 7, BLOCKS) == 7
    assert unthrowable(two, 7, BLOCKS) == NONE


def test_without_the_option_or_without_a_card_taken_nothing_is_blocked() -> None:
    one = counts_of([7])
    assert blocked_face(7, FREE) == blocked_face(NONE, BLOCKS) == blocked_face(NONE, FREE) == NONE
    assert unthrowable(one, 7, FREE) == unthrowable(one, NONE, BLOCKS) == NONE


@pytest.mark.parametrize(
    ("known", "taken", "blocking", "nothing_blocked"),
    [
        (0, NONE, 0, 0),  # nobody knew of it
        (1, NONE, 0, 0),
        (2, NONE, 1, 1),
        (1, 7, 1, 0),  # its twin went, so the copy taken is still there
        (2, 7, 1, 1),  # the twin had been taken earlier
        (1, 8, 0, 0),
    ],
)
def test_what_is_known_once_a_copy_of_a_face_is_thrown(
    known: int, taken: int, blocking: int, nothing_blocked: int
) -> None:
    assert known_after_throw(known, 7, taken, BLOCKS) == blocking
    assert known_after_throw(known, 7, taken, FREE) == nothing_blocked


@pytest.mark.parametrize("text", TABLES)
def test_the_mask_leaves_out_just_the_card_that_may_not_be_thrown(text: str) -> None:
    rules = parse_rules(text)
    blocked = 0
    for states in random_steps(rules, games=8, seed=7, steps=60, longest=True):
        masks = engine.legal_action_masks(states, rules)
        for i in np.flatnonzero(states["phase"] == DISCARD):
            hand = states["hands"][i, int(states["current_player"][i])]
            face = unthrowable(hand, int(states["taken"][i]), rules.packed[0])
            assert [f for f in range(NUM_FACES) if hand[f] and not masks[i, engine.DISCARD_BASE + f]] == [face] * (
                face != NONE
            )
            blocked += face != NONE
    assert (blocked > 0) == rules.block_taken_card


@pytest.mark.parametrize("text", ["points", "saha2025:num_decks=1,max_turns=60", "pagat:num_players=4"])
def test_the_open_card_is_the_top_of_the_pile_in_states_and_views(text: str) -> None:
    rules = parse_rules(text)
    for states in random_steps(rules, games=4, seed=9, longest=True):
        for i in range(len(states)):
            pile = pile_of(states, i)
            assert [pile_card(states[i], place) for place in range(len(pile))] == pile
            if pile:
                assert open_card(states[i]) == pile[-1]
                assert open_card_of_view(engine.player_view(states, i, 1)[0]) == pile[-1]
