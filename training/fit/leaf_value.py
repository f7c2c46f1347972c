"""The value at which `search` cuts its play, fitted: ``python -m training.fit.leaf_value configs/search/fit.toml``.

The light player plays both seats, now and then at random so that odd hands are met too. The start of every turn is
told by both hands and the stock (`bots.search.leaf_features`), and a small network learns what the deal then brings to
the mover, less the luck of the draws that follow (`evaluation.draw_luck`), which would only be noise. Suits
are relabelled at random while it learns, since no rule tells them apart. The file says how it was made and how
much of the points' variance the value explains on deals that took no part.
"""

from __future__ import annotations

import argparse
import io
import itertools
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional

from paplu_env import engine
from paplu_env._jit import njit
from paplu_env.bots.fitted import USUAL_HANDS
from paplu_env.bots.search.leaf_features import NUM_FEATURES, NUM_PLANES, describe_kernel
from paplu_env.bots.search.leaf_value import Value, as_value
from paplu_env.bots.search.playout_policy import SCRATCH_ROWS, UNKNOWN, play_on
from paplu_env.bots.search.solver_cache import empty_solver_cache
from paplu_env.cards import NUM_FACES, NUM_RANKS, NUM_SUITS
from paplu_env.cli.streams import prepare_streams
from paplu_env.engine.actions import DISCARD_BASE, DRAW_CLOSED, TAKE_OPEN
from paplu_env.engine.arguments import as_seed
from paplu_env.engine.chance import draw_below, keys_for
from paplu_env.engine.legal import LEGAL, reason_kernel
from paplu_env.engine.state import OVER, States
from paplu_env.engine.transition import apply_kernel
from paplu_env.errors import PapluError
from paplu_env.evaluation.draw_luck import luck_of_draws
from paplu_env.files import check_target, write_atomically
from paplu_env.melds.fast_distance.distance_table import Table, distance_table
from paplu_env.rules import RuleSet, as_rules
from training.learn.config import load

_GAMES: Final = 4096  # deals played side by side
_SCALE: Final = 80.0  # points, the most that a deal brings; the network learns shares of it
_RATE: Final = 2e-3
_DECAY: Final = 1e-2  # of weights
_TEST_CHUNK: Final = 20_000  # positions evaluated at once


@dataclass(frozen=True)
class FitConfig:
    """One fit."""

    rules: str  # of the deals, two seats
    deals: int  # that are fitted
    test_deals: int  # that the explained variance is measured on
    noise: float  # share of turns with a random draw; every other of them also throws at random
    hidden: tuple[int, ...]  # units of the two layers
    epochs: int  # passes over the positions
    minibatch: int  # positions per step
    seed: int  # of the deals, the noise and the network


@dataclass(frozen=True)
class Positions:
    """Starts of turns."""

    features: npt.NDArray[np.float16]  # (N, NUM_FEATURES)
    points: npt.NDArray[np.float32]  # (N,), what the deal brought to the seat that was to move
    steady: npt.NDArray[np.float32]  # (N,), the same less the luck of the draws from then on


def fit(config: FitConfig) -> tuple[Value, dict[str, float]]:
    """The value, and the shares of the variance that it explains: of the points, and of what isn't luck.

    Raises:
        PapluError: a table of another size, no deals, or other than two layers.
    """
    rules = as_rules(config.rules)
    if rules.num_players != 2 or config.deals < 1 or config.test_deals < 1 or len(config.hidden) != 2:
        raise PapluError(
            "the value has two layers, is fitted to at least one deal of a two-seat table, and is tested on one"
        )
    seen = play(rules, config.deals, config.noise, config.seed)
    fresh = play(rules, config.test_deals, config.noise, config.seed + 1)
    net = _learn(seen, config)
    with torch.inference_mode():
        parts = torch.from_numpy(fresh.features).split(_TEST_CHUNK)
        answers = _SCALE * torch.cat([net(part.float()).squeeze(1) for part in parts]).numpy()
    explained = {
        name: float(1 - np.mean((answers - target) ** 2) / target.var())
        for name, target in (("points", fresh.points), ("steady", fresh.steady))
    }
    return _as_arrays(net), explained


def play(rules: RuleSet, deals: int, noise: float, seed: int) -> Positions:
    """Positions of deals that the light player plays against itself."""
    parts = [
        _play_batch(rules, np.arange(first, min(first + _GAMES, deals)), noise, seed)
        for first in range(0, deals, _GAMES)
    ]
    return Positions(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _play_batch(
    rules: RuleSet, deals: npt.NDArray[np.int64], noise: float, seed: int
) -> tuple[npt.NDArray[np.float16], npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """The arrays of `Positions` for some deals."""
    table = distance_table()
    keys = keys_for(int(as_seed(seed, "seed")), deals, 0, 0)
    states = engine.deal_many(rules, keys, deals % 2)
    rows, distances = np.arange(len(deals)), np.full((len(deals), 2), UNKNOWN, dtype=np.int64)
    luck, points = np.zeros(len(deals)), np.zeros(len(deals))  # of the first seat
    told = []
    while len(rows):
        sign = np.where(states["current_player"] == 0, 1.0, -1.0)
        features = np.empty((len(rows), NUM_FEATURES), dtype=np.float32)
        describe_kernel(states, rules.packed, table, features)
        told.append((features.astype(np.float16), rows, sign, luck[rows].copy()))
        stock, worth = states["stock_size"].copy(), luck_of_draws(states, np.arange(len(rows)), rules)
        _play_turns(states, keys, int(noise * 2**20), rules.packed, table, distances)
        luck[rows] += np.where(states["stock_size"] < stock, sign * worth, 0.0)
        is_over = states["phase"] == OVER
        points[rows[is_over]] = states["returns"][is_over, 0]
        rows, states, keys, distances = (each[~is_over] for each in (rows, states, keys, distances))
    all_features, owners, signs, before = (np.concatenate(column) for column in zip(*told, strict=True))
    final = points[owners]
    steady = final - (luck[owners] - before)
    return all_features, (signs * final).astype(np.float32), (signs * steady).astype(np.float32)


@njit
def _play_turns(
    states: States,
    keys: npt.NDArray[np.uint64],
    noise: int,
    rules: npt.NDArray[np.void],
    table: Table,
    distances: npt.NDArray[np.int64],
) -> None:
    """Play one turn in every row.

    Args:
        keys: one a row, changed.
        noise: the share of turns with a random draw, in 2**20ths; every other of them has a random discard too.
    """
    scratch, cache = np.empty((SCRATCH_ROWS, NUM_FACES), dtype=np.uint8), empty_solver_cache(int(rules[0]["hand_size"]))
    for i in range(len(states)):
        key, chance = draw_below(keys[i], 1 << 20)
        if chance < noise:
            key, source = draw_below(key, 2)
            action = TAKE_OPEN if source and reason_kernel(states, i, TAKE_OPEN, rules) == LEGAL else DRAW_CLOSED
            apply_kernel(states, i, action, rules)
            distances[i, :] = UNKNOWN
            key, throws = draw_below(key, 2)
            if throws:
                key, action = _random_discard(states, i, key, rules)
                apply_kernel(states, i, action, rules)
                keys[i] = key
                continue
        keys[i] = key
        play_on(states, i, 1, rules, table, distances[i], cache, scratch)


@njit
def _random_discard(states: States, i: int, key: np.uint64, rules: npt.NDArray[np.void]) -> tuple[np.uint64, int]:
    """The next key, and a legal discard, each card held as likely as any other."""
    while True:
        key, face = draw_below(key, NUM_FACES)
        if reason_kernel(states, i, DISCARD_BASE + face, rules) == LEGAL:
            return key, DISCARD_BASE + face


def _learn(seen: Positions, config: FitConfig) -> nn.Sequential:
    """A network fitted to the steady points."""
    torch.manual_seed(config.seed)
    rng = np.random.default_rng(config.seed)
    first, second = config.hidden
    net = nn.Sequential(
        nn.Linear(NUM_FEATURES, first), nn.ReLU(), nn.Linear(first, second), nn.ReLU(), nn.Linear(second, 1)
    )
    optimizer = torch.optim.AdamW(net.parameters(), lr=_RATE, weight_decay=_DECAY)
    features, targets = torch.from_numpy(seen.features), torch.from_numpy(seen.steady / _SCALE)
    batches = max(1, len(targets) // config.minibatch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, _RATE, total_steps=config.epochs * batches, pct_start=0.1)
    relabelled = [torch.from_numpy(columns) for columns in relabelled_columns()]
    for _ in range(config.epochs):
        for rows in torch.randperm(len(targets))[: batches * config.minibatch].split(config.minibatch):
            columns = relabelled[rng.integers(len(relabelled))]
            with torch.autocast("cpu", dtype=torch.bfloat16):
                answers = net(features[rows].index_select(1, columns).to(torch.bfloat16)).squeeze(1)
            loss = functional.mse_loss(answers.float(), targets[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return net


def relabelled_columns() -> list[npt.NDArray[np.int64]]:
    """For each order of the suits, the columns of the features in that order."""
    orders = []
    for suits in itertools.permutations(range(NUM_SUITS)):
        columns = np.arange(NUM_FEATURES)
        planes = columns[: NUM_PLANES * NUM_FACES].reshape(NUM_PLANES, NUM_FACES)  # a view: written through
        natural = planes[:, : NUM_SUITS * NUM_RANKS].copy().reshape(NUM_PLANES, NUM_SUITS, NUM_RANKS)
        planes[:, : NUM_SUITS * NUM_RANKS] = natural[:, suits].reshape(NUM_PLANES, -1)
        orders.append(columns)
    return orders


def _as_arrays(net: nn.Sequential) -> Value:
    into, between, out_of = (layer for layer in net if isinstance(layer, nn.Linear))
    weights = {
        "into": into.weight.T,
        "into_bias": into.bias,
        "between": between.weight.T,
        "between_bias": between.bias,
        "out_of": _SCALE * torch.cat([out_of.weight[0], out_of.bias]),
    }
    return as_value({name: weight.detach().numpy() for name, weight in weights.items()})


_OWN: Final = r"PK\x03\x04.{26}about\.npy"  # how a file of `write_value` begins


def write_value(path: Path, value: Value, about: dict[str, Any]) -> None:
    """Write a value in half precision, with plain values that tell where it comes from."""
    buffer = io.BytesIO()
    arrays: dict[str, Any] = {name: array.astype(np.float16) for name, array in value._asdict().items()}
    np.savez_compressed(buffer, about=np.array(json.dumps(about)), **arrays)
    write_atomically(path, buffer.getvalue())


def main(arguments: list[str] | None = None) -> int:
    """Fit, and write the file of the value.

    Returns:
        0 when the file is written, 2 if it can't be had as asked.
    """
    parser = argparse.ArgumentParser(
        prog="python -m training.fit.leaf_value",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("config", type=Path, help="TOML file, such as configs/search/fit.toml")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("paplu_env/bots/search/leaf_value.npz"),
        help="file to write (default: %(default)s, what `search` plays by)",
    )
    parser.add_argument("--force", action="store_true", help="write over a file that this command did not write")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    try:
        config = load(options.config, FitConfig)
        check_target(options.out, _OWN, options.force)
        value, explained = fit(config)
        about = {
            "made_by": f"python -m training.fit.leaf_value {options.config.as_posix()}",
            "config": asdict(config),
            "tables": {**USUAL_HANDS, "num_decks": [2], "max_points": [80]},
            "explained": {name: round(share, 4) for name, share in explained.items()},
        }
        write_value(options.out, value, about)
    except PapluError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(
        f"wrote {options.out}: explains {explained['points']:.1%} of the variance of points, "
        f"{explained['steady']:.1%} of what isn't luck of draws"
    )
    return 0


if __name__ == "__main__":
    prepare_streams()
    raise SystemExit(main())
