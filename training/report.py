"""Runs as one HTML page that needs nothing but itself: ``python -m training.report RUN [RUN …] --out FILE.html``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

from paplu_env.cli.streams import prepare_streams
from paplu_env.errors import PapluError
from paplu_env.files import check_target, write_atomically
from training.run.folder import check_not_kept
from training.run.record import read_run
from training.run.report_page import OWN_PAGE, check_pictures, to_html, write_pictures

__all__ = ["main", "to_html", "write_pictures"]

_EPILOG: Final = """\
The page shows how the runs learned side by side, and then for each run its configuration, its opponents and seats, how
deals ended, the learner's figures and the matches of its best network.

examples:
  python -m training.report runs/demo
  python -m training.report runs/points runs/points_2 --out report.html --pictures pictures/
"""


def main(arguments: list[str] | None = None) -> int:
    """The command line.

    Returns:
        0 when the page is written, 2 if it can't be.
    """
    parser = argparse.ArgumentParser(
        prog="python -m training.report",
        description="Show runs on one HTML page that needs nothing but itself.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="a run's folder, finished or under way")
    parser.add_argument("--out", type=Path, default=Path("report.html"), help="the page (%(default)s)")
    parser.add_argument("--pictures", type=Path, metavar="DIR", help="also write the pictures, as PNG files")
    parser.add_argument("--force", action="store_true", help="write over a file that this command did not write")
    given = parser.parse_args(arguments)
    try:
        check_not_kept(given.out)
        check_target(given.out, OWN_PAGE, given.force)
        records = [read_run(path) for path in given.runs]
        if given.pictures:
            check_pictures(records, given.pictures, given.force)
        write_atomically(given.out, to_html(records).encode())
        pictures = write_pictures(records, given.pictures) if given.pictures else []
    except PapluError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for path in (given.out, *pictures):
        print(path)
    return 0


if __name__ == "__main__":
    prepare_streams()
    sys.exit(main())
