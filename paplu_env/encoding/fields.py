"""Named fields: which entries of an observation say what, as kernels, ``paplu describe`` and tests read it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from paplu_env.cards import NUM_FACES
from paplu_env.rules import RuleSet


@dataclass(frozen=True)
class Field:
    """A run of neighbouring entries of an observation that say one kind of thing.

    A field whose shape ends in 53 has one entry per face, in the order of the face numbers; other fields
    have nothing to do with suits.
    """

    name: str
    start: int  # index of its first entry
    shape: tuple[int, ...]  # its entries in C order, as numpy would reshape them
    meaning: str

    @property
    def size(self) -> int:
        """Number of entries."""
        return math.prod(self.shape)

    @property
    def stop(self) -> int:
        """Index after its last entry."""
        return self.start + self.size

    @property
    def is_by_face(self) -> bool:
        """Whether its last axis runs over the 53 faces."""
        return self.shape[-1] == NUM_FACES


@dataclass(frozen=True, eq=False)  # by identity: layouts are looked up by their specs at every call
class FieldSpec:
    """A field of an encoding before the table is known: its shape follows from the rules."""

    name: str
    shape: Callable[[RuleSet], tuple[int, ...]]
    meaning: str


def lay_out(specs: Iterable[FieldSpec], rules: RuleSet) -> tuple[Field, ...]:
    """Fields one after another without gaps, in the order given."""
    fields: list[Field] = []
    for spec in specs:
        start = fields[-1].stop if fields else 0
        fields.append(Field(spec.name, start, spec.shape(rules), spec.meaning))
    return tuple(fields)
