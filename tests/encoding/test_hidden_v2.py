"""What ``hidden-v2`` says of hands is what the solver says of them, and its first fields are those of ``hidden-v1``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from paplu_env import encoding, melds
from paplu_env.cards import NUM_FACES, PRINTED_JOKER
from paplu_env.encoding import HIDDEN_V1, HIDDEN_V2
from paplu_env.encoding.hidden_v1 import TOP_CARDS
from paplu_env.engine.state import PILE_CAPACITY
from paplu_env.errors import PapluError
from paplu_env.rules import as_rules
from tests.encoding.positions import random_games

PLAIN = """
import sys
import numpy as np
from paplu_env import _jit
from paplu_env.encoding import HIDDEN_V2
assert not _jit.IS_COMPILED
states, out = sys.argv[1:]
with np.errstate(all="raise"):
    np.save(out, HIDDEN_V2.encode(np.load(states), [1] * 4, "points:num_players=3"))
"""


def _fields(row: np.ndarray, rules: str) -> dict[str, np.ndarray]:
    return {field.name: row[field.start : field.stop].reshape(field.shape) for field in HIDDEN_V2.fields(rules)}


@pytest.mark.parametrize("rules", ["points", "points:num_players=4,direction=anticlockwise", "one_pack"])
def test_hands_of_thirteen_are_told_as_the_solver_sees_them(rules: str) -> None:
    table = as_rules(rules)
    step, seen = int(table.packed["step"][0]), 0
    for states in list(random_games(rules, games=3, seed=4, steps=40))[::7]:
        for row, state in zip(HIDDEN_V2.encode(states, np.zeros(3, dtype=np.int64), rules), states, strict=True):
            assert 0 <= row.min() <= row.max() <= 1
            fields, stock = _fields(row, rules), state["cards"][: state["stock_size"]]
            opened = int(state["cards"][PILE_CAPACITY - int(state["pile_size"])]) if state["pile_size"] else None
            for relative in range(table.num_players):
                hand = state["hands"][relative * step % table.num_players]
                if hand.sum() != 13:
                    continue
                seen += 1
                wild = int(state["wild"])
                distance = melds.distance(hand, wild, table)
                assert fields["distances"][relative].argmax() == min(distance, 8)
                assert fields["distances"][relative].sum() == 1
                assert fields["deadwoods"][relative] == pytest.approx(melds.deadwood(hand, wild, table) / 140)

                def lowers(face: int, hand: np.ndarray = hand, wild: int = wild, distance: int = distance) -> bool:
                    more = hand.copy()
                    more[face] += 1
                    copies = table.num_jokers if face == PRINTED_JOKER else table.num_decks
                    return more[face] <= copies and int(melds.distance(more, wild, table)) < distance

                faces = [lowers(face) for face in range(NUM_FACES)]
                expected = np.mean([faces[card] for card in stock]) if len(stock) else 0.0
                assert fields["stock_outs"][relative] == pytest.approx(expected)
                assert fields["open_out"][relative] == (opened is not None and faces[opened])
                top = [float(faces[card]) for card in stock[::-1][:TOP_CARDS]]
                assert fields["top_outs"][relative].tolist() == top + [0.0] * (TOP_CARDS - len(top))
    assert seen > 15


def test_a_hand_about_to_throw_is_told_as_after_a_nearest_discard() -> None:
    seen = 0
    for states in random_games("points:drop_allowed=false", games=4, seed=5, steps=30):
        rows = HIDDEN_V2.encode(states, np.zeros(4, dtype=np.int64), "points:drop_allowed=false")
        for row, state in zip(rows, states, strict=True):
            hand = state["hands"][0]
            if hand.sum() == 14:
                lowest = melds.distance(hand, int(state["wild"]), as_rules("points"))
                assert _fields(row, "points")["distances"][0].argmax() == lowest
                seen += 1
    assert seen > 3


def test_it_begins_as_its_predecessor_and_is_found_by_name() -> None:
    states = list(random_games("points", games=5, seed=6, steps=20))[-1]
    seats = np.ones(5, dtype=np.int64)
    old, new = HIDDEN_V1.encode(states, seats, "points"), HIDDEN_V2.encode(states, seats, "points", threads=2)
    np.testing.assert_array_equal(new[:, : old.shape[1]], old)
    assert encoding.hidden_layout("hidden-v2") is encoding.layouts()["hidden-v2"] is HIDDEN_V2
    assert HIDDEN_V2.num_features("points") == new.shape[1] == 403
    with pytest.raises(PapluError, match="unknown layout of hidden cards 'hidden-v3': choose one of hidden-v1"):
        encoding.hidden_layout("hidden-v3")


def test_plain_python_gives_the_same_bytes(tmp_path: Path) -> None:
    states = list(random_games("points:num_players=3", games=4, seed=3, steps=20))[-1]
    np.save(tmp_path / "states.npy", states)
    subprocess.run(
        [sys.executable, "-c", PLAIN, str(tmp_path / "states.npy"), str(tmp_path / "plain.npy")],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        check=True,
    )
    expected = HIDDEN_V2.encode(states, np.ones(4, dtype=np.int64), "points:num_players=3")
    assert np.load(tmp_path / "plain.npy").tobytes() == expected.tobytes()
