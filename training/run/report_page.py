"""Runs as one HTML page that needs nothing but itself, and its pictures as files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from paplu_env import __version__
from paplu_env.errors import PapluError
from paplu_env.files import check_target, write_atomically
from training.run import curves
from training.run.record import RunRecord, changed_keys, value_of

try:
    import jinja2
except ImportError as error:  # pragma: no cover - depends on what is installed
    raise PapluError("the page needs jinja2, which comes with the extra: pip install 'paplu-env[report]'") from error

OWN_PAGE: Final = r"<!doctype html>\n.{0,250}<title>Training: "  # how the page begins, for `check_target`
_OWN_PICTURE: Final = rf"\x89PNG.{{0,250}}Software\x00{curves.SOFTWARE}"
_TEMPLATE: Final = Path(__file__).with_name("report_page.html")


class _Drawing(NamedTuple):
    """A picture to be drawn."""

    name: str  # of a file
    title: str
    draw: Callable[[], Any]


def to_html(records: Sequence[RunRecord]) -> str:
    """The page: all runs side by side, then each by itself."""
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    return environment.from_string(_TEMPLATE.read_text(encoding="utf-8")).render(
        version=__version__,
        records=records,
        changed=changed_keys(records),
        learning=curves.to_svg(partial(curves.draw_learning, records)),
        runs=[
            (record, [(drawing.title, curves.to_svg(drawing.draw)) for drawing in _drawings(record)])
            for record in records
        ],
        points=_points,
        share=_share,
        value=lambda record, key: _plain(value_of(record.config, key)),
    )


def check_pictures(records: Sequence[RunRecord], folder: Path, force: bool = False) -> None:
    """Refuse a folder for `write_pictures` that can't be one, or where others' files have the pictures' names.

    Raises:
        PapluError: it names what is in the way.
    """
    if folder.exists() and not folder.is_dir():
        raise PapluError(f"{folder}: is no folder, name another with --pictures")
    if folder.is_dir():
        for name in _pictures(records):
            check_target(folder / f"{name}.png", _OWN_PICTURE, force)


def write_pictures(records: Sequence[RunRecord], folder: Path) -> list[Path]:
    """The pictures of the page as PNG files, for places that take no page.

    Raises:
        PapluError: the folder can't be written.
    """
    drawn = {name: curves.to_png(draw) for name, draw in _pictures(records).items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PapluError(f"{folder}: cannot be written ({error.strerror})") from error
    paths = [folder / f"{name}.png" for name in drawn]
    for path, data in zip(paths, drawn.values(), strict=True):
        write_atomically(path, data)
    return paths


def _pictures(records: Sequence[RunRecord]) -> dict[str, Callable[[], Any]]:
    """What draws each picture, by the name of its file."""
    drawn: dict[str, Callable[[], Any]] = {"learning": partial(curves.draw_learning, records)}
    for record in records:
        for drawing in _drawings(record):
            drawn[f"{record.name}-{drawing.name}"] = drawing.draw
    return drawn


def _drawings(record: RunRecord) -> list[_Drawing]:
    """What there is to see of one run; of one that only cloned, the evaluation alone."""
    learned = [
        _Drawing("opponents", "At the table, by opponent", partial(curves.draw_opponents, record)),
        _Drawing("seats", "At the table, by seat", partial(curves.draw_seats, record)),
        _Drawing("endings", "Endings and lengths", partial(curves.draw_endings, record)),
        _Drawing("learner", "The learner", partial(curves.draw_learner, record)),
    ]
    return [
        *(learned if record.updates else []),
        _Drawing("evaluation", "Evaluation", partial(curves.draw_evaluations, record)),
    ]


def _points(match: Mapping[str, Any]) -> str:
    low, high = match["points_interval"]
    return f"{match['points_per_deal']:+.2f} [{low:+.2f}, {high:+.2f}]"


def _plain(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _share(match: Mapping[str, Any]) -> str:
    low, high = match["win_rate_interval"]
    return f"{100 * match['win_rate']:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
