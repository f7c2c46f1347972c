"""A draw or a discard taken back leaves the position before it, byte for byte; whatever else happened is refused."""

from collections import Counter

import numpy as np
import pytest

from paplu_env import engine
from paplu_env.engine.playout import random_actions
from paplu_env.engine.state import DISCARD, OVER, WRONG_DECLARED, States
from paplu_env.engine.undo import name_drawn, take_back_discard, take_back_draw
from paplu_env.errors import InvalidRules, PapluError
from paplu_env.rules import RuleSet, parse_rules
from tests.engine.tables import COMPLETE, LOOSE, POINTS, TABLES, engine_keys, lay_out, play

GAMES = 24
# Tables that reshuffle in long games.
OTHERS = ("saha2025:num_decks=1,max_turns=90", "pagat:num_players=4,stock_out=reshuffle_all,max_turns=200")


def taken_back(before: States, after: States, action: int, rules: RuleSet) -> bool:
    """Whether a move was taken back to the same bytes; False if it was refused, and rightly so."""
    row = after.copy()
    try:
        if action in (engine.DRAW_CLOSED, engine.TAKE_OPEN):
            take_back_draw(row, row["drawn"], rules)
        else:
            take_back_discard(row, rules)
            if int(row["taken"][0]) != int(row["drawn"][0]):
                raise AssertionError("a card of the stock is not known from the log")
            name_drawn(row, before["drawn"], rules)
    except PapluError:
        assert row.tobytes() == after.tobytes()
        is_discard = engine.DISCARD_BASE <= action < engine.DECLARE_BASE
        goes_on = int(after["phase"][0]) != OVER
        assert not (is_discard and goes_on and int(after["reshuffles"][0]) == int(before["reshuffles"][0]))
        assert action not in (engine.DRAW_CLOSED, engine.TAKE_OPEN)
        return False
    assert row.tobytes() == before.tobytes(), engine.format_action(action)
    return True


def kind_of(before: States, after: States, action: int) -> str:
    """What happened, in a word."""
    if int(after["reshuffles"][0]) > int(before["reshuffles"][0]):
        return "reshuffle"
    seat = int(before["current_player"][0])
    if action == engine.DROP and int(after["stock_size"][0]) > int(before["stock_size"][0]):
        return "drop with cards back"
    if int(after["status"][0, seat]) == WRONG_DECLARED:
        return "wrong declaration"
    return engine.format_action(action).split()[0]


@pytest.mark.parametrize("text", [*TABLES, *OTHERS])
@pytest.mark.parametrize("longest", [False, True], ids=["any action", "long games"])
def test_a_draw_or_a_discard_taken_back_gives_the_same_bytes(text: str, longest: bool) -> None:
    rules = parse_rules(text)
    states = engine.deal_many(rules, np.arange(GAMES, dtype=np.uint64), np.arange(GAMES) % rules.num_players)
    undone, refused = Counter[str](), Counter[str]()
    for step in range(180):
        states = states[states["phase"] != OVER]
        if not len(states):
            break
        masks = engine.legal_action_masks(states, rules)
        if longest:
            masks[:, engine.DROP] = (states["draws"] < 2) & (np.arange(len(states)) % 5 == 0) & masks[:, engine.DROP]
            masks[:, engine.DECLARE_BASE : engine.ANNOUNCE] = False
        actions = random_actions(masks, engine_keys(step, len(states)))
        before = states.copy()
        engine.apply_actions(states, actions, rules)
        for i, action in enumerate(map(int, actions)):
            row, now = before[i : i + 1], states[i : i + 1]
            kinds = undone if taken_back(row, now, action, rules) else refused
            kinds[kind_of(row, now, action)] += 1
    assert set(undone) <= {"draw", "take", "discard"}
    assert min(undone["draw"], undone["take"], undone["discard"]) > 0
    if longest and text in OTHERS:
        assert refused["reshuffle"] > 0
    if longest and text.startswith("pagat"):
        assert refused["drop with cards back"] > 0


def test_moves_after_a_reshuffle_are_taken_back_and_the_reshuffle_is_not() -> None:
    rules = parse_rules("saha2025:num_decks=1,drop_allowed=false")
    states = engine.deal(rules, 5)
    while int(states["reshuffles"][0]) == 0:
        play(states, "draw", "discard drawn", rules=rules)
    with pytest.raises(PapluError, match="can't be taken back"):
        take_back_discard(states, rules)
    before = states.copy()
    play(states, "draw", "discard drawn", rules=rules)
    take_back_discard(states, rules)
    name_drawn(states, [int((states["hands"] > before["hands"])[0].any(axis=0).argmax())], rules)
    take_back_draw(states, states["drawn"], rules)
    assert states.tobytes() == before.tobytes()


def test_a_hand_that_may_be_announced_may_be_announced_again_after_its_draw_is_taken_back() -> None:
    rules = parse_rules("points:hand_rummy=true")
    states = lay_out([COMPLETE, LOOSE], "7H", "3C", rules=rules)
    before = states.copy()
    assert int(before["complete"][0]) == 1
    play(states, "draw", rules=rules)
    take_back_draw(states, states["drawn"], rules)
    assert states.tobytes() == before.tobytes()
    play(states, "announce", rules=rules)
    with pytest.raises(PapluError, match="row 0"):
        take_back_discard(states, rules)


def test_a_blocked_card_stays_known_through_a_discard_of_its_twin_and_back() -> None:
    states = lay_out([f"7H 7H {LOOSE.replace('AS 5S', '')}", LOOSE], "7H", "3C", rules=parse_rules("tanala"))
    rules = parse_rules("tanala")
    before = play(states, "take", rules=rules).copy()
    play(states, "discard 7H", rules=rules)
    assert int(states["known"][0, 0, 19]) == 1
    take_back_discard(states, rules)
    assert states.tobytes() == before.tobytes()


def test_what_cannot_be_taken_back_is_refused_and_nothing_has_changed() -> None:
    states = lay_out([LOOSE, COMPLETE], "7H", "3C", stock="QD JD")
    others = parse_rules("points:max_turns=100")
    for attempt in (
        lambda: take_back_draw(states, [0], POINTS),  # nobody has drawn
        lambda: take_back_discard(states, POINTS),  # nobody has thrown
        lambda: take_back_discard(states, others),
        lambda: take_back_draw(states, [0, 1], POINTS),
    ):
        before = states.copy()
        with pytest.raises((PapluError, InvalidRules)):
            attempt()
        assert states.tobytes() == before.tobytes()
    play(states, "take")
    for face in (-1, 53, 0, 1):  # a card that was not taken, held (0) or not (1)
        with pytest.raises(PapluError, match="can have drawn this card"):
            name_drawn(states, [face], POINTS)
    assert int(states["phase"][0]) == DISCARD
