"""Decisions of a match on disk, for cloning and offline learning: one npz file per batch, readable without pickle."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from paplu_env.engine.actions import NUM_ACTIONS
from paplu_env.engine.state import empty_views
from paplu_env.errors import InvalidFile
from paplu_env.evaluation.games import Decisions
from paplu_env.files import write_atomically
from paplu_env.reading import parse_json
from paplu_env.rules import RuleSet

FORMAT: Final = "paplu-decisions-1"
_PATTERN: Final = "decisions-*.npz"


@dataclass(frozen=True)
class Recording:
    """One file of a recording: decisions, and what they are decisions of.

    Attributes:
        rules: of the table; with an encoding it turns ``decisions.views`` into observations.
        seed: of the match.
        names: of the policies; ``decisions.players`` counts them from 0.
        decisions: in the order of (deal, rotation, decision).
    """

    rules: RuleSet
    seed: int
    names: tuple[str, ...]
    decisions: Decisions


class Recorder:
    """Writes the decisions of a match into a folder, one finished file at a time.

    Raises:
        InvalidFile: the folder holds a recording already, or can't be made.
    """

    def __init__(
        self, folder: str | os.PathLike[str], rules: RuleSet, seed: int, names: Sequence[str], policy_seed: int
    ) -> None:
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidFile(f"{self.folder}: can't be made a folder for a recording: {error.strerror}") from error
        if any(self.folder.glob(_PATTERN)):
            raise InvalidFile(f"{self.folder}: holds a recording already; name another folder, or remove it first")
        about = {
            "format": FORMAT,
            "rules": rules.to_dict(),
            "seed": seed,
            "policy_seed": policy_seed,
            "names": list(names),
        }
        self._about = json.dumps(about)

    def __call__(self, number: int, decisions: Decisions) -> None:
        """Write one batch; it appears under its name only when it is complete.

        Raises:
            CannotWrite: the disk is full or the folder can't be written.
        """
        packed = io.BytesIO()
        np.savez_compressed(
            packed,
            about=np.array(self._about),
            views=decisions.views,
            masks=np.packbits(decisions.masks, axis=1),
            actions=decisions.actions.astype(np.uint8),
            returns=decisions.returns,
            players=decisions.players.astype(np.uint8),
            deals=decisions.deals,
            rotations=decisions.rotations.astype(np.uint8),
        )
        write_atomically(self.folder / f"decisions-{number:06d}.npz", packed.getvalue())


def read_recordings(folder: str | os.PathLike[str]) -> Iterator[Recording]:
    """The files of a recording, in the order of the deals.

    Raises:
        InvalidFile: no recording in this folder, or a file that is truncated, foreign or of another version.
    """
    paths = sorted(Path(folder).glob(_PATTERN))
    if not paths:
        raise InvalidFile(f"{folder}: holds no recording ({_PATTERN}); `paplu match A B --record DIR` makes one")
    for path in paths:
        yield read_recording(path)


def read_recording(path: str | os.PathLike[str]) -> Recording:
    """One file of a recording.

    Raises:
        InvalidFile: a file that is missing, truncated, foreign or of another version.
    """
    try:
        with np.load(path, allow_pickle=False) as arrays:
            about: dict[str, Any] = parse_json(str(arrays["about"]))
            if about.get("format") != FORMAT:
                raise InvalidFile(f"{path}: is of format {about.get('format')!r}, this version reads {FORMAT!r}")
            rules = RuleSet.from_dict(about["rules"])
            decisions = Decisions(
                views=arrays["views"],
                masks=np.unpackbits(arrays["masks"], axis=1, count=NUM_ACTIONS).astype(np.bool_),
                actions=arrays["actions"].astype(np.int64),
                returns=arrays["returns"],
                players=arrays["players"].astype(np.int64),
                deals=arrays["deals"],
                rotations=arrays["rotations"].astype(np.int64),
            )
            seed, names = int(about["seed"]), tuple(map(str, about["names"]))
    except InvalidFile:
        raise
    # A damaged file raises whatever zip, zlib, NumPy and its parser of headers meet first, and they share no
    # base class: zlib.error, tokenize.TokenError, NotImplementedError and MemoryError were all seen.
    except Exception as error:
        raise InvalidFile(f"{path}: is no recording, or is truncated or damaged ({error!r})") from error
    # A zip member's checksum is compared at its end only, which a header with too short a length never reaches.
    if len({len(array) for array in vars(decisions).values()}) != 1:
        raise InvalidFile(f"{path}: its arrays have different lengths, so it is damaged; record the match again")
    layout = empty_views(rules, 0).dtype
    if decisions.views.dtype != layout:
        raise InvalidFile(f"{path}: its views have another layout than this version's; record the match again")
    # A file doesn't keep that the rows are aligned, without which np.concatenate would pack them.
    decisions.views = decisions.views.view(layout)
    return Recording(rules, seed, names, decisions)
