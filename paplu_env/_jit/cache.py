"""Where compiled kernels are kept: one folder per user, in it one per source file, named by all that goes into it.

A kernel's files are found by what it was made of and by nothing else: a hash of its source file and of all files of
the package that this one imports, directly or through others, and the versions of Python, numba, llvmlite and NumPy;
numba adds the signature, the processor's model and its features. The path of the source doesn't matter, so one wheel
in two environments compiles once.

What numba keeps are pickles, and whoever can write into the folder could have them run. So only folders are used that
belong to the user or to root and that nobody else can write to, up to the root of the file system. A folder that may
be read and not written is read.
"""

from __future__ import annotations

import functools
import hashlib
import os
import pickle
import platform
import re
import secrets
import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import llvmlite
import numba
import numpy as np
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.serialize import dumps

_PACKAGE: Final = Path(__file__).resolve().parent.parent
_OTHERS_MAY_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH

# An import statement of this package's: the module, and the names if it is a ``from``.
_IMPORT: Final = re.compile(r"^\s*(?:from|import)\s+(paplu_env[\w.]*)(?:\s+import\s+(\([^)]*\)|[^\n]*))?", re.MULTILINE)


@dataclass(frozen=True)
class Place:
    """Where compiled kernels go.

    Attributes:
        folder: the folder; None: kernels are compiled in every process.
        can_write: whether new ones are added.
    """

    folder: Path | None
    can_write: bool = False


@functools.cache
def place() -> Place:
    """The user's folder of kernels: ``PAPLU_CACHE_DIR``, else ``paplu_env`` in the user's cache folder.

    It is looked for once per process, and what stands in the way of one is said.
    """
    wish = os.environ.get("PAPLU_CACHE_DIR")
    for name, folder in (("PAPLU_CACHE_DIR", Path(wish).absolute() if wish else None), ("", _folder_of_user())):
        if folder is None:
            continue
        refusal = why_unsafe(folder)
        if not refusal and not folder.is_dir():
            try:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                refusal = f"{folder} can't be made ({error.strerror})"
            else:
                refusal = why_unsafe(folder)
        if not refusal:
            return Place(folder, os.access(folder, os.W_OK | os.X_OK))
        say_once(f"no kernels are kept in {name or folder}: {refusal}")
    say_once("kernels are compiled anew in every process; name a folder of your own by PAPLU_CACHE_DIR")
    return Place(None)


def _folder_of_user() -> Path | None:
    """``paplu_env`` in the user's cache folder, None where the user has no home."""
    for base in (os.environ.get("XDG_CACHE_HOME", ""), os.path.join(os.path.expanduser("~"), ".cache")):
        if os.path.isabs(base):
            return Path(base) / "paplu_env"
    return None


def why_unsafe(folder: Path) -> str:
    """Why others than the user and root could plant files in a folder, with the mend; "" if they can't.

    Args:
        folder: absolute; parts of it that don't exist yet would be the user's own.
    """
    if not hasattr(os, "geteuid"):
        return ""  # Windows has no such bits; profiles are their users' own there
    real = Path(os.path.realpath(folder))
    for part in (real, *real.parents):
        try:
            found = part.stat()
        except FileNotFoundError:
            continue
        except OSError as error:
            return f"{part} can't be looked at ({error.strerror})"
        if found.st_uid not in (0, os.geteuid()):
            return f"{part} belongs to another user; name a folder of your own"
        is_shared = bool(found.st_mode & _OTHERS_MAY_WRITE)
        if is_shared and (part == real or not found.st_mode & stat.S_ISVTX):
            return f"others may write to {part}; `chmod go-w {part}` mends it"
    return ""


@functools.cache
def key_of(filename: str) -> str:
    """The name of the folder for one source file's kernels; "" for a file that is not ours or can't be read."""
    source = Path(filename).resolve()
    if not source.is_relative_to(_PACKAGE):
        return ""
    try:
        return f"{source.stem}-{_hash_of(source)}"
    except OSError:  # from a zip, or bytecode without its source: nothing tells when it has changed
        return ""


def cache_folder(filename: str) -> str:
    """The folder for the compiled kernels of a source file of this package; "" if there is none."""
    key, folder = key_of(filename), place().folder
    return str(folder / key) if key and folder is not None else ""


def keep(kernel: Any) -> None:
    """Let a dispatcher load what was compiled before, and save what it compiles.

    Args:
        kernel: of numba, without a cache so far.
    """
    if cache_folder(kernel.py_func.__code__.co_filename):
        kernel._cache = _KernelCache(kernel.py_func)


class _Locator(_CacheLocator):  # type: ignore[misc]  # numba has no types
    """Says where the files of one function lie."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._py_file = function.__code__.co_filename
        self._lineno = function.__code__.co_firstlineno

    def get_cache_path(self) -> str:
        return cache_folder(self._py_file)

    def ensure_cache_path(self) -> None:
        os.makedirs(self.get_cache_path(), mode=0o700, exist_ok=True)

    def get_source_stamp(self) -> str:
        return ""  # the folder's name says it all

    def get_disambiguator(self) -> str:
        return str(self._lineno)

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _Locator:
        return cls(py_func)


class _Contents(CompileResultCacheImpl):  # type: ignore[misc]
    """What is kept of a compiled function, as numba keeps it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._lineno = function.__code__.co_firstlineno
        self._locator = _Locator(function)
        module = Path(function.__code__.co_filename).stem
        self._filename_base = self.get_filename_base(f"{module}.{function.__qualname__}", getattr(sys, "abiflags", ""))


class _KernelCache(FunctionCache):  # type: ignore[misc]
    """Kernels on disk. No fault of a disk stops a kernel: it is compiled if it can't be loaded or saved."""

    _impl_class = _Contents

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file = _Files(Path(self.cache_path), self._impl.filename_base)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a broken pickle or object file may raise nearly anything
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        if not place().can_write:
            return
        try:
            super().save_overload(sig, data)
        except OSError as error:
            say_once(f"a compiled kernel can't be kept in {self.cache_path} ({error.strerror}); it works all the same")


class _Files:
    """The compiled kernels of one function, a file per signature and processor.

    Numba keeps an index beside numbered files. Two processes that compile one function for two signatures at once
    choose the same number, and later a kernel is loaded that was compiled for another signature. Here a file's name
    says what it holds, and nobody reads one that isn't whole.
    """

    def __init__(self, folder: Path, base: str) -> None:
        self._folder, self._base = folder, base

    def path(self, key: object) -> Path:
        """Where a kernel lies; ``key`` is numba's: signature, processor, and a hash of the function."""
        return self._folder / f"{self._base}.{hashlib.sha256(repr(key).encode()).hexdigest()[:24]}.nbc"

    def load(self, key: object) -> Any:
        """What was saved, None if nothing was."""
        try:
            data = self.path(key).read_bytes()
        except FileNotFoundError:
            return None
        text, payload = pickle.loads(data)
        return payload if text == repr(key) else None

    def save(self, key: object, payload: object) -> None:
        """Keep a kernel under its key, whole or not at all."""
        path = self.path(key)
        unfinished = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
        try:
            unfinished.write_bytes(dumps((repr(key), payload)))
            os.replace(unfinished, path)
        finally:
            unfinished.unlink(missing_ok=True)

    def flush(self) -> None:
        """Nothing: a file that can't be read is written over."""


@functools.cache
def say_once(text: str) -> None:
    """Tell the user on standard error, once per process, unless ``PAPLU_QUIET`` is 1."""
    if os.environ.get("PAPLU_QUIET") != "1" and sys.stderr is not None:
        print(f"paplu_env: {text}", file=sys.stderr)


def _hash_of(source: Path) -> str:
    """Hash of a source file, of what it imports from this package, and of the compiler."""
    needed: set[Path] = set()
    waiting = [source]
    while waiting:
        path = waiting.pop()
        if path not in needed:
            needed.add(path)
            waiting += _imports_of(path)
    python = (platform.python_implementation(), sys.version_info[:3], platform.machine())
    digest = hashlib.sha256(f"{python}{numba.__version__}{llvmlite.__version__}{np.__version__}".encode())
    for path in sorted(needed):
        digest.update(path.relative_to(_PACKAGE).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@functools.cache
def _imports_of(path: Path) -> tuple[Path, ...]:
    """Files of this package whose names a file's import statements bring in."""
    found = []
    for module, names in _IMPORT.findall(path.read_text(encoding="utf-8")):
        place = _PACKAGE.joinpath(*module.split(".")[1:])
        for wish in (place, *(place / name for name in re.findall(r"\w+", names))):
            found += [file for file in (wish.with_suffix(".py"), wish / "__init__.py") if file.is_file()]
    return tuple(found)
