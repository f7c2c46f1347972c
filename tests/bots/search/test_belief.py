"""Likely worlds: they look like the view, and the hidden hands fit what their seats took, refused and threw."""

from __future__ import annotations

import numpy as np

from paplu_env import engine, melds
from paplu_env.bots.search.belief import likely_worlds_kernel
from paplu_env.bots.search.playout_policy import SCRATCH_ROWS
from paplu_env.cards import NUM_FACES
from paplu_env.engine.actions import DECLARE_BASE, DISCARD_BASE, DRAW_CLOSED, DROP, TAKE_OPEN
from paplu_env.engine.state import DRAW, States, Views, empty_states
from paplu_env.melds.fast_distance.distance_table import distance_table
from paplu_env.rules import RuleSet, as_rules
from tests.bots.search.searched import after_moves

POINTS = as_rules("points")
EACH = 8  # worlds a view


def worlds_of(views: Views, rules: RuleSet = POINTS, first: int = 0, each: int = EACH) -> States:
    """So many likely worlds of each view, those of one view side by side."""
    states = empty_states(rules, len(views) * each)
    scratch = np.empty((SCRATCH_ROWS, NUM_FACES), dtype=np.uint8)
    for j in range(len(views)):
        rows, key = states[j * each : (j + 1) * each], np.uint64(j)
        assert likely_worlds_kernel(views, j, key, first, rules.packed, distance_table(), rows, scratch)
    return states


def views_after(moves: int, deals: int = 60, rules: RuleSet = POINTS) -> tuple[States, Views]:
    states = after_moves(rules, deals, moves, seed=500)
    return states, engine.player_views(states, states["current_player"].astype(np.int64))


def hidden_hands(states: States, views: Views) -> np.ndarray:
    return states["hands"][np.arange(len(states)), 1 - views["seat"].astype(np.int64)]


def known_cards(views: Views) -> np.ndarray:
    return views["known"][np.arange(len(views)), 1 - views["seat"].astype(np.int64)]


def test_a_likely_world_looks_like_the_view_and_holds_the_whole_pack() -> None:
    for name in ("points", "saha2025", "one_pack", "ten_card", "points:open_joker=never"):
        rules = as_rules(name)
        _, views = views_after(13, deals=8, rules=rules)
        worlds, repeated = worlds_of(views, rules), np.repeat(views, EACH)
        for i in range(len(worlds)):
            assert engine.check(worlds, i, rules) == []
        assert engine.player_views(worlds, repeated["seat"].astype(np.int64)).tobytes() == repeated.tobytes()


def test_known_cards_stay_in_the_hand() -> None:
    _, views = views_after(16)
    assert (views["known"] > 0).any()
    assert (worlds_of(views)["hands"] >= np.repeat(views, EACH)["known"]).all()


def test_a_hand_of_which_every_card_is_known_is_dealt_as_it_is() -> None:
    for seed in range(5):
        states = engine.deal_many(POINTS, np.array([seed], dtype=np.uint64))
        while states["known"][0, 1].sum() < POINTS.hand_size or states["phase"][0] != DRAW:
            mask = engine.legal_action_mask(states, 0, POINTS)[:DECLARE_BASE]
            if states["current_player"][0] == 1:  # takes every open card, and throws what nobody knows that it holds
                mask[DRAW_CLOSED] = False
                mask[DISCARD_BASE:] &= states["hands"][0, 1] > states["known"][0, 1]
            mask[[DROP, *([TAKE_OPEN] if states["current_player"][0] == 0 else [])]] = False
            engine.apply_actions(states, np.flatnonzero(mask)[:1], POINTS)
            if states["current_player"][0] == 0:
                views = engine.player_views(states, [0])
                for world in worlds_of(views):
                    assert (world["hands"][1] >= views["known"][0, 1]).all()
                    assert world["hands"].sum() == states["hands"].sum()
        assert (worlds_of(engine.player_views(states, [0]))["hands"][:, 1] == states["hands"][0, 1]).all()


def test_worlds_follow_from_the_view_the_key_and_their_number() -> None:
    states, views = views_after(12, deals=20)
    worlds = worlds_of(views)
    later = worlds_of(views, first=EACH // 2, each=EACH // 2)
    second_halves = worlds.reshape(-1, EACH)[:, EACH // 2 :]
    assert later.tobytes() == second_halves.tobytes()
    others = engine.sample_worlds(views, np.arange(len(views)) + 7, POINTS)
    assert (others["hands"] != states["hands"]).any()
    seen = engine.player_views(others, views["seat"].astype(np.int64))
    assert worlds_of(seen).tobytes() == worlds.tobytes()


def test_hidden_hands_are_as_near_as_at_the_table_whatever_was_taken() -> None:
    states, views = views_after(16, deals=300)
    repeated = np.repeat(views, EACH)
    real = melds.distances(hidden_hands(states, views), states["wild"], POINTS)
    likely = melds.distances(hidden_hands(worlds_of(views), repeated), repeated["wild"], POINTS).reshape(-1, EACH)
    taken = known_cards(views).sum(axis=1)
    assert abs(likely.mean() - real.mean()) < 0.2
    for group in (taken == 0, taken == 1, taken >= 2):
        assert group.sum() > 20
        assert abs(likely[group].mean() - real[group].mean()) < 0.5
    assert np.mean(likely == 0) < 0.002, "a hand may be dealt complete, but none becomes so"


def test_hidden_hands_share_more_with_the_real_ones_than_hands_that_were_only_dealt() -> None:
    states, views = views_after(16, deals=150)
    repeated = np.repeat(views, EACH)
    known = known_cards(repeated)
    real = np.repeat(hidden_hands(states, views), EACH, axis=0) - known
    likely, dealt = (
        np.minimum(real, hidden_hands(worlds, repeated) - known).sum(axis=1).mean()
        for worlds in (worlds_of(views), engine.sample_worlds(repeated, np.arange(len(repeated)), POINTS))
    )
    assert likely > dealt + 0.1
