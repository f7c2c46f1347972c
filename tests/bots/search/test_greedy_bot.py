"""`light` plays as `search` plays on: the same moves, from what a seat may see."""

import numpy as np
import pytest

from paplu_env.bots import make_policy
from paplu_env.bots.playing import play_steps
from paplu_env.bots.search.playout_policy import SCRATCH_ROWS, TO_THE_END, UNKNOWN, play_on
from paplu_env.bots.search.solver_cache import new_solver_cache
from paplu_env.cards import NUM_FACES
from paplu_env.engine import deal_many
from paplu_env.engine.actions import DROP
from paplu_env.evaluation import play_match
from paplu_env.melds.fast_distance.distance_table import distance_table
from paplu_env.rules import as_rules
from tests.bots.tables import no_keys


@pytest.mark.parametrize("rules", ["points", "saha2025", "one_pack", "points:num_players=3"])
def test_a_deal_ends_as_the_kernel_of_the_search_ends_it(rules: str) -> None:
    table = as_rules(rules)
    by_kernel = deal_many(table, np.arange(60, dtype=np.uint64))
    by_policy = by_kernel.copy()
    scratch, cache = np.empty((SCRATCH_ROWS, NUM_FACES), dtype=np.uint8), new_solver_cache(table)
    for i in range(len(by_kernel)):
        distances = np.full(table.num_players, UNKNOWN, dtype=np.int64)
        play_on(by_kernel, i, TO_THE_END, table.packed, distance_table(), distances, cache, scratch)
    light = make_policy("light", table)
    for step in play_steps(by_policy, [light] * table.num_players, no_keys):
        assert (step.actions != DROP).all()
    np.testing.assert_array_equal(by_policy["returns"], by_kernel["returns"])
    np.testing.assert_array_equal(by_policy["log_size"], by_kernel["log_size"])


def test_it_is_stronger_than_the_strongest_published_agent() -> None:
    result = play_match("light", "mindist_opp", deals=1000, seed=5, rules="points:drop_allowed=false")
    assert result.points_interval[0] > 2.0
