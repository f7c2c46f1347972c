"""What ``features-v1`` adds: the solver's answers, about this hand and after every choice."""

import numpy as np
import pytest

from paplu_env import encoding, engine
from paplu_env.cards import NUM_FACES, PRINTED_JOKER
from paplu_env.engine.state import DISCARD, DRAW, NONE, Views
from paplu_env.engine.unseen_cards import unseen
from paplu_env.melds import lives
from paplu_env.melds.fast_distance.distance_kernels import distance_kernel
from paplu_env.melds.fast_distance.distance_table import distance_table
from paplu_env.melds.fast_points.deadwood_kernels import deadwood_kernel, points_kernel
from paplu_env.rules import RuleSet, as_rules
from tests.encoding.positions import dealt, play, sampled_views

FEATURES = encoding.by_name("features-v1")
NEAR = "AS 2S 3S 4S 5H 6H 7H 9C 9D 9S KC KD JC"  # one king short of complete
OTHER = "AC 4S 6S 8S 3H 8H JH 3D 4D 8D 4C TC JD"


def fields_of(views: Views, rules: str = "points") -> dict[str, np.ndarray]:
    row = FEATURES.encode(views, rules)[0]
    return {field.name: row[field.start : field.stop].reshape(field.shape) for field in FEATURES.fields(rules)}


def said(actions: str = "", seat: int = 0, turned_up: str = "QS", stock: str = "KH QD") -> dict[str, np.ndarray]:
    states = dealt([NEAR, OTHER], turned_up, "6D", stock=stock)
    return fields_of(engine.player_view(play(states, actions), 0, seat))


def distance(counts: np.ndarray, wild: int, rules: RuleSet) -> int:
    return int(distance_kernel(counts, wild, rules.packed[0], distance_table()))


def count_outs(counts: np.ndarray, wild: int, left: np.ndarray, rules: RuleSet) -> int:
    """Outs by definition: draw each unseen face and see whether the distance falls."""
    now, total = distance(counts, wild, rules), 0
    for card in np.flatnonzero(left):
        drawn = counts.copy()
        drawn[card] += 1
        total += int(left[card]) * (now > 0 and distance(drawn, wild, rules) < now)
    return total


def judged(
    hand: np.ndarray, wild: int, left: np.ndarray, blocked: int, rules: RuleSet
) -> dict[int, tuple[int, int, int]]:
    """Distance, deadwood and outs after each discard that may be made."""
    answers = {}
    for card in np.flatnonzero(hand):
        if card == blocked and hand[card] == 1:
            continue
        after = hand.copy()
        after[card] -= 1
        answers[int(card)] = (
            distance(after, wild, rules),
            int(deadwood_kernel(after, wild, rules.packed[0])),
            count_outs(after, wild, left, rules),
        )
    return answers


@pytest.mark.parametrize(
    "text", ["points", "saha2025", "one_pack", "points:num_players=4", "points:block_taken_card=false"]
)
def test_every_entry_is_the_solvers_answer(text: str) -> None:
    rules = as_rules(text)
    views = sampled_views(text, games=2, seed=4, every=37)[:14]
    share = max(rules.max_points, rules.wrong_declare_points)
    for j, view in enumerate(views):
        told = fields_of(views[j : j + 1], text)
        hand, wild, left = view["hand"].copy(), int(view["wild"]), unseen(views, j, rules)
        num_unseen = int(left.sum())
        blocked = int(view["taken"]) if rules.block_taken_card else NONE
        assert told["lives"].sum() == lives(hand, wild, rules)
        choices = judged(hand, wild, left, blocked, rules) if hand.sum() == 14 else {}
        if choices:
            lowest = min(judged(hand, wild, left, NONE, rules).values())[0]
            near, least = min(c[0] for c in choices.values()), min(c[1] for c in choices.values())
            outs = {card: c[2] * (c[0] == lowest) for card, c in choices.items()}
            most = max(outs.values())
            cheapest = next(card for card, c in choices.items() if c[1] == least)
            hand[cheapest] -= 1
        else:
            near, least = distance(hand, wild, rules), int(deadwood_kernel(hand, wild, rules.packed[0]))
            most = count_outs(hand, wild, left, rules)
        points = int(points_kernel(hand, wild, rules.packed[0]))
        assert told["deadwood"].tolist() == [np.float32(least / 140), np.float32(points / share)]
        assert np.flatnonzero(told["distance"]).tolist() == [near]
        assert told["outs"] == np.float32(most / num_unseen)
        for card in range(NUM_FACES):
            if card in choices:
                after, deadwood, _ = choices[card]
                assert told["deadwood_after"][card] == np.float32(1 - deadwood / 140)
                assert told["distance_after"][card] == (1 if after == lowest else 0.5)
                assert told["outs_after"][card] == np.float32(outs[card] / num_unseen)
            else:
                assert not any(told[name][card] for name in ("deadwood_after", "distance_after", "outs_after"))
        if int(view["phase"]) == DRAW and int(view["current_player"]) == int(view["seat"]):
            taken = int(view["pile"][int(view["pile_size"]) - 1])
            hand[taken] += 1
            choices = judged(hand, wild, left, taken if rules.block_taken_card else NONE, rules)
            reached = min(c[0] for c in choices.values())
            best = min(c[1] for c in choices.values() if c[0] == reached)
            most = max(c[2] for c in choices.values() if c[:2] == (reached, best))
            least = min(c[1] for c in choices.values())
            expected = [1, least / 140, (near - reached + 1) / 2, most / num_unseen]
            assert told["if_taken"].tolist() == [np.float32(value) for value in expected]
        else:
            assert not told["if_taken"].any()


def test_a_useful_open_card_is_told_apart_from_a_useless_one() -> None:
    useless, useful = said(turned_up="QS"), said(turned_up="KH", stock="QS")
    assert useless["if_taken"][2] == 0.5
    assert useful["if_taken"][2] == 1
    assert useful["if_taken"][1] < useless["if_taken"][1]


def test_a_complete_hand_shows_distance_zero_and_the_cards_to_finish_with() -> None:
    told = said("draw")  # the king of hearts
    assert np.flatnonzero(told["distance"]).tolist() == [0]
    assert told["deadwood"].tolist() == [0, 0]
    finish = [card for card in range(NUM_FACES) if told["distance_after"][card] == 1]
    view = engine.player_view(play(dealt([NEAR, OTHER], "QS", "6D", stock="KH QD"), "draw"), 0, 0)
    assert finish == [card for card in range(NUM_FACES) if int(view["declarable"][0]) >> card & 1]


def test_the_blocked_card_is_not_judged_but_its_twin_is() -> None:
    states = dealt([NEAR, OTHER], "QS", "6D")
    taken = fields_of(engine.player_view(play(states, "take"), 0, 0))
    assert taken["deadwood_after"][11] == 0
    twin = dealt([NEAR.replace("JC", "QS"), OTHER], "QS", "6D")
    assert fields_of(engine.player_view(play(twin, "take"), 0, 0))["deadwood_after"][11] > 0


def test_a_seat_that_is_not_to_move_sees_its_hand_judged() -> None:
    waiting = said("draw", seat=1)
    assert waiting["distance"].sum() == 1
    assert waiting["deadwood"][0] > 0
    assert not any(waiting[name].any() for name in ("deadwood_after", "distance_after", "outs_after", "if_taken"))


def test_a_known_card_of_an_opponent_is_an_out_no_more() -> None:
    states = dealt([NEAR, OTHER], "QS", "6D")
    views = engine.player_view(states, 0, 0)
    before = fields_of(views)["outs"][0]
    views["known"][0, 1, 37] = 1  # a queen of diamonds, useless
    useless = fields_of(views)["outs"][0]
    views["known"][0, 1, 37] = 0
    views["known"][0, 1, 25] = 1  # the king of hearts
    useful = fields_of(views)["outs"][0]
    assert useful < before < useless


def test_a_hand_that_went_back_under_the_stock_has_no_answers() -> None:
    rules = "points:num_players=3,first_drop_returns_cards=true"
    states = play(engine.deal(as_rules(rules), 2), "drop", rules)
    told = fields_of(engine.player_view(states, 0, 0), rules)
    names = [field.name for field in FEATURES.fields(rules)][len(encoding.by_name("cards-v1").fields(rules)) :]
    assert not any(told[name].any() for name in names)


def test_phases_were_met_in_the_sample() -> None:
    views = sampled_views("points", games=2, seed=4, every=37)[:14]
    assert {DRAW, DISCARD} <= set(views["phase"].tolist())
    assert (views["hand"][:, PRINTED_JOKER] > 0).any()
