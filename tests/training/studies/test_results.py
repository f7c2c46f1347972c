"""Results lie beside the configuration that they are of."""

from pathlib import Path

import pytest

from training.studies.results import result_path

STUDIES = Path(__file__).resolve().parents[3] / "training" / "studies"


def test_a_copy_of_a_configuration_never_writes_over_the_results_of_the_study() -> None:
    config = Path("somewhere") / "config.toml"
    assert result_path(config, ".json") == Path("somewhere/result.json")
    assert result_path(config.with_name("my.plan.toml"), ".md") == Path("somewhere/my.plan.md")


@pytest.mark.parametrize("path", sorted(STUDIES.glob("*/result.md")), ids=lambda path: path.parent.name)
def test_a_result_says_by_which_command_it_was_made_and_the_command_is_there(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert f"training/studies/{path.parent.name}" in text.replace(".", "/")
    assert (path.parent / "__main__.py").is_file()
