"""Arrays that callers hand in: whatever doesn't fit its rows is refused, and nothing changes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from paplu_env import engine
from paplu_env.bots import Seat
from paplu_env.encoding import hidden_layout
from paplu_env.engine.playout import random_actions
from paplu_env.engine.state import LARGE_VIEW, SMALL_VIEW, Views
from paplu_env.envs import PapluEnv, PapluSeriesEnv
from paplu_env.errors import IllegalAction, InvalidHand, InvalidRules, PapluError
from tests.engine.tables import POINTS

ROWS = engine.deal_many(POINTS, np.arange(4, dtype=np.uint64))
VIEWS = engine.player_views(ROWS, [0, 1, 0, 1])
NOT_FOUR_NUMBERS = (
    [0, 0],
    [0] * 5,
    [],
    0,
    [[0], [0], [0], [0]],
    [[0], [0, 0], [0], [0]],
    [0.0] * 4,
    [True] * 4,
    ["0"] * 4,
    [None] * 4,
    [2**70] * 4,
)


def test_a_seat_that_the_table_does_not_have_is_refused_by_one_class_everywhere() -> None:
    for ask in (
        lambda: engine.player_view(ROWS, 0, 2),
        lambda: engine.player_view(ROWS, 0, -1),
        lambda: engine.player_views(ROWS, [0, 1, 2, 0]),
        lambda: engine.deal(POINTS, 1, first=2),
        lambda: engine.deal_many(POINTS, [1], first=[2]),
        lambda: engine.deal(POINTS, 1, active=[0, 1, 2]),
        lambda: engine.deal(POINTS, 1, first="0"),  # type: ignore[arg-type]
        lambda: engine.Series("points", "session", first=2),
        lambda: hidden_layout("hidden-v1").encode(ROWS, [0, 1, 2, 0], POINTS),
        lambda: PapluEnv(seat=2),
        lambda: PapluSeriesEnv(seat=2),
        lambda: Seat("random", "points", seat=2),
    ):
        with pytest.raises(InvalidRules, match="seat"):
            ask()


@pytest.mark.parametrize("numbers", NOT_FOUR_NUMBERS, ids=str)
def test_actions_and_seats_are_one_whole_number_a_row(numbers: Any) -> None:
    states = engine.copy(ROWS)
    with pytest.raises(PapluError, match="actions: "):
        engine.apply_actions(states, numbers, POINTS)
    assert states.tobytes() == ROWS.tobytes()
    with pytest.raises(PapluError, match="seats: "):
        engine.player_views(states, numbers)
    if numbers != 0:  # one first seat for all is right
        with pytest.raises(PapluError, match="first: "):
            engine.deal_many(POINTS, [1, 2, 3, 4], first=numbers)


def test_the_largest_unsigned_number_is_no_action_rather_than_a_row_left_alone() -> None:
    with pytest.raises(PapluError, match="there is no such action"):
        engine.apply_actions(engine.copy(ROWS), np.full(4, 2**64 - 1, dtype=np.uint64), POINTS)


@pytest.mark.parametrize(
    "action", [0.0, 0.9, "0", None, [0], True, False, np.True_, np.float32(0), 2**63, 2**70, -(2**70), -1, 110], ids=str
)
def test_one_action_is_a_whole_number_of_those_there_are(action: Any) -> None:
    states = engine.copy(ROWS)
    with pytest.raises(IllegalAction, match="actions are"):
        engine.apply_action(states, 0, action, POINTS)
    assert states.tobytes() == ROWS.tobytes()


@pytest.mark.parametrize(
    "out",
    [
        np.zeros((2, 110), dtype=bool),
        np.zeros((4, 109), dtype=bool),
        np.zeros((4, 110), dtype=np.int8),
        np.zeros((110, 4), dtype=bool).T,
        np.zeros((8, 110), dtype=bool)[::2],
        np.broadcast_to(np.zeros(110, dtype=bool), (4, 110)),
        [[False] * 110] * 4,
    ],
    ids=["rows", "actions", "dtype", "turned", "strided", "read-only", "list"],
)
def test_masks_are_written_only_into_an_array_like_a_new_one(out: Any) -> None:
    with pytest.raises(PapluError, match=r"^out: "):
        engine.legal_action_masks(ROWS, POINTS, out=out)
    assert not np.any(out)


@pytest.mark.parametrize(
    "out", [np.zeros(3, SMALL_VIEW), np.zeros(4, LARGE_VIEW), np.zeros(8, SMALL_VIEW)[::2], np.zeros(4)]
)
def test_views_are_written_only_into_an_array_like_a_new_one(out: Views) -> None:
    with pytest.raises(PapluError, match=r"^out: "):
        engine.player_views(ROWS, [0, 0, 0, 0], out=out)
    assert not any(out.tobytes())


@pytest.mark.parametrize("numbers", [*NOT_FOUR_NUMBERS[:7], *NOT_FOUR_NUMBERS[8:], np.full(4, -1)], ids=str)
def test_keys_are_one_number_of_64_bits_a_view(numbers: Any) -> None:
    with pytest.raises(PapluError, match=r"^key"):
        engine.sample_worlds(VIEWS, numbers, POINTS)
    with pytest.raises(PapluError, match=r"^key"):
        random_actions(engine.legal_action_masks(ROWS, POINTS), numbers)


@pytest.mark.parametrize("seed", [1.5, 1.0, "x", None, -1, 2**64, True, np.False_, np.float32(2)])
def test_a_seed_is_a_whole_number(seed: Any) -> None:
    for deal in (
        lambda: engine.deal(POINTS, seed),
        lambda: engine.deal_many(POINTS, [5, seed]),
        lambda: engine.deal_into(engine.copy(ROWS), 0, POINTS, seed),
        lambda: engine.random_playouts(POINTS, 1, seed),
    ):
        with pytest.raises(InvalidRules, match=r"^seed"):
            deal()


@pytest.mark.parametrize("seeds", [np.array([-1]), np.array([1.5]), np.array(["x"]), np.array([True])], ids=str)
def test_seeds_in_an_array_are_whole_numbers_too(seeds: Any) -> None:
    with pytest.raises(InvalidRules, match=r"^seed"):
        engine.deal_many(POINTS, seeds)


def test_small_and_large_seeds_stand_in_one_list() -> None:
    seeds = [5, 2**64 - 1]
    assert engine.deal_many(POINTS, seeds).tobytes() == b"".join(engine.deal(POINTS, s).tobytes() for s in seeds)


@pytest.mark.parametrize(
    ("ask", "error"),
    [
        (lambda: engine.deal(POINTS, 1, first=0.0), InvalidRules),
        (lambda: engine.deal(POINTS, 1, active=[0.5, 1]), InvalidRules),
        (lambda: engine.deal(POINTS, 1, first=True), InvalidRules),
        (lambda: engine.deal(POINTS, 1, active=[False, True]), InvalidRules),
        (lambda: engine.deal_many(POINTS, [1, 2], first=[True, 0]), PapluError),
        (lambda: engine.deal_from(POINTS, [True] * 106), InvalidHand),
        (lambda: engine.player_view(ROWS, 0, True), InvalidRules),
        (lambda: engine.player_views(ROWS, [0, True, 0, 1]), PapluError),
        (lambda: engine.apply_actions(engine.copy(ROWS), (0, True, 0, 0), POINTS), PapluError),
        (lambda: engine.why_illegal(ROWS, 0, False, POINTS), IllegalAction),
        (lambda: engine.sample_world(VIEWS[:1], True, POINTS), InvalidRules),
        (lambda: engine.Series("points", seed=True), InvalidRules),
        (lambda: engine.Series("points").sheet.add([0, 0], False), PapluError),
        (lambda: engine.deal_many(POINTS, [1, 2], first=0.5), PapluError),
        (lambda: engine.deal_many(POINTS, 7), PapluError),
        (lambda: engine.deal_from(POINTS, [0.5] * 106), InvalidHand),
        (lambda: engine.player_view(ROWS, 0, 0.5), InvalidRules),
        (lambda: engine.deal_into(np.zeros(2), 0, POINTS, 1), InvalidRules),
        (lambda: engine.deal_into(engine.copy(ROWS), 4, POINTS, 1), IndexError),
        (lambda: engine.copy(ROWS, 4), IndexError),
        (lambda: engine.why_illegal(ROWS, 0, 0.5, POINTS), IllegalAction),
        (lambda: engine.apply_actions(engine.copy(ROWS).reshape(2, 2), [0, 0], POINTS), InvalidRules),
    ],
)
def test_seats_rows_and_decks_of_another_kind_are_refused(ask: Callable[[], object], error: type[Exception]) -> None:
    with pytest.raises(error):
        ask()


def test_a_first_seat_of_any_kind_of_whole_number_deals_the_same() -> None:
    for first in (np.uint8(1), np.int64(1)):
        assert engine.deal(POINTS, 1, first=first).tobytes() == engine.deal(POINTS, 1, first=1).tobytes()


def test_active_seats_may_be_any_iterable_even_with_many_first_seats() -> None:
    once = engine.deal_many(POINTS, [1, 2], first=[0, 1], active=iter([0, 1]))
    assert once.tobytes() == engine.deal_many(POINTS, [1, 2], first=[0, 1], active=[0, 1]).tobytes()
