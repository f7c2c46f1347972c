"""A face whose library is missing says which extra, or which environment, it needs."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FACES = [
    ("paplu_env.envs.aec", "pettingzoo", "pip install 'paplu-env[aec]'"),
    ("paplu_env.envs.openspiel", "pyspiel", "pip install 'paplu-env[openspiel]'"),
    ("paplu_env.envs.rllib", "ray", "pip install 'ray[rllib]' in an environment of its own"),
]


@pytest.mark.parametrize(("module", "library", "words"), FACES)
def test_a_missing_library_is_named_with_what_installs_it(module: str, library: str, words: str) -> None:
    code = f"import sys; sys.modules[{library!r}] = None; import {module}"
    shown = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert shown.returncode == 1
    assert f"ImportError: {module} needs" in shown.stderr
    assert words in shown.stderr.splitlines()[-1]
