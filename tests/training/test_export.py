"""An exported file is ONNX by the standard, answers as torch does, and says what it is for."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from torch import nn

from paplu_env import encoding as encodings
from paplu_env import engine
from paplu_env.bots import make_policy
from paplu_env.bots.networks.onnx import MASKED_LOGIT, OnnxPolicy
from paplu_env.engine.actions import NUM_ACTIONS
from paplu_env.errors import InvalidFile, PapluError, PolicyMismatch
from paplu_env.evaluation import play_match
from paplu_env.rules import as_rules
from tests.training.tiny import RULES, tiny_config
from training.export import OPSET, add_evaluation, card_path, export_module, export_run, main
from training.learn.config import NetworkConfig
from training.learn.decisions import collect_decisions
from training.learn.network import ActorCritic, MaskedLogits, face_columns
from training.learn.opponents import NetworkPolicy
from training.learn.weights import load_weights
from training.train import train

ROOT = Path(__file__).resolve().parents[2]
F = encodings.by_name("cards-v1").num_features(RULES)


class _Unmasked(nn.Module):
    """Somebody's network that ignores the mask: logits at -20 in places, in others 0 for illegal actions."""

    def __init__(self, level: float = -20.0) -> None:
        super().__init__()
        self.layer = nn.Linear(F, NUM_ACTIONS)
        self.level = level

    def forward(self, obs: torch.Tensor, action_mask: torch.Tensor) -> torch.Tensor:
        return torch.where(action_mask, 0.01 * self.layer(obs) + self.level, torch.zeros(()))


@pytest.fixture(scope="module")
def module() -> nn.Module:
    torch.manual_seed(0)
    net = ActorCritic(F, NetworkConfig(hidden=(24,)), face_columns("cards-v1", as_rules(RULES)))
    net.action_head.all.weight.data.mul_(100)  # so that its choices differ from row to row
    return MaskedLogits(net)


@pytest.fixture(scope="module")
def exported(module: nn.Module, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("policies") / "toy.onnx"
    return export_module(module, "cards-v1", RULES, path, also_rules=["points"], training={"by": "a test"})


@pytest.fixture
def alone(exported: Path, tmp_path: Path) -> Path:
    """A copy of the file without its card."""
    path = tmp_path / "toy.onnx"
    path.write_bytes(exported.read_bytes())
    return path


@pytest.fixture(scope="module")
def states() -> tuple[np.ndarray, np.ndarray]:
    """Several thousand decisions of good and of random play, the last turns of long deals among them."""
    chunks = [
        collect_decisions(make_policy(name, RULES), deals, seed=5)
        for name, deals in (("mindist_opp", 150), ("random", 15))
    ]
    coder = encodings.by_name("cards-v1")
    return np.concatenate([chunk.obs(coder) for chunk in chunks]), np.concatenate([chunk.masks() for chunk in chunks])


def test_the_file_is_standard_onnx_and_its_opset_is_stated(exported: Path) -> None:
    model = onnx.load(exported)
    onnx.checker.check_model(model, full_check=True)
    assert [(entry.domain, entry.version) for entry in model.opset_import] == [("", OPSET)]
    assert {node.domain for node in model.graph.node} <= {""}
    assert [node.name for node in model.graph.input] == ["obs", "action_mask"]
    assert [node.name for node in model.graph.output] == ["logits"]
    assert json.loads(card_path(exported).read_text(encoding="utf-8"))["opset"] == OPSET


def test_the_file_names_no_path_of_the_machine_that_made_it(exported: Path) -> None:
    assert str(ROOT).encode() not in exported.read_bytes()
    assert b"site-packages" not in exported.read_bytes()


def test_torch_and_onnxruntime_agree_on_thousands_of_states(
    module: nn.Module, exported: Path, states: tuple[np.ndarray, np.ndarray]
) -> None:
    obs, masks = states
    assert len(obs) > 5_000
    with torch.inference_mode():
        expected = module(torch.from_numpy(obs), torch.from_numpy(masks)).numpy()
    found = OnnxPolicy(exported).logits(obs, masks)
    assert np.abs(found - expected).max() < 1e-4
    np.testing.assert_array_equal(found.argmax(axis=1), expected.argmax(axis=1))
    assert len(set(found.argmax(axis=1).tolist())) > 10
    assert (found[~masks] == MASKED_LOGIT).all()
    assert (found[masks] > MASKED_LOGIT / 2).all()


def test_a_row_is_answered_alike_alone_and_in_a_batch(exported: Path, states: tuple[np.ndarray, np.ndarray]) -> None:
    obs, masks = states[0][:20], states[1][:20]
    policy = OnnxPolicy(exported)
    together = policy.logits(obs, masks)
    alone = np.concatenate([policy.logits(obs[i : i + 1], masks[i : i + 1]) for i in range(20)])
    np.testing.assert_allclose(together, alone, atol=1e-5)


def test_the_card_says_what_the_file_is(exported: Path) -> None:
    card = json.loads(card_path(exported).read_text(encoding="utf-8"))
    rules = make_policy("random", RULES).rules
    assert card["sha256"] == hashlib.sha256(exported.read_bytes()).hexdigest()
    assert card["encoding"] == "cards-v1"
    assert (card["num_features"], card["num_actions"]) == (F, NUM_ACTIONS)
    assert card["rules"] == [RULES, "points"]
    assert card["rules_hashes"][0] == rules.hash
    assert card["training"] == {"by": "a test"}
    assert card["parity"]["states"] >= 1_000
    assert card["parity"]["largest_difference"] < 1e-4
    assert "torch" in card["exported"]["versions"]


def test_no_masked_action_is_chosen_though_its_logit_be_the_highest(tmp_path: Path) -> None:
    path = export_module(_Unmasked(), "cards-v1", RULES, tmp_path / "low.onnx")
    states = engine.deal_many(make_policy("random", RULES).rules, np.arange(100, dtype=np.uint64))
    for deterministic in (True, False):
        policy = OnnxPolicy(path, deterministic=deterministic)
        views = engine.player_views(states, states["current_player"].astype(np.int64))
        masks = engine.legal_action_masks(states, policy.rules)
        for turn in range(100):
            keys = np.random.default_rng(turn).integers(2**64, size=100, dtype=np.uint64)
            actions = policy.act(views, masks, keys)
            assert masks[np.arange(100), actions].all()
            if deterministic:
                break


def test_drawn_actions_follow_the_key_alone(exported: Path) -> None:
    policy = OnnxPolicy(exported, deterministic=False)
    states = engine.deal_many(policy.rules, np.full(500, 3, dtype=np.uint64))
    engine.apply_actions(states, np.zeros(500, dtype=np.int64), policy.rules)
    views = engine.player_views(states, states["current_player"].astype(np.int64))
    masks = engine.legal_action_masks(states, policy.rules)
    keys = np.random.default_rng(0).integers(2**64, size=500, dtype=np.uint64)
    actions = policy.act(views, masks, keys)
    np.testing.assert_array_equal(policy.act(views[::-1], masks[::-1], keys[::-1]), actions[::-1])
    assert len(set(actions.tolist())) > 1


def test_any_numeric_dtype_is_cast_and_a_wrong_shape_is_said(
    exported: Path, states: tuple[np.ndarray, np.ndarray]
) -> None:
    policy = OnnxPolicy(exported)
    obs, masks = states[0][:8], states[1][:8]
    expected = policy.logits(obs, masks)
    np.testing.assert_array_equal(policy.logits(obs.astype(np.float64), masks.astype(np.int8)), expected)
    np.testing.assert_array_equal(policy.logits(obs.tolist(), masks.tolist()), expected)
    ones = (obs > 0.5).astype(np.int8)
    np.testing.assert_array_equal(policy.logits(ones, masks), policy.logits(ones.astype(np.bool_), masks))
    with pytest.raises(PapluError, match=rf"expected observations \(B, {F}\).*not \(8, 3\)"):
        policy.logits(obs[:, :3], masks)
    with pytest.raises(PapluError, match="expected observations"):
        policy.logits(obs[0], masks[0])


def test_sessions_use_one_thread_unless_told_otherwise(exported: Path) -> None:
    for threads in (1, 2):
        options = OnnxPolicy(exported, threads=threads).session.get_session_options()
        assert (options.intra_op_num_threads, options.inter_op_num_threads) == (threads, 1)


def test_make_policy_plays_a_file_with_or_without_its_card(exported: Path, alone: Path) -> None:
    one, other = (
        play_match(make_policy(str(path), RULES), "random", deals=3, rules=RULES) for path in (exported, alone)
    )
    assert one.points_per_deal == other.points_per_deal


def test_rules_that_the_file_was_not_made_for_are_refused(exported: Path) -> None:
    assert str(OnnxPolicy(exported).rules) == RULES
    assert str(OnnxPolicy(exported, "points").rules) == "points"
    with pytest.raises(PolicyMismatch, match=f"trained for {RULES} and points, not for saha2025"):
        make_policy(str(exported), "saha2025")


def _with_metadata(path: Path, **changes: str | None) -> None:
    model = onnx.load(path)
    texts = {entry.key: entry.value for entry in model.metadata_props} | changes
    onnx.helper.set_model_props(model, {key: value for key, value in texts.items() if value is not None})
    onnx.save(model, path)


@pytest.mark.parametrize(
    ("changes", "kind", "words"),
    [
        ({"encoding": "cards-v0"}, PolicyMismatch, "cards-v0"),
        ({"encoding": "features-v1"}, PolicyMismatch, "expects"),
        ({"format": "paplu-policy-99"}, InvalidFile, "paplu-policy-99"),
        ({"format": None}, InvalidFile, "no policy file"),
        ({"num_actions": "12"}, InvalidFile, "knows 12 actions"),
        ({"num_features": "12"}, InvalidFile, "its inputs are"),
        ({"num_features": "many"}, InvalidFile, "cannot be read"),
        ({"rules": None}, InvalidFile, "cannot be read"),
        ({"rules": "[]", "rules_hashes": "[]"}, InvalidFile, "names 0 rules"),
        ({"rules_hashes": '["00"]'}, InvalidFile, "2 rules and 1 hashes"),
    ],
)
def test_metadata_that_does_not_fit_is_refused(
    alone: Path, changes: dict[str, str | None], kind: type[Exception], words: str
) -> None:
    _with_metadata(alone, **changes)
    with pytest.raises(kind, match=words) as caught:
        OnnxPolicy(alone)
    assert str(alone) in str(caught.value)


def test_a_file_cut_at_any_place_is_refused(alone: Path) -> None:
    data = alone.read_bytes()
    for length in (0, 1, 100, len(data) // 2, len(data) - 200, len(data) - 1):
        alone.write_bytes(data[:length])
        with pytest.raises(InvalidFile, match=r"toy\.onnx"):
            OnnxPolicy(alone)


def test_foreign_and_missing_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="cannot be read"):
        OnnxPolicy(tmp_path / "none.onnx")
    (tmp_path / "text.onnx").write_text("no network", encoding="utf-8")
    with pytest.raises(InvalidFile, match="not an ONNX file"):
        OnnxPolicy(tmp_path / "text.onnx")
    node = onnx.helper.make_node("Identity", ["x"], ["y"])
    value = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1]) for name in "xy"]
    graph = onnx.helper.make_graph([node], "foreign", value[:1], value[1:])
    opset = [onnx.helper.make_opsetid("", OPSET)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opset, ir_version=10), tmp_path / "foreign.onnx")
    with pytest.raises(InvalidFile, match="no policy file"):
        OnnxPolicy(tmp_path / "foreign.onnx")


def test_a_file_that_is_not_its_cards_is_refused(exported: Path, tmp_path: Path) -> None:
    path = tmp_path / "toy.onnx"
    path.write_bytes(exported.read_bytes() + b"\x00")
    card_path(path).write_bytes(card_path(exported).read_bytes())
    with pytest.raises(InvalidFile, match="its card says"):
        OnnxPolicy(path)
    card_path(path).write_text("{", encoding="utf-8")
    with pytest.raises(InvalidFile, match=r"toy\.json: is not JSON"):
        OnnxPolicy(path)


def test_playing_a_file_needs_no_torch(exported: Path) -> None:
    code = (
        "import sys; from paplu_env.evaluation import play_match\n"
        f"play_match({str(exported)!r}, 'random', deals=2, rules={RULES!r})\n"
        "print([name for name in ('torch', 'stable_baselines3', 'onnx', 'training') if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_without_onnxruntime_the_extra_is_named(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(PapluError, match=r"paplu-env\[onnx\]"):
        OnnxPolicy(alone)


def test_a_module_that_answers_in_another_shape_is_refused(tmp_path: Path) -> None:
    class Short(nn.Module):
        def forward(self, obs: torch.Tensor, action_mask: torch.Tensor) -> torch.Tensor:
            return action_mask[:, :1].float() + obs[:, :1]

    with pytest.raises(PapluError, match="answers in shape"):
        export_module(Short(), "cards-v1", RULES, tmp_path / "short.onnx")
    assert list(tmp_path.iterdir()) == []


class _Pair(nn.Module):
    def forward(self, obs: torch.Tensor, action_mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return action_mask.float(), obs[:, 0]


class _Branching(nn.Module):
    def forward(self, obs: torch.Tensor, action_mask: torch.Tensor) -> torch.Tensor:
        return action_mask.float() if obs.sum() > 0 else -action_mask.float()


@pytest.mark.parametrize(
    ("module", "words"),
    [
        (nn.Linear(10, NUM_ACTIONS), "the module fails on two rows"),
        (_Pair(), "answers with a tuple"),
        (_Branching(), "torch can't export the module"),
    ],
)
def test_a_module_that_is_no_policy_is_refused_in_words(module: nn.Module, words: str, tmp_path: Path) -> None:
    with pytest.raises(PapluError, match=words):
        export_module(module, "cards-v1", RULES, tmp_path / "none.onnx")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("level", [float("nan"), float("inf"), float("-inf")])
def test_logits_that_are_no_numbers_are_refused(level: float, tmp_path: Path) -> None:
    with pytest.raises(PapluError, match="NaN or infinite"):
        export_module(_Unmasked(level), "cards-v1", RULES, tmp_path / "nan.onnx")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_answers_with_nan_is_never_written(
    module: nn.Module, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answers(_: object, __: np.ndarray, masks: np.ndarray) -> np.ndarray:
        return np.full(masks.shape, np.nan, np.float32)

    monkeypatch.setattr("training.run.policy_file._run", answers)
    with pytest.raises(PapluError, match="differ by up to nan"):
        export_module(module, "cards-v1", RULES, tmp_path / "wrong.onnx")
    assert list(tmp_path.iterdir()) == []


def test_an_export_that_fails_leaves_the_old_file_and_its_card(
    module: nn.Module, exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "toy.onnx"
    path.write_bytes(exported.read_bytes())
    card_path(path).write_bytes(card_path(exported).read_bytes())

    def full_disk(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("paplu_env.files.os.fsync", full_disk)
    with pytest.raises(PapluError, match="No space left on device"):
        export_module(module, "cards-v1", RULES, path)
    assert path.read_bytes() == exported.read_bytes()
    assert card_path(path).read_bytes() == card_path(exported).read_bytes()


def test_a_file_that_would_answer_otherwise_is_never_written(
    module: nn.Module, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answers(_: object, __: np.ndarray, masks: np.ndarray) -> np.ndarray:
        return np.zeros(masks.shape, dtype=np.float32)

    monkeypatch.setattr("training.run.policy_file._run", answers)
    with pytest.raises(PapluError, match="answers otherwise than torch"):
        export_module(module, "cards-v1", RULES, tmp_path / "wrong.onnx")
    assert list(tmp_path.iterdir()) == []


def test_rules_with_other_features_cannot_share_a_file(module: nn.Module, tmp_path: Path) -> None:
    with pytest.raises(PolicyMismatch, match="one policy can't play them all"):
        export_module(module, "cards-v1", RULES, tmp_path / "x.onnx", also_rules=["points:num_players=3"])


def test_a_run_is_exported_with_its_history_and_plays_as_its_best_network(tmp_path: Path) -> None:
    train(tiny_config(ppo__timesteps=128), tmp_path / "tiny")
    assert main([str(tmp_path / "tiny")]) == 0
    path = tmp_path / "tiny" / "tiny.onnx"
    card = json.loads(card_path(path).read_text(encoding="utf-8"))
    assert card["training"]["config"]["name"] == "tiny"
    assert card["training"]["clone"][0]["decisions"] >= 1500
    assert [entry["b"] for entry in card["evaluation"]] == ["minscore"]
    rules = make_policy("random", RULES).rules
    net, _ = load_weights(path.with_suffix(".safetensors"), "cards-v1", rules)
    player = NetworkPolicy("tiny", net, "cards-v1", rules)
    matches = [play_match(one, "mindist", deals=5, rules=rules) for one in (OnnxPolicy(path), player)]
    assert matches[0].points_per_deal == matches[1].points_per_deal

    add_evaluation(path, [matches[0].to_dict()])
    card = json.loads(card_path(path).read_text(encoding="utf-8"))
    assert [entry["b"] for entry in card["evaluation"]] == ["minscore", "mindist"]


def test_a_folder_without_a_run_has_nothing_to_export(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InvalidFile, match="describes no run"):
        export_run(tmp_path)
    assert main([str(tmp_path)]) == 2
    assert "describes no run" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"config": 5}', "no table 'config'"),
        ("[]", "no table 'config'"),
        ('{"config": {"name": "x"}}', "lacks versions, commit, time"),
        ('{"config": {"foo": 1}, "versions": {}, "commit": null, "time": ""}', "unknown key 'foo'"),
    ],
)
def test_a_folder_whose_description_is_not_a_runs_is_refused_with_its_path(
    text: str, words: str, tmp_path: Path
) -> None:
    (tmp_path / "run.json").write_text(text, encoding="utf-8")
    with pytest.raises(InvalidFile, match=rf"run\.json: .*{words}"):
        export_run(tmp_path)


def test_a_critic_that_sees_hidden_cards_stays_out_of_what_is_exported(tmp_path: Path) -> None:
    config = tiny_config(
        ppo__timesteps=0, clone__decisions=0, network__shared=False, network__hidden_critic=True, network__hidden=[8]
    )
    train(config, tmp_path / "run")
    path = export_run(tmp_path / "run")
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    assert [node.name for node in session.get_inputs()] == ["obs", "action_mask"]
