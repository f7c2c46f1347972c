"""Where a study writes what came out."""

from __future__ import annotations

from pathlib import Path


def result_path(config: Path, suffix: str) -> Path:
    """The file beside a study's configuration: ``result`` with this suffix; for a copy of another name, that name.

    So a copy that lies beside ``config.toml`` never writes over the results that the study has.

    >>> result_path(Path("ablation/config.toml"), ".md").name, result_path(Path("ablation/mine.toml"), ".md").name
    ('result.md', 'mine.md')
    """
    return config.with_name(("result" if config.name == "config.toml" else config.stem) + suffix)
