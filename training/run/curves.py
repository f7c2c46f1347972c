"""Pictures of runs, drawn by matplotlib: how they learned, what happened at the table, how the best network plays."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env.errors import PapluError
from training.run.record import Curve, RunRecord

try:
    import matplotlib
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.ticker import EngFormatter, ScalarFormatter
except ImportError as error:  # pragma: no cover - depends on what is installed
    raise PapluError("curves need matplotlib, which comes with the extra: pip install 'paplu-env[report]'") from error

_INK, _FAINT = "#1f2933", "#9aa5b1"
# Okabe and Ito's colours, which people who see fewer of them can still tell apart.
_COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5c3e")
_STYLE: Final[dict[Any, Any]] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "text.color": _INK,
    "axes.edgecolor": _FAINT,
    "axes.labelcolor": _INK,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.prop_cycle": matplotlib.cycler(color=_COLOURS),
    "grid.color": "#e8ebef",
    "xtick.color": _INK,
    "ytick.color": _INK,
    "lines.linewidth": 1.8,
    "legend.frameon": False,
    "svg.hashsalt": "paplu",  # equal runs are equal bytes
}
_WIDTH: Final = 8.8  # inches of every picture, so that their letters are of one size on the page
# How a deal can end, in the order of the bands: what it is called, the logged rate, the colour. Endings that only some
# rules know are left over, and drawn on top.
_ENDINGS: Final = (
    ("learner declares", "declared", "#3f8fc6"),
    ("opponent drops", "opponent_dropped", "#a9d0ea"),
    ("nobody wins", "void", "#d9dee4"),
    ("cut at the limit", "cut", "#aab2bd"),
    ("wrong declaration", "wrong_declared", "#5b6470"),
    ("learner drops at once", "first_dropped", "#f7c79b"),
    ("learner drops later", "later_dropped", "#f0b27a"),
    ("opponent declares", "opponent_declared", "#e0813f"),
)
_OTHERWISE: Final = ("otherwise", "#7f6aa8")
_LEAST: Final = 0.0005  # a share below this in every stretch has no band: it would be a name without a colour


def draw_learning(records: Sequence[RunRecord]) -> Figure:
    """Matches against the fixed agent over the run, points and wins, one line per run; a ring marks the best."""
    figure, (left, right) = _row(2, 3.1)
    rivals = list(dict.fromkeys(record.config.evaluation.opponent for record in records))
    for record, colour in zip(records, _cycle(len(records)), strict=True):
        label = record.name if len(rivals) == 1 else f"{record.name}, against {record.config.evaluation.opponent}"
        steps = np.array([match["step"] for match in record.matches], dtype=float)
        for axis, key, band in (
            (left, "points_per_deal", "points_interval"),
            (right, "win_rate", "win_rate_interval"),
        ):
            values = np.array([match[key] for match in record.matches])
            low, high = np.array([match[band] for match in record.matches]).T
            axis.fill_between(steps, low, high, color=colour, alpha=0.14, linewidth=0)
            axis.plot(steps, values, color=colour, label=label, marker="o", markersize=2.6)
            best = record.best
            axis.plot(best["step"], best[key], "o", markersize=9, markerfacecolor="none", color=colour)
    rival = rivals[0] if len(rivals) == 1 else "the fixed agent"
    left.set_title(f"Points per deal against {rival}")
    right.set_title(f"Games won against {rival}")
    left.axhline(0.0, color=_FAINT, linewidth=0.9, zorder=1)
    right.axhline(0.5, color=_FAINT, linewidth=0.9, zorder=1)
    _percent(right)
    if len(records) > 1:
        _legend(figure, left)
    return figure


def draw_opponents(record: RunRecord) -> Figure:
    """Points and wins at the learner's own table, by opponent."""
    return _draw_parts(record.opponents, record.by_opponent, "against each opponent")


def draw_seats(record: RunRecord) -> Figure:
    """Points and wins at the learner's own table, by seat."""
    return _draw_parts(record.seats, record.by_seat, "at each seat", name="seat {}")


def draw_endings(record: RunRecord) -> Figure:
    """How deals end, as shares that sum to one, and how many decisions the learner has in a deal."""
    figure, (left, right) = _row(2, 3.1)
    steps, _ = record.rate("declared")
    shares = [(label, record.rate(key, absent=0.0)[1], colour) for label, key, colour in _ENDINGS]
    left_over = 1.0 - np.sum([values for _, values, _ in shares], axis=0)
    shares.append((_OTHERWISE[0], left_over, _OTHERWISE[1]))
    bands = [band for band in shares if band[1].max(initial=0.0) > _LEAST]
    left.stackplot(
        steps,
        [values for _, values, _ in bands],
        labels=[label for label, _, _ in bands],
        colors=[colour for _, _, colour in bands],
        edgecolor="white",
        linewidth=0.4,
    )
    left.set_ylim(0.0, 1.0)
    left.margins(x=0.0)
    left.set_title("How deals end")
    _percent(left)
    right.plot(*record.rate("length"))
    right.set_title("Decisions of the learner in a deal")
    _legend(figure, left)
    return figure


def draw_learner(record: RunRecord) -> Figure:
    """Entropy, divergence, explained variance and clipping: whether the learner still moves, and how far."""
    figure, axes = _row(4, 2.2)
    parts = (
        ("entropy", "Entropy (nats)"),
        ("kl", "KL per update"),
        ("explained_variance", "Value: variance explained"),
        ("clip_fraction", "Clipped decisions"),
    )
    for axis, (key, title) in zip(axes, parts, strict=True):
        axis.plot(*record.rate(key))
        axis.set_title(title, fontsize=8.5)
        axis.set_xlabel("")
        axis.tick_params(labelsize=8)
    axes[0].set_ylim(bottom=0.0)
    axes[1].set_ylim(bottom=0.0)
    _percent(axes[2])
    axes[2].set_ylim(min(0.0, axes[2].get_ylim()[0]), 1.0)
    _percent(axes[3])
    axes[3].set_ylim(bottom=0.0)
    return figure


def draw_evaluations(record: RunRecord) -> Figure:
    """The best network against every opponent that it was measured against: points and wins with 95 % intervals."""
    rows = record.evaluations
    figure, axes = _row(2, 0.9 + 0.34 * len(rows), sharey=True)
    places = np.arange(len(rows))[::-1]
    several = len({match["rules"] for match in rows}) > 1
    labels = [f"{match['b']}, {match['rules']}" if several else match["b"] for match in rows]
    for axis, key, band, middle, form in (
        (axes[0], "points_per_deal", "points_interval", 0.0, "{:+.2f}".format),
        (axes[1], "win_rate", "win_rate_interval", 0.5, lambda share: f"{100 * share:.1f} %"),
    ):
        axis.axvline(middle, color=_FAINT, linewidth=0.9, zorder=1)
        for place, match in zip(places, rows, strict=True):
            colour = _COLOURS[0] if match[key] >= middle else _COLOURS[1]
            axis.plot(match[band], [place, place], color=colour, linewidth=3, solid_capstyle="round")
            axis.plot(match[key], place, "o", color="white", markeredgecolor=colour, markersize=6)
            axis.annotate(
                form(match[key]), (match[key], place), (0, 7), textcoords="offset points", ha="center", fontsize=8
            )
        axis.set_ylim(-0.6, len(rows) - 0.2)
        axis.set_yticks(places, labels)
        axis.margins(x=0.12)
        axis.grid(axis="y", visible=False)
        axis.set_xlabel("")
    axes[0].xaxis.set_major_formatter(ScalarFormatter())
    axes[1].xaxis.set_major_formatter(_format_percent)
    axes[0].set_title("Points per deal")
    axes[1].set_title("Games won")
    return figure


def to_svg(draw: Callable[[], Figure]) -> str:
    """A picture as an ``<svg>`` element, to be laid into a page."""
    file = io.StringIO()
    with matplotlib.rc_context(_STYLE):
        draw().savefig(file, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    text = file.getvalue()
    return text[text.index("<svg") :]


SOFTWARE: Final = "paplu-env training.report"  # what a picture's file says it was made by


def to_png(draw: Callable[[], Figure]) -> bytes:
    """A picture as the content of a PNG file, to be shown where SVG isn't."""
    file = io.BytesIO()
    with matplotlib.rc_context(_STYLE):
        draw().savefig(file, format="png", dpi=150, metadata={"Software": SOFTWARE})
    return file.getvalue()


def _draw_parts(parts: Sequence[str], curve: Callable[[str, str], Curve], where: str, name: str = "{}") -> Figure:
    """Points on the left, wins on the right, one line per part."""
    figure, (left, right) = _row(2, 3.1)
    for part, colour in zip(parts, _cycle(len(parts)), strict=True):
        left.plot(*curve(part, "points"), color=colour, label=name.format(part))
        right.plot(*curve(part, "win_rate"), color=colour)
    left.axhline(0.0, color=_FAINT, linewidth=0.9, zorder=1)
    right.axhline(0.5, color=_FAINT, linewidth=0.9, zorder=1)
    left.set_title(f"Points per deal {where}")
    right.set_title(f"Deals won {where}")
    _percent(right)
    _legend(figure, left)
    return figure


def _row(count: int, height: float, sharey: bool = False) -> tuple[Figure, npt.NDArray[Any]]:
    """A figure with axes side by side, decisions along the bottom."""
    figure = Figure(figsize=(_WIDTH, height), layout="constrained")
    axes: npt.NDArray[Any] = figure.subplots(1, count, sharey=sharey)
    for axis in axes:
        axis.xaxis.set_major_formatter(EngFormatter(sep=" "))
        axis.set_xlabel("decisions of the learner")
    return figure, axes


def _legend(figure: Figure, axis: Axes) -> None:
    """Names of the lines below all axes, where they hide nothing."""
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower left", ncols=6, fontsize=8.5, columnspacing=1.4)


def _format_percent(share: float, _: int) -> str:
    return f"{100 * share:.5g} %"


def _percent(axis: Axes) -> None:
    axis.yaxis.set_major_formatter(_format_percent)


def _cycle(count: int) -> list[str]:
    return [_COLOURS[number % len(_COLOURS)] for number in range(count)]
