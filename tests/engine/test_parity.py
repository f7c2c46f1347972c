"""Compiled kernels and plain Python play the same games, byte for byte."""

import os
import subprocess
import sys
from pathlib import Path

from paplu_env import _jit
from tests.engine.played import digest


def test_compiled_is_plain_python_byte_for_byte() -> None:
    assert _jit.IS_COMPILED
    root = Path(__file__).resolve().parents[2]
    plain = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.engine.played"],
        cwd=root,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
    )
    assert plain.returncode == 0, plain.stderr
    assert plain.stdout.strip() == digest()
