"""A policy file made by hand: one layer of random weights, with a card, as small as a shipped one can be."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from paplu_env import encoding as encodings
from paplu_env.bots.networks.onnx import INPUTS, MASKED_LOGIT, OUTPUT, PolicyInfo
from paplu_env.engine.actions import NUM_ACTIONS
from paplu_env.rules import as_rules

MATCH: dict[str, Any] = {
    "b": "mindist_opp",
    "rules": "points",
    "deals": 5000,
    "win_rate": 0.651,
    "win_rate_interval": [0.64, 0.66],
    "points_per_deal": 12.34,
    "points_interval": [11.0, 13.0],
}


def write_toy_policy(folder: Path, name: str, rules: str = "points", encoding: str = "cards-v1") -> Path:
    """Write ``NAME.onnx`` and its card; returns the path of the first."""
    table = as_rules(rules)
    info = PolicyInfo(name, encoding, encodings.by_name(encoding).num_features(table), (str(table),), (table.hash,))
    weights = np.random.default_rng(0).normal(size=(info.num_features, NUM_ACTIONS)).astype(np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", [INPUTS[0], "weights"], ["open"]),
            helper.make_node("Where", [INPUTS[1], "open", "never"], [OUTPUT]),
        ],
        name,
        [
            helper.make_tensor_value_info(INPUTS[0], TensorProto.FLOAT, ["batch", info.num_features]),
            helper.make_tensor_value_info(INPUTS[1], TensorProto.BOOL, ["batch", NUM_ACTIONS]),
        ],
        [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, ["batch", NUM_ACTIONS])],
        [
            numpy_helper.from_array(weights, "weights"),
            numpy_helper.from_array(np.array(MASKED_LOGIT, dtype=np.float32), "never"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    helper.set_model_props(model, info.to_metadata())
    onnx.checker.check_model(model)
    data = model.SerializeToString()
    path = folder / f"{name}.onnx"
    path.write_bytes(data)
    card = {
        "format": "paplu-card-1",
        "name": name,
        "about": "one layer of random weights",
        "encoding": encoding,
        "rules": list(info.rules),
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "microseconds": 123.4,
        "measured": [MATCH],
    }
    path.with_suffix(".json").write_text(json.dumps(card), encoding="utf-8")
    return path
