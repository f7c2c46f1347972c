"""``series-v1``: `cards-v1` and, after it, the score sheet of the series that the deal is part of.

A view knows one deal only, so the sheets come beside the views. Without sheets every deal is taken for a
session of its own: then the encoding serves wherever one that needs views alone does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env.encoding.base import Encoding, Observations
from paplu_env.encoding.cards_v1 import CARDS_SPECS, CardsV1
from paplu_env.encoding.fields import FieldSpec
from paplu_env.engine.series.format import FORMATS, POOLS, SeriesFormat
from paplu_env.engine.series.score_sheet import ScoreSheet
from paplu_env.engine.state import NOT_ACTIVE, Views
from paplu_env.errors import InvalidRules, PapluError
from paplu_env.rules import RuleSet, as_rules

_HIGHEST_LIMIT: Final = max(pool.limit for pool in POOLS.values())
_ONE_DEAL: Final = SeriesFormat(name="session", num_deals=1)


def _by_seat(rules: RuleSet) -> tuple[int, ...]:
    return (rules.num_players,)


SERIES_SPECS: Final = (
    *CARDS_SPECS,
    FieldSpec(
        "score",
        _by_seat,
        "per relative seat, its running score: in pools its total as a share of the limit, 1 at the most; in other "
        "formats 1/2 + x / (2 + 2 |x|) for x = its total (deals) or its points (session) over max_points",
    ),
    FieldSpec("in_series", _by_seat, "1 for the relative seats that are still in the series"),
    FieldSpec("rejoins", _by_seat, "per relative seat, 1 / (1 + n) when it came back n times"),
    FieldSpec("dealer", _by_seat, "1 for the relative seat that dealt"),
    FieldSpec("format", lambda rules: (len(FORMATS),), "1 for the format of the series: " + ", ".join(FORMATS)),
    FieldSpec(
        "format_options",
        lambda rules: (5,),
        f"limit of a pool / {_HIGHEST_LIMIT}; strict_pool; rejoin; split; 1 / num_deals, 0 in a pool",
    ),
    FieldSpec(
        "deals",
        lambda rules: (4,),
        "deals written down d: d / (1 + d); deals left n after this one: 1 / (1 + n), 0 in a pool; 1 while a tie for "
        "the lead is played off; 1 when the series is over",
    ),
)
_SCORE, _IN_SERIES, _REJOINS, _DEALER, _FORMAT, _FORMAT_OPTIONS, _DEALS = range(len(CARDS_SPECS), len(SERIES_SPECS))


class SeriesV1(Encoding):
    """The cards and the score sheet, for players of several deals."""

    name = "series-v1"
    specs = SERIES_SPECS

    def __init__(self, sheet_rows: Sequence[Observations] | None = None) -> None:
        self._sheet_rows = sheet_rows  # what `_sheet_row` says of the sheet beside each view, for one call of `encode`

    def encode(
        self,
        views: Views,
        rules: RuleSet | str | Mapping[str, Any],
        out: Observations | None = None,
        threads: int = 1,
        sheets: Sequence[ScoreSheet] | None = None,
    ) -> Observations:
        """Observations of views as `Encoding.encode` gives them, each beside the score sheet of its series.

        Args:
            sheets: ``B`` score sheets of tables with these rules; each view is of the deal that the sheet
                has come to, or of its last. A session of one deal for every view if not given.

        Raises:
            InvalidRules: sheets of another table.
            PapluError: not as many sheets as views.
        """
        if sheets is None:
            return super().encode(views, rules, out, threads)
        if len(sheets) != len(views):
            raise PapluError(f"{self.name}: {len(views)} views and {len(sheets)} score sheets: give one for each")
        table = as_rules(rules)
        for sheet in sheets:
            if sheet.rules != table:
                raise InvalidRules(f"{self.name}: the score sheet is of {sheet.rules}, the views are of {table}")
        return SeriesV1([_sheet_row(sheet) for sheet in sheets]).encode(views, table, out, threads)

    def _encode_rows(self, views: Views, rules: RuleSet, out: Observations, start: int, stop: int) -> None:
        _CARDS._encode_rows(views, rules, out, start, stop)  # the same fields first, in longer rows
        if self._sheet_rows is None:
            sheet_rows = np.tile(_sheet_row(ScoreSheet(rules, _ONE_DEAL)), (stop - start, 1))
            sheet_rows[:, rules.num_players : 2 * rules.num_players] = _dealt_in(views[start:stop], rules)
        else:
            sheet_rows = np.array(self._sheet_rows[start:stop]).reshape(stop - start, -1)
        self._write(views[start:stop], rules, sheet_rows, out[start:stop])

    def _write(self, views: Views, rules: RuleSet, sheet_rows: Observations, out: Observations) -> None:
        """Write the fields after those of ``cards-v1``; ``sheet_rows`` has one of `_sheet_row` for each view."""
        fields, players, step = self.fields(rules), rules.num_players, int(rules.packed["step"][0])
        turns = step * np.arange(players)
        # The seat at each relative seat, and the seats that could have dealt, the likeliest first.
        seats = (views["seat"].astype(np.int64)[:, None] + turns) % players
        before = (views["first"].astype(np.int64)[:, None] - step - turns) % players
        rows = np.arange(len(views))[:, None]
        for place, number in enumerate((_SCORE, _IN_SERIES, _REJOINS)):
            by_seat = sheet_rows[:, place * players : (place + 1) * players]
            out[:, fields[number].start : fields[number].stop] = by_seat[rows, seats]
        nearest = _dealt_in(views, rules)[rows, before].argmax(axis=1)
        dealers = before[rows, nearest[:, None]]
        out[:, fields[_DEALER].start : fields[_DEALER].stop] = seats == dealers
        out[:, fields[_FORMAT].start :] = sheet_rows[:, 3 * players :]


_CARDS: Final = CardsV1()


def _dealt_in(views: Views, rules: RuleSet) -> npt.NDArray[np.bool_]:
    """``(B, P)`` the seats that hold cards in these deals, or held them."""
    is_dealt_in: npt.NDArray[np.bool_] = views["status"][:, : rules.num_players] != NOT_ACTIVE
    return is_dealt_in


def _sheet_row(sheet: ScoreSheet) -> Observations:
    """What a sheet says: scores, seats still in and rejoins, by seat, and then the fields from ``format`` on."""
    series, players = sheet.format, range(sheet.rules.num_players)
    played, num_deals = len(sheet.results), series.num_deals
    numbers = [
        *(_score(sheet, seat) for seat in players),
        *(seat in sheet.active for seat in players),
        *(1 / (1 + rejoins) for rejoins in sheet.rejoins),
        *(name == series.name for name in FORMATS),
        0 if series.pool is None else series.pool.limit / _HIGHEST_LIMIT,
        series.strict_pool,
        series.rejoin,
        series.split,
        0 if num_deals is None else 1 / num_deals,
        played / (1 + played),
        0 if num_deals is None else 1 / max(num_deals - played, 1),
        num_deals is not None and played >= num_deals and not sheet.is_over,
        sheet.is_over,
    ]
    return np.array(numbers, dtype=np.float32)


def _score(sheet: ScoreSheet, seat: int) -> float:
    """The running score of a seat in [0, 1]."""
    if sheet.format.pool is not None:
        return min(sheet.totals[seat] / sheet.format.pool.limit, 1.0)
    hands = sheet.scores[seat] / sheet.rules.max_points
    return 0.5 + hands / (2 + 2 * abs(hands))
