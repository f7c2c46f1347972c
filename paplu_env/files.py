"""Files written whole or not at all: under a temporary name first, down to the disk, then renamed.

A link to a file is written through: the link stays. A device, a pipe or a socket is written to as it is, and never
replaced.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from paplu_env.errors import PapluError

_TEMPORARY: Final = re.compile(r"\.(?P<name>.+)\.(?P<process>[0-9]+)\.[0-9a-f]{8}\.(tmp|old)")  # see `_beside`
_DAY: Final = 86_400.0  # seconds
_BEGINNING: Final = 1 << 26  # bytes that are looked at: an ONNX file names its format at its end

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
    streams = {path: data for path, data in files.items() if is_stream(path)}
    contents = {Path(os.path.realpath(Path(path))): data for path, data in files.items() if path not in streams}
    if contents:
        _write_files(contents)
    for path, data in streams.items():
        _write_to_stream(path, data)


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether writing to a path sends bytes somewhere instead of making a file: a device, a pipe, a socket."""
    # What these hold is a way to something open: /dev/stdout may be a file, whose place in it counts.
    if os.path.abspath(path).startswith(("/dev/fd/", "/dev/std", "/proc/")):
        return os.path.exists(path)
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def check_target(path: str | os.PathLike[str], own: str | None = None, force: bool = False) -> None:
    """Refuse a path that a user named for output, before the work whose result it is to get.

    Devices and pipes are taken as they are. A file may be written if there is none yet, or if the same command wrote
    the one that is there. Nothing is asked and nothing is written here.

    Args:
        path: of a file to be written.
        own: a regular expression which the beginning of a file of this command matches; None: no file is its own.
        force: write over any file, as the option ``--force`` asks.

    Raises:
        PapluError: a folder, no folder to write in, or a file that isn't this command's own or is read-only.
    """
    real = Path(os.path.realpath(path))  # where the bytes go, at the end of all links
    if is_stream(path):
        if not os.access(path, os.W_OK):
            raise PapluError(f"{path}: may not be written to")
        return
    if real.is_symlink():
        raise PapluError(f"{path}: is a link that leads nowhere")
    if real.is_dir():
        raise PapluError(f"{path}: it is a folder, name a file in it")
    if not real.parent.is_dir():
        raise PapluError(f"{path}: there is no folder {real.parent}, make it first")
    if not os.access(real.parent, os.W_OK | os.X_OK):
        raise PapluError(f"{path}: the folder {real.parent} may not be written to")
    if force or not real.exists():
        return
    if not real.stat().st_mode & 0o222:
        raise PapluError(f"{path}: is read-only; name another file, or give --force to write over it")
    if own is None or re.match(own.encode(), _beginning(real), re.DOTALL) is None:
        raise PapluError(
            f"{path}: exists already, and this command did not write it; name another file, or give --force to write "
            "over it"
        )


def json_of(key: str, value: str) -> str:
    """The expression for `check_target` of a JSON table whose first key is this one, with a value that so begins."""
    return rf'\s*\{{\s*"{re.escape(key)}":\s*"{re.escape(value)}'


def _write_files(contents: Mapping[Path, bytes]) -> None:
    """Write plain files, all or none; `write_together` says how."""
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


def _write_to_stream(path: str | os.PathLike[str], data: bytes) -> None:
    """Send bytes to a device or a pipe, which may take them in parts."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
        try:
            left = memoryview(data)
            while left:
                left = left[os.write(descriptor, left) :]
        finally:
            os.close(descriptor)
    except OSError as error:
        raise CannotWrite(error.errno, error.strerror, os.fspath(path)) from error


def _beginning(path: Path) -> bytes:
    """As much of a file as tells whose it is; nothing of one that can't be read."""
    try:
        with open(path, "rb") as file:
            return file.read(_BEGINNING)
    except OSError:
        return b""


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
