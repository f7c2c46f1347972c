"""Sequential stopping: it stops where it says, and its intervals stay honest."""

from __future__ import annotations

import numpy as np
import pytest

from paplu_env.errors import PapluError
from paplu_env.evaluation import play_match, read_recordings, sequential
from paplu_env.evaluation.games import games_dtype
from paplu_env.evaluation.stats import mean_interval


def test_a_match_that_stopped_by_its_width_still_holds_the_truth_in_95_of_100():
    generator = np.random.default_rng(5)
    held = stops = 0
    for _ in range(600):
        # Two equal bots with the ends that deals have: what one deal pays is far from normal.
        points = generator.choice([-60.0, -25.0, 0.0, 25.0, 60.0], size=(12_000, 2)).mean(axis=1)
        games = np.zeros((12_000, 2), dtype=games_dtype(2))
        games["luck"] = np.nan
        games["returns"][..., 0] = points[:, None]
        for deals in range(sequential.LOOK, 12_001, sequential.LOOK):
            if sequential.is_narrow(games[:deals], 0.72):  # reached after three or four looks
                break
        stops += deals < 12_000
        low, high = mean_interval(points[:deals])
        held += low <= 0 <= high
    assert stops == 600
    assert held / 600 == pytest.approx(0.95, abs=0.025)


def test_a_match_stops_at_a_look_and_equals_the_match_of_so_many_deals(monkeypatch, tmp_path):
    monkeypatch.setattr("paplu_env.evaluation.match.LOOK", 60)
    rules = "points:drop_allowed=false"
    seen: list[tuple[int, int]] = []
    stopped = play_match(
        "mindist",
        "random",
        deals=600,
        seed=2,
        rules=rules,
        until=4.0,
        batch=50,
        record=tmp_path,
        progress=lambda *now: seen.append(now),
    )
    assert stopped.deals % 60 == 0
    assert 60 <= stopped.deals < 600
    assert stopped == play_match("mindist", "random", deals=stopped.deals, seed=2, rules=rules)
    assert seen[0] == (50, 1200)
    assert seen[-1] == (2 * stopped.deals, 1200)
    recorded = np.concatenate([part.decisions.deals for part in read_recordings(tmp_path)])
    assert sorted(set(recorded.tolist())) == list(range(stopped.deals))


def test_a_width_that_is_never_reached_plays_all_deals(monkeypatch):
    monkeypatch.setattr("paplu_env.evaluation.match.LOOK", 20)
    assert play_match("mindist", "minscore", deals=50, seed=2, until=1e-6).deals == 50


@pytest.mark.parametrize("until", [0.0, -1.0, float("nan")])
def test_a_width_of_nothing_is_refused(until):
    with pytest.raises(PapluError, match="until="):
        play_match("mindist", "minscore", deals=4, until=until)
