"""What a thrown card gives away: how likely the next player takes it, told by what everybody has seen."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import njit, popcount
from paplu_env.cards import NUM_FACES, NUM_RANKS, NUM_SUITS, PRINTED_JOKER, Counts
from paplu_env.engine.log import log_face, log_seat, log_source
from paplu_env.engine.state import LOG_CLOSED, LOG_WRONG, NONE

# Terms of the log-odds that the next player takes a thrown card, see `take_terms`: a constant; the card is
# wild; unseen copies of its rank, one rank away in its suit, and two ranks away; faces so near that others
# took and still hold, and that they threw or refused; they threw or refused the face itself; own draws so far.
NUM_ODDS: Final = 9

ALL_FACES: Final = (1 << NUM_FACES) - 1


def _faces_around() -> npt.NDArray[np.int64]:
    """``(3, 53)`` bitmasks: other faces of a face's rank; those one rank away in its suit; those two away."""
    around = np.zeros((3, NUM_FACES), dtype=np.int64)
    for face in range(PRINTED_JOKER):
        suit, rank = divmod(face, NUM_RANKS)
        for other_suit in range(NUM_SUITS):
            if other_suit != suit:
                around[0, face] |= 1 << NUM_RANKS * other_suit + rank
        for place in (0, NUM_RANKS) if rank == 0 else (rank,):  # an ace stands low and high
            for steps in (1, 2):
                for other in (place - steps, place + steps):
                    if 0 <= other <= NUM_RANKS:
                        around[steps, face] |= 1 << NUM_RANKS * suit + other % NUM_RANKS
    around.setflags(write=False)
    return around


AROUND: Final = _faces_around()


@njit
def take_chance(
    face: int,
    wild: int,
    unseen: Counts,
    wanted: int,
    unwanted: int,
    draws: int,
    odds: npt.NDArray[np.float64],
) -> float:
    """The chance that the next player takes a card that is thrown now.

    Args:
        wanted: mask of the faces that others took and still hold.
        unwanted: mask of the faces that others threw or refused.
        odds: ``(NUM_ODDS,)``, what the terms weigh.
    """
    log_odds = 0.0
    for term, value in enumerate(take_terms(face, wild, unseen, wanted, unwanted, draws)):
        log_odds += odds[term] * value
    return float(1.0 / (1.0 + np.exp(-log_odds)))


@njit
def take_terms(
    face: int, wild: int, unseen: Counts, wanted: int, unwanted: int, draws: int
) -> tuple[float, float, float, float, float, float, float, float, float]:
    """What the log-odds of a taken card are made of, in the order of the terms."""
    mates, next_to, near = int(AROUND[0, face]), int(AROUND[1, face]), int(AROUND[2, face])
    around = mates | next_to | near
    return (
        1.0,
        float(wild >> face & 1),
        float(copies_of(unseen, mates)),
        float(copies_of(unseen, next_to)),
        float(copies_of(unseen, near)),
        float(popcount(around & wanted)),
        float(popcount(around & unwanted)),
        float(unwanted >> face & 1),
        float(draws),
    )


@njit
def interest(view: Any) -> tuple[int, int]:
    """Masks of the faces that others took and still hold, and of those that they threw or refused."""
    me = int(view["seat"])
    wanted, unwanted = 0, 0
    for seat in range(int(view["num_players"])):
        if seat != me:
            for face in range(NUM_FACES):
                if int(view["known"][seat, face]) > 0:
                    wanted |= 1 << face
    top = NONE
    for k in range(int(view["log_size"])):
        entry = int(view["log"][k])
        source, thrown = log_source(entry), log_face(entry)
        if source == LOG_WRONG:
            continue
        if log_seat(entry) != me:
            if source == LOG_CLOSED and top < NUM_FACES:
                unwanted |= 1 << top
            if thrown < NUM_FACES:
                unwanted |= 1 << thrown
        if thrown < NUM_FACES:
            top = thrown
    return wanted, unwanted


@njit
def copies_of(counts: Counts, faces: int) -> int:
    """Copies of the faces in a mask."""
    total = 0
    for face in range(NUM_FACES):
        if faces >> face & 1:
            total += int(counts[face])
    return total
