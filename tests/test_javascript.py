"""What games in JavaScript rest on: observations made from events alone, and logits by onnxruntime-node.

The second needs ``npm install onnxruntime-node`` in any folder, whose ``node_modules`` is then named by the environment
variable ``PAPLU_NODE_MODULES``. (On Linux its install script fetches a CUDA library, unless the environment has
``ONNXRUNTIME_NODE_INSTALL_CUDA=skip``.)
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from paplu_env import bots, encoding
from paplu_env.bots.networks.onnx import OnnxPolicy
from tests.toy_policy import write_toy_policy
from training.learn.decisions import collect_decisions

ROOT = Path(__file__).resolve().parent.parent
JS = ROOT / "tests" / "js"
VECTORS = ROOT / "policies" / "vectors.jsonl"
NODE = shutil.which("node")
MODULES = os.environ.get("PAPLU_NODE_MODULES", "")
DECISIONS = 200  # recorded ones that are played again

needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")


def _node(*arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(NODE), *arguments], input=given, capture_output=True, text=True, check=False)


@needs_node
def test_an_encoder_in_javascript_passes_the_vectors() -> None:
    checked = _node(str(JS / "check_vectors.mjs"), str(VECTORS))
    assert checked.stdout.strip() == "1000 vectors agree", checked.stderr


@needs_node
@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("values", lambda vector: vector["values"].__setitem__(0, 0.25)),
        ("legal", lambda vector: vector["legal"].pop()),
        ("events", lambda vector: vector["events"][0].__setitem__("first", 1 - vector["events"][0]["first"])),
    ],
)
def test_the_check_finds_what_differs(field, change, tmp_path: Path) -> None:
    header, *lines = VECTORS.read_text(encoding="utf-8").splitlines()
    vector = json.loads(lines[0])
    change(vector)
    path = tmp_path / "vectors.jsonl"
    path.write_text("\n".join([header, json.dumps(vector), *lines[1:]]), encoding="utf-8")
    assert "Error: vector 0" in _node(str(JS / "check_vectors.mjs"), str(path)).stderr


@needs_node
@pytest.mark.skipif(
    not (Path(MODULES) / "onnxruntime-node").is_dir() or not MODULES,
    reason="PAPLU_NODE_MODULES names no node_modules folder with onnxruntime-node",
)
def test_onnxruntime_in_node_gives_the_logits_of_recorded_decisions(tmp_path: Path) -> None:
    files = [write_toy_policy(tmp_path, "toy")]
    files += [bots.exported_file(name) for name in bots.shipped_policies()]
    for file in files:
        policy = OnnxPolicy(file)
        played = collect_decisions(bots.make_policy("mindist_opp", policy.rules), 40, seed=3)
        obs, masks = played.obs(policy.encoding)[:DECISIONS], played.masks()[:DECISIONS]
        given = json.dumps({"obs": obs.tolist(), "masks": masks.astype(int).tolist()})
        answered = _node(str(JS / "logits.cjs"), MODULES, str(file), given=given)
        assert answered.returncode == 0, answered.stderr
        logits, expected = np.array(json.loads(answered.stdout)), policy.logits(obs, masks)
        np.testing.assert_allclose(logits, expected, atol=1e-4)
        np.testing.assert_array_equal(logits.argmax(axis=1), expected.argmax(axis=1))
        assert len(set(expected.argmax(axis=1).tolist())) > 5


def test_the_vectors_are_of_the_encoding_as_it_is() -> None:
    header = json.loads(VECTORS.read_text(encoding="utf-8").split("\n", 1)[0])
    assert header["num_features"] == encoding.by_name(header["encoding"]).num_features(header["rules"])
