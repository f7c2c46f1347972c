"""docs/RULES.md and docs/BASELINES.md agree with the code, and every clause that is cited exists.

A clause is a paragraph that begins with its number in bold, ``**1.14** …``; a section is a heading, ``## 1. …``. A
citation is the file's name and then the number, in backticks or not: ``RULES.md 1.14``. Several clauses of one page are
joined by commas, "and" or a dash: ``RULES.md 1.4, 1.5 and 1.12``, ``RULES.md 1.6–1.10``. A number without a dot names a
whole section: ``RULES.md 3``. A line may end between name and number. In Python a page is never named without a number;
in Markdown it may be, as a link to the page.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import re
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from paplu_env import engine
from paplu_env.cli.main import main
from paplu_env.errors import InvalidRules
from paplu_env.rules import PRESETS, RuleSet

ROOT = Path(__file__).resolve().parent.parent
PAGES = {name: (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in ("RULES", "BASELINES")}
FOLDERS = ("paplu_env", "training", "tests", "policies", "docs", "configs")

_CLAUSE = r"\d+\.\d+"
_CITATION = re.compile(
    rf"\b(RULES|BASELINES)\.md\b(?:`? `?(\d+(?:\.\d+)?(?:(?:, and |, | and |–){_CLAUSE})*)(?!\d|\.\d))?"
)
_LINE_END = re.compile(r"\s*\n\s*(?:#+ )?")  # with the sign of a comment that goes on
_OWN_REFERENCE = re.compile(rf"\(({_CLAUSE}(?:, {_CLAUSE})*)\)")
_BARE = re.compile(r"\b[Rr]ules? \d+\b|\b[Ss]ection \d+\b")
_LINK = re.compile(r"\]\(([^)#]*(?:RULES|BASELINES)\.md)")
_PATH = re.compile(r"(?<![\w/:.])(?:[\w-]+/)+[\w.-]+\.(?:json|md|py|toml)\b")
_ABANDONED = "DESIGN"  # a page that the code once cited and that never was in the checkout


def clauses(page: str) -> list[str]:
    """Numbers of the clauses of a page, in its order."""
    return re.findall(rf"^\*\*({_CLAUSE})\*\* ", page, re.MULTILINE)


def sections(page: str) -> list[str]:
    """Numbers of the sections of a page, in its order."""
    return re.findall(r"^## (\d+)\. ", page, re.MULTILINE)


def citations(text: str) -> list[tuple[str, str]]:
    """Page and number of every citation in a text; the number is empty where a page stands without one.

    The ends of a range are two citations.
    """
    found = []
    for page, numbers in _CITATION.findall(_LINE_END.sub(" ", text)):
        found += [(page, number) for number in re.findall(r"\d+(?:\.\d+)?", numbers) or [""]]
    return found


def wrong_citations(text: str, *, may_stand_alone: bool) -> list[str]:
    """The citations of a text that lead nowhere, as written."""
    wrong = []
    for page, number in citations(text):
        known = [*clauses(PAGES[page]), *sections(PAGES[page])]
        if number not in known and (number or not may_stand_alone):
            wrong.append(f"{page}.md {number}".strip())
    return wrong


def table(text: str, header: str) -> list[list[str]]:
    """Cells of the rows of the first Markdown table whose first column is headed so."""
    lines = iter(text[text.index(f"\n| {header} |") + 1 :].splitlines())
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows[2:]  # without the header and the line below it


def codes(cell: str) -> list[str]:
    """What stands in backticks."""
    return re.findall(r"`([^`]*)`", cell)


def described(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What ``paplu describe`` prints."""
    assert main(["describe", *arguments]) == 0
    return capsys.readouterr().out


def _files() -> dict[Path, str]:
    """Python and Markdown of the checkout with their texts, without this file, which is full of examples."""
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*"))] + sorted(ROOT.glob("*.md"))
    paths = [path for path in paths if path.suffix in (".py", ".md") and path != Path(__file__).resolve()]
    return {path: path.read_text(encoding="utf-8") for path in paths}


FILES = _files()


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _written(value: Any) -> str:
    """A value as rules strings write it."""
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def _values(field: dataclasses.Field[Any]) -> list[str]:
    """What the page has to list as the values of an option."""
    choices = [choice for choice in get_args(get_type_hints(RuleSet)[field.name]) if isinstance(choice, str)]
    if choices:
        return choices
    if isinstance(field.default, bool):
        return ["true", "false"]
    if field.metadata["numbers"]:
        return [str(number) for number in field.metadata["numbers"]]
    low, high = field.metadata["low"], field.metadata["high"]
    numbers = str(low) if low == high else f"{low}..{high}"
    return ["none", numbers] if field.default is None else [numbers]


# Clauses


@pytest.mark.parametrize("name", PAGES)
def test_clauses_are_numbered_from_one_without_gaps(name: str) -> None:
    found, parts = clauses(PAGES[name]), sections(PAGES[name])
    assert parts == [str(number) for number in range(1, len(parts) + 1)]
    assert [number.split(".")[0] for number in found if number.endswith(".1")] == parts
    for before, after in pairwise(found):
        section, number = before.split(".")
        assert after in (f"{section}.{int(number) + 1}", f"{int(section) + 1}.1"), f"{after} follows {before}"


@pytest.mark.parametrize("name", PAGES)
def test_every_clause_stands_in_its_section(name: str) -> None:
    for part in re.split(r"^## ", PAGES[name], flags=re.MULTILINE)[1:]:
        section = part.split(".")[0]
        found = clauses(part)
        assert found
        assert {number.split(".")[0] for number in found} == {section}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_refers_only_to_clauses_that_it_has(name: str) -> None:
    text = _LINE_END.sub(" ", PAGES[name])
    found = [number for numbers in _OWN_REFERENCE.findall(text) for number in numbers.split(", ")]
    assert found
    assert set(found) <= set(clauses(PAGES[name]))


# Citations


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("as RULES.md 1.14 says", ["RULES 1.14"]),
        ("(`BASELINES.md 2.3`)", ["BASELINES 2.3"]),
        ("`docs/RULES.md` 2.3.", ["RULES 2.3"]),
        ("RULES.md 3.", ["RULES 3"]),
        ("RULES.md 1.4, 1.5 and 1.12, then", ["RULES 1.4", "RULES 1.5", "RULES 1.12"]),
        ("RULES.md 1.6–1.10: groups", ["RULES 1.6", "RULES 1.10"]),
        ("RULES.md 1.14 and BASELINES.md 1.1", ["RULES 1.14", "BASELINES 1.1"]),
        ("RULES.md 1.14 and 2 more", ["RULES 1.14"]),
        ("    # see RULES.md\n    # 1.14", ["RULES 1.14"]),
        ('    """See RULES.md\n    1.14."""', ["RULES 1.14"]),
        ("RULES.md, rule 14", ["RULES "]),
        ("RULES.md says", ["RULES "]),
        ("RULES.md 1.14.2", ["RULES "]),
        ("MY_RULES.md 1.14", []),
    ],
)
def test_a_citation_is_the_page_and_then_the_number(text: str, found: list[str]) -> None:
    assert [f"{page} {number}" for page, number in citations(text)] == found


def test_a_clause_that_does_not_exist_is_noticed() -> None:
    assert wrong_citations("RULES.md 1.14, 1.99 and 3.1; BASELINES.md 9", may_stand_alone=False) == [
        "RULES.md 1.99",
        "BASELINES.md 9",
    ]
    assert wrong_citations("RULES.md says", may_stand_alone=False) == ["RULES.md"]
    assert wrong_citations("[rules](docs/RULES.md)", may_stand_alone=True) == []


def test_every_cited_clause_exists() -> None:
    wrong = {_name(path): wrong_citations(text, may_stand_alone=path.suffix == ".md") for path, text in FILES.items()}
    assert {name: found for name, found in wrong.items() if found} == {}


def test_the_code_cites_both_pages() -> None:
    code = [text for path, text in FILES.items() if path.suffix == ".py"]
    assert {page for text in code for page, _ in citations(text)} == set(PAGES)


def test_python_names_no_rule_or_section_without_its_page() -> None:
    bare = {_name(path): _BARE.findall(text) for path, text in FILES.items() if path.suffix == ".py"}
    assert {name: found for name, found in bare.items() if found} == {}


def test_every_page_that_is_named_is_in_the_checkout() -> None:
    assert [_name(path) for path, text in FILES.items() if re.search(rf"\b{_ABANDONED}\b", text)] == []
    links = [(path, link) for path, text in FILES.items() for link in _LINK.findall(text)]
    assert links
    assert [(_name(path), link) for path, link in links if not (path.parent / link).is_file()] == []


@pytest.mark.parametrize("name", PAGES)
def test_every_file_that_a_page_names_exists(name: str) -> None:
    files = set(_PATH.findall(PAGES[name]))
    assert files
    assert [file for file in sorted(files) if not (ROOT / file).is_file()] == []


# Options and presets


def test_the_page_lists_every_option_as_the_code_has_it() -> None:
    rows = {
        codes(name)[0]: (default, values, meaning) for name, default, values, meaning in table(PAGES["RULES"], "option")
    }
    assert list(rows) == [field.name for field in dataclasses.fields(RuleSet)]
    for field in dataclasses.fields(RuleSet):
        default, values, meaning = rows[field.name]
        assert codes(default) == [_written(field.default)], field.name
        assert codes(values) == _values(field), field.name
        assert meaning == field.metadata["meaning"], field.name


@pytest.mark.parametrize("name", ["hand_size", "round_to"])
def test_an_option_of_few_numbers_takes_no_others(name: str) -> None:
    taken = []
    for number in range(30):
        with contextlib.suppress(InvalidRules):
            taken.append(getattr(RuleSet(**{name: number}), name))
    fields = {field.name: field for field in dataclasses.fields(RuleSet)}
    assert tuple(taken) == fields[name].metadata["numbers"]


def test_describe_prints_every_option_as_the_page_has_it(capsys: pytest.CaptureFixture[str]) -> None:
    shown = " ".join(described(capsys, "rules").split())
    for name, default, values, meaning in table(PAGES["RULES"], "option"):
        option, choices = codes(name)[0], codes(values)
        expected = f"{option}={codes(default)[0]} {meaning}"
        if choices != ["true", "false"]:
            is_number = choices[-1][0].isdigit()
            expected += "; " + (" or " if is_number else " | ").join(choices)
        assert expected in shown


def _preset_rows() -> dict[str, tuple[str, str, dict[str, str], dict[int, dict[str, str]]]]:
    """By preset: players, meaning, what differs, and what differs further from some number of players on."""
    found = {}
    for name, players, differs, meaning in table(PAGES["RULES"], "preset"):
        first, *later = differs.split("; from ")
        more = {int(part.split()[0]): dict(text.split("=") for text in codes(part)) for part in later}
        found[codes(name)[0]] = players, meaning, dict(text.split("=") for text in codes(first)), more
    return found


def test_the_page_lists_every_preset_as_the_code_has_it(capsys: pytest.CaptureFixture[str]) -> None:
    rows = _preset_rows()
    data = json.loads(described(capsys, "rules", "--json"))["presets"]
    assert list(rows) == list(PRESETS)
    for name, chosen in PRESETS.items():
        players, meaning, differs, more = rows[name]
        low, _, high = players.partition("–")
        seats = range(int(low), int(high or low) + 1)
        assert list(seats) == data[name]["players"], name
        assert meaning == chosen.meaning
        assert differs == {option: _written(value) for option, value in chosen.options.items()}, name
        for number in seats:
            adjusted = chosen.adjust(number) if chosen.adjust else {}
            expected = {
                option: value for start, changes in more.items() if number >= start for option, value in changes.items()
            }
            assert expected == {option: _written(value) for option, value in adjusted.items()}, (name, number)


def test_describe_prints_every_preset_as_the_page_has_it(capsys: pytest.CaptureFixture[str]) -> None:
    shown = " ".join(described(capsys, "rules").split())
    for name, (players, meaning, differs, more) in _preset_rows().items():
        expected = f"{name} {meaning} ({players} players) " + ", ".join(f"{k}={v}" for k, v in differs.items())
        assert expected.strip() in shown
        for start, changes in more.items():
            assert f"from {start} players: " + ", ".join(f"{k}={v}" for k, v in changes.items()) in shown


# Series


def test_the_page_lists_every_format_of_a_series_as_the_code_has_it(capsys: pytest.CaptureFixture[str]) -> None:
    series = PAGES["RULES"][PAGES["RULES"].index("## 4. ") :]
    formats = {codes(name)[0]: meaning for name, meaning in table(series, "format")}
    assert formats == {row["format"]: row["meaning"] for row in json.loads(described(capsys, "series", "--json"))}
    pools = table(series[series.index("**4.5**") :], "format")
    assert [codes(row[0])[0] for row in pools] == [name for name in formats if engine.SeriesFormat(name=name).is_pool]
    for name, *numbers in pools:
        pool = engine.SeriesFormat(name=codes(name)[0]).pool
        assert pool is not None
        assert [int(number) for number in numbers] == [
            pool.limit,
            pool.first_drop,
            pool.middle_drop,
            pool.max_points,
            pool.rejoin_limit,
            pool.split_from,
        ]


def test_a_pool_replaces_the_prices_that_the_page_says() -> None:
    clause = PAGES["RULES"][PAGES["RULES"].index("**4.5**") : PAGES["RULES"].index("**4.6**")]
    clause = " ".join(clause.split())
    assert "`rummy_21` has a cap of 120 in every pool, `points:first_drop=10` a first drop of 10" in clause
    assert "such as `points:first_drop=20`, is refused where the pool has another" in clause
    for name in ("pool_61", "pool_101", "pool_201"):
        series = engine.SeriesFormat(name=name)
        assert series.table("rummy_21").max_points == 120
        assert series.table("points:first_drop=10").first_drop == 10
        if series.pool is not None and series.pool.first_drop != 20:
            with pytest.raises(InvalidRules, match="first_drop=20"):
                series.table("points:first_drop=20")


# Baselines


def _cells(clause: str) -> dict[tuple[str, str], tuple[float, float]]:
    """The figures of a table of pairs: wins in % and points per deal, by row and column."""
    text = PAGES["BASELINES"][PAGES["BASELINES"].index(f"**{clause}**") :]
    header = text[text.index("| row, column |") :].splitlines()[0]
    columns = [cell.strip() for cell in header.strip("|").split("|")][1:]
    found = {}
    for row, *cells in table(text, "row, column"):
        for column, cell in zip(columns, cells, strict=True):
            if cell != "–":
                wins, points = cell.replace("−", "-").split(" / ")
                found[row, column] = float(wins), float(points)
    return found


@pytest.mark.parametrize(
    ("clause", "rules", "pairs"), [("3.1", "saha2025:drop_allowed=false", 12), ("3.2", "saha2025", 6)]
)
def test_the_published_figures_are_those_that_the_tournament_compares_with(clause: str, rules: str, pairs: int) -> None:
    published: dict[tuple[str, str], tuple[float, float]] = {}
    for path in [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.toml"))]:
        for entry in tomllib.loads(path.read_text(encoding="utf-8")).get("published", []):
            if entry["rules"] == rules:
                published |= {(row, column): (wins, points) for row, column, wins, points in entry["cells"]}
    assert len(published) == 6
    cells = _cells(clause)
    assert len(cells) == pairs
    for (row, column), (wins, points) in cells.items():
        other = published.get((column, row))
        expected = published.get((row, column)) or (other and (100 - other[0], -other[1]))
        assert expected is not None, (row, column)
        assert (wins, points) == pytest.approx(expected)


def test_our_figures_stand_in_the_file_that_is_named_beside_them() -> None:
    rows = table(PAGES["BASELINES"], "match")
    assert rows
    for match, wins, points, where in rows:
        text = (ROOT / where).read_text(encoding="utf-8")
        for figure in (wins, points):
            assert figure == "–" or figure in text, (match, figure)
