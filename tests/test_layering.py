"""The direction of imports, and the one place of each optional dependency."""

import ast
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "paplu_env"

# A module may import from its own layer's folder and from lower layers (DESIGN: imports point one way).
LAYERS = {
    "errors": 0,
    "_jit": 0,
    "files": 1,
    "cards": 1,
    "rules": 2,
    "melds": 3,
    "engine": 4,
    "encoding": 5,
    "render": 5,
    "bots": 6,
    "envs": 7,
    "evaluation": 7,
    "ui": 8,
    "cli": 9,
}
OPTIONAL = {
    "pettingzoo",
    "torch",
    "stable_baselines3",
    "sb3_contrib",
    "onnxruntime",
    "onnx",
    "ray",
    "pyspiel",
    "pygame",
}
ANYWHERE_ABOVE = {"gymnasium", "numpy"}


def _imports(path: Path) -> list[str]:
    """Dotted names that a file imports, wherever in it the import stands."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return found


def _files() -> list[Path]:
    return [path for path in sorted(PACKAGE.rglob("*.py")) if "_policies" not in path.parts]


def _part(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def test_the_layers_are_those_on_disk() -> None:
    assert {_part(path) for path in _files()} - {"__init__"} <= set(LAYERS)


@pytest.mark.parametrize("path", _files(), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_imports_point_one_way(path: Path) -> None:
    own = _part(path)
    for name in _imports(path):
        parts = name.split(".")
        assert parts[0] not in ("training", "tests"), f"{path} imports {name}"
        if parts[0] != "paplu_env" or len(parts) < 2 or parts[1] == "__version__":
            continue
        target = parts[1]
        if own == "__init__":
            raise AssertionError(f"the package itself imports nothing of its own at import time, but {name}")
        assert LAYERS[target] < LAYERS[own] or target == own, f"{path.relative_to(ROOT)} imports {name}"


def test_each_optional_dependency_is_imported_in_one_file() -> None:
    where: dict[str, set[str]] = defaultdict(set)
    for path in _files():
        for name in _imports(path):
            root = name.split(".")[0]
            if root in OPTIONAL:
                where[root].add(path.relative_to(ROOT).as_posix())
    assert all(len(files) == 1 for files in where.values()), dict(where)


def test_only_the_jit_folder_imports_numba() -> None:
    users = {path for path in _files() if any(name.split(".")[0] in ("numba", "llvmlite") for name in _imports(path))}
    assert users
    assert {path.parent for path in users} == {PACKAGE / "_jit"}


def test_importing_the_package_brings_in_no_heavy_library() -> None:
    heavy = sorted(OPTIONAL | {"numba", "matplotlib", "rich", "scipy"})
    code = f"import paplu_env, sys; print([name for name in {heavy!r} if name in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
