"""What must hold for any hand: hypothesis draws the cards, and shrinks what fails to the lowest ones."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from paplu_env import melds
from paplu_env.cards import Counts, counts_of, faces_of, parse_cards, wild_of_rank
from paplu_env.melds.groups import PURE_KINDS
from paplu_env.rules import RuleSet
from tests.melds.batches import batch, mixed_hands
from tests.oracle.definitions import points_of
from tests.oracle.hands import pack, relabelled

POINTS = RuleSet()
PACK = pack()
# One order for all: what is lowest by rank shrinks towards dense hands.
BY_RANK = sorted(range(len(PACK)), key=lambda place: (PACK[place] % 13, PACK[place]))

ranks = st.integers(-1, 12)
quick = settings(max_examples=150, deadline=None, derandomize=True)


def hand_of(size: int) -> st.SearchStrategy[list[int]]:
    """Faces of ``size`` cards of two packs; half of the hands come from a few ranks only."""
    everywhere = st.sets(st.integers(0, len(PACK) - 1), min_size=size, max_size=size)
    nearby = st.tuples(st.integers(0, 60), st.sets(st.integers(0, 45), min_size=size, max_size=size)).map(
        lambda drawn: {drawn[0] + place for place in drawn[1]}
    )
    return st.one_of(everywhere, nearby).map(lambda places: [PACK[BY_RANK[place]] for place in sorted(places)])


def without(counts: Counts, face: int) -> Counts:
    rest = counts.copy()
    rest[face] -= 1
    return rest


@quick
@given(hand_of(14), ranks)
def test_declarable_faces_are_those_whose_removal_leaves_a_complete_hand(cards: list[int], rank: int) -> None:
    counts, wild = counts_of(cards), wild_of_rank(rank)
    finishes = set(np.flatnonzero(melds.declarable(counts, wild, POINTS)))
    assert finishes == {face for face in cards if melds.distance(without(counts, face), wild, POINTS) == 0}
    assert bool(finishes) == (melds.distance(counts, wild, POINTS) == 0)


@quick
@given(hand_of(13), ranks)
def test_a_hand_is_complete_exactly_when_nothing_is_left_over(cards: list[int], rank: int) -> None:
    counts, wild = counts_of(cards), wild_of_rank(rank)
    complete = melds.distance(counts, wild, POINTS) == 0
    assert (melds.deadwood(counts, wild, POINTS) == 0) == complete
    assert melds.arrange(counts, wild, POINTS).complete == complete


@quick
@given(hand_of(14), ranks)
def test_a_card_more_costs_at_most_its_points_and_saves_at_most_one_replacement(cards: list[int], rank: int) -> None:
    counts, wild = counts_of(cards), wild_of_rank(rank)
    deadwood, distance = melds.deadwood(counts, wild, POINTS), melds.distance(counts, wild, POINTS)
    after = [melds.distance(without(counts, face), wild, POINTS) for face in set(cards)]
    assert min(after) == distance
    assert max(after) <= distance + 1
    for face in set(cards):
        assert deadwood <= melds.deadwood(without(counts, face), wild, POINTS) + points_of(face, wild)


@quick
@given(hand_of(13), ranks, st.integers(0, 51))
def test_one_wild_face_more_never_hurts(cards: list[int], rank: int, face: int) -> None:
    counts, wild = counts_of(cards), wild_of_rank(rank)
    assert melds.deadwood(counts, wild | 1 << face, POINTS) <= melds.deadwood(counts, wild, POINTS)
    assert melds.distance(counts, wild | 1 << face, POINTS) <= melds.distance(counts, wild, POINTS)


@quick
@given(hand_of(13), ranks, st.data())
def test_outs_are_the_unseen_faces_whose_draw_lowers_the_distance(
    cards: list[int], rank: int, data: st.DataObject
) -> None:
    counts, wild = counts_of(cards), wild_of_rank(rank)
    unseen = np.array([data.draw(st.integers(0, 2 - int(held))) for held in counts], dtype=np.uint8)
    now = melds.distance(counts, wild, POINTS)
    outs = melds.outs(counts, wild, unseen, POINTS)
    for face in np.flatnonzero(unseen):
        more = counts.copy()
        more[face] += 1
        lowers = melds.distance(more, wild, POINTS) < now
        assert outs[face] == (unseen[face] if lowers else 0), face
    assert not outs[unseen == 0].any()


@quick
@given(st.one_of(hand_of(13), hand_of(14)), ranks)
def test_an_arrangement_lays_every_card_once_and_leaves_the_deadwood(cards: list[int], rank: int) -> None:
    counts, wild = counts_of(cards), wild_of_rank(rank)
    laid = melds.arrange(counts, wild, POINTS)
    assert sorted([*laid.leftovers, *(face for meld in laid.melds for face in meld.faces)]) == sorted(cards)
    left = sum(points_of(face, wild) for face in laid.leftovers)
    assert left == laid.deadwood == melds.deadwood(counts, wild, POINTS)
    assert laid.points == min(left, 80)
    kinds = [melds.kind_of_group(meld.faces, wild, POINTS) for meld in laid.melds]
    assert [meld.kind for meld in laid.melds] == kinds
    # One life is one pure sequence; with more groups there are two sequences, one of them pure.
    assert len(kinds) == 0 or kinds[0] in PURE_KINDS
    assert len(kinds) < 2 or sum(kind != "set" for kind in kinds) >= 2
    if laid.complete and len(cards) == 13:
        assert melds.check_declaration([meld.cards for meld in laid.melds], wild, POINTS, counts) == []


@quick
@given(hand_of(14), ranks, st.permutations(range(4)))
def test_suits_can_change_their_names(cards: list[int], rank: int, suits: list[int]) -> None:
    renamed, wild = relabelled(cards, wild_of_rank(rank), suits)
    before, after = counts_of(cards), counts_of(renamed)
    assert melds.deadwood(after, wild, POINTS) == melds.deadwood(before, wild, POINTS)
    assert melds.distance(after, wild, POINTS) == melds.distance(before, wild, POINTS)
    finishes = np.flatnonzero(melds.declarable(before, wild, POINTS)).tolist()
    assert set(np.flatnonzero(melds.declarable(after, wild, POINTS))) == set(relabelled(finishes, wild, suits)[0])


def test_the_order_in_which_cards_are_written_changes_nothing() -> None:
    drawn = mixed_hands(10, seed=8)
    for cards, wild in drawn:
        text = melds.arrange(counts_of(cards), wild, POINTS)
        assert melds.arrange(counts_of(reversed(cards)), wild, POINTS) == text
        assert melds.arrange(counts_of(sorted(cards)), wild, POINTS) == text


def test_a_batch_in_another_order_gives_the_same_numbers() -> None:
    counts, wilds = batch(mixed_hands(50, seed=9, size=14))
    order = np.random.default_rng(1).permutation(len(counts))
    for ask in (melds.deadwoods, melds.distances, melds.declarables):
        assert (ask(counts, wilds, POINTS)[order] == ask(counts[order], wilds[order], POINTS)).all()


def test_the_hand_of_an_arrangement_is_found_again_from_its_text() -> None:
    for cards, wild in mixed_hands(10, seed=10):
        text = str(melds.arrange(counts_of(cards), wild, POINTS)).replace("left:", "")
        assert faces_of(counts_of(parse_cards(text))) == sorted(cards)
