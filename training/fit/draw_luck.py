"""Fits the value function of `variates` and writes it beside the code: ``python -m training.fit.draw_luck``.

The rule agents play each other; at every closed draw the features of the card that came are noted, and the points
that the drawer had at the end. A small network with one hidden layer is fitted to them by Adam.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import Final

import numpy as np
import numpy.typing as npt

from paplu_env import engine
from paplu_env.bots import Policy, make_policy
from paplu_env.bots.fitted import USUAL_HANDS
from paplu_env.engine.actions import DRAW_CLOSED
from paplu_env.engine.chance import keys_for
from paplu_env.engine.state import OVER
from paplu_env.evaluation import draw_luck as variates
from paplu_env.evaluation.games import DEAL_SEAT
from paplu_env.evaluation.games_store import write_text

Floats = npt.NDArray[np.float64]

RULES: Final = "points:drop_allowed=false"
AGENTS: Final = ("minscore", "mindist", "mindist_minscore", "mindist_opp")
_UNITS: Final = 24  # hidden ones; twice as many fit no better
_BATCH: Final = 1024
_RATE: Final = 3e-3  # of Adam at the start, falling evenly to zero
_SCALE: Final = 40.0  # points; a game's spread, so that the network fits numbers of size one
_PAIR_SEEDS: Final = 1000  # apart, so that no pair repeats the deals of another


def gather(policies: Sequence[Policy], deals: int, seed: int) -> tuple[Floats, Floats]:
    """Features of every closed draw in these duplicate deals, and the drawer's points at the end."""
    rules = policies[0].rules
    numbers = np.arange(deals).repeat(2)
    rotations = np.tile([0, 1], deals)
    states = engine.deal_many(rules, keys_for(seed, numbers, DEAL_SEAT, 0), numbers % 2)
    rows = np.arange(len(numbers))
    returns = np.zeros((len(numbers), 2))
    features, games, seats_of = [], [], []
    while rows.size:
        seats = states["current_player"].astype(np.int64)
        views, masks = engine.player_views(states, seats), engine.legal_action_masks(states, rules)
        keys = keys_for(seed, numbers[rows], seats, 2 * states["draws"].astype(np.int64) + states["phase"])
        actions = np.empty(rows.size, dtype=np.int64)
        for player, policy in enumerate(policies):
            own = np.flatnonzero((seats - rotations[rows]) % 2 == player)
            actions[own] = policy.act(views[own], masks[own], keys[own])
        drawing = np.flatnonzero(actions == DRAW_CLOSED)
        features.append(variates.features_of_draws(states, drawing, rules))
        games.append(rows[drawing])
        seats_of.append(seats[drawing])
        engine.apply_actions(states, actions, rules)
        over = states["phase"] == OVER
        returns[rows[over]] = states["returns"][over]
        rows, states = rows[~over], states[~over]
    return np.concatenate(features), returns[np.concatenate(games), np.concatenate(seats_of)]


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


def main(arguments: Sequence[str] | None = None) -> None:
    """Gather, fit, write, and say how well it fits."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--deals", type=int, default=8000, help="duplicate deals of each pair of agents (8000)")
    parser.add_argument("--epochs", type=int, default=8, help="times that the fit sees every draw (8)")
    parser.add_argument("--seed", type=int, default=7, help="of the deals and of the fit (7)")
    options = parser.parse_args(arguments)
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
    write_text(variates.FILE, json.dumps(about) + "\n")
    print(f"{len(points):,} draws, {100 * explained:.1f} % of the variance of points explained: {variates.FILE}")


if __name__ == "__main__":
    main()
