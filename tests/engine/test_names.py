"""What a bot's author needs of the engine is in its `__init__`, and numbers and words go together."""

import numpy as np

from paplu_env import engine
from tests.engine.tables import COMPLETE, POINTS, lay_out, play


def test_phases_statuses_and_endings_have_words_by_number() -> None:
    assert [engine.PHASE_NAMES[phase] for phase in (engine.DRAW, engine.DISCARD, engine.OVER)] == [
        "draw",
        "discard",
        "over",
    ]
    statuses = (
        engine.IN,
        engine.DROPPED_FIRST,
        engine.DROPPED_MIDDLE,
        engine.WRONG_DECLARED,
        engine.NOT_ACTIVE,
    )
    assert statuses == tuple(range(len(engine.STATUS_NAMES)))
    endings = (
        engine.UNFINISHED,
        engine.DECLARED,
        engine.ANNOUNCED,
        engine.WRONG_DECLARE,
        engine.ENDED_BY_DROP,
        engine.VOID,
        engine.TRUNCATED,
        engine.LOWER_DEADWOOD,
    )
    assert endings == tuple(range(len(engine.ENDING_NAMES)))


def test_a_view_is_read_by_those_names() -> None:
    states = lay_out([COMPLETE], "7H", "3C")
    view = engine.player_view(states, 0, 0)
    assert int(view["phase"][0]) == engine.DRAW
    assert (view["status"][0] == engine.IN).all()
    left = engine.unseen(view, 0, POINTS)
    assert int(left.sum()) == int(view["stock_size"][0]) + POINTS.hand_size
    assert left.dtype == np.uint8
    play(states, "draw", "declare drawn")
    view = engine.player_view(states, 0, 1)
    assert int(view["phase"][0]) == engine.OVER
    assert engine.ENDING_NAMES[int(view["ending"][0])] == "declared"


def test_every_exported_name_is_there_once() -> None:
    assert len(engine.__all__) == len(set(engine.__all__))
    assert all(hasattr(engine, name) for name in engine.__all__)
