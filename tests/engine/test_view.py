"""What a seat may know: worlds that differ where it cannot see, seats that change places, hands that lie open."""

import numpy as np
import pytest

from paplu_env import engine
from paplu_env.cards import counts_of, parse_card, parse_cards
from paplu_env.engine.state import DISCARD, LOG_SEAT_SHIFT, NONE, States, Views, _public_fields
from paplu_env.engine.view import copy_public, views_for
from paplu_env.errors import InvalidHand, InvalidRules
from paplu_env.rules import RuleSet, parse_rules
from tests.engine.golden import deck_of
from tests.engine.tables import COMPLETE, POINTS, TABLES, engine_keys, lay_out, pile_of, play, random_steps

LOOSE = "AS 5S 9S KS | 2H 6H TH | 4D 8D QD | 2C 7C JC"


def masks_for(states: States, seat: int, rules: RuleSet) -> np.ndarray:
    """The mask that a seat is given: its own if it is to move, else nothing."""
    return engine.legal_action_masks(states, rules) & (states["current_player"] == seat)[:, None]


@pytest.mark.parametrize("text", TABLES)
def test_two_worlds_look_the_same_to_the_seat_that_holds_both_possible(text: str) -> None:
    rules = parse_rules(text)
    changed = 0
    for step, states in enumerate(random_steps(rules, games=24, seed=3, longest=True)):
        if step % 3 and (states["current_player"] >= 0).any():
            continue
        seat = step % rules.num_players
        views = engine.player_views(states, np.full(24, seat))
        worlds = engine.sample_worlds(views, engine_keys(step, 24), rules)
        assert engine.player_views(worlds, np.full(24, seat)).tobytes() == views.tobytes()
        assert masks_for(worlds, seat, rules).tobytes() == masks_for(states, seat, rules).tobytes()
        changed += int((worlds["hands"] != states["hands"]).any(axis=(1, 2)).sum())
        if step % 9 == 0:
            # Every public number follows from what was open to all, or the world's own walk would differ.
            assert engine.check(worlds, step % 24, rules) == []
    assert changed > 100


def test_worlds_keep_known_pick_ups_and_differ_elsewhere() -> None:
    states = play(lay_out([LOOSE, LOOSE], "7H", "3C"), "take", "discard AS", "draw")
    view = engine.player_view(states, 0, 1)
    hands = [engine.sample_world(view, key, POINTS)["hands"][0, 0] for key in range(50)]
    assert all(hand[parse_card("7H")] >= 1 for hand in hands)
    assert len({hand.tobytes() for hand in hands}) == 50


def test_a_world_is_a_function_of_view_and_key() -> None:
    view = engine.player_view(engine.deal(POINTS, 5), 0, 1)
    world = engine.sample_world(view, 7, POINTS)
    assert engine.sample_world(view, 7, POINTS).tobytes() == world.tobytes()
    other = engine.sample_world(view, 8, POINTS)
    assert other["seed"] != world["seed"]
    assert other["cards"].tobytes() != world["cards"].tobytes()


def test_a_batch_of_worlds_is_the_worlds_of_its_views() -> None:
    views = engine.player_views(engine.deal_many(POINTS, np.arange(6, dtype=np.uint64)), [0, 1, 0, 1, 0, 1])
    keys = engine_keys(1, 6)
    batch = engine.sample_worlds(views, keys, POINTS)
    assert engine.sample_worlds(views, keys, POINTS, threads=2).tobytes() == batch.tobytes()
    for j in range(6):
        assert engine.sample_world(views, int(keys[j]), POINTS, j).tobytes() == batch[j : j + 1].tobytes()


def test_every_unseen_card_is_equally_likely_in_a_hidden_hand() -> None:
    states = play(lay_out([LOOSE, LOOSE], "7H", "3C"), "take", "discard AS")
    view = engine.player_view(states, 0, 1)
    worlds = engine.sample_worlds(np.repeat(view, 4000), engine_keys(2, 4000), POINTS)
    counts = worlds["hands"][:, 0].astype(np.int64).sum(axis=0)
    pack = np.array([POINTS.copies(face) for face in range(53)])
    seen = counts_of(parse_cards(LOOSE)) + counts_of(parse_cards("AS 3C 7H"))
    unseen = pack - seen
    assert unseen.sum() == 78 + 12
    counts[parse_card("7H")] -= 4000  # the pick-up that seat 1 has seen
    expected = 4000 * 12 * unseen / 90
    spread = 4000 * 12 * unseen / 90 * (1 - unseen / 90) * (90 - 12) / 89
    possible = unseen > 0
    assert (counts[~possible] == 0).all()
    # Chi-square with as many degrees of freedom as possible faces: 89.3 at p = 0.001 for 52.
    assert ((counts - expected)[possible] ** 2 / spread[possible]).sum() < 89.3


def test_the_movers_hidden_draw_is_sampled_too() -> None:
    states = play(lay_out([LOOSE, LOOSE], "7H", "3C", stock="QH"), "draw")
    worlds = [engine.sample_world(engine.player_view(states, 0, 1), key, POINTS) for key in range(20)]
    assert len({int(world["drawn"][0]) for world in worlds}) > 5
    for world in worlds:
        assert world["hands"][0, 0].sum() == 14
        assert world["hands"][0, 0, int(world["drawn"][0])] > 0


def test_views_that_do_not_add_up_and_views_of_other_tables_are_refused() -> None:
    view = engine.player_view(engine.deal(POINTS, 5), 0, 1)
    with pytest.raises(InvalidRules, match="one_pack"):
        engine.sample_world(view, 1, parse_rules("one_pack"))
    with pytest.raises(InvalidRules, match="3 seats"):
        engine.sample_world(view, 1, parse_rules("points:num_players=3"))
    view["hand"] = 0
    with pytest.raises(InvalidHand, match="do not add up"):
        engine.sample_world(view, 1, POINTS)


def test_seats_that_do_not_exist_have_no_view() -> None:
    states = engine.deal_many(POINTS, [1, 2])
    for seat in (-1, 2):
        with pytest.raises(InvalidRules, match="seat"):
            engine.player_view(states, 0, seat)
    for seats in ([0, 2], [-1, 0]):
        with pytest.raises(InvalidRules, match="seat"):
            engine.player_views(states, seats)


# What a view holds


def test_a_view_holds_the_own_hand_and_no_other() -> None:
    states = engine.deal(POINTS, 5)
    for seat in (0, 1):
        view = engine.player_view(states, 0, seat)[0]
        assert view["hand"].tolist() == states["hands"][0, seat].tolist()
        assert view["shown"].sum() == 0
        assert view["pile"].tolist() == pile_of(states) + [NONE] * 164
    assert {"hands", "cards", "seed"}.isdisjoint(view.dtype.names)


def test_only_the_mover_sees_what_it_drew_and_what_it_can_declare() -> None:
    states = play(lay_out([COMPLETE], "7H", "3C", stock="QD"), "draw")
    own, other = (engine.player_view(states, 0, seat)[0] for seat in (0, 1))
    assert int(own["drawn"]) == parse_card("QD")
    assert int(own["declarable"]) >> parse_card("QD") & 1
    assert (int(other["drawn"]), int(other["declarable"])) == (NONE, 0)


def test_everybody_sees_what_is_taken_from_the_open_pile() -> None:
    states = play(lay_out([LOOSE], "7H", "3C"), "take")
    for seat in (0, 1):
        view = engine.player_view(states, 0, seat)[0]
        assert int(view["taken"]) == parse_card("7H")
        assert int(view["known"][0, parse_card("7H")]) == 1


@pytest.mark.parametrize(
    ("text", "hands", "actions", "open_seats"),
    [
        ("points", [COMPLETE, LOOSE], ["draw", "declare JD"], {0, 1}),
        ("points:wrong_declare=allowed", [LOOSE, LOOSE], ["draw", "declare AS"], {0, 1}),
        ("points:hand_rummy=true", [COMPLETE, LOOSE], ["announce"], {0, 1}),
        ("points", [LOOSE, LOOSE], ["drop"], set()),
        ("points:max_turns=1", [LOOSE, LOOSE], ["draw", "discard AS"], set()),
        ("points:max_turns=1,turn_limit_result=lower_deadwood", [LOOSE, LOOSE], ["draw", "discard AS"], {0, 1}),
        (
            "points:num_players=3,max_turns=1,turn_limit_result=lower_deadwood",
            [LOOSE, LOOSE],
            ["drop", "draw", "discard AS"],
            {1, 2},
        ),
        ("points:num_players=3,wrong_declare=allowed", [LOOSE, LOOSE], ["draw", "declare AS", "drop"], {0}),
    ],
)
def test_hands_lie_open_at_the_end_after_a_declaration_and_at_the_limit(
    text: str, hands: list[str], actions: list[str], open_seats: set[int]
) -> None:
    rules = parse_rules(text)
    states = play(lay_out(hands, "7H", "3C", stock="JD", rules=rules), *actions, rules=rules)
    assert engine.is_over(states, 0)
    for seat in range(rules.num_players):
        shown = engine.player_view(states, 0, seat)["shown"][0]
        for other in range(rules.num_players):
            expected = states["hands"][0, other] if other in open_seats else np.zeros(53)
            assert shown[other].tolist() == expected.tolist()


def test_a_batch_of_views_is_the_views_of_its_rows_whatever_was_there_before() -> None:
    rules = parse_rules("pagat:num_players=4")
    *_, states = random_steps(rules, games=8, seed=4, steps=60, longest=True)
    seats = np.arange(8) % 4
    out = engine.player_views(engine.deal_many(rules, np.arange(8, dtype=np.uint64)), seats)
    engine.player_views(states, seats, out=out, threads=2)
    for i in range(8):
        assert engine.player_view(states, i, int(seats[i])).tobytes() == out[i : i + 1].tobytes()


# Seats that change places


def _swapped(views: Views) -> Views:
    """The view as it would read if the two seats had each other's numbers."""
    twin = views.copy()
    for name in ("known", "returns", "status", "drew", "shown"):
        twin[name] = views[name][:, ::-1]
    for name in ("first", "seat"):
        twin[name] = 1 - views[name]
    for name in ("current_player", "winner", "finisher"):
        twin[name] = np.where(views[name] < 0, -1, 1 - views[name])
    size = int(views["log_size"][0])
    twin["log"][0, :size] ^= 1 << LOG_SEAT_SHIFT
    return twin


@pytest.mark.parametrize(
    "text", ["points:drop_allowed=false", "points:wrong_declare=allowed", "saha2025:max_turns=120"]
)
def test_a_game_with_the_seats_swapped_looks_the_same_from_the_other_seat(text: str) -> None:
    rules = parse_rules(text)
    deck = parse_cards(deck_of("points", 21))
    one, other = (engine.deal_from(rules, deck, first=first) for first in (0, 1))
    generator = np.random.default_rng(1)
    while not engine.is_over(one, 0):
        for seat in (0, 1):
            swapped = _swapped(engine.player_view(other, 0, 1 - seat))
            assert engine.player_view(one, 0, seat).tobytes() == swapped.tobytes()
        mask = engine.legal_action_mask(one, 0, rules)
        assert mask.tobytes() == engine.legal_action_mask(other, 0, rules).tobytes()
        mask[engine.DROP] = False
        action = int(generator.choice(np.flatnonzero(mask)))
        engine.apply_action(one, 0, action, rules)
        engine.apply_action(other, 0, action, rules)
    assert engine.returns(one, 0).tolist() == engine.returns(other, 0)[::-1].tolist()
    assert _swapped(engine.player_view(other, 0, 0)).tobytes() == engine.player_view(one, 0, 1).tobytes()


@pytest.mark.parametrize("players", [2, 10])
def test_every_field_that_states_and_views_share_in_public_is_copied_whole(players: int) -> None:
    rules = parse_rules(f"points:num_players={players},num_decks={3 if players > 2 else 2}")
    states = engine.deal(rules, 1)
    views = views_for(states, 1)
    public = [field[0] for field in _public_fields(states["hands"].shape[1])]
    assert set(public) <= set(states.dtype.names or ()) & set(views.dtype.names or ())
    random = np.random.default_rng(3)
    for name in public:
        part = states[name]
        part[:] = random.integers(1, 100, part.shape)  # never what an empty view holds
    copy_public(states[0], views[0])
    assert [name for name in public if states[name].tobytes() != views[name].tobytes()] == []
    back = engine.deal(rules, 2)
    copy_public(views[0], back[0])  # as worlds do it
    assert [name for name in public if states[name].tobytes() != back[name].tobytes()] == []


def test_what_is_not_public_is_not_copied_as_if_it_were() -> None:
    states = engine.deal(POINTS, 1)
    views = views_for(states, 1)
    copy_public(states[0], views[0])
    public = {field[0] for field in _public_fields(states["hands"].shape[1])}
    assert all(not views[name].any() for name in views.dtype.names or () if name not in public)


def test_phase_is_a_field_and_never_a_guess() -> None:
    states = engine.deal(POINTS, 5)
    assert int(engine.player_view(states, 0, 1)["phase"][0]) == 0
    assert int(engine.player_view(play(states, "draw"), 0, 1)["phase"][0]) == DISCARD
