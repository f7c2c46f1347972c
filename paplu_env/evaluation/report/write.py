"""The files of a tournament's results."""

from __future__ import annotations

import json
import os
from pathlib import Path

from paplu_env.evaluation.report.text import to_dict, to_markdown
from paplu_env.evaluation.tournament import TournamentResult
from paplu_env.files import write_atomically


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
    write_atomically(paths[0], (json.dumps(to_dict(result), indent=1, allow_nan=False) + "\n").encode())
    write_atomically(paths[1], to_markdown(result).encode())
    # Only here, so that a tournament can be played without the extra `report`.
    from paplu_env.evaluation.report.page import to_html

    write_atomically(paths[2], to_html(result).encode())
    return paths
