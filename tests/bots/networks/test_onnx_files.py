"""Policy files of any origin: what can't play is refused before the first deal, what can travels to other processes."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from paplu_env import bots, engine
from paplu_env import encoding as encodings
from paplu_env.bots.networks.onnx import INPUTS, MASKED_LOGIT, OUTPUT, OnnxPolicy
from paplu_env.bots.policy import legal_masks
from paplu_env.bots.search.expert import ExpertAgent
from paplu_env.engine.actions import NUM_ACTIONS
from paplu_env.errors import InvalidFile
from paplu_env.evaluation import play_match
from paplu_env.rules import as_rules
from tests.toy_policy import write_toy_policy

ROOT = Path(__file__).resolve().parents[3]
NUM_FEATURES = encodings.by_name("cards-v1").num_features(as_rules("points"))
Change = Callable[[onnx.ModelProto], Any]


def _changed(tmp_path: Path, change: Change) -> Path:
    """The toy policy after a change, with a card that fits."""
    path = write_toy_policy(tmp_path, "toy")
    model = onnx.load_from_string(path.read_bytes())
    change(model)
    data = model.SerializeToString()
    path.write_bytes(data)
    card = json.loads(path.with_suffix(".json").read_text())
    path.with_suffix(".json").write_text(json.dumps({**card, "sha256": hashlib.sha256(data).hexdigest()}))
    return path


def _float64_obs(model: onnx.ModelProto) -> None:
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.DOUBLE
    model.graph.node.insert(0, helper.make_node("Cast", [INPUTS[0]], ["obs32"], to=TensorProto.FLOAT))
    model.graph.node[1].input[0] = "obs32"


def _float_mask(model: onnx.ModelProto) -> None:
    model.graph.input[1].type.tensor_type.elem_type = TensorProto.FLOAT
    model.graph.node.insert(0, helper.make_node("Cast", [INPUTS[1]], ["mask"], to=TensorProto.BOOL))
    model.graph.node[2].input[0] = "mask"


def _other_output(model: onnx.ModelProto) -> None:
    model.graph.node[1].output[0] = model.graph.output[0].name = "action"


def _float64_logits(model: onnx.ModelProto) -> None:
    model.graph.node[1].output[0] = "masked"
    model.graph.node.append(helper.make_node("Cast", ["masked"], [OUTPUT], to=TensorProto.DOUBLE))
    model.graph.output[0].type.tensor_type.elem_type = TensorProto.DOUBLE


def _fifty_logits(model: onnx.ModelProto) -> None:
    """Slices them off; what the output's declared shape says is left open."""
    model.graph.node[1].output[0] = "masked"
    bounds = {"from": 0, "to": 50, "along": 1}
    for name, value in bounds.items():
        model.graph.initializer.append(numpy_helper.from_array(np.array([value]), name))
    model.graph.node.append(helper.make_node("Slice", ["masked", *bounds], [OUTPUT]))
    del model.graph.output[0].type.tensor_type.shape.dim[:]


def _declared_fifty(model: onnx.ModelProto) -> None:
    _fifty_logits(model)
    for size in (1, 50):
        model.graph.output[0].type.tensor_type.shape.dim.add().dim_value = size


def _batch_of_one(model: onnx.ModelProto) -> None:
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_value = 1


def _hidden_batch_of_one(model: onnx.ModelProto) -> None:
    model.graph.initializer.append(numpy_helper.from_array(np.array([1, NUM_FEATURES]), "one_row"))
    model.graph.node.insert(0, helper.make_node("Reshape", [INPUTS[0], "one_row"], ["row"]))
    model.graph.node[1].input[0] = "row"


def _weights(value: float) -> Change:
    def change(model: onnx.ModelProto) -> None:
        weights = np.full((NUM_FEATURES, NUM_ACTIONS), 0.0, dtype=np.float32)
        weights[3, 4] = value
        model.graph.initializer[0].CopyFrom(numpy_helper.from_array(weights, "weights"))

    return change


def _constant(value: float) -> Change:
    def change(model: onnx.ModelProto) -> None:
        model.graph.initializer.append(numpy_helper.from_array(np.array(value, dtype=np.float32), "constant"))
        model.graph.node.insert(1, helper.make_node("Add", ["open", "constant"], ["spoilt"]))
        model.graph.node[2].input[1] = "spoilt"

    return change


def _allocation(size: int) -> Change:
    """Adds a tensor of zeros of a size that isn't known before it runs."""

    def change(model: onnx.ModelProto) -> None:
        initial = {"rows": 1, "columns": size}
        for name, value in initial.items():
            model.graph.initializer.append(numpy_helper.from_array(np.array([value]), name))
        model.graph.node.insert(1, helper.make_node("Shape", [INPUTS[0]], ["batch"], start=0, end=1))
        model.graph.node.insert(2, helper.make_node("Concat", ["batch", "columns"], ["shape"], axis=0))
        model.graph.node.insert(3, helper.make_node("ConstantOfShape", ["shape"], ["huge"]))
        model.graph.node.insert(4, helper.make_node("ReduceSum", ["huge"], ["nothing"], keepdims=0))
        model.graph.node.insert(5, helper.make_node("Add", ["open", "nothing"], ["more"]))
        model.graph.node[6].input[1] = "more"

    return change


def _constant_allocation(size: int) -> Change:
    """The same of a size that the file tells, so that it is made while the file is opened."""

    def change(model: onnx.ModelProto) -> None:
        model.graph.initializer.append(numpy_helper.from_array(np.array([size]), "shape"))
        model.graph.node.insert(1, helper.make_node("ConstantOfShape", ["shape"], ["huge"]))
        model.graph.node.insert(2, helper.make_node("ReduceSum", ["huge"], ["nothing"], keepdims=0))
        model.graph.node.insert(3, helper.make_node("Add", ["open", "nothing"], ["more"]))
        model.graph.node[4].input[1] = "more"

    return change


def _meta(**texts: str) -> Change:
    def change(model: onnx.ModelProto) -> None:
        known = {entry.key: entry.value for entry in model.metadata_props}
        del model.metadata_props[:]
        helper.set_model_props(model, {**known, **texts})

    return change


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_float64_obs, r"its inputs are obs tensor\(double\)"),
        (_float_mask, r"action_mask tensor\(float\)"),
        (_other_output, r"its outputs are action tensor\(float\)"),
        (_float64_logits, r"its outputs are logits tensor\(double\)"),
        (_fifty_logits, r"answers 1 rows with float32 of shape \(1, 50\)"),
        (_declared_fifty, r"its outputs are logits tensor\(float\) \[50\]"),
        (_batch_of_one, "the network fails"),
        (_hidden_batch_of_one, "the network fails"),
        (_weights(float("nan")), "isn't a finite number"),
        (_weights(float("inf")), "isn't a finite number"),
        (_constant(float("nan")), "isn't a finite number"),
        (_constant(float("inf")), "isn't a finite number"),
        (_allocation(1 << 60), "the network fails"),
        (_allocation(1 << 33), "the network fails"),
        (_constant_allocation(1 << 60), "the network fails|is not an ONNX file"),
        (_constant_allocation(1 << 33), "the network fails|is not an ONNX file"),
        (_meta(rules="[" * 100_000), "nested too deeply"),
        (_meta(rules='["points", 5]'), r"rules\[1\] is 5"),
        (_meta(rules='{"points": 1}'), "rules is .* must be a list"),
        (_meta(rules="[]", rules_hashes="[]"), "names 0 rules"),
        (_meta(rules='["pontoon"]'), "its rules cannot be read"),
        (_meta(rules='["points:seats=\\u0000"]'), "a NUL character"),
        (_meta(rules_hashes="9" * 5_000), "a number of 5000 digits"),
        (_meta(num_features="many"), "its metadata cannot be read"),
        (_meta(num_features="9" * 5_000), "its metadata cannot be read"),
        (_meta(num_features="-1"), "its inputs are"),
        (_meta(name=""), "can't stand in a table"),
        (_meta(name="a\n\x1b[2J"), "can't stand in a table"),
        (_meta(name="a" * 10_000), "can't stand in a table"),
    ],
)
def test_a_network_that_cannot_play_is_refused_when_it_is_loaded(tmp_path: Path, change: Change, reason: str) -> None:
    path = _changed(tmp_path, change)
    with pytest.raises(InvalidFile, match=reason) as refused:
        bots.make_policy(path)
    assert str(refused.value).startswith(f"{path}: ")
    assert len(str(refused.value)) < 900


def test_the_changes_are_to_a_network_that_plays(tmp_path: Path) -> None:
    assert bots.make_policy(_changed(tmp_path, lambda model: None)).name == "toy"
    assert bots.make_policy(_changed(tmp_path, _allocation(1 << 10))).name == "toy"


@pytest.mark.parametrize(
    "card",
    ["", "[]", "5", '{"sha256": 5}', "{}", "[" * 100_000, '{"sha256": "a", "sha256": "a"}', '{"a": ' + "9" * 5000],
)
def test_an_odd_card_beside_a_network_is_refused_by_its_name(tmp_path: Path, card: str) -> None:
    path = write_toy_policy(tmp_path, "toy")
    path.with_suffix(".json").write_text(card)
    with pytest.raises(InvalidFile, match=r"toy\.json: "):
        bots.make_policy(path)


def test_a_card_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    path = write_toy_policy(tmp_path, "toy")
    card = path.with_suffix(".json")
    card.write_bytes(b"\xef\xbb\xbf" + card.read_bytes())
    assert bots.make_policy(path).name == "toy"


def test_a_number_that_is_none_is_refused_wherever_it_turns_up(tmp_path: Path) -> None:
    """A logarithm of an observation fails only where that is negative, which the trial run doesn't show."""

    def change(model: onnx.ModelProto) -> None:
        model.graph.node.insert(0, helper.make_node("Sqrt", [INPUTS[0]], ["root"]))
        model.graph.node[1].input[0] = "root"

    policy = OnnxPolicy(_changed(tmp_path, change))
    masks = np.ones((1, NUM_ACTIONS), dtype=bool)
    with pytest.raises(InvalidFile, match="isn't a finite number"):
        policy.logits(np.full((1, NUM_FEATURES), -1.0), masks)
    assert np.isfinite(policy.logits(np.ones((1, NUM_FEATURES)), masks)).all()
    assert policy.logits(np.ones((1, NUM_FEATURES)), ~masks).max() == MASKED_LOGIT


def _answers(policy: bots.Policy) -> list[int]:
    """What a policy does in a few positions."""
    states = engine.deal_many(policy.rules, np.arange(6, dtype=np.uint64))
    views = engine.player_views(states, states["current_player"].astype(np.int64))
    masks = engine.legal_action_masks(states, policy.rules)
    return policy.act(views, masks, np.arange(6, dtype=np.uint64)).tolist()


@pytest.mark.parametrize("deterministic", [True, False])
def test_a_network_goes_on_the_same_as_a_copy_or_a_pickle_whatever_became_of_its_file(
    tmp_path: Path, deterministic: bool
) -> None:
    path = write_toy_policy(tmp_path, "toy")
    policy = OnnxPolicy(path, deterministic=deterministic)
    pickled = pickle.dumps(policy)
    path.unlink()
    for twin in (pickle.loads(pickled), copy.deepcopy(policy), copy.copy(policy)):
        assert twin is not policy
        assert (twin.name, twin.path, twin.rules, twin.info) == (policy.name, policy.path, policy.rules, policy.info)
        assert _answers(twin) == _answers(policy)


def test_a_seat_goes_on_the_same_as_a_copy_in_the_middle_of_a_deal() -> None:
    seat = bots.Seat("points-2")
    hand = "4S 5S 6S 8H 9H TH 7C 7D 7H KS KH 2D 3C"
    seat.see({"type": "deal", "hand": hand, "indicator": "5D", "open": "QC", "first": 0})
    copies = [copy.deepcopy(seat), pickle.loads(pickle.dumps(seat))]
    for each in (seat, *copies):
        each.see({"type": "draw", "seat": 0, "card": "KD"})
    assert [each.decide() for each in copies] == [seat.decide()] * 2


def test_expert_travels_to_other_processes() -> None:
    expert = bots.make_policy("expert").within(worlds=4)
    assert isinstance(expert, ExpertAgent)
    states = engine.deal(expert.rules, 1)
    engine.apply_action(states, 0, engine.DRAW_CLOSED, expert.rules)
    view = engine.player_view(states, 0, 0)
    position = view, legal_masks(view, expert.rules), np.zeros(1, dtype=np.uint64)
    for twin in (pickle.loads(pickle.dumps(expert)), copy.deepcopy(expert)):
        assert twin.act(*position).tolist() == expert.act(*position).tolist()


def _match(policies: tuple[bots.Policy, bots.Policy]) -> list[float]:
    result = play_match(*policies, deals=4, seed=1)
    return [result.points_per_deal, result.win_rate]


def test_matches_of_networks_are_played_in_other_processes(tmp_path: Path) -> None:
    pair = OnnxPolicy(write_toy_policy(tmp_path, "toy")), bots.make_policy("mindist")
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert list(pool.map(_match, [pair])) == [_match(pair)]


def test_onnxruntime_keeps_no_telemetry_in_the_home_of_its_user(tmp_path: Path) -> None:
    code = "from paplu_env import bots; bots.make_policy('points-2'); import onnxruntime"
    drop = ("ORT_DISABLE_TELEMETRY", "CI", "XDG_CACHE_HOME")
    environment = {key: value for key, value in os.environ.items() if key not in drop}
    environment |= {"HOME": str(tmp_path), "PAPLU_QUIET": "1", "PAPLU_CACHE_DIR": str(tmp_path / "kernels")}
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, check=True)
    assert [path for path in tmp_path.rglob("*") if "onnxruntime" in path.name or path.name == "Microsoft"] == []
