"""People's own models as policies: plain functions, and models with the interface of Stable-Baselines3."""

from __future__ import annotations

import types

import gymnasium
import numpy as np
import pytest

from paplu_env import encoding as encodings
from paplu_env import engine
from paplu_env.bots import from_callable, from_sb3
from paplu_env.engine.actions import NUM_ACTIONS
from paplu_env.engine.chance import keys_for
from paplu_env.errors import IllegalAction, PapluError, PolicyMismatch
from paplu_env.rules import as_rules

ENCODING = "cards-v1"
POINTS = as_rules("points")
SIZE = encodings.by_name(ENCODING).num_features(POINTS)


@pytest.fixture(scope="module")
def decisions() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Views, masks and keys of the first and the second decision of eight deals."""
    states = engine.deal_many(POINTS, np.arange(8, dtype=np.uint64))
    later = states.copy()
    engine.apply_actions(later, np.full(8, engine.DRAW_CLOSED), POINTS)
    both = np.concatenate([states, later])
    views = engine.player_views(both, both["current_player"].astype(np.int64))
    return views, engine.legal_action_masks(both, POINTS), np.arange(16, dtype=np.uint64)


def test_a_function_sees_its_encoding_and_the_masks(decisions):
    seen = []

    def last_legal(obs, masks):
        seen.append((obs, masks))
        return NUM_ACTIONS - 1 - masks[:, ::-1].argmax(axis=1)

    policy = from_callable(last_legal, ENCODING)
    actions = policy.act(*decisions)
    (obs, masks), *_ = seen
    assert (obs.shape, obs.dtype) == ((16, SIZE), np.float32)
    assert np.array_equal(obs, encodings.by_name(ENCODING).encode(decisions[0], POINTS))
    assert np.array_equal(masks, decisions[1])
    assert policy.name == "last_legal"
    assert actions.dtype == np.int64


def test_an_illegal_answer_names_the_action_the_position_and_what_is_legal(decisions):
    policy = from_callable(lambda obs, masks: np.full(len(obs), engine.DECLARE_BASE), ENCODING, name="liar")
    with pytest.raises(IllegalAction, match=r"liar, row 0: answered 56, declare AS.*hand .*legal: draw, take, drop"):
        policy.act(*decisions)
    beyond = from_callable(lambda obs, masks: np.full(len(obs), NUM_ACTIONS), ENCODING)
    with pytest.raises(IllegalAction, match=r"ids are 0\.\.109"):
        beyond.act(*decisions)


def test_a_function_that_writes_to_its_masks_makes_nothing_legal_and_leaves_the_callers_masks_alone(decisions):
    def cheat(obs, masks):
        masks[:] = True
        return np.full(len(obs), engine.ANNOUNCE)

    before = decisions[1].copy()
    with pytest.raises(IllegalAction, match="cheat, row 0: answered 109, announce"):
        from_callable(cheat, ENCODING).act(*decisions)
    assert np.array_equal(decisions[1], before)


@pytest.mark.parametrize("answer", [np.zeros(3, dtype=np.int64), np.zeros((16, 1), dtype=np.int64), np.zeros(16)])
def test_answers_that_are_not_one_whole_number_a_row_are_refused(decisions, answer):
    with pytest.raises(PapluError, match=r"shape \(16,\), of an integer dtype"):
        from_callable(lambda obs, masks: answer, ENCODING).act(*decisions)


def test_an_unknown_encoding_is_refused_when_the_policy_is_made():
    with pytest.raises(PapluError, match="cards-v9"):
        from_callable(lambda obs, masks: masks.argmax(axis=1), "cards-v9")


class Spaces:
    """What `from_sb3` asks of any model before it plays."""

    observation_space = gymnasium.spaces.Box(0, 1, (SIZE,))
    action_space = gymnasium.spaces.Discrete(NUM_ACTIONS)


class Masked(Spaces):
    """A model that is told what is legal, as MaskablePPO is."""

    def predict(self, observation, state=None, episode_start=None, deterministic=False, action_masks=None):
        assert deterministic
        return action_masks.argmax(axis=1), None


class Unmasked(Spaces):
    """A model that is not told, as PPO isn't, and always draws from the stock."""

    def predict(self, observation, state=None, episode_start=None, deterministic=False):
        return np.zeros(len(observation), dtype=np.int64), None


def test_a_maskable_model_gets_the_masks(decisions):
    assert np.array_equal(from_sb3(Masked(), ENCODING).act(*decisions), decisions[1].argmax(axis=1))


class Overwriting(Spaces):
    """A model that writes to its masks before it answers."""

    def predict(self, observation, state=None, episode_start=None, deterministic=False, action_masks=None):
        action_masks[:] = True
        return np.full(len(observation), engine.ANNOUNCE), None


def test_a_model_that_writes_to_its_masks_makes_nothing_legal(decisions):
    with pytest.raises(IllegalAction, match="Overwriting, row 0: answered 109, announce"):
        from_sb3(Overwriting(), ENCODING).act(*decisions)


def test_a_model_without_masks_plays_until_it_answers_illegally(decisions):
    policy = from_sb3(Unmasked(), ENCODING)
    early = decisions[0]["phase"] == 0
    assert (policy.act(*(part[early] for part in decisions)) == engine.DRAW_CLOSED).all()
    with pytest.raises(IllegalAction, match="Unmasked, row 8: answered 0, draw"):
        policy.act(*decisions)


def test_a_model_of_another_size_is_refused_with_both_sizes():
    with pytest.raises(PolicyMismatch, match=rf"\({SIZE},\).*features-v1"):
        from_sb3(Masked(), "features-v1")
    other = types.SimpleNamespace(
        predict=Masked().predict, observation_space=Masked.observation_space, action_space=gymnasium.spaces.Discrete(7)
    )
    with pytest.raises(PolicyMismatch, match="7 actions, the game has 110"):
        from_sb3(other, ENCODING)


def test_a_model_without_a_distribution_cannot_be_sampled():
    with pytest.raises(PolicyMismatch, match="deterministic=True"):
        from_sb3(Masked(), ENCODING, deterministic=False)


def test_a_real_model_is_drawn_from_by_key_and_never_illegally(decisions):
    pytest.importorskip("stable_baselines3")
    sb3_contrib = pytest.importorskip("sb3_contrib")
    model = sb3_contrib.MaskablePPO("MlpPolicy", _Shape(), n_steps=2, batch_size=2, seed=0, device="cpu")
    likeliest = from_sb3(model, ENCODING)
    assert np.array_equal(likeliest.act(*decisions), likeliest.act(*decisions))
    drawn = from_sb3(model, ENCODING, deterministic=False)
    views, masks, keys = decisions
    actions = drawn.act(views, masks, keys)
    assert masks[np.arange(16), actions].all()
    assert np.array_equal(actions, drawn.act(views, masks, keys))
    repeated = np.repeat(views[8:9], 400), np.repeat(masks[8:9], 400, axis=0)
    assert len(np.unique(drawn.act(*repeated, keys_for(1, np.arange(400), 0, 0)))) > 8


class _Shape(gymnasium.Env):
    """An environment that lends its spaces to a model and is never stepped."""

    observation_space = gymnasium.spaces.Box(0, 1, (SIZE,))
    action_space = gymnasium.spaces.Discrete(NUM_ACTIONS)

    def action_masks(self):
        return np.ones(NUM_ACTIONS, dtype=bool)
