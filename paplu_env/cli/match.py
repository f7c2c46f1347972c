"""``paplu match A B``: two bots on the same deals with swapped seats, and how sure the result is."""

from __future__ import annotations

import argparse
import os

from paplu_env.cli.options import (
    add_json,
    add_match_rules,
    add_policy_seed,
    add_seed,
    print_json,
    progress_printer,
    seat_bots,
    whole_number,
)
from paplu_env.evaluation import play_match
from paplu_env.evaluation.games import MAX_DEALS

EXAMPLES = """\
Every deal is played once from each seat, so luck with the cards cancels. The intervals (95 %) treat a deal
and its swapped copy as one observation. "less the luck of draws" is the same figure, known more narrowly: what the
closed cards were worth beyond their average is taken off, which changes no mean.

examples:
  paplu match mindist_opp minscore --deals 2000 --rules saha2025:drop_allowed=false
  paplu match runs/demo/demo.onnx medium --record data/   # decisions as npz, for cloning and offline RL"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("a", metavar="A", help="a bot's name or the path of an exported network; results are A's")
    parser.add_argument("b", metavar="B", help="the other bot")
    parser.add_argument(
        "--deals",
        type=whole_number(1, MAX_DEALS),
        default=1000,
        metavar="N",
        help="distinct deals, each played twice (1000)",
    )
    parser.add_argument(
        "--threads",
        type=whole_number(1, 64),
        default=os.cpu_count() or 1,
        metavar="N",
        help="threads that play; the result doesn't depend on it (all cores)",
    )
    parser.add_argument(
        "--until",
        type=float,
        metavar="POINTS",
        help="stop once the 95 %% half-width of points per deal is down to POINTS; --deals is then the most played",
    )
    parser.add_argument("--record", metavar="DIR", help="write every decision to DIR as npz shards")
    add_match_rules(parser)
    add_seed(parser)
    add_policy_seed(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    rules, (a, b) = seat_bots([options.a, options.b], options.rules)
    result = play_match(
        a,
        b,
        deals=options.deals,
        seed=options.seed,
        rules=rules,
        threads=options.threads,
        record=options.record,
        progress=progress_printer(f"{options.a} against {options.b}"),
        until=options.until,
        policy_seed=options.policy_seed,
    )
    if options.json:
        print_json(result.to_dict())
    else:
        print(result)
        if options.record:
            print(f"\ndecisions written to {options.record}")
    return 0
