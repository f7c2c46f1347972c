"""How the rule agents decide, one view at a time: the agents of BASELINES.md 2 and the easy tier.

The agents share their moves: what a hand is worth after each discard, which cards are then *left over*,
and which of those to throw. They differ in the metric and in the choice among the left-over cards.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import njit
from paplu_env.cards import FACE_POINTS, NUM_FACES, NUM_RANKS, NUM_SUITS, PRINTED_JOKER, RANKS, SUITS
from paplu_env.engine.actions import ANNOUNCE, DECLARE_BASE, DISCARD_BASE, DRAW_CLOSED, DROP, TAKE_OPEN
from paplu_env.engine.blocked import blocked_face, unthrowable
from paplu_env.engine.chance import Choice, below, mix
from paplu_env.engine.log import log_face, log_seat, log_source
from paplu_env.engine.piles import open_card_of_view
from paplu_env.engine.state import DRAW, LOG_WRONG, NONE
from paplu_env.melds.fast_distance.distance_kernels import discard_distances_kernel, distance_kernel
from paplu_env.melds.fast_points.deadwood_kernels import points_kernel

# The agents, as the kernels know them.
RANDOM: Final = 0
MINSCORE: Final = 1
MINDIST: Final = 2
MINDIST_MINSCORE: Final = 3
MINDIST_OPP: Final = 4
LAPSING: Final = 5  # the easy tier: mindist that doesn't look at every decision

_RANDOM_DROPS: Final = 3  # random drops one turn in three
MIN_GAIN: Final = 3  # points that the open card must save minscore, unless it completes the hand
MAX_DISTANCE: Final = 4  # hands further away are dropped
_LAPSES: Final = 4  # the easy tier doesn't look in one decision of four

_FIRST: Final = np.uint64(Choice.FIRST)
_SECOND: Final = np.uint64(Choice.SECOND)

_PUBLISHED_SUITS: Final = "DCHS"
_PUBLISHED_RANKS: Final = "23456789TJQKA"


def _related_faces() -> npt.NDArray[np.int64]:
    """``(53,)`` bitmasks of the faces that `MINDIST_OPP` calls related to a face, itself included.

    As published (BASELINES.md 2.8): equal ranks, or neighbours in the numbering ``13 * suit + rank`` with suits
    D C H S and ranks 2…K A. So K and A of a suit are neighbours, A and 2 are not, and the last card of a suit is a
    neighbour of the first of the next, the ace of spades of the printed joker. That is how the study's
    agent plays, and so does ours.
    """
    place = [
        NUM_RANKS * _PUBLISHED_SUITS.index(suit) + _PUBLISHED_RANKS.index(rank) for suit in SUITS for rank in RANKS
    ]
    place.append(NUM_SUITS * NUM_RANKS)  # the printed joker, after the ace of spades
    related = np.zeros(NUM_FACES, dtype=np.int64)
    for face in range(NUM_FACES):
        for other in range(NUM_FACES):
            is_joker = PRINTED_JOKER in (face, other)
            same_rank = face == other if is_joker else face % NUM_RANKS == other % NUM_RANKS
            if same_rank or abs(place[face] - place[other]) == 1:
                related[face] |= 1 << other
    related.setflags(write=False)
    return related


RELATED: Final = _related_faces()


@njit
def choose_kernel(
    agent: int,
    views: Any,
    masks: npt.NDArray[np.bool_],
    keys: npt.NDArray[np.uint64],
    rules: Any,
    table: Any,
    actions: npt.NDArray[np.int64],
) -> None:
    """Write one agent's action for each view. Unchecked: every row's seat is to move."""
    hand = np.empty(NUM_FACES, dtype=np.uint8)
    after = np.empty(NUM_FACES, dtype=np.uint8)  # a metric after throwing each face
    for i in range(len(views)):
        view = views[i]
        hand[:] = view["hand"]
        if int(view["phase"]) == DRAW:
            actions[i] = _choose_in_draw(agent, view, masks[i], keys[i], rules[0], table, hand, after)
        else:
            actions[i] = _choose_in_discard(agent, view, masks[i], keys[i], rules[0], table, hand, after)


@njit
def _choose_in_draw(
    agent: int,
    view: Any,
    mask: npt.NDArray[np.bool_],
    key: np.uint64,
    r: Any,
    table: Any,
    hand: npt.NDArray[np.uint8],
    after: npt.NDArray[np.uint8],
) -> int:
    """Announce, drop, take the open card or draw. ``hand`` is a copy of the view's and is written to."""
    if mask[ANNOUNCE]:
        return ANNOUNCE
    if agent == RANDOM:
        if mask[DROP] and below(mix(key, _FIRST), _RANDOM_DROPS) == 0:
            return DROP
        return TAKE_OPEN if mask[TAKE_OPEN] and below(mix(key, _SECOND), 2) == 0 else DRAW_CLOSED
    wild = int(view["wild"])
    now = int(points_kernel(hand, wild, r)) if agent == MINSCORE else int(distance_kernel(hand, wild, r, table))
    if mask[DROP] and agent != LAPSING and int(view["drew"][int(view["seat"])]) == 0:
        if agent == MINSCORE and now >= int(r["max_points"]):
            return DROP
        if agent != MINSCORE and now > MAX_DISTANCE:
            return DROP
    if not mask[TAKE_OPEN] or (agent == LAPSING and below(mix(key, _FIRST), _LAPSES) == 0):
        return DRAW_CLOSED
    card = open_card_of_view(view)
    hand[card] += 1
    if agent == MINSCORE:
        throwable = _held(hand)
        if unthrowable(hand, card, r) != NONE:
            throwable &= ~(1 << card)
        _points_after(hand, wild, r, throwable, after)
        best = _lowest(after, throwable)
        return TAKE_OPEN if best == 0 or best <= now - MIN_GAIN else DRAW_CLOSED
    # Of fourteen cards the distance is the lowest over the discard; throwing the card back gives ``now``.
    return TAKE_OPEN if int(distance_kernel(hand, wild, r, table)) < now else DRAW_CLOSED


@njit
def _choose_in_discard(
    agent: int,
    view: Any,
    mask: npt.NDArray[np.bool_],
    key: np.uint64,
    r: Any,
    table: Any,
    hand: npt.NDArray[np.uint8],
    after: npt.NDArray[np.uint8],
) -> int:
    """Declare if possible, else the card to throw. ``hand`` is a copy of the view's and is written to."""
    wild = int(view["wild"])
    finish = 0
    throwable = 0
    for face in range(NUM_FACES):
        if mask[DECLARE_BASE + face] and int(view["declarable"]) >> face & 1:
            finish |= 1 << face
        if mask[DISCARD_BASE + face]:
            throwable |= 1 << face
    if finish:
        return DECLARE_BASE + _highest_value(finish, wild)
    drawn = int(view["drawn"])
    taken = int(view["taken"])
    if agent == RANDOM:
        if blocked_face(taken, r) != NONE:
            hand[taken] -= 1  # this copy may not go, so it takes no part in the lottery
        return DISCARD_BASE + _random_card(hand, throwable, key)
    if agent == LAPSING and throwable & ~wild and below(mix(key, _FIRST), _LAPSES) == 0:
        return DISCARD_BASE + _random_card(hand, throwable & ~wild, mix(key, _SECOND))
    if agent == MINSCORE:
        _points_after(hand, wild, r, throwable, after)
    else:
        discard_distances_kernel(hand, wild, r, table, after)
    best = _lowest(after, throwable)
    left_over = _left_over(after, throwable, best)
    if taken != NONE or best < int(after[drawn]):
        is_thrifty = agent in (MINDIST_MINSCORE, MINDIST_OPP)
        return DISCARD_BASE + (_lowest_value(left_over, wild) if is_thrifty else _highest_value(left_over, wild))
    if agent == MINDIST_MINSCORE:
        whole = int(points_kernel(hand, wild, r))
        _points_after(hand, wild, r, throwable, after)
        fewest = _lowest(after, throwable)
        return DISCARD_BASE + (_highest_value(_left_over(after, throwable, fewest), wild) if fewest < whole else drawn)
    if agent == MINDIST_OPP:
        safe = _safe_faces(view, left_over)
        return DISCARD_BASE + _highest_value(safe if safe else left_over, wild)
    return DISCARD_BASE + drawn


@njit
def _held(hand: npt.NDArray[np.uint8]) -> int:
    """Bitmask of the faces held."""
    faces = 0
    for face in range(NUM_FACES):
        if hand[face] > 0:
            faces |= 1 << face
    return faces


@njit
def _points_after(hand: npt.NDArray[np.uint8], wild: int, r: Any, throwable: int, after: npt.NDArray[np.uint8]) -> None:
    """Points of the hand after throwing each of the faces in a bitmask; other entries are left as they are."""
    for face in range(NUM_FACES):
        if throwable >> face & 1:
            hand[face] -= 1
            after[face] = int(points_kernel(hand, wild, r))
            hand[face] += 1


@njit
def _lowest(after: npt.NDArray[np.uint8], faces: int) -> int:
    """Lowest metric over the faces in a bitmask."""
    best = -1
    for face in range(NUM_FACES):
        if faces >> face & 1 and (best < 0 or int(after[face]) < best):
            best = int(after[face])
    return best


@njit
def _left_over(after: npt.NDArray[np.uint8], faces: int, best: int) -> int:
    """Those faces of a bitmask whose discard gives the lowest metric."""
    left_over = 0
    for face in range(NUM_FACES):
        if faces >> face & 1 and int(after[face]) == best:
            left_over |= 1 << face
    return left_over


@njit
def _highest_value(faces: int, wild: int) -> int:
    """The face worth most points, the lowest face of equals. A wild card is worth nothing."""
    chosen = -1
    most = -1
    for face in range(NUM_FACES):
        worth = 0 if wild >> face & 1 else int(FACE_POINTS[face])
        if faces >> face & 1 and worth > most:
            chosen, most = face, worth
    return chosen


@njit
def _lowest_value(faces: int, wild: int) -> int:
    """The face worth fewest points, the lowest face of equals. A wild card is worth nothing."""
    chosen = -1
    fewest = 0
    for face in range(NUM_FACES):
        worth = 0 if wild >> face & 1 else int(FACE_POINTS[face])
        if faces >> face & 1 and (chosen < 0 or worth < fewest):
            chosen, fewest = face, worth
    return chosen


@njit
def _random_card(hand: npt.NDArray[np.uint8], faces: int, key: np.uint64) -> int:
    """A card drawn evenly from those of the faces in a bitmask; two copies count as two cards."""
    cards = 0
    for face in range(NUM_FACES):
        if faces >> face & 1:
            cards += int(hand[face])
    left = int(below(key, cards))
    for face in range(NUM_FACES):
        if faces >> face & 1:
            left -= int(hand[face])
            if left < 0:
                return face
    return -1


@njit
def _safe_faces(view: Any, faces: int) -> int:
    """Those faces that are related to a card that others threw, or to none that they took."""
    me = int(view["seat"])
    took = 0
    threw = 0
    for k in range(int(view["log_size"])):
        entry = int(view["log"][k])
        source = log_source(entry)
        if log_seat(entry) == me or source == LOG_WRONG:
            continue
        if source < NUM_FACES:
            took |= 1 << source
        if log_face(entry) < NUM_FACES:
            threw |= 1 << log_face(entry)
    safe = 0
    for face in range(NUM_FACES):
        related = int(RELATED[face])
        if faces >> face & 1 and (related & threw or not related & took):
            safe |= 1 << face
    return safe
