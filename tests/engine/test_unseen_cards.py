"""The unseen cards are exactly those whose place a seat cannot know."""

import numpy as np
import pytest

from paplu_env import engine
from paplu_env.cards import parse_card
from paplu_env.engine.unseen_cards import unseen
from paplu_env.rules import as_rules
from tests.encoding.positions import dealt, play, random_games


@pytest.mark.parametrize(
    "text",
    [
        "points",
        "saha2025:max_turns=250",
        "one_pack:stock_out=reshuffle_all",
        "points:num_players=4,wrong_declare=allowed",
        "pagat:num_players=7",
    ],
)
def test_unseen_are_stock_and_what_opponents_hold_without_being_known_for_it(text: str) -> None:
    rules = as_rules(text)
    for step, states in enumerate(random_games(rules, games=6, seed=2)):
        if step % 9:
            continue
        for seat in range(rules.num_players):
            views = engine.player_views(states, np.full(6, seat))
            for i, state in enumerate(states):
                stock = np.bincount(state["cards"][: int(state["stock_size"])], minlength=53)
                held = np.delete(state["hands"].astype(int), seat, axis=0)
                known = np.delete(np.maximum(views[i]["known"], views[i]["shown"]).astype(int), seat, axis=0)
                assert np.array_equal(unseen(views, i, rules), stock + (held - known).sum(axis=0))


def test_a_card_is_seen_while_its_taker_is_known_to_hold_it() -> None:
    states = dealt(["AS 2S 3S 5H 6H 8H 9D TD QD 2C 4C 7C KC", "AS 4S 6S 8S 3H 7H JH 2D 4D 8D 9C TC JC"], "QS", "6D")
    rules, queen = as_rules("points"), parse_card("QS")
    copies = [
        int(unseen(engine.player_view(play(states, actions), 0, 1), 0, rules)[queen])
        for actions in ("", "take", "take, discard KC")
    ]
    assert copies == [1, 1, 1]
