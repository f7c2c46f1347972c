"""A tournament as one HTML page that needs nothing but itself."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from paplu_env import __version__
from paplu_env.errors import PapluError
from paplu_env.evaluation.report import text
from paplu_env.evaluation.report.plots import pictures
from paplu_env.evaluation.tournament import TournamentResult

try:
    import jinja2
except ImportError as error:  # pragma: no cover - depends on what is installed
    raise PapluError("the page needs jinja2, which comes with the extra: pip install 'paplu-env[report]'") from error

_TEMPLATE: Final = Path(__file__).parent / "page.html"


def to_html(result: TournamentResult) -> str:
    """The page: ratings, pictures, every pair with its intervals, and the published figures where there are any."""
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    template = environment.from_string(_TEMPLATE.read_text(encoding="utf-8"))
    tables = [
        {
            "rules": rules,
            "title": text.title(result, rules),
            "standings": result.ratings[rules].standings,
            "remarks": text.remarks(result, rules),
            "pictures": pictures(result, rules),
            "matches": text.matches(result, rules),
            "compared": text.comparisons(result, rules),
        }
        for rules in result.schedule.rules
    ]
    return template.render(
        version=__version__,
        schedule=result.schedule,
        tables=tables,
        bracket=text.bracket,
        notable=text.NOTABLE,
    )
