"""Suits have no order: a relabelled position has the relabelled observation."""

from itertools import permutations

import numpy as np
import pytest

from paplu_env import encoding, engine
from paplu_env.cards import parse_card
from paplu_env.errors import PapluError
from tests.encoding.positions import relabelled, sampled_views


@pytest.mark.parametrize("name", encoding.names())
@pytest.mark.parametrize("rules", ["points", "one_pack", "saha2025", "points:num_players=4"])
def test_relabelling_suits_in_the_position_relabels_the_observation(name: str, rules: str) -> None:
    chosen, views = encoding.by_name(name), sampled_views(rules, games=3, seed=8, every=23)
    observations = chosen.encode(views, rules)
    for permutation in [(1, 0, 2, 3), (1, 2, 3, 0), (3, 2, 0, 1)]:
        expected = encoding.permute_suits(observations, rules, chosen, permutation)
        assert chosen.encode(relabelled(views, permutation), rules).tobytes() == expected.tobytes()


def test_permutations_compose_and_the_identity_changes_nothing() -> None:
    observations = encoding.by_name("cards-v1").encode(sampled_views("points", games=1, every=50), "points")
    there = encoding.permute_suits(observations, "points", "cards-v1", (2, 0, 3, 1))
    back = encoding.permute_suits(there, "points", "cards-v1", (1, 3, 0, 2))
    assert np.array_equal(back, observations)
    assert np.array_equal(encoding.permute_suits(observations, "points", "cards-v1", (0, 1, 2, 3)), observations)
    assert not np.shares_memory(back, observations)


def test_one_observation_is_relabelled_like_a_batch() -> None:
    observations = encoding.by_name("cards-v1").encode(sampled_views("points", games=1, every=50), "points")
    batch = encoding.permute_suits(observations, "points", "cards-v1", (3, 1, 2, 0))
    assert np.array_equal(encoding.permute_suits(observations[0], "points", "cards-v1", (3, 1, 2, 0)), batch[0])


@pytest.mark.parametrize("permutation", list(permutations(range(4)))[1:6])
def test_masks_and_actions_are_relabelled_alike(permutation: tuple[int, ...]) -> None:
    actions = np.arange(engine.NUM_ACTIONS)
    after = encoding.permute_actions(actions, permutation)
    assert sorted(after.tolist()) == actions.tolist()
    for action in actions:
        mask = actions == action
        assert np.flatnonzero(encoding.permute_masks(mask, permutation)).tolist() == [after[action]]


def test_an_action_keeps_its_kind_and_rank() -> None:
    spades_to_hearts = (1, 0, 2, 3)
    assert encoding.permute_actions(
        np.array(engine.parse_action("declare 7S")), spades_to_hearts
    ) == engine.parse_action("declare 7H")
    assert encoding.permute_faces(spades_to_hearts)[parse_card("KH")] == parse_card("KS")
    assert encoding.permute_actions(np.array(engine.TAKE_OPEN), spades_to_hearts) == engine.TAKE_OPEN


@pytest.mark.parametrize("permutation", [(0, 1, 2), (0, 1, 2, 2), (1, 2, 3, 4)])
def test_what_is_no_permutation_of_four_suits_is_refused(permutation: tuple[int, ...]) -> None:
    with pytest.raises(PapluError, match="not a permutation"):
        encoding.permute_faces(permutation)


def test_observations_of_another_length_are_refused() -> None:
    with pytest.raises(PapluError, match="688 features"):
        encoding.permute_suits(np.zeros((2, 600), dtype=np.float32), "points", "cards-v1", (1, 0, 2, 3))
