"""``paplu bench``: how fast each part runs on this machine, compilation outside the clock."""

from __future__ import annotations

import argparse
import os
import platform
import statistics
from dataclasses import asdict, dataclass

import numpy as np

import paplu_env
from paplu_env.cli.bench.instructions import count_instructions
from paplu_env.cli.bench.rows import PARTS, SOLVERS, Row, calibration
from paplu_env.cli.bench.worst import Spread, Worst, find_worst, spread_of
from paplu_env.cli.options import add_json, add_seed, format_table, need, print_json, progress_printer, whole_number

EXAMPLES = """\
Each row is measured in several rounds, all rows in turn, and shows the median round and the best one. What is counted
is the time that one thread spends; the machine's other work still shows as the distance between the two. The first
row is a fixed loop that depends on the processor's clock alone. The column "ratio" is the median divided by that row's,
to compare machines or days. The bars are those that the project holds itself to on one thread of a current server core.
The solver's rows ask 4,096 hands at once, the checks of each hand included; "p50" and so on are times of single
hands, and the part "worst" searches for the slowest ones.

examples:
  paplu bench
  paplu bench --only solver --rounds 9
  paplu bench --only worst
  paplu bench --json > bench.json"""

WORST = "worst"  # the search for slow hands, beside the parts that have rows


@dataclass(frozen=True)
class Timing:
    """Microseconds per unit, in the median round and in the best, and what follows from them."""

    part: str
    name: str
    unit: str
    microseconds: float
    best_microseconds: float
    per_second: float
    ratio: float  # microseconds in units of the calibration's
    bar_microseconds: float | None
    is_met: bool | None
    instructions: float | None  # per unit, where the machine counts them
    single_hands: Spread | None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    choices = (*PARTS, WORST)
    parser.add_argument("--only", choices=choices, action="append", help="measure this part (may be given again)")
    parser.add_argument("--rounds", type=whole_number(1, 1000), default=5, metavar="N", help="rounds of each row (5)")
    add_seed(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    need(not os.environ.get("NUMBA_DISABLE_JIT"), "NUMBA_DISABLE_JIT is set: plain Python would be measured")
    chosen = options.only or [*PARTS, WORST]
    rows = [calibration()]
    for part, make_rows in PARTS.items():
        if part in chosen:
            rows += make_rows(options.seed)
    timings = measure(rows, options.rounds)
    worst = _search(options.seed) if WORST in chosen else []
    about = {
        "paplu_env": paplu_env.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "machine": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "rounds": options.rounds,
        "seed": options.seed,
    }
    if options.json:
        print_json({**about, "timings": [asdict(t) for t in timings], "worst": [asdict(found) for found in worst]})
        return 0
    print(", ".join(f"{name} {value}" for name, value in about.items()))
    print("one thread's own time; µs: median of the rounds for one unit, best: the fastest round\n")
    print(_timings_table(timings))
    if worst:
        print("\nslowest hands that a search met (`paplu solve HAND --wild RANK` shows them)\n")
        print(_worst_table(worst))
    if all(timing.instructions is None for timing in timings):
        print("\ninstructions: not available here (Linux and a processor whose counters may be read are needed)")
    return 0


def measure(rows: list[Row], rounds: int) -> list[Timing]:
    """Run every row once uncounted (compilation, caches), then all of them in turn, round after round."""
    show = progress_printer("measuring")
    total, done = len(rows) * (rounds + 2), 0
    seconds: list[list[float]] = [[] for _ in rows]
    for number in range(rounds + 1):
        for row, spent in zip(rows, seconds, strict=True):
            start = row.clock()
            row.work()
            if number > 0:
                spent.append((row.clock() - start) / row.count)
            done += 1
            if show:
                show(done, total)
    medians = {row.name: 1e6 * statistics.median(spent) for row, spent in zip(rows, seconds, strict=True)}
    timings = []
    for row, spent in zip(rows, seconds, strict=True):
        timings.append(_timing(row, medians, 1e6 * min(spent), medians[rows[0].name]))
        done += 1
        if show:
            show(done, total)
    return timings


def _timing(row: Row, medians: dict[str, float], best: float, unit: float) -> Timing:
    """A row's figures and what they are held against."""
    median = medians[row.name]
    bar = row.bar
    if bar is None and row.bar_times:
        times, other = row.bar_times
        bar = times * medians[other]
    instructions = count_instructions(row.work)
    return Timing(
        part=row.part,
        name=row.name,
        unit=row.unit,
        microseconds=median,
        best_microseconds=best,
        per_second=1e6 / median,
        ratio=median / unit,
        bar_microseconds=bar,
        is_met=None if bar is None else median <= bar,
        instructions=None if instructions is None else instructions / row.count,
        single_hands=spread_of(*row.asked) if row.asked else None,
    )


def _search(seed: int) -> list[Worst]:
    """The slowest hand for each question to the solver."""
    show = progress_printer("searching for slow hands")
    found = []
    for number, solver in enumerate(SOLVERS):
        found.append(find_worst(solver, seed))
        if show:
            show(number + 1, len(SOLVERS))
    return found


def _timings_table(timings: list[Timing]) -> str:
    header = ["part", "what", "unit", "µs", "best", "per second", "ratio", "bar", "", "p50", "p90", "p99", "instr."]
    shown = []
    for t in timings:
        spread = t.single_hands
        shown.append(
            [
                t.part,
                t.name,
                t.unit,
                _number(t.microseconds),
                _number(t.best_microseconds),
                f"{t.per_second:,.0f}",
                f"{t.ratio:,.1f}",
                "" if t.bar_microseconds is None else _number(t.bar_microseconds),
                "" if t.is_met is None else "met" if t.is_met else "not met",
                *(["", "", ""] if spread is None else [_number(p) for p in (spread.p50, spread.p90, spread.p99)]),
                "" if t.instructions is None else f"{t.instructions:,.0f}",
            ]
        )
    empty = [column for column in range(len(header)) if not any(row[column] for row in shown)]
    kept = [column for column in range(len(header)) if column not in empty]
    right = [place for place, column in enumerate(kept) if column in (3, 4, 5, 6, 7, 9, 10, 11, 12)]
    return format_table([[row[column] for column in kept] for row in shown], [header[c] for c in kept], right)


def _worst_table(worst: list[Worst]) -> str:
    shown = [
        [w.name, _number(w.microseconds), "" if w.instructions is None else f"{w.instructions:,.0f}", w.wild, w.hand]
        for w in worst
    ]
    return format_table(shown, ["what", "µs", "instr.", "wild", "hand"], (1, 2))


def _number(microseconds: float) -> str:
    """Microseconds with three decimals while they are few."""
    return f"{microseconds:.3f}" if microseconds < 100 else f"{microseconds:,.0f}"


def _processor() -> str:
    """Model name of the processor where the system tells it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")
    except OSError:
        return platform.processor() or "unknown"
