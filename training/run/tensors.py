"""Tensors and plain values in one file, in the format safetensors: nothing in it is ever executed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from safetensors import safe_open
from safetensors.numpy import save

from paplu_env.errors import InvalidFile, InvalidNotation
from paplu_env.files import write_atomically
from paplu_env.reading import need, parse_json

Tensors = dict[str, npt.NDArray[Any]]

_FORMAT: Final = "format"  # metadata key: what kind of file it is, with its version
_ABOUT: Final = "about"  # metadata key: everything that isn't a tensor, as JSON


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
    # An odd header fails in a way of its own: types that NumPy hasn't got, shapes beyond any memory.
    except Exception as error:
        raise InvalidFile(f"{path}: is not a safetensors file, or is truncated ({error})") from error
    if metadata.get(_FORMAT) != kind:
        raise InvalidFile(f"{path}: is {metadata.get(_FORMAT)!r}, not {kind!r}: foreign, or of another version")
    try:
        return tensors, need(parse_json(metadata[_ABOUT], is_finite=False), dict, "what it says of itself")
    except (KeyError, InvalidNotation) as error:
        raise InvalidFile(f"{path}: its description cannot be read ({error!r})") from error
