"""Encoding as a function: its range, its array, its rows, compiled and plain."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from paplu_env import encoding, engine
from paplu_env.errors import InvalidRules, PapluError
from paplu_env.rules import as_rules
from tests.encoding.positions import movers, random_games, sampled_views

TABLES = [
    "points",
    "saha2025",
    "one_pack",
    "points:num_players=4",
    "one_pack:stock_out=reshuffle_keep_top",
    "points:num_players=4,direction=anticlockwise,wrong_declare=allowed",
    "one_pack:printed_jokers=4",
]

PLAIN = """
import sys
import numpy as np
from paplu_env import _jit, encoding
assert not _jit.IS_COMPILED
name, rules, views, out = sys.argv[1:]
with np.errstate(all="raise"):
    np.save(out, encoding.by_name(name).encode(np.load(views), rules))
"""


@pytest.mark.parametrize("name", encoding.names())
@pytest.mark.parametrize("rules", TABLES)
def test_every_entry_is_in_the_unit_interval_from_deal_to_end(name: str, rules: str) -> None:
    chosen = encoding.by_name(name)
    games = 24 if name == "features-v1" else 200
    seen = np.zeros(chosen.num_features(rules), dtype=bool)
    for step, states in enumerate(random_games(rules, games, seed=5)):
        seats = movers(states) if step % 5 else np.full(games, step % as_rules(rules).num_players)
        observations = chosen.encode(engine.player_views(states, seats), rules)
        assert observations.dtype == np.float32
        assert np.isfinite(observations).all()
        assert observations.min() >= 0
        assert observations.max() <= 1
        seen |= observations.any(axis=0)
    # Every field says something at some time; those of options that this table doesn't play stay silent.
    silent = {field.name for field in chosen.fields(rules) if not seen[field.start : field.stop].any()}
    assert silent <= {"owes"}


@pytest.mark.parametrize("name", encoding.names())
@pytest.mark.parametrize("rules", ["points", "points:num_players=4"])
def test_a_batch_is_its_rows_on_any_number_of_threads(name: str, rules: str) -> None:
    chosen, views = encoding.by_name(name), sampled_views(rules, games=4, every=31)
    together = chosen.encode(views, rules)
    assert together.tobytes() == chosen.encode(views, rules, threads=3).tobytes()
    assert all(chosen.encode(views[j : j + 1], rules)[0].tobytes() == together[j].tobytes() for j in range(len(views)))


@pytest.mark.parametrize("name", encoding.names())
def test_out_is_filled_whatever_it_held(name: str) -> None:
    chosen, views = encoding.by_name(name), sampled_views("points", games=2, every=41)
    out = np.full((len(views), chosen.num_features("points")), np.nan, dtype=np.float32)
    assert chosen.encode(views, "points", out) is out
    assert out.tobytes() == chosen.encode(views, "points").tobytes()


def test_no_views_give_no_observations() -> None:
    views = sampled_views("points", games=1)[:0]
    assert encoding.by_name("cards-v1").encode(views, "points").shape == (0, 688)


@pytest.mark.parametrize(
    "out",
    [
        np.zeros((2, 687), dtype=np.float32),
        np.zeros((2, 688), dtype=np.float64),
        np.zeros((4, 688), dtype=np.float32)[::2],
        np.zeros((688, 2), dtype=np.float32).T,
    ],
    ids=["length", "dtype", "strided", "transposed"],
)
def test_an_out_that_does_not_fit_is_refused(out: np.ndarray) -> None:
    views = sampled_views("points", games=1)[:2]
    with pytest.raises(PapluError, match=r"C-contiguous float32 array of shape \(2, 688\)"):
        encoding.by_name("cards-v1").encode(views, "points", out)


@pytest.mark.parametrize("name", encoding.names())
@pytest.mark.parametrize("other", ["points:num_players=4", "saha2025", "one_pack"])
def test_views_of_another_table_are_refused(name: str, other: str) -> None:
    views = sampled_views("points", games=1)
    with pytest.raises(InvalidRules, match=as_rules(other).__str__()):
        encoding.by_name(name).encode(views, other)


@pytest.mark.parametrize("rules", ["points", "one_pack", "points:num_players=4"])
@pytest.mark.parametrize("name", encoding.names())
def test_plain_python_gives_the_same_bytes(name: str, rules: str, tmp_path: Path) -> None:
    views = sampled_views(rules, games=2, seed=3, every=29)[:24]
    np.save(tmp_path / "views.npy", views)
    subprocess.run(
        [sys.executable, "-c", PLAIN, name, rules, str(tmp_path / "views.npy"), str(tmp_path / "plain.npy")],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        check=True,
    )
    assert np.load(tmp_path / "plain.npy").tobytes() == encoding.by_name(name).encode(views, rules).tobytes()
