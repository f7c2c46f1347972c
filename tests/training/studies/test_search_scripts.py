"""The two scripts of `search`: the fit of its value, and the table of its strength by budget."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from paplu_env import engine
from paplu_env.bots.search.leaf_features import NUM_FEATURES, describe_kernel
from paplu_env.bots.search.leaf_value import Value, shipped_value, value_kernel
from paplu_env.errors import PapluError
from paplu_env.melds.fast_distance.distance_table import distance_table
from paplu_env.rules import as_rules
from training.fit import leaf_value
from training.studies.search_strength import measure as search_strength

FEW = leaf_value.FitConfig(
    rules="points:drop_allowed=false",
    deals=600,
    test_deals=200,
    noise=0.1,
    hidden=(32, 16),
    epochs=8,
    minibatch=128,
    seed=5,
)


def test_the_value_is_fitted_explains_fresh_deals_and_is_read_back(tmp_path: Path) -> None:
    value, explained = leaf_value.fit(FEW)
    assert explained["steady"] > 0.3
    assert 0.15 < explained["points"] < explained["steady"]
    path = tmp_path / "value.npz"
    leaf_value.write_value(path, value, {"seed": 5})
    with np.load(path) as arrays:
        assert json.loads(str(arrays["about"])) == {"seed": 5}
        for name in Value._fields:
            assert np.allclose(arrays[name], getattr(value, name), rtol=1e-3, atol=1e-6)


def test_positions_carry_points_and_the_same_without_luck() -> None:
    seen = leaf_value.play(as_rules(FEW.rules), 300, 0.1, 3)
    assert seen.features.shape == (len(seen.points), NUM_FEATURES)
    assert seen.steady.var() < 0.8 * seen.points.var()
    assert abs(seen.steady.mean() - seen.points.mean()) < 1.0
    again = leaf_value.play(as_rules(FEW.rules), 300, 0.1, 3)
    assert np.array_equal(seen.steady, again.steady)


def test_a_value_of_a_table_of_another_size_is_not_fitted() -> None:
    with pytest.raises(PapluError, match="two-seat"):
        leaf_value.fit(replace(FEW, rules="points:num_players=4"))


def test_relabelled_columns_are_those_of_a_deal_with_its_suits_relabelled() -> None:
    rules = as_rules("points")
    states = engine.deal_many(rules, np.arange(3, dtype=np.uint64))
    orders = leaf_value.relabelled_columns()
    assert len({tuple(order) for order in orders}) == 24
    features = [np.empty((3, NUM_FEATURES), dtype=np.float32) for _ in range(2)]
    describe_kernel(states, rules.packed, distance_table(), features[0])
    swapped = states.copy()
    face = np.arange(256, dtype=np.uint8)  # of a card, and of the mark of an empty place
    face[:26] = np.r_[13:26, 0:13]  # spades and hearts
    for field in ("hands", "known"):
        swapped[field] = states[field][:, :, face[:53]]
    swapped["cards"], swapped["indicator"] = face[states["cards"]], face[states["indicator"]]
    wild = [[mask >> int(old) & 1 for old in face[:53]] for mask in states["wild"].tolist()]
    swapped["wild"] = [sum(bit << place for place, bit in enumerate(bits)) for bits in wild]
    describe_kernel(swapped, rules.packed, distance_table(), features[1])
    wanted = [order for order in orders if np.array_equal(order[:52], face[:52])]
    assert np.array_equal(features[0][:, wanted[0]], features[1])


def test_the_shipped_value_prefers_a_hand_that_is_nearer() -> None:
    value = shipped_value()
    seen = leaf_value.play(as_rules(FEW.rules), 200, 0.0, 4)
    first, second = np.empty_like(value.into_bias), np.empty_like(value.between_bias)
    answers = np.array([value_kernel(row.astype(np.float32), value, first, second) for row in seen.features])
    assert 1 - np.mean((answers - seen.steady) ** 2) / seen.steady.var() > 0.5


def test_the_table_of_strength_has_a_row_for_each_budget(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    config = tmp_path / "strength.toml"
    config.write_text('rules = "points"\nopponent = "mindist"\nworlds = [2, 1]\ndeals = 2\nseed = 1\n')
    assert search_strength.main([str(config)]) == 0
    rows = json.loads(config.with_suffix(".json").read_text())["rows"]
    assert [row["worlds"] for row in rows] == [1, 2]
    assert (told := config.with_suffix(".md").read_text()).count("\n| ") == 3
    assert f"made by `python -m training.studies.search_strength {config}`" in told
    assert "<svg" in config.with_suffix(".svg").read_text()


@pytest.mark.parametrize("module", [leaf_value, search_strength])
def test_an_unknown_key_is_refused_with_the_keys_that_exist(module, tmp_path, capsys) -> None:
    config = tmp_path / "wrong.toml"
    config.write_text("wrong = 1\n")
    assert module.main([str(config)]) == 2
    assert "seed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("wrong", "said"),
    [(b'seed = "one"', "seed='one': must be a whole number"), (b"worlds = 4", "worlds=4: must be a list"),
     (b"worlds = []", "at least one budget"),
     (b"worlds = [4.5]", "worlds=4.5: must be a whole number"), (b"seed = 1 # \xff", "is not TOML")],
)  # fmt: skip
def test_a_value_of_a_wrong_kind_is_refused_by_name(wrong: bytes, said: str, tmp_path: Path, capsys) -> None:
    values = {b"rules": b'"points"', b"opponent": b'"mindist"', b"worlds": b"[1]", b"deals": b"2", b"seed": b"1"}
    values.pop(wrong.split(b" ")[0])
    config = tmp_path / "strength.toml"
    config.write_bytes(wrong + b"\n" + b"\n".join(key + b" = " + value for key, value in values.items()))
    assert search_strength.main([str(config)]) == 2
    assert said in capsys.readouterr().err
