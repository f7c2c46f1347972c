"""Fits the value function of `draw_luck` and writes it beside the code: ``python -m training.fit.draw_luck``.

The rule agents play each other; at every closed draw the features of the card that came are noted, and the points
that the drawer had at the end. A small network with one hidden layer is fitted to them by Adam.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from paplu_env import engine
from paplu_env.bots import Policy, make_policy
from paplu_env.bots.fitted import USUAL_HANDS
from paplu_env.bots.playing import play_steps
from paplu_env.bots.policy import decision_keys
from paplu_env.cli.streams import prepare_streams
from paplu_env.engine.actions import DRAW_CLOSED
from paplu_env.engine.chance import match_deal_seeds, policy_seed_of
from paplu_env.errors import PapluError
from paplu_env.evaluation import draw_luck
from paplu_env.files import check_target, json_of, write_atomically

Floats = npt.NDArray[np.float64]

RULES: Final = "points:drop_allowed=false"
AGENTS: Final = ("minscore", "mindist", "mindist_minscore", "mindist_opp")
_UNITS: Final = 24  # hidden ones; twice as many fit no better
_BATCH: Final = 1024
_RATE: Final = 3e-3  # of Adam at the start, falling evenly to zero
_SCALE: Final = 40.0  # points; a game's spread, so that the network fits numbers of size one
_EPILOG: Final = """\
examples:
  python -m training.fit.draw_luck
      the fit that ships
  python -m training.fit.draw_luck --deals 500 --epochs 2 --out luck.json
      a quick look, which leaves the shipped file as it is
"""
_PAIR_SEEDS: Final = 1000  # apart, so that no pair repeats the deals of another


def gather(policies: Sequence[Policy], deals: int, seed: int) -> tuple[Floats, Floats]:
    """Features of every closed draw in these duplicate deals, and the drawer's points at the end."""
    rules = policies[0].rules
    numbers = np.arange(deals).repeat(2)
    rotations = np.tile([0, 1], deals)
    states = engine.deal_many(rules, match_deal_seeds(seed, numbers), numbers % 2)
    features, games, seats_of = [], [], []
    chance = policy_seed_of(seed)
    for step in play_steps(
        states,
        policies,
        keys_of=lambda rows, due: decision_keys(chance, numbers[rows], due),
        seating=(np.arange(2) - rotations[:, None]) % 2,
    ):
        drawing = np.flatnonzero(step.actions == DRAW_CLOSED)
        features.append(draw_luck.features_of_draws(step.states, drawing, rules))
        games.append(step.rows[drawing])
        seats_of.append(step.seats[drawing])
    points = states["returns"][np.concatenate(games), np.concatenate(seats_of)].astype(np.float64)
    return np.concatenate(features), points


def fit(features: Floats, points: Floats, epochs: int, seed: int) -> tuple[Floats, Floats]:
    """Weights into and out of the hidden units, by Adam on the squared error."""
    generator = np.random.default_rng(seed)
    into = generator.normal(0, 1 / np.sqrt(features.shape[1] / 2), (features.shape[1], _UNITS))
    out_of = generator.normal(0, 1 / np.sqrt(_UNITS), _UNITS)
    moments = [[np.zeros_like(w), np.zeros_like(w)] for w in (into, out_of)]
    steps = epochs * (len(points) // _BATCH)
    aims = points / _SCALE
    order = np.arange(len(points))
    for step in range(steps):
        place = step % (len(points) // _BATCH)
        if place == 0:
            order = generator.permutation(len(points))
        chosen = order[place * _BATCH : (place + 1) * _BATCH]
        x = features[chosen]
        hidden = np.maximum(x @ into, 0)
        error = (hidden @ out_of - aims[chosen]) / _BATCH
        slopes = (x.T @ (np.outer(error, out_of) * (hidden > 0)), hidden.T @ error)
        for weights, slope, (mean, square) in zip((into, out_of), slopes, moments, strict=True):
            mean += 0.1 * (slope - mean)
            square += 0.001 * (slope**2 - square)
            unbiased = mean / (1 - 0.9 ** (step + 1)), square / (1 - 0.999 ** (step + 1))
            weights -= _RATE * (1 - step / steps) * unbiased[0] / (np.sqrt(unbiased[1]) + 1e-8)
    return into, out_of * _SCALE


def main(arguments: Sequence[str] | None = None) -> int:
    """Gather, fit, write, and say how well it fits.

    Returns:
        0 when the file is written, 2 if it can't be had as asked.
    """
    parser = argparse.ArgumentParser(
        prog="python -m training.fit.draw_luck",
        description=__doc__,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--deals", type=int, default=8000, help="duplicate deals of each pair of agents (8000)")
    parser.add_argument("--epochs", type=int, default=8, help="times that the fit sees every draw (8)")
    parser.add_argument("--seed", type=int, default=7, help="seed of the deals and of the fit (7)")
    parser.add_argument(
        "--out", type=Path, default=draw_luck.FILE, help="file to write (default: the package's own, what matches use)"
    )
    parser.add_argument("--force", action="store_true", help="write over a file that this command did not write")
    options = parser.parse_args(arguments)
    try:
        check_target(options.out, json_of("command", "python -m training.fit.draw_luck"), options.force)
        return _fit_and_write(options)
    except PapluError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _fit_and_write(options: argparse.Namespace) -> int:
    parts = []
    for number, names in enumerate(combinations_with_replacement(AGENTS, 2)):
        policies = [make_policy(name, RULES) for name in names]
        parts.append(gather(policies, options.deals, options.seed + _PAIR_SEEDS * number))
        print(f"{' against '.join(names)}: {len(parts[-1][1]):,} draws")
    features = np.concatenate([part[0] for part in parts])
    points = np.concatenate([part[1] for part in parts])
    into, out_of = fit(features, points, options.epochs, options.seed)
    left = np.maximum(features @ into, 0) @ out_of - points
    explained = 1 - float(left.var() / points.var())
    about = {
        "command": f"python -m training.fit.draw_luck --deals {options.deals} --epochs {options.epochs} "
        f"--seed {options.seed}",
        "rules": RULES,
        "tables": {**USUAL_HANDS, "num_decks": [1, 2]},
        "agents": list(AGENTS),
        "draws": len(points),
        "explained": round(explained, 4),
        "into": into.round(5).tolist(),
        "out_of": out_of.round(5).tolist(),
    }
    write_atomically(options.out, (json.dumps(about) + "\n").encode())
    print(f"{len(points):,} draws, {100 * explained:.1f} % of the variance of points explained: {options.out}")
    return 0


if __name__ == "__main__":
    prepare_streams()
    raise SystemExit(main())
