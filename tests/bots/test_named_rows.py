"""Kernels call the rows of their scratch by name."""

from __future__ import annotations

import ast
from pathlib import Path

import paplu_env

PACKAGE = Path(paplu_env.__file__).parent
FILES = [*sorted((PACKAGE / "bots").rglob("*.py")), PACKAGE / "evaluation" / "draw_luck.py"]


def _bare_rows(source: str) -> list[str]:
    """Places where a row of ``scratch``, or the first of some rows, is a number."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "scratch":
            places = node.slice.elts[:1] if isinstance(node.slice, ast.Tuple) else [node.slice]
            firsts = [place.lower if isinstance(place, ast.Slice) else place for place in places]
            if any(isinstance(first, ast.Constant) for first in firsts):
                found.append(ast.unparse(node))
    return sorted(found)


def test_no_row_is_a_bare_number() -> None:
    found = {path.name: _bare_rows(path.read_text(encoding="utf-8")) for path in FILES}
    assert {name: rows for name, rows in found.items() if rows} == {}
    assert sum("scratch[" in path.read_text(encoding="utf-8") for path in FILES) > 5


def test_a_bare_number_would_be_found() -> None:
    assert _bare_rows("hand, outs = scratch[0], scratch[OUTS]\nrest = scratch[5:]\nscratch[1, :] = 0") == [
        "scratch[0]",
        "scratch[1, :]",
        "scratch[5:]",
    ]
