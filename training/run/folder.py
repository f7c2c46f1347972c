"""The folder of one run: whose it is, what it was started with, its measurements, and its lock."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from paplu_env import __version__
from paplu_env.errors import InvalidFile, PapluError
from paplu_env.files import remove_temporaries, write_atomically, write_json
from paplu_env.reading import read_json
from training.learn.config import BUDGET, CHANGEABLE, TrainConfig, differences

_LIBRARIES: Final = ("numpy", "numba", "gymnasium", "torch", "stable-baselines3", "sb3-contrib", "onnx", "onnxruntime")


# What a run keeps in its folder, by name.
_FILES: Final = (
    "run.json",
    "latest.safetensors",
    "best.safetensors",
    "last.safetensors",
    "metrics.jsonl",
    "exploit.json",
    "lock",
)
_FOLDERS: Final = ("selves", "tensorboard")
_EXPORTED: Final = (".onnx", ".json", ".safetensors")  # endings of what an export writes beside them


def check_not_kept(*paths: Path) -> None:
    """Refuse to write over what a run keeps, in whichever run's folder it lies.

    Call it before anything is written: an export named ``run.onnx`` would bring a card ``run.json``, over the file
    that the run goes on by.

    Raises:
        PapluError: one of the paths is such a file, by name.
    """
    for path in paths:
        real = Path(os.path.realpath(path))
        for folder in real.parents[: 2 + len(_FOLDERS)]:
            if not (folder / "run.json").is_file():
                continue
            first = real.relative_to(folder).parts[0].casefold()
            is_file = len(real.relative_to(folder).parts) == 1 and first in _FILES
            if is_file or first in _FOLDERS:
                raise PapluError(
                    f"{path}: the run in {folder} keeps this file and goes on by it; nothing has been written. "
                    "Name another place with --out"
                )


class RunFolder:
    """A run's folder, held by one process at a time.

    Files: ``run.json`` (config, versions, commit), ``latest.safetensors`` (the last checkpoint: everything
    that `--resume` needs), ``best.safetensors`` (the network that did best against the fixed agent),
    ``last.safetensors`` (the network at the last checkpoint),
    ``selves/`` (past selves), ``metrics.jsonl`` (one line per update and per match), ``tensorboard/``;
    of a best response also ``exploit.json`` (what it took from the frozen policy).

    Use it as a context manager: leaving it gives the lock back, and so does any death of the process.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.latest = self.path / "latest.safetensors"
        self.best = self.path / "best.safetensors"
        self.last = self.path / "last.safetensors"
        self.selves = self.path / "selves"
        self.tensorboard = self.path / "tensorboard"
        self.exploitation = self.path / "exploit.json"
        self._description = self.path / "run.json"
        self._metrics = self.path / "metrics.jsonl"
        self._lock: Any = None

    def __enter__(self) -> RunFolder:
        try:
            from filelock import FileLock, Timeout  # only whoever writes a run needs it
        except ImportError as error:
            raise PapluError("a run's folder is locked by filelock: pip install 'paplu-env[train]'") from error
        try:
            self.selves.mkdir(parents=True, exist_ok=True)
            # The system drops this lock with the process, so a killed run never leaves it behind.
            self._lock = FileLock(self.path / "lock")
            self._lock.acquire(timeout=0)
        except Timeout as error:
            raise PapluError(
                f"{self.path}: another run is at work in this folder; wait for it, or choose another with --out"
            ) from error
        except OSError as error:
            raise PapluError(f"{self.path}: cannot be written ({error.strerror})") from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()

    @property
    def holds_run(self) -> bool:
        """A run has been begun here, whether or not it has come to a checkpoint."""
        return self._description.exists()

    def begin(self, config: TrainConfig, resume: bool) -> None:
        """Write down what this run is, or make sure that it goes on as it began.

        Only `CHANGEABLE` values may be others: its budget, so that a finished run can be extended. ``run.json`` then
        holds the new configuration, and under ``extended`` what the budget was before.

        Raises:
            PapluError: the folder holds a run and `resume` is False, or a run of another configuration.
        """
        if not self.holds_run:
            write_json(self._description, {"config": config.to_dict(), **provenance()})
            return
        if not resume:
            raise PapluError(
                f"{self.path}: holds a run already; continue it with --resume, or choose another folder with --out"
            )
        before = self.read_config()
        changed = differences(config, before)
        if set(changed) - set(CHANGEABLE):
            raise PapluError(
                f"{self.path}: was begun with other values of {', '.join(changed)}; resume with the "
                f"configuration of its run.json, in which only {', '.join(CHANGEABLE)} may change, or begin a new "
                "run with --out"
            )
        if changed:
            description = self.read()
            budget = {"ppo.timesteps": before.ppo.timesteps, "minutes": before.minutes, "until": provenance()["time"]}
            if set(changed) & set(BUDGET):
                description["extended"] = [*description.get("extended", []), budget]
            write_json(self._description, {**description, "config": config.to_dict()})

    def check_complete(self) -> None:
        """Refuse a run of which a part is lost, before a new start is made over what is left.

        Raises:
            PapluError: checkpoints without ``run.json``, or a run that has learned and has no checkpoint.
        """
        kept = [path for path in (self.latest, self.best, self.last, self._metrics) if path.exists()]
        if not self.holds_run and kept:
            raise PapluError(
                f"{self.path}: holds {kept[0].name} of a run but no {self._description.name}; bring it back, or begin "
                "another run with --out"
            )
        # A run that was killed while it measured its start has a best network and no checkpoint: it loses nothing.
        if not self.latest.exists() and (self.metrics("update") or any(self.selves.glob("*.safetensors"))):
            raise PapluError(
                f"{self.path}: {self.latest.name} is missing, though the run has learned; it can't go on without its "
                f"checkpoint. Bring it back, or begin a new run with --out and --from {self.path}"
            )

    def remove_leftovers(self) -> None:
        """Delete the temporary files that a killed run left of the files that it keeps."""
        remove_temporaries(self.path, [*_FILES, *(f"{self.read_config().name}{end}" for end in _EXPORTED)])
        remove_temporaries(self.selves)

    def read_config(self) -> TrainConfig:
        """The configuration that this run was begun with.

        Raises:
            InvalidFile: the folder holds no run, or its description can't be read.
        """
        try:
            return TrainConfig.from_dict(self.read()["config"])
        except PapluError as error:
            raise InvalidFile(f"{self._description}: {error}") from error

    def read(self) -> dict[str, Any]:
        """The run's description: config, versions, commit, time.

        Raises:
            InvalidFile: the folder holds no run, or its description can't be read.
        """
        try:
            description: dict[str, Any] = read_json(self._description, is_finite=False)
        except InvalidFile as error:
            raise InvalidFile(f"{self._description}: describes no run ({error})") from error
        if not isinstance(description, dict) or not isinstance(description.get("config"), dict):
            raise InvalidFile(f"{self._description}: describes no run (it has no table 'config')")
        missing = [key for key in ("versions", "commit", "time") if key not in description]
        if missing:
            raise InvalidFile(f"{self._description}: describes no run (it lacks {', '.join(missing)})")
        return description

    def log(self, kind: str, step: int, values: dict[str, Any]) -> None:
        """Append one line to ``metrics.jsonl``.

        Raises:
            PapluError: the disk is full or the folder can't be written.
        """
        line = json.dumps({"kind": kind, "step": step, **values})
        try:
            with open(self._metrics, "a", encoding="utf-8") as file:
                file.write(line + "\n")
        except OSError as error:
            raise PapluError(f"{self._metrics}: cannot be written ({error.strerror})") from error

    def metrics(self, kind: str | None = None) -> list[dict[str, Any]]:
        """The lines of ``metrics.jsonl``, of one kind or all.

        What a killed run or a full disk left of a line is skipped, whatever bytes it is made of.
        """
        if not self._metrics.exists():
            return []
        found = []
        for line in self._metrics.read_bytes().split(b"\n"):
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):
                continue
            is_whole = isinstance(entry, dict) and isinstance(entry.get("kind"), str)
            if is_whole and isinstance(entry.get("step"), int) and kind in (None, entry["kind"]):
                found.append(entry)
        return found

    def forget_after(self, step: int) -> None:
        """Drop the lines beyond a checkpoint: the run that goes on from it will write them again."""
        kept = [entry for entry in self.metrics() if entry["step"] <= step]
        write_atomically(self._metrics, "".join(json.dumps(entry) + "\n" for entry in kept).encode())


def provenance() -> dict[str, Any]:
    """Where numbers come from: versions, machine, commit and time."""
    versions = {"paplu_env": __version__, "python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {
        "versions": versions,
        "commit": _commit(),
        "machine": platform.machine(),
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def _commit() -> str | None:
    """The checkout's commit, with a mark if files differ from it; None outside a checkout."""
    command = ["git", "-C", str(Path(__file__).resolve().parent), "describe", "--always", "--dirty", "--abbrev=40"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None
