"""``paplu bench``: how fast each part runs on this machine, compilation outside the clock."""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Final

import gymnasium
import numpy as np

import paplu_env
from paplu_env import encoding, engine, melds
from paplu_env.bots import make_policy
from paplu_env.cli.bench_hands import HAND_KINDS, make_hands
from paplu_env.cli.options import add_json, add_seed, format_table, need, print_json, whole_number
from paplu_env.engine.chance import keys_for
from paplu_env.engine.playout import random_actions
from paplu_env.engine.state import OVER
from paplu_env.evaluation import play_match
from paplu_env.rules import RuleSet, parse_rules, preset

EXAMPLES = """\
Each row is measured in several rounds, all rows in turn, and shows the median round and the best one; the machine's
other work shows as the distance between them. The first row is a fixed loop that uses nothing of this package: divide
by it to compare machines or days.

examples:
  paplu bench
  paplu bench --only solver --rounds 9
  paplu bench --json > bench.json"""

BATCH: Final = 4096  # hands per call of a solver row
_MATCH_DEALS: Final = 1000  # distinct deals of a bots row, each played twice
PARTS: Final = ("solver", "engine", "encoding", "envs", "bots")


@dataclass(frozen=True)
class Row:
    """One thing to measure: ``work()`` does ``count`` units of it."""

    part: str
    name: str
    unit: str
    count: int
    work: Callable[[], object]


@dataclass(frozen=True)
class Timing:
    """Seconds a unit, and units a second in the median round."""

    part: str
    name: str
    unit: str
    microseconds: float
    best_microseconds: float
    per_second: float


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", choices=PARTS, action="append", help="measure this part (may be given again)")
    parser.add_argument("--rounds", type=whole_number(1, 1000), default=5, metavar="N", help="rounds of each row (5)")
    add_seed(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    need(not os.environ.get("NUMBA_DISABLE_JIT"), "NUMBA_DISABLE_JIT is set: plain Python would be measured")
    rows = [_calibration()]
    parts: dict[str, Callable[[int], list[Row]]] = {
        "solver": _solver_rows,
        "engine": _engine_rows,
        "encoding": _encoding_rows,
        "envs": _env_rows,
        "bots": _bot_rows,
    }
    for part in PARTS:
        if part in (options.only or PARTS):
            rows += parts[part](options.seed)
    timings = measure(rows, options.rounds)
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
        print_json({**about, "timings": [asdict(timing) for timing in timings]})
        return 0
    print(", ".join(f"{name} {value}" for name, value in about.items()))
    print("one thread; µs: median of the rounds for one unit, best: the fastest round\n")
    shown = [
        [t.part, t.name, t.unit, f"{t.microseconds:.3f}", f"{t.best_microseconds:.3f}", f"{t.per_second:,.0f}"]
        for t in timings
    ]
    print(format_table(shown, ["part", "what", "unit", "µs", "best", "a second"], right=(3, 4, 5)))
    return 0


def measure(rows: list[Row], rounds: int) -> list[Timing]:
    """Run every row once uncounted (compilation, caches), then all of them in turn, round after round."""
    for row in rows:
        row.work()
    seconds: list[list[float]] = [[] for _ in rows]
    for _ in range(rounds):
        for row, spent in zip(rows, seconds, strict=True):
            start = time.perf_counter()
            row.work()
            spent.append((time.perf_counter() - start) / row.count)
    return [
        Timing(
            row.part, row.name, row.unit, 1e6 * statistics.median(spent), 1e6 * min(spent), 1 / statistics.median(spent)
        )
        for row, spent in zip(rows, seconds, strict=True)
    ]


def _calibration() -> Row:
    """A sort that depends on the machine alone."""
    numbers = np.random.Generator(np.random.PCG64(0)).random(100_000)
    return Row("machine", "np.sort of 100,000 doubles", "number", len(numbers), lambda: np.sort(numbers, kind="stable"))


# Solver: hands of each kind, in batches.


def _solver_rows(seed: int) -> list[Row]:
    rules = preset("points")
    rows = []
    for kind in HAND_KINDS:
        hands13, wild13 = make_hands(kind, 13, BATCH, seed)
        hands14, wild14 = make_hands(kind, 14, BATCH, seed)
        kernels = (
            ("points, 13 cards", melds.point_counts, hands13, wild13),
            ("deadwood, 13 cards", melds.deadwoods, hands13, wild13),
            ("declarable, 14 cards", melds.declarables, hands14, wild14),
            ("distance, 13 cards", melds.distances, hands13, wild13),
            ("distance after each of 14 discards", melds.discard_distances, hands14, wild14),
        )
        rows += [
            Row("solver", f"{name}: {kind}", "hand", BATCH, partial(function, hands, wilds, rules))
            for name, function, hands, wilds in kernels
        ]
    return rows


# Engine, encodings, environments, bots.


def _engine_rows(seed: int) -> list[Row]:
    rows = []
    for name in ("points", "points:drop_allowed=false", "saha2025:drop_allowed=false"):
        rules = parse_rules(name)
        decisions, _ = engine.random_playouts(rules, 1000, seed)
        work = partial(engine.random_playouts, rules, 1000, seed)
        rows.append(Row("engine", f"random legal play with masks, {name}", "decision", decisions, work))
    rules = preset("points")
    seeds = np.arange(seed, seed + BATCH, dtype=np.uint64)
    rows.append(Row("engine", "deal", "deal", BATCH, partial(engine.deal_many, rules, seeds)))
    return rows


def _encoding_rows(seed: int) -> list[Row]:
    rules = parse_rules("points:drop_allowed=false")
    views = _middle_views(rules, seed)
    rows = []
    for name in ("cards-v1", "features-v1"):
        chosen = encoding.get(name)
        out = np.empty((len(views), chosen.num_features(rules)), np.float32)
        rows.append(Row("encoding", name, "view", len(views), partial(chosen.encode, views, rules, out=out)))
    return rows


def _middle_views(rules: RuleSet, seed: int) -> np.ndarray:
    """Views of seats to move, some turns into deals between two ``mindist_opp``."""
    policy = make_policy("mindist_opp", rules)
    states = engine.deal_many(policy.rules, np.arange(seed, seed + BATCH, dtype=np.uint64))
    kept = []
    for decision in range(12):
        seats = np.maximum(states["current_player"], 0)
        views = engine.player_views(states, seats)
        live = states["phase"] != OVER
        kept.append(views[live][decision::12])
        actions = np.full(len(states), -1, np.int64)
        keys = keys_for(seed, np.flatnonzero(live), seats[live], decision)
        actions[live] = policy.act(views[live], engine.legal_action_masks(states, policy.rules)[live], keys)
        engine.apply_actions(states, actions, policy.rules)
    return np.concatenate(kept)


def _env_rows(seed: int) -> list[Row]:
    rows = [_vector_row("cards-v1", 1024, 50, seed), _vector_row("features-v1", 1024, 10, seed)]
    env = gymnasium.make("Paplu-v0", opponent="random", encoding="cards-v1", illegal_action="raise")
    env.reset(seed=seed)
    steps = 2000
    random = np.random.Generator(np.random.PCG64(seed))

    def play() -> None:
        _, info = env.reset()
        for _ in range(steps):
            action = random.choice(np.flatnonzero(info["action_mask"]))
            _, _, terminated, truncated, info = env.step(action)
            if terminated or truncated:
                _, info = env.reset()

    rows.append(Row("envs", "single env, cards-v1, random play", "step", steps, play))
    return rows


def _vector_row(name: str, num_envs: int, steps: int, seed: int) -> Row:
    """Random legal play in the native vector environment; decisions of both sides are counted."""
    envs = gymnasium.make_vec(
        "Paplu-v0",
        num_envs=num_envs,
        vectorization_mode="vector_entry_point",
        opponent="random",
        encoding=name,
        illegal_action="raise",
        copy=False,
    )
    _, info = envs.reset(seed=seed)
    masks = [np.array(info["action_mask"])]
    games = np.arange(num_envs)

    def play() -> None:
        for step in range(steps):
            actions = random_actions(masks[0], keys_for(seed, games, 0, step))
            _, _, _, _, step_info = envs.step(actions)
            masks[0] = step_info["action_mask"]

    # The opponent moves about as often as the learner: with random play on both sides every learner's
    # decision is followed by one of the opponent's, so a step is two decisions.
    return Row("envs", f"vector env of {num_envs}, {name}, random play", "decision", 2 * num_envs * steps, play)


def _bot_rows(seed: int) -> list[Row]:
    rows = []
    for name in ("minscore", "mindist", "mindist_opp"):
        bot = make_policy(name, "points:drop_allowed=false")
        work = partial(play_match, bot, bot, deals=_MATCH_DEALS, seed=seed, rules=bot.rules)
        rows.append(Row("bots", f"{name} against itself, no drops", "deal", 2 * _MATCH_DEALS, work))
    return rows


def _processor() -> str:
    """Model name of the processor where the system tells it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")
    except OSError:
        return platform.processor() or "unknown"
