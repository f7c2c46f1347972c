"""An observation says nothing that its seat cannot know, and says it from that seat's place."""

import numpy as np
import pytest

from paplu_env import encoding, engine
from paplu_env.rules import as_rules
from tests.encoding.positions import dealt, movers, random_games


@pytest.mark.parametrize("name", encoding.names())
@pytest.mark.parametrize("text", ["points", "saha2025", "one_pack:stock_out=reshuffle_all", "points:num_players=4"])
def test_two_worlds_look_the_same(name: str, text: str) -> None:
    """What the seat cannot see is dealt anew: not a byte of its observation changes."""
    rules, chosen, games = as_rules(text), encoding.by_name(name), 4
    for step, states in enumerate(random_games(rules, games, seed=6)):
        if step % 11:
            continue
        for seats in (movers(states), (movers(states) + 1) % rules.num_players):
            views = engine.player_views(states, seats)
            worlds = engine.sample_worlds(views, np.arange(games, dtype=np.uint64) + step, rules)
            again = engine.player_views(worlds, seats)
            assert chosen.encode(again, rules).tobytes() == chosen.encode(views, rules).tobytes()


@pytest.mark.parametrize("name", encoding.names())
def test_swapping_the_seats_of_a_game_swaps_what_they_see(name: str) -> None:
    rules, chosen, rng = as_rules("points"), encoding.by_name(name), np.random.default_rng(9)
    hands = ["AS 2S 3S 5H 6H 8H 9D TD QD 2C 4C 7C KC", "AS 4S 6S 8S 3H 7H JH 2D 4D 8D 9C TC JC"]
    game, mirror = dealt(hands, "QS", "6D"), dealt(hands[::-1], "QS", "6D", first=1)
    for _ in range(40):
        for seat in range(2):
            seen = chosen.encode(engine.player_view(game, 0, seat), rules)
            assert seen.tobytes() == chosen.encode(engine.player_view(mirror, 0, 1 - seat), rules).tobytes()
        mask = engine.legal_action_mask(game, 0, rules)
        mask[engine.DROP] = False
        if not mask.any():
            break
        action = int(rng.choice(np.flatnonzero(mask)))
        engine.apply_action(game, 0, action, rules)
        engine.apply_action(mirror, 0, action, rules)
