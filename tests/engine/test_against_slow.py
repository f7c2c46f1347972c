"""The engine against the slow table: what may be tried there is in the mask, and does the same."""

from random import Random

import numpy as np
import pytest

from paplu_env import engine
from paplu_env.cards import parse_cards
from paplu_env.engine.legal import REASONS, reason_words
from paplu_env.engine.state import DISCARD, ENDING_NAMES
from paplu_env.errors import IllegalAction
from paplu_env.rules import RuleSet, parse_rules
from tests.engine.golden import deck_of
from tests.engine.random_tables import likely_deck, random_rules, random_seats
from tests.engine.slow import SlowTable
from tests.engine.tables import pile_of, stock_of
from tests.oracle.hands import near_complete_hand

# Two seats of 13 cards from two packs, so that hands close to complete can be laid out.
NEAR = (
    "points:max_turns=12",
    "points:open_joker=first_turn,max_turns=7",
    "points:open_joker=never,block_taken_card=false,max_turns=9",
    "points:wrong_declare=allowed,hand_rummy=true,max_turns=12",
    "saha2025:max_turns=8",
    "one_life:direction=anticlockwise,drop_allowed=false,max_turns=9",
)
LIKES = [8, 4, 0.3, 1, 1, 2]  # so that every ending comes up
LONG = ("points:drop_allowed=false", "online:num_players=4", "saha2025", "pagat:num_players=3", "one_pack")


def near_deck(rules: RuleSet, random: Random) -> list[int]:
    """A deck that deals seat 0 a hand close to complete, with its wild rank turned up."""
    while True:
        hand, wild = near_complete_hand(random)
        left = [face for face in range(53) for _ in range(rules.copies(face))]
        for face in hand:
            left.remove(face)
        indicators = [face for face in left if face != 52 and rules.wild_of(face) == wild]
        if indicators:
            break
    left.remove(indicators[0])
    random.shuffle(left)
    dealt = [face for pair in zip(hand, left[:13], strict=True) for face in pair]
    head = [indicators[0], *dealt] if rules.indicator_first else [*dealt, left[13], indicators[0]]
    return head + left[13 if rules.indicator_first else 14 :]


def assert_equal(states: np.ndarray, slow: SlowTable) -> None:
    s = states[0]
    assert ENDING_NAMES[int(s["ending"])] == (slow.ending or "unfinished")
    assert pile_of(states) == [face for face, _copy in slow.pile]
    assert stock_of(states) == [face for face, _copy in slow.stock]
    for seat, hand in enumerate(slow.hands):
        faces = [face for face, _copy in hand]
        assert s["hands"][seat].tolist() == np.bincount(faces, minlength=53).tolist()
    assert s["drew"][: len(slow.draws)].tolist() == slow.draws
    assert engine.returns(states, 0).tolist() == slow.returns()
    assert int(s["winner"]) == slow.winner()
    if not slow.ending:
        assert int(s["current_player"]) == slow.mover
        assert (int(s["phase"]) == DISCARD) == slow.has_drawn


def play_both(
    rules: RuleSet,
    deck: list[int],
    first: int,
    random: Random,
    likes: list[float],
    share: float = 1,
    seats: list[int] | None = None,
) -> str:
    """Play a game on both, by actions drawn with these weights: draw, take, drop, discard, declare, announce.

    Args:
        share: of the decisions at which every action is tried on the slow table.
        seats: the active ones, all if not given.

    Returns:
        The ending.
    """
    states = engine.deal_from(rules, deck, first=first, active=seats)
    slow = SlowTable(rules, deck, first, seats)
    while not slow.ending:
        assert_equal(states, slow)
        allowed = np.flatnonzero(engine.legal_action_mask(states, 0, rules)).tolist()
        if random.random() < share:
            assert allowed == slow.legal()
        kinds = [min(a, 3) if a < 56 else 5 if a == engine.ANNOUNCE else 4 for a in allowed]
        action = random.choices(allowed, [likes[kind] for kind in kinds])[0]
        slow.do(action)
        engine.apply_action(states, 0, action, rules)
        if slow.wants_order:
            slow.lie(stock_of(states), pile_of(states))
    assert_equal(states, slow)
    assert slow.legal() == np.flatnonzero(engine.legal_action_mask(states, 0, rules)).tolist() == []
    return slow.ending


@pytest.mark.parametrize("text", NEAR)
def test_mask_is_what_can_be_tried_near_the_end_of_a_hand(text: str) -> None:
    rules = parse_rules(text)
    for seed in range(5):
        random = Random(seed)
        # A declaration is passed over now and then: the deal must go on right after it too.
        play_both(rules, near_deck(rules, random), 0, random, [4, 4, 0.2, 1, 0.2, 2])


@pytest.mark.parametrize("text", LONG)
def test_whole_games_go_as_on_the_slow_table(text: str) -> None:
    rules = parse_rules(text)
    deck = parse_cards(deck_of(text, 11))
    play_both(rules, deck, 1, Random(3), [4, 1, 0.01, 1, 0, 0], share=0.1)


@pytest.mark.parametrize("seed", range(40))
def test_any_table_is_played_and_settled_as_on_the_slow_one(seed: int) -> None:
    random = Random(seed)
    rules = random_rules(random, hand_size=random.choice((10, 13)))
    for _ in range(2):
        seats = random_seats(rules, random)
        first = random.choice(seats)
        deck = likely_deck(rules, seats, first, random)
        play_both(rules, deck, first, random, LIKES, share=0.2, seats=seats)


@pytest.mark.parametrize("text", NEAR)
def test_illegal_actions_change_nothing_and_say_why(text: str) -> None:
    rules = parse_rules(text)
    random = Random(5)
    states = engine.deal_from(rules, near_deck(rules, random))
    for _ in range(12):
        mask = engine.legal_action_mask(states, 0, rules)
        before = states.tobytes()
        for action in (*np.flatnonzero(~mask).tolist(), -1, 110):
            reason = engine.why_illegal(states, 0, action, rules)
            assert reason in [reason_words(code, rules) for code in range(1, len(REASONS))]
            with pytest.raises(IllegalAction) as caught:
                engine.apply_action(states, 0, action, rules)
            text_of_it = str(caught.value)
            assert reason in text_of_it
            assert caught.value.position == engine.format_position(states, 0, rules)
            assert str(caught.value.position) not in text_of_it
            assert (engine.format_action(action) if 0 <= action < 110 else f"action {action}") in text_of_it
            if action != -1:
                with pytest.raises(IllegalAction):
                    engine.apply_actions(states, [action], rules)
        assert states.tobytes() == before
        assert all(engine.why_illegal(states, 0, int(a), rules) == "" for a in np.flatnonzero(mask))
        if engine.is_over(states, 0):
            return
        engine.apply_action(states, 0, random.choice(np.flatnonzero(mask & (np.arange(110) != 2)).tolist()), rules)


def test_one_illegal_action_in_a_batch_leaves_every_row_as_it_was() -> None:
    rules = parse_rules("points")
    states = engine.deal_many(rules, np.arange(3, dtype=np.uint64))
    before = states.tobytes()
    with pytest.raises(IllegalAction, match="discard AS: a card must be drawn first"):
        engine.apply_actions(states, [engine.DRAW_CLOSED, engine.DISCARD_BASE, engine.DRAW_CLOSED], rules)
    assert states.tobytes() == before
