"""Tensors come back as they went, and what is read is never executed."""

import pickle
from pathlib import Path

import numpy as np
import pytest

from paplu_env.errors import InvalidFile
from training.run.tensors import load_tensors, save_tensors


def test_tensors_and_values_come_back_as_they_went(tmp_path: Path) -> None:
    tensors = {
        "a": np.arange(6, dtype=np.float32).reshape(2, 3),
        "b": np.array([1, 2], dtype=np.uint32),
        "c": np.float32(7.0) * np.ones(()),
        "d": np.arange(8, dtype=np.float32)[::2],
    }
    save_tensors(tmp_path / "t", "test-1", tensors, {"step": 3, "names": ["x"]})
    found, about = load_tensors(tmp_path / "t", "test-1")
    assert about == {"step": 3, "names": ["x"]}
    assert set(found) == set(tensors)
    for name, array in tensors.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == np.asarray(array).dtype


def test_a_file_cut_at_any_place_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t"
    save_tensors(path, "test-1", {"a": np.zeros(100, dtype=np.float32)}, {})
    data = path.read_bytes()
    for length in (0, 1, 7, 8, 40, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:length])
        with pytest.raises(InvalidFile, match="truncated"):
            load_tensors(path, "test-1")


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    save_tensors(tmp_path / "t", "test-1", {}, {})
    with pytest.raises(InvalidFile, match="'test-1', not 'test-2'"):
        load_tensors(tmp_path / "t", "test-2")


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="no such file"):
        load_tensors(tmp_path / "none", "test-1")


class _Bomb:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple:
        return (Path.touch, (self.path,))


def test_a_pickle_is_refused_and_not_run(tmp_path: Path) -> None:
    path, crater = tmp_path / "t", tmp_path / "crater"
    path.write_bytes(pickle.dumps(_Bomb(crater)))
    with pytest.raises(InvalidFile):
        load_tensors(path, "test-1")
    assert not crater.exists()
