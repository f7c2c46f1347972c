"""Bots by name: one table, which every list reads, and nothing loaded that a command doesn't need."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from paplu_env.bots import ALIASES, BOTS, bot_names, make_policy, shipped_policies
from paplu_env.bots.outs.weights import shipped_weights
from paplu_env.bots.published.kernels import LAPSING, MINDIST_OPP
from paplu_env.bots.registry import exported_file, is_built_in
from paplu_env.errors import PapluError

KERNELS = (
    "paplu_env.bots.published.kernels paplu_env.bots.outs.kernels paplu_env.bots.search.kernels "
    "paplu_env.bots.search.playout_policy"
)


def _loaded(code: str, names: str) -> list[str]:
    """Which of some modules a fresh interpreter has loaded after running some code."""
    script = f"import sys\n{code}\nprint(*[name for name in {names.split()!r} if name in sys.modules], file=sys.stderr)"
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return shown.stderr.split()


@pytest.mark.parametrize("name", [name for name in BOTS if name != "expert"])
def test_a_bot_is_called_as_it_was_asked_for(name: str) -> None:
    policy = make_policy(name, "one_pack")
    assert (policy.name, str(policy.rules)) == (name, "one_pack")
    assert str(make_policy(name).rules) == "points"
    assert is_built_in(name)
    assert exported_file(name) is None


def test_a_search_is_called_by_its_worlds() -> None:
    assert [make_policy(name).name for name in ("search", "search-256", "search-64")] == [
        "search",
        "search",
        "search-64",
    ]
    assert is_built_in("search-7")
    assert not is_built_in("search-0")


def test_every_alias_stands_for_a_bot_of_the_table() -> None:
    assert set(ALIASES.values()) <= set(BOTS)
    assert not set(ALIASES) & set(BOTS)
    assert [make_policy(name).name for name in ALIASES] == list(ALIASES.values())


def test_the_frozen_tiers_are_made_of_what_their_sentences_say() -> None:
    assert (make_policy("easy-1").agent, make_policy("medium-1").agent) == (LAPSING, MINDIST_OPP)
    outs, hard = make_policy("outs").weights, make_policy("hard-1").weights
    assert all(map(np.array_equal, outs, shipped_weights()))
    assert all(map(np.array_equal, hard, shipped_weights("hard_1_weights.json")))
    assert not np.array_equal(hard.play_on, outs.play_on)


def test_the_message_about_an_unknown_name_lists_what_can_be_named() -> None:
    with pytest.raises(PapluError, match=r"there is no bot 'pionts-2'\. Did you mean points-2\?") as error:
        make_policy("pionts-2")
    assert all(name in str(error.value) for name in bot_names())
    assert bot_names() == [*BOTS, *ALIASES, *shipped_policies()]


def test_listing_the_bots_loads_neither_their_kernels_nor_onnxruntime() -> None:
    code = "from paplu_env.cli.main import main\nassert main(['bots']) == 0"
    assert _loaded(code, f"{KERNELS} onnxruntime") == []


def test_a_bot_is_made_without_the_kernels_of_the_others() -> None:
    code = "import paplu_env.bots\npaplu_env.bots.make_policy('mindist')"
    assert _loaded(code, f"{KERNELS} onnxruntime") == ["paplu_env.bots.published.kernels"]
