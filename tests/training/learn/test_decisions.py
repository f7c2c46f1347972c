"""Decisions for cloning come from whole deals of legal play, and a network learns them."""

from pathlib import Path

import numpy as np
import pytest
import torch

from paplu_env import encoding as encodings
from paplu_env.bots import make_policy
from paplu_env.bots.policy import Policy
from paplu_env.encoding import HIDDEN_V1
from paplu_env.engine.actions import DECLARE_BASE, DROP
from paplu_env.errors import InvalidFile
from paplu_env.rules import as_rules
from tests.training.tiny import RULES, tiny_config
from training.learn.clone import clone
from training.learn.config import NetworkConfig
from training.learn.decisions import collect_decisions, kept_decisions
from training.learn.network import ActorCritic, face_columns
from training.run.progress import Progress

ENCODING = encodings.by_name("cards-v1")


def test_decisions_are_legal_and_their_outcomes_belong_to_the_seat() -> None:
    chunk = collect_decisions(make_policy("mindist_opp", RULES), deals=50, seed=1)
    assert chunk.obs(ENCODING).shape == (len(chunk), ENCODING.num_features(RULES))
    assert chunk.hidden(HIDDEN_V1).shape == (len(chunk), HIDDEN_V1.num_features(RULES))
    assert chunk.masks()[np.arange(len(chunk)), chunk.actions].all()
    declares = chunk.actions >= DECLARE_BASE
    assert declares.sum() == 50
    assert (chunk.points[declares] > 0).all()
    assert (chunk.winners[declares] == chunk.seats[declares]).all()
    won = chunk.winners == chunk.seats
    assert (chunk.points[won] >= 0).all()
    assert (chunk.points[~won & (chunk.winners >= 0)] <= 0).all()


def test_the_same_seed_gives_the_same_decisions() -> None:
    one, other = (collect_decisions(make_policy("random", "points"), 5, seed=2, noise=0.3) for _ in range(2))
    np.testing.assert_array_equal(one.states, other.states)
    np.testing.assert_array_equal(one.actions, other.actions)


def test_noise_changes_the_games_but_not_the_teachers_answers() -> None:
    teacher = make_policy("mindist_opp", "points")
    seen: list[np.ndarray] = []

    class Spy(Policy):
        def _choose(self, views, masks, keys):  # type: ignore[no-untyped-def]
            seen.append(teacher.act(views, masks, keys))
            return seen[-1]

    noisy = collect_decisions(Spy("spy", "points"), deals=40, seed=3, noise=0.5)
    calm = collect_decisions(teacher, deals=40, seed=3)
    np.testing.assert_array_equal(noisy.actions, np.concatenate(seen))
    assert len(noisy) > 1.5 * len(calm)
    assert (noisy.actions == DROP).sum() <= 40


def test_kept_decisions_are_read_back_and_other_files_refused(tmp_path: Path) -> None:
    teacher = make_policy("mindist", "points")
    first = kept_decisions(tmp_path, teacher, deals=5, seed=1, noise=0.1)
    (path,) = tmp_path.iterdir()
    again = kept_decisions(tmp_path, make_policy("mindist", "points"), deals=5, seed=1, noise=0.1)
    for name in ("states", "seats", "actions", "points", "winners"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    kept_decisions(tmp_path, teacher, deals=5, seed=2, noise=0.1)
    assert len(list(tmp_path.iterdir())) == 2
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(InvalidFile, match="holds no decisions"):
        kept_decisions(tmp_path, teacher, deals=5, seed=1, noise=0.1)


@pytest.mark.parametrize("reward", ["points", "scaled", "win", "shaped"])
def test_cloning_teaches_decisions_and_outcomes(reward: str) -> None:
    torch.manual_seed(0)
    config = tiny_config(
        clone__decisions=6000, clone__chunk=2000, clone__batch_size=128, clone__learning_rate=3e-3, reward=reward
    )
    columns = face_columns("cards-v1", as_rules(RULES))
    net = ActorCritic(ENCODING.num_features(RULES), NetworkConfig(hidden=(64,)), columns)
    with Progress("cloning", config.clone.decisions) as progress:
        figures = clone(net, config, progress)
    assert figures["decisions"] >= 6000
    assert figures["agreement"] > 0.45  # a network that ignores its input agrees in about a third
    assert figures["value_error"] < (60.0 if reward == "points" else 1.5)
