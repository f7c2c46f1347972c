"""What users install: the wheel is built and looked into, since an editable install hides missing files."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


def test_the_wheel_holds_every_source_file_and_the_type_marker(wheel: zipfile.ZipFile) -> None:
    sources = {path.relative_to(ROOT).as_posix() for path in (ROOT / "paplu_env").rglob("*.py")}
    assert sources | {"paplu_env/py.typed"} <= set(wheel.namelist())


def test_the_wheel_has_one_import_package_and_nothing_of_the_workshop(wheel: zipfile.ZipFile) -> None:
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"paplu_env"}


def test_no_trainer_and_no_study_is_in_the_wheel(wheel: zipfile.ZipFile) -> None:
    names = [Path(name).name for name in wheel.namelist()]
    assert [name for name in names if name.startswith(("study_", "fit_", "train"))] == []
    assert not {"first_arrangement.py", "training_loop.py", "ablation.py"} & set(names)


def test_the_source_archive_holds_what_the_checkout_has(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    (path,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        folders = {Path(name).parts[1] for name in archive.getnames() if len(Path(name).parts) > 2}
    wanted = {"paplu_env", "policies", "training", "configs", "tests"}
    assert folders >= wanted | ({"docs"} if (ROOT / "docs").is_dir() else set())


def test_shipped_policies_travel_inside_the_package(wheel: zipfile.ZipFile) -> None:
    shipped = {path.relative_to(ROOT).as_posix() for path in (ROOT / "policies").iterdir() if path.is_file()}
    inside = {name.removeprefix("paplu_env/_") for name in wheel.namelist() if name.startswith("paplu_env/_policies/")}
    assert shipped == inside


def test_the_wheel_runs_where_there_is_no_checkout(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    wheel.extractall(tmp_path)
    code = (
        "import pathlib, paplu_env, gymnasium; "
        f"assert pathlib.Path(paplu_env.__file__).is_relative_to({str(tmp_path)!r}); "
        "env = gymnasium.make('Paplu-v0', opponent='random', encoding='cards-v1'); "
        "observation, info = env.reset(seed=1); print(int(info['action_mask'].sum()) > 0)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path), "PATH": "", "PAPLU_QUIET": "1", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout.strip() == "True", run.stderr
