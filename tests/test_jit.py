"""Compiled kernels: never stale, whole again after a broken cache, and independent of threads."""

import ast
import os
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from paplu_env import _jit
from paplu_env._jit import threads as threads_of_kernels
from paplu_env._jit.cache import _imports_of
from paplu_env.engine import chance

ROOT = Path(__file__).resolve().parent.parent
CALLER = """
from paplu_env._jit import njit
from paplu_env.callee import (
    other,
    times,
)

@njit
def kernel(x):
    return times(x) + other
"""
CALLEE = """
from paplu_env._jit import njit
FACTOR = 2
other = 0

@njit
def times(x):
    return FACTOR * x
"""


@pytest.fixture
def small_package(tmp_path: Path) -> Path:
    """A package of this name with the real `_jit` and two kernels, one of which calls the other."""
    package = tmp_path / "paplu_env"
    package.mkdir()
    (package / "__init__.py").write_text("")
    shutil.copytree(ROOT / "paplu_env" / "_jit", package / "_jit", ignore=shutil.ignore_patterns("__pycache__"))
    (package / "caller.py").write_text(CALLER)
    (package / "callee.py").write_text(CALLEE)
    return package


def _call(package: Path) -> str:
    """What ``kernel(21)`` gives in a fresh process, and whether it was compiled there."""
    code = (
        "from paplu_env.caller import kernel; result = kernel(21);"
        "print(result, sum(kernel.stats.cache_hits.values()), sum(kernel.stats.cache_misses.values()))"
    )
    environment = {
        **os.environ,
        "PYTHONPATH": str(package.parent),
        "PAPLU_CACHE_DIR": str(package.parent / "cache"),
        "PYTHONDONTWRITEBYTECODE": "1",  # Python's own cache goes by the clock, which tells nothing here
    }
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=package.parent, env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_processes_that_start_at_once_without_a_cache_do_not_disturb_each_other(small_package: Path) -> None:
    with ThreadPoolExecutor(4) as starters:
        answers = list(starters.map(_call, [small_package] * 4))
    assert {answer.split()[0] for answer in answers} == {"42"}
    assert _call(small_package) == "42 1 0"  # what they left is whole


def test_kernels_are_compiled_once_and_then_found(small_package: Path) -> None:
    assert _call(small_package) == "42 0 1"
    assert _call(small_package) == "42 1 0"


def test_a_kernel_is_compiled_anew_when_a_constant_of_what_it_calls_was_edited(small_package: Path) -> None:
    assert _call(small_package).startswith("42 ")
    callee = small_package / "callee.py"
    stamp = callee.stat()
    callee.write_text(CALLEE.replace("FACTOR = 2", "FACTOR = 3"))
    os.utime(callee, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))  # even where the clock tells nothing
    assert _call(small_package) == "63 0 1"


def test_a_truncated_cache_is_compiled_anew(small_package: Path) -> None:
    assert _call(small_package).startswith("42 ")
    files = [path for path in (small_package.parent / "cache").rglob("*") if path.suffix == ".nbc"]
    assert files
    for path in files:
        path.write_bytes(path.read_bytes()[:10])
    assert _call(small_package).startswith("42 ")


def test_every_file_that_a_kernel_imports_is_in_its_hash() -> None:
    source = ROOT / "paplu_env" / "engine" / "transition.py"
    names = {path.relative_to(ROOT / "paplu_env").as_posix() for path in _imports_of(source)}
    assert {"engine/state.py", "engine/scoring.py", "rules/__init__.py", "_jit/__init__.py", "cards.py"} <= names


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_slices_cover_every_row_once_on_any_number_of_threads(threads: int) -> None:
    for rows in (0, 1, 2, 5, 100):
        seen = np.zeros(rows, dtype=np.int64)

        def count(start: int, stop: int, seen: np.ndarray = seen) -> None:
            seen[start:stop] += 1

        _jit.run_slices(count, rows, threads)
        assert (seen == 1).all()


def test_an_error_in_a_slice_reaches_the_caller() -> None:
    def fail(start: int, stop: int) -> None:
        raise ValueError(f"rows {start} to {stop}")

    with pytest.raises(ValueError, match="rows"):
        _jit.run_slices(fail, 100, threads=2)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_after_an_error_or_ctrl_c_no_thread_begins_another_slice(error: type[BaseException]) -> None:
    first, begun, caller = threading.Barrier(2), [], threading.current_thread()

    def kernel(start: int, stop: int) -> None:
        begun.append(start)
        first.wait()  # both threads are in a slice
        if threading.current_thread() is caller:
            raise error
        is_over.wait()  # the caller's slice

    is_over = threading.Event()

    class Share:
        """A thread of its own that plays the other share, and is waited for when the caller's has ended."""

        def __init__(self, work: Callable[[], None]) -> None:
            self.thread = threading.Thread(target=work)
            self.thread.start()

        def cancel(self) -> bool:
            is_over.set()
            self.thread.join()
            return False

        def exception(self) -> None:
            return None

    _jit.offer_slices(Share)
    try:
        with pytest.raises(error):
            _jit.run_slices(kernel, 640, threads=2)
    finally:
        del threads_of_kernels._here.offer
    assert len(begun) == 2


def _calls(path: Path) -> dict[str, set[str]]:
    """For every function of a file, those functions of the same file that it calls."""
    functions = {node.name: node for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)}
    return {
        name: {
            call.func.id
            for call in ast.walk(function)
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in functions
        }
        for name, function in functions.items()
    }


def test_every_kernel_that_calls_itself_says_that_it_is_not_copied_into_callers() -> None:
    """A copy would call the original, which isn't there when a caller alone is read back from the cache."""
    recursive = 0
    for path in sorted((ROOT / "paplu_env").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
            called = {
                node.func.id
                for node in ast.walk(function)
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            }
            if function.name in called and any(
                isinstance(d, ast.Name) and d.id == "njit" for d in function.decorator_list
            ):
                recursive += 1
                assert "never_inline" in called, f"{path.name}: {function.name}"
    assert recursive > 0


def test_no_kernels_call_each_other_in_a_circle() -> None:
    """Numba reads such kernels back from its cache without their links: the second start would crash."""
    for path in sorted((ROOT / "paplu_env").rglob("*.py")):
        calls = _calls(path)
        for name in calls:
            reached, waiting = set(), sorted(calls[name] - {name})
            while waiting:
                other = waiting.pop()
                if other not in reached:
                    reached.add(other)
                    waiting += sorted(calls[other])
            assert name not in reached, f"{path.name}: {name} calls itself through others"


def _environment(package: Path, **changed: str) -> dict[str, str]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("PAPLU_", "XDG_"))}
    return {**plain, "PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1", **changed}


def _run(package: Path, **changed: str) -> subprocess.CompletedProcess[str]:
    """``kernel(21)`` in a fresh process, from an empty folder of its own."""
    folder = package.parent / "elsewhere"
    folder.mkdir(exist_ok=True)
    code = "from paplu_env.caller import kernel; print(kernel(21), sum(kernel.stats.cache_hits.values()))"
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env=_environment(package, **changed),
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert list(folder.iterdir()) == []  # nothing is left where people work
    return run


def test_the_path_of_a_source_does_not_matter(small_package: Path, tmp_path: Path) -> None:
    """Two environments with the same wheel share their kernels."""
    other = tmp_path / "second" / "paplu_env"
    shutil.copytree(small_package, other)
    cache = tmp_path / "cache"
    assert _run(small_package, PAPLU_CACHE_DIR=str(cache)).stdout.split() == ["42", "0"]
    os.utime(other / "caller.py", (1, 1))
    assert _run(other, PAPLU_CACHE_DIR=str(cache)).stdout.split() == ["42", "1"]


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="folders have no such bits here")
def test_a_folder_that_others_can_write_to_is_refused_with_the_reason(small_package: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    for mode, folder in ((0o777, shared), (0o770, shared), (0o777, shared / "below"), (0o1777, shared)):
        shared.chmod(mode)
        run = _run(small_package, PAPLU_CACHE_DIR=str(folder), HOME=str(tmp_path / "home"))
        assert f"others may write to {shared}; `chmod go-w {shared}`" in run.stderr
        assert list(shared.iterdir()) == []
    assert (tmp_path / "home" / ".cache" / "paplu_env").is_dir()  # the user's own is taken instead
    shared.chmod(0o1777)  # a sticky folder above is no hindrance: nobody else can rename what lies in it
    own = shared / "own"
    own.mkdir(mode=0o700)
    run = _run(small_package, PAPLU_CACHE_DIR=str(own))
    assert "others may write" not in run.stderr
    assert list(own.iterdir()) != []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can make another's folder")
def test_a_folder_of_another_user_is_refused(small_package: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    os.chown(theirs, 12345, 12345)
    run = _run(small_package, PAPLU_CACHE_DIR=str(theirs), HOME=str(tmp_path / "home"))
    assert f"{theirs} belongs to another user" in run.stderr
    assert list(theirs.iterdir()) == []


def test_a_planted_pickle_is_not_run(small_package: Path, tmp_path: Path) -> None:
    cache, mark = tmp_path / "cache", tmp_path / "mark"
    assert _run(small_package, PAPLU_CACHE_DIR=str(cache)).stdout.split() == ["42", "0"]
    payload = f"import pickle, os\nclass P:\n    def __reduce__(self): return os.system, ('touch {mark}',)\n"
    payload += (
        f"import pathlib\nfor f in pathlib.Path({str(cache)!r}).rglob('*.nbc'): f.write_bytes(pickle.dumps(P()))\n"
    )
    subprocess.run([sys.executable, "-c", payload], check=True)
    cache.chmod(0o777)
    assert _run(small_package, PAPLU_CACHE_DIR=str(cache), HOME=str(tmp_path / "home")).stdout.split()[0] == "42"
    assert not mark.exists()


def test_without_a_place_to_write_kernels_work_and_it_is_said_once(small_package: Path) -> None:
    for home in ("relative", "/proc/nobody"):
        run = _run(small_package, HOME=home)
        assert run.stdout.split() == ["42", "0"]
        assert run.stderr.count("compiled anew in every process") == 1


def test_a_cache_that_may_only_be_read_is_read(small_package: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert _run(small_package, PAPLU_CACHE_DIR=str(cache)).stdout.split() == ["42", "0"]
    kept = {path: path.stat().st_mtime_ns for path in cache.rglob("*")}
    code = (
        "from paplu_env._jit import cache; import dataclasses;"
        "place = dataclasses.replace(cache.place(), can_write=False);"
        "cache.place = lambda: place;"
        "from paplu_env.caller import kernel; print(kernel(21), kernel(21.5), sum(kernel.stats.cache_hits.values()))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=_environment(small_package, PAPLU_CACHE_DIR=str(cache)),
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.split() == ["42", "43.0", "1"]
    assert {path: path.stat().st_mtime_ns for path in cache.rglob("*")} == kept


def test_a_full_disk_stops_no_kernel(small_package: Path, tmp_path: Path) -> None:
    code = (
        "import os\n"
        "from paplu_env._jit.cache import _Files\n"
        "def full(self, key, data): raise OSError(28, 'No space left on device')\n"
        "_Files.save = full\n"
        "from paplu_env.caller import kernel; print(kernel(21))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=_environment(small_package, PAPLU_CACHE_DIR=str(tmp_path / "cache")),
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout.strip() == "42", run.stderr
    assert "No space left on device" in run.stderr


def test_bytecode_and_zips_work_without_a_cache(small_package: Path, tmp_path: Path) -> None:
    archive = tmp_path / "bundle.zip"
    with zipfile.ZipFile(archive, "w") as bundle:
        for path in sorted(small_package.rglob("*.py")):
            bundle.write(path, path.relative_to(small_package.parent))
    code = "from paplu_env.caller import kernel; print(kernel(21))"
    environment = {**_environment(small_package), "PYTHONPATH": str(archive), "HOME": str(tmp_path / "home")}
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert run.stdout.strip() == "42", run.stderr


def test_processes_that_compile_for_several_signatures_at_once_get_their_own(
    small_package: Path, tmp_path: Path
) -> None:
    """Numba numbers its files by an index that two processes read at once: one then loads the other's kernel."""
    code = (
        "import sys, numpy as np; from paplu_env.caller import kernel;"
        "values = [21, 21.5, np.float32(2), np.uint8(3), True];"
        "order = values[int(sys.argv[1]):] + values[:int(sys.argv[1])];"
        "print(sorted(float(kernel(value)) for value in order))"
    )

    def run(number: int) -> str:
        command = [sys.executable, "-c", code, str(number)]
        environment = _environment(small_package, PAPLU_CACHE_DIR=str(tmp_path / "cache"))
        found = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert found.returncode == 0, found.stderr
        return found.stdout.strip()

    for _ in range(2):  # compiled by all at once, then loaded from what they left
        with ThreadPoolExecutor(4) as starters:
            assert set(starters.map(run, range(4))) == {"[2.0, 4.0, 6.0, 42.0, 43.0]"}


def test_kernels_are_kept_without_an_index() -> None:
    """A race can't be had at will, so that the two processes above meet is left to chance and this is not."""
    if _jit.IS_COMPILED:
        assert isinstance(_jit.cache._KernelCache(chance.mix.py_func)._cache_file, _jit.cache._Files)


def test_a_file_is_read_for_its_own_key_alone(tmp_path: Path) -> None:
    first, second = (_jit.cache._Files(tmp_path, "kernel") for _ in range(2))
    first.save("a", 1)
    second.save("b", 2)
    assert (first.load("b"), second.load("a"), first.load("c")) == (2, 1, None)
    first.path("a").rename(first.path("c"))
    assert first.load("c") is None


ROWS = """
import numpy as np
from paplu_env._jit import njit

SMALL = np.dtype([("a", np.int64), ("b", np.int64)])
LARGE = np.dtype([("pad", np.int64, (9,)), ("b", np.int64)])

@njit
def second(rows):
    return int(rows[0]["b"])

@njit
def kernel(rows):
    return second(rows)
"""


def test_the_name_of_a_kind_of_rows_is_the_same_in_every_process(small_package: Path, tmp_path: Path) -> None:
    """Numba counts its types up in each process; kernels of two processes then share a name and are mixed up."""
    (small_package / "rows.py").write_text(ROWS)
    code = (
        "import sys, numba; from paplu_env import rows;"
        "names = {name: numba.typeof(getattr(rows, name)).dtype.mangling_args for name in sys.argv[1:]};"
        "print(sorted(names.items()))"
    )
    told = []
    for kinds in (["SMALL", "LARGE"], ["LARGE", "SMALL"]):
        command = [sys.executable, "-c", code, *kinds]
        environment = _environment(small_package, PAPLU_CACHE_DIR=str(tmp_path / "cache"))
        run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        told.append(run.stdout)
    assert told[0] == told[1] != ""
