"""The files of a tournament's results."""

from __future__ import annotations

import importlib
import json
import os
from pathlib import Path
from typing import Final

from paplu_env.evaluation.report.text import to_dict, to_markdown
from paplu_env.evaluation.tournament import PLAN, TournamentResult
from paplu_env.files import check_target, json_of, write_atomically

_PAGE: Final = "paplu_env.evaluation.report.page"
_REPORTS: Final = {  # names, and how the files begin
    "results.json": json_of("format", "paplu-tournament-result-"),
    "results.md": r"# Tournament\n\n## .{1,300}\n\nIntervals are at 95 %, over deals",
    "report.html": r"<!doctype html>\n.{0,200}<title>Tournament: ",
}


def check_reports(folder: str | os.PathLike[str], force: bool = False) -> None:
    """Refuse a folder whose reports could not be written in the end, before the games are played.

    Args:
        folder: need not exist. If it holds a tournament, the reports in it are that tournament's.
        force: write over any file.

    Raises:
        PapluError: matplotlib or jinja2 isn't installed, or a file of a report's name that isn't a tournament's.
    """
    importlib.import_module(_PAGE)
    target = Path(folder)
    if target.is_dir() and not (target / PLAN).exists():
        for name, own in _REPORTS.items():
            check_target(target / name, own, force)


def write_reports(result: TournamentResult, folder: str | os.PathLike[str]) -> list[Path]:
    """Write ``results.json``, ``results.md`` and ``report.html``; each appears only when it is complete.

    Returns:
        The paths, in that order.

    Raises:
        PapluError: matplotlib or jinja2 isn't installed; the first two files are there all the same.
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    paths = [target / name for name in _REPORTS]
    write_atomically(paths[0], (json.dumps(to_dict(result), indent=1, allow_nan=False) + "\n").encode())
    write_atomically(paths[1], to_markdown(result).encode())
    # Only here, so that a tournament can be played without the extra `report`.
    write_atomically(paths[2], importlib.import_module(_PAGE).to_html(result).encode())
    return paths
