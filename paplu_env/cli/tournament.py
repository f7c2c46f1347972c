"""``paplu tournament``: every bot against every other on the same deals, with ratings and a report."""

from __future__ import annotations

import argparse
import os

from paplu_env.cli.options import (
    add_force,
    add_json,
    add_policy_seed,
    need,
    print_json,
    progress_printer,
    seat_bots,
    whole_number,
)
from paplu_env.evaluation import Schedule, read_schedule, run_tournament
from paplu_env.evaluation.games import MAX_DEALS
from paplu_env.evaluation.report.text import to_dict, to_text
from paplu_env.evaluation.report.write import check_reports, write_reports

EXAMPLES = """\
All pairs play the same deals, each from both seats. The table gives, from the row's side:
  wins %   share of games won; games without a winner count as not won
  points   points per deal, plus or minus the half-width of the 95 % interval
  adj.     the same less the luck of the draws: the same mean, known more narrowly
  rating   Bradley-Terry, 400 = odds of ten to one; it knows games, not points: read both

With --out the games are kept in DIR as they are played: the same command goes on where a killed one
ended. DIR then holds results.json, results.md and report.html, a page that can be sent to anybody.
--until 0.5 stops a pair once its points per deal are known within ±0.5; --deals is then the most it plays.

examples:
  paplu tournament minscore mindist mindist_opp --deals 2000
  paplu tournament mindist_opp policies/NAME.onnx medium --rules points:drop_allowed=false --until 0.5
  paplu tournament minscore mindist --rules points --rules saha2025 --out runs/two_tables
  paplu tournament training/studies/saha2025/config.toml --out runs/saha2025    # the published table, in minutes"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", nargs="+", metavar="WHAT", help="a config (NAME.toml), or two or more bots")
    parser.add_argument("--deals", type=whole_number(2, MAX_DEALS), metavar="N", help="distinct deals per pair (2000)")
    parser.add_argument("--seed", type=whole_number(0, 2**64 - 1), metavar="N", help="seed of the deals (0)")
    add_policy_seed(parser)
    parser.add_argument(
        "--rules",
        action="append",
        metavar="RULES",
        help="a preset, with overrides; may be given several times (default: what an exported bot was trained for, "
        "otherwise points)",
    )
    parser.add_argument(
        "--until",
        type=float,
        metavar="POINTS",
        help="stop a pair once the 95 %% half-width of its points per deal is down to POINTS",
    )
    parser.add_argument(
        "--workers",
        type=whole_number(1, 256),
        default=os.cpu_count() or 1,
        metavar="N",
        help="threads that play; the result doesn't depend on it (all cores)",
    )
    parser.add_argument("--out", metavar="DIR", help="run folder, which keeps the games and gets the reports")
    add_force(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    schedule = _schedule(options)
    if options.out:
        check_reports(options.out, options.force)
    result = run_tournament(schedule, options.out, options.workers, progress_printer("games"))
    if options.json:
        print_json(to_dict(result))
    else:
        print(to_text(result))
    if options.out:
        paths = write_reports(result, options.out)
        if not options.json:
            print(f"\nwritten: {', '.join(map(str, paths))}")
    return 0


def _schedule(options: argparse.Namespace) -> Schedule:
    """The schedule that the arguments name: a config with changes, or bots."""
    given = {
        "deals": options.deals,
        "seed": options.seed,
        "policy_seed": options.policy_seed,
        "until": options.until,
        "rules": None if options.rules is None else tuple(options.rules),
    }
    if options.what[0].endswith(".toml"):
        need(len(options.what) == 1, f"{options.what[0]}: a config names its bots itself; give it alone")
        return read_schedule(options.what[0], **given)
    chosen = {key: value for key, value in given.items() if value is not None}
    if options.rules is None:
        chosen["rules"] = (str(seat_bots(options.what, None)[0]),)
    return Schedule(policies=tuple(options.what), **chosen)
