"""No file needs itself: imports between files have no circle, neither at the top of a file nor inside a function."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def _modules() -> dict[str, Path]:
    files = [path for folder in ("paplu_env", "training") for path in sorted((ROOT / folder).rglob("*.py"))]
    names = (".".join(path.relative_to(ROOT).with_suffix("").parts) for path in files if "_policies" not in path.parts)
    return {name.removesuffix(".__init__"): path for name, path in zip(names, files, strict=True)}


def _for_types_alone(tree: ast.Module) -> set[ast.AST]:
    """What stands under ``if TYPE_CHECKING``, which no run imports."""
    blocks = [node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)]
    return {inner for block in blocks for statement in block.body for inner in ast.walk(statement)}


def _needs(text: str, modules: dict[str, Path] | set[str]) -> set[str]:
    """Modules that a file's text imports; of a package the file that a name comes from, where it is one."""
    tree = ast.parse(text)
    ignored = _for_types_alone(tree)
    found = set()
    for node in ast.walk(tree):
        if node in ignored:
            continue
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found.add(whole if whole in modules else str(node.module))
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found & set(modules)


def test_no_file_needs_itself() -> None:
    modules = _modules()
    assert len(modules) > 150
    graph = {name: _needs(path.read_text(encoding="utf-8"), modules) - {name} for name, path in modules.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" → ".join(error.args[1]))


def test_a_circle_is_seen_through_functions_and_packages_and_not_through_types() -> None:
    known = {"paplu_env.a", "paplu_env.b", "paplu_env.c"}
    assert _needs("def f():\n    from paplu_env import b\n", known) == {"paplu_env.b"}
    assert _needs("import paplu_env.c\nfrom paplu_env.a import name\n", known) == {"paplu_env.a", "paplu_env.c"}
    assert _needs("if TYPE_CHECKING:\n    from paplu_env.a import name\n", known) == set()
