"""Strength of `search` by the number of worlds: ``python -m training.studies.search_strength``.

Every budget plays the same duplicate deals against one opponent. What comes out is a table in Markdown, the same
numbers as JSON and a plot, beside the configuration.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from paplu_env.bots.policy import Actions, Keys, Masks
from paplu_env.bots.search.agent import SearchAgent
from paplu_env.engine.state import Views
from paplu_env.errors import PapluError
from paplu_env.evaluation import play_match
from paplu_env.evaluation.stats import Interval
from paplu_env.files import check_target, to_json, write_together
from training.learn.config import load
from training.studies.results import result_path

CONFIG: Final = Path(__file__).with_name("config.toml")

_EPILOG: Final = """\
result.md, result.json and result.svg are written beside the configuration, for a copy NAME.toml NAME.md and so on.

examples:
  python -m training.studies.search_strength
  python -m training.studies.search_strength runs/strength.toml
      another table, from a copy of the study's config.toml with other values
"""


@dataclass(frozen=True)
class StrengthConfig:
    """One table."""

    rules: str
    opponent: str
    worlds: tuple[int, ...]  # one row each
    deals: int  # distinct deals, each played once per seat
    seed: int

    def __post_init__(self) -> None:
        if not self.worlds:
            raise PapluError("worlds=[]: give at least one budget")


@dataclass(frozen=True)
class Row:
    """One budget."""

    worlds: int
    win_rate: float
    win_rate_interval: Interval
    points: float  # per deal
    points_interval: Interval
    adjusted: float | None  # the same without most of the luck, see `evaluation.draw_luck`
    adjusted_interval: Interval | None
    milliseconds: float  # of processor time per decision, the base's included


class _Timed(SearchAgent):
    """A search that notes what its decisions cost."""

    decisions = 0
    seconds = 0.0

    def _choose(self, views: Views, masks: Masks, keys: Keys) -> Actions:
        start = time.thread_time()
        actions = super()._choose(views, masks, keys)
        self.seconds += time.thread_time() - start
        self.decisions += len(views)
        return actions


def measure(config: StrengthConfig) -> list[Row]:
    """Play the matches, the smallest budget first, and print each row as it is there."""
    play_match(
        SearchAgent(config.rules, worlds=1), config.opponent, deals=2, rules=config.rules
    )  # compiles the kernels
    rows = []
    for worlds in sorted(config.worlds):
        agent = _Timed(config.rules, worlds=worlds)
        result = play_match(agent, config.opponent, deals=config.deals, seed=config.seed, rules=config.rules)
        rows.append(
            Row(
                worlds,
                result.win_rate,
                result.win_rate_interval,
                result.points_per_deal,
                result.points_interval,
                result.adjusted_points,
                result.adjusted_interval,
                1000 * agent.seconds / agent.decisions,
            )
        )
        print(_cells(rows[-1]), flush=True)
    return rows


def table(config: StrengthConfig, rows: list[Row], command: str) -> str:
    """The table in Markdown."""
    deals = f"{config.deals:,} duplicate deals from seed {config.seed}"
    title = f"`search` against `{config.opponent}`, {config.rules}, {deals}; made by `{command}`"
    head = (
        "| worlds | games won | points per deal | the same, luck taken out | ms per decision |\n|---|---|---|---|---|"
    )
    return "\n".join([title, "", head, *map(_cells, rows)]) + "\n"


def _cells(row: Row) -> str:
    low, high = row.win_rate_interval
    adjusted = "–" if row.adjusted is None else _points(row.adjusted, row.adjusted_interval)
    won = f"{row.win_rate:.1%} ({low:.1%} … {high:.1%})"
    return (
        f"| {row.worlds} | {won} | {_points(row.points, row.points_interval)} | {adjusted} | {row.milliseconds:.1f} |"
    )


def _points(mean: float, interval: Interval | None) -> str:
    return f"{mean:+.2f}" + ("" if interval is None else f" ({interval[0]:+.2f} … {interval[1]:+.2f})")


def _load_figure() -> Any:
    """The class of the plot.

    Raises:
        PapluError: matplotlib isn't installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise PapluError("the plot needs matplotlib: pip install 'paplu-env[report]'") from error
    return Figure


def draw(config: StrengthConfig, rows: list[Row], path: Path) -> None:
    """Points per deal over the number of worlds, with intervals, as SVG.

    Raises:
        PapluError: matplotlib isn't installed.
    """
    figure = _load_figure()(figsize=(5, 3.2), layout="constrained")
    axes = figure.subplots()
    for label, shift, told in (
        ("as played", 0.97, [(row.points, row.points_interval) for row in rows]),
        ("luck taken out", 1.03, [(row.adjusted, row.adjusted_interval) for row in rows]),
    ):
        shown = [
            (row.worlds * shift, mean, ends)
            for row, (mean, ends) in zip(rows, told, strict=True)
            if mean is not None and ends is not None
        ]
        if shown:
            means = [mean for _, mean, _ in shown]
            spread = [[mean - ends[0] for _, mean, ends in shown], [ends[1] - mean for _, mean, ends in shown]]
            axes.errorbar([place for place, _, _ in shown], means, yerr=spread, fmt="o", capsize=3, label=label)
    axes.set_xscale("log", base=2)
    axes.set_xticks([row.worlds for row in rows], [str(row.worlds) for row in rows])
    axes.axhline(0, color="grey", linewidth=0.8)
    axes.set_xlabel("worlds per decision")
    axes.set_ylabel(f"points per deal against {config.opponent}")
    axes.legend()
    figure.savefig(path, format="svg")


def main(arguments: list[str] | None = None) -> int:
    """Play, and write the table, the numbers and the plot beside the configuration.

    Returns:
        0 when the files are written, 2 if they can't be had as asked.
    """
    parser = argparse.ArgumentParser(
        prog="python -m training.studies.search_strength",
        description=__doc__,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("config", type=Path, nargs="?", default=CONFIG, help="TOML file (the study's config.toml)")
    parser.add_argument("--force", action="store_true", help="write over a file that this command did not write")
    options = parser.parse_args(arguments)
    try:
        config = load(options.config, StrengthConfig)
        _load_figure()  # before the hours of the matches
        check_target(result_path(options.config, ".json"), r'\{\s*"config": \{\s*"rules"', options.force)
        check_target(result_path(options.config, ".md"), r"`search` against `", options.force)
        if not result_path(options.config, ".json").exists():  # else the picture is that study's
            check_target(result_path(options.config, ".svg"), None, options.force)
        rows = measure(config)
        command = "python -m training.studies.search_strength"
        if options.config != CONFIG:
            command += f" {options.config}"
        data = {"config": asdict(config), "rows": [asdict(row) for row in rows]}
        told = table(config, rows, command).encode()
        write_together({result_path(options.config, ".json"): to_json(data), result_path(options.config, ".md"): told})
        draw(config, rows, result_path(options.config, ".svg"))
    except PapluError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0
