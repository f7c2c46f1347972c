"""A learner that only folds is told so, and a run that does nothing else is stopped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.training.tiny import PER_UPDATE, tiny_config
from training.run import folding
from training.run.checkpoint import checkpoint_step
from training.run.deal_stats import DealStats, _Deal
from training.run.folder import RunFolder
from training.run.folding import UPDATES, FoldingWatch, OnlyFolds
from training.run.record import read_run
from training.run.report_page import to_html
from training.run.training_loop import train


def _update(dropped: float, deals: int = 100) -> dict[str, Any]:
    return {"deals": deals, "dropped": dropped, "first_dropped": dropped, "later_dropped": 0.0}


def test_a_run_is_hopeless_after_twenty_updates_in_a_row_and_not_before() -> None:
    watch = FoldingWatch()
    for _ in range(50):
        watch.note(_update(1.0), 0.1)  # in the first tenth nothing is counted
    for _ in range(UPDATES - 1):
        watch.note(_update(0.96), 0.5)
    assert not watch.is_hopeless
    watch.note(_update(0.0, deals=0), 0.5)  # an update without a finished deal says nothing
    watch.note(_update(0.95), 0.5)
    assert watch.in_a_row == 0
    for _ in range(UPDATES):
        watch.note(_update(0.951), 0.5)
    assert watch.is_hopeless


def test_a_warning_comes_when_the_share_rises_above_sixty_percent_and_once() -> None:
    watch = FoldingWatch()
    assert watch.note(_update(0.6), 0.0) is None
    told = watch.note(_update(0.61), 0.0)
    assert told is not None
    assert "61% of its deals (61% before its first draw, 0% later)" in told
    assert watch.note(_update(0.9), 0.0) is None
    assert watch.note(_update(0.1), 0.0) is None
    assert watch.note(_update(0.7), 0.0) is not None


def test_first_and_later_drops_of_the_learner_are_logged_apart() -> None:
    stats = DealStats()
    stats._deals = [_Deal("x", 0, -20.0, False, "drop", length) for length in (1, 4, 2)]
    stats._deals.append(_Deal("x", 0, 9.0, True, "drop", 1))  # the opponent's
    figures = stats.take()
    assert [figures[key] for key in ("dropped", "first_dropped", "later_dropped", "opponent_dropped")] == [
        0.75,
        0.25,
        0.5,
        0.25,
    ]


@pytest.fixture
def folding_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run that was stopped because its learner folds."""
    take = DealStats.take

    def folds(self: DealStats) -> dict[str, Any]:
        self.last = {**take(self), **_update(1.0)}
        return dict(self.last)

    monkeypatch.setattr(DealStats, "take", folds)
    monkeypatch.setattr(folding, "UPDATES", 2)
    config = tiny_config(clone__decisions=0, ppo__timesteps=6 * PER_UPDATE, checkpoint_every=100)
    with pytest.raises(OnlyFolds, match="stop_when_folding = false"):
        train(config, tmp_path / "run")
    return tmp_path / "run"


def test_a_stopped_run_keeps_its_checkpoint_and_goes_on_if_it_is_told_to(folding_run: Path) -> None:
    assert checkpoint_step(folding_run / "latest.safetensors") == 2 * PER_UPDATE
    config = tiny_config(
        clone__decisions=0, ppo__timesteps=6 * PER_UPDATE, checkpoint_every=100, stop_when_folding=False
    )
    train(config, folding_run, resume=True)
    assert RunFolder(folding_run).metrics("update")[-1]["step"] == 6 * PER_UPDATE
    assert "extended" not in RunFolder(folding_run).read()


def test_the_report_says_it(folding_run: Path) -> None:
    page = to_html([read_run(folding_run)])
    assert "This learner gives up: in its last update it dropped 100% of its deals" in page
