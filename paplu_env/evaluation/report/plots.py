"""Pictures of a tournament, as SVG to be laid into a page; the only file of evaluation that draws."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from paplu_env.engine.state import DECLARED, ENDED_BY_DROP, LOWER_DEADWOOD, TRUNCATED, VOID
from paplu_env.errors import PapluError
from paplu_env.evaluation.report.text import NOTABLE, comparisons, matches
from paplu_env.evaluation.tournament import TournamentResult

try:
    import matplotlib
    from matplotlib.figure import Figure
except ImportError as error:  # pragma: no cover - depends on what is installed
    raise PapluError("pictures need matplotlib, which comes with the extra: pip install 'paplu-env[report]'") from error

_INK: Final = "#1f2933"
_FAINT: Final = "#9aa5b1"
_ROW, _COLUMN, _NEUTRAL = "#2166ac", "#b2182b", "#c9ced6"
_STYLE: Final[dict[Any, Any]] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.edgecolor": _FAINT,
    "axes.labelcolor": _INK,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "text.color": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "paplu",  # equal results are equal bytes
}
# How deals end, in the order of the bars: what it is, whose, its colour.
_ENDINGS: Final = (
    ("row declares", DECLARED, 0, _ROW),
    ("row wins by a drop", ENDED_BY_DROP, 0, "#92c5de"),
    ("nobody wins", None, -1, _NEUTRAL),
    ("column wins by a drop", ENDED_BY_DROP, 1, "#f4a582"),
    ("column declares", DECLARED, 1, _COLUMN),
)
_FAR_BEHIND: Final = 4.0  # times the spread of all others: that far behind, a policy would squeeze the picture
_QUANTILES: Final = (0.05, 0.25, 0.5, 0.75, 0.95)


def pictures(result: TournamentResult, rules: str) -> list[tuple[str, str]]:
    """The pictures of one rule set: title and SVG of each, in the order in which to read them."""
    drawn: list[tuple[str, Callable[[TournamentResult, str], Figure]]] = [
        ("Who is how strong", draw_ratings),
        ("Points per deal, row against column", draw_points),
        ("Games won by the row, in %", draw_wins),
        ("How deals end", draw_endings),
        ("How long deals last", draw_lengths),
    ]
    if comparisons(result, rules):
        drawn.append(("Beside the published figures", draw_comparison))
    with matplotlib.rc_context(_STYLE):
        return [(text, _svg(draw(result, rules))) for text, draw in drawn]


def draw_ratings(result: TournamentResult, rules: str) -> Figure:
    """Points against the field and Bradley–Terry ratings, with intervals."""
    standings = result.ratings[rules].standings
    places = np.arange(len(standings))[::-1]
    figure = _figure(8.6, 0.9 + 0.38 * len(standings))
    axes = figure.subplots(1, 2, sharey=True)
    columns = (
        ("points per deal against the field", [(entry.points, entry.points_interval) for entry in standings]),
        ("rating, 400 = odds of ten to one", [(entry.rating, entry.rating_interval) for entry in standings]),
    )
    for axis, (label, values) in zip(axes, columns, strict=True):
        axis.axvline(0, color=_FAINT, linewidth=0.8, zorder=0)
        left, right = _limits([value for value, _ in values], [interval for _, interval in values])
        for place, (value, (low, high)) in zip(places, values, strict=True):
            if value < left:
                axis.annotate(f"◂ {value:+.1f}", (left, place), va="center", fontsize=8, color=_COLUMN)
                continue
            axis.plot([low, high], [place, place], color=_ROW, linewidth=2.4, solid_capstyle="round")
            axis.plot(value, place, "o", color=_ROW, markersize=5)
            axis.annotate(
                f"{value:+.1f}", (value, place), xytext=(0, 6), textcoords="offset points", ha="center", fontsize=8
            )
        axis.set_yticks(places, [entry.name for entry in standings])
        axis.set_ylim(-0.6, len(standings) - 0.3)
        axis.set_xlabel(label)
        axis.set_xlim(left, right)
    return figure


def _limits(values: Sequence[float], intervals: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Ends of an axis that shows the field; whoever is far behind all others is left outside on the left."""
    order = np.argsort(values)
    spread = values[order[-1]] - values[order[1]] if len(values) > 2 else np.inf
    is_far = values[order[1]] - values[order[0]] > _FAR_BEHIND * spread
    shown = [intervals[k] for k in order[1 if is_far else 0 :]]
    low, high = min(low for low, _ in shown), max(high for _, high in shown)
    room = 0.15 * (high - low) + 1e-9
    return low - (2 * room if is_far else room), high + room


def draw_points(result: TournamentResult, rules: str) -> Figure:
    """Points per deal of every pair as a coloured table."""
    values = {(match.a, match.b): match.points_per_deal for match in matches(result, rules)}
    return _draw_matrix(result, rules, values, lambda value: -value, 0.0, "{:+.2f}")


def draw_wins(result: TournamentResult, rules: str) -> Figure:
    """Share of games that the row won, of those that somebody won, as a coloured table."""
    values = {(match.a, match.b): 100 * match.wins[0] / max(sum(match.wins), 1) for match in matches(result, rules)}
    return _draw_matrix(result, rules, values, lambda value: 100 - value, 50.0, "{:.1f}")


def _draw_matrix(
    result: TournamentResult,
    rules: str,
    values: dict[tuple[str, str], float],
    turn: Callable[[float], float],
    middle: float,
    form: str,
) -> Figure:
    names = [entry.name for entry in result.ratings[rules].standings]
    size = len(names)
    table = np.full((size, size), np.nan)
    for (a, b), value in values.items():
        table[names.index(a), names.index(b)] = value
        table[names.index(b), names.index(a)] = turn(value)
    # Roots of the differences: one pair far apart, such as any against random play, must not bleach the others.
    shades = np.sign(table - middle) * np.sqrt(np.abs(table - middle))
    reach = max(float(np.nanmax(np.abs(shades))), 1e-9)
    figure = _figure(2.6 + 1.0 * size, 0.9 + 0.5 * size)
    axis = figure.subplots()
    axis.imshow(shades, cmap="RdBu", vmin=-1.15 * reach, vmax=1.15 * reach, aspect="auto")
    for line in range(1, size):
        axis.axhline(line - 0.5, color="white", linewidth=2)
        axis.axvline(line - 0.5, color="white", linewidth=2)
    for row in range(size):
        for column in range(size):
            if row == column:
                continue
            is_dark = abs(shades[row, column]) > 0.75 * reach
            text = form.format(table[row, column])
            axis.text(column, row, text, ha="center", va="center", color="white" if is_dark else _INK)
    axis.set_xticks(range(size), names, rotation=20, ha="left")
    axis.set_yticks(range(size), names)
    axis.xaxis.tick_top()
    axis.tick_params(length=0)
    for side in axis.spines.values():
        side.set_visible(False)
    return figure


def draw_endings(result: TournamentResult, rules: str) -> Figure:
    """Shares of the ways in which a pair's games end, as bars."""
    pairs = [pair for pair in result.pairs if pair.rules == rules]
    figure = _figure(8.6, 1.1 + 0.3 * len(pairs))
    axis = figure.subplots()
    lefts = np.zeros(len(pairs))
    places = np.arange(len(pairs))[::-1]
    for label, ending, winner, colour in _ENDINGS:
        shares = np.array([100 * np.mean(_ends(pair.games, ending, winner)) for pair in pairs])
        if shares.any():
            axis.barh(places, shares, left=lefts, height=0.7, color=colour, label=label)
        lefts += shares
    if (lefts < 99.95).any():
        axis.barh(places, 100 - lefts, left=lefts, height=0.7, color=_FAINT, label="otherwise")
    axis.axvline(50, color="white", linewidth=0.8)
    axis.set_yticks(places, [f"{pair.match.a} : {pair.match.b}" for pair in pairs])
    axis.set_xlim(0, 100)
    axis.set_xlabel("% of games")
    axis.legend(ncols=5, loc="lower center", bbox_to_anchor=(0.35, 1.0), frameon=False, fontsize=8)
    return figure


def _ends(games: Any, ending: int | None, winner: int) -> Any:
    """Which games end in one way; no ending: those that nobody won."""
    if ending is None:
        return (games["winner"] == winner) & np.isin(games["ending"], (VOID, TRUNCATED, LOWER_DEADWOOD))
    return (games["ending"] == ending) & (games["winner"] == winner)


def draw_lengths(result: TournamentResult, rules: str) -> Figure:
    """Draws by both seats together: median, middle half and middle nine tenths of each pair."""
    pairs = [pair for pair in result.pairs if pair.rules == rules]
    figure = _figure(8.6, 0.9 + 0.3 * len(pairs))
    axis = figure.subplots()
    places = np.arange(len(pairs))[::-1]
    for place, pair in zip(places, pairs, strict=True):
        least, low, middle, high, most = np.quantile(pair.games["turns"], _QUANTILES)
        axis.plot([least, most], [place, place], color=_NEUTRAL, linewidth=3, solid_capstyle="round")
        axis.plot([low, high], [place, place], color=_ROW, linewidth=6, solid_capstyle="butt")
        axis.plot(middle, place, "o", color="white", markeredgecolor=_INK, markersize=6)
    axis.set_yticks(places, [f"{pair.match.a} : {pair.match.b}" for pair in pairs])
    axis.set_xlim(left=0)
    axis.set_xlabel("draws by both seats together: median, middle half, middle 90 %")
    return figure


def draw_comparison(result: TournamentResult, rules: str) -> Figure:
    """Ours less published, with our intervals; the band is what needs no explanation."""
    compared = comparisons(result, rules)
    places = np.arange(len(compared))[::-1]
    figure = _figure(8.6, 0.9 + 0.3 * len(compared))
    axes = figure.subplots(1, 2, sharey=True)
    columns = (
        ("wins, ours less published, in %", [(c.win_gap, c.win_gap_interval) for _, c in compared], 100.0),
        ("points per deal, ours less published", [(c.points_gap, c.points_gap_interval) for _, c in compared], 1.0),
    )
    for axis, (label, values, factor) in zip(axes, columns, strict=True):
        axis.axvspan(-NOTABLE, NOTABLE, color="#eef1f5", zorder=0)
        axis.axvline(0, color=_FAINT, linewidth=0.8)
        for place, (value, (low, high)) in zip(places, values, strict=True):
            colour = _COLUMN if abs(factor * value) > NOTABLE else _ROW
            axis.plot([factor * low, factor * high], [place, place], color=colour, linewidth=2.4)
            axis.plot(factor * value, place, "o", color=colour, markersize=5)
        axis.set_yticks(places, [f"{match.a} : {match.b}" for match, _ in compared])
        axis.set_ylim(-0.6, len(compared) - 0.4)
        axis.set_xlabel(label)
    return figure


def _figure(width: float, height: float) -> Figure:
    return Figure(figsize=(width, height), layout="constrained")


def _svg(figure: Figure) -> str:
    """The picture as an ``<svg>`` element."""
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    text = file.getvalue()
    return text[text.index("<svg") :]
