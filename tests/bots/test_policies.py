"""What holds for every bot: legal, stateless, blind to hidden cards, equal to its slow restatement."""

from __future__ import annotations

import itertools
import json
import os
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from paplu_env import engine
from paplu_env.bots import BOTS, make_policy
from paplu_env.bots.playing import play_steps
from paplu_env.bots.published.agents import RuleAgent
from paplu_env.engine.state import DISCARD
from paplu_env.errors import PapluError, PolicyMismatch
from paplu_env.rules import as_rules
from tests.bots.published.restated import decide

# Rule sets that differ in what an agent may meet: drops, a pile reshuffled, one pack, more seats, wrong declarations.
FAST = [name for name in BOTS if name not in ("search", "expert")]  # which take their time, and have files of their own
TABLES = ("points", "saha2025", "one_pack", "points:num_players=4", "classic")


def positions(rules: str, name: str, deals: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """States, views, masks and answers of all decisions in ``deals`` deals that a bot plays against itself."""
    table = as_rules(rules)
    policy = make_policy(name, table)
    states = engine.deal_many(table, np.arange(seed, seed + deals, dtype=np.uint64))
    found = []
    moment = itertools.count()
    for step in play_steps(
        states,
        [policy] * table.num_players,
        lambda rows, due: np.arange(len(due), dtype=np.uint64) + 1000 * next(moment),
    ):
        assert len(found) < 4 * table.max_turns, "every deal ends within the turn limit"
        found.append((step.states.copy(), step.views, step.masks, step.actions))
    return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))  # type: ignore[return-value]


@pytest.mark.parametrize("rules", TABLES)
@pytest.mark.parametrize("name", FAST)
def test_every_bot_plays_whole_deals_legally(name, rules):
    _, _, masks, actions = positions(rules, name, deals=12, seed=5)
    assert masks[np.arange(len(actions)), actions].all()


@pytest.mark.parametrize("rules", ["points", "points:num_players=4"])
@pytest.mark.parametrize("name", FAST)
def test_no_answer_changes_when_the_hidden_cards_do(name, rules):
    table = as_rules(rules)
    states, views, masks, _ = positions(rules, name, deals=8, seed=21)
    keys = np.arange(len(views), dtype=np.uint64)
    others = engine.sample_worlds(views, keys, table)
    assert (states["hands"] != others["hands"]).any(), "the worlds differ in hidden cards"
    again = engine.player_views(others, views["seat"].astype(np.int64))
    policy = make_policy(name, table)
    answers = policy.act(again, engine.legal_action_masks(others, table), keys)
    assert np.array_equal(answers, policy.act(views, masks, keys))


@pytest.mark.parametrize("name", FAST)
def test_a_row_is_answered_the_same_alone_and_in_a_batch(name):
    _, views, masks, _ = positions("points", name, deals=3, seed=40)
    keys = np.arange(len(views), dtype=np.uint64)
    policy = make_policy(name)
    before = views.copy(), masks.copy()
    together = policy.act(views, masks, keys)
    alone = [int(policy.act(views[i : i + 1], masks[i : i + 1], keys[i : i + 1])[0]) for i in range(len(views))]
    assert together.tolist() == alone
    assert together.dtype == np.int64
    assert np.array_equal(views, before[0])
    assert np.array_equal(masks, before[1])
    # The mask as an environment's info carries it, and in an order in memory of its own.
    assert np.array_equal(policy.act(views, np.asfortranarray(masks.astype(np.int8)), keys), together)


@pytest.mark.parametrize("name", ["minscore", "mindist", "mindist_minscore", "mindist_opp"])
@pytest.mark.parametrize("rules", ["points", "saha2025:drop_allowed=false"])
def test_an_agent_answers_as_its_definition_says(name, rules):
    _, views, masks, actions = positions(rules, name, deals=40, seed=60)
    rng = np.random.default_rng(7)
    # Every kind of answer, not only the common ones: a few of each phase and of each kind of action.
    kinds = np.minimum(actions, engine.DISCARD_BASE) + 10 * (actions >= engine.DECLARE_BASE)
    kinds += 20 * (views["taken"] != 255)
    chosen = [row for kind in np.unique(kinds) for row in rng.permutation(np.flatnonzero(kinds == kind))[:3]]
    for row in chosen:
        assert actions[row] == decide(name, views[row], set(np.flatnonzero(masks[row]))), (name, rules, row)


def test_a_policy_travels_to_other_processes():
    policy = make_policy("mindist_opp", "one_pack")
    copy = pickle.loads(pickle.dumps(policy))
    assert (copy.name, copy.rules, repr(copy)) == (policy.name, policy.rules, repr(policy))


def test_compiled_and_plain_python_agents_answer_alike():
    source = textwrap.dedent("""
        import json
        import numpy as np
        from paplu_env import engine
        from paplu_env.bots.published.kernels import choose_kernel
        from paplu_env.melds.fast_distance.distance_table import distance_table
        from paplu_env.rules import as_rules
        rules = as_rules("points:drop_allowed=false")
        said = []
        for agent in range(6):
            states = engine.deal(rules, 3)
            for step in range(8):
                views = engine.player_view(states, 0, int(states["current_player"][0]))
                masks = engine.legal_action_masks(states, rules)
                actions = np.empty(1, dtype=np.int64)
                key = np.array([100 * agent + step], dtype=np.uint64)
                choose_kernel(agent, views, masks, key, rules.packed, distance_table(), actions)
                said.append(int(actions[0]))
                engine.apply_actions(states, actions, rules)
                if engine.is_over(states, 0):
                    break
    """)
    compiled: dict[str, list[int]] = {}
    exec(source, compiled)
    plain = subprocess.run(
        [sys.executable, "-c", f"import numpy\nnumpy.seterr(all='raise')\n{source}\nprint(json.dumps(said))"],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert plain.returncode == 0, plain.stderr
    assert json.loads(plain.stdout) == compiled["said"]
    assert len(compiled["said"]) > 40


def test_an_unknown_bot_is_answered_with_the_closest_and_with_all():
    with pytest.raises(PapluError, match=r"Did you mean mindist_opp\?") as error:
        make_policy("mindist_op")
    assert all(name in str(error.value) for name in (*BOTS, "easy", "medium", ".onnx"))
    with pytest.raises(PapluError, match="the rule agents are"):
        RuleAgent("hard")


def test_tier_names_stand_for_frozen_ids():
    assert make_policy("easy").name == "easy-1"
    assert make_policy("medium").name == "medium-1"
    assert make_policy("hard").name == "hard-1"


def test_a_policy_made_for_other_rules_is_refused_by_name():
    policy = make_policy("mindist")
    assert make_policy(policy, "points") is policy
    with pytest.raises(PolicyMismatch, match="one_pack"):
        make_policy(policy, "one_pack")


def test_agents_declare_only_complete_hands_where_wrong_declarations_are_allowed():
    _, views, _, actions = positions("classic", "mindist", deals=12, seed=5)
    declared = actions >= engine.DECLARE_BASE
    assert declared.any()
    assert (views["phase"][declared] == DISCARD).all()
    faces = actions[declared] - engine.DECLARE_BASE
    assert (views["declarable"][declared] >> faces & 1).all()
