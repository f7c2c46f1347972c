"""Writing where a user points: streams as they are, links through, own files again, nothing else of anybody's."""

from __future__ import annotations

import builtins
import os
import sys
import threading
from pathlib import Path

import pytest

from paplu_env import engine
from paplu_env.bots import make_policy
from paplu_env.cli.main import main
from paplu_env.errors import PapluError
from paplu_env.files import check_target, is_stream, json_of, write_atomically, write_together
from paplu_env.rules import as_rules
from paplu_env.ui.play import play_deals

OWN = json_of("format", "paplu-record")
DEAL = ("play", "random", "--watch", "--seed", "3", "--save")


def test_a_device_is_written_to_and_stays_one() -> None:
    before = os.stat(os.devnull).st_rdev
    write_atomically(os.devnull, b"x")
    assert os.stat(os.devnull).st_rdev == before
    assert not Path("/dev").joinpath(".null").exists()
    check_target(os.devnull)


def test_a_pipe_gets_the_bytes_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe, data = tmp_path / "pipe", b"x" * 200_000  # more than a pipe holds
    os.mkfifo(pipe)
    check_target(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_together({pipe: data, tmp_path / "beside": b"y"})
    reader.join(20)
    assert read == [data]
    assert pipe.is_fifo()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["beside", "pipe"]


def test_a_link_is_written_through_and_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    link, far = tmp_path / "link", tmp_path / "far" / "file"
    link.symlink_to(Path("far") / "file")
    for data in (b"first", b"second"):  # to nothing yet, then to a file
        write_atomically(link, data)
        assert (link.is_symlink(), far.is_symlink(), far.read_bytes()) == (True, False, data)
    assert [path.name for path in far.parent.iterdir()] == ["file"]


def test_a_way_to_something_open_is_no_file_to_be_replaced(tmp_path: Path) -> None:
    with open(tmp_path / "out", "w+b") as out:
        out.write(b"told before\n")
        out.flush()
        path = f"/proc/self/fd/{out.fileno()}"
        assert is_stream(path)
        write_atomically(path, b"data")
        out.seek(0)
        assert out.read() == b"told before\ndata"


def test_only_files_of_ones_own_are_written_again(tmp_path: Path) -> None:
    path = tmp_path / "file"
    check_target(path, OWN)
    path.write_text('{\n "format": "paplu-record",\n "version": 1}')
    check_target(path, OWN)
    with pytest.raises(PapluError, match=str(path)):
        check_target(path)
    path.chmod(0o444)
    with pytest.raises(PapluError, match="read-only"):
        check_target(path, OWN)
    check_target(path, OWN, force=True)
    path.chmod(0o644)
    for foreign in ("", "notes", '[{"format": "paplu-record"}]', '{"format": "paplu-series"}', "\xff\x00"):
        path.write_text(foreign, encoding="latin-1")
        with pytest.raises(PapluError, match="--force"):
            check_target(path, OWN)
        check_target(path, OWN, force=True)


@pytest.mark.parametrize("force", [False, True])
def test_what_can_never_be_written_is_refused_by_name(tmp_path: Path, force: bool) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for path in (tmp_path, tmp_path / "missing" / "file", loop):
        with pytest.raises(PapluError, match=str(path)):
            check_target(path, OWN, force)


def test_a_record_is_refused_before_the_deal_and_forced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("mine")
    assert main([*DEAL, str(path)]) == 2
    said = capsys.readouterr()
    assert (path.read_text(), said.out) == ("mine", "")
    assert str(path) in said.err
    assert main([*DEAL, str(path), "--force"]) == 0
    assert main([*DEAL, str(path)]) == 0  # its own
    link = tmp_path / "link.json"
    link.symlink_to(path)
    assert main([*DEAL, str(link)]) == 0
    assert link.is_symlink()
    assert engine.load_record(path).seed == 3


def test_a_pipe_gets_one_record_of_many_deals(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    rules = as_rules("points")
    play_deals(make_policy("random", rules), rules, seed=3, deals=3, save=str(pipe), is_watching=True)
    reader.join(20)
    (tmp_path / "record").write_bytes(read[0])
    assert engine.load_record(tmp_path / "record").seed == 5
    assert pipe.is_fifo()


TOURNAMENT = ["tournament", "random", "minscore", "--deals", "4", "--workers", "1", "--out"]


@pytest.mark.parametrize("missing", ["matplotlib", "jinja2"])
def test_a_tournament_that_could_not_draw_its_page_is_refused_before_a_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], missing: str
) -> None:
    real = builtins.__import__

    def refuse(name: str, *rest: object, **options: object) -> object:
        if name.split(".")[0] == missing:
            raise ImportError(name)
        return real(name, *rest, **options)  # type: ignore[arg-type]

    for module in ("paplu_env.evaluation.report.page", "paplu_env.evaluation.report.plots"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setattr(builtins, "__import__", refuse)
    assert main([*TOURNAMENT, str(tmp_path / "out")]) == 2
    assert "paplu-env[report]" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["results.json", "results.md", "report.html"])
def test_a_tournament_leaves_reports_of_others_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    (tmp_path / name).write_text("mine")
    assert main([*TOURNAMENT, str(tmp_path)]) == 2
    assert name in capsys.readouterr().err
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(name, "mine")]
    assert main([*TOURNAMENT, str(tmp_path), "--force"]) == 0
    assert main([*TOURNAMENT, str(tmp_path)]) == 0  # resumes
