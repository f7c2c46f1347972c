"""Entries of the public log, made and read; what they mean stands beside the ``LOG_…`` codes in `state`."""

from __future__ import annotations

from paplu_env._jit import accessor
from paplu_env.engine.state import LOG_FACE_MASK, LOG_NOTHING, LOG_SEAT_SHIFT, LOG_SOURCE_SHIFT


@accessor
def log_entry(seat: int, source: int) -> int:
    """An entry whose discard is not there yet."""
    return (seat << LOG_SEAT_SHIFT) | (source << LOG_SOURCE_SHIFT) | LOG_NOTHING


@accessor
def with_log_face(entry: int, face: int) -> int:
    """An entry with another discard, or with `LOG_NOTHING`."""
    return (entry & ~LOG_FACE_MASK) | face


@accessor
def log_seat(entry: int) -> int:
    """Whose turn it was."""
    return entry >> LOG_SEAT_SHIFT


@accessor
def log_source(entry: int) -> int:
    """The face taken from the open pile, or one of the ``LOG_…`` codes."""
    return entry >> LOG_SOURCE_SHIFT & LOG_FACE_MASK


@accessor
def log_face(entry: int) -> int:
    """The face thrown, a finish card too; `LOG_NOTHING` for a turn without one."""
    return entry & LOG_FACE_MASK
