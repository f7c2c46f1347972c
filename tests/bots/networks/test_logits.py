"""From logits to actions: never an illegal one, and shares as the softmax says."""

from __future__ import annotations

import numpy as np
import pytest

from paplu_env.bots.networks.logits import choose
from paplu_env.engine.actions import NUM_ACTIONS
from paplu_env.engine.chance import keys_for


def test_a_masked_action_is_never_chosen_though_its_logit_is_the_highest():
    masks = np.zeros((10_000, NUM_ACTIONS), dtype=bool)
    masks[:, [5, 60]] = True
    logits = np.zeros((10_000, NUM_ACTIONS), dtype=np.float32)
    logits[masks] = -20.0
    keys = keys_for(1, np.arange(10_000), 0, 0)
    assert np.isin(choose(logits, masks, keys), [5, 60]).all()
    assert (choose(logits, masks) == 5).all()


def test_actions_are_drawn_as_often_as_the_softmax_says():
    masks = np.zeros((20_000, NUM_ACTIONS), dtype=bool)
    masks[:, [0, 7, 109]] = True
    logits = np.full((20_000, NUM_ACTIONS), 9.0)
    logits[:, [0, 7, 109]] = np.log([0.5, 0.2, 0.3])
    drawn = choose(logits, masks, keys_for(2, np.arange(20_000), 0, 0))
    for action, share in ((0, 0.5), (7, 0.2), (109, 0.3)):
        assert np.mean(drawn == action) == pytest.approx(share, abs=0.015)


@pytest.mark.parametrize("key", [0, 2**64 - 1])
def test_the_outermost_keys_draw_a_legal_action(key):
    masks = np.zeros((1, NUM_ACTIONS), dtype=bool)
    masks[0, 50] = masks[0, 51] = True
    drawn = choose(np.zeros((1, NUM_ACTIONS)), masks, np.array([key], dtype=np.uint64))
    assert drawn[0] == (50 if key == 0 else 51)
    assert drawn.dtype == np.int64


def test_equal_logits_give_the_lowest_id():
    masks = np.zeros((1, NUM_ACTIONS), dtype=bool)
    masks[0, [4, 90]] = True
    assert choose(np.zeros((1, NUM_ACTIONS)), masks)[0] == 4
