"""The value of `search`, fitted to deals of its light player: ``python -m training.fit_search configs/search.toml``.

The light player plays both seats; at the start of every turn the hands of both are told by their distances, outs
and deadwood, and least squares says what the deal then brings to the mover. First slopes that all pairs of
distances share, then for each pair a line of its own through what is left, pulled towards zero, so that pairs
seen rarely keep the common slopes. The file names the configuration and how much of the points' variance the value
explains on deals that took no part.
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
from paplu_env.bots.rollout import ROOM_ROWS, UNKNOWN, play_on
from paplu_env.bots.search_kernels import NUM_DISTANCES, NUM_TERMS, value_terms
from paplu_env.cards import NUM_FACES
from paplu_env.engine.arrays import as_seed
from paplu_env.engine.deal import active_bits, deal_kernel
from paplu_env.engine.state import OVER, States, empty_states
from paplu_env.errors import InvalidFile, PapluError
from paplu_env.melds.distance_table import Table, distance_table
from paplu_env.rules import RuleSet, as_rules
from training.files import write_json

Array = npt.NDArray[np.float64]

_PAIRS: Final = NUM_DISTANCES * NUM_DISTANCES
_MOST_TURNS: Final = 24  # turns kept of a deal; few last longer, and those would weigh too much
_RIDGE: Final = 20.0  # weight of the pull towards zero, in positions


@dataclass(frozen=True)
class FitConfig:
    """One fit."""

    rules: str  # of the deals, two seats
    deals: int  # that are fitted
    test_deals: int  # that the explained variance is measured on
    seed: int  # of the first deal; each further one has the next


@dataclass(frozen=True)
class Positions:
    """Starts of turns."""

    pairs: npt.NDArray[np.int64]  # (N,), which line
    terms: Array  # (N, NUM_TERMS)
    points: Array  # (N,), what the deal brought to the seat that was to move


def fit(config: FitConfig) -> tuple[Array, float]:
    """The lines, ``(NUM_DISTANCES, NUM_DISTANCES, NUM_TERMS)``, and the share of the variance they explain.

    Raises:
        PapluError: a table of another size, or no deals.
    """
    rules = as_rules(config.rules)
    if rules.num_players != 2 or config.deals < 1 or config.test_deals < 1:
        raise PapluError("the value is fitted to at least one deal of a two-seat table, and tested on one")
    seen = play(rules, config.deals, config.seed)
    lines = fit_lines(seen)
    fresh = play(rules, config.test_deals, config.seed + config.deals)
    wrong = fresh.points - (lines[fresh.pairs] * fresh.terms).sum(axis=1)
    return lines.reshape(NUM_DISTANCES, NUM_DISTANCES, NUM_TERMS), float(1 - wrong.var() / fresh.points.var())


def play(rules: RuleSet, deals: int, seed: int) -> Positions:
    """Positions of deals that the light player plays against itself."""
    pairs, terms = np.empty(deals * _MOST_TURNS, dtype=np.int64), np.empty((deals * _MOST_TURNS, NUM_TERMS))
    points = np.empty(deals * _MOST_TURNS)
    count = _play_deals(
        empty_states(rules, 1), rules.packed, distance_table(), active_bits(rules, 0, None), as_seed(seed, "seed"),
        deals, pairs, terms, points,
    )  # fmt: skip
    return Positions(pairs[:count], terms[:count], points[:count])


def fit_lines(seen: Positions) -> Array:
    """Least squares, ``(_PAIRS, NUM_TERMS)``."""
    constants = np.eye(_PAIRS)[seen.pairs]
    shared = _ridge(np.hstack([constants, seen.terms[:, 1:]]), seen.points)
    lines = np.hstack([shared[:_PAIRS, None], np.tile(shared[_PAIRS:], (_PAIRS, 1))])
    left = seen.points - (lines[seen.pairs] * seen.terms).sum(axis=1)
    for pair in range(_PAIRS):
        rows = seen.pairs == pair
        lines[pair] += _ridge(seen.terms[rows], left[rows])
    return lines


def _ridge(terms: Array, points: Array) -> Array:
    scale = np.maximum(np.sqrt((terms**2).mean(axis=0)), 1e-9) if len(terms) else np.ones(terms.shape[1])
    scaled = terms / scale
    gram = scaled.T @ scaled + _RIDGE * np.eye(terms.shape[1])
    solution: Array = np.linalg.solve(gram, scaled.T @ points) / scale
    return solution


@njit
def _play_deals(
    states: States,
    rules: npt.NDArray[np.void],
    table: Table,
    everybody: int,
    seed: np.uint64,
    deals: int,
    pairs: npt.NDArray[np.int64],
    terms: Array,
    points: Array,
) -> int:
    """Fill the arrays from the front; returns how many positions there are."""
    room = np.empty((ROOM_ROWS, NUM_FACES), dtype=np.uint8)
    nearness = np.empty(2, dtype=np.int64)
    movers = np.empty(_MOST_TURNS, dtype=np.int64)
    count = 0
    for deal in range(deals):
        deal_kernel(states, 0, rules, seed + np.uint64(deal), deal % 2, everybody)
        nearness[:] = UNKNOWN
        turns = 0
        while int(states[0]["phase"]) != OVER:
            if turns < _MOST_TURNS:
                pairs[count + turns] = value_terms(states[0], rules[0], table, terms[count + turns], room)
                movers[turns] = int(states[0]["current_player"])
                turns += 1
            play_on(states, 0, 1, rules, table, nearness, room)
        for turn in range(turns):
            points[count + turn] = float(states[0]["returns"][movers[turn]])
        count += turns
    return count


def load_config(path: Path) -> FitConfig:
    """Read a configuration.

    Raises:
        InvalidFile: it can't be read, or its keys are not those of `FitConfig`.
    """
    try:
        data: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        return FitConfig(**data)
    except (OSError, tomllib.TOMLDecodeError, TypeError) as error:
        names = ", ".join(field.name for field in fields(FitConfig))
        raise InvalidFile(f"{path}: {error}; a fit has the keys {names}") from error


def main(arguments: list[str] | None = None) -> int:
    """Fit, and write the file of the value."""
    parser = argparse.ArgumentParser(prog="python -m training.fit_search", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("config", type=Path, help="TOML file, such as configs/search.toml")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("paplu_env/bots/search_weights.json"),
        help="file to write (default: %(default)s, what `search` plays by)",
    )
    options = parser.parse_args(arguments)
    try:
        config = load_config(options.config)
        lines, explained = fit(config)
    except PapluError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    data = {
        "made_by": f"python -m training.fit_search {options.config.as_posix()}",
        "config": asdict(config),
        "explained": round(explained, 4),
        "lines": np.round(lines, 4).tolist(),
    }
    write_json(options.out, data)
    print(f"wrote {options.out}: explains {explained:.1%} of the variance")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
