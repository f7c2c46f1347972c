"""Tournaments: the same for any number of workers and interruptions, and folders that keep what was played."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from paplu_env.errors import InvalidFile, PapluError, PolicyMismatch
from paplu_env.evaluation import Schedule, play_match, run_tournament, tournament
from paplu_env.evaluation.games_store import read_games, write_games
from paplu_env.evaluation.report.text import to_dict
from paplu_env.evaluation.schedule import Published, read_schedule

BOTS = ("random", "mindist", "mindist_opp")
SMALL = Schedule(policies=BOTS, rules=("points:drop_allowed=false", "points"), deals=50, seed=4)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(tournament, "CHUNK", 20)
    monkeypatch.setattr(tournament, "LOOK", 40)


def test_every_pair_meets_under_every_rule_set_as_in_a_match_of_its_own():
    result = run_tournament(SMALL)
    assert [(pair.rules, pair.match.a, pair.match.b) for pair in result.pairs] == [
        (rules, a, b) for rules in SMALL.rules for a, b in SMALL.pairs
    ]
    for pair in result.pairs:
        alone = play_match(pair.match.a, pair.match.b, deals=50, seed=4, rules=pair.rules)
        assert pair.match == dataclasses.replace(alone, rules=pair.rules)
    assert result.of("points", "mindist", "random").a == "random"
    with pytest.raises(KeyError):
        result.of("points", "mindist", "nobody")
    best = result.ratings[SMALL.rules[0]].standings
    assert best[-1].name == "random"


def test_neither_workers_nor_an_interruption_change_the_result(tmp_path):
    expected = to_dict(run_tournament(SMALL))
    seen: list[tuple[int, int]] = []
    assert to_dict(run_tournament(SMALL, tmp_path / "three", 3, lambda *now: seen.append(now))) == expected
    assert seen[-1] == (600, 600)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    chunks = sorted((tmp_path / "three" / "chunks").iterdir())
    assert len(chunks) == 2 * 3 * 3
    for path in chunks[::2]:
        path.unlink()
    kept = {path: path.stat().st_mtime_ns for path in chunks[1::2]}
    assert to_dict(run_tournament(SMALL, tmp_path / "three", 2)) == expected
    assert {path: path.stat().st_mtime_ns for path in kept} == kept, "what was finished isn't played again"


def test_an_error_in_the_middle_leaves_whole_chunks_that_the_next_run_goes_on_from(tmp_path, monkeypatch):
    real = tournament.play_games

    def fail_at_last(policies, deals, seed, **options):
        if options["start"] == 40:
            raise KeyboardInterrupt
        return real(policies, deals, seed, **options)

    monkeypatch.setattr(tournament, "play_games", fail_at_last)
    with pytest.raises(KeyboardInterrupt):
        run_tournament(SMALL, tmp_path)
    left = list((tmp_path / "chunks").iterdir())
    assert left
    assert all(path.suffix == ".json" for path in left)
    monkeypatch.setattr(tournament, "play_games", real)
    assert to_dict(run_tournament(SMALL, tmp_path)) == to_dict(run_tournament(SMALL))


def test_a_pair_stops_at_a_look_whatever_the_workers():
    schedule = dataclasses.replace(SMALL, deals=200, until=6.0, rules=SMALL.rules[:1])
    result = run_tournament(schedule)
    played = {(pair.match.a, pair.match.b): pair.match.deals for pair in result.pairs}
    assert set(played.values()) <= {40, 80, 120, 160, 200}
    assert min(played.values()) < 200
    assert to_dict(run_tournament(schedule, workers=4)) == to_dict(result)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"deals": 60}, "deals = 50, here 60"),
        ({"seed": 5}, "seed = 4, here 5"),
        ({"rules": ("points",)}, "rules = "),
        ({"policies": ("mindist", "random")}, "policies = "),
        ({"until": 1.0}, "until = None, here 1.0"),
    ],
)
def test_a_folder_of_another_tournament_is_refused_by_what_differs(tmp_path, change, words):
    tournament._open_folder(tmp_path, SMALL)
    with pytest.raises(PapluError, match=words):
        run_tournament(dataclasses.replace(SMALL, **change), tmp_path)


def test_published_figures_may_change_without_playing_anew(tmp_path):
    tournament._open_folder(tmp_path, SMALL)
    cells = {"points": (Published("mindist", "random", 0.9, 30.0, "somebody"),)}
    tournament._open_folder(tmp_path, dataclasses.replace(SMALL, published=cells))


def test_damaged_and_foreign_files_are_refused_with_their_path(tmp_path):
    chunks = tournament._open_folder(tmp_path, SMALL)
    path = chunks / "rules0-pair000-chunk0000.json"
    for text in ("", "[]", '{"format": "else"}', '{"format": "paplu-games-1", "players": 2, "games": {"deal": [1]}}'):
        path.write_text(text)
        with pytest.raises(InvalidFile, match=r"chunk0000\.json.*remove it"):
            run_tournament(SMALL, tmp_path)
    games = run_tournament(dataclasses.replace(SMALL, deals=20, rules=("points",))).pairs[0].games
    write_games(path, games[::-1])
    with pytest.raises(InvalidFile, match="holds other deals"):
        run_tournament(SMALL, tmp_path)
    (tmp_path / "tournament.json").write_text("[1]")
    with pytest.raises(InvalidFile, match="is no plan"):
        run_tournament(SMALL, tmp_path)
    (tmp_path / "tournament.json").unlink()
    with pytest.raises(InvalidFile, match=r"no tournament\.json"):
        run_tournament(SMALL, tmp_path)


def test_games_go_to_a_file_and_back(tmp_path):
    games = run_tournament(dataclasses.replace(SMALL, rules=("points",))).pairs[0].games
    games["luck"][3:5] = 0.123457
    write_games(tmp_path / "games.json", games)
    assert read_games(tmp_path / "games.json").tobytes() == games.tobytes()
    games["luck"] = np.nan
    write_games(tmp_path / "games.json", games)
    assert read_games(tmp_path / "games.json").tobytes() == games.tobytes()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"policies": ("random",)}, "at least two"),
        ({"policies": ("random", "random")}, "named twice"),
        ({"rules": ()}, "at least one rule set"),
        ({"rules": ("points:num_players=3",)}, "table of 3"),
        ({"rules": ("nonsense",)}, "nonsense"),
        ({"deals": 1}, "at least two"),
        ({"deals": 99_999_999_999}, "at most 10000000"),
        ({"seed": -1}, "0..2"),
        ({"until": 0.0}, "above 0"),
        ({"published": {"one_pack": ()}}, "not among the rules"),
        ({"published": {"points": (Published("random", "x", 0.5, 0.0, "s"),)}}, "'x', which is not among"),
    ],
)
def test_a_schedule_that_cannot_be_played_is_refused(change, words):
    with pytest.raises(PapluError, match=words):
        dataclasses.replace(SMALL, **change)


def test_unknown_bots_and_no_workers_are_refused_before_a_card_is_dealt(tmp_path):
    with pytest.raises(PapluError, match="there is no bot 'nobody'"):
        run_tournament(dataclasses.replace(SMALL, policies=("nobody", "random")), tmp_path / "new")
    assert not (tmp_path / "new").exists()
    with pytest.raises(PapluError, match="workers=0"):
        run_tournament(SMALL, workers=0)


def test_a_config_gives_a_schedule_and_arguments_change_it(tmp_path):
    path = tmp_path / "t.toml"
    path.write_text(
        'policies = ["random", "mindist"]\nrules = ["points", "one_pack"]\ndeals = 30\nseed = 3\n'
        '[[published]]\nsource = "somebody"\nrules = "points"\ncells = [["mindist", "random", 97.5, 60]]\n'
    )
    schedule = read_schedule(path, deals=None, seed=9)
    assert (schedule.policies, schedule.deals, schedule.seed) == (("random", "mindist"), 30, 9)
    turned = schedule.published_of("points", "random", "mindist")
    assert turned is not None
    assert (turned.win_rate, turned.points) == (pytest.approx(0.025), -60.0)
    assert schedule.published_of("one_pack", "random", "mindist") is None
    assert read_schedule(path, rules=("one_pack",)).published == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("policies = [", "is not TOML"),
        ("players = 3", "unknown key 'players'"),
        ('policies = "random"', "not a list of texts"),
        ('policies = ["random", "mindist"]\ndeals = "many"', "not a number"),
        ('policies = ["random", "mindist"]\n[[published]]\nrules = "points"', "source, rules and cells"),
        (
            'policies = ["random", "mindist"]\n[[published]]\nsource = "s"\nrules = "points"\ncells = [["random"]]',
            "cells are",
        ),
    ],
)
def test_a_config_that_cannot_be_read_is_refused_with_its_path(tmp_path, text, words):
    path = tmp_path / "t.toml"
    path.write_text(text)
    with pytest.raises(InvalidFile, match=rf"t\.toml.*{words}"):
        read_schedule(path)
    with pytest.raises(InvalidFile, match="No such file"):
        read_schedule(tmp_path / "none.toml")


def test_the_published_table_is_a_schedule_of_twenty_thousand_games_a_pair():
    schedule = read_schedule("training/studies/saha2025/config.toml")
    assert 2 * schedule.deals >= 20_000
    assert len(schedule.pairs) == 10
    assert {rules: len(cells) for rules, cells in schedule.published.items()} == dict.fromkeys(schedule.rules, 6)


def test_the_plan_of_a_run_is_readable(tmp_path):
    tournament._open_folder(tmp_path, SMALL)
    plan = json.loads((tmp_path / "tournament.json").read_text())
    assert plan["policies"] == list(BOTS)
    assert plan["files"] == {}


def test_a_network_of_other_rules_is_refused(tmp_path, monkeypatch):
    def refuse(name, rules):
        raise PolicyMismatch("made for other rules")

    monkeypatch.setattr(tournament, "make_policy", refuse)
    with pytest.raises(PolicyMismatch):
        run_tournament(SMALL, tmp_path)
