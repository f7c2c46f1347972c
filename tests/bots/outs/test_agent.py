"""The rule agent `outs`: what it looks at, that it looks at nothing hidden, and that it can say why."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from paplu_env import engine, melds
from paplu_env.bots import make_policy
from paplu_env.bots.outs.agent import OutsAgent
from paplu_env.bots.outs.kernels import hand_value
from paplu_env.bots.outs.take_odds import ALL_FACES, AROUND, copies_of, interest, take_chance
from paplu_env.bots.outs.weights import BETTER_DRAW, COST, LOOKED_AT, NUM_LINES, WANTED, parse_weights, shipped_weights
from paplu_env.cards import faces_of, format_card, parse_card, parse_hand
from paplu_env.engine import DECLARE_BASE, DISCARD_BASE, DRAW_CLOSED, DROP, TAKE_OPEN
from paplu_env.engine.state import DRAW, OVER
from paplu_env.engine.unseen_cards import unseen
from paplu_env.errors import PapluError
from paplu_env.rules import parse_rules

RULES = parse_rules("points")
NO_DROPS = parse_rules("points:drop_allowed=false")


def quick() -> OutsAgent:
    """The agent with a look at one discard, and nothing taken off for what it gives away."""
    single = shipped_weights().single.copy()
    single[LOOKED_AT], single[COST] = 1, 0.0
    return OutsAgent(NO_DROPS, shipped_weights()._replace(single=single))


def decisions(policy, deals: int, seed: int):
    """Views, masks and answers of whole deals that a policy plays against itself, deal after deal."""
    found = []
    for number in range(deals):
        states = engine.deal(policy.rules, seed + number)
        while int(states["phase"][0]) != OVER:
            views = engine.player_view(states, 0, int(states["current_player"][0]))
            masks = engine.legal_action_masks(states, policy.rules)
            actions = policy.act(views, masks, np.zeros(1, dtype=np.uint64))
            found.append((views, masks, int(actions[0])))
            engine.apply_actions(states, actions, policy.rules)
    return found


def test_faces_around_are_of_the_rank_or_within_two_ranks_and_the_ace_is_high_and_low():
    def around(card: str) -> list[set[str]]:
        return [{format_card(f) for f in range(52) if int(mask) >> f & 1} for mask in AROUND[:, parse_card(card)]]

    assert around("7H") == [{"7S", "7D", "7C"}, {"6H", "8H"}, {"5H", "9H"}]
    assert around("AS") == [{"AH", "AD", "AC"}, {"2S", "KS"}, {"3S", "QS"}]
    assert around("KD") == [{"KS", "KH", "KC"}, {"QD", "AD"}, {"JD"}]
    assert around("PJ") == [set(), set(), set()]


def test_discards_keep_the_lowest_distance_and_the_quick_agent_keeps_the_hand_of_highest_value():
    policy = quick()
    seen = 0
    for views, masks, action in decisions(policy, deals=6, seed=50):
        view = views[0]
        if not DISCARD_BASE <= action < DECLARE_BASE:
            continue
        seen += 1
        hand, wild, left = np.array(view["hand"]), int(view["wild"]), unseen(views, 0, NO_DROPS)
        judged = []
        for face in np.flatnonzero(masks[0, DISCARD_BASE:DECLARE_BASE]).tolist():
            hand[face] -= 1
            distance = int(melds.distance(hand, wild, RULES))
            live = int(melds.outs(hand, wild, left, RULES).sum())
            draws = int(view["drew"][int(view["seat"])])
            value = hand_value(distance, live, hand, wild, RULES.packed[0], policy.weights, draws)
            judged.append((distance, -value, face))
            hand[face] += 1
        assert action - DISCARD_BASE == min(judged)[2]
    assert seen > 40


def test_the_value_of_a_hand_rises_with_its_outs_and_falls_with_its_distance_and_deadwood():
    few, many = (
        hand_value(2, n, parse_hand("AS 2S 3S"), 1 << 52, RULES.packed[0], shipped_weights(), 3) for n in (8, 30)
    )
    assert few < many
    values = [
        hand_value(distance, 20, parse_hand("AS 2S 3S"), 1 << 52, RULES.packed[0], shipped_weights(), 3)
        for distance in range(NUM_LINES)
    ]
    assert values[:5] == sorted(values[:5], reverse=True)
    cheap, dear = (
        hand_value(2, 20, parse_hand(hand), 1 << 52, RULES.packed[0], shipped_weights(), 3)
        for hand in ("2S 5H 8D", "TS KH KD")
    )
    assert dear < cheap


def test_a_card_that_others_refused_is_taken_less_and_one_beside_their_pick_ups_more():
    left = np.full(53, 1, dtype=np.uint8)
    seven, eight = parse_card("7H"), parse_card("8H")

    def chance(wanted: int, unwanted: int) -> float:
        return take_chance(seven, 1 << 52, left, wanted, unwanted, 3, shipped_weights().odds)

    assert chance(0, 1 << seven) < chance(0, 0) < chance(1 << eight, 0) < 1.0


def test_interest_is_read_from_the_public_log():
    states = engine.deal(RULES, 3)
    open_card = int(engine.player_view(states, 0, 0)["pile"][0, 0])
    engine.apply_action(states, 0, TAKE_OPEN, RULES)
    thrown = next(face for face in faces_of(states["hands"][0, 0]) if face != open_card)
    engine.apply_action(states, 0, DISCARD_BASE + thrown, RULES)
    engine.apply_action(states, 0, DRAW_CLOSED, RULES)
    wanted, unwanted = interest(engine.player_view(states, 0, 1)[0])
    assert (wanted, unwanted) == (1 << open_card, 1 << thrown)
    wanted, unwanted = interest(engine.player_view(states, 0, 0)[0])
    assert (wanted, unwanted) == (0, 1 << thrown), "seat 1 drew a closed card instead of it"


def test_it_takes_an_open_card_that_lowers_the_distance():
    taken = 0
    for views, masks, action in decisions(make_policy("outs", NO_DROPS), deals=4, seed=70):
        view = views[0]
        if int(view["phase"]) != DRAW or not masks[0, TAKE_OPEN]:
            continue
        hand, wild = np.array(view["hand"]), int(view["wild"])
        before = melds.distance(hand, wild, RULES)
        hand[int(view["pile"][int(view["pile_size"]) - 1])] += 1
        if melds.distance(hand, wild, RULES) < before:
            assert action == TAKE_OPEN
            taken += 1
    assert taken > 3


def test_it_drops_hopeless_hands_and_no_promising_ones():
    policy = make_policy("outs")
    states = engine.deal_many(RULES, np.arange(400, dtype=np.uint64))
    views = engine.player_views(states, np.zeros(400, dtype=np.int64))
    dropped = policy.act(views, engine.legal_action_masks(states, RULES), np.zeros(400, dtype=np.uint64)) == DROP
    distances = np.array([melds.distance(view["hand"], int(view["wild"]), RULES) for view in views])
    assert not dropped[distances <= 1].any()
    assert dropped[distances <= 2].mean() < 0.05
    assert dropped[distances >= 5].mean() > 0.3


def first_turns(rules):
    """Views of the seats that move second, after a first turn of `mindist`, and their masks."""
    states, first = engine.deal_many(rules, np.arange(300, dtype=np.uint64)), make_policy("mindist", rules)
    keys = np.zeros(300, dtype=np.uint64)
    for _ in range(2):
        views = engine.player_views(states, np.zeros(300, dtype=np.int64))
        masks = engine.legal_action_masks(states, rules)
        masks[:, DROP] = False
        engine.apply_actions(states, first.act(views, masks, keys), rules)
    going = states[states["phase"] != OVER]
    return engine.player_views(going, np.ones(len(going), dtype=np.int64)), engine.legal_action_masks(going, rules)


def test_playing_on_is_told_by_what_others_took_and_by_the_better_draw():
    views, masks = first_turns(RULES)
    keys = np.zeros(len(views), dtype=np.uint64)
    play_on = np.zeros_like(shipped_weights().play_on)
    play_on[:, :, WANTED] = -1000.0
    policy = OutsAgent(RULES, shipped_weights()._replace(play_on=play_on))
    took = views["known"][:, 0].any(axis=1)
    assert 0 < took.sum() < len(views)
    assert np.array_equal(policy.act(views, masks, keys) == DROP, took)
    play_on = np.zeros_like(play_on)
    play_on[:, :, BETTER_DRAW] = 1.0
    policy = OutsAgent(RULES, shipped_weights()._replace(play_on=play_on))
    dropped = policy.act(views, masks, keys) == DROP
    best = [
        np.nanmax(policy.judge(views[j : j + 1], masks[j : j + 1], keys[:1]).values[[DRAW_CLOSED, TAKE_OPEN]])
        for j in range(len(views))
    ]
    assert dropped.any()
    assert np.array_equal(dropped, np.array(best) < -RULES.first_drop)


def test_the_frozen_tier_answers_as_when_it_was_named():
    policy, states, said = make_policy("hard-1"), engine.deal_many(RULES, np.arange(60, dtype=np.uint64)), []
    for _ in range(12):
        going = np.flatnonzero(states["phase"] != OVER)
        rows = states[going]
        views = engine.player_views(rows, rows["current_player"].astype(np.int64))
        said.append(policy.act(views, engine.legal_action_masks(rows, RULES), np.zeros(len(rows), dtype=np.uint64)))
        engine.apply_actions(rows, said[-1], RULES)
        states[going] = rows
    answers = np.concatenate(said).astype(np.uint8)
    assert (len(answers), int((answers == DROP).sum())) == (430, 28)
    assert hashlib.sha256(answers.tobytes()).hexdigest() == (
        "7906c59d5b3d5d1371c0b31b66686cfc0cb7384cd17f95e09e67cb6664920393"
    ), "the digest was taken before `outs` got another drop rule"


def test_it_plays_twenty_one_cards_by_distance_and_deadwood():
    policy = make_policy("outs", "rummy_21")
    for views, masks, action in decisions(policy, deals=2, seed=30):
        assert masks[0, action]
        view = views[0]
        if DISCARD_BASE <= action < DECLARE_BASE:
            hand, wild = np.array(view["hand"]), int(view["wild"])
            lowest = melds.distance(hand, wild, policy.rules)
            hand[action - DISCARD_BASE] -= 1
            assert melds.distance(hand, wild, policy.rules) == lowest


def test_explanations_name_every_legal_action_the_choice_first():
    for rules in ("points:drop_allowed=false", "points:num_players=3"):
        policy = make_policy("outs", rules)
        for views, masks, action in decisions(policy, deals=1, seed=90):
            told = policy.explain(views)
            assert sorted(each.action for each in told) == np.flatnonzero(masks[0]).tolist()
            assert (told[0].action, told[0].probability) == (action, 1.0)
            assert all((each.risk is not None) == (DISCARD_BASE <= each.action < DECLARE_BASE) for each in told)
            known = [each.value for each in told if each.value is not None]
            if action >= DISCARD_BASE and action < DECLARE_BASE:
                assert told[0].value == max(known)
                assert told[0].distance == min(each.distance for each in told if each.distance is not None)


def test_every_policy_explains_itself_from_what_its_seat_sees():
    states = engine.deal(RULES, 12)
    engine.apply_action(states, 0, DRAW_CLOSED, RULES)
    views = engine.player_view(states, 0, 0)
    world = engine.sample_world(views, 5, RULES)
    for name in ("random", "mindist_opp", "outs"):
        policy = make_policy(name)
        told = policy.explain(views, key=3)
        assert told == policy.explain(engine.player_view(world, 0, 0), key=3)
        assert told[0].probability == 1.0
        assert "from complete" in str(told[0])


def test_weights_of_another_shape_are_refused_by_name():
    with pytest.raises(PapluError, match=r"lines has the shape \(1, 1\)"):
        parse_weights(json.dumps({"lines": [[1.0]]}))
    for text in ("[]", "{", "[" * 100_000, '{"lines": {}}', '{"lines": [[1, 2], [3]]}', '{"lines": "a"}'):
        with pytest.raises(PapluError):
            parse_weights(text)


def test_compiled_and_plain_python_answers_are_alike():
    source = textwrap.dedent("""
        import json
        import numpy as np
        from paplu_env import engine
        from paplu_env.bots.outs.agent import OutsAgent
        from paplu_env.bots.outs.weights import shipped_weights
        from paplu_env.bots.outs.weights import LOOKED_AT
        from paplu_env.rules import as_rules
        rules = as_rules("one_pack:drop_allowed=false")
        single = shipped_weights().single.copy()
        single[LOOKED_AT] = 2
        policy = OutsAgent(rules, shipped_weights()._replace(single=single))
        states = engine.deal(rules, 8)
        said = []
        for step in range(4):
            views = engine.player_view(states, 0, int(states["current_player"][0]))
            actions = policy.act(views, engine.legal_action_masks(states, rules), np.zeros(1, dtype=np.uint64))
            said.append(int(actions[0]))
            engine.apply_actions(states, actions, rules)
    """)
    compiled: dict[str, list[int]] = {}
    exec(source, compiled)
    plain = subprocess.run(
        [sys.executable, "-c", f"import numpy\nnumpy.seterr(over='raise')\n{source}\nprint(json.dumps(said))"],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert plain.returncode == 0, plain.stderr
    assert json.loads(plain.stdout) == compiled["said"]


def test_copies_are_counted_over_a_mask():
    counts = parse_hand("AS AS 2S PJ")
    assert copies_of(counts, ALL_FACES) == 4
    assert copies_of(counts, 1) == 2
