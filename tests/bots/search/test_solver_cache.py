"""What a search keeps of hands against the solver asked anew: hands met again, and hands that lost their places."""

from __future__ import annotations

import numpy as np
import pytest

from paplu_env import engine, melds
from paplu_env.bots.search.solver_cache import (
    DEADWOOD,
    DISTANCE,
    LIVES,
    OUTS,
    SolverCache,
    cached_answers,
    cached_discard_outs,
    new_solver_cache,
)
from paplu_env.cards import NUM_FACES, PRINTED_JOKER, Counts, wild_of_rank
from paplu_env.melds.fast_distance.distance_table import distance_table
from paplu_env.melds.fast_distance.outs_kernels import discard_outs_kernel
from paplu_env.melds.fast_points.lives_kernels import lives_kernel
from paplu_env.rules import RuleSet, as_rules

TABLES = ["points", "one_pack", "pagat", "points:num_decks=3,printed_jokers=9", "ten_card", "tanala"]


def drawn(rules: RuleSet, rng: np.random.Generator, number: int, size: int) -> list[tuple[Counts, Counts, int]]:
    """Hands of ``size`` cards, what may be unseen beside each, and wild faces."""
    (pack,) = engine.deal_many(rules, rng.integers(2**63, size=1, dtype=np.uint64))
    copies = np.array([rules.copies(face) for face in range(NUM_FACES)])
    cards = np.repeat(np.arange(NUM_FACES), copies)
    found = []
    for _ in range(number):
        counts = np.bincount(rng.choice(cards, size, replace=False), minlength=NUM_FACES).astype(np.uint8)
        seen = rng.random(NUM_FACES) < 0.2
        found.append((counts, np.where(seen, 0, copies - counts).astype(np.uint8), int(pack["wild"])))
    return found


def asked(hand: tuple[Counts, Counts, int], rules: RuleSet, cache: SolverCache | None) -> bytes:
    """Distances and outs after each discard, kept answers or not."""
    (counts, unseen, wild), (distances, totals) = hand, np.full((2, NUM_FACES), 99, dtype=np.uint8)
    if cache is None:
        discard_outs_kernel(counts, wild, unseen, rules.packed[0], distance_table(), distances, totals)
    else:
        cached_discard_outs(counts, wild, unseen, rules.packed[0], distance_table(), cache, distances, totals)
    return distances.tobytes() + totals.tobytes()


@pytest.mark.parametrize("name", TABLES)
def test_discards_are_judged_as_without_it_whatever_came_before(name: str) -> None:
    rules, rng = as_rules(name), np.random.default_rng(5)
    number = 20 if rules.tanala else 300  # three packs are searched slowly
    cache, hands = new_solver_cache(rules), drawn(rules, rng, number, rules.hand_size + 1)
    for counts, unseen, wild in hands:
        other = np.where(rng.random(NUM_FACES) < 0.3, 0, unseen)  # the same hand later, when more has been seen
        assert asked((counts, unseen, wild), rules, cache) == asked((counts, unseen, wild), rules, None)
        assert asked((counts, other, wild), rules, cache) == asked((counts, other, wild), rules, None)
    for hand in hands:
        assert asked(hand, rules, cache) == asked(hand, rules, None)


@pytest.mark.parametrize("name", TABLES)
def test_a_hand_is_told_as_the_solver_tells_it(name: str) -> None:
    rules, rng = as_rules(name), np.random.default_rng(6)
    cache, scratch = new_solver_cache(rules), np.empty((2, NUM_FACES), dtype=np.uint8)
    hands = drawn(rules, rng, 10 if rules.tanala else 100, rules.hand_size)
    full = np.array([rules.copies(face) for face in range(NUM_FACES)])
    for counts, _, wild in hands + hands:
        place = cached_answers(counts, wild, rules.packed[0], distance_table(), cache, scratch)
        answers = cache.answers[place]
        outs = melds.outs(counts, wild, (full > counts).astype(np.uint8), rules)
        assert answers[DISTANCE] == melds.distance(counts, wild, rules)
        assert answers[OUTS] & (1 << PRINTED_JOKER) - 1 == sum(1 << face for face in range(PRINTED_JOKER) if outs[face])
        assert answers[DEADWOOD] == melds.deadwood(counts, wild, rules)
        assert answers[LIVES] == lives_kernel(counts, wild, rules.packed[0])


def test_the_wild_faces_are_part_of_what_is_kept() -> None:
    rules, rng = as_rules("points"), np.random.default_rng(7)
    cache, scratch = new_solver_cache(rules), np.empty((2, NUM_FACES), dtype=np.uint8)
    for counts, unseen, _ in drawn(rules, rng, 50, 14):
        hand = counts.copy()
        hand[np.flatnonzero(hand)[0]] -= 1
        for rank in (0, 6):
            wild = wild_of_rank(rank)
            assert asked((counts, unseen, wild), rules, cache) == asked((counts, unseen, wild), rules, None)
            place = cached_answers(hand, wild, rules.packed[0], distance_table(), cache, scratch)
            assert cache.answers[place, DISTANCE] == melds.distance(hand, wild, rules)


def test_hands_that_share_a_place_are_told_apart() -> None:
    rules, rng = as_rules("points"), np.random.default_rng(8)
    cache, scratch = (
        SolverCache(*(array[:1].copy() for array in new_solver_cache(rules))),
        np.empty((2, NUM_FACES), dtype=np.uint8),
    )
    for hand in drawn(rules, rng, 30, 14):
        for _ in range(2):
            assert asked(hand, rules, cache) == asked(hand, rules, None)
    for counts, _, wild in drawn(rules, rng, 30, 13):
        for _ in range(2):
            place = cached_answers(counts, wild, rules.packed[0], distance_table(), cache, scratch)
            assert cache.answers[place, DISTANCE] == melds.distance(counts, wild, rules)
