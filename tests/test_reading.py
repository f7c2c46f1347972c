"""JSON and TOML of any origin: read within limits, or refused with a short reason that names the file."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paplu_env import engine
from paplu_env.engine.series.record import load_series
from paplu_env.errors import InvalidFile, InvalidNotation, PapluError
from paplu_env.evaluation.games_store import read_games
from paplu_env.evaluation.schedule import read_schedule
from paplu_env.reading import MAX_BYTES, MAX_DEPTH, need, parse_json, parse_toml, read_json, read_toml
from training.learn.config import load_config
from training.run.folder import RunFolder
from training.run.shipping import read_card
from training.run.tensors import load_tensors

BAD_JSON: list[tuple[bytes, str]] = [
    (b"", "is not JSON"),
    (b"{", "is not JSON"),
    (b'{"a": 1}}', "is not JSON"),
    (b"\xff", "(not UTF-8: "),
    ('{"a": 1}'.encode("utf-16"), "(not UTF-8: "),
    (b"[" * 100_000, "nested too deeply"),
    (b'{"a":' * 100_000, "nested too deeply"),
    (b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1), "nested too deeply"),
    (b"9" * 5_000, "a number of 5000 digits"),
    (b"-" + b"9" * 200, "a number of 201 digits"),
    (b"[1e400]", "1e400, which is out of range"),
    (b"[-1e400]", "-1e400, which is out of range"),
    (b"[NaN]", "NaN is not JSON"),
    (b"[-Infinity]", "-Infinity is not JSON"),
    (b'{"a": 1, "a": 1}', "the key 'a' twice"),
    (b'["a\\u0000b"]', "a NUL character"),
    (b'{"\\u0000": 1}', "a NUL character"),
    (b'["\0"]', "is not JSON"),
    (b'["\\ud800"]', "half a surrogate pair"),
]
BAD_TOML: list[tuple[bytes, str]] = [
    (b"a", "is not TOML"),
    (b"\xff", "(not UTF-8: "),
    (b"a = " + b"[" * 100_000, "nested too deeply"),
    (b".".join([b"a"] * (MAX_DEPTH + 1)) + b" = 1", "nested too deeply"),
    (b"a = " + b"9" * 5_000, "is not TOML"),
    (b"a = " + b"9" * 200, "a number of 665 bits"),
    (b"a = 0x" + b"f" * 10_000, "a number of 40000 bits"),
    (b"a = 1e400", "the number inf, which is out of range"),
    (b"a = nan", "the number nan, which is out of range"),
    (b"a = 1\na = 1", "is not TOML"),
    (b'a = "\\u0000"', "a NUL character"),
    (b"a = '\0'", "is not TOML"),
]


@pytest.mark.parametrize(("data", "reason"), BAD_JSON)
def test_bad_json_is_refused_with_a_short_reason(tmp_path: Path, data: bytes, reason: str) -> None:
    with pytest.raises(InvalidNotation) as refused:
        parse_json(data)
    assert reason in str(refused.value)
    assert len(str(refused.value)) < 250
    path = tmp_path / "bad.json"
    path.write_bytes(data)
    with pytest.raises(InvalidFile) as refused_file:
        read_json(path)
    assert str(refused_file.value) == f"{path}: {refused.value}"


@pytest.mark.parametrize(("data", "reason"), BAD_TOML)
def test_bad_toml_is_refused_with_a_short_reason(tmp_path: Path, data: bytes, reason: str) -> None:
    with pytest.raises(InvalidNotation) as refused:
        parse_toml(data)
    assert reason in str(refused.value)
    assert len(str(refused.value)) < 250
    path = tmp_path / "bad.toml"
    path.write_bytes(data)
    with pytest.raises(InvalidFile) as refused_file:
        read_toml(path)
    assert str(refused_file.value) == f"{path}: {refused.value}"


def test_long_whole_numbers_are_refused_where_python_sets_no_limit() -> None:
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        with pytest.raises(InvalidNotation, match="a number of 16610 bits"):
            parse_toml("a = 1" + "0" * 5_000)
        with pytest.raises(InvalidNotation, match="a number of 5001 digits"):
            parse_json("1" + "0" * 5_000)
    finally:
        sys.set_int_max_str_digits(limit)


def test_a_byte_order_mark_is_passed_over() -> None:
    assert parse_json(b'\xef\xbb\xbf{"a": [1, 2.5, "\xe2\x99\xa0"]}') == {"a": [1, 2.5, "♠"]}
    assert parse_json('\ufeff{"a": 1}') == {"a": 1}
    assert parse_toml(b"\xef\xbb\xbfa = 1") == {"a": 1}


def test_what_is_usual_is_read() -> None:
    deepest = "[" * (MAX_DEPTH - 1) + "1" + "]" * (MAX_DEPTH - 1)
    assert str(parse_json(deepest)) == deepest
    assert parse_json(str(2**64 - 1)) == 2**64 - 1
    assert parse_json('["\\ud83d\\ude00", true, null]') == ["😀", True, None]
    assert parse_json("[Infinity]", is_finite=False) == [float("inf")]
    assert parse_toml("[a]\nb = 1979-05-27\n")["a"]["b"].year == 1979


@pytest.mark.parametrize("path", ["missing.json", ".", "a\0b"])
def test_a_file_that_cannot_be_opened_is_refused_by_its_name(path: str) -> None:
    with pytest.raises(InvalidFile, match="cannot be read"):
        read_json(path)


def test_a_file_that_never_ends_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paplu_env.reading.MAX_BYTES", 1 << 20)
    with pytest.raises(InvalidFile, match="longer than 1 MiB"):
        read_toml("/dev/zero")
    assert MAX_BYTES == 1 << 28


@pytest.mark.parametrize(
    ("value", "kind"),
    [(True, int), (1.0, int), ("1", int), (None, str), ([], dict), (True, float), (1, bool), ("a", list)],
)
def test_a_value_of_another_type_is_refused_in_words(value: Any, kind: type) -> None:
    with pytest.raises(InvalidNotation, match=r"deals is .*, and must be"):
        need(value, kind, "deals")


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"[" * 100_000,
        b"[]",
        b'{"a": 5}',
        b'{"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 400000000000]}}',
        b'{"a": {"dtype": "F32", "shape": [99999999999999999999], "data_offsets": [0, 4]}}',
        b'{"a": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]}}',
        b'{"a": {"dtype": "F8_E4M3", "shape": [4], "data_offsets": [0, 4]}}',
        b'{"__metadata__": {"format": "kind", "about": "' + b"[" * 100_000 + b'"}}',
        b'{"__metadata__": {"format": "kind", "about": "[]"}}',
        b'{"__metadata__": {"format": 5}}',
    ],
)
def test_tensors_with_an_odd_header_are_refused_by_their_path(tmp_path: Path, header: bytes) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(4))
    with pytest.raises(InvalidFile) as refused:
        load_tensors(path, "kind")
    assert str(refused.value).startswith(f"{path}: ")


READERS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "record": ("json", engine.load_record),
    "series": ("json", load_series),
    "games": ("json", read_games),
    "card": ("json", read_card),
    "run": ("json", lambda path: RunFolder(path.parent).read()),
    "schedule": ("toml", read_schedule),
    "config": ("toml", load_config),
}
ODD: list[Any] = [None, 1, "text", [], [[]], {}, {"format": []}, {"config": 1}, {"rules": [[]]}]


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_of_files_refuses_what_no_one_can_read(tmp_path: Path, reader: str) -> None:
    language, read = READERS[reader]
    path = tmp_path / ("run.json" if reader == "run" else f"a.{language}")
    bad = BAD_JSON if language == "json" else BAD_TOML
    cases = [data for data, reason in bad if "NaN" not in reason and "Infinity" not in reason and "1e400" not in reason]
    cases += [json.dumps(value).encode() for value in ODD] if language == "json" else [b"deals = '7'\nname = 5"]
    for data in cases:
        path.write_bytes(data)
        with pytest.raises(PapluError) as refused:
            read(path)
        assert str(path) in str(refused.value)
        assert len(str(refused.value)) < 600
