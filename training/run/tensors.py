"""Files that a killed run can't spoil: written to a temporary name and renamed; tensors without pickles."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from paplu_env.errors import InvalidFile, PapluError

Tensors = dict[str, npt.NDArray[Any]]

_FORMAT: Final = "format"  # metadata key: what kind of file it is, with its version
_ABOUT: Final = "about"  # metadata key: everything that isn't a tensor, as JSON


def write_atomically(path: Path, data: bytes) -> None:
    """Write a whole file or nothing: whoever reads `path` meets the old content or the new.

    Raises:
        PapluError: the disk is full or the folder can't be written; `path` is as it was.
    """
    write_together({path: data})


def write_together(files: Mapping[Path, bytes]) -> None:
    """Write several whole files or none.

    Args:
        files: contents by path. The first must make sense without the others: whoever is killed between two
            renames leaves it alone, never beside others that belong to another version of it.

    Raises:
        PapluError: the disk is full or a folder can't be written; all files are as they were.
    """
    new = {path: _beside(path, "tmp") for path in files}
    old = {path: _beside(path, "old") for path in files}
    first, *others = files
    try:
        for path, data in files.items():
            _write_through(new[path], data)
        if others:  # else there is nothing to take back: one rename happens or doesn't
            for path in files:
                if path.exists():
                    shutil.copyfile(path, old[path])
        try:
            for path in others:
                path.unlink(missing_ok=True)
            for path in (first, *others):
                os.replace(new[path], path)
        except OSError:
            if others:
                _restore(old)
            raise
    except OSError as error:
        names = " and ".join(map(str, files))
        raise PapluError(f"{names}: cannot be written ({error.strerror}); what was there is unchanged") from error
    finally:
        for temporary in (*new.values(), *old.values()):
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)


def write_json(path: Path, values: Any) -> None:
    """Write plain values as indented JSON, atomically."""
    write_atomically(path, to_json(values))


def to_json(values: Any) -> bytes:
    """Plain values as indented JSON, the content of a file."""
    return (json.dumps(values, indent=2, ensure_ascii=False) + "\n").encode()


def save_tensors(path: Path, kind: str, tensors: Mapping[str, npt.NDArray[Any]], about: Mapping[str, Any]) -> None:
    """Write arrays and plain values as one safetensors file, atomically.

    Args:
        path: the file.
        kind: what it is, with a version: `load_tensors` refuses any other.
        tensors: arrays by name.
        about: plain JSON values.
    """
    packed = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    write_atomically(path, save(packed, metadata={_FORMAT: kind, _ABOUT: json.dumps(about)}))


def load_tensors(path: Path, kind: str) -> tuple[Tensors, dict[str, Any]]:
    """The arrays and plain values of a file that `save_tensors` wrote; nothing in it is ever executed.

    Raises:
        InvalidFile: the file is missing, truncated, foreign, or of another kind or version.
    """
    if not path.is_file():
        raise InvalidFile(f"{path}: there is no such file")
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
    except (SafetensorError, OSError, ValueError) as error:
        raise InvalidFile(f"{path}: is not a safetensors file, or is truncated ({error})") from error
    if metadata.get(_FORMAT) != kind:
        raise InvalidFile(f"{path}: is {metadata.get(_FORMAT)!r}, not {kind!r}: foreign, or of another version")
    try:
        return tensors, json.loads(metadata[_ABOUT])
    except (KeyError, ValueError) as error:
        raise InvalidFile(f"{path}: its description cannot be read ({error!r})") from error


def _beside(path: Path, kind: str) -> Path:
    """A hidden name of this process in the same folder, so that renaming it never copies."""
    return path.with_name(f".{path.name}.{os.getpid()}.{kind}")


def _write_through(path: Path, data: bytes) -> None:
    """Write a file down to the disk."""
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _restore(copies: Mapping[Path, Path]) -> None:
    """Put back what was copied; what had no copy wasn't there."""
    for path, copy in copies.items():
        if copy.exists():
            os.rename(copy, path)
        else:
            path.unlink(missing_ok=True)
