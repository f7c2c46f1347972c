"""Reports: the same figures in every form, readable at 80 columns, and a page that needs nothing but itself."""

from __future__ import annotations

import builtins
import json
import re
import sys
from xml.etree import ElementTree

import pytest

from paplu_env.errors import PapluError
from paplu_env.evaluation import Published, Schedule, run_tournament, write_reports
from paplu_env.evaluation.report.page import to_html
from paplu_env.evaluation.report.text import NOTABLE, compare, comparisons, table_cell, to_dict, to_markdown, to_text

RULES = "saha2025:drop_allowed=false"
CELLS = (
    Published("mindist_minscore", "mindist", 0.53, 5.0, "a <study>"),
    Published("mindist", "random", 0.5, 0.0, "a <study>"),
)


@pytest.fixture(scope="module")
def result():
    schedule = Schedule(
        policies=("random", "mindist", "mindist_minscore"), rules=(RULES, "points"), deals=40, seed=1,
        published={RULES: CELLS},
    )  # fmt: skip
    return run_tournament(schedule)


def test_the_text_fits_80_columns_and_has_no_colours(result):
    text = to_text(result)
    assert max(map(len, text.splitlines())) <= 80
    assert "\x1b" not in text
    match = result.of(RULES, "mindist", "mindist_minscore")
    assert f"{100 * match.win_rate:.1f}" in text
    assert f"{match.adjusted_points:+.2f}" in text
    assert "47.0 -5.00" in text, "the published figure, seen from the row"


def test_differences_are_ours_less_theirs_and_large_ones_are_marked(result):
    match = result.of(RULES, "random", "mindist")
    comparison = compare(match, CELLS[1].turned())
    assert comparison.points_gap == pytest.approx(match.points_per_deal)
    assert comparison.win_gap == pytest.approx(match.win_rate - 0.5)
    low, high = match.win_rate_interval
    assert comparison.win_gap_interval == pytest.approx((low - 0.5, high - 0.5))
    assert comparison.is_notable
    same = compare(match, Published(match.a, match.b, match.win_rate + 0.01, match.points_per_deal - 1.4, "s"))
    assert not same.is_notable
    assert compare(match, Published(match.a, match.b, match.win_rate + 0.016, 0.0, "s")).is_notable
    assert len(comparisons(result, RULES)) == 2
    assert comparisons(result, "points") == []


def test_json_holds_every_figure(result):
    read = json.loads(json.dumps(to_dict(result), allow_nan=False))
    assert [table["rules"] for table in read["tables"]] == [RULES, "points"]
    assert len(read["tables"][0]["matches"]) == 3
    assert len(read["tables"][0]["published"]) == 2
    assert read["tables"][0]["ratings"]["standings"][-1]["name"] == "random"


def test_markdown_tables_are_whole(result):
    text = to_markdown(result)
    for block in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE):
        assert len({line.count("|") for line in block.splitlines()}) == 1
    assert f"| over {NOTABLE:g} |" in text
    assert "| * |" in text


def test_the_page_is_one_file_with_pictures_and_escapes_what_it_is_told(result):
    page = to_html(result)
    assert page.count("<svg") == 6 + 5, "six pictures with published figures, five without"
    assert not re.search(r"""(?:src|href)=["']?(?:https?:|/)""", re.sub(r"<svg.*?</svg>", "", page, flags=re.DOTALL))
    assert "<script" not in page
    assert "a &lt;study&gt;" in page
    for svg in re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL):
        ElementTree.fromstring(svg)
    assert page == to_html(result), "equal results are equal bytes"


def test_reports_are_written_whole(result, tmp_path):
    paths = write_reports(result, tmp_path / "new")
    assert [path.name for path in paths] == ["results.json", "results.md", "report.html"]
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == sorted(path.name for path in paths)


@pytest.mark.parametrize("missing", ["matplotlib", "jinja2"])
def test_without_the_extra_the_page_says_what_to_install_and_the_rest_is_written(
    result, tmp_path, monkeypatch, missing
):
    real = builtins.__import__

    def refuse(name, *rest, **options):
        if name.split(".")[0] == missing:
            raise ImportError(name)
        return real(name, *rest, **options)

    for module in ("paplu_env.evaluation.report.page", "paplu_env.evaluation.report.plots"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(PapluError, match=r"paplu-env\[report\]"):
        write_reports(result, tmp_path)
    assert (tmp_path / "results.md").exists()


def test_a_bar_in_the_name_of_a_bot_stays_in_its_cell_of_a_markdown_table():
    assert table_cell("a|b\\|c\nd") == r"a\|b\\\|c d"
    assert table_cell("points-2") == "points-2"
