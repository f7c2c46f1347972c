"""The 21-card game: its rules on hands cut down to what the oracle can try, and on whole hands built to be complete."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import numpy as np
import numpy.typing as npt
import pytest

from paplu_env import melds
from paplu_env.cards import NUM_FACES, counts_of, format_hand, parse_hand
from paplu_env.melds.fast_distance.distance_kernels import discard_distances_kernel, distance_kernel
from paplu_env.melds.fast_distance.distance_table import distance_table
from paplu_env.melds.fast_distance.outs_kernels import outs_kernel
from paplu_env.melds.fast_points.deadwood_kernels import deadwood_kernel, points_kernel
from paplu_env.melds.fast_points.declarable_kernels import declarable_kernel, is_complete_kernel
from paplu_env.rules import PRESETS, parse_rules, preset
from tests import oracle
from tests.oracle.definitions import runs_of_places, sets_of_places
from tests.oracle.hands import KINDS, Hand, dense_hand, pack, wild_heavy_hand

RULES = preset("rummy_21")
TABLE = distance_table()


def cut_down(size: int) -> tuple[npt.NDArray[np.void], oracle.Options]:
    """The record of the rules for hands of another size, and the same for the oracle."""
    record = RULES.packed.copy()
    record["hand_size"] = size
    options = {name: getattr(RULES, name) for name in oracle.Options.__dataclass_fields__}
    return record, oracle.Options(**{**options, "hand_size": size})


def small_hands(number: int, seed: int, size: int) -> Iterator[Hand]:
    """Hands of three packs with the wild cards of an indicator; some with enough copies that tunnelas are near."""
    rng = Random(f"21 cut down {seed} {size}")
    for place in range(number):
        wild = RULES.wild_of(rng.randrange(NUM_FACES))
        kind = ("dense", "near_complete", "copies", "random", "wild")[place % 5]
        if kind == "copies":
            yield rng.sample([face for face in rng.sample(range(52), 6) for _ in range(3)], size), wild
        elif kind == "wild":
            held = [face for face in pack(3, 3) if wild >> face & 1]
            some = rng.sample(held, rng.randint(4, 8))
            others = [face for face in dense_hand(rng, 20, 3, 3)[0] if not wild >> face & 1]
            yield (some + others + pack(3, 0))[:size], wild
        else:
            yield KINDS[kind](rng, size, 3, 3)[0], wild


def compare(size: int, more: int, number: int, seed: int) -> None:
    """Every number that the kernels give for hands cut down to ``size`` cards, and one more if so asked."""
    record, options = cut_down(size)
    r = record[0]
    for cards, wild in small_hands(number, seed, size + more):
        counts, name = counts_of(cards), (oracle.write(cards), wild)
        assert deadwood_kernel(counts, wild, r) == oracle.deadwood(cards, wild, options), name
        assert points_kernel(counts, wild, r) == oracle.points(cards, wild, options), name
        distance = oracle.distance(cards, wild, options)
        assert distance_kernel(counts, wild, r, TABLE) == distance, name
        if more:
            finishes = oracle.declarable(cards, wild, options)
            assert declarable_kernel(counts, wild, r) == sum(1 << face for face in finishes), name
        else:
            assert bool(is_complete_kernel(counts, wild, r)) == oracle.is_complete(cards, wild, options), name


@pytest.mark.parametrize(("size", "more"), [(9, 0), (10, 1), (12, 0), (13, 0), (12, 1)])
def test_hands_cut_down_have_the_oracles_numbers(size: int, more: int) -> None:
    compare(size, more, 15 if size > 10 else 40, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
@pytest.mark.parametrize(("size", "more"), [(9, 0), (10, 1), (12, 0), (13, 0), (12, 1), (13, 1), (14, 0)])
def test_many_hands_cut_down_have_the_oracles_numbers(size: int, more: int, part: int) -> None:
    compare(size, more, 50, seed=100 + part)


def whole_hands(number: int, seed: int) -> Iterator[tuple[list[int], int]]:
    """Complete hands of 21 cards, three pure sequences or tunnelas and other groups, and their wild masks."""
    rng = Random(f"21 whole {seed}")
    while number:
        wild = RULES.wild_of(rng.randrange(NUM_FACES))
        wilds = [face for face in range(NUM_FACES) if wild >> face & 1]
        cards: list[int] = []
        for group, length in enumerate(rng.choice(([3, 3, 3, 3, 3, 3, 3], [5, 4, 3, 4, 5], [3, 4, 3, 4, 3, 4]))):
            if group < 3 and length == 3 and rng.random() < 0.3:
                laid = [rng.randrange(52)] * 3
            elif group < 3 or length > 4 or rng.random() < 0.5:
                laid = sorted(rng.choice(runs_of_places(length)))
            else:
                laid = rng.sample(sorted(rng.choice(sets_of_places())), length)
            if group > 2 and rng.random() < 0.5:
                laid[rng.randrange(length)] = rng.choice(wilds)
            cards += laid
        if max(map(cards.count, cards)) <= 3:
            number -= 1
            yield cards, wild


@pytest.mark.parametrize(
    "options", ["", ":min_pure_sequences=1", ":min_pure_sequences=2", ":max_set_size=4", ":min_naturals=2"]
)
@pytest.mark.parametrize("replaced", [0, 1, 2])
def test_a_complete_hand_with_cards_replaced_is_no_further_away(replaced: int, options: str) -> None:
    rules = parse_rules(f"rummy_21{options}")
    rng = Random(f"replaced {replaced}")
    for cards, wild in whole_hands(8, seed=replaced):
        for place in rng.sample(range(21), replaced):
            cards[place] = rng.choice([face for face in range(52) if cards.count(face) < 3])
        counts, name = counts_of(cards), (oracle.write(cards), wild)
        distance = melds.distance(counts, wild, rules)
        assert distance <= replaced, name
        laid = melds.arrange(counts, wild, rules)
        assert laid.complete == (distance == 0) == bool(is_complete_kernel(counts, wild, rules.packed[0])), name
        reasons = melds.check_declaration([meld.cards for meld in laid.melds], wild, rules, counts)
        assert laid.complete == (reasons == []), (name, reasons)


def check_by_induction(number: int, seed: int) -> None:
    """Every hand that isn't complete is one card closer with an out, and with no other card.

    The distance is 0 exactly when the hand is complete, so this holds each distance against the ones below it, on
    hands of all 21 cards, which are too many for the oracle.
    """
    rng = Random(f"induction {seed}")
    r = RULES.packed[0]
    found = np.zeros(NUM_FACES, dtype=np.uint8)
    whole = whole_hands(number, seed)
    for place in range(number):
        wild = RULES.wild_of(rng.randrange(NUM_FACES))
        if place % 4 == 0:
            cards = rng.sample(pack(3, 3), 21)
        elif place % 4 == 1:
            cards = dense_hand(rng, 21, 3, 3, ranks=7)[0]
        elif place % 4 == 2:
            cards, wild = wild_heavy_hand(rng, 21, 3, 3)
        else:
            cards, wild = next(whole)
            cards[rng.randrange(21)] = rng.choice([face for face in range(52) if cards.count(face) < 3])
        counts, name = counts_of(cards), (oracle.write(cards), wild)
        unseen = np.array([RULES.copies(face) for face in range(NUM_FACES)], dtype=np.uint8) - counts
        distance = outs_kernel(counts, wild, unseen, r, TABLE, found)
        assert (distance == 0) == bool(is_complete_kernel(counts, wild, r)), name
        assert (distance > 0) == bool(found.any()), name
        for face in np.flatnonzero(unseen).tolist():
            counts[face] += 1
            nearer = distance_kernel(counts, wild, r, TABLE)
            assert nearer == distance - bool(found[face]), (name, face)
            assert (nearer == 0) == (declarable_kernel(counts, wild, r) != 0), (name, face)
            counts[face] -= 1


def test_an_out_brings_a_hand_one_card_closer_and_nothing_else_does() -> None:
    check_by_induction(24, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
def test_many_hands_are_one_card_closer_with_an_out(part: int) -> None:
    check_by_induction(300, seed=100 + part)


def test_every_discard_of_22_cards_has_the_distance_of_what_it_leaves() -> None:
    rng = Random("22 cards")
    out = np.zeros(NUM_FACES, dtype=np.uint8)
    for place in range(12):
        cards = rng.sample(pack(3, 3), 22) if place % 2 else dense_hand(rng, 22, 3, 3, ranks=7)[0]
        counts, wild = counts_of(cards), RULES.wild_of(rng.randrange(NUM_FACES))
        lowest = discard_distances_kernel(counts, wild, RULES.packed[0], TABLE, out)
        assert lowest == distance_kernel(counts, wild, RULES.packed[0], TABLE)
        for face in sorted(set(cards)):
            counts[face] -= 1
            assert out[face] == distance_kernel(counts, wild, RULES.packed[0], TABLE), (format_hand(counts), wild, face)
            counts[face] += 1


@pytest.mark.parametrize(
    ("hand", "wild", "groups"),
    [
        ("2S 2S 2S 9H 9H 9H KD KD KD 3C 5C 7C 9C JC KC 4H 6H 8D QS QD 5S", "AD", "2S 2S 2S | 9H 9H 9H | KD KD KD"),
        (
            "2S 2S 4S 4S 6H 6H 8H 8H TD TD QD QD 3C 3C 5C 5C 7D 9H JS KH KC",
            "AD",
            "2S 2S | 4S 4S | 6H 6H | 8H 8H | TD TD | QD QD | 3C 3C | 5C 5C",
        ),
        ("AS AH AD AC AS AH PJ PJ 2S 4S 7S 9H JH 3H 5D 8D TD QC KC 2C 6C", "AD", "AS AS AH AH AD AC PJ PJ"),
        # The faces above and below the indicator are wild in its suit: the king and the two of diamonds.
        ("AS AH AD AC AS KD 2D 2D 2S 4S 7S 9H JH 3H 5D 8D TD QC KC 2C 6C", "AD", "AS AS AH AD 2D 2D KD AC"),
    ],
)
def test_special_hands_are_complete_whatever_the_rest(hand: str, wild: str, groups: str) -> None:
    counts, mask = parse_hand(hand), RULES.wild_of(oracle.read(wild)[0])
    laid = melds.arrange(counts, mask, RULES)
    assert (laid.complete, laid.deadwood, melds.distance(counts, mask, RULES)) == (True, 0, 0)
    assert str(laid).startswith(f"{groups} | left: ")
    assert melds.check_declaration([meld.cards for meld in laid.melds], mask, RULES, counts) == []
    # With the last group not shown nothing is special any more.
    assert melds.check_declaration([meld.cards for meld in laid.melds][:-1], mask, RULES, counts) != []


def test_a_special_hand_lays_no_card_that_is_not_held() -> None:
    counts = parse_hand("2S 2S 2S 9H 9H 9H KD KD 3C 5C 7C 9C JC KC 4H 6H 8D QS QD 5S TD")
    groups = [["2S"] * 3, ["9H"] * 3, ["KD"] * 3]
    assert melds.check_declaration(groups, RULES.wild_of(0), RULES, counts) == ["KD is laid but not held"]


def test_no_other_table_knows_special_hands() -> None:
    assert [name for name in PRESETS if preset(name).special_hands] == ["rummy_21"]
