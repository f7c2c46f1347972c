"""What the sources of learning and loading may never contain."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted([*(ROOT / "training").rglob("*.py"), *(ROOT / "paplu_env").rglob("*.py")])

# Evaluation that forgets the masks, and loading that runs what it reads.
FORBIDDEN_IMPORTS = {
    "stable_baselines3.common.callbacks.EvalCallback",
    "stable_baselines3.common.evaluation",
    "stable_baselines3.common.evaluation.evaluate_policy",
    "pickle",
    "cloudpickle",
    "dill",
    "joblib",
    "yaml",
}
# Compiled kernels are pickles of numba's, read from a folder alone that nobody but the user can write to (test_jit).
KERNELS = ROOT / "paplu_env" / "_jit" / "cache.py"
FORBIDDEN_CALLS = {"eval", "exec", "torch.load", "np.load", "numpy.load"}


def _name(node: ast.expr) -> str:
    return f"{_name(node.value)}.{node.attr}" if isinstance(node, ast.Attribute) else getattr(node, "id", "")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_file_evaluates_without_masks_or_runs_what_it_loads(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found = FORBIDDEN_IMPORTS & {alias.name for alias in node.names}
            assert found <= ({"pickle"} if path == KERNELS else set())
        elif isinstance(node, ast.ImportFrom):
            assert not FORBIDDEN_IMPORTS & {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Call) and _name(node.func) in FORBIDDEN_CALLS:
            keywords = {keyword.arg: keyword.value for keyword in node.keywords}
            is_plain = isinstance(keywords.get("allow_pickle"), ast.Constant) and not keywords["allow_pickle"].value
            is_allowed = is_plain and _name(node.func) in ("np.load", "numpy.load")
            assert is_allowed, f"{path}:{node.lineno}: {_name(node.func)}"


def test_the_oldest_sb3_contrib_that_is_allowed_clears_drifted_probabilities() -> None:
    """Before 2.4 MaskablePPO could stop with "Simplex" errors after many updates."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    bounds = [wanted.partition(">=")[2] for wanted in extras["train"] if wanted.startswith("sb3-contrib")]
    assert [tuple(int(part) for part in bound.split(".")) >= (2, 4) for bound in bounds] == [True]


def test_the_readme_of_training_names_files_that_exist_and_runs_by_the_names_in_their_files() -> None:
    text = (ROOT / "training" / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"(?:configs|training)/[\w./-]+\.(?:toml|md|py)", text)
    assert len(named) > 10
    for name in named:
        assert "NAME" in name or (ROOT / name).is_file(), name
    log = re.findall(r"^\| `([\w-]+/part_\d\.toml)`, `runs/(\w+)` \|", text, re.MULTILINE)
    assert len(log) == 8
    for path, run in log:
        assert tomllib.loads((ROOT / "configs" / path).read_text(encoding="utf-8"))["name"] == run


def test_the_rooms_of_training_never_import_what_people_type() -> None:
    commands = {f"training.{path.stem}" for path in (ROOT / "training").glob("*.py")} - {"training.__init__"}
    assert "training.train" in commands
    for room in ("learn", "run", "fit", "studies"):
        for path in sorted((ROOT / "training" / room).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom):
                    names = {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
                    assert not names & commands, f"{path.relative_to(ROOT)}: {names & commands}"


def test_what_people_type_is_thin() -> None:
    for path in sorted((ROOT / "training").glob("*.py")):
        assert len(path.read_text(encoding="utf-8").splitlines()) < 180, path.name


def test_no_file_of_training_is_long() -> None:
    for path in sorted((ROOT / "training").rglob("*.py")):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 450, path.name
