"""What `import paplu_env` does and does not, and environments in processes that know only a name."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import pytest

import paplu_env
from tests.envs.trajectories import GOLDEN, golden, trajectories

ROOT = Path(__file__).resolve().parents[2]


def _run(code: str, **environment: str) -> str:
    """What a fresh interpreter prints."""
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()


def test_importing_the_package_registers_the_environment_and_brings_in_no_compiler() -> None:
    code = (
        "import sys, gymnasium, paplu_env\n"
        "spec = gymnasium.spec('Paplu-v0')\n"
        "heavy = [name for name in ('numba', 'torch', 'stable_baselines3') if name in sys.modules]\n"
        "own = [name for name in sys.modules if name.startswith('paplu_env.')]\n"
        "print(spec.entry_point, spec.vector_entry_point, heavy, own)"
    )
    assert _run(code) == "paplu_env.envs.single:PapluEnv paplu_env.envs.vector:PapluVectorEnv [] []"


def test_submodules_are_attributes_of_the_package_and_come_when_asked_for() -> None:
    code = (
        "import sys, paplu_env\n"
        "print('envs' in dir(paplu_env), 'paplu_env.envs' in sys.modules, paplu_env.envs.PapluEnv.__name__)"
    )
    assert _run(code) == "True False PapluEnv"
    with pytest.raises(AttributeError, match="'nothing'"):
        paplu_env.nothing  # noqa: B018


def test_playing_needs_no_optional_library_and_no_display() -> None:
    code = (
        "import json, sys\n"
        "for name in ('torch', 'stable_baselines3', 'pygame', 'onnxruntime', 'rich', 'pettingzoo'):\n"
        "    sys.modules[name] = None\n"
        "import gymnasium, numpy as np\n"
        "env = gymnasium.make('paplu_env:Paplu-v0', opponent='random', encoding='cards-v1', render_mode='ansi')\n"
        "_, info = env.reset(seed=1)\n"
        "for _ in range(1000):\n"
        "    *_, terminated, truncated, info = env.step(env.action_space.sample(info['action_mask']))\n"
        "    text = env.render()\n"
        "    if terminated or truncated:\n"
        "        _, info = env.reset()\n"
        "print(json.dumps(len(text) > 100))"
    )
    environment = {"DISPLAY": "", "SDL_VIDEODRIVER": ""}
    assert json.loads(_run(code, **environment)) is True


def test_the_adapter_names_the_extra_that_it_needs() -> None:
    code = (
        "import sys\n"
        "sys.modules['stable_baselines3'] = None\n"
        "try:\n"
        "    import paplu_env.envs.sb3\n"
        "except ImportError as error:\n"
        "    print(error)"
    )
    assert "paplu-env[train]" in _run(code)


def test_made_by_id_it_is_wrapped_as_gymnasium_does_and_its_spec_serialises() -> None:
    env: gymnasium.Env[Any, Any] = gymnasium.make("Paplu-v0", rules="points:max_turns=9", opponent="random")
    assert env.spec is not None
    assert env.spec.kwargs == {"rules": "points:max_turns=9", "opponent": "random"}
    assert json.loads(env.spec.to_json())["id"] == "Paplu-v0"
    assert env.unwrapped.rules.max_turns == 9  # type: ignore[attr-defined]


def test_plain_python_plays_the_same_trajectories_as_compiled_kernels() -> None:
    code = "from tests.envs.trajectories import trajectories; print(*trajectories(3, 'random'))"
    assert _run(code, NUMBA_DISABLE_JIT="1").split() == trajectories(3, "random")


def test_a_hundred_golden_deals_of_paplu_v0_are_what_they_were() -> None:
    assert golden() == json.loads(GOLDEN.read_text(encoding="utf-8")), (
        "the behaviour of Paplu-v0 has changed: that needs a new environment id (see tests/envs/trajectories.py)"
    )


@pytest.mark.parametrize("path", sorted((ROOT / "paplu_env").rglob("*.py")), ids=lambda path: path.stem)
def test_no_code_of_the_package_draws_from_a_global_generator(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert "random" not in imported
    drawn = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute) and node.value.attr == "random"
    }
    assert drawn <= {"Generator", "PCG64", "default_rng"}


def test_nothing_evaluates_without_masks() -> None:
    for folder in ("paplu_env", "training"):
        for path in (ROOT / folder).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            assert "stable_baselines3.common.evaluation" not in text, path
            assert not re.search(r"(?<!Maskable)EvalCallback", text), path
