"""The `paplu` command as people type it: what it prints, and a sentence for every mistake."""

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from paplu_env import encoding, engine
from paplu_env.bots import ALIASES, BOTS, make_policy, shipped_policies
from paplu_env.cards import format_card, format_cards
from paplu_env.cli.bench.hands import HAND_KINDS, make_hands
from paplu_env.cli.main import COMMANDS, main
from paplu_env.cli.options import format_table
from paplu_env.engine.series.format import FORMATS
from paplu_env.rules import PRESETS, RuleSet, parse_rules, preset
from training.export import export_module

ROOT = Path(__file__).resolve().parent.parent.parent
HAND = "4S 5S 6S 8H 9H TH 7C 7D 7H KS KH 2D 3C"
WHOLE = "4S 5S 6S 8H 9H TH 7C 7D 7H KS KH KD KC 2D"


def _run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a command prints that must succeed."""
    assert main(arguments) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    return shown.out


def _refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The sentence of a command that must fail with status 2, whoever refuses it."""
    try:
        status = main(arguments)
    except SystemExit as stop:  # argparse
        status = int(stop.code or 0)
    shown = capsys.readouterr()
    assert (status, shown.out) == (2, "")
    assert "Traceback" not in shown.err
    return shown.err


def test_solve_shows_the_arrangement_the_points_and_the_outs(capsys: pytest.CaptureFixture[str]) -> None:
    shown = _run(capsys, "solve", HAND)
    for part in ("4S 5S 6S", "8H 9H TH", "7H 7D 7C", "KS KH 2D 3C", "pays     25", "2 cards from complete", "outs"):
        assert part in shown


def test_solve_says_with_what_a_hand_can_be_declared_and_ranks_discards(capsys: pytest.CaptureFixture[str]) -> None:
    shown = _run(capsys, "solve", WHOLE)
    assert "declare          with 2D" in shown
    answer = json.loads(_run(capsys, "solve", WHOLE, "--json"))
    assert answer["declarable"] == ["2D"]
    assert answer["discards"][0] == {"discard": "2D", "distance": 0, "outs": 0, "points": 0, "deadwood": 0}
    laid = [card for meld in answer["melds"] for card in meld["cards"]] + answer["leftovers"]
    assert sorted(laid) == sorted(WHOLE.split())


def test_solve_takes_the_wild_rank_or_the_indicator(capsys: pytest.CaptureFixture[str]) -> None:
    by_rank = json.loads(_run(capsys, "solve", HAND, "--wild", "2", "--json"))
    by_card = json.loads(_run(capsys, "solve", HAND, "--indicator", "2C", "--json"))
    assert by_rank["wild"] == by_card["wild"] == ["2S", "2H", "2D", "2C", "PJ"]
    assert by_card["outs"].get("2C", 0) == by_rank["outs"].get("2C", 0) - 1


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("more", [0, 1])
def test_solve_explains_hands_of_every_preset(capsys: pytest.CaptureFixture[str], name: str, more: int) -> None:
    rules = preset(name)
    deck = np.random.default_rng(8).permutation(52)[: rules.hand_size + more].tolist()
    hand = format_cards(deck)
    arguments = ("solve", hand, "--indicator", format_card(deck[0]), "--rules", name)
    if rules.num_decks == 1:  # the card that is the indicator can't be held
        arguments = ("solve", hand, "--wild", "7", "--rules", name)
    answer = json.loads(_run(capsys, *arguments, "--json"))
    laid = [card for meld in answer["melds"] for card in meld["cards"]] + answer["leftovers"]
    assert sorted(laid) == sorted(hand.split())
    assert answer["points_by_gate"][rules.gate] == answer["points"]
    assert (answer["missing"] == []) == (answer["distance"] == 0)
    assert ("outs" in answer, "discards" in answer) == (more == 0, more == 1)
    shown = _run(capsys, *arguments)
    assert max(map(len, shown.splitlines())) <= 80
    assert shown.startswith(f"rules            {name}\n")


def test_solve_says_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    shown = _run(capsys, "solve", HAND.replace("8H", "8D"))
    assert "missing          sequences: 1 of 2, cards in no group: 10" in shown
    assert "by gate          lives 73, all_or_nothing 80, pure_opens_all 52, every_meld 52" in shown
    pairs = "2S 2S 4S 4S 6H 6H 8H 8H TD TD QD QD 3C 3C 5C 7C 7D 9H JS KH KC"
    shown = _run(capsys, "solve", pairs, "--rules", "rummy_21", "--indicator", "AD")
    assert "special hands    tunnelas 0 of 3, dublees 7 of 8, wild cards 0 of 8" in shown
    assert "1 card from complete" in shown


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("solve", "4S 5X"), "5X"),
        (("solve", "4S 5S"), "2 cards"),
        (("solve", HAND.replace("3C", "4S") + " 4S"), "4S"),
        (("solve", HAND, "--wild", "1"), "'1'"),
        (("solve", HAND, "--wild", ""), "''"),
        (("solve", HAND, "--indicator", ""), "''"),
        (("solve", HAND, "--indicator", "KS", "--rules", "one_pack"), "indicator"),
        (("solve", HAND, "--rules", "pontoon"), "pontoon"),
        (("solve", HAND, "--rules", "rummy_21"), "13 cards: 21 are a hand of rummy_21"),
        (("solve", HAND, "--rules", "tanala:num_decks=2"), "three copies of a face need three packs"),
        (("solve", HAND, "--rules", "saha2025", "--indicator", "PJ"), "never the indicator"),
        (("solve", HAND, "--wild", "7", "--indicator", "7S"), "not allowed with"),
        (("solve", HAND, "--rules", "points:wild=3"), "wild"),
        (("match", "medium", "nobody"), "nobody"),
        (("match", "medium", "missing.onnx"), "missing.onnx"),
        (("match", "medium", "easy", "--deals", "0"), "0"),
        (("match", "medium", "easy", "--deals", "many"), "many"),
        (("match", "medium", "easy", "--deals", "99999999999"), "99999999999 is out of range: 1 to 10,000,000"),
        (("match", "medium", "easy", "--deals", "9" * 5000), "is not a whole number"),
        (("match", "medium", "easy", "--until", "nan"), "finite and above 0"),
        (("match", "medium", "easy", "--until", "1e400"), "finite and above 0"),
        (("tournament", "medium", "easy", "--deals", "99999999999"), "2 to 10,000,000"),
        (("tournament", "medium", "easy", "--until", "inf"), "finite and above 0"),
        (("play", "medium", "--deals", "99999999999"), "1 to 1,000,000"),
        (("play", "medum"), "medium"),
        (("play", "medium", "--seat", "2"), "seat"),
        (("replay", "missing.json"), "missing.json"),
        (("play", "medium", "--save", "missing/deal.json"), "missing/deal.json"),
        (("describe", "poetry"), "poetry"),
        (("describe", "rules", "--rules", "nonsense"), "nonsense"),
        (("describe", "actions", "--rules", "points:nonsense=1"), "nonsense"),
        (("bench", "--only", "weather"), "weather"),
        (("dance",), "dance"),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, tuple) else None,
)
def test_mistakes_get_a_sentence(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], part: str) -> None:
    assert part in _refused(capsys, *arguments)


def test_without_a_command_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    shown = capsys.readouterr().out
    assert all(command in shown for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_an_example(capsys: pytest.CaptureFixture[str], command: str) -> None:
    with pytest.raises(SystemExit) as stop:
        main([command, "--help"])
    assert stop.value.code == 0
    assert len(capsys.readouterr().out.splitlines()) > 5


def test_match_reports_intervals_and_writes_json(capsys: pytest.CaptureFixture[str]) -> None:
    shown = _run(capsys, "match", "medium", "random", "--deals", "20", "--threads", "1", "--seed", "3")
    assert "points per deal" in shown
    result = json.loads(_run(capsys, "match", "medium", "random", "--deals", "20", "--json", "--seed", "3"))
    assert result["games"] == 40
    low, high = result["points_interval"]
    assert low <= result["points_per_deal"] <= high


def test_match_records_decisions(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = tmp_path / "data"
    _run(capsys, "match", "medium", "random", "--deals", "5", "--record", str(folder))
    with np.load(next(folder.glob("*.npz")), allow_pickle=False) as shard:
        assert len(shard["actions"]) > 20


def test_a_record_replays_move_by_move(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "deal.json"
    _run(
        capsys, "play", "medium", "--watch", "--seed", "11", "--rules", "points:drop_allowed=false", "--save", str(path)
    )
    record = engine.load_record(path)
    shown = _run(capsys, "replay", str(path))
    assert shown.count("seat 0 is dealt") == 1
    assert len([line for line in shown.splitlines() if line.strip().startswith(tuple("123456789"))]) == (
        int(engine.final_state(record)["log_size"][0])
    )
    assert "declare" in shown
    data = json.loads(_run(capsys, "replay", str(path), "--json", "--until", "3"))
    assert data["actions"] == [engine.format_action(action) for action in record.actions[:3]]
    position = engine.parse_position(data["position"], record.rules)
    assert int(position["log_size"][0]) == 2


def test_a_truncated_record_is_refused_with_its_path(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "deal.json"
    path.write_text('{"format": ')
    assert str(path) in _refused(capsys, "replay", str(path))


def test_bots_lists_every_name(capsys: pytest.CaptureFixture[str]) -> None:
    shown = _run(capsys, "bots")
    names = [*BOTS, *ALIASES, *shipped_policies()]
    assert "points-2" in names
    assert all(name in shown for name in names)
    assert [bot["name"] for bot in json.loads(_run(capsys, "bots", "--json"))] == names


def test_describe_prints_the_tables_of_the_code(capsys: pytest.CaptureFixture[str]) -> None:
    actions = json.loads(_run(capsys, "describe", "actions", "--json"))
    assert [engine.parse_action(row["action"]) for row in actions] == list(range(110))
    data = json.loads(_run(capsys, "describe", "rules", "--json"))
    assert {name: RuleSet.from_dict(row["options"]) for name, row in data["presets"].items()} == {
        name: preset(name) for name in PRESETS
    }
    assert data["presets"]["one_pack"]["differs"] == {"num_decks": 1}
    assert data["presets"]["ten_card"]["players"] == list(range(2, 10))  # ten hands of ten leave too few cards


def test_describe_rules_prints_presets_and_options_for_a_narrow_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    shown = _run(capsys, "describe", "rules")
    assert all(f"\n{name} " in shown for name in PRESETS)
    assert all(f"\n{field.name}=" in shown for field in dataclasses.fields(RuleSet))
    assert "from 7 players: num_decks=3" in shown
    assert max(map(len, shown.splitlines())) <= 80
    table = _run(capsys, "describe", "rules", "--rules", "rummy_21")
    assert {line.split("=")[0][2:] for line in table.splitlines() if line.startswith("* ")} == set(
        PRESETS["rummy_21"].options
    )


@pytest.mark.parametrize("name", encoding.names())
def test_describe_prints_every_field_of_an_encoding(capsys: pytest.CaptureFixture[str], name: str) -> None:
    data = json.loads(_run(capsys, "describe", name, "--rules", "one_pack", "--json"))
    rules = preset("one_pack")
    assert data["num_features"] == encoding.by_name(name).num_features(rules)
    assert sum(field["size"] for field in data["fields"]) == data["num_features"]
    shown = _run(capsys, "describe", name)
    assert all(field["name"] in shown for field in data["fields"])
    assert max(map(len, shown.splitlines())) <= 80
    meaning = " ".join(data["fields"][0]["meaning"].split())
    assert meaning.split()[-1] in shown


def test_describe_names_every_format_of_a_series(capsys: pytest.CaptureFixture[str]) -> None:
    assert [entry["format"] for entry in json.loads(_run(capsys, "describe", "series", "--json"))] == list(FORMATS)
    assert "pool_201" in _run(capsys, "describe", "series")


@pytest.mark.parametrize("kind", HAND_KINDS)
@pytest.mark.parametrize("size", [13, 14])
def test_hands_to_measure_on_can_be_held(kind: str, size: int) -> None:
    hands, wilds = make_hands(kind, size, 32, seed=4)
    again, _ = make_hands(kind, size, 32, seed=4)
    assert np.array_equal(hands, again)
    assert (hands.sum(axis=1) == size).all()
    assert hands.max() <= 2
    assert (wilds >> 52 & 1).all()
    if kind == "wild-heavy":
        held = [
            sum(int(hand[face]) for face in range(53) if int(wild) >> face & 1)
            for hand, wild in zip(hands, wilds, strict=True)
        ]
        assert min(held) >= 4


def test_bench_measures_what_it_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(_run(capsys, "bench", "--only", "engine", "--rounds", "1", "--json"))
    assert {timing["part"] for timing in data["timings"]} == {"machine", "engine"}
    assert all(timing["microseconds"] > 0 for timing in data["timings"])


def test_tables_align_their_columns() -> None:
    table = format_table([["a", "1"], ["bcd", "22"]], ["name", "n"], right=[1])
    assert table.splitlines() == ["name   n", "----  --", "a      1", "bcd   22"]


def test_a_closed_pipe_ends_the_command_quietly() -> None:
    command = f"{sys.executable} -m paplu_env.cli.main describe actions | head -1"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    shown = subprocess.run(["bash", "-c", command], env=environment, capture_output=True, text=True, check=True)
    assert shown.stderr == ""
    assert shown.stdout.split() == ["id", "action"]


class _First(torch.nn.Module):
    """The smallest policy: any legal action is as good as another."""

    def forward(self, obs: torch.Tensor, action_mask: torch.Tensor) -> torch.Tensor:
        return torch.where(action_mask, 0.0 * obs.sum(dim=1, keepdim=True), -1e9)


def test_an_exported_bot_brings_the_rules_it_was_trained_for(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "first.onnx"
    export_module(_First(), "cards-v1", "points:drop_allowed=false", path)
    result = json.loads(_run(capsys, "match", str(path), "medium", "--deals", "4", "--json"))
    assert result["rules"] == "points:drop_allowed=false"
    assert "points:drop_allowed=false" in _run(capsys, "play", str(path), "--watch", "--seed", "1")
    assert "points:drop_allowed=false" in _refused(capsys, "match", str(path), "medium", "--rules", "points")
    assert make_policy(path, None).rules == parse_rules("points:drop_allowed=false")
    assert make_policy("medium", None).rules == preset("points")
