"""An ablation trains variants from the same start and tells what each came to."""

import json
from pathlib import Path

import pytest

from tests.training.tiny import TOML, tiny_config
from training.learn.config import InvalidConfig, load
from training.run.tensors import load_tensors
from training.studies.ablation.measure import Plan, changed, main

PLAN = """
base = "tiny.toml"
decisions = 128
seeds = [1, 2]
opponents = ["random"]
deals = 4
deal_seed = 9
[changes]
"ppo.epochs" = 1
"network.shared" = false
"network.hidden_critic" = true
"ppo.lookahead" = 2
[variants.recipe]
[variants.bold]
"ppo.learning_rate" = 0.01
[variants.blind]
"network.hidden_critic" = false
"ppo.lookahead" = 0
[variants."from nothing"]
"clone.decisions" = 0
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    (tmp_path / "tiny.toml").write_text(TOML, encoding="utf-8")
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    return tmp_path / "plan.toml"


def test_every_variant_is_trained_from_one_start_and_measured(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = plan.parent / "runs"
    assert main([str(plan), "--out", str(out)]) == 0
    runs = {f"{name}-{seed}" for name in ("recipe", "bold", "blind", "from nothing") for seed in (1, 2)}
    assert {path.name for path in out.iterdir()} == {"start-0", "start-1", *runs}
    assert '"from": "best.safetensors"' in (out / "bold-1" / "metrics.jsonl").read_text(encoding="utf-8")
    assert '"from"' not in (out / "from nothing-1" / "metrics.jsonl").read_text(encoding="utf-8")
    rows = json.loads(plan.with_suffix(".json").read_text(encoding="utf-8"))
    assert [row["variant"] for row in rows] == ["recipe", "bold", "blind", "from nothing"]
    assert all(len(row["random"]["by_seed"]) == 2 and row["random"]["error"] > 0 for row in rows)
    assert "| bold | `ppo.learning_rate = 0.01` |" in plan.with_suffix(".md").read_text(encoding="utf-8")
    start = load_tensors(out / "start-0" / "best.safetensors", "paplu-weights-1")[0]
    ends = [load_tensors(out / name / "last.safetensors", "paplu-weights-1")[0] for name in ("recipe-1", "bold-1")]
    key = "action_head.all.weight"
    moves = [abs(end[key] - start[key]).max() for end in ends]
    assert 0 < moves[0] < moves[1] / 3
    capsys.readouterr()
    assert main([str(plan), "--out", str(out), "--resume"]) == 0
    assert "resumed at 128 decisions" in capsys.readouterr().out


def test_slips_are_named(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan.write_text(PLAN.replace("deals = 4", "deal = 4"), encoding="utf-8")
    with pytest.raises(InvalidConfig, match="'deal': the keys here are base, decisions"):
        load(plan, Plan)
    with pytest.raises(InvalidConfig, match=r"unknown key 'ppo\.speed'"):
        changed(tiny_config(), {"ppo.speed": 1})
    for key in ("nope.speed", "ppo.steps.speed", "name.of.speed"):
        with pytest.raises(InvalidConfig, match=f"unknown key {key!r}: there is no table"):
            changed(tiny_config(), {key: 1})
    plan.write_text(PLAN.split("[changes")[0] + "changes = {}\nvariants = {}", encoding="utf-8")
    assert main([str(plan)]) == 2
    assert "at least one of each" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("seeds = [1, 2]", "seeds = [1, 1]", "the same seed twice"),
        ("deals = 4", "deals = 1", "two deals"),
        ("[variants.bold]", "[variants]\nbold = 3\n[variants.other]", "variants.bold=3: must be a table"),
    ],
)
def test_plans_that_would_mislead_are_refused(old: str, new: str, said: str, plan: Path, capsys) -> None:
    assert old in PLAN
    plan.write_text(PLAN.replace(old, new), encoding="utf-8")
    assert main([str(plan)]) == 2
    assert said in capsys.readouterr().err
