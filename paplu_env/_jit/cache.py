"""Where compiled kernels are kept: a folder per source file, named by a hash of all that goes into its kernels."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Final

import numba
import numpy as np

_PACKAGE: Final = Path(__file__).resolve().parent.parent

# An import statement of this package's: the module, and the names if it is a ``from``.
_IMPORT: Final = re.compile(r"^\s*(?:from|import)\s+(paplu_env[\w.]*)(?:\s+import\s+(\([^)]*\)|[^\n]*))?", re.MULTILINE)


@functools.cache
def cache_folder(filename: str) -> str:
    """The folder for the compiled kernels of a source file of this package; "" if none can be written to.

    Numba itself would go on using a kernel after something that it calls was edited. So the folder's name
    holds a hash of the file, of all files of the package that it imports directly or through others, and of
    the versions of Python, numba and numpy: what was compiled from anything else is not found.
    """
    source = Path(filename).resolve()
    if not source.is_relative_to(_PACKAGE):
        return ""
    name = f"{source.stem}-{_hash_of(source)}"
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    for wish in (os.environ.get("PAPLU_CACHE_DIR"), os.path.join(home, "paplu_env"), tempfile.gettempdir()):
        if not wish:
            continue
        folder = os.path.join(wish, name)
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    return ""


def _hash_of(source: Path) -> str:
    """Hash of a source file, of what it imports from this package, and of the compiler."""
    needed: set[Path] = set()
    waiting = [source]
    while waiting:
        path = waiting.pop()
        if path not in needed:
            needed.add(path)
            waiting += _imports_of(path)
    digest = hashlib.sha256(f"{sys.version_info[:2]}{numba.__version__}{np.__version__}".encode())
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
