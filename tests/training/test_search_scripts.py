"""The two scripts of `search`: the fit of its value, and the table of its strength by budget."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from training import fit_search, search_strength


def test_the_value_is_fitted_and_explains_fresh_deals() -> None:
    config = fit_search.FitConfig(rules="points:drop_allowed=false", deals=800, test_deals=300, seed=5)
    lines, explained = fit_search.fit(config)
    assert np.isfinite(lines).all()
    assert explained > 0.25
    # A step nearer to complete is worth something, whoever moves.
    assert lines[1, 3, 0] > lines[3, 3, 0] > lines[3, 1, 0]


def test_the_table_of_strength_has_a_row_for_each_budget(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    config = tmp_path / "strength.toml"
    config.write_text('rules = "points"\nopponent = "mindist"\nworlds = [2, 1]\ndeals = 2\nseed = 1\n')
    assert search_strength.main([str(config)]) == 0
    rows = json.loads(config.with_suffix(".json").read_text())["rows"]
    assert [row["worlds"] for row in rows] == [1, 2]
    assert config.with_suffix(".md").read_text().count("\n| ") == 3
    assert "<svg" in config.with_suffix(".svg").read_text()


@pytest.mark.parametrize("module", [fit_search, search_strength])
def test_an_unknown_key_is_refused_with_the_keys_that_exist(module, tmp_path, capsys) -> None:
    config = tmp_path / "wrong.toml"
    config.write_text("wrong = 1\n")
    assert module.main([str(config)]) == 2
    assert "seed" in capsys.readouterr().err
