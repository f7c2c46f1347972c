"""States and pickles of environments carry a version, and those of another version are refused in words."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from typing import Any

import pytest

from paplu_env import __version__
from paplu_env.envs import PapluEnv, PapluSeriesEnv, PapluVectorEnv
from paplu_env.envs.aec import PapluAECEnv
from paplu_env.envs.aec_series import PapluSeriesAECEnv
from paplu_env.envs.core import saved
from paplu_env.envs.sb3 import PapluVecEnv
from paplu_env.errors import PapluError

LEARNER_ENVS = [lambda: PapluEnv(opponent="random"), lambda: PapluSeriesEnv(opponent="random")]
ALL_ENVS = [
    *LEARNER_ENVS,
    lambda: PapluVectorEnv(2, opponent="random"),
    lambda: PapluVecEnv(2, opponents="random"),
    PapluAECEnv,
    PapluSeriesAECEnv,
]


class Gone:
    """What an environment of an older version held, under a name that nothing has any more."""


@pytest.mark.parametrize("make", LEARNER_ENVS)
def test_a_state_of_another_version_is_refused_with_both_versions_named(make: Callable[[], Any]) -> None:
    env = make()
    state = env.get_state()
    assert state["version"] == saved.STATE_VERSION
    with pytest.raises(
        PapluError, match=f"state has version 99: paplu-env {__version__} reads .*{saved.STATE_VERSION}"
    ):
        env.set_state({**state, "version": 99})
    older = {"tables" if name == "core" else name: value for name, value in state.items() if name != "version"}
    with pytest.raises(PapluError, match="state has no version, so it is older"):
        env.set_state(older)
    env.set_state(state)


@pytest.mark.parametrize("make", ALL_ENVS)
def test_a_pickle_of_another_version_is_refused_before_what_it_holds_is_looked_for(
    make: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    env = make()
    env.something = Gone()
    with monkeypatch.context() as older:
        older.setattr(saved, "STATE_VERSION", 0)
        pickled = pickle.dumps(env)
    monkeypatch.delattr(sys.modules[__name__], "Gone")
    with pytest.raises(PapluError, match="pickled environment has version 0"):
        pickle.loads(pickled)


@pytest.mark.parametrize("make", ALL_ENVS)
def test_a_pickle_from_before_versions_is_refused(make: Callable[[], Any]) -> None:
    env = make()
    with pytest.raises(PapluError, match="pickled environment has no version, so it is older"):
        type(env).__new__(type(env)).__setstate__(dict(vars(env)))


@pytest.mark.parametrize("make", ALL_ENVS)
def test_a_pickle_of_this_version_holds_what_the_environment_holds(make: Callable[[], Any]) -> None:
    env = make()
    assert vars(pickle.loads(pickle.dumps(env))).keys() == vars(env).keys()
