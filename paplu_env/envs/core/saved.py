"""States and pickles of environments: a version goes with each, so that one of another version is refused in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol, TypeVar

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.error import ResetNeeded

from paplu_env import __version__
from paplu_env.errors import PapluError

Observation = npt.NDArray[np.float32]
_E = TypeVar("_E")

# Raised with every change of what environments hold or of where their classes stand. What was saved before
# versions were written has none.
STATE_VERSION: Final = 1

_VERSION: Final = "state_version"


def check_state(state: object) -> None:
    """Refuse what `LearnerEnv.get_state` did not give.

    Raises:
        PapluError: no state of an environment, or one of another version.
    """
    if isinstance(state, Mapping) and "has_reset" in state:  # a key of every version
        check_version(state.get("version"), "state")
        if {"core", "np_random"} <= set(state):
            return
    raise PapluError("this is no state of an environment: take one with get_state()")


def check_version(version: object, what: str) -> None:
    """Refuse what was saved under another version.

    Args:
        version: as it was written, None where none was.
        what: the word for what was saved.

    Raises:
        PapluError: with both versions.
    """
    if version != STATE_VERSION:
        theirs = "has no version, so it is older" if version is None else f"has version {version!r}"
        raise PapluError(
            f"the {what} {theirs}: paplu-env {__version__} reads environments of version {STATE_VERSION} alone; "
            "make the environment anew"
        )


def check_arguments(theirs: object, ours: Mapping[str, Any]) -> None:
    """Refuse a state that was taken where the arguments of the environment were others.

    Raises:
        PapluError: naming the first argument that differs.
    """
    given = theirs if isinstance(theirs, Mapping) else {}
    for name, value in ours.items():
        if given.get(name) != value:
            raise PapluError(
                f"the state was taken with {name}={given.get(name)!r}, this environment has {name}={value!r}: "
                "put it back where the arguments are equal"
            )


class VersionedPickle:
    """Makes the pickles of an environment hold a version. It is read before anything else that they hold."""

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), _VERSION: STATE_VERSION}

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (type(self), STATE_VERSION), self.__getstate__()

    def __setstate__(self, state: dict[str, Any]) -> None:
        check_version(state.get(_VERSION), "pickled environment")
        vars(self).update((name, value) for name, value in state.items() if name != _VERSION)


def _unpickled(kind: type[_E], version: object) -> _E:
    """An empty environment for a pickle to fill.

    Raises:
        PapluError: the pickle has another version. What it holds has not been read then, so classes
            that have moved meanwhile are not missed.
    """
    check_version(version, "pickled environment")
    return kind.__new__(kind)


class _Core(Protocol):
    """What an environment of one learner is a face of."""

    def get_state(self) -> dict[str, Any]: ...

    def set_state(self, state: Mapping[str, Any]) -> None: ...


class LearnerEnv(VersionedPickle, gymnasium.Env[Observation, np.int64]):
    """A Gymnasium environment of one learner, whose state can be taken and put back."""

    _core: _Core
    _has_reset: bool

    def get_state(self) -> dict[str, Any]:
        """Everything that the future hangs on, for `set_state`; later steps leave it as it is."""
        return {
            "version": STATE_VERSION,
            "core": self._core.get_state(),
            "has_reset": self._has_reset,
            "np_random": self.np_random.bit_generator.state,
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Put back what `get_state` gave, here or in another environment with equal arguments.

        Raises:
            PapluError: it is no state, was saved by another version, or was taken where the arguments were
                others; nothing has changed then.
        """
        check_state(state)
        self._core.set_state(state["core"])
        self._has_reset = bool(state["has_reset"])
        self.np_random.bit_generator.state = state["np_random"]

    def _check_reset(self, call: str) -> None:
        """Refuse a call before the first `reset`."""
        if not self._has_reset:
            raise ResetNeeded(f"nothing has been dealt: call reset() before {call}")
