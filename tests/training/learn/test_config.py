"""A configuration is read from TOML, and whatever is wrong with it is said by name."""

import dataclasses
import json
import re
import tomllib
from pathlib import Path

import pytest

from paplu_env.rules import parse_rules
from tests.training.tiny import RULES, TOML, tiny_config
from training.learn.config import InvalidConfig, TrainConfig, differences, load_config

# Of training runs; tournaments and fits, which lie beside them, have readers and tests of their own.
FOLDER = Path(__file__).resolve().parents[3] / "configs"
CONFIGS = [path for path in sorted(FOLDER.rglob("*.toml")) if "ppo" in tomllib.loads(path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.relative_to(FOLDER).as_posix())
def test_every_configuration_that_ships_is_valid_and_its_name_follows_from_its_path(path: Path) -> None:
    name = path.stem
    if path.parent != FOLDER:  # part 1 of points-2 is the run `points`, part 2 is `points_2`
        bot, part = path.parent.name.rsplit("-", 1)[0], path.stem.removeprefix("part_")
        name = bot if part == "1" else f"{bot}_{part}"
    assert load_config(path).name == name


def test_the_parts_of_every_trained_bot_are_there_in_order() -> None:
    parts = {folder.name: sorted(path.stem for path in folder.glob("part_*.toml")) for folder in FOLDER.iterdir()}
    trained = {name: found for name, found in parts.items() if found}
    assert set(trained) == {"points-2", "cards-2", "one_pack-2"}
    for found in trained.values():
        assert found == [f"part_{number}" for number in range(1, len(found) + 1)]


def test_the_rules_of_a_configuration_are_parsed_once_and_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = []
    monkeypatch.setattr("training.learn.config.parse_rules", lambda text: parsed.append(text) or parse_rules(text))
    config = tiny_config(also_rules=["points"], mixed=True, games=8)
    assert config.tables == config.rule_sets == (parse_rules(RULES), parse_rules("points"))
    assert config.main_rules is config.rule_sets[0]
    assert parsed == [RULES, "points"]


def test_nothing_else_in_training_parses_the_rules_of_a_configuration() -> None:
    again = re.compile(r"(parse|as)_rules\((self\._?)?config\.(rules|also_rules)")
    root = FOLDER.parent / "training"
    users = [path for path in root.rglob("*.py") if again.search(path.read_text(encoding="utf-8"))]
    # A fit's own configuration has no parsed rules to hand on.
    assert users == [root / "fit" / "leaf_value.py"]


def test_a_configuration_goes_through_json_and_back() -> None:
    config = tiny_config()
    assert TrainConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


@pytest.mark.parametrize(
    ("extra", "name"),
    [
        ("gmaes = 3", "'gmaes'"),
        ("[ppo]\nlearning_rat = 1e-3", "'ppo.learning_rat'"),
        ("[network]\nhidden = [32]\nlayers = 2", "'network.layers'"),
    ],
)
def test_an_unknown_key_is_refused_by_its_dotted_name(tmp_path: Path, extra: str, name: str) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(f'name = "wrong"\n{extra}\n', encoding="utf-8")
    with pytest.raises(InvalidConfig, match=f"unknown key {name}"):
        load_config(path)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"games": 8.0}, "games=8.0: must be a whole number"),
        ({"games": True}, "games=True: must be a whole number"),
        ({"games": 0}, "games=0: must be 1"),
        ({"name": 5}, "name=5: must be a text"),
        ({"name": "../elsewhere"}, "must be a plain file name"),
        ({"rules": "bridge"}, "unknown preset 'bridge'"),
        ({"also_rules": ["points:jokers=1"]}, "unknown option 'jokers'"),
        ({"encoding": "cards-v0"}, "cards-v0"),
        ({"reward": "money"}, "money"),
        ({"ppo": 3}, "ppo=3: must be a table"),
        ({"ppo__learning_rate": "fast"}, "ppo.learning_rate='fast': must be a number"),
        ({"ppo__learning_rate": float("nan")}, "ppo.learning_rate=nan"),
        ({"ppo__gamma": 1.5}, "ppo.gamma=1.5: must be 0.0..1.0"),
        ({"ppo__batch_size": 100_000}, "ppo.batch_size=100000 is more than"),
        ({"network__hidden": 32}, "network.hidden=32: must be a list"),
        ({"network__hidden": []}, "at least one layer"),
        ({"network__hidden": [32, "wide"]}, "network.hidden='wide'"),
        ({"network__activation": "gelu"}, "choose one of relu, tanh"),
        ({"network__shared": 1}, "network.shared=1: must be true or false"),
        ({"opponents__bots": []}, "name at least one bot"),
        ({"opponents__bots": ["minscore"]}, "evaluation.opponent='minscore' is also among opponents.bots"),
        ({"network__hidden_critic": True}, "network.hidden_critic=true needs network.shared=false"),
        ({"mixed": True, "also_rules": ["points", "saha2025"]}, "games=8 can't be shared evenly by 3 rules"),
    ],
)
def test_a_wrong_value_is_refused_with_its_name_and_meaning(changes: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match="(?s)" + words.replace("(", r"\(").replace(".", r"\.")):
        tiny_config(**changes)


def test_a_missing_name_is_asked_for() -> None:
    with pytest.raises(InvalidConfig, match="name is missing"):
        TrainConfig.from_dict({})


def test_a_file_that_is_missing_or_no_toml_is_said(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfig, match="cannot be read"):
        load_config(tmp_path / "none.toml")
    (tmp_path / "broken.toml").write_text("name = ", encoding="utf-8")
    with pytest.raises(InvalidConfig, match="is not TOML"):
        load_config(tmp_path / "broken.toml")


def test_whole_numbers_serve_where_numbers_are_asked_for() -> None:
    assert tiny_config(ppo__gamma=1).ppo.gamma == 1


def test_differences_are_named() -> None:
    assert differences(tiny_config(), tiny_config(seed=5, ppo__epochs=1)) == ["seed", "ppo.epochs"]
    assert differences(tiny_config(), tiny_config()) == []


def test_every_key_has_a_meaning() -> None:
    def parts(kind: type) -> list[dataclasses.Field]:
        fields = list(dataclasses.fields(kind))
        return fields + [
            inner
            for field in fields
            if dataclasses.is_dataclass(field.default_factory)
            for inner in parts(field.default_factory)
        ]

    assert all(field.metadata["meaning"] for field in parts(TrainConfig))
    assert "[network]" in TOML
