"""Entries of the public log: made and read over their whole range, by kernels as by Python."""

import itertools

import numpy as np

from paplu_env._jit import njit
from paplu_env.engine.log import log_entry, log_face, log_seat, log_source, with_log_face
from paplu_env.engine.state import LOG_ANNOUNCED, LOG_NOTHING, SMALL_STATE
from paplu_env.rules import MAX_PLAYERS

ALL = list(itertools.product(range(MAX_PLAYERS), range(LOG_ANNOUNCED + 1), [*range(53), LOG_NOTHING]))


@njit
def _there_and_back(seat: int, source: int, face: int) -> tuple[int, int, int, int]:
    entry = with_log_face(log_entry(seat, source), face)
    return entry, log_seat(entry), log_source(entry), log_face(entry)


def test_an_entry_tells_what_it_was_made_of() -> None:
    for seat, source, face in ALL:
        entry = log_entry(seat, source)
        assert log_face(entry) == LOG_NOTHING
        entry = with_log_face(entry, face)
        assert (log_seat(entry), log_source(entry), log_face(entry)) == (seat, source, face)
        assert entry == seat << 12 | source << 6 | face
        assert with_log_face(entry, LOG_NOTHING) == log_entry(seat, source)


def test_every_entry_has_a_number_of_its_own_that_its_field_can_hold() -> None:
    entries = {with_log_face(log_entry(seat, source), face) for seat, source, face in ALL}
    assert len(entries) == len(ALL)
    assert 0 <= min(entries) <= max(entries) <= np.iinfo(SMALL_STATE["log"].base).max


def test_kernels_read_what_python_reads() -> None:
    for seat, source, face in ALL[:: len(ALL) // 500]:
        entry = with_log_face(log_entry(seat, source), face)
        assert _there_and_back(seat, source, face) == (entry, seat, source, face)
