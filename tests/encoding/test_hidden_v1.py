"""What ``hidden-v1`` tells a critic: one hidden fact is changed at a time, and exactly its entries move."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from paplu_env import encoding
from paplu_env.cards import parse_card, parse_cards
from paplu_env.encoding import HIDDEN_V1
from paplu_env.engine.state import States
from paplu_env.errors import InvalidRules, PapluError
from paplu_env.rules import as_rules
from tests.encoding.positions import dealt, play, random_games

FIRST_HAND = "AS 2S 3S 5H 6H 8H 9D TD QD 2C 4C 7C KC"
SECOND_HAND = "AS 4S 6S 8S 3H 7H JH 2D 4D 8D 9C TC TC"
START = dealt([FIRST_HAND, SECOND_HAND], "QS", "6D", stock="KH KD 5C 9H PJ")

PLAIN = """
import sys
import numpy as np
from paplu_env import _jit
from paplu_env.encoding import HIDDEN_V1
assert not _jit.IS_COMPILED
states, out = sys.argv[1:]
with np.errstate(all="raise"):
    np.save(out, HIDDEN_V1.encode(np.load(states), [1] * 4, "points:num_players=3"))
"""


def _fields(states: States, seat: int = 0, rules: str = "points") -> dict[str, np.ndarray]:
    row = HIDDEN_V1.encode(states, np.full(len(states), seat), rules)[0]
    return {field.name: row[field.start : field.stop].reshape(field.shape) for field in HIDDEN_V1.fields(rules)}


def test_the_other_hand_is_told_by_copies() -> None:
    hands = _fields(START)["hands"]
    assert np.flatnonzero(hands[0, 0]).tolist() == sorted(set(parse_cards(SECOND_HAND)))
    assert np.flatnonzero(hands[0, 1]).tolist() == [parse_card("TC")]
    other = _fields(START, seat=1)["hands"]
    assert np.flatnonzero(other[0, 0]).tolist() == sorted(parse_cards(FIRST_HAND))


def test_the_next_four_draws_are_told_in_their_order() -> None:
    top = _fields(START)["top"]
    assert [int(row.argmax()) for row in top] == parse_cards("KH KD 5C 9H")
    assert top.sum() == 4
    later = _fields(play(START, "draw, discard AS"))["top"]
    assert [int(row.argmax()) for row in later] == parse_cards("KD 5C 9H PJ")


def test_a_drawn_card_leaves_the_stock() -> None:
    before, after = _fields(START, seat=1), _fields(play(START, "draw"), seat=1)
    assert np.flatnonzero(before["stock"] != after["stock"]).tolist() == [parse_card("KH")]
    assert after["stock"][parse_card("KH")] == before["stock"][parse_card("KH")] - 0.5
    assert np.argwhere(before["hands"] != after["hands"]).tolist() == [[0, 0, parse_card("KH")]]


@pytest.mark.parametrize("rules", ["points", "points:num_players=4,direction=anticlockwise", "one_pack", "tanala"])
def test_entries_stay_in_the_unit_interval_and_the_hands_stand_by_turns(rules: str) -> None:
    table = as_rules(rules)
    step = int(table.packed["step"][0])
    for states in random_games(rules, games=6, seed=2, steps=30):
        for seat in range(table.num_players):
            rows = HIDDEN_V1.encode(states, np.full(6, seat), rules)
            assert rows.min() >= 0
            assert rows.max() <= 1
            fields = _fields(states, seat, rules)
            for turns in range(1, table.num_players):
                held = states["hands"][0, (seat + turns * step) % table.num_players, :52]
                np.testing.assert_array_equal(fields["hands"][turns - 1, :, :52].sum(axis=0), held)


def test_it_is_no_encoding_of_observations_but_is_described_like_one() -> None:
    assert "hidden-v1" not in encoding.names()
    with pytest.raises(PapluError, match="unknown encoding 'hidden-v1'"):
        encoding.by_name("hidden-v1")
    assert encoding.layouts()["hidden-v1"] is HIDDEN_V1
    fields = HIDDEN_V1.fields("points")
    assert [field.start for field in fields] == [0, 106, 159]
    assert fields[-1].stop == HIDDEN_V1.num_features("points") == 371
    assert all(field.meaning for field in fields)


def test_plain_python_gives_the_same_bytes(tmp_path: Path) -> None:
    rules = "points:num_players=3"
    states = list(random_games(rules, games=4, seed=3, steps=20))[-1]
    np.save(tmp_path / "states.npy", states)
    subprocess.run(
        [sys.executable, "-c", PLAIN, str(tmp_path / "states.npy"), str(tmp_path / "plain.npy")],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        check=True,
    )
    expected = HIDDEN_V1.encode(states, np.ones(4, dtype=np.int64), rules, threads=2)
    assert np.load(tmp_path / "plain.npy").tobytes() == expected.tobytes()


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InvalidRules):
        HIDDEN_V1.encode(START, [0], "one_pack")
    for seats in ([2], [-1], [0, 0], [0.5]):
        with pytest.raises(PapluError, match="seats"):
            HIDDEN_V1.encode(START, seats, "points")
    with pytest.raises(PapluError, match="C-contiguous float32"):
        HIDDEN_V1.encode(START, [0], "points", out=np.zeros((1, 370), dtype=np.float32))
