"""The solver gives the same answers compiled and as plain Python, where an overflow would be an error."""

from __future__ import annotations

import pytest

from tests.melds.batches import batch, mixed_hands
from tests.melds.samples import run_as_plain_python

ASK = """
    from paplu_env import melds
    from paplu_env.rules import RuleSet

    def answer(counts, wild):
        rules = RuleSet()
        told = [melds.deadwood(counts, wild, rules), melds.points(counts, wild, rules)]
        told.append(melds.distance(counts, wild, rules))
        if counts.sum() == 14:
            told += melds.declarable(counts, wild, rules).tolist()
        else:
            told += melds.outs(counts, wild, 2 - counts, rules).tolist()
        return told
"""


@pytest.mark.parametrize("size", [13, 14])
def test_plain_python_answers_like_the_compiled_kernels(size: int) -> None:
    counts, wilds = batch(mixed_hands(8, seed=30, size=size))
    assert run_as_plain_python([(hand, int(wild)) for hand, wild in zip(counts, wilds, strict=True)], ASK)
