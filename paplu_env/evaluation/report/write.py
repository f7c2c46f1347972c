"""The files of a tournament's results."""

from __future__ import annotations

import json
import os
from pathlib import Path

from paplu_env.evaluation.games_store import write_text
from paplu_env.evaluation.report.text import to_dict, to_markdown
from paplu_env.evaluation.tournament import TournamentResult


def write_reports(result: TournamentResult, folder: str | os.PathLike[str]) -> list[Path]:
    """Write ``results.json``, ``results.md`` and ``report.html``; each appears only when it is complete.

    Returns:
        The paths, in that order.

    Raises:
        PapluError: matplotlib or jinja2 isn't installed; the first two files are there all the same.
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    paths = [target / name for name in ("results.json", "results.md", "report.html")]
    write_text(paths[0], json.dumps(to_dict(result), indent=1, allow_nan=False) + "\n")
    write_text(paths[1], to_markdown(result))
    # Only here, so that a tournament can be played without the extra `report`.
    from paplu_env.evaluation.report.page import to_html

    write_text(paths[2], to_html(result))
    return paths
