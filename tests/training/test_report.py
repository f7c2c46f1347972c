"""A run's page stands alone, shows every opponent and seat, and says of every figure how sure it is."""

import json
import re
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from paplu_env.errors import InvalidFile
from tests.training.tiny import PER_UPDATE, RULES, tiny_config
from training.report import main, to_html
from training.run.curves import draw_endings
from training.run.folder import RunFolder
from training.run.record import PAST_SELVES, changed_keys, read_run, value_of
from training.train import train


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of six updates with short deals, and with a name that HTML must escape."""
    out = tmp_path_factory.mktemp("runs") / "<tiny> & small"
    changes = {
        "rules": f"{RULES},max_turns=8",
        "opponents__bots": ["mindist_opp", "mindist"],
        "opponents__self_share": 0.7,
    }
    train(tiny_config(ppo__timesteps=6 * PER_UPDATE, **changes), out)
    return out


@pytest.fixture(scope="module")
def page(finished: Path) -> str:
    return to_html([read_run(finished)])


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    """A copy of it, to be changed."""
    return Path(shutil.copytree(finished, tmp_path / "copy"))


def test_the_page_loads_nothing_and_every_picture_is_whole(page: str) -> None:
    addresses = set(re.findall(r"https?://[^\"'<> ]+", page))
    # Names of formats inside SVG, which nobody fetches.
    assert {address.split("/")[2] for address in addresses} == {"www.w3.org"}
    assert not re.search(r"<script|<link|<img|src=|@import", page)
    pictures = re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)
    assert len(pictures) == 6
    for picture in pictures:
        assert ET.fromstring(picture).tag.endswith("svg")
    assert "&lt;tiny&gt; &amp; small" in page
    assert "<tiny>" not in page


def test_the_command_line_writes_the_page_again_to_the_byte_and_the_pictures_as_files(
    page: str, finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, pictures = tmp_path / "page.html", tmp_path / "pictures"
    assert main([str(finished), "--out", str(out), "--pictures", str(pictures)]) == 0
    assert out.read_text(encoding="utf-8") == page
    files = sorted(pictures.iterdir())
    assert len(files) == 6
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in files)
    assert set(capsys.readouterr().out.splitlines()) == {str(path) for path in (out, *files)}


def test_a_record_knows_opponents_seats_and_the_network_that_was_kept(finished: Path) -> None:
    record = read_run(finished)
    assert set(record.opponents) == {"mindist_opp", "mindist", PAST_SELVES}
    assert record.seats == ["0", "1"]
    assert record.decisions == 6 * PER_UPDATE
    assert record.best["points_per_deal"] == max(match["points_per_deal"] for match in record.matches)
    assert [match["b"] for match in record.evaluations] == ["minscore"]
    assert record.clone is not None


def test_a_curve_is_the_mean_over_deals_and_not_over_updates(run: Path) -> None:
    lines = [
        {
            "kind": "update",
            "step": step,
            "speed": 1,
            "seconds": step,
            "deals": deals,
            "by_seat": {},
            "void": void,
            "by_opponent": {f"self-{step}": {"deals": deals, "points": points, "win_rate": 0.0}},
        }
        for step, deals, void, points in ((10, 1, 1.0, 30.0), (20, 3, 0.0, -10.0))
    ]
    with open(run / "metrics.jsonl", "a", encoding="utf-8") as file:
        file.write("".join(json.dumps(line) + "\n" for line in lines))
    record = read_run(run)
    record.updates[:] = lines * 40  # eighty updates: two make one point of the curve
    steps, values = record.by_opponent(PAST_SELVES, "points")
    np.testing.assert_allclose(steps, np.full(40, 15.0))
    np.testing.assert_allclose(values, np.zeros(40))
    np.testing.assert_allclose(record.rate("void")[1], np.full(40, 0.25))
    assert record.rate("kl")[0].size == 0


def test_the_bands_of_the_endings_fill_the_picture(finished: Path) -> None:
    axis = draw_endings(read_run(finished)).axes[0]
    tops = [band.get_paths()[0].vertices[:, 1].max() for band in axis.collections]
    assert max(tops) == pytest.approx(1.0)
    assert axis.get_ylim() == (0.0, 1.0)


def test_what_differs_between_runs_is_listed_with_its_values(finished: Path, run: Path) -> None:
    description = json.loads((run / "run.json").read_text(encoding="utf-8"))
    description["config"]["seed"] = 77
    description["extended"] = [{"ppo.timesteps": 1234, "minutes": 0.0, "until": "yesterday"}]
    description["config"]["ppo"]["entropy"] = 0.25
    (run / "run.json").write_text(json.dumps(description), encoding="utf-8")
    records = [read_run(finished), read_run(run)]
    assert changed_keys(records) == ["seed", "ppo.entropy"]
    assert changed_keys(records[:1]) == []
    assert value_of(records[1].config, "ppo.entropy") == 0.25
    page = to_html(records)
    assert "What differs" in page
    assert "<td>0.25</td>" in page
    assert "Its budget was changed under way, at first it was 1,234 decisions" in page


def test_matches_of_the_card_and_of_a_best_response_take_the_place_of_the_one_that_flatters(run: Path) -> None:
    chosen_by = read_run(run).best
    fresh = {key: value for key, value in chosen_by.items() if key not in ("kind", "step")} | {"seed": 5}
    card = {"evaluation": [fresh, {**fresh, "b": "random", "points_per_deal": 60.0}]}
    (run / "tiny.json").write_text(json.dumps(card), encoding="utf-8")
    taken = {"statement": "taken from <frozen>", "match": {**fresh, "b": "frozen", "points_per_deal": -90.0}}
    RunFolder(run).exploitation.write_text(json.dumps(taken), encoding="utf-8")
    record = read_run(run)
    assert [(match["b"], match["seed"]) for match in record.evaluations] == [
        ("random", 5),
        ("minscore", 5),
        ("frozen", 5),
    ]
    page = to_html([record])
    assert "taken from &lt;frozen&gt;" in page
    assert "flatters" not in page


def test_a_run_that_only_cloned_has_a_page_too(run: Path) -> None:
    folder = RunFolder(run)
    folder.forget_after(0)
    record = read_run(run)
    assert record.updates == []
    assert len(re.findall(r"<svg", to_html([record]))) == 2


def test_what_is_no_run_or_has_nothing_to_show_is_said(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "none"), "--out", str(tmp_path / "page.html")]) == 2
    assert "none: holds no run" in capsys.readouterr().err
    searched = tmp_path / "searched"
    searched.mkdir()
    (searched / "exploit.json").write_text("{}", encoding="utf-8")
    assert main([str(searched), "--out", str(tmp_path / "page.html")]) == 2
    assert "a search found what stands in exploit.json" in capsys.readouterr().err
    (run / "metrics.jsonl").unlink()
    assert main([str(run), "--out", str(tmp_path / "page.html")]) == 2
    assert "has measured nothing yet" in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()


def test_a_card_that_cannot_be_read_is_said(run: Path) -> None:
    (run / "tiny.json").write_text("{", encoding="utf-8")
    with pytest.raises(InvalidFile, match=r"tiny\.json: is not JSON"):
        read_run(run)
