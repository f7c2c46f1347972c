"""A tournament's results for readers: text for the terminal, Markdown, JSON, and one page with pictures."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from paplu_env.evaluation.ratings import Ratings
from paplu_env.evaluation.result import MatchResult
from paplu_env.evaluation.schedule import Published
from paplu_env.evaluation.stats import Interval
from paplu_env.evaluation.tournament import TournamentResult

FORMAT: Final = "paplu-tournament-result-1"
# From here on a difference to a published figure asks for an explanation: twice the error of 20,000 games.
NOTABLE: Final = 1.5  # percentage points, and points per deal
_MARK: Final = "*"  # of a figure that asks for an explanation
_COLUMNS: Final = 80  # of the terminal


@dataclass(frozen=True)
class Comparison:
    """One pair's figures beside the published ones, seen from ``a``; differences are ours less theirs.

    Attributes:
        win_gap: difference in win rate, a share.
        win_gap_interval: from our error alone; the published figure has its own.
        points_gap: difference in points per deal.
        points_gap_interval: likewise.
        is_notable: whether either differs by more than `NOTABLE`.
    """

    published: Published
    win_gap: float
    win_gap_interval: Interval
    points_gap: float
    points_gap_interval: Interval
    is_notable: bool


def compare(match: MatchResult, published: Published) -> Comparison:
    """Our figures less published ones of the same pair, both seen from ``match.a``."""
    win_gap = match.win_rate - published.win_rate
    points_gap = match.points_per_deal - published.points
    return Comparison(
        published,
        win_gap,
        _shifted(match.win_rate_interval, published.win_rate),
        points_gap,
        _shifted(match.points_interval, published.points),
        is_notable=abs(100 * win_gap) > NOTABLE or abs(points_gap) > NOTABLE,
    )


def comparisons(result: TournamentResult, rules: str) -> list[tuple[MatchResult, Comparison]]:
    """Every pair under one rule set that somebody published a figure of."""
    found = []
    for match in matches(result, rules):
        published = result.schedule.published_of(rules, match.a, match.b)
        if published is not None:
            found.append((match, compare(match, published)))
    return found


def matches(result: TournamentResult, rules: str) -> list[MatchResult]:
    """The pairs under one rule set, in the order of the schedule."""
    return [pair.match for pair in result.pairs if pair.rules == rules]


def to_dict(result: TournamentResult) -> dict[str, Any]:
    """All results as plain values, ready for JSON; single games are left out."""
    return {
        "format": FORMAT,
        "schedule": result.schedule.to_dict(),
        "tables": [
            {
                "rules": rules,
                "matches": [match.to_dict() for match in matches(result, rules)],
                "ratings": asdict(result.ratings[rules]),
                "published": [
                    {"a": match.a, "b": match.b, **asdict(comparison)}
                    for match, comparison in comparisons(result, rules)
                ],
            }
            for rules in result.schedule.rules
        ],
    }


def to_text(result: TournamentResult) -> str:
    """The results as tables of at most 80 columns, for names of up to 16 letters."""
    parts = []
    for rules in result.schedule.rules:
        ratings = result.ratings[rules]
        lines = [title(result, rules), ""]
        lines += _aligned(
            [["", "points", "rating"]]
            + [
                [entry.name, signed(entry.points, entry.points_interval), signed(entry.rating, entry.rating_interval)]
                for entry in ratings.standings
            ]
        )
        lines += ["", *_aligned(_pair_rows(result, rules))]
        lines.append("")
        for sentence in remarks(result, rules):
            lines += textwrap.wrap(sentence, _COLUMNS, initial_indent="- ", subsequent_indent="  ")
        parts.append("\n".join(line.rstrip() for line in lines))
    return "\n\n".join(parts)


def title(result: TournamentResult, rules: str) -> str:
    """What was played under one rule set, in a line."""
    played = sorted({match.deals for match in matches(result, rules)})
    deals = f"{played[0]:,}" if len(played) == 1 else f"{played[0]:,}–{played[-1]:,}"
    return f"{rules}: {deals} deals per pair, each from both seats, seed {result.schedule.seed}"


def remarks(result: TournamentResult, rules: str) -> list[str]:
    """What a reader should know beside the tables."""
    ratings = result.ratings[rules]
    worst = ratings.misfits[0]
    found = [ratings.caution] if ratings.caution else []
    found.append(_cycles(ratings))
    found.append(
        f"one number per bot tells points per deal within {abs(worst.points):.2f} (at worst {worst.a} and {worst.b}), "
        f"games won within {100 * max(abs(misfit.wins) for misfit in ratings.misfits):.1f} %"
    )
    savings = [match.saving for match in matches(result, rules) if match.saving is not None]
    if savings:
        least, most = f"{min(savings):.1f}", f"{max(savings):.1f}"
        worth = least if least == most else f"{least} to {most}"
        found.append(f"adj.: points less the luck of draws, worth {worth} times the deals")
    compared = comparisons(result, rules)
    if compared:
        marked = sum(comparison.is_notable for _, comparison in compared)
        found.append(f"{marked} of {len(compared)} differ by over {NOTABLE:g} from the published figures ({_MARK})")
    return found


def _cycles(ratings: Ratings) -> str:
    rounds = [" > ".join((*cycle, cycle[0])) for cycle in ratings.point_cycles + ratings.win_cycles]
    return "no cycle: no bots that beat each other in a ring" if not rounds else "cycles: " + "; ".join(rounds)


def _pair_rows(result: TournamentResult, rules: str) -> list[list[str]]:
    """Header and one row per pair for the terminal."""
    compared = {(match.a, match.b): comparison for match, comparison in comparisons(result, rules)}
    rows = [["", "", "wins %", "points", "adj."] + (["published"] if compared else [])]
    for match in matches(result, rules):
        adjusted = match.adjusted_points
        row = [match.a, match.b, f"{100 * match.win_rate:.1f}", signed(match.points_per_deal, match.points_interval)]
        row.append("–" if adjusted is None else f"{adjusted:+.2f}")
        comparison = compared.get((match.a, match.b))
        if comparison is not None:
            theirs = comparison.published
            mark = _MARK if comparison.is_notable else ""
            row.append(f"{100 * theirs.win_rate:.1f} {theirs.points:+.2f}{mark}")
        rows.append(row)
    return rows


def to_markdown(result: TournamentResult) -> str:
    """The results as a Markdown document."""
    lines = ["# Tournament", ""]
    for rules in result.schedule.rules:
        ratings = result.ratings[rules]
        lines += [f"## {title(result, rules)}", "", "Intervals are at 95 %, over deals.", ""]
        lines += _grid(
            ["policy", "points against the field", "rating"],
            [
                [
                    entry.name,
                    f"{entry.points:+.2f} {bracket(entry.points_interval)}",
                    f"{entry.rating:+.0f} {bracket(entry.rating_interval, 0)}",
                ]
                for entry in ratings.standings
            ],
        )
        lines += ["", *[f"- {sentence}" for sentence in remarks(result, rules)], ""]
        lines += _grid(
            ["row", "column", "wins %", "points per deal", "less the luck of draws", "saving", "draws", "no winner"],
            [_match_row(match) for match in matches(result, rules)],
        )
        compared = comparisons(result, rules)
        if compared:
            lines += ["", f"Beside the figures of {compared[0][1].published.source}, ours less theirs:", ""]
            lines += _grid(
                ["row", "column", "published", "wins, difference in %", "points, difference", f"over {NOTABLE:g}"],
                [_comparison_row(match, comparison) for match, comparison in compared],
            )
        lines.append("")
    return "\n".join(lines)


def _match_row(match: MatchResult) -> list[str]:
    adjusted, interval = match.adjusted_points, match.adjusted_interval
    return [
        match.a,
        match.b,
        f"{100 * match.win_rate:.1f} {bracket(match.win_rate_interval, 1, 100, '')}",
        f"{match.points_per_deal:+.2f} {bracket(match.points_interval)}",
        "–" if adjusted is None or interval is None else f"{adjusted:+.2f} {bracket(interval)}",
        "–" if match.saving is None else f"{match.saving:.1f}",
        f"{match.mean_turns:.1f}",
        f"{match.games - sum(match.wins):,}",
    ]


def _comparison_row(match: MatchResult, comparison: Comparison) -> list[str]:
    theirs = comparison.published
    return [
        match.a,
        match.b,
        f"{100 * theirs.win_rate:.1f} / {theirs.points:+.2f}",
        f"{100 * comparison.win_gap:+.1f} {bracket(comparison.win_gap_interval, 1, 100)}",
        f"{comparison.points_gap:+.2f} {bracket(comparison.points_gap_interval)}",
        _MARK if comparison.is_notable else "",
    ]


def bracket(interval: Interval, digits: int = 2, factor: float = 1.0, sign: str = "+") -> str:
    """An interval in square brackets."""
    return f"[{factor * interval[0]:{sign}.{digits}f}, {factor * interval[1]:{sign}.{digits}f}]"


def signed(value: float, interval: Interval) -> str:
    """A value and half the width of its interval."""
    half = (interval[1] - interval[0]) / 2
    digits = 2 if half < 1 else 1
    return f"{value:+.{digits}f} ±{half:.{digits}f}"


def _shifted(interval: Interval, by: float) -> Interval:
    return interval[0] - by, interval[1] - by


def _grid(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return ["| " + " | ".join(map(table_cell, line)) + " |" for line in lines]


def table_cell(text: str) -> str:
    """A text, such as the path of a bot, as it can stand in a cell of a Markdown table."""
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|")


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns flush left while they are names, flush right after."""
    names = next(k for k, text in enumerate(rows[0]) if text)
    widths = [max(len(row[k]) for row in rows if k < len(row)) for k in range(len(rows[0]))]
    return [
        "  " + "  ".join(text.ljust(width) if k < names else text.rjust(width) for k, (text, width) in cells).rstrip()
        for cells in (list(enumerate(zip(row, widths, strict=False))) for row in rows)
    ]
