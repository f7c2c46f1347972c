"""The OpenSpiel face: its own checks, deals that are the engine's, and worlds that a seat cannot tell apart."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from paplu_env import encoding, engine
from paplu_env.engine.chance import mix
from paplu_env.errors import InvalidRules, PapluError
from paplu_env.rules import parse_rules
from tests.engine.tables import lay_out
from tests.envs.players import pick

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed: pip install 'paplu-env[openspiel]'")

from open_spiel.python import rl_environment  # noqa: E402
from open_spiel.python.algorithms import ismcts, mcts  # noqa: E402
from open_spiel.python.algorithms.generate_playthrough import playthrough  # noqa: E402

from paplu_env.envs import openspiel  # noqa: E402

GAME = "python_paplu(num_deals=20,seed=3)"


def _dealt(deal: int = 0, moves: int = 0, seed: int = 0) -> Any:
    """A state some random moves after a deal; drops are left out."""
    state = pyspiel.load_game(GAME).new_initial_state()
    state.apply_action(deal)
    generator = np.random.default_rng(seed)
    for _ in range(moves):
        if not state.is_terminal():
            state.apply_action(int(generator.choice([a for a in state.legal_actions() if a != engine.DROP])))
    return state


def test_openspiels_random_simulation_finds_nothing() -> None:
    pyspiel.random_sim_test(pyspiel.load_game(GAME), num_sims=8, serialize=True, verbose=False)  # raises if it does


def test_a_playthrough_is_the_same_each_time_and_names_every_action() -> None:
    text = playthrough("python_paplu(num_deals=3,seed=3)", None, seed=8)
    assert text == playthrough("python_paplu(num_deals=3,seed=3)", None, seed=8)
    for words in ('# Apply action "deal ', '"take", "drop"', "InformationStateTensorSize() = ", "Returns() = "):
        assert words in text


def test_an_outcome_of_chance_is_always_the_same_deal_of_the_engine() -> None:
    for deal in range(20):
        state = _dealt(deal)
        key = int(mix(np.uint64(3), np.uint64(deal)))
        assert str(state) == engine.format_position(engine.deal(openspiel.RULES, key), 0, openspiel.RULES)
    state = pyspiel.load_game(GAME).new_initial_state()
    assert state.is_chance_node()
    assert [deal for deal, _ in state.chance_outcomes()] == list(range(20))
    assert sum(share for _, share in state.chance_outcomes()) == pytest.approx(1.0)


def test_a_game_is_the_engines_own_to_its_returns() -> None:
    generator = np.random.default_rng(0)
    returns_seen = set()
    for deal in range(20):
        state = _dealt(deal)
        states = engine.deal(openspiel.RULES, int(mix(np.uint64(3), np.uint64(deal))))
        while not state.is_terminal():
            mask = engine.legal_action_mask(states, 0, openspiel.RULES)
            assert state.current_player() == int(states["current_player"][0])
            assert state.legal_actions() == np.flatnonzero(mask).tolist()
            assert state.legal_actions(1 - state.current_player()) == []
            assert state.returns() == [0.0, 0.0]
            action = pick(generator, mask)
            if action == engine.DROP and generator.random() < 0.7:
                action = engine.DRAW_CLOSED
            state.apply_action(action)
            engine.apply_action(states, 0, action, openspiel.RULES)
        assert state.returns() == engine.returns(states, 0).tolist()
        assert sum(state.returns()) == 0
        assert state.legal_actions() == []
        returns_seen.add(tuple(state.returns()))
    assert len(returns_seen) > 1


TABLES = (
    "points:drop_allowed=false,max_turns=20",
    "pagat:num_players=4",
    "paplu_bonus:num_players=3,num_decks=3",
    "online:max_turns=60",
    "classic:num_players=3",
)


@pytest.mark.parametrize("rules", TABLES)
def test_any_table_is_a_game_by_its_rules_and_is_found_again_by_its_text(rules: str) -> None:
    table = parse_rules(rules)
    game = pyspiel.load_game("python_paplu", {"rules": rules, "num_deals": 5, "seed": 3})
    assert game.rules == table
    assert (game.num_players(), game.num_deals, game.seed) == (table.num_players, 5, 3)
    text = str(game)
    assert pyspiel.load_game(text).rules == table
    assert str(pyspiel.load_game(text)) == text
    pyspiel.random_sim_test(game, num_sims=2, serialize=True, verbose=False)  # raises if it finds a fault
    state = game.new_initial_state()
    state.apply_action(4)
    key = int(mix(np.uint64(3), np.uint64(4)))
    assert str(state) == engine.format_position(engine.deal(table, key), 0, table)


def test_rules_in_a_game_string_are_written_without_what_openspiel_keeps_for_itself() -> None:
    game = pyspiel.load_game("python_paplu(rules=points:drop_allowed:false;max_turns:60,seed=7)")
    assert game.rules == parse_rules("points:drop_allowed=false,max_turns=60")
    assert (game.num_deals, game.seed) == (10_000, 7)
    assert pyspiel.load_game("python_paplu").rules == openspiel.RULES


@pytest.mark.parametrize("parameters", [{"rules": "nobody"}, {"rules": "points:max_turns:x"}, {"rules": ""}])
def test_rules_that_cannot_be_read_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(InvalidRules):
        openspiel.PapluGame(parameters)


@pytest.mark.parametrize("rules", [*TABLES, "pagat:num_players=3,hand_rummy=true"])
def test_no_deal_brings_more_than_the_game_says(rules: str) -> None:
    game = openspiel.PapluGame({"rules": rules, "num_deals": 30})
    generator = np.random.default_rng(2)
    for deal in range(30):
        state = game.new_initial_state()
        state.apply_action(deal)
        length = 0
        while not state.is_terminal():
            state.apply_action(int(generator.choice(state.legal_actions())))
            length += 1
        assert length <= game.max_game_length()
        assert game.min_utility() <= min(state.returns()) <= max(state.returns()) <= game.max_utility()


def test_tensors_are_the_encoding_of_each_seats_own_view() -> None:
    state = _dealt(4, moves=13)
    cards = encoding.by_name("cards-v1")
    for seat in range(2):
        expected = cards.encode(engine.player_view(state._states, 0, seat), openspiel.RULES)[0]
        assert np.array_equal(np.array(state.observation_tensor(seat), dtype=np.float32), expected)
        assert np.array_equal(np.array(state.information_state_tensor(seat), dtype=np.float32), expected)
    assert state.observation_tensor(0) != state.observation_tensor(1)
    assert f"you are seat {1}" in state.observation_string(1)


def test_what_a_seat_cannot_see_can_be_dealt_anew_without_it_noticing() -> None:
    """Two worlds, through OpenSpiel's own way to ask for them: strings and tensors say no hidden card."""
    changed = 0
    for moves in range(0, 30, 3):
        state = _dealt(2, moves, seed=moves)
        for seat in range(2):
            world = state.resample_from_infostate(seat, lambda: 0.37)
            for other in (world, world.clone()):
                assert other.information_state_string(seat) == state.information_state_string(seat)
                assert other.observation_string(seat) == state.observation_string(seat)
                assert other.information_state_tensor(seat) == state.information_state_tensor(seat)
                assert other.current_player() == state.current_player()
            if state.current_player() == seat:
                assert world.legal_actions() == state.legal_actions()
            changed += str(world) != str(state)
    assert changed == 20


def test_a_seat_remembers_the_order_in_which_it_drew_its_cards() -> None:
    """The table looks the same in the end, but the information states are two: this is perfect cache."""
    hand = "AS 3S 5S 7S 9S KS 2H 4H 6H 8H TH QH 2D"
    states = []
    for stock in ("5C 9C 7C", "7C 9C 5C"):
        state = _dealt()
        state._states = lay_out([hand], "QD", "3D", stock)
        for action in ("draw", "discard AS", "draw", "discard 9C", "draw", "discard 3S"):
            state.apply_action(engine.parse_action(action))
        states.append(state)
    one, other = states
    assert one.observation_string(0) == other.observation_string(0)
    assert one.observation_tensor(0) == other.observation_tensor(0)
    assert one.information_state_string(0) != other.information_state_string(0)
    assert one.information_state_string(1) == other.information_state_string(1)


def test_clones_and_saved_states_continue_identically_and_share_nothing() -> None:
    game = pyspiel.load_game(GAME)
    state = _dealt(1, moves=9)
    before = str(state)
    saved = pyspiel.serialize_game_and_state(game, state)
    twins = [
        state.clone(),
        game.deserialize_state(state.serialize()),
        pyspiel.deserialize_game_and_state(saved)[1],
        pickle.loads(pickle.dumps(state)),
    ]
    generator = np.random.default_rng(4)
    while not twins[0].is_terminal():
        action = int(generator.choice(twins[0].legal_actions()))
        for twin in twins:
            twin.apply_action(action)
        assert len({twin.information_state_string(seat) for twin in twins for seat in range(2)}) == 2
    assert len({str(twin) for twin in twins}) == 1
    assert all(twin.history() == twins[0].history() for twin in twins)
    assert str(state) == before
    assert not any(np.shares_memory(twin._states, state._states) for twin in twins)


def test_openspiels_searching_bot_plays_it() -> None:
    game = pyspiel.load_game(GAME)
    rng = np.random.RandomState(1)
    bot = ismcts.ISMCTSBot(
        game=game,
        uct_c=100,
        evaluator=mcts.RandomRolloutEvaluator(1, rng),
        max_simulations=4,
        random_state=rng,
    )
    state = _dealt(5)
    for _ in range(6):
        if state.is_terminal():
            break
        action = bot.step(state)
        assert action in state.legal_actions()
        state.apply_action(action)
    assert len(state.history()) > 1


def test_openspiels_random_bots_and_learning_environment_play_it() -> None:
    state = pyspiel.load_game(GAME).new_initial_state()
    results = pyspiel.evaluate_bots(state, [pyspiel.make_uniform_random_bot(seat, seat) for seat in range(2)], 5)
    assert sum(results) == 0
    environment = rl_environment.Environment(pyspiel.load_game(GAME))
    environment.seed(1)
    step = environment.reset()
    while not step.last():
        step = environment.step([step.observations["legal_actions"][step.observations["current_player"]][0]])
    assert sum(step.rewards) == 0


@pytest.mark.parametrize("parameters", [{"num_deals": 0}, {"num_deals": 10**7}, {"seed": -1}])
def test_parameters_out_of_range_are_refused(parameters: dict[str, int]) -> None:
    with pytest.raises(PapluError, match="deals and a seed from 0"):
        openspiel.PapluGame(parameters)


def test_observers_of_parts_of_an_observation_are_not_offered() -> None:
    game = pyspiel.load_game(GAME)
    public = pyspiel.IIGObservationType(perfect_recall=False, private_info=pyspiel.PrivateInfoType.NONE)
    assert game.make_py_observer(public) is None
    with pytest.raises(PapluError, match="no parameters"):
        game.make_py_observer(None, {"depth": 1})
