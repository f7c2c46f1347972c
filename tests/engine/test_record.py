"""Records: written, read back, replayed; and whatever is not a whole record is refused."""

import json
from pathlib import Path

import numpy as np
import pytest

from paplu_env import engine
from paplu_env.cards import parse_cards
from paplu_env.engine.record import Record
from paplu_env.errors import IllegalAction, InvalidFile
from paplu_env.rules import parse_rules
from tests.engine.golden import deck_of
from tests.engine.tables import TABLES


def played(text: str, seed: int = 3, deck: tuple[int, ...] | None = None, limit: int = 1000) -> Record:
    """A record of a seeded game."""
    rules = parse_rules(text)
    generator, actions = np.random.default_rng(seed), []
    if deck is None:
        states = engine.deal(rules, seed, first=1)
    else:
        states = engine.deal_from(rules, deck, first=1, seed=seed)
    while not engine.is_over(states, 0) and len(actions) < limit:
        mask = engine.legal_action_mask(states, 0, rules)
        mask[engine.DROP] &= len(actions) > 100
        actions.append(int(generator.choice(np.flatnonzero(mask))))
        engine.apply_action(states, 0, actions[-1], rules)
    return Record(rules=rules, seed=seed, deck=deck, first=1, actions=tuple(actions))


@pytest.mark.parametrize("text", TABLES)
def test_a_record_goes_to_a_file_and_back_and_replays(text: str, tmp_path: Path) -> None:
    record = played(text)
    engine.save_record(record, tmp_path / "game.json")
    assert [path.name for path in tmp_path.iterdir()] == ["game.json"]
    assert engine.load_record(tmp_path / "game.json", record.rules) == record
    states = engine.deal(record.rules, record.seed, first=1)
    for action, replayed in zip((None, *record.actions), engine.replay(record), strict=True):
        if action is not None:
            engine.apply_action(states, 0, action, record.rules)
        assert replayed.tobytes() == states.tobytes()
    assert engine.final_state(record).tobytes() == states.tobytes()


def test_a_record_may_hold_its_deck_and_its_seats() -> None:
    record = played("saha2025", seed=9, deck=tuple(parse_cards(deck_of("points", 4))))
    assert Record.from_dict(json.loads(json.dumps(record.to_dict()))) == record
    rules = parse_rules("classic:num_players=4")
    among = Record(rules=rules, seed=2**64 - 1, first=3, active=(0, 3), actions=(engine.DROP,))
    assert Record.from_dict(json.loads(json.dumps(among.to_dict()))) == among
    assert among.to_dict()["returns"] == [20, 0, 0, -20]


def test_a_record_reads_as_the_game_was_played() -> None:
    values = played("points", limit=2).to_dict()
    assert (values["rules"], values["version"], values["ending"]) == ("points", engine.ENGINE_VERSION, "unfinished")
    assert values["actions"][0] in ("draw", "take")
    assert values["actions"][1].startswith("discard ")


@pytest.mark.parametrize("size", [0, 1, 100, -2])
def test_a_truncated_file_is_refused_with_its_path(size: int, tmp_path: Path) -> None:
    path = tmp_path / "game.json"
    engine.save_record(played("points"), path)
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(InvalidFile, match=r"game\.json"):
        engine.load_record(path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": "chess"}, "not a record"),
        ({"version": 0}, "engine version 0"),
        ({"rules": "points:max_turns=100"}, "mean another game"),
        ({"rules": "bridge"}, "unknown preset"),
        ({"version": True}, "version is True, and must be a whole number"),
        ({"rules": None}, "rules is None, and must be a text"),
        ({"rules_hash": 5}, "rules_hash is 5, and must be a text"),
        ({"seed": "x"}, "seed is 'x', and must be a whole number"),
        ({"seed": 5.7}, r"seed is 5\.7, and must be a whole number"),
        ({"seed": True}, "seed is True, and must be a whole number"),
        ({"seed": 10**4000}, "a number of 4001 digits"),
        ({"first": 1.0}, r"first is 1\.0, and must be a whole number"),
        ({"first": True}, "first is True, and must be a whole number"),
        ({"seed": -1}, "seed=-1"),
        ({"first": 7}, "first=7"),
        ({"active": 5}, "active is 5, and must be a list"),
        ({"active": "01"}, "active is '01', and must be a list"),
        ({"active": [0.5, 1]}, r"active\[0\] is 0\.5, and must be a whole number"),
        ({"active": [0, True]}, r"active\[1\] is True, and must be a whole number"),
        ({"active": [0, 0, 1]}, "active names a seat twice"),
        ({"active": [[[0]], 1]}, r"active\[0\] is \[\[0\]\], and must be a whole number"),
        ({"deck": [0, 1]}, r"deck is \[0, 1\], and must be a text"),
        ({"deck": "AS"}, "a deck of 1 cards"),
        ({"actions": ["discard AS"]}, "must be drawn first"),
        ({"actions": ["castle"]}, "cannot read 'castle'"),
        ({"actions": ["draw"]}, "not whole"),
        ({"actions": None}, "actions is None, and must be a list"),
        ({"actions": "draw"}, "actions is 'draw', and must be a list"),
        ({"actions": [0]}, r"actions\[0\] is 0, and must be a text"),
        ({"ending": 1}, "ending is 1, and must be a text"),
        ({"returns": [1.0, -1]}, r"returns\[0\] is 1\.0, and must be a whole number"),
        ({"returns": [1, -1]}, "not whole"),
    ],
)
def test_a_foreign_or_changed_record_is_refused(change: dict[str, object], words: str, tmp_path: Path) -> None:
    path = tmp_path / "game.json"
    path.write_text(json.dumps(played("points").to_dict() | change))
    with pytest.raises(InvalidFile, match=words):
        engine.load_record(path)


@pytest.mark.parametrize("name", sorted(played("points", limit=1).to_dict().keys() - {"format"}))
def test_a_record_without_one_of_its_parts_is_refused(name: str) -> None:
    values = played("points", limit=1).to_dict()
    del values[name]
    with pytest.raises(InvalidFile, match=f"missing part: {name}"):
        Record.from_dict(values)


def test_a_record_that_json_itself_chokes_on_is_refused_with_its_path(tmp_path: Path) -> None:
    (tmp_path / "nested.json").write_text("[" * 100_000)
    (tmp_path / "digits.json").write_text('{"format": "paplu-record", "version": ' + "9" * 5000 + "}")
    for name in ("nested.json", "digits.json"):
        with pytest.raises(InvalidFile, match=name):
            engine.load_record(tmp_path / name)


def test_a_failed_write_leaves_nothing_behind_and_names_the_path(tmp_path: Path) -> None:
    record = Record(rules=parse_rules("points"), seed=1)
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError) as caught:  # noqa: PT011  its class differs between systems
        engine.save_record(record, tmp_path / "folder")
    assert caught.value.filename == str(tmp_path / "folder")
    missing = tmp_path / "missing" / "game.json"
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*missing") as not_found:
        engine.save_record(record, missing)
    assert not_found.value.filename == str(missing)
    assert [path.name for path in tmp_path.rglob("*")] == ["folder"]


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "list.json").write_text("[1, 2]")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    for name in ("list.json", "bytes.json", "missing.json"):
        with pytest.raises(InvalidFile, match=name):
            engine.load_record(tmp_path / name)


def test_a_record_of_other_rules_is_refused(tmp_path: Path) -> None:
    engine.save_record(played("points"), tmp_path / "game.json")
    with pytest.raises(InvalidFile, match="a record of points, not of one_pack"):
        engine.load_record(tmp_path / "game.json", parse_rules("one_pack"))


def test_replaying_an_illegal_action_says_so() -> None:
    with pytest.raises(IllegalAction, match="discard AS"):
        engine.final_state(Record(rules=parse_rules("points"), seed=1, actions=(engine.DISCARD_BASE,)))
