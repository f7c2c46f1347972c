"""Files written whole or not at all: under a temporary name first, down to the disk, then renamed."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from paplu_env.errors import PapluError

_TEMPORARY: Final = re.compile(r"\.(?P<name>.+)\.(?P<process>[0-9]+)\.[0-9a-f]{8}\.(tmp|old)")  # see `_beside`
_DAY: Final = 86_400.0  # seconds

_Path = TypeVar("_Path", bound=str | os.PathLike[str])


class CannotWrite(OSError, PapluError):
    """A file that could not be written; what was there before is unchanged.

    It is an `OSError` for callers who ask for ``errno``, ``strerror`` and ``filename``, and a `PapluError` whose text
    can be shown as it is.
    """

    def __str__(self) -> str:
        return f"{self.filename}: cannot be written ({self.strerror}); what was there is unchanged"


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a whole file or nothing: whoever reads ``path`` meets the old content or the new.

    Raises:
        CannotWrite: the disk is full, or the folder is missing or can't be written.
    """
    write_together({path: data})


def write_together(files: Mapping[_Path, bytes]) -> None:
    """Write several whole files or none.

    Args:
        files: contents by path. The first must make sense without the others: a process that is killed between two
            renames leaves it alone, never beside others that belong to another version of it.

    Raises:
        CannotWrite: the disk is full, or a folder is missing or can't be written; all files are as they were.
    """
    contents = {Path(path): data for path, data in files.items()}
    mark = f"{os.getpid()}.{secrets.token_hex(4)}"  # two hosts that share a disk may give two processes one number
    new = {path: _beside(path, f"{mark}.tmp") for path in contents}
    old = {path: _beside(path, f"{mark}.old") for path in contents}
    first, *others = contents
    try:
        for path, data in contents.items():
            _write_through(new[path], data)
        if others:  # else there is nothing to take back: one rename happens or doesn't
            for path in contents:
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
        missing = next((path.parent for path in contents if not path.parent.is_dir()), None)
        reason = error.strerror if missing is None else f"there is no folder {missing}"
        raise CannotWrite(error.errno, reason, " and ".join(map(str, contents))) from error
    finally:
        for temporary in (*new.values(), *old.values()):
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)


def write_json(path: str | os.PathLike[str], values: Any, indent: int = 2) -> None:
    """Write plain values as indented JSON, whole or not at all.

    Raises:
        CannotWrite: as `write_atomically` does.
    """
    write_atomically(path, to_json(values, indent))


def to_json(values: Any, indent: int = 2) -> bytes:
    """Plain values as indented JSON, the content of a file."""
    return (json.dumps(values, indent=indent, ensure_ascii=False) + "\n").encode()


def remove_temporaries(folder: str | os.PathLike[str], names: Collection[str] | None = None) -> None:
    """Delete what killed processes left in a folder: hidden temporary files of this module, and nothing else.

    A file goes if its process is gone, or if it is older than a day: numbers of processes are given again.

    Args:
        folder: it may be missing.
        names: of the files whose temporaries are meant; None: all.
    """
    for path in Path(folder).glob(".*"):
        found = _TEMPORARY.fullmatch(path.name)
        if found is None or (names is not None and found["name"] not in names):
            continue
        with contextlib.suppress(OSError):  # another process may tidy, too
            is_old = time.time() - path.lstat().st_mtime > _DAY
            if is_old or not _is_running(int(found["process"])):
                path.unlink()


def _is_running(process: int) -> bool:
    """Whether a process of this number lives on this machine."""
    if os.name == "nt":  # there `os.kill` ends a process
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def _beside(path: Path, ending: str) -> Path:
    """A hidden name in the same folder, so that renaming it never copies."""
    return path.with_name(f".{path.name}.{ending}")


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
