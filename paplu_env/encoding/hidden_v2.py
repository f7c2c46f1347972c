"""``hidden-v2``: `hidden-v1` and, after it, what the exact solver says of every hand and of the cards to come.

As `hidden-v1` it is made from states, for a critic that is thrown away after training.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from paplu_env._jit import njit
from paplu_env.cards import NUM_FACES, Counts
from paplu_env.encoding.base import Observations
from paplu_env.encoding.features_v1 import NUM_DISTANCES
from paplu_env.encoding.fields import FieldSpec
from paplu_env.encoding.hidden_v1 import HIDDEN_SPECS, TOP_CARDS, HiddenLayout, encode_hidden
from paplu_env.engine.piles import open_card
from paplu_env.engine.state import States
from paplu_env.melds.fast_distance.distance_kernels import discard_distances_kernel
from paplu_env.melds.fast_distance.distance_table import Table, distance_table
from paplu_env.melds.fast_distance.outs_kernels import outs_kernel
from paplu_env.melds.fast_points.deadwood_kernels import deadwood_kernel
from paplu_env.rules import RuleSet

_MOST_A_CARD: Final = 10  # points of the highest-value card

_MEANING: Final = "by relative seat, in the discard phase after a discard that leaves the lowest distance"
HIDDEN_V2_SPECS: Final = (
    *HIDDEN_SPECS,
    FieldSpec(
        "distances",
        lambda rules: (rules.num_players, NUM_DISTANCES),
        f"{_MEANING}: 1 at the distance of the hand, 0 to {NUM_DISTANCES - 2}, or more; zeros for a hand that is gone",
    ),
    FieldSpec(
        "deadwoods",
        lambda rules: (rules.num_players,),
        f"{_MEANING}: deadwood as a share of 10 points for each card of a hand about to discard",
    ),
    FieldSpec(
        "stock_outs", lambda rules: (rules.num_players,), f"{_MEANING}: share of the stock that lowers the distance"
    ),
    FieldSpec(
        "open_out", lambda rules: (rules.num_players,), f"{_MEANING}: 1 if the top of the open pile lowers the distance"
    ),
    FieldSpec(
        "top_outs",
        lambda rules: (rules.num_players, TOP_CARDS),
        f"{_MEANING}: 1 where the card that the draw after k others gives lowers the distance",
    ),
)
_DISTANCES, _DEADWOODS, _STOCK_OUTS, _OPEN_OUT, _TOP_OUTS = range(len(HIDDEN_SPECS), len(HIDDEN_V2_SPECS))


class HiddenV2(HiddenLayout):
    """The other hands, the closed stock, and how near every hand is to being complete."""

    name = "hidden-v2"
    specs = HIDDEN_V2_SPECS

    def _encode_rows(
        self, states: States, seats: Any, rules: RuleSet, starts: Any, out: Observations, start: int, stop: int
    ) -> None:
        _rows(states, seats, rules.packed, starts, distance_table(), out, start, stop)


HIDDEN_V2: Final = HiddenV2()


@njit
def _rows(
    states: States, seats: Any, rules: Any, starts: Any, table: Table, out: Observations, start: int, stop: int
) -> None:
    """Encode a slice of rows."""
    r = rules[0]
    scratch = np.zeros((4, NUM_FACES), dtype=np.uint8)
    for j in range(start, stop):
        out[j, :] = np.float32(0)
        encode_hidden(states, j, int(seats[j]), r, starts, out[j])
        _encode_solver(states[j], int(seats[j]), r, starts, table, scratch, out[j])


@njit
def _encode_solver(s: Any, me: int, r: Any, starts: Any, table: Table, scratch: Counts, row: Observations) -> None:
    """Write the fields after those of ``hidden-v1``."""
    hand, coming, outs, distances = scratch[0], scratch[1], scratch[2], scratch[3]
    players, step, hand_size = int(r["num_players"]), int(r["step"]), int(r["hand_size"])
    size, wild = int(s["stock_size"]), int(s["wild"])
    opened = open_card(s) if int(s["pile_size"]) > 0 else -1
    coming[:] = 0
    for place in range(size):
        coming[int(s["cards"][place])] += 1
    if opened >= 0:
        coming[opened] += 1
    for seat in range(players):
        relative = (seat - me + players) * step % players
        cards = 0
        for face in range(NUM_FACES):
            hand[face] = s["hands"][seat, face]
            cards += int(hand[face])
        if cards < hand_size:
            continue
        if cards > hand_size:
            lowest = int(discard_distances_kernel(hand, wild, r, table, distances))
            thrown = 0
            while int(distances[thrown]) != lowest:
                thrown += 1
            hand[thrown] -= 1
        distance = int(outs_kernel(hand, wild, coming, r, table, outs))
        row[int(starts[_DISTANCES]) + relative * NUM_DISTANCES + min(distance, NUM_DISTANCES - 1)] = np.float32(1)
        deadwood = int(deadwood_kernel(hand, wild, r))
        row[int(starts[_DEADWOODS]) + relative] = np.float32(deadwood / (_MOST_A_CARD * (hand_size + 1)))
        in_stock = 0
        for face in range(NUM_FACES):
            in_stock += int(outs[face])
        if opened >= 0 and int(outs[opened]) > 0:
            in_stock -= 1
            row[int(starts[_OPEN_OUT]) + relative] = np.float32(1)
        row[int(starts[_STOCK_OUTS]) + relative] = np.float32(in_stock / max(size, 1))
        for k in range(min(size, TOP_CARDS)):
            if int(outs[int(s["cards"][size - 1 - k])]) > 0:
                row[int(starts[_TOP_OUTS]) + relative * TOP_CARDS + k] = np.float32(1)
