"""Plain values from JSON and TOML that anybody may have written: read within limits, or refused with a short reason.

What comes back is safe to compare, print and use as a path: no key twice, nothing nested deeper than `MAX_DEPTH`,
numbers that are finite and of a usual size, texts without NUL or half a surrogate pair. A byte order mark is passed
over. The types of the values are the caller's to check; `need` says what it found in a few words.
"""

from __future__ import annotations

import json
import math
import os
import reprlib
import tomllib
from collections.abc import Callable
from typing import Any, Final, NoReturn, TypeVar, cast

from paplu_env.errors import InvalidFile, InvalidNotation

MAX_DEPTH: Final = 64  # our own files nest six deep; more would end in the recursion limit of whoever prints them
MAX_BYTES: Final = 1 << 28  # of a file; no document of ours comes near, and a device never ends
_MAX_DIGITS: Final = 100  # of a number; a seed has 20
_MAX_BITS: Final = 256  # of a whole number, which TOML may write in hexadecimal at any length
_WORDS: Final[dict[type, str]] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "a table",
}

_T = TypeVar("_T")


def parse_json(text: str | bytes, is_finite: bool = True) -> Any:
    """The values of a JSON text.

    Args:
        is_finite: refuse ``NaN`` and ``Infinity``, which JSON doesn't have and Python writes all the same.

    Raises:
        InvalidNotation: it is not JSON, or exceeds a limit; the reason is short, however long the text is.
    """

    def parse() -> Any:
        return json.loads(
            _decoded(text, "JSON"),
            object_pairs_hook=_without_repetition,
            parse_int=_whole_number,
            parse_float=_finite_number if is_finite else float,
            parse_constant=_no_constant if is_finite else float,
        )

    return _parsed(parse, "JSON", is_finite)


def parse_toml(text: str | bytes) -> dict[str, Any]:
    """The values of a TOML text.

    Raises:
        InvalidNotation: it is not TOML, or exceeds a limit.
    """
    values: dict[str, Any] = _parsed(lambda: tomllib.loads(_decoded(text, "TOML")), "TOML", is_finite=True)
    return values


def read_json(path: str | os.PathLike[str], is_finite: bool = True) -> Any:
    """The values in a JSON file.

    Args:
        is_finite: as for `parse_json`.

    Raises:
        InvalidFile: the file cannot be read, or what is in it; the message names the path.
    """
    return _read(path, lambda data: parse_json(data, is_finite))


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The values in a TOML file.

    Raises:
        InvalidFile: the file cannot be read, or what is in it; the message names the path.
    """
    return _read(path, parse_toml)


def need(value: Any, kind: type[_T], what: str) -> _T:
    """The value, once it is of just this type: to JSON ``true`` and ``1.0`` are not the number 1.

    Args:
        kind: str, int, bool, list, dict, or float, which whole numbers are too.
        what: the value's name, for the message.

    Raises:
        InvalidNotation: it is of another type.

    >>> need(3, float, "until")
    3
    """
    if type(value) is kind or (kind is float and type(value) is int):
        return cast(_T, value)
    raise InvalidNotation(f"{what} is {reprlib.repr(value)}, and must be {_WORDS[kind]}")


def need_field(values: dict[str, Any], name: str, kind: type[_T]) -> _T:
    """One field of a table, of just this type.

    Raises:
        InvalidNotation: there is none, or of another type.
    """
    if name not in values:
        raise InvalidNotation(f"{name} is missing")
    return need(values[name], kind, name)


def need_list(values: dict[str, Any], name: str, kind: type[_T]) -> list[_T]:
    """One field of a table: a list of values of one type.

    Raises:
        InvalidNotation: there is none, or of other types.
    """
    return [need(value, kind, f"{name}[{place}]") for place, value in enumerate(need_field(values, name, list))]


def _read(path: str | os.PathLike[str], parse: Callable[[bytes], _T]) -> _T:
    name = reprlib.repr(path) if "\0" in os.fspath(path) else os.fspath(path)
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InvalidFile(f"{name}: cannot be read ({error.strerror})") from error
    except ValueError as error:  # NUL in a path
        raise InvalidFile(f"{name}: cannot be read ({error})") from None
    if len(data) > MAX_BYTES:
        raise InvalidFile(f"{name}: cannot be read (it is longer than {MAX_BYTES >> 20} MiB)")
    try:
        return parse(data)
    except InvalidNotation as error:
        raise InvalidFile(f"{name}: {error}") from None


def _parsed(parse: Callable[[], Any], language: str, is_finite: bool) -> Any:
    try:
        values = parse()
    except RecursionError:
        _too_deep()
    except InvalidNotation:
        raise
    except ValueError as error:  # JSONDecodeError, TOMLDecodeError, too many digits for int()
        raise InvalidNotation(f"is not {language} ({_shortened(str(error))})") from None
    _check(values, is_finite)
    return values


def _decoded(text: str | bytes, language: str) -> str:
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InvalidNotation(f"is not {language} (not UTF-8: {error.reason} at byte {error.start})") from None
    return text.removeprefix("\ufeff")


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise InvalidNotation(f"has the key {reprlib.repr(key)} twice")
            seen.add(key)
    return values


def _whole_number(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise InvalidNotation(f"has a number of {len(digits)} digits")
    return int(digits)


def _finite_number(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise InvalidNotation(f"has the number {_shortened(digits)}, which is out of range")
    return value


def _no_constant(word: str) -> NoReturn:
    raise InvalidNotation(f"has the number {word}, and {word} is not JSON")


def _check(values: Any, is_finite: bool) -> None:
    """Refuse what a parser lets through and a reader would stumble over, one level of nesting after the other."""
    level = [values]
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                for key in value:
                    _check_text(key)
                below += value.values()
            elif isinstance(value, list):
                below += value
            elif isinstance(value, str):
                _check_text(value)
            elif isinstance(value, float):
                if is_finite and not math.isfinite(value):
                    raise InvalidNotation(f"has the number {value}, which is out of range")
            elif isinstance(value, int) and value.bit_length() > _MAX_BITS:
                raise InvalidNotation(f"has a number of {value.bit_length()} bits")
        if not below:
            return
        level = below
    _too_deep()


def _check_text(text: str) -> None:
    if "\0" in text:
        raise InvalidNotation(f"has a NUL character in {reprlib.repr(text)}")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InvalidNotation(f"has half a surrogate pair in {reprlib.repr(text)}") from None


def _too_deep() -> NoReturn:
    raise InvalidNotation(f"its values are nested too deeply (over {MAX_DEPTH} levels)") from None


def _shortened(text: str) -> str:
    return text if len(text) <= 160 else f"{text[:150]}… ({len(text)} characters)"
