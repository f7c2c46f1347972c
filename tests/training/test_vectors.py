"""The vectors are what our own encoder, mask and bot say, and are made again to the byte."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from paplu_env import bots, encoding
from paplu_env.engine.actions import DECLARE_BASE, DROP, TAKE_OPEN
from training.vectors import COUNT, ENCODING, header, main, make_vectors

FILE = Path(__file__).resolve().parents[2] / "policies" / "vectors.jsonl"
MOST_BYTES = 2_000_000
EVERY = 10  # of the file's lines, which are all made alike


def _lines() -> list[str]:
    return FILE.read_text(encoding="utf-8").splitlines()


def _bot() -> bots.Policy:
    about = json.loads(_lines()[0])
    return bots.make_policy(about["bot"], about["rules"])


def test_the_file_holds_a_thousand_decisions_of_every_kind() -> None:
    about, *vectors = map(json.loads, _lines())
    assert about == header(_bot(), COUNT, about["seed"])
    assert len(vectors) == COUNT
    assert FILE.stat().st_size < MOST_BYTES
    actions = [vector["action"] for vector in vectors]
    assert TAKE_OPEN in actions
    assert sum(DROP in vector["legal"] for vector in vectors) > 50
    assert sum(action >= DECLARE_BASE for action in actions) > 50
    assert len({action for action in actions if action < DECLARE_BASE}) > 40
    assert max(len(vector["events"]) for vector in vectors) > 60


def test_a_seat_that_sees_the_events_has_the_observation_the_mask_and_the_action() -> None:
    about, *vectors = map(json.loads, _lines())
    policy, coder = _bot(), encoding.by_name(about["encoding"])
    for vector in vectors[::EVERY]:
        seat = bots.Seat(policy, policy.rules, vector["events"][0]["seat"], about["seed"])
        for event in vector["events"]:
            seat.see(event)
        observation = coder.encode(seat.view, policy.rules)[0]
        expected = np.zeros(about["num_features"], dtype=np.float32)
        expected[vector["indices"]] = vector["values"]
        assert np.array_equal(observation, expected)
        assert np.flatnonzero(seat.mask()[0]).tolist() == vector["legal"]
        assert seat.decide() == vector["action"]


def test_the_file_is_made_again_to_the_byte() -> None:
    lines = _lines()
    made = [json.dumps(v, separators=(",", ":")) for v in make_vectors(_bot(), 60, json.loads(lines[0])["seed"])]
    assert made == lines[1 : len(made) + 1]


def test_the_command_writes_a_file_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "few.jsonl"
    assert main(["--bot", "mindist", "--count", "3", "--seed", "1", "--out", str(path)]) == 0
    about, *vectors = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    assert (about["bot"], about["encoding"], about["vectors"], len(vectors)) == ("mindist", ENCODING, 3, 3)
    assert main(["--bot", "nobody", "--out", str(path)]) == 2
    assert "nobody" in capsys.readouterr().err
