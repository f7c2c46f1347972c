"""What completes a hand: the exact solver, arrangements, and the check of a declaration."""

from paplu_env.melds.api import (
    deadwood,
    deadwoods,
    declarable,
    declarables,
    discard_distances,
    distance,
    distances,
    lives,
    outs,
    point_counts,
    points,
)
from paplu_env.melds.arrangement import Arrangement, Meld, arrange
from paplu_env.melds.declaration import check_declaration
from paplu_env.melds.groups import kind_of_group

__all__ = [
    "Arrangement",
    "Meld",
    "arrange",
    "check_declaration",
    "deadwood",
    "deadwoods",
    "declarable",
    "declarables",
    "discard_distances",
    "distance",
    "distances",
    "kind_of_group",
    "lives",
    "outs",
    "point_counts",
    "points",
]
