"""A slow, literal second opinion on hands: subsets of cards by definition, no code of `paplu_env`."""

from tests.oracle.blanks import distance
from tests.oracle.definitions import (
    POINTS,
    Options,
    group_kinds,
    is_pure_sequence,
    is_sequence,
    is_set,
    is_tanala,
    read,
    wild_rank,
    write,
)
from tests.oracle.layouts import deadwood, declarable, is_complete, points

__all__ = [
    "POINTS",
    "Options",
    "deadwood",
    "declarable",
    "distance",
    "group_kinds",
    "is_complete",
    "is_pure_sequence",
    "is_sequence",
    "is_set",
    "is_tanala",
    "points",
    "read",
    "wild_rank",
    "write",
]
