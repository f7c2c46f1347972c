"""What every encoding is: a name, a layout, and one function from views to observations."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import run_slices
from paplu_env.encoding.fields import Field, FieldSpec, lay_out
from paplu_env.engine.series.score_sheet import ScoreSheet
from paplu_env.engine.state import Views, check_views
from paplu_env.errors import PapluError
from paplu_env.rules import RuleSet, as_rules

Observations = npt.NDArray[np.float32]  # (B, F) in [0, 1]

# Marks that grow old (a discard, a refusal) count down from 1 towards 1/2 and never fade to the 0 of
# "never": 1/2 + 1/2 / (1 + age). No deal has more draws than 250, so no age is above 255.
RECENCY: Final[Observations] = (0.5 + 0.5 / (1.0 + np.arange(256))).astype(np.float32)
RECENCY.setflags(write=False)


class Layout:
    """Named fields: what an array says never changes under one name.

    The number of features F depends on the seats at the table and on the packs, on nothing else.
    Opponents are numbered by turns: relative seat 1 plays after the seat that looks, whichever
    way play goes; relative seat 0 is the seat itself.
    """

    name: ClassVar[str]
    specs: ClassVar[tuple[FieldSpec, ...]]

    def fields(self, rules: RuleSet | str | Mapping[str, Any]) -> tuple[Field, ...]:
        """The fields in order; together they cover 0..F-1 once."""
        return _fields(self.specs, as_rules(rules))

    def num_features(self, rules: RuleSet | str | Mapping[str, Any]) -> int:
        """F, the length of an observation."""
        return self.fields(rules)[-1].stop

    def check_out(self, out: Observations, batch: int, rules: RuleSet) -> None:
        """Refuse an array that ``batch`` rows do not fit into.

        Raises:
            PapluError: another shape, dtype or memory order.
        """
        shape = (batch, self.num_features(rules))
        if out.shape != shape or out.dtype != np.float32 or not out.flags.c_contiguous:
            raise PapluError(
                f"{self.name}: out must be a C-contiguous float32 array of shape {shape}, "
                f"this one is {out.dtype} of shape {out.shape}"
            )


class Encoding(Layout, ABC):
    """A numbered way to write what a seat may know as an observation."""

    def encode(
        self,
        views: Views,
        rules: RuleSet | str | Mapping[str, Any],
        out: Observations | None = None,
        threads: int = 1,
        sheets: Sequence[ScoreSheet] | None = None,
    ) -> Observations:
        """Observations of views, each for the seat of its view, to move or not.

        Args:
            views: ``(B,)`` of the table's view dtype. Not modified.
            out: ``(B, F)`` float32, C-contiguous, every entry is overwritten; a new array if not given.
            threads: slices of rows that run at the same time; the result doesn't depend on it.
            sheets: ``B`` score sheets, one beside each view; an encoding that shows no scores leaves them unread.

        Returns:
            ``(B, F)`` float32 in [0, 1]: ``out``.

        Raises:
            InvalidRules: views of a game under other rules.
            PapluError: an ``out`` of another shape, dtype or memory order.
        """
        table = as_rules(rules)
        check_views(views, table)
        if out is None:
            out = np.empty((len(views), self.num_features(table)), dtype=np.float32)
        else:
            self.check_out(out, len(views), table)
        self.encode_rows(views, table, out, threads)
        return out

    def encode_rows(self, views: Views, rules: RuleSet, out: Observations, threads: int = 1) -> None:
        """Fill ``out`` as `encode` does; nothing is checked, for those who made their arrays to fit."""
        if threads == 1:
            self._encode_rows(views, rules, out, 0, len(views))
        else:
            run_slices(functools.partial(self._encode_rows, views, rules, out), len(views), threads)

    @abstractmethod
    def _encode_rows(self, views: Views, rules: RuleSet, out: Observations, start: int, stop: int) -> None:
        """Fill rows start..stop-1 of ``out``."""


@functools.lru_cache(maxsize=256)
def _fields(specs: tuple[FieldSpec, ...], rules: RuleSet) -> tuple[Field, ...]:
    return lay_out(specs, rules)


def starts_of(specs: tuple[FieldSpec, ...], rules: RuleSet) -> npt.NDArray[np.int64]:
    """First entry of every field in order, as kernels take a layout."""
    return np.array([field.start for field in _fields(specs, rules)], dtype=np.int64)
