"""Decisions of a bot in games that it plays against itself: what cloning learns from and exports are checked on."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env.bots.playing import play_steps
from paplu_env.bots.policy import Policy, decision_keys
from paplu_env.encoding import Encoding, HiddenLayout
from paplu_env.engine import deal_many, legal_action_masks, player_views
from paplu_env.engine.actions import DECLARE_BASE, DROP, NUM_ACTIONS
from paplu_env.engine.chance import policy_seed_of
from paplu_env.engine.state import States, empty_states
from paplu_env.errors import InvalidFile
from paplu_env.files import write_atomically
from paplu_env.rules import RuleSet

_ARRAYS: Final = ("states", "seats", "actions", "points", "winners")


@dataclass(frozen=True)
class Decisions:
    """``N`` decisions of whole deals, in no particular order.

    The positions are kept whole, so that any encoding can be learned from them; what the deciding seat sees of
    them is made on demand.
    """

    rules: RuleSet
    states: States  # (N,), before the decision
    seats: npt.NDArray[np.int64]  # (N,), who decided
    actions: npt.NDArray[np.int64]  # (N,), what the teacher would do
    points: npt.NDArray[np.int64]  # (N,), what the deal brought that seat in the end
    winners: npt.NDArray[np.int64]  # (N,), the seat that won the deal, -1 without a winner

    def __len__(self) -> int:
        return len(self.actions)

    def obs(self, encoding: Encoding) -> npt.NDArray[np.float32]:
        """``(N, F)`` what the deciding seats see."""
        return encoding.encode(player_views(self.states, self.seats), self.rules)

    def masks(self) -> npt.NDArray[np.bool_]:
        """``(N, A)`` what they may do."""
        return legal_action_masks(self.states, self.rules)

    def hidden(self, layout: HiddenLayout) -> npt.NDArray[np.float32]:
        """``(N, H)`` what a layout of hidden cards says of the rest, for a critic."""
        return layout.encode(self.states, self.seats, self.rules)


def collect_decisions(teacher: Policy, deals: int, seed: int, noise: float = 0.0) -> Decisions:
    """Play deals with the teacher in every seat, and write down what it does.

    Args:
        teacher: the bot; its rules are played.
        deals: how many deals, side by side.
        seed: seed of the deals, of the teacher's chance and of the noise.
        noise: share of moves that are replaced by a random one once the teacher has been asked, so that its
            answers in positions that it would not reach are learned too. It never drops and never prevents
            a declaration.
    """
    rules = teacher.rules
    rng = np.random.default_rng(seed)
    states = deal_many(rules, rng.integers(2**63, size=deals, dtype=np.uint64))
    parts: list[tuple[npt.NDArray[Any], ...]] = []
    chance = policy_seed_of(seed)
    for step in play_steps(
        states,
        [teacher],
        keys_of=lambda rows, due: decision_keys(chance, rows, due),
        seating=np.zeros((deals, rules.num_players), dtype=np.int64),
    ):
        parts.append((step.states.copy(), step.actions, step.seats, step.rows))
        step.actions = _with_noise(step.actions, step.masks, noise, rng)
    all_states, all_actions, all_seats, owners = (np.concatenate(column) for column in zip(*parts, strict=True))
    points = states["returns"][owners, all_seats].astype(np.int64)
    return Decisions(rules, all_states, all_seats, all_actions, points, states["winner"][owners].astype(np.int64))


def kept_decisions(folder: Path, teacher: Policy, deals: int, seed: int, noise: float) -> Decisions:
    """As `collect_decisions`, from the file of an earlier call with the same arguments if there is one.

    The name of a file tells all arguments, but not the version of the teacher: a folder is for one version.

    Raises:
        InvalidFile: a file of this name that holds something else.
        PapluError: the folder can't be written.
    """
    rules = teacher.rules
    path = folder / f"{teacher.name}-{rules.hash[:12]}-{seed}-{deals}-{noise:g}.npz"
    if path.exists():
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = [file[name] for name in _ARRAYS]
        except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
            raise InvalidFile(f"{path}: holds no decisions ({error}); delete it") from error
        if arrays[0].dtype != empty_states(rules, 0).dtype:
            raise InvalidFile(f"{path}: holds positions of another version; delete it")
        return Decisions(rules, *arrays)
    found = collect_decisions(teacher, deals, seed, noise)
    folder.mkdir(parents=True, exist_ok=True)
    packed = io.BytesIO()
    np.savez_compressed(packed, **{name: getattr(found, name) for name in _ARRAYS})
    write_atomically(path, packed.getvalue())
    return found


def _with_noise(
    actions: npt.NDArray[np.int64], masks: npt.NDArray[np.bool_], noise: float, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """The actions, with a share of those that neither drop nor declare replaced by random legal ones."""
    if noise == 0.0:
        return actions
    allowed = masks.copy()
    allowed[:, DROP] = False
    allowed[:, DECLARE_BASE:NUM_ACTIONS] = False
    scores = np.where(allowed, rng.random(masks.shape), -1.0)
    replaced = (rng.random(len(actions)) < noise) & (actions < DECLARE_BASE) & (actions != DROP)
    return np.where(replaced, scores.argmax(axis=1), actions)
