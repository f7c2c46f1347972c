"""Likely worlds: they look like the view, pin what is known, and hold hands about as good as at a real table."""

from __future__ import annotations

import numpy as np

from paplu_env import engine, melds
from paplu_env.bots.likely_worlds import closed_draws, likely_world
from paplu_env.bots.rollout import ROOM_ROWS
from paplu_env.cards import NUM_FACES
from paplu_env.engine.state import States, Views, empty_states
from paplu_env.melds.distance_table import distance_table
from paplu_env.rules import as_rules
from tests.bots.searched import after_moves

POINTS = as_rules("points")


def worlds_of(views: Views) -> States:
    """A likely world of each view."""
    states = empty_states(POINTS, len(views))
    room = np.empty((ROOM_ROWS, NUM_FACES), dtype=np.uint8)
    for j in range(len(views)):
        assert likely_world(views, j, np.uint64(j), POINTS.packed, distance_table(), states, j, room)
    return states


def views_after(moves: int, deals: int = 60) -> tuple[States, Views]:
    states = after_moves(POINTS, deals, moves, seed=500)
    return states, engine.player_views(states, states["current_player"].astype(np.int64))


def hidden_distances(states: States, views: Views) -> np.ndarray:
    hands = states["hands"][np.arange(len(states)), 1 - views["seat"].astype(np.int64)]
    return melds.distances(hands, states["wild"], POINTS)


def test_a_likely_world_looks_like_the_view_and_holds_the_whole_pack() -> None:
    _, views = views_after(13, deals=20)
    worlds = worlds_of(views)
    for i in range(len(worlds)):
        assert engine.check(worlds, i, POINTS) == []
    assert engine.player_views(worlds, views["seat"].astype(np.int64)).tobytes() == views.tobytes()


def test_known_cards_stay_in_the_hand() -> None:
    _, views = views_after(16)
    assert (views["known"] > 0).any()
    assert (worlds_of(views)["hands"] >= views["known"]).all()


def test_hidden_hands_are_nearly_as_good_as_at_the_table() -> None:
    states, views = views_after(20, deals=150)
    real = hidden_distances(states, views).mean()
    likely = hidden_distances(worlds_of(views), views)
    dealt = hidden_distances(engine.sample_worlds(views, np.arange(len(views)), POINTS), views).mean()
    assert dealt - real > 1, "hands that were only dealt are far behind"
    assert abs(likely.mean() - real) < (dealt - real) / 3
    assert likely.min() > 0, "a complete hand would have been declared"


def test_closed_draws_are_counted_from_the_log() -> None:
    states, views = views_after(18, deals=20)
    for i in range(len(states)):
        for seat in range(2):
            taken = sum(
                1
                for entry in states["log"][i][: states["log_size"][i]].tolist()
                if entry >> 12 == seat and entry >> 6 & 63 < NUM_FACES
            )
            assert closed_draws(views[i], seat) == states["drew"][i, seat] - taken
