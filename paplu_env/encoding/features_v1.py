"""``features-v1``: `cards-v1` and, after it, what the exact solver says of the hand and of every choice."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from paplu_env._jit import lowest_bit, njit
from paplu_env.cards import NUM_FACES, Counts
from paplu_env.encoding.base import Encoding, Observations, starts_of
from paplu_env.encoding.cards_v1 import CARDS_SPECS, cards_plan, encode_cards
from paplu_env.encoding.fields import FieldSpec
from paplu_env.engine.blocked import unthrowable
from paplu_env.engine.piles import open_card_of_view
from paplu_env.engine.state import DRAW, Views
from paplu_env.engine.unseen_cards import unseen_kernel
from paplu_env.melds.fast_distance.distance_kernels import discard_distances_kernel
from paplu_env.melds.fast_distance.distance_table import Table, distance_table
from paplu_env.melds.fast_distance.outs_kernels import discard_outs_kernel, outs_after_kernel, outs_kernel
from paplu_env.melds.fast_points.deadwood_kernels import deadwood_kernel, points_kernel
from paplu_env.melds.fast_points.lives_kernels import lives_kernel
from paplu_env.rules import MAX_PLAYERS, RuleSet

# Distances told apart; dealt hands are 0 to 6, and from 8 on a hand is as far as any.
NUM_DISTANCES: Final = 9
# The highest-value card: no hand of n cards leaves more than 10 n points.
_MOST_A_CARD: Final = 10


def _one(rules: RuleSet) -> tuple[int, ...]:
    return (1,)


def _by_face(rules: RuleSet) -> tuple[int, ...]:
    return (NUM_FACES,)


FEATURES_SPECS: Final = (
    *CARDS_SPECS,
    FieldSpec(
        "deadwood",
        lambda rules: (2,),
        "of the hand, in the discard phase after the discard that leaves least: deadwood as a share of 10 points for "
        "each card of a hand about to discard; points as a share of the most that one hand can cost",
    ),
    FieldSpec(
        "distance",
        lambda rules: (NUM_DISTANCES,),
        f"1 at the distance of the hand, in the discard phase the lowest after a discard: 0 to {NUM_DISTANCES - 2}, or "
        "more",
    ),
    FieldSpec("lives", lambda rules: (2,), "1 with a pure sequence; 1 with another sequence beside it"),
    FieldSpec(
        "outs",
        _one,
        "chance that an unseen card lowers the distance, in the discard phase after the discard with most outs",
    ),
    FieldSpec("deadwood_after", _by_face, "cards that may be thrown: 1 less the deadwood after it, scaled as above"),
    FieldSpec(
        "distance_after", _by_face, "cards that may be thrown: 1 if the distance stays lowest, 1/2 if it is one more"
    ),
    FieldSpec("outs_after", _by_face, "cards that may be thrown and leave the lowest distance: as `outs`, after it"),
    FieldSpec(
        "if_taken",
        lambda rules: (4,),
        "when this seat is to draw and there is an open card: 1; then, after taking it and the best discard: least "
        "deadwood, scaled as above; lowest distance, 1 if lower than now, 1/2 if the same, 0 if higher; outs at that "
        "distance, after the discard that leaves least deadwood there",
    ),
)
_DEADWOOD, _DISTANCE, _LIVES, _OUTS, _DEADWOOD_AFTER, _DISTANCE_AFTER, _OUTS_AFTER, _IF_TAKEN = range(
    len(CARDS_SPECS), len(FEATURES_SPECS)
)


class FeaturesV1(Encoding):
    """The cards and the solver's view of them, for small networks."""

    name = "features-v1"
    specs = FEATURES_SPECS

    def _encode_rows(self, views: Views, rules: RuleSet, out: Observations, start: int, stop: int) -> None:
        _, rule_entries = cards_plan(rules)
        starts = starts_of(FEATURES_SPECS, rules)
        _features_rows(views, rules.packed, starts, rule_entries, distance_table(), out, start, stop)


@njit
def _features_rows(
    views: Views, rules: Any, starts: Any, rule_entries: Any, table: Table, out: Observations, start: int, stop: int
) -> None:
    """Encode a slice of rows."""
    r = rules[0]
    unseen = np.zeros(NUM_FACES, dtype=np.uint8)
    seats = np.zeros((3, MAX_PLAYERS), dtype=np.int64)
    counts = np.zeros((3, NUM_FACES), dtype=np.uint8)
    left = np.zeros(NUM_FACES, dtype=np.int64)
    for j in range(start, stop):
        unseen_kernel(views, j, r, unseen)
        encode_cards(views, j, r, starts, rule_entries, unseen, seats, out[j])
        _encode_solver(views, j, r, starts, table, unseen, counts, left, out[j])


@njit
def _encode_solver(
    views: Views, j: int, r: Any, starts: Any, table: Table, unseen: Counts, counts: Any, left: Any, row: Observations
) -> None:
    """Write the fields after those of ``cards-v1``; a seat that holds no hand has zeros."""
    row[starts[_DEADWOOD] :] = np.float32(0)
    view = views[j]
    hand, distances, outs = counts[0], counts[1], counts[2]
    for face in range(NUM_FACES):
        hand[face] = view["hand"][face]
    cards, num_unseen = _total(hand), _total(unseen)
    wild, hand_size = int(view["wild"]), int(r["hand_size"])
    most_left = _MOST_A_CARD * (hand_size + 1)
    if cards < hand_size:
        return
    lives = lives_kernel(hand, wild, r)
    row[starts[_LIVES]] = np.float32(lives > 0)
    row[starts[_LIVES] + 1] = np.float32(lives > 1)
    if cards == hand_size:
        least = int(deadwood_kernel(hand, wild, r))
        points = int(points_kernel(hand, wild, r))
        distance = int(outs_kernel(hand, wild, unseen, r, table, outs))
        num_outs = _total(outs)
        is_to_draw = int(view["current_player"]) == int(view["seat"]) and int(view["phase"]) == DRAW
        if is_to_draw and int(view["pile_size"]) > 0:
            open_card = open_card_of_view(view)
            _encode_if_taken(open_card, distance, wild, r, table, unseen, counts, left, row[starts[_IF_TAKEN] :])
    else:
        lowest = int(discard_outs_kernel(hand, wild, unseen, r, table, distances, outs))
        blocked = unthrowable(hand, int(view["taken"]), r)
        distance, least, cheapest = _after_discards(hand, blocked, wild, r, distances, left)
        num_outs = 0
        for face in range(NUM_FACES):
            if int(left[face]) >= 0:
                num_outs = max(num_outs, int(outs[face]))
                row[starts[_DEADWOOD_AFTER] + face] = np.float32(1 - int(left[face]) / most_left)
                row[starts[_DISTANCE_AFTER] + face] = np.float32(1 if int(distances[face]) == lowest else 0.5)
                row[starts[_OUTS_AFTER] + face] = np.float32(int(outs[face]) / max(num_unseen, 1))
        hand[cheapest] -= 1
        points = int(points_kernel(hand, wild, r))
    row[starts[_DEADWOOD]] = np.float32(least / most_left)
    row[starts[_DEADWOOD] + 1] = np.float32(points / max(int(r["max_points"]), int(r["wrong_declare_points"])))
    row[starts[_DISTANCE] + min(distance, NUM_DISTANCES - 1)] = np.float32(1)
    row[starts[_OUTS]] = np.float32(num_outs / max(num_unseen, 1))


@njit
def _encode_if_taken(
    open_card: int, distance: int, wild: int, r: Any, table: Table, unseen: Counts, counts: Any, left: Any, row: Any
) -> None:
    """Write the field ``if_taken``, the first entries of ``row``, for a hand at some distance; the hand grows."""
    hand, distances, outs = counts[0], counts[1], counts[2]
    hand[open_card] += 1
    lowest = int(discard_distances_kernel(hand, wild, r, table, distances))
    nearest, least, _ = _after_discards(hand, unthrowable(hand, open_card, r), wild, r, distances, left)
    most_outs = _most_outs(hand, lowest, nearest, wild, unseen, r, table, distances, outs, left)
    row[0] = np.float32(1)
    row[1] = np.float32(least / (_MOST_A_CARD * (int(r["hand_size"]) + 1)))
    row[2] = np.float32((distance - nearest + 1) / 2)
    row[3] = np.float32(most_outs / max(_total(unseen), 1))


@njit
def _after_discards(
    hand: Counts, blocked: int, wild: int, r: Any, distances: Counts, left: Any
) -> tuple[int, int, int]:
    """What the best discards from a hand with one card too many leave.

    Args:
        hand: ``(53,)`` uint8; changed and changed back.
        distances: distance after each discard.
        left: ``(53,)`` int64, filled: deadwood after each discard, -1 for the faces that can't be thrown.

    Returns:
        Over the cards that may be thrown: the lowest distance, the least deadwood and a face that leaves it.
    """
    nearest, least, cheapest = NUM_FACES, _MOST_A_CARD * NUM_FACES, 0
    for face in range(NUM_FACES):
        left[face] = -1
        if int(hand[face]) == 0 or face == blocked:
            continue
        hand[face] -= 1
        left[face] = int(deadwood_kernel(hand, wild, r))
        hand[face] += 1
        nearest = min(nearest, int(distances[face]))
        if int(left[face]) < least:
            least, cheapest = int(left[face]), face
    return nearest, least, cheapest


@njit
def _most_outs(
    hand: Counts,
    lowest: int,
    nearest: int,
    wild: int,
    unseen: Counts,
    r: Any,
    table: Table,
    distances: Counts,
    outs: Counts,
    left: Any,
) -> int:
    """Outs after the discard that leaves the lowest distance and then the least deadwood; the most among equals.

    Args:
        lowest: distance over all discards.
        nearest: the same over those that are allowed, one more at most.
    """
    least, most = _MOST_A_CARD * NUM_FACES, 0
    for face in range(NUM_FACES):
        if int(left[face]) >= 0 and int(distances[face]) == nearest:
            least = min(least, int(left[face]))
    thrown = 0
    for face in range(NUM_FACES):
        if int(left[face]) == least and int(distances[face]) == nearest:
            thrown |= 1 << face
    if nearest == lowest:
        outs_after_kernel(hand, wild, unseen, r, table, lowest, thrown, outs)
        for face in range(NUM_FACES):
            most = max(most, int(outs[face]))
        return most
    while thrown:
        face = lowest_bit(thrown)
        thrown &= thrown - 1
        hand[face] -= 1
        outs_kernel(hand, wild, unseen, r, table, outs)
        hand[face] += 1
        most = max(most, _total(outs))
    return most


@njit
def _total(counts: Counts) -> int:
    total = 0
    for face in range(NUM_FACES):
        total += int(counts[face])
    return total
