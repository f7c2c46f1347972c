"""The direction of imports, the one place of each optional dependency, and who writes to a dealt state."""

import ast
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from paplu_env.engine.state import LARGE_STATE

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "paplu_env"

# A module may import from its own layer's folder and from lower layers (CONTRIBUTING.md: imports point one way).
LAYERS = {
    "errors": 0,
    "_jit": 0,
    "workers": 0,
    "files": 1,
    "reading": 1,
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


# Who writes to a dealt state. A state is known by its fields, whatever the variable is called: a store into a
# subscript by the name of a field is found, and so is a store into a name that stands for such a field.
FIELDS = set(LARGE_STATE.names or ())
# Other things with a key or field of the same name, by file. What stands here is no state.
NO_STATES = {
    "paplu_env/bots/table/seat.py": {"returns", "winner"},  # views, without what the table hasn't told yet
    "paplu_env/bots/table/seat_worlds.py": {"drawn"},  # a view, with the card that the table says was drawn
    "paplu_env/cli/solve.py": {"declarable"},  # the answer of the command, a dictionary
    "paplu_env/envs/core/infos.py": {"ending", "winner", "returns"},  # the info dictionary of a step
    "paplu_env/evaluation/games.py": {"ending"},  # rows of games_dtype
    "paplu_env/rules/options_text.py": {"num_players"},  # options of a preset, a dictionary
    "training/studies/saha2025/table.py": {"returns", "first", "winner", "finisher", "ending", "status"},  # the same
}
SAME_MEMORY = {"ravel", "reshape", "squeeze", "swapaxes", "transpose", "view"}
MUTATORS = {"fill", "itemset", "partition", "put", "resize", "setfield", "sort"}
NUMPY_MUTATORS = {"at", "copyto", "place", "put", "put_along_axis", "putmask", "shuffle"}


def _fields_in(node: ast.expr) -> set[str]:
    """Names of fields of a state by which an expression is subscripted, anywhere along its chain."""
    found: set[str] = set()
    while isinstance(node, ast.Subscript | ast.Attribute | ast.Starred | ast.Call):
        if isinstance(node, ast.Call):
            if not isinstance(node.func, ast.Attribute) or node.func.attr not in SAME_MEMORY:
                break
            node = node.func
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value in FIELDS:
            found.add(str(node.slice.value))
        node = node.value
    return found


def _pairs(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """Targets of an assignment with their values, those of tuples one by one."""
    if isinstance(target, ast.Tuple | ast.List):
        values: list[ast.expr | None] = [None] * len(target.elts)
        if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
            values = list(value.elts)
        for each, its in zip(target.elts, values, strict=True):
            yield from _pairs(each, its)
    else:
        yield target, value


def _assignments(scope: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from _pairs(target, node.value)
        elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
            yield node.target, node.value
        elif isinstance(node, ast.For | ast.comprehension):
            yield from _pairs(node.target, node.iter)


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Subscript | ast.Attribute | ast.Starred):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def stores(source: str) -> list[tuple[int, str]]:
    """Line and field of every store into a field of a state in a file, as far as its syntax tells."""
    found = []
    tree = ast.parse(source)
    scopes = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)] or [tree]
    for scope in [tree, *scopes]:
        # Names that stand for (a part of) a field in this scope: ``cards = s["cards"]``.
        aliases: dict[str, set[str]] = {}
        if scope is not tree:
            for target, value in _assignments(scope):
                if isinstance(target, ast.Name) and value is not None and _fields_in(value):
                    aliases.setdefault(target.id, set()).update(_fields_in(value))

        def written(node: ast.expr, aliases: dict[str, set[str]] = aliases) -> set[str]:
            return _fields_in(node) | aliases.get(_root(node), set())

        for target, _ in _assignments(scope):
            if isinstance(target, ast.Subscript):
                found += [(target.lineno, field) for field in written(target)]
        for call in (node for node in ast.walk(scope) if isinstance(node, ast.Call)):
            changed = [keyword.value for keyword in call.keywords if keyword.arg == "out"]
            if isinstance(call.func, ast.Attribute) and call.func.attr in MUTATORS:
                changed.append(call.func.value)
            name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            if name in NUMPY_MUTATORS:
                changed += call.args[:1]
            found += [(call.lineno, field) for node in changed for field in written(node)]
    return sorted(set(found))


@pytest.mark.parametrize(
    "line",
    [
        's["phase"] = 1',
        'anything[i]["phase"] = 1',
        'x["hands"][seat, face] += 1',
        'states["cards"][:, 3:7] = 0',
        'a, b["stock_size"] = 1, 2',
        'for b["stock_size"] in range(3): pass',
        'cards, size = s["cards"], 3\n    cards[size] = 1',
        'row = x["hands"][seat]\n    row[face] -= 1',
        'flat = x["hands"].reshape(-1)\n    flat[face] -= 1',
        'x["log"].fill(0)',
        'np.add.at(x["known"], places, 1)',
        'np.maximum(x["known"], 1, out=x["known"])',
        'shuffle(x["cards"], size, key)',
    ],
)
def test_a_store_into_a_state_is_found_whatever_its_variable_is_called(line: str) -> None:
    assert stores(f"def f(s, states, x, anything):\n    {line}\n")


@pytest.mark.parametrize(
    "line",
    ['hand[int(view["pile"][0])] += 1', 'hand = s["hands"][0].copy()\n    hand[3] = 1', 'phase = int(s["phase"])'],
)
def test_reading_a_state_is_no_store(line: str) -> None:
    assert not stores(f"def f(s, view, hand):\n    {line}\n")


def test_only_the_engine_writes_to_a_dealt_state() -> None:
    files = [*_files(), *sorted((ROOT / "training").rglob("*.py"))]
    needed: dict[str, set[str]] = defaultdict(set)
    for path in files:
        name = path.relative_to(ROOT).as_posix()
        if name.startswith("paplu_env/engine/"):
            continue
        for line, field in stores(path.read_text(encoding="utf-8")):
            needed[name].add(field)
            assert field in NO_STATES.get(name, ()), f"{name}:{line} stores into {field}: see engine/undo, engine/world"
    assert needed == NO_STATES, "what no file needs any more is taken off the list"
