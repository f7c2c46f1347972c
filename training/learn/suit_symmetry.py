"""Suits relabelled by chance: one decision seen is as good as twenty-four."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
import torch

from paplu_env import encoding as encodings
from paplu_env.cards import NUM_SUITS
from paplu_env.encoding import permute_actions, permute_suits
from paplu_env.engine.actions import NUM_ACTIONS
from paplu_env.rules import RuleSet


class SuitSymmetry(NamedTuple):
    """One order of the suits, as indices of what a learner handles."""

    features: torch.Tensor  # (F,): `obs[:, features]` is the relabelled observation
    hidden: torch.Tensor  # (H,), of the hidden layout likewise
    sources: torch.Tensor  # (A,): `masks[:, sources]` is what may be done then
    becomes: torch.Tensor  # (A,): `becomes[actions]` is what was done


def suit_symmetries(encoding: str, hidden_name: str, rules: RuleSet) -> list[SuitSymmetry]:
    """All orders of the suits, the usual one among them."""
    found = []
    for order in itertools.permutations(range(NUM_SUITS)):
        features, hidden = (
            permute_suits(np.arange(layout.num_features(rules)), rules, layout, order)
            for layout in (encodings.by_name(encoding), encodings.hidden_layout(hidden_name))
        )
        becomes = permute_actions(np.arange(NUM_ACTIONS), order)
        indices = (features, hidden, np.argsort(becomes), becomes)
        found.append(SuitSymmetry(*(torch.from_numpy(index.copy()) for index in indices)))
    return found


def draw_symmetry(found: list[SuitSymmetry]) -> SuitSymmetry:
    """One of them by chance, from torch's generator."""
    return found[int(torch.randint(len(found), ()))]
