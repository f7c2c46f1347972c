"""Files are written whole or not at all, in the one place that knows how."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from paplu_env.errors import PapluError
from paplu_env.files import CannotWrite, to_json, write_atomically, write_json, write_together

ROOT = Path(__file__).resolve().parent.parent


def test_a_write_that_fails_leaves_the_old_content_and_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t"
    write_atomically(path, b"old")

    def full_disk(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("paplu_env.files.os.fsync", full_disk)
    with pytest.raises(PapluError, match=r"cannot be written \(No space left on device\)"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("fails_at", [1, 2])
@pytest.mark.parametrize("is_there", [True, False])
def test_two_files_of_which_one_cannot_be_renamed_both_stay_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails_at: int, is_there: bool
) -> None:
    paths = [tmp_path / "file", tmp_path / "card"]
    if is_there:
        write_together(dict.fromkeys(paths, b"old"))
    calls = []

    def replace(source: Path, target: Path) -> None:
        calls.append(target)
        if len(calls) == fails_at:
            raise OSError(5, "Input/output error")
        os.rename(source, target)

    monkeypatch.setattr("paplu_env.files.os.replace", replace)
    with pytest.raises(PapluError, match="Input/output error"):
        write_together(dict.fromkeys(paths, b"new"))
    assert sorted(tmp_path.iterdir()) == (sorted(paths) if is_there else [])
    assert all(path.read_bytes() == b"old" for path in tmp_path.iterdir())


def test_a_process_killed_between_two_renames_leaves_the_first_file_alone(tmp_path: Path) -> None:
    write_together({tmp_path / "file": b"old", tmp_path / "card": b"old"})
    code = (
        "import os, pathlib, sys\n"
        "from paplu_env import files\n"
        "rename = os.replace\n"
        "def replace(source, target):\n"
        "    if pathlib.Path(target).name == 'card': os._exit(9)\n"
        "    rename(source, target)\n"
        "os.replace = replace\n"
        "folder = pathlib.Path(sys.argv[1])\n"
        "files.write_together({folder / 'file': b'new', folder / 'card': b'new'})\n"
    )
    killed = subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, check=False)
    assert killed.returncode == 9
    assert (tmp_path / "file").read_bytes() == b"new"
    assert not (tmp_path / "card").exists()
    shown = [path.name for path in tmp_path.iterdir() if not path.name.startswith(".")]
    assert shown == ["file"], "what a killed process leaves is hidden"


def test_two_processes_with_one_number_on_one_disk_do_not_meet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t"
    monkeypatch.setattr("paplu_env.files.os.getpid", lambda: 1)
    calls = []

    def replace(source: Path, target: Path) -> None:
        calls.append(source)
        if len(calls) == 1:
            write_atomically(path, b"of another host")
        os.rename(source, target)

    monkeypatch.setattr("paplu_env.files.os.replace", replace)
    write_atomically(path, b"own")
    assert path.read_bytes() == b"own"
    assert len(set(calls)) == 2
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_is_named_and_a_caller_may_ask_for_either_kind_of_error(tmp_path: Path) -> None:
    path = tmp_path / "none" / "t"
    with pytest.raises(OSError, match="there is no folder") as caught:
        write_atomically(path, b"")
    error = caught.value
    assert isinstance(error, CannotWrite)
    assert isinstance(error, PapluError)
    assert (error.filename, error.errno) == (str(path), 2)
    assert str(error) == f"{path}: cannot be written (there is no folder {path.parent}); what was there is unchanged"


def test_json_ends_with_a_line_break_and_keeps_its_letters(tmp_path: Path) -> None:
    write_json(tmp_path / "t", {"name": "Jürgen"})
    assert (tmp_path / "t").read_bytes() == '{\n  "name": "Jürgen"\n}\n'.encode() == to_json({"name": "Jürgen"})


def test_nobody_else_renames_files() -> None:
    own = re.compile(r"\bos\.(replace|rename|fsync)\b|\bmkstemp\b|NamedTemporaryFile")
    users = [
        path.relative_to(ROOT).as_posix()
        for folder in ("paplu_env", "training")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if own.search(path.read_text(encoding="utf-8"))
    ]
    # Compiled kernels are kept below everything else, and a lost one costs nothing.
    assert users == ["paplu_env/_jit/cache.py", "paplu_env/files.py"]
