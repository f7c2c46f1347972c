"""What a match found: figures with their intervals, as values, as JSON and as a table."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env.engine.chance import policy_seed_of
from paplu_env.engine.state import (
    ANNOUNCED,
    DECLARED,
    DROPPED_FIRST,
    DROPPED_MIDDLE,
    LOWER_DEADWOOD,
    TRUNCATED,
    VOID,
    WRONG_DECLARED,
)
from paplu_env.evaluation.games import NOBODY, Games
from paplu_env.evaluation.stats import Interval, mean_interval, share_interval, standard_error

# With fewer deals to learn from, a fitted factor on the luck would be worse than the guess that it is 1.
_FEW_DEALS: Final = 50


@dataclass(frozen=True, kw_only=True)
class MatchResult:
    """How a match between ``a`` and ``b`` went, seen from ``a``.

    Points are per game. Intervals are at 95 % and take a deal with its rotations as one observation.
    Pairs are (``a``'s, ``b``'s); with more than two seats ``b`` stands for all others together.

    Attributes:
        a, b: names of the policies.
        rules: the rule set, as a rules string.
        seed: of the deals.
        policy_seed: of the policies' chance.
        deals: distinct deals.
        games: deals times seat rotations.
        win_rate: share of all games with ``winner == a``; games without a winner count as not won.
        win_rate_interval: its interval.
        wins: games won, a pair.
        points_per_deal: mean return of ``a``.
        points_interval: its interval.
        points_error: its standard error, over deals.
        points_spread: standard deviation of the return of one game.
        adjusted_points: the same mean as ``points_per_deal``, less the luck of the draws (`draw_luck`): as true on
            average, and known more narrowly. None where the luck isn't estimated, as in the next three.
        adjusted_interval: its interval.
        adjusted_error: its standard error, over deals.
        saving: how many times more deals the plain mean takes to be known as narrowly: the ratio of the variances.
        starter_win_rate, starter_win_interval, starter_points, starter_points_interval: the same for
            whoever had the first turn; at two seats both players had it equally often.
        declares: games ended by a declaration or an announcement that was right.
        wrong_declares, first_drops, middle_drops: how often a player went out in that way.
        voids, truncations, lower_deadwood: games that ended so.
        mean_turns, median_turns, long_turns: draws by all seats together: mean, median, and the number
            that 95 % of the games don't exceed.
        loser_points: mean of what a loser paid after a right declaration; None without one.
    """

    a: str
    b: str
    rules: str
    seed: int
    policy_seed: int
    deals: int
    games: int
    win_rate: float
    win_rate_interval: Interval
    wins: tuple[int, int]
    points_per_deal: float
    points_interval: Interval
    points_error: float
    points_spread: float
    adjusted_points: float | None
    adjusted_interval: Interval | None
    adjusted_error: float | None
    saving: float | None
    starter_win_rate: float
    starter_win_interval: Interval
    starter_points: float
    starter_points_interval: Interval
    declares: tuple[int, int]
    wrong_declares: tuple[int, int]
    first_drops: tuple[int, int]
    middle_drops: tuple[int, int]
    voids: int
    truncations: int
    lower_deadwood: int
    mean_turns: float
    median_turns: float
    long_turns: float
    loser_points: float | None

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain values, ready for JSON."""
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        return _format(self)


def summarise(games: Games, names: Sequence[str], rules: str, seed: int, policy_seed: int | None = None) -> MatchResult:
    """The result of finished games, for the first player against the others.

    Args:
        games: ``(deals, P)`` of `games.games_dtype`, with at least two deals.
        names: one per player; equal names of the others are written once.
        rules: the rule set, as text.
        seed: of the deals.
        policy_seed: of the policies' chance.

    Raises:
        PapluError: fewer than two deals, so no spread is known.
    """
    players = games["returns"].shape[-1]
    starts = np.take_along_axis(games["returns"], games["first"][..., None], axis=-1)[..., 0]
    points, adjusted = cluster_points(games)
    won = (games["winner"] == 0).mean(axis=1)
    starter_won = (games["winner"] == games["first"]).mean(axis=1)
    is_declared = np.isin(games["ending"], (DECLARED, ANNOUNCED))
    winners = games["winner"][is_declared]
    gains = games["returns"][is_declared, winners]
    return MatchResult(
        a=names[0],
        b=" + ".join(dict.fromkeys(names[1:])),
        rules=rules,
        seed=seed,
        policy_seed=policy_seed_of(seed) if policy_seed is None else policy_seed,
        deals=len(games),
        games=games.size,
        win_rate=float(won.mean()),
        win_rate_interval=share_interval(won),
        wins=_pair(games["winner"][games["winner"] != NOBODY] == 0),
        points_per_deal=float(points.mean()),
        points_interval=mean_interval(points),
        points_error=standard_error(points),
        points_spread=float(games["returns"][..., 0].std(ddof=1)),
        adjusted_points=None if adjusted is None else float(adjusted.mean()),
        adjusted_interval=None if adjusted is None else mean_interval(adjusted),
        adjusted_error=None if adjusted is None else standard_error(adjusted),
        saving=None if adjusted is None else _ratio(points.var(), adjusted.var()),
        starter_win_rate=float(starter_won.mean()),
        starter_win_interval=share_interval(starter_won),
        starter_points=float(starts.mean()),
        starter_points_interval=mean_interval(starts.mean(axis=1)),
        declares=_pair(winners == 0),
        wrong_declares=_out(games, WRONG_DECLARED),
        first_drops=_out(games, DROPPED_FIRST),
        middle_drops=_out(games, DROPPED_MIDDLE),
        voids=int((games["ending"] == VOID).sum()),
        truncations=int((games["ending"] == TRUNCATED).sum()),
        lower_deadwood=int((games["ending"] == LOWER_DEADWOOD).sum()),
        mean_turns=float(games["turns"].mean()),
        median_turns=float(np.median(games["turns"])),
        long_turns=float(np.quantile(games["turns"], 0.95, method="inverted_cdf")),
        loser_points=float(gains.mean() / (players - 1)) if gains.size else None,
    )


def cluster_points(games: Games) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64] | None]:
    """The first player's mean points of each deal, plain and less the luck of the draws.

    The luck is taken off in the measure that makes points steadiest. That factor is learned for deals of even
    number from those of odd number, and the other way round, so that it knows nothing of the luck that it
    multiplies: the mean stays true, and a match in which the value function fails isn't made worse.

    Returns:
        Two arrays ``(deals,)``; None for the second where the luck wasn't estimated.
    """
    plain = games["returns"][..., 0].mean(axis=1)
    if np.isnan(games["luck"]).any():
        return plain, None
    luck = games["luck"].mean(axis=1)
    adjusted = plain.copy()
    for half, other in ((slice(0, None, 2), slice(1, None, 2)), (slice(1, None, 2), slice(0, None, 2))):
        adjusted[half] -= _factor(plain[other], luck[other]) * luck[half]
    return plain, adjusted


def _factor(plain: npt.NDArray[np.float64], luck: npt.NDArray[np.float64]) -> float:
    """The factor on the luck under which what is left spreads least, learned from these deals."""
    spread = float(luck @ luck)
    if len(luck) < _FEW_DEALS or spread == 0.0:
        return 1.0
    return float((plain - plain.mean()) @ luck) / spread


def _ratio(plain: float, adjusted: float) -> float | None:
    """Ratio of two variances; None where the second is zero, as in a match of a bot with itself."""
    return float(plain / adjusted) if adjusted > 0 else None


def _pair(is_a: npt.NDArray[np.bool_]) -> tuple[int, int]:
    """How many are the first player's, and how many the others'."""
    return int(is_a.sum()), int((~is_a).sum())


def _out(games: Games, status: int) -> tuple[int, int]:
    """How often the first player, and how often the others, went out in one way."""
    is_out = games["status"] == status
    return int(is_out[..., 0].sum()), int(is_out[..., 1:].sum())


def _format(result: MatchResult) -> str:
    """The result as an aligned table."""
    others = result.games - sum(result.wins)
    mean_lost = "–" if result.loser_points is None else f"{result.loser_points:.1f}"
    rows = [
        ("win rate", f"{_share(result.win_rate)} {_shares(result.win_rate_interval)}"),
        ("points per deal", f"{result.points_per_deal:+.2f} {_points(result.points_interval)}"),
        ("less the luck of draws", _adjusted(result)),
        ("standard error", f"{result.points_error:.2f} over deals; one game spreads by {result.points_spread:.1f}"),
        ("wins", f"{result.wins[0]:,} : {result.wins[1]:,}, without a winner {others:,}"),
        ("declarations", f"{result.declares[0]:,} : {result.declares[1]:,}, the loser paid {mean_lost}"),
        ("first drops", f"{result.first_drops[0]:,} : {result.first_drops[1]:,}"),
        ("later drops", f"{result.middle_drops[0]:,} : {result.middle_drops[1]:,}"),
        ("wrong declarations", f"{result.wrong_declares[0]:,} : {result.wrong_declares[1]:,}"),
        ("void", f"{result.voids:,}"),
        ("cut at the limit", f"{result.truncations:,}, won by fewer points {result.lower_deadwood:,}"),
        ("draws", f"mean {result.mean_turns:.1f}, median {result.median_turns:g}, 95 % within {result.long_turns:g}"),
        (
            "whoever starts",
            f"{_share(result.starter_win_rate)} {_shares(result.starter_win_interval)}, "
            f"{result.starter_points:+.2f} {_points(result.starter_points_interval)}",
        ),
    ]
    width = max(len(label) for label, _ in rows)
    title = (
        f"{result.a} against {result.b}, {result.rules}: "
        f"{result.deals:,} deals, {result.games:,} games, seed {result.seed}"
    )
    return "\n".join([title, *(f"  {label:<{width}}  {text}" for label, text in rows)])


def _adjusted(result: MatchResult) -> str:
    """The adjusted points, or why there are none."""
    if result.adjusted_points is None or result.adjusted_interval is None:
        return "– (not estimated at this table)"
    saved = "" if result.saving is None else f", worth {result.saving:.1f} times the deals"
    return f"{result.adjusted_points:+.2f} {_points(result.adjusted_interval)}{saved}"


def _share(value: float) -> str:
    return f"{100 * value:.1f} %"


def _shares(interval: Interval) -> str:
    return f"[{100 * interval[0]:.1f}, {100 * interval[1]:.1f}]"


def _points(interval: Interval) -> str:
    return f"[{interval[0]:+.2f}, {interval[1]:+.2f}]"
