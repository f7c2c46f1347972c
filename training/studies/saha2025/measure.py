"""What moves the published figures: the study's agents as its code plays them, one deviation switched on at a time.

``python -m training.studies.saha2025`` prints it. This is an experiment, not a bot: see `table`. The published table
itself is a tournament, ``paplu tournament training/studies/saha2025/config.toml``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from paplu_env.errors import PapluError
from paplu_env.evaluation.games import Games
from paplu_env.evaluation.stats import mean_interval
from paplu_env.files import check_target, write_atomically
from training.studies.saha2025.agents import AGENTS, AS_CODED, SWITCHES, WINNER_PAYS
from training.studies.saha2025.table import play_study

_EPILOG: Final = """\
A cell is wins in % / points per deal of the row. A switch's column is what it alone adds, on the same deals. What came
out is in result.md beside this file, under the published table played again, which is a tournament of its own.

examples:
  python -m training.studies.saha2025 --deals 2000
      what result.md shows
  paplu tournament training/studies/saha2025/config.toml --out runs/saha2025
      the published table
"""


def effects(a: str, b: str, deals: int, seed: int, drops: bool) -> list[str]:
    """One row of the experiment: wins and points of ``a`` by BASELINES.md 2, what each switch adds, and all together.

    What a switch adds is a difference over the same deals, so it is known more narrowly than either figure.
    """
    plain = play_study(a, b, deals, seed, drops, 0)
    coded = play_study(a, b, deals, seed, drops, AS_CODED)
    row = [a, b, _figures(plain)]
    for switch in SWITCHES.values():
        if switch == WINNER_PAYS and not drops:
            row.append("–")
            continue
        changed = play_study(a, b, deals, seed, drops, switch)
        low, high = mean_interval(_points(changed) - _points(plain))
        row.append(f"{(low + high) / 2:+.2f} ±{(high - low) / 2:.2f}")
    return [*row, _figures(coded)]


def _points(games: Games) -> npt.NDArray[np.float64]:
    """The first player's points, a mean for each deal."""
    points: npt.NDArray[np.float64] = games["returns"][..., 0].mean(axis=1)
    return points


def _figures(games: Games) -> str:
    """Wins in % and points per deal, with the half-width of its interval."""
    low, high = mean_interval(_points(games))
    return f"{100 * (games['winner'] == 0).mean():.1f} / {(low + high) / 2:+.2f} ±{(high - low) / 2:.2f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the experiment and print it as Markdown.

    Returns:
        0 when it is done, 2 if it can't be done as asked.
    """
    parser = argparse.ArgumentParser(
        prog="python -m training.studies.saha2025",
        description="What in the published code of Saha et al. (2025) moves its figures: every pair of its agents, "
        "as BASELINES.md 2 describes them and with each deviation of the code switched on by itself.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--deals", type=int, default=2000, help="duplicate deals of each cell (%(default)s)")
    parser.add_argument("--seed", type=int, default=2025, help="seed of the deals (%(default)s)")
    parser.add_argument("--out", type=Path, help="file to write the tables to, beside printing them")
    parser.add_argument("--force", action="store_true", help="write over a file that this command did not write")
    options = parser.parse_args(arguments)
    lines: list[str] = []
    header = ["row", "column", "by BASELINES.md 2", *SWITCHES, "as coded"]
    try:
        if options.out is not None:
            check_target(options.out, r"No drops, [0-9,]+ deals from both seats, seed ", options.force)
        for drops in (False, True):
            lines += [
                "",
                f"{'Drops' if drops else 'No drops'}, {options.deals:,} deals from both seats, seed {options.seed}:",
            ]
            lines += ["", f"| {' | '.join(header)} |", "|" + " --- |" * len(header)]
            print("\n".join(lines[-4:]), flush=True)
            for b, a in combinations(AGENTS, 2):
                lines.append(f"| {' | '.join(effects(a, b, options.deals, options.seed, drops))} |")
                print(lines[-1], flush=True)
        if options.out is not None:
            write_atomically(options.out, ("\n".join(lines[1:]) + "\n").encode())
    except PapluError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0
