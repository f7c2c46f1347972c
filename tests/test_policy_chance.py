"""The chance of policies: the same wherever they play, and nothing that tells the cards.

`mix` can be undone, so whoever gets a key can work back to the seed that it was made from. What is found then has to
be the policies' own seed and nothing that the deal follows from.
"""

from __future__ import annotations

import secrets

import gymnasium
import numpy as np
import pytest
from gymnasium.utils import seeding

from paplu_env import bots, engine, evaluation
from paplu_env.bots import Policy
from paplu_env.bots.table.events import events_after, opening_event
from paplu_env.engine.chance import match_deal_seeds, mix, policy_seed_of
from paplu_env.envs import PapluEnv
from paplu_env.rules import preset
from paplu_env.ui.table import Table

RULES = preset("points", drop_allowed=False)
_BITS = (1 << 64) - 1


class Spy(Policy):
    """Plays as another policy and keeps what it was given."""

    def __init__(self, inner: Policy) -> None:
        super().__init__("spy", inner.rules)
        self._inner = inner
        self.seen: list[tuple[np.ndarray, int]] = []  # (view, key)
        self.played: list[int] = []

    def _choose(self, views, masks, keys):
        actions = self._inner.act(views, masks, keys)
        for i in range(len(views)):
            self.seen.append((views[i : i + 1].copy(), int(keys[i])))
            self.played.append(int(actions[i]))
        return actions


def _unmixed(key: int, value: int) -> int:
    """The key that, mixed with ``value``, gives ``key``."""
    return _before_splitmix(_before_splitmix(key) ^ value)


def _before_splitmix(output: int) -> int:
    """The state whose first output of SplitMix64 this is."""
    z = output
    for shift, factor in ((31, 0x94D049BB133111EB), (27, 0xBF58476D1CE4E5B9), (30, 1)):
        high = z
        for _ in range(64 // shift + 1):
            high = z ^ (high >> shift)
        z = high * pow(factor, -1, 1 << 64) & _BITS
    return (z - 0x9E3779B97F4A7C15) & _BITS


def _origin(view: np.ndarray, key: int, deal: int) -> int:
    """The seed that a decision's key was made from."""
    return _unmixed(_unmixed(_unmixed(key, _decision(view)), int(view["seat"][0])), deal)


def _decision(view: np.ndarray) -> int:
    return 2 * int(view["draws"][0]) + int(view["phase"][0])


def _is_deal_of(view: np.ndarray, seed: int) -> bool:
    """Whether a seed deals what this view shows of a deal that nobody has drawn in."""
    for first in range(2):
        states = engine.deal(RULES, seed, first=first)
        if engine.player_view(states, 0, int(view["seat"][0])).tobytes() == view.tobytes():
            return True
    return False


def _guesses(origin: int, deal: int) -> list[int]:
    """Seeds of deals that whoever knows what a key was made from would try."""
    plain = [origin, *(_unmixed(origin, value) for value in (0, 1, 101, 102, 103, deal))]
    mixed = [int(mix(np.uint64(origin), np.uint64(value))) for value in (0, 1, 101, 102, 103, 2**32 + deal)]
    matches = [int(match_deal_seeds(seed, deal)[0]) for seed in plain]
    return [*plain, *mixed, *matches, origin + deal, policy_seed_of(origin)]


def _opening_views(spy: Spy) -> list[tuple[np.ndarray, int]]:
    return [(view, key) for view, key in spy.seen if int(view["draws"][0]) == 0]


def test_mixing_can_be_undone_so_the_test_below_has_teeth() -> None:
    assert _unmixed(int(mix(np.uint64(123456789), np.uint64(77))), 77) == 123456789


def test_keys_of_a_match_lead_to_the_policies_seed_and_to_no_deal() -> None:
    spy = Spy(bots.make_policy("random", RULES))
    result = evaluation.play_match(spy, "mindist", deals=40, seed=5, rules=RULES, batch=2, luck=False)
    openings = _opening_views(spy)
    assert len(openings) > 20
    for view, key in openings:
        # The key doesn't name its deal; with the right one it leads to the policies' seed.
        deals = [deal for deal in range(40) if _origin(view, key, deal) == result.policy_seed]
        assert len(deals) == 1
        assert not any(_is_deal_of(view, guess) for guess in _guesses(result.policy_seed, deals[0]))


@pytest.mark.parametrize("identifier", ["Paplu-v0", "PapluSeries-v0"])
def test_keys_of_an_environment_lead_to_no_deal(identifier: str) -> None:
    spy = Spy(bots.make_policy("random", RULES))
    env = gymnasium.make(f"paplu_env:{identifier}", rules=RULES, opponent=spy, seat=1)
    env.action_space.seed(3)
    for episode in range(8):
        _, info = env.reset(seed=11 + episode)
        is_over = False
        while not is_over and len(spy.seen) < 40 * (episode + 1):
            _, _, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
            is_over = terminated or truncated
    openings = _opening_views(spy)
    assert len(openings) >= 8
    for view, key in openings:
        of_the_deal = _unmixed(_unmixed(key, _decision(view)), int(view["seat"][0]))
        for origin, deal in [(of_the_deal, 0), *((_unmixed(of_the_deal, deal), deal) for deal in range(30))]:
            assert not any(_is_deal_of(view, guess) for guess in _guesses(origin, deal))


def test_small_seeds_are_found_by_trying_where_one_seed_is_given_and_not_where_two_are_drawn_apart() -> None:
    tried = {policy_seed_of(seed) for seed in range(1 << 20)}
    for policy_seed, is_found in ((None, True), (secrets.randbits(64), False)):
        spy = Spy(bots.make_policy("random", RULES))
        evaluation.play_match(spy, "mindist", deals=2, seed=9, rules=RULES, luck=False, policy_seed=policy_seed)
        view, key = spy.seen[0]
        assert any(_origin(view, key, deal) in tried for deal in range(2)) == is_found


def _played_at_a_table(seed: int, first: int, policy_seed: int) -> Table:
    """A deal of `random` at seat 0 against `mindist`."""
    players = [bots.make_policy(name, RULES) for name in ("random", "mindist")]
    table = Table(RULES, seed, players, first=first, policy_seed=policy_seed)
    table.play_policies()
    assert table.is_over
    return table


def _of_random(table: Table) -> list[int]:
    """What seat 0 did."""
    states = engine.deal(RULES, table.seed, table.first)
    done = []
    for action in table.actions:
        if int(states["current_player"][0]) == 0:
            done.append(action)
        engine.apply_action(states, 0, action, RULES)
    return done


def test_random_is_one_player_in_a_match_at_a_table_and_as_a_seat() -> None:
    spy = Spy(bots.make_policy("random", RULES))
    result = evaluation.play_match(spy, "mindist", deals=2, seed=9, rules=RULES, luck=False)
    seed = int(match_deal_seeds(9, 0)[0])
    table = _played_at_a_table(seed, 0, result.policy_seed)
    done = _of_random(table)
    states = engine.deal(RULES, seed)
    seat = bots.Seat("random", RULES, seat=0, seed=result.policy_seed)
    seat.see(opening_event(engine.player_view(states, 0, 0), number=0))
    decided = []
    for action in table.actions:
        before = engine.player_view(states, 0, 0)
        if seat.is_to_move:
            decided.append(seat.decide())
        engine.apply_action(states, 0, action, RULES)
        for event in events_after(before, action, engine.player_view(states, 0, 0)):
            seat.see(event)
    assert decided == done
    in_match = {view.tobytes(): action for (view, _), action in zip(spy.seen, spy.played, strict=True)}
    states = engine.deal(RULES, seed)
    for action in table.actions:
        if int(states["current_player"][0]) == 0:
            assert in_match[engine.player_view(states, 0, 0).tobytes()] == action
        engine.apply_action(states, 0, action, RULES)
    assert len(done) > 2


def test_random_is_the_same_player_in_an_environment() -> None:
    generator, _ = seeding.np_random(21)
    table = _played_at_a_table(int(generator.bit_generator.random_raw()), 0, policy_seed_of(21))
    spy = Spy(bots.make_policy("random", RULES))
    env = PapluEnv(rules=RULES, opponent=spy, seat=1)
    env.reset(seed=21)
    states = engine.deal(RULES, table.seed)
    for action in table.actions:
        if int(states["current_player"][0]) == 1:
            env.step(np.int64(action))
        engine.apply_action(states, 0, action, RULES)
    assert spy.played == _of_random(table)
    assert len(spy.played) > 2
