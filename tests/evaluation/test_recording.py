"""Recorded decisions: complete, readable without pickle, whole or not there, and refused when foreign."""

from __future__ import annotations

import numpy as np
import pytest

from paplu_env import encoding as encodings
from paplu_env.bots import make_policy
from paplu_env.engine.state import DISCARD
from paplu_env.errors import InvalidFile
from paplu_env.evaluation import play_match, read_recording, read_recordings
from paplu_env.evaluation import recording as recording_module
from paplu_env.evaluation.games import play_games

RULES = "points:drop_allowed=false"


def record(folder, batch: int = 16, threads: int = 1):
    return play_match(
        "mindist_opp", "minscore", deals=20, seed=5, rules=RULES, batch=batch, threads=threads, record=folder
    )


def joined(folder) -> dict[str, np.ndarray]:
    parts = [vars(part.decisions) for part in read_recordings(folder)]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def test_every_decision_of_both_players_is_recorded_with_what_came_of_it(tmp_path):
    result = record(tmp_path)
    data = joined(tmp_path)
    first = next(read_recordings(tmp_path))
    assert (str(first.rules), first.seed, first.names) == (RULES, 5, ("mindist_opp", "minscore"))
    # Two decisions a turn, a draw and a discard or declaration, and no drops.
    assert len(data["actions"]) == 2 * round(result.mean_turns * result.games)
    assert data["masks"][np.arange(len(data["actions"])), data["actions"]].all()
    policies = [make_policy(name, first.rules) for name in first.names]
    keys = np.zeros(len(data["actions"]), dtype=np.uint64)  # these two leave nothing to chance
    for player, policy in enumerate(policies):
        own = data["players"] == player
        answers = policy.act(data["views"][own], data["masks"][own], keys[own])
        assert np.array_equal(answers, data["actions"][own])
    last = np.flatnonzero(data["actions"] >= 56)
    assert len(last) == result.games, "every game ends with a declaration"
    assert (data["returns"][last] > 0).all()
    assert data["returns"][last][data["players"][last] == 0].sum() == pytest.approx(_gains(result))
    obs = encodings.by_name("cards-v1").encode(data["views"], first.rules)
    assert len(obs) == len(data["actions"])


def _gains(result) -> float:
    """Points that the first player won in the games it won."""
    policies = [make_policy(name, RULES) for name in (result.a, result.b)]
    returns = play_games(policies, result.deals, result.seed, batch=64)["returns"][..., 0]
    return float(returns[returns > 0].sum())


def test_decisions_stand_in_the_order_of_the_game(tmp_path):
    record(tmp_path)
    data = joined(tmp_path)
    game = 2 * data["deals"] + data["rotations"]
    assert (np.diff(game) >= 0).all()
    moment = 2 * data["views"]["draws"].astype(int) - (data["views"]["phase"] == DISCARD)
    assert (np.diff(moment)[np.diff(game) == 0] == 1).all()
    assert np.array_equal(data["players"], (data["views"]["seat"] - data["rotations"]) % 2)


def test_a_recording_does_not_depend_on_batch_or_threads(tmp_path):
    record(tmp_path / "one")
    record(tmp_path / "other", batch=6, threads=3)
    one, other = joined(tmp_path / "one"), joined(tmp_path / "other")
    assert all(one[name].tobytes() == other[name].tobytes() for name in one)


def test_a_folder_that_holds_a_recording_is_not_added_to(tmp_path):
    record(tmp_path)
    with pytest.raises(InvalidFile, match="holds a recording already"):
        record(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidFile, match="folder for a recording"):
        record(tmp_path / "file")


def test_an_interrupted_write_leaves_no_file_under_the_final_name(tmp_path, monkeypatch):
    def stop(file, **arrays):
        file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(recording_module.np, "savez_compressed", stop)
    with pytest.raises(KeyboardInterrupt):
        record(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_truncated_and_foreign_files_are_refused(tmp_path):
    record(tmp_path)
    path = sorted(tmp_path.glob("*.npz"))[0]
    whole = path.read_bytes()
    for size in (0, 10, len(whole) // 2, len(whole) - 5):
        path.write_bytes(whole[:size])
        with pytest.raises(InvalidFile, match=r"decisions-000000\.npz"):
            read_recording(path)
    np.savez(path, about=np.array('{"format": "other-2"}'))
    with pytest.raises(InvalidFile, match="other-2"):
        read_recording(path)
    np.savez(path, about=np.array([{"format": "paplu-decisions-1"}], dtype=object))
    with pytest.raises(InvalidFile):
        read_recording(path)
    with pytest.raises(InvalidFile, match="holds no recording"):
        list(read_recordings(tmp_path / "nowhere"))


def test_a_file_with_a_changed_byte_is_refused_or_read_as_it_was(tmp_path):
    record(tmp_path)
    path = sorted(tmp_path.glob("*.npz"))[0]
    whole = path.read_bytes()
    expected = vars(read_recording(path).decisions)
    rng = np.random.default_rng(0)
    refused = 0
    # The first bytes and the last are headers, where every kind of nonsense can be read.
    places = [*range(0, 300, 3), *rng.integers(len(whole), size=60), *range(len(whole) - 600, len(whole), 7)]
    for place in places:
        changed = bytearray(whole)
        changed[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(changed)
        try:
            found = vars(read_recording(path).decisions)
        except InvalidFile:
            refused += 1
        else:
            assert all(found[name].tobytes() == expected[name].tobytes() for name in expected)
    assert refused > len(places) / 2
