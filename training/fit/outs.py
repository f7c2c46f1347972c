"""The numbers of `outs`, fitted to deals that it plays: ``python -m training.fit.outs configs/outs/fit.toml``.

In rounds, each with fresh deals and without drops: the agent plays itself and `mindist_opp`, and from its
discards come

* the *lines*: least squares of what the deal brought on distance, outs, deadwood and draws;
* the *odds*: logistic regression of whether the next player took the thrown card.

Then *playing on*, the same least squares at the start of a turn, for hands before their first draw and for later
ones, with more terms (see `bots.outs.kernels`). Where others drop, it is worth something else: their weak hands
are gone for 20 points. So it is fitted to deals of an agent that never drops against one that drops
by the published rule. ``--drops-only`` fits this part alone, to the play that ships.

At last the cost of a taken card is chosen among a few by matches on further deals. The file that is written
names the configuration, the seeds and what the agent reached on deals that took no part in any of this.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import njit
from paplu_env.bots import make_policy
from paplu_env.bots.outs.agent import OutsAgent
from paplu_env.bots.outs.kernels import SCRATCH_ROWS, judge_draw, lowers_distance, play_on_terms
from paplu_env.bots.outs.take_odds import ALL_FACES, NUM_ODDS, copies_of, interest, take_terms
from paplu_env.bots.outs.weights import (
    COMPLETE,
    CONSTANT,
    COST,
    DEADWOOD,
    DRAWS,
    LATER,
    LOG_OUTS,
    LOOKED_AT,
    NUM_LINES,
    NUM_PLAY_ON,
    NUM_TERMS,
    Weights,
    shipped_weights,
)
from paplu_env.bots.published.kernels import MAX_DISTANCE
from paplu_env.cards import NUM_FACES
from paplu_env.cli.streams import prepare_streams
from paplu_env.engine.actions import DECLARE_BASE, DISCARD_BASE, NUM_ACTIONS, TAKE_OPEN
from paplu_env.engine.state import DRAW
from paplu_env.engine.unseen_cards import unseen_kernel
from paplu_env.errors import PapluError
from paplu_env.evaluation import play_match
from paplu_env.evaluation.games import Decisions, play_games
from paplu_env.files import check_target, json_of, write_json
from paplu_env.melds.fast_distance.distance_table import distance_table
from paplu_env.melds.fast_distance.outs_kernels import outs_kernel
from paplu_env.melds.fast_points.deadwood_kernels import deadwood_kernel
from training.learn.config import load

# What a decision is told by: the distance, the terms of its lines, and those of the odds of a discard.
DISTANCE: Final = 0
TERMS: Final = 1
ODDS: Final = TERMS + NUM_TERMS

_RIDGE: Final = 1.0  # weight of a pull towards zero that keeps terms without data from running away
_FEWEST: Final = 100  # decisions at a distance below which its line is that of the distance before, lowered
_STEP_DOWN: Final = 15.0  # points by which such a line is lowered
_NEWTON_STEPS: Final = 25
_ALWAYS: Final = 1000.0  # points that no hand is worth: a line with this constant never or always drops

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class FitConfig:
    """One fit; every number of deals is of distinct deals, each played once per seat."""

    rules: str  # without drops, so that weak hands are played on
    opponents: tuple[str, ...]  # beside the agent itself
    rounds: int
    drop_rules: str  # with drops, for the deals that say what playing on is worth there
    drop_deals: int
    deals: int  # of each round against each opponent
    seed: int  # of the first round; every further match takes the next
    looked_at: int  # discards that the fitted agent looks at a step further
    costs: tuple[float, ...]  # costs of a taken card to choose from, points
    choice_deals: int  # of each match of that choice
    final_deals: int  # of the matches that are reported


def fit(config: FitConfig, drops_only: bool = False) -> tuple[Weights, dict[str, Any]]:
    """The fitted weights, and what they reached on deals of their own.

    Args:
        drops_only: keep the play that ships, and fit only what playing on is worth, to the same deals.
    """
    weights = quick(shipped_weights())
    seed = config.seed
    opponents = ("", *config.opponents)
    for number in range(0 if drops_only else config.rounds):
        parts = []
        for place, opponent in enumerate(opponents, number * len(opponents)):
            agent = OutsAgent(config.rules, weights)
            other = agent if not opponent else make_policy(opponent, config.rules)
            parts.append(note_throws(agent, other, config.deals, seed + place))
        rows, points, taken = (np.concatenate(column) for column in zip(*parts, strict=True))
        weights = _fitted(rows, points, taken, weights)
        _say(f"round {number + 1} of {config.rounds}: {len(rows):,} discards")
    seed += config.rounds * len(opponents)
    stays = OutsAgent(config.drop_rules, never_dropping(weights))
    drops = OutsAgent(config.drop_rules, published_rule(weights))
    rows, points = note_starts(stays, drops, config.drop_deals, seed)
    weights = weights._replace(play_on=_fitted_play_on(rows, points))
    _say(f"with drops: {len(rows):,} starts of turns")
    seed += 1
    if drops_only:
        weights = weights._replace(single=shipped_weights().single)
        seed += len(config.opponents)
    else:
        weights, seed = _with_best_cost(config, weights, seed)
    report = {}
    for opponent in config.opponents:
        result = play_match(OutsAgent(config.rules, weights), opponent, config.final_deals, seed, config.rules)
        report[opponent] = result.to_dict()
        _say(f"against {opponent}, {config.final_deals:,} fresh deals: {_short(result)}")
        seed += 1
    return weights, report


def never_dropping(weights: Weights) -> Weights:
    """The same agent, but one to which every hand is worth more than any drop costs."""
    play_on = np.zeros_like(weights.play_on)
    play_on[:, :, CONSTANT] = _ALWAYS
    return weights._replace(play_on=play_on)


def published_rule(weights: Weights) -> Weights:
    """The same agent, but one that drops first hands with a distance over 4, and no others."""
    play_on = never_dropping(weights).play_on
    play_on[0, MAX_DISTANCE + 1 :, CONSTANT] = -_ALWAYS
    return weights._replace(play_on=play_on)


def quick(weights: Weights) -> Weights:
    """The same agent, but one that looks at one discard only: its games are played in a tenth of the time."""
    single = weights.single.copy()
    single[LOOKED_AT] = 1
    return weights._replace(single=single)


def _with_best_cost(config: FitConfig, weights: Weights, seed: int) -> tuple[Weights, int]:
    """The weights with the cost of a taken card that brings most against all opponents."""
    best: tuple[float, Weights] | None = None
    for cost in config.costs:
        single = weights.single.copy()
        single[COST], single[LOOKED_AT] = cost, config.looked_at
        tried = weights._replace(single=single)
        agent = OutsAgent(config.rules, tried)
        results = [
            play_match(agent, opponent, config.choice_deals, seed + place, config.rules)
            for place, opponent in enumerate(config.opponents)
        ]
        mean = float(np.mean([result.points_per_deal for result in results]))
        _say(f"cost {cost:g}: {mean:+.2f} points per deal")
        if best is None or mean > best[0]:
            best = mean, tried
    assert best is not None
    return best[1], seed + len(config.opponents)


def note_throws(agent: OutsAgent, other: Any, deals: int, seed: int) -> tuple[Array, Array, Array]:
    """The agent's discards in ``deals`` deals: their numbers, what the deal brought, whether the card was taken."""
    rows, points, taken = [], [], []

    def note(_: int, part: Decisions) -> None:
        # The last discard of a game has no next player.
        same_game = np.append((part.deals[1:] == part.deals[:-1]) & (part.rotations[1:] == part.rotations[:-1]), False)
        is_throw = (part.actions >= DISCARD_BASE) & (part.actions < DECLARE_BASE)
        chosen = np.flatnonzero(is_throw & (part.players == 0) & same_game)
        numbers = np.empty((len(chosen), ODDS + NUM_ODDS))
        _note_throws(part.views, part.actions, chosen, agent.rules.packed, distance_table(), numbers)
        rows.append(numbers)
        points.append(part.returns[chosen].astype(np.float64))
        taken.append((part.actions[chosen + 1] == TAKE_OPEN).astype(np.float64))

    play_games([agent, other], deals, seed, batch=1024, record=note, luck=False)
    return np.concatenate(rows), np.concatenate(points), np.concatenate(taken)


def note_starts(agent: OutsAgent, other: Any, deals: int, seed: int) -> tuple[Array, Array]:
    """The starts of the agent's turns in ``deals`` deals: their numbers, and what the deal brought."""
    rows, points = [], []

    def note(_: int, part: Decisions) -> None:
        chosen = np.flatnonzero((part.views["phase"] == DRAW) & (part.players == 0))
        numbers = np.empty((len(chosen), TERMS + NUM_PLAY_ON))
        _note_starts(part.views, part.masks, chosen, agent.rules.packed, distance_table(), agent.weights, numbers)
        rows.append(numbers)
        points.append(part.returns[chosen].astype(np.float64))

    play_games([agent, other], deals, seed, batch=1024, record=note, luck=False)
    return np.concatenate(rows), np.concatenate(points)


@njit
def _note_throws(views: Any, actions: Any, chosen: Any, rules: Any, table: Any, numbers: Any) -> None:
    """Fill the rows of `numbers`, one a chosen decision."""
    r = rules[0]
    hand, unseen, outs = np.empty(NUM_FACES, np.uint8), np.empty(NUM_FACES, np.uint8), np.empty(NUM_FACES, np.uint8)
    for row, i in enumerate(chosen):
        view, thrown = views[i], int(actions[i]) - DISCARD_BASE
        for face in range(NUM_FACES):
            hand[face] = view["hand"][face]
        hand[thrown] -= 1
        unseen_kernel(views, i, r, unseen)
        wild, draws = int(view["wild"]), int(view["drew"][int(view["seat"])])
        numbers[row, DISTANCE] = int(outs_kernel(hand, wild, unseen, r, table, outs))
        numbers[row, TERMS + CONSTANT] = 1.0
        numbers[row, TERMS + LOG_OUTS] = np.log(copies_of(outs, ALL_FACES) + 1.0)
        numbers[row, TERMS + DEADWOOD] = int(deadwood_kernel(hand, wild, r))
        numbers[row, TERMS + DRAWS] = draws
        wanted, unwanted = interest(view)
        for term, value in enumerate(take_terms(thrown, wild, unseen, wanted, unwanted, draws)):
            numbers[row, ODDS + term] = value


@njit
def _note_starts(views: Any, masks: Any, chosen: Any, rules: Any, table: Any, weights: Weights, numbers: Any) -> None:
    """Fill the rows of `numbers`, one a chosen decision."""
    r = rules[0]
    values, scratch = np.empty(NUM_ACTIONS), np.empty((SCRATCH_ROWS, NUM_FACES), np.uint8)
    for row, i in enumerate(chosen):
        view, mask = views[i], masks[i]
        is_nearer = lowers_distance(view, mask, r, table, scratch)
        distance, outs = judge_draw(views, i, mask, r, table, weights, values, scratch)
        numbers[row, DISTANCE] = distance
        for term, value in enumerate(play_on_terms(view, outs, is_nearer, values, r, scratch)):
            numbers[row, TERMS + term] = value


def _fitted(rows: Array, points: Array, taken: Array, before: Weights) -> Weights:
    """Weights from discards and what became of them."""
    single = before.single.copy()
    single[COMPLETE] = _complete_value(points)
    lines = fit_lines(rows[:, DISTANCE], rows[:, TERMS:ODDS], points)
    return before._replace(lines=lines, odds=fit_odds(rows[:, ODDS:], taken), single=single)


def _fitted_play_on(rows: Array, points: Array) -> Array:
    """What playing on is worth at the start of a turn, before the first draw and later."""
    terms, is_later = rows[:, TERMS:].copy(), rows[:, TERMS + DRAWS] > 0
    terms[is_later, LATER] = 0.0  # later on the order of turns is past
    return np.stack([fit_lines(rows[part, DISTANCE], terms[part], points[part]) for part in (~is_later, is_later)])


def _complete_value(points: Array) -> float:
    """What a hand that can be declared brings: the mean of what was won where something was won."""
    return float(points[points > 0].mean())


def fit_lines(distances: Array, terms: Array, points: Array) -> Array:
    """One line of least squares per distance; distances that hardly come get the one before, lowered."""
    lines = np.zeros((NUM_LINES, terms.shape[1]))
    for distance in range(1, NUM_LINES):
        rows = distances >= distance if distance == NUM_LINES - 1 else distances == distance
        if rows.sum() < _FEWEST:
            lines[distance] = lines[distance - 1]
            lines[distance, CONSTANT] -= _STEP_DOWN
            continue
        x, y = terms[rows], points[rows]
        pull = np.diag([0.0] + [_RIDGE] * (x.shape[1] - 1))  # the constant is free
        lines[distance] = np.linalg.solve(x.T @ x + pull, x.T @ y)
    return lines


def fit_odds(x: Array, y: Array) -> Array:
    """Coefficients of a logistic regression, by Newton's method with a ridge."""
    w = np.zeros(x.shape[1])
    for _ in range(_NEWTON_STEPS):
        chance = 1.0 / (1.0 + np.exp(-x @ w))
        slope = x.T @ (y - chance) - _RIDGE * w
        curve = (x * (chance * (1.0 - chance))[:, None]).T @ x + _RIDGE * np.eye(len(w))
        w += np.linalg.solve(curve, slope)
    return w


def _short(result: Any) -> str:
    low, high = result.points_interval
    return f"{result.win_rate:.1%}, {result.points_per_deal:+.2f} points per deal [{low:+.2f}, {high:+.2f}]"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Fit, and write the file of weights.

    Returns:
        0 when the file is written, 2 if it can't be had as asked.
    """
    parser = argparse.ArgumentParser(
        prog="python -m training.fit.outs",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("config", type=Path, help="TOML file, such as configs/outs/fit.toml")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("paplu_env/bots/outs/outs_weights.json"),
        help="file to write (default: %(default)s, what `outs` plays by)",
    )
    parser.add_argument("--drops-only", action="store_true", help="keep the play that ships, fit when to drop")
    parser.add_argument("--force", action="store_true", help="write over a file that this command did not write")
    options = parser.parse_args(arguments)
    try:
        config = load(options.config, FitConfig)
        check_target(options.out, json_of("made_by", "python -m training.fit.outs"), options.force)
        weights, report = fit(config, options.drops_only)
        command = (
            f"python -m training.fit.outs {shlex.quote(options.config.as_posix())}"
            + " --drops-only" * options.drops_only
        )
        data = {
            "made_by": command,
            "config": asdict(config),
            "fresh_deals": report,
            **{name: np.round(array, 6).tolist() for name, array in weights._asdict().items()},
        }
        write_json(options.out, data)
    except PapluError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"wrote {options.out}")
    return 0


if __name__ == "__main__":
    prepare_streams()
    raise SystemExit(main())
