"""What each part of the training recipe brings: ``python -m training.studies.ablation`` trains with and without it.

Every variant changes a few keys of one base configuration. All of them begin with the same weights, cloned once,
unless their change is not to clone, and learn for the same number of decisions with each of the same seeds; then the
networks of the end, whatever their matches said on the way, play the same fresh deals against fixed bots. The table
gives points per deal with the interval over seeds and deals together: two seeds may differ by luck of learning as much
as by the change.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from paplu_env.errors import PapluError
from paplu_env.evaluation import play_match
from paplu_env.files import check_target, write_atomically, write_json
from training.learn.config import InvalidConfig, TrainConfig, load, load_config
from training.learn.opponents import NetworkPolicy
from training.learn.weights import load_weights
from training.run.folder import RunFolder
from training.run.interrupt import exit_status, signals_stop
from training.run.training_loop import train
from training.studies.results import result_path

_CLONED: Final = "clone.decisions"  # a variant sets it to 0 to begin with random weights
_Z: Final = 1.96  # of a 95 % interval
CONFIG: Final = Path(__file__).with_name("config.toml")

_EPILOG: Final = """\
result.md and result.json are written beside the plan, for a copy NAME.toml NAME.md and NAME.json. The study's own plan
takes about 50 minutes of one core.

examples:
  python -m training.studies.ablation --out runs/ablation
  python -m training.studies.ablation --out runs/ablation --resume
      runs that are finished are kept, those under way go on
"""


@dataclass(frozen=True)
class Plan:
    """What an ablation's file says."""

    base: str  # path of the configuration that is changed, from the plan's folder
    decisions: int  # that each variant learns for, cloning apart
    seeds: tuple[int, ...]
    opponents: tuple[str, ...]  # of the final matches
    deals: int  # of each final match
    deal_seed: int
    changes: dict[str, Any]  # to the base in all variants, by dotted name
    variants: dict[str, dict[str, Any]]  # further changes

    def __post_init__(self) -> None:
        if not self.variants or not self.seeds or not self.opponents:
            raise InvalidConfig("an ablation needs variants, seeds and opponents, at least one of each")
        for name, changes in self.variants.items():
            if not isinstance(changes, dict):
                raise InvalidConfig(f"variants.{name}={changes!r}: must be a table of changes, [variants.{name}]")
        if len(set(self.seeds)) < len(self.seeds):
            raise InvalidConfig(f"seeds={list(self.seeds)}: the same seed twice is one run, not two")
        if self.decisions < 1 or self.deals < 2:
            raise InvalidConfig(f"decisions={self.decisions}, deals={self.deals}: at least one decision and two deals")


def changed(base: TrainConfig, changes: dict[str, Any]) -> TrainConfig:
    """A configuration with other values, by dotted names.

    Raises:
        InvalidConfig: a key that doesn't exist, or values that contradict.
    """
    values = base.to_dict()
    for key, value in changes.items():
        *tables, name = key.split(".")
        part = values
        for table in tables:
            if not isinstance(part.get(table), dict):
                raise InvalidConfig(f"unknown key {key!r}: there is no table {table!r}")
            part = part[table]
        part[name] = value
    return TrainConfig.from_dict(values)


def ablate(plan: Plan, base: TrainConfig, out: Path, resume: bool) -> list[dict[str, Any]]:
    """Train and measure every variant; a row each, ready for JSON.

    Raises:
        PapluError: as `train` does.
    """
    rows = []
    configs = {}
    base = changed(base, plan.changes)
    for name, changes in plan.variants.items():
        both = {"ppo.timesteps": plan.decisions, _CLONED: 0, "minutes": 0.0, "evaluation.every": 1_000_000}
        for seed in plan.seeds:
            configs[name, seed] = changed(base, {**both, "seed": seed, "name": f"{name}-{seed}", **changes})
    starts: dict[str, Path | None] = {}
    for (name, seed), config in configs.items():
        is_cloned = base.clone.decisions > 0 and plan.variants[name].get(_CLONED) != 0
        shape = str(config.network) if is_cloned else ""
        if shape not in starts:
            starts[shape] = _cloned(config, base, out / f"start-{len(starts)}") if is_cloned else None
        folder = out / config.name
        if not (resume and RunFolder(folder).holds_run):
            train(config, folder, start_from=starts[shape])
        else:
            train(config, folder, resume=True)
        print(f"trained {name}, seed {seed}", flush=True)
    rules = base.main_rules
    for name, changes in plan.variants.items():
        row: dict[str, Any] = {"variant": name, "changes": changes}
        for opponent in plan.opponents:
            results = []
            for seed in plan.seeds:
                net, _ = load_weights(RunFolder(out / f"{name}-{seed}").last, base.encoding, rules)
                player = NetworkPolicy(f"{name}-{seed}", net, base.encoding, rules)
                results.append(play_match(player, opponent, deals=plan.deals, seed=plan.deal_seed, rules=rules))
            row[opponent] = _together([result.to_dict() for result in results])
            print(
                f"{name} against {opponent}: {row[opponent]['points']:+.2f} ± {row[opponent]['error']:.2f}", flush=True
            )
        rows.append(row)
    return rows


def _cloned(config: TrainConfig, base: TrainConfig, folder: Path) -> Path:
    """A folder with the cloned weights that runs of this network begin with."""
    if not RunFolder(folder).best.exists():
        # The learner goes with the network: without a critic that sees hidden cards it may not look ahead.
        own = {key: value for key, value in config.to_dict().items() if key in ("network", "ppo")}
        plain = TrainConfig.from_dict({**base.to_dict(), **own, "minutes": 0.0, "name": folder.name})
        train(changed(plain, {"ppo.timesteps": 0}), folder, resume=RunFolder(folder).holds_run)
    return folder


def _together(results: list[dict[str, Any]]) -> dict[str, Any]:
    """The mean over seeds, and half of its interval: from the deals' spread and from that between the seeds."""
    points = [result["points_per_deal"] for result in results]
    mean = sum(points) / len(points)
    by_deals = math.sqrt(sum(((r["points_interval"][1] - r["points_interval"][0]) / 2) ** 2 for r in results))
    between = math.sqrt(sum((p - mean) ** 2 for p in points) / max(len(points) - 1, 1) / len(points))
    return {
        "points": round(mean, 2),
        "error": round(max(by_deals / len(points), _Z * between), 2),
        "win_rate": round(sum(result["win_rate"] for result in results) / len(results), 4),
        "by_seed": [round(p, 2) for p in points],
    }


def as_markdown(plan: Plan, rows: list[dict[str, Any]], command: str) -> str:
    """The table, as it goes into a document."""
    head = " | ".join(f"against {name}" for name in plan.opponents)
    lines = [
        "# What each part of the recipe brings",
        "",
        f"Made by `{command}`: {plan.decisions:,} decisions from the same cloned weights, seeds "
        f"{', '.join(map(str, plan.seeds))}; then {plan.deals:,} duplicate deals (seed {plan.deal_seed}) against each "
        "bot. Points per deal, mean over the seeds, ± half of a 95 % interval: the wider of what the deals and what "
        "the seeds say. Win rates in brackets.",
        "",
        f"| variant | changes | {head} |",
        f"|---|---|{'---|' * len(plan.opponents)}",
    ]
    for row in rows:
        changes = ", ".join(f"`{key} = {value}`" for key, value in row["changes"].items()) or "none: the recipe"
        cells = (
            f"{row[name]['points']:+.2f} ± {row[name]['error']:.2f} ({row[name]['win_rate']:.1%})"
            for name in plan.opponents
        )
        lines.append(f"| {row['variant']} | {changes} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """The command line.

    Returns:
        0 when the table is written, 2 if it can't be had as asked, 128 plus the signal's number
        after Ctrl-C, SIGTERM or SIGHUP.
    """
    parser = argparse.ArgumentParser(
        prog="python -m training.studies.ablation",
        description=__doc__,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("plan", type=Path, nargs="?", default=CONFIG, help="TOML file (the study's config.toml)")
    parser.add_argument("--out", type=Path, default=Path("runs/ablation"), help="folder of the runs (runs/ablation)")
    parser.add_argument("--resume", action="store_true", help="keep what is finished and go on")
    parser.add_argument("--force", action="store_true", help="write over a file that this command did not write")
    given = parser.parse_args(arguments)
    try:
        plan = load(given.plan, Plan)
        check_target(result_path(given.plan, ".json"), r'\[\s*\{\s*"variant"', given.force)
        check_target(result_path(given.plan, ".md"), "# What each part of the recipe brings\n", given.force)
        base = load_config(given.plan.parent / plan.base)
        with signals_stop():
            rows = ablate(plan, base, given.out, given.resume)
        write_json(result_path(given.plan, ".json"), rows)
        command = "python -m training.studies.ablation" + (f" {given.plan}" if given.plan != CONFIG else "")
        text = as_markdown(plan, rows, command)
        write_atomically(result_path(given.plan, ".md"), text.encode())
    except PapluError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as error:
        print("stopped; go on with the same command and --resume", file=sys.stderr)
        return exit_status(error)
    print(text)
    return 0
