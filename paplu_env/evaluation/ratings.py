"""Ratings of many policies from their matches: Bradley–Terry on games, least squares on points, and what they hide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Final

import numpy as np
import numpy.typing as npt

from paplu_env.errors import PapluError
from paplu_env.evaluation.stats import Interval

Floats = npt.NDArray[np.float64]

RESAMPLES: Final = 1000  # of the deals; the ends of a 95 % interval are then good to about a twentieth of its length
_BLOCK: Final = 50  # resamples at once, a bound on memory: one weight per deal each
_SCALE: Final = 400 / np.log(10)  # points of a rating per unit of log odds: 400 points are odds of ten to one
# Won games added to both sides of every pair that met. Without them a policy that won all its games would be
# infinitely strong; with thousands of games against near equals they move a rating by less than a point.
_PRIOR: Final = 0.5
_STEADY: Final = 1e-9  # step of a log strength at which the iteration stops; what is left is its square
_MAX_STEPS: Final = 1000  # some ten are taken, a hundred where hundreds of policies win every game


@dataclass(frozen=True)
class PairScores:
    """What two policies made of the deals that they played, deal 0 first.

    Attributes:
        a, b: their places in the list of policies.
        wins: ``(deals,)``, share of the deal's games that ``a`` won; a game without a winner (void, cut,
            tied) is half a game won by each.
        points: ``(deals,)``, ``a``'s mean return over the deal's rotations.
        games: games per deal.
    """

    a: int
    b: int
    wins: Floats
    points: Floats
    games: int


@dataclass(frozen=True, kw_only=True)
class Rating:
    """How strong one policy is among those that it was compared with.

    Attributes:
        name: of the policy.
        rating: Bradley–Terry on the scale of chess: mean 0, and 400 more are odds of ten to one.
        rating_interval: its interval.
        points: points per deal against an average of the field: the least-squares fit of
            "``a`` gains ``points(a) - points(b)``", mean 0.
        points_interval: its interval.
    """

    name: str
    rating: float
    rating_interval: Interval
    points: float
    points_interval: Interval


@dataclass(frozen=True, kw_only=True)
class Misfit:
    """How far one pair is from what the ratings say of it.

    Attributes:
        a, b: names.
        wins, wins_interval: share of games that ``a`` won, less the share that the ratings expect.
        points, points_interval: points per deal of ``a``, less the difference of the two.
    """

    a: str
    b: str
    wins: float
    wins_interval: Interval
    points: float
    points_interval: Interval


@dataclass(frozen=True, kw_only=True)
class Ratings:
    """A table of ratings, and how far a single number per policy can be believed.

    Intervals are at 95 %, from resampled deals: all pairs played the same cards, so a deal is drawn with the
    games of every pair at once.

    Attributes:
        standings: best first, by points.
        misfits: of every pair; the largest by points first.
        win_cycles: triples in which each beats the next in games and the last the first, all three beyond
            their intervals.
        point_cycles: the same in points.
        groups: of names, best first. Within a group wins lead from everybody to everybody, and ratings can be
            compared; between two groups no rating is finite, since one won every game, and what ``rating`` says of
            them is made of the half game that `bradley_terry` adds. One group: all ratings are finite.
    """

    standings: tuple[Rating, ...]
    misfits: tuple[Misfit, ...]
    win_cycles: tuple[tuple[str, str, str], ...]
    point_cycles: tuple[tuple[str, str, str], ...]
    groups: tuple[tuple[str, ...], ...]

    @property
    def caution(self) -> str:
        """A sentence for readers of a table with ratings that aren't finite; "" where all are."""
        if len(self.groups) == 1:
            return ""
        order = " > ".join(", ".join(group) for group in self.groups)
        return (
            f"No finite rating between {order}: whoever stands further left lost no game to those further right. "
            "The ratings shown count half a game more won by each side of every pair."
        )


def rate(names: Sequence[str], pairs: Sequence[PairScores], seed: int = 0, resamples: int = RESAMPLES) -> Ratings:
    """Ratings of the policies from what each pair made of the same deals.

    Args:
        names: one per policy.
        pairs: every pair at most once; together they must connect all policies.
        seed: of the resampling.
        resamples: of the deals.

    Raises:
        PapluError: a policy that met nobody, or two groups that never met.
    """
    _check_connected(names, pairs)
    players = len(names)
    ones = np.ones((1, max(len(pair.wins) for pair in pairs)))
    wins, points = _means(pairs, ones)
    drawn = [_means(pairs, weights) for weights in _weights(ones.shape[1], seed, resamples)]
    some_wins = np.concatenate([part[0] for part in drawn])
    some_points = np.concatenate([part[1] for part in drawn])
    elos, some_elos = (_ratings_of(pairs, shares, players) for shares in (wins, some_wins))
    values, some_values = (_values_of(pairs, gains, players) for gains in (points, some_points))
    standings = [
        Rating(
            name=name,
            rating=float(elos[0, k]),
            rating_interval=_middle(some_elos[:, k]),
            points=float(values[0, k]),
            points_interval=_middle(some_values[:, k]),
        )
        for k, name in enumerate(names)
    ]
    misfits = []
    for p, pair in enumerate(pairs):
        off_wins, some_off_wins = (
            shares[:, p] - _expected(table[:, pair.a] - table[:, pair.b])
            for shares, table in ((wins, elos), (some_wins, some_elos))
        )
        off_points, some_off_points = (
            gains[:, p] - (table[:, pair.a] - table[:, pair.b])
            for gains, table in ((points, values), (some_points, some_values))
        )
        misfits.append(
            Misfit(
                a=names[pair.a],
                b=names[pair.b],
                wins=float(off_wins[0]),
                wins_interval=_middle(some_off_wins),
                points=float(off_points[0]),
                points_interval=_middle(some_off_points),
            )
        )
    return Ratings(
        standings=tuple(sorted(standings, key=lambda rating: -rating.points)),
        misfits=tuple(sorted(misfits, key=lambda misfit: -abs(misfit.points))),
        win_cycles=_cycles(names, pairs, [_middle(some_wins[:, p] - 0.5) for p in range(len(pairs))]),
        point_cycles=_cycles(names, pairs, [_middle(some_points[:, p]) for p in range(len(pairs))]),
        groups=_groups(names, pairs),
    )


def bradley_terry(wins: Floats) -> Floats:
    """Strengths under which these results are likeliest, as ratings with mean 0.

    Half a game won is added to both sides of every pair that met, so that there is always such a maximum; without it
    there is none between two groups of which one won every game (`Ratings.groups`). The likelihood is concave, and
    Newton's method with steps damped as Bach (2010) has it for sums of logistic terms always comes to its top.

    Args:
        wins: ``(..., N, N)``, games that the row won against the column; a game without a winner is half
            a game for each.

    Returns:
        ``(..., N)``.

    Raises:
        PapluError: two groups that never met.

    >>> bradley_terry(np.array([[0.0, 909.5], [90.5, 0.0]])).round(1).tolist()
    [200.0, -200.0]
    """
    met = (wins + wins.swapaxes(-1, -2)) > 0
    if not _reachable(met).all():
        raise PapluError("these can't be rated together: no chain of games connects all of them")
    counted = wins + _PRIOR * met
    games = counted + counted.swapaxes(-1, -2)
    players = wins.shape[-1]
    logs = np.zeros(wins.shape[:-1])
    for _ in range(_MAX_STEPS):
        chances = 1 / (1 + np.exp(logs[..., None, :] - logs[..., :, None]))
        slope = (counted - games * chances).sum(axis=-1)
        spread = games * chances * (1 - chances)
        # The likelihood's second derivative but for its sign. Ones, since it leaves the mean open, which stays 0.
        curve = np.eye(players) * spread.sum(axis=-1)[..., None] - spread + 1.0
        step = np.linalg.solve(curve, slope[..., None])[..., 0]
        reach = np.ptp(step, axis=-1)
        logs += step * (np.log1p(reach) / np.maximum(reach, _STEADY))[..., None]
        if reach.max(initial=0.0) < _STEADY:
            return np.asarray(_SCALE * (logs - logs.mean(axis=-1, keepdims=True)))
    raise ArithmeticError("the ratings of these results don't settle")  # our own mistake: no table does this


def _reachable(edges: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """``(..., N, N)``: whether a chain of edges leads from the row to the column, as one does from each to itself."""
    chains = edges | np.eye(edges.shape[-1], dtype=np.bool_)
    for _ in range(int(edges.shape[-1]).bit_length()):
        chains = chains @ chains
    return chains


def _groups(names: Sequence[str], pairs: Sequence[PairScores]) -> tuple[tuple[str, ...], ...]:
    """The policies in groups, best first, between which no rating is finite; see `Ratings.groups`."""
    won = np.zeros((len(names), len(names)), dtype=np.bool_)
    for pair in pairs:
        won[pair.a, pair.b] = bool((pair.wins > 0).any())
        won[pair.b, pair.a] = bool((pair.wins < 1).any())
    chains = _reachable(won)
    found = {tuple(np.flatnonzero(chains[k] & chains[:, k]).tolist()) for k in range(len(names))}
    best_first = sorted(found, key=lambda group: (-int(chains[group[0]].sum()), group))
    return tuple(tuple(names[k] for k in group) for group in best_first)


def _expected(difference: Floats) -> Floats:
    """Share of games that a difference of ratings promises."""
    return np.asarray(1 / (1 + np.exp(-difference / _SCALE)))


def _weights(deals: int, seed: int, resamples: int) -> list[Floats]:
    """How often each resample draws each deal, block by block: Poisson numbers, so that a pair which played only
    the first deals is resampled by the same ones."""
    generator = np.random.default_rng(seed)
    sizes = [min(_BLOCK, resamples - start) for start in range(0, resamples, _BLOCK)]
    return [generator.poisson(1.0, (size, deals)).astype(np.float64) for size in sizes]


def _means(pairs: Sequence[PairScores], weights: Floats) -> tuple[Floats, Floats]:
    """Share of wins and points of every pair under weighted deals, each ``(R, pairs)``."""
    wins, points = [], []
    for pair in pairs:
        own = weights[:, : len(pair.wins)]
        total = np.maximum(own.sum(axis=1), 1.0)  # a resample of a few deals may miss them all
        wins.append(own @ pair.wins / total)
        points.append(own @ pair.points / total)
    return np.stack(wins, axis=1), np.stack(points, axis=1)


def _ratings_of(pairs: Sequence[PairScores], shares: Floats, players: int) -> Floats:
    """Bradley–Terry ratings ``(R, N)`` of shares of wins ``(R, pairs)``."""
    table = np.zeros((len(shares), players, players))
    for p, pair in enumerate(pairs):
        games = pair.games * len(pair.wins)
        table[:, pair.a, pair.b] = games * shares[:, p]
        table[:, pair.b, pair.a] = games * (1 - shares[:, p])
    return bradley_terry(table)


def _values_of(pairs: Sequence[PairScores], gains: Floats, players: int) -> Floats:
    """Least-squares points ``(R, N)``, mean 0, of points per pair ``(R, pairs)``; every pair counts the same."""
    design = np.zeros((len(pairs) + 1, players))
    for p, pair in enumerate(pairs):
        design[p, pair.a], design[p, pair.b] = 1.0, -1.0
    design[-1] = 1.0  # the mean, which the pairs leave open, is 0
    aims = np.concatenate([gains, np.zeros((len(gains), 1))], axis=1)
    return np.asarray(aims @ np.linalg.pinv(design).T)


def _middle(values: Floats) -> Interval:
    """The middle 95 % of resampled values."""
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def _cycles(
    names: Sequence[str], pairs: Sequence[PairScores], margins: Sequence[Interval]
) -> tuple[tuple[str, str, str], ...]:
    """Triples that go round, each win beyond its interval; every one is named once, its first name first."""
    beats = set()
    for pair, (low, high) in zip(pairs, margins, strict=True):
        if low > 0:
            beats.add((pair.a, pair.b))
        elif high < 0:
            beats.add((pair.b, pair.a))
    rounds = [
        (a, b, c)
        for a, b, c in permutations(range(len(names)), 3)
        if a == min(a, b, c) and {(a, b), (b, c), (c, a)} <= beats
    ]
    return tuple((names[a], names[b], names[c]) for a, b, c in rounds)


def _check_connected(names: Sequence[str], pairs: Sequence[PairScores]) -> None:
    """Refuse policies that no chain of matches compares."""
    group = list(range(len(names)))
    for pair in pairs:
        old, new = group[pair.a], group[pair.b]
        group = [new if mark == old else mark for mark in group]
    if len(set(group)) != 1:
        apart = next((a, b) for a, b in combinations(range(len(names)), 2) if group[a] != group[b])
        raise PapluError(
            f"{names[apart[0]]} and {names[apart[1]]} can't be rated together: no chain of matches connects them"
        )
