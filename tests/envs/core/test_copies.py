"""Arrays that are handed out again: never while somebody holds them."""

from __future__ import annotations

import copy
import pickle

import numpy as np

from paplu_env.envs.core.copies import Copies


def test_an_array_that_is_held_is_not_handed_out_again() -> None:
    copies = Copies((3, 2), np.float32)
    held = [copies.take() for _ in range(10)]
    assert len({id(array) for array in held}) == 10
    assert not any(np.shares_memory(one, other) for k, one in enumerate(held) for other in held[:k])


def test_an_array_that_nobody_holds_is_handed_out_again() -> None:
    copies = Copies((3, 2), np.float32)
    first = id(copies.take())
    assert id(copies.take()) == first


def test_a_view_of_an_array_holds_it() -> None:
    copies = Copies((3, 2), np.float32)
    row = copies.take()[1]
    row[:] = 7
    copies.take()[:] = 0
    assert row.tolist() == [7, 7]
    seen = copies.take().view(np.int32)
    assert not np.shares_memory(seen, copies.take())


def test_copies_of_it_share_nothing_with_it() -> None:
    copies = Copies((3, 2), np.float32)
    copies.take()
    for twin in (copy.deepcopy(copies), pickle.loads(pickle.dumps(copies))):
        assert twin.take().shape == (3, 2)
        assert not np.shares_memory(twin.take(), copies.take())
