"""What ``paplu bench`` measures, part by part, and how fast each is meant to be."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import gymnasium
import numpy as np
import numpy.typing as npt

from paplu_env import encoding, engine, melds
from paplu_env._jit import njit
from paplu_env.bots import make_policy
from paplu_env.cards import NUM_FACES
from paplu_env.cli.bench.hands import HAND_KINDS, make_hands
from paplu_env.engine.chance import keys_for
from paplu_env.engine.playout import random_actions
from paplu_env.engine.state import OVER
from paplu_env.evaluation import play_match
from paplu_env.melds.fast_distance.distance_table import Table, distance_table
from paplu_env.melds.fast_distance.outs_kernels import discard_outs_kernel, outs_kernel
from paplu_env.rules import RuleSet, parse_rules, preset

BATCH: Final = 4096  # hands per call of a solver row
# The time that this thread spends, where it is known finely: other processes' work then counts for little.
CLOCK: Final = time.thread_time if time.get_clock_info("thread_time").resolution < 1e-6 else time.perf_counter
_STEPS: Final = 1_000_000  # of the calibrating loop
_MATCH_DEALS: Final = 1000  # distinct deals of a bots row, each played twice

Hands = npt.NDArray[np.uint8]  # (B, 53)
Wilds = npt.NDArray[np.int64]  # (B,)


@dataclass(frozen=True)
class Row:
    """One thing to measure: ``work()`` does ``count`` units of it."""

    part: str
    name: str
    unit: str
    count: int
    work: Callable[[], object]
    bar: float | None = None  # µs per unit that it should not exceed
    bar_times: tuple[float, str] | None = None  # the same, as a multiple of another row's figure
    asked: tuple[Solver, Hands, Wilds] | None = None  # of a solver's row: what is asked of which hands
    clock: Callable[[], float] = CLOCK  # wall time for work on several threads


@dataclass(frozen=True)
class Solver:
    """A question to the solver, asked of a whole batch of hands by one call, and its hands."""

    name: str
    ask: Callable[[Hands, Wilds, RuleSet], object]
    size: int  # cards of a hand
    # Bars in µs by kind of hands; for the hard kinds, wild-heavy and near-complete, `hard` times the dense figure.
    bars: dict[str, float]
    hard: float


def calibration() -> Row:
    """A loop that depends on the processor's clock alone: every step waits for the one before."""
    return Row("machine", "calibration: one xorshift step", "step", _STEPS, partial(_xorshift, _STEPS))


@njit
def _xorshift(steps: int) -> int:
    word = 88172645463325252
    for _ in range(steps):
        word ^= (word & 0x3FFFFFFFFFFFF) << 13
        word ^= word >> 7
        word ^= (word & 0x3FFFFFFFFFFF) << 17
    return word


# Solver. The bars include the API's checks of every hand.


def _ask_outs(hands: Hands, wilds: Wilds, rules: RuleSet) -> object:
    found = np.empty_like(hands)
    _outs_rows(hands, wilds, rules.packed, distance_table(), found)
    return found


def _ask_discard_outs(hands: Hands, wilds: Wilds, rules: RuleSet) -> object:
    found = np.empty_like(hands)
    _discard_outs_rows(hands, wilds, rules.packed, distance_table(), found)
    return found


@njit
def _outs_rows(hands: Hands, wilds: Wilds, rules: Any, table: Table, found: Hands) -> None:
    """Outs of hands whose player has seen nothing else."""
    unseen = np.empty(NUM_FACES, dtype=np.uint8)
    for row in range(len(hands)):
        for face in range(NUM_FACES):
            unseen[face] = 2 - int(hands[row, face])
        outs_kernel(hands[row], int(wilds[row]), unseen, rules[0], table, found[row])


@njit
def _discard_outs_rows(hands: Hands, wilds: Wilds, rules: Any, table: Table, found: Hands) -> None:
    """Outs after each good discard, as `_outs_rows`."""
    unseen = np.empty(NUM_FACES, dtype=np.uint8)
    distances = np.empty(NUM_FACES, dtype=np.uint8)
    for row in range(len(hands)):
        for face in range(NUM_FACES):
            unseen[face] = 2 - int(hands[row, face])
        discard_outs_kernel(hands[row], int(wilds[row]), unseen, rules[0], table, distances, found[row])


SOLVERS: Final = (
    Solver("points, 13 cards", melds.point_counts, 13, {"random": 0.25, "dense": 0.7}, 4),
    Solver("deadwood, 13 cards", melds.deadwoods, 13, {"random": 0.375, "dense": 1.05}, 4),
    Solver("declarable, 14 cards", melds.declarables, 14, {"from play": 0.35}, 7),
    Solver("distance, 13 cards", melds.distances, 13, {"random": 0.9, "dense": 0.9, "from play": 0.9}, 4),
    Solver(
        "distance after each of 14 discards",
        melds.discard_distances,
        14,
        {"random": 6.0, "dense": 6.0, "from play": 6.0},
        4,
    ),
    Solver("outs, 13 cards", _ask_outs, 13, {}, 4),
    Solver("outs after each of 14 discards", _ask_discard_outs, 14, {}, 4),
)


def solver_rows(seed: int) -> list[Row]:
    """Every question about hands of every kind, in batches."""
    rules = preset("points")
    hands = {(kind, size): make_hands(kind, size, BATCH, seed) for kind in HAND_KINDS for size in (13, 14)}
    rows = []
    for solver in SOLVERS:
        for kind in HAND_KINDS:
            counts, wilds = hands[kind, solver.size]
            is_hard = kind in ("wild-heavy", "near-complete")
            rows.append(
                Row(
                    "solver",
                    f"{solver.name}: {kind}",
                    "hand",
                    BATCH,
                    partial(solver.ask, counts, wilds, rules),
                    bar=solver.bars.get(kind),
                    bar_times=(solver.hard, f"{solver.name}: dense") if is_hard else None,
                    asked=(solver, counts, wilds),
                )
            )
    return rows


# Engine, encodings, environments, bots.


def engine_rows(seed: int) -> list[Row]:
    rows = []
    for name in ("points", "points:drop_allowed=false", "saha2025:drop_allowed=false"):
        rules = parse_rules(name)
        decisions, _ = engine.random_playouts(rules, 1000, seed)
        work = partial(engine.random_playouts, rules, 1000, seed)
        rows.append(Row("engine", f"random legal play with masks, {name}", "decision", decisions, work, _rate(3e6)))
    rules = preset("points")
    seeds = np.arange(seed, seed + BATCH, dtype=np.uint64)
    rows.append(Row("engine", "deal", "deal", BATCH, partial(engine.deal_many, rules, seeds)))
    return rows


def encoding_rows(seed: int) -> list[Row]:
    rules = parse_rules("points:drop_allowed=false")
    views = _middle_views(rules, seed)
    rows = []
    for name in ("cards-v1", "features-v1"):
        chosen = encoding.by_name(name)
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


def env_rows(seed: int) -> list[Row]:
    rows = [_vector_row("cards-v1", 1024, 50, seed, 2e6), _vector_row("features-v1", 1024, 10, seed, 50e3)]
    rows += [_vector_row("features-v1", 1024, 10, seed, None, threads) for threads in (1, 2)]
    env = gymnasium.make("Paplu-v0", opponent="random", encoding="cards-v1", illegal_action="raise")
    env.reset(seed=seed)
    steps = 2000
    keys = keys_for(seed, 0, 0, np.arange(steps))

    def play() -> None:
        _, info = env.reset()
        for step in range(steps):
            action = random_actions(info["action_mask"][None], keys[step : step + 1])[0]
            _, _, terminated, truncated, info = env.step(action)
            if terminated or truncated:
                _, info = env.reset()

    rows.append(Row("envs", "single env, cards-v1, random play", "step", steps, play, _rate(50e3)))
    return rows


def _vector_row(
    name: str, num_envs: int, steps: int, seed: int, per_second: float | None, threads: int | None = None
) -> Row:
    """Random legal play in the native vector environment; decisions of both sides are counted.

    Args:
        per_second: the bar, None for a row without one.
        threads: if given, wall time on this many threads is measured.
    """
    envs = gymnasium.make_vec(
        "Paplu-v0",
        num_envs=num_envs,
        vectorization_mode="vector_entry_point",
        opponent="random",
        encoding=name,
        illegal_action="raise",
        copy=False,
        threads=threads or 1,
    )
    _, info = envs.reset(seed=seed)
    masks = [np.array(info["action_mask"])]
    keys = [keys_for(seed, np.arange(num_envs), 0, step) for step in range(steps)]

    def play() -> None:
        for step in range(steps):
            actions = random_actions(masks[0], keys[step])
            _, _, _, _, step_info = envs.step(actions)
            masks[0] = step_info["action_mask"]

    # The opponent moves about as often as the learner: with random play on both sides every learner's
    # decision is followed by one of the opponent's, so a step is two decisions.
    name = f"vector env of {num_envs}, {name}, random play"
    clock = CLOCK
    if threads is not None:
        name, clock = f"the same, wall time on {threads} thread{'s' if threads > 1 else ''}", time.perf_counter
    bar = None if per_second is None else _rate(per_second)
    return Row("envs", name, "decision", 2 * num_envs * steps, play, bar, clock=clock)


def bot_rows(seed: int) -> list[Row]:
    rows = []
    for name in ("minscore", "mindist", "mindist_opp"):
        bot = make_policy(name, "points:drop_allowed=false")
        work = partial(play_match, bot, bot, deals=_MATCH_DEALS, seed=seed, rules=bot.rules, luck=False)
        bar = _rate(2000) if name == "mindist_opp" else None
        rows.append(Row("bots", f"{name} against itself, no drops", "deal", 2 * _MATCH_DEALS, work, bar))
    return rows


PARTS: Final[dict[str, Callable[[int], list[Row]]]] = {
    "solver": solver_rows,
    "engine": engine_rows,
    "encoding": encoding_rows,
    "envs": env_rows,
    "bots": bot_rows,
}


def _rate(per_second: float) -> float:
    """A bar in units a second as µs."""
    return 1e6 / per_second
