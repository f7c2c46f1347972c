"""The numbers of `outs`, fitted to deals that it plays: ``python -m training.fit_outs configs/outs.toml``.

In rounds, each with fresh deals and without drops: the agent plays itself and `mindist_opp`, and from its
decisions come

* the *lines*: least squares of what the deal brought on distance, outs, deadwood and draws after a discard;
* *playing on*: the same at the start of a turn, with the wild cards, the open card and the order of turns,
  for hands before their first draw and for later ones;
* the *odds*: logistic regression of whether the next player took the thrown card.

Where others drop, playing on is worth something else: their weak hands are gone for 20 points. So *playing on* is
fitted again in rounds with drops, for an agent that never drops itself, against one that drops by the fit before.

At last the cost of a taken card is chosen among a few by matches on further deals. The file that is written
names the configuration, the seeds and what the agent reached on deals that took no part in any of this.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import njit
from paplu_env.bots import make_policy
from paplu_env.bots.outs_agent import OutsAgent, shipped_weights
from paplu_env.bots.outs_kernels import (
    ALL_FACES,
    COMPLETE,
    CONSTANT,
    COST,
    DRAWS,
    LATER,
    LOOKED_AT,
    NUM_LINES,
    NUM_ODDS,
    NUM_PLAY_ON,
    NUM_TERMS,
    Weights,
    copies_of,
    interest,
    take_terms,
)
from paplu_env.cards import NUM_FACES
from paplu_env.engine.actions import DECLARE_BASE, DISCARD_BASE, TAKE_OPEN
from paplu_env.engine.state import DRAW
from paplu_env.engine.unseen import unseen_kernel
from paplu_env.errors import PapluError
from paplu_env.evaluation import play_match
from paplu_env.evaluation.games import Decisions, play_games
from paplu_env.melds.deadwood import deadwood_kernel
from paplu_env.melds.distance import distance_kernel
from paplu_env.melds.distance_table import distance_table
from paplu_env.melds.outs import outs_kernel
from training.files import write_json

# What a decision is told by: which kind it is, the distance, the terms of its lines, those of its odds.
KIND: Final = 0
DISTANCE: Final = 1
TERMS: Final = 2
ODDS: Final = TERMS + NUM_PLAY_ON
_NUM_COLUMNS: Final = ODDS + NUM_ODDS

OTHER: Final = 0  # kinds: neither of these
START: Final = 1  # start of a turn
THROWN: Final = 2  # a discard

_RIDGE: Final = 1.0  # weight of a pull towards zero that keeps terms without data from running away
_FEWEST: Final = 100  # decisions at a distance below which its line is that of the distance before, lowered
_STEP_DOWN: Final = 15.0  # points by which such a line is lowered
_NEWTON_STEPS: Final = 25
_MORE_THAN_ANY_DROP: Final = 1000.0  # points


@dataclass(frozen=True)
class FitConfig:
    """One fit; every number of deals is of distinct deals, each played once per seat."""

    rules: str  # without drops, so that weak hands are played on
    opponents: tuple[str, ...]  # beside the agent itself
    rounds: int
    drop_rules: str  # with drops, for the rounds that say what playing on is worth there
    drop_rounds: int
    drop_deals: int  # of each of them
    deals: int  # of each round against each opponent
    seed: int  # of the first round; every further match takes the next
    looked_at: int  # discards that the fitted agent looks at a step further
    costs: tuple[float, ...]  # costs of a taken card to choose from, points
    choice_deals: int  # of each match of that choice
    final_deals: int  # of the matches that are reported


def load_fit_config(path: Path) -> FitConfig:
    """A configuration from TOML.

    Raises:
        PapluError: an unreadable file, an unknown key or a missing one, by name.
    """
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PapluError(f"{path}: cannot be read as TOML ({error})") from error
    names = [field.name for field in fields(FitConfig)]
    for key in values:
        if key not in names:
            raise PapluError(f"{path}: unknown key {key!r}: the keys are {', '.join(names)}")
    missing = [name for name in names if name not in values]
    if missing:
        raise PapluError(f"{path}: {missing[0]} is missing")
    return FitConfig(**{key: tuple(value) if isinstance(value, list) else value for key, value in values.items()})


def fit(config: FitConfig) -> tuple[Weights, dict[str, Any]]:
    """The fitted weights, and what they reached on deals of their own."""
    weights = _quick(shipped_weights())
    seed = config.seed
    for number in range(config.rounds):
        rows, points, taken = [], [], []
        for opponent in ("", *config.opponents):
            agent = OutsAgent(config.rules, weights)
            other = agent if not opponent else make_policy(opponent, config.rules)
            part = note_decisions(agent, other, config.deals, seed)
            rows.append(part[0])
            points.append(part[1])
            taken.append(part[2])
            seed += 1
        weights = _fitted(np.concatenate(rows), np.concatenate(points), np.concatenate(taken), weights)
        _say(f"round {number + 1} of {config.rounds}: {sum(map(len, rows)):,} decisions")
    for number in range(config.drop_rounds):
        stays = OutsAgent(config.drop_rules, weights._replace(play_on=_never_dropping(weights.play_on)))
        drops = OutsAgent(config.drop_rules, weights)
        found, brought, _ = note_decisions(stays, drops, config.drop_deals, seed)
        weights = weights._replace(play_on=_fitted_play_on(found, brought))
        _say(f"round {number + 1} of {config.drop_rounds} with drops: {len(found):,} decisions")
        seed += 1
    weights, seed = _with_best_cost(config, weights, seed)
    report = {}
    for opponent in config.opponents:
        result = play_match(OutsAgent(config.rules, weights), opponent, config.final_deals, seed, config.rules)
        report[opponent] = result.to_dict()
        _say(f"against {opponent}, {config.final_deals:,} fresh deals: {_short(result)}")
        seed += 1
    return weights, report


def _quick(weights: Weights) -> Weights:
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


def note_decisions(
    agent: OutsAgent, other: Any, deals: int, seed: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The agent's decisions in so many deals: their numbers, what the deal brought, whether the card was taken."""
    rows, points, taken = [], [], []

    def note(_: int, part: Decisions) -> None:
        numbers = np.zeros((len(part.views), _NUM_COLUMNS))
        _note_rows(part.views, part.actions, agent.rules.packed, distance_table(), numbers)
        follows = np.append(part.actions[1:] == TAKE_OPEN, False)
        same_game = np.append((part.deals[1:] == part.deals[:-1]) & (part.rotations[1:] == part.rotations[:-1]), False)
        # The last discard of a game has no next player.
        chosen = (numbers[:, KIND] != OTHER) & (part.players == 0) & same_game
        rows.append(numbers[chosen])
        points.append(part.returns[chosen].astype(np.float64))
        taken.append(follows[chosen].astype(np.float64))

    play_games([agent, other], deals, seed, batch=1024, record=note)
    return np.concatenate(rows), np.concatenate(points), np.concatenate(taken)


@njit
def _note_rows(views: Any, actions: Any, rules: Any, table: Any, numbers: Any) -> None:
    """Fill the rows of `numbers`, one a decision."""
    r = rules[0]
    hand, unseen, outs = np.empty(NUM_FACES, np.uint8), np.empty(NUM_FACES, np.uint8), np.empty(NUM_FACES, np.uint8)
    for i in range(len(views)):
        view, action = views[i], int(actions[i])
        is_start = int(view["phase"]) == DRAW
        if not is_start and not DISCARD_BASE <= action < DECLARE_BASE:
            continue
        for face in range(NUM_FACES):
            hand[face] = view["hand"][face]
        unseen_kernel(views, i, r, unseen)
        wild, draws = int(view["wild"]), int(view["drew"][int(view["seat"])])
        if not is_start:
            thrown = action - DISCARD_BASE
            hand[thrown] -= 1
            wanted, unwanted = interest(view)
            for term, value in enumerate(take_terms(thrown, wild, unseen, wanted, unwanted, draws)):
                numbers[i, ODDS + term] = value
        distance = int(outs_kernel(hand, wild, unseen, r, table, outs))
        is_nearer = 0
        if is_start and int(view["pile_size"]) > 0:
            open_card = int(view["pile"][int(view["pile_size"]) - 1])
            hand[open_card] += 1
            is_nearer = int(int(distance_kernel(hand, wild, r, table)) < distance)
            hand[open_card] -= 1
        terms = (
            1.0,
            np.log(copies_of(outs, ALL_FACES) + 1.0),
            float(deadwood_kernel(hand, wild, r)),
            float(draws),
            float(copies_of(hand, wild)),
            float(is_nearer),
            1.0 if int(view["first"]) != int(view["seat"]) else 0.0,
        )
        numbers[i, KIND] = START if is_start else THROWN
        numbers[i, DISTANCE] = distance
        for term, value in enumerate(terms):
            numbers[i, TERMS + term] = value


def _fitted(
    rows: npt.NDArray[np.float64], points: npt.NDArray[np.float64], taken: npt.NDArray[np.float64], before: Weights
) -> Weights:
    """Weights from decisions and what became of them."""
    thrown = rows[:, KIND] == THROWN
    terms = rows[:, TERMS:ODDS]
    lines = fit_lines(rows[thrown, DISTANCE], terms[thrown, :NUM_TERMS], points[thrown])
    odds = fit_odds(rows[thrown, ODDS:], taken[thrown])
    single = before.single.copy()
    single[COMPLETE] = _complete_value(points)
    return Weights(lines, _fitted_play_on(rows, points), odds, single)


def _fitted_play_on(rows: npt.NDArray[np.float64], points: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """What playing on is worth at the start of a turn, before the first draw and later."""
    start = rows[:, KIND] == START
    terms, draws = rows[:, TERMS:ODDS].copy(), rows[:, TERMS + DRAWS]
    terms[draws > 0, LATER] = 0.0  # later on the order of turns is past
    return np.stack(
        [
            fit_lines(rows[part, DISTANCE], terms[part], points[part])
            for part in (start & (draws == 0), start & (draws > 0))
        ]
    )


def _never_dropping(play_on: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Lines by which every hand is worth more than any drop costs."""
    lines = np.zeros_like(play_on)
    lines[:, :, CONSTANT] = _MORE_THAN_ANY_DROP
    return lines


def _complete_value(points: npt.NDArray[np.float64]) -> float:
    """What a hand that can be declared brings: the mean of what was won where something was won."""
    return float(points[points > 0].mean())


def fit_lines(
    distances: npt.NDArray[np.float64], terms: npt.NDArray[np.float64], points: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
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


def fit_odds(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
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
    """Fit, and write the file of weights."""
    parser = argparse.ArgumentParser(prog="python -m training.fit_outs", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("config", type=Path, help="TOML file, such as configs/outs.toml")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("paplu_env/bots/outs_weights.json"),
        help="file to write (default: %(default)s, what `outs` plays by)",
    )
    options = parser.parse_args(arguments)
    try:
        config = load_fit_config(options.config)
        weights, report = fit(config)
    except PapluError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    data = {
        "made_by": f"python -m training.fit_outs {options.config.as_posix()}",
        "config": asdict(config),
        "fresh_deals": report,
        **{name: np.round(array, 6).tolist() for name, array in weights._asdict().items()},
    }
    write_json(options.out, data)
    print(f"wrote {options.out}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
