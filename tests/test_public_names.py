"""What the documents, the recipes and each ``__init__`` show keeps its name, wherever its file lies.

The lists are written out: a name that goes missing fails here, and whoever drops one on purpose has to say so here
and in CHANGELOG.md. Names that the documents show are also gathered from them, so that none is forgotten.
"""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import gymnasium
import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = ("README.md", "policies/README.md", "training/recipes/README.md", "training/README.md")

# Shown by README, policies/README, the recipes and docstring examples: module, then names.
SHOWN = {
    "paplu_env": "bots cards cli encoding engine envs errors evaluation melds render rules ui",
    "paplu_env.bots": (
        "from_callable from_sb3 make_policy Policy Seat shipped_policies BOTS ALIASES exported_file bot_names "
        "Actions Candidate Judgement Keys Masks check_answers"
    ),
    "paplu_env.cards": "parse_hand parse_card format_card format_hand wild_of_rank",
    "paplu_env.encoding": "get by_name names layouts hidden_layout permute_suits permute_masks permute_actions Field",
    "paplu_env.engine": (
        "deal deal_many deal_from player_view player_views apply_action apply_actions legal_action_mask check copy "
        "legal_action_masks why_illegal format_action parse_action format_position parse_position returns is_over "
        "replay save_record load_record Series save_series load_series sample_world sample_worlds random_playouts"
    ),
    "paplu_env.envs": "PapluEnv PapluVectorEnv PapluSeriesEnv REWARDS SERIES_REWARDS",
    "paplu_env.envs.sb3": "PapluVecEnv",
    "paplu_env.envs.single": "PapluEnv",
    "paplu_env.envs.vector": "PapluVectorEnv",
    "paplu_env.envs.series": "PapluSeriesEnv",
    "paplu_env.errors": "PapluError IllegalAction InvalidFile InvalidHand InvalidNotation InvalidRules PolicyMismatch",
    "paplu_env.evaluation": "play_match play_games run_tournament write_reports rate bradley_terry summarise",
    "paplu_env.melds": "deadwood points distance outs declarable arrange check_declaration kind_of_group",
    "paplu_env.rules": "RuleSet PRESETS preset parse_rules format_rules as_rules seats_of choice_code RULES_DTYPE",
    "training.export": "export_module export_run",
    "training.train": "train",
}
FACES_OF_LIBRARIES = {
    "paplu_env.envs.aec": ("pettingzoo", "env raw_env"),
    "paplu_env.envs.aec_series": ("pettingzoo", "env"),
    "paplu_env.envs.openspiel": ("pyspiel", "PapluGame"),
    "paplu_env.envs.rllib": ("ray", "PapluMultiAgentEnv"),
}
COMMANDS = ("train", "export", "exploit", "ship", "report", "demo", "vectors")
IDS = ("Paplu-v0", "PapluSeries-v0")


@pytest.mark.parametrize("module", sorted(SHOWN))
def test_every_shown_name_is_where_it_was(module: str) -> None:
    found = importlib.import_module(module)
    assert [name for name in SHOWN[module].split() if not hasattr(found, name)] == []


@pytest.mark.parametrize("module", sorted(FACES_OF_LIBRARIES))
def test_the_faces_of_libraries_keep_their_names(module: str) -> None:
    library, names = FACES_OF_LIBRARIES[module]
    pytest.importorskip(library)
    found = importlib.import_module(module)
    assert [name for name in names.split() if not hasattr(found, name)] == []


@pytest.mark.parametrize("identifier", IDS)
def test_the_ids_are_registered(identifier: str) -> None:
    importlib.import_module("paplu_env")
    assert identifier in gymnasium.registry


@pytest.mark.parametrize("name", COMMANDS)
def test_what_people_type_is_a_module_with_a_command_line(name: str) -> None:
    assert (ROOT / "training" / f"{name}.py").is_file()
    assert "__main__" in (ROOT / "training" / f"{name}.py").read_text(encoding="utf-8")


def test_every_name_of_an_init_is_there() -> None:
    for path in sorted((ROOT / "paplu_env").rglob("__init__.py")):
        module = ".".join(path.parent.relative_to(ROOT).parts)
        found = importlib.import_module(module)
        assert [name for name in getattr(found, "__all__", ()) if not hasattr(found, name)] == [], module


def _imports_of_documents() -> set[str]:
    """Import statements of the code blocks that the documents show."""
    found = set()
    for name in DOCUMENTS:
        text = (ROOT / name).read_text(encoding="utf-8")
        for line in re.findall(r"^(?:>>> )?((?:from|import) (?:paplu_env|training)[^\n#]*)", text, re.MULTILINE):
            found.add(line.strip())
    return found


def test_the_imports_that_the_documents_show_work() -> None:
    lines = _imports_of_documents()
    assert "from paplu_env.envs.sb3 import PapluVecEnv" in lines
    for line in sorted(lines):
        (statement,) = ast.parse(line).body
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                importlib.import_module(alias.name)
        elif isinstance(statement, ast.ImportFrom):
            module = importlib.import_module(str(statement.module))
            for alias in statement.names:
                if not hasattr(module, alias.name):
                    importlib.import_module(f"{statement.module}.{alias.name}")


def test_every_module_that_the_documents_run_exists() -> None:
    shown = set()
    for name in DOCUMENTS:
        shown |= set(re.findall(r"python -m (training[\w.]*)", (ROOT / name).read_text(encoding="utf-8")))
    assert "training.train" in shown
    for module in shown:
        path = ROOT.joinpath(*module.split("."))
        assert path.with_suffix(".py").is_file() or (path / "__main__.py").is_file(), module


@pytest.mark.parametrize("name", sorted(path.parent.name for path in (ROOT / "training/studies").glob("*/__main__.py")))
def test_the_command_of_a_study_answers_help(name: str) -> None:
    command = [sys.executable, "-m", f"training.studies.{name}", "--help"]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    assert f"training.studies.{name}" in shown.stdout
