"""Worlds that a seat holds possible: full states drawn from a view, the only sampler, for search.

Known pick-ups and hands that lie open are where the view has them; every other card that the seat
cannot see is equally likely to be in any hidden place. The order of the stock and the seed of later
shuffles are new in every world.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import njit, run_slices
from paplu_env.cards import NUM_FACES
from paplu_env.engine.arguments import as_seed, as_seeds
from paplu_env.engine.chance import Purpose, mix, shuffle
from paplu_env.engine.dealing import clear_row
from paplu_env.engine.state import (
    DISCARD,
    DRAW,
    DROPPED_FIRST,
    NO_SEAT,
    NONE,
    NOT_ACTIVE,
    PILE_CAPACITY,
    States,
    Views,
    check_views,
    empty_states,
)
from paplu_env.engine.unseen_cards import unseen_kernel
from paplu_env.engine.view import copy_public, is_shown
from paplu_env.errors import InvalidHand
from paplu_env.melds.fast_points.declarable_kernels import declarable_kernel, is_complete_kernel
from paplu_env.rules import RuleSet

_LATER: Final = np.uint64(Purpose.NEXT_SHUFFLE)  # mixed into the key it gives the seed of the world's own shuffles


def sample_world(views: Views, key: int, rules: RuleSet, j: int = 0) -> States:
    """A state that looks to the seat of view ``j`` exactly as that view does.

    Args:
        key: 0..2**64-1; the world is a function of the view and the key.

    Returns:
        ``(1,)`` states, a new array.

    Raises:
        InvalidRules: the view is of a game under other rules, or a key out of range.
        InvalidHand: the cards of the view don't add up to the pack.
    """
    return sample_worlds(views[j:][:1], np.array([as_seed(key, "key")]), rules)


def sample_worlds(views: Views, keys: npt.ArrayLike, rules: RuleSet, threads: int = 1) -> States:
    """One world for each view, each as `sample_world` draws it.

    Args:
        keys: ``(B,)`` uint64.

    Returns:
        ``(B,)`` states.

    Raises:
        InvalidRules: a view is of a game under other rules, or a key out of range.
        PapluError: not one key a view.
        InvalidHand: the cards of a view don't add up to the pack.
    """
    check_views(views, rules)
    each_key = as_seeds(keys, "key", len(views))
    states = empty_states(rules, len(views))
    fits = np.empty(len(views), dtype=np.bool_)
    run_slices(
        lambda start, stop: _world_rows(views, each_key, rules.packed, states, fits, start, stop), len(views), threads
    )
    if not fits.all():
        raise InvalidHand(f"view {int(np.argmin(fits))}: its cards do not add up to the pack of {rules}")
    return states


@njit
def world_kernel(views: Views, j: int, key: np.uint64, rules: npt.NDArray[np.void], states: States, i: int) -> bool:
    """Draw the world of view ``j`` into row ``i``; False if the view's cards don't add up."""
    v = views[j]
    s = states[i]
    r = rules[0]
    clear_row(s)
    copy_public(v, s)
    s["rules_id"] = int(v["rules_id"])
    s["seed"] = mix(key, _LATER)
    s["drawn"] = int(v["drawn"]) if int(v["taken"]) == NONE else int(v["taken"])
    _lay_known_cards(v, s)
    unseen = np.zeros(NUM_FACES, dtype=np.uint8)
    unseen_kernel(views, j, r, unseen)
    num_unseen = 0
    for face in range(NUM_FACES):
        num_unseen += int(unseen[face])
    if num_unseen != _hidden_places(v, s, r):
        return False
    size = 0
    for face in range(NUM_FACES):
        for _ in range(int(unseen[face])):
            s["cards"][size] = face
            size += 1
    shuffle(s["cards"], size, key)
    _deal_unseen(v, s, size, r)
    for place in range(int(v["pile_size"])):
        s["cards"][PILE_CAPACITY - 1 - place] = int(v["pile"][place])
    _fill_solver_answers(v, s, r)
    return True


@njit
def _lay_known_cards(v: Any, s: Any) -> None:
    """Lay the own hand, open hands, and what others are known to have picked up."""
    hands, shown, known = s["hands"], v["shown"], v["known"]
    own = int(v["seat"])
    for seat in range(int(v["num_players"])):
        is_open = is_shown(v, seat)
        for face in range(NUM_FACES):
            if seat == own:
                hands[seat, face] = int(v["hand"][face])
            elif is_open:
                hands[seat, face] = int(shown[seat, face])
            else:
                hands[seat, face] = int(known[seat, face])


@njit
def _missing(v: Any, s: Any, seat: int, r: Any) -> int:
    """Cards that a seat holds beyond those laid so far; below 0 if too many were laid."""
    status = int(v["status"][seat])
    if status == NOT_ACTIVE or (status == DROPPED_FIRST and int(r["first_drop_returns_cards"])):
        missing = 0
    else:
        missing = int(r["hand_size"])
    if int(v["phase"]) == DISCARD and seat == int(v["current_player"]):
        missing += 1
    for face in range(NUM_FACES):
        missing -= int(s["hands"][seat, face])
    return missing


@njit
def _hidden_places(v: Any, s: Any, r: Any) -> int:
    """Places whose cards the seat cannot know, -1 if a hand holds too much or a visible one too little."""
    places = int(v["stock_size"])
    for seat in range(int(v["num_players"])):
        missing = _missing(v, s, seat, r)
        if missing < 0 or (missing > 0 and (seat == int(v["seat"]) or is_shown(v, seat))):
            return -1
        places += missing
    return places


@njit
def _deal_unseen(v: Any, s: Any, size: int, r: Any) -> None:
    """Fill the hidden hands from the end of ``cards[0..size-1]``; the rest is the stock."""
    # The mover's own draw, if it is hidden: any card that is not a known pick-up may be it.
    drawer = int(v["current_player"]) if int(v["phase"]) == DISCARD and int(v["taken"]) == NONE else NO_SEAT
    for seat in range(int(v["num_players"])):
        for _ in range(_missing(v, s, seat, r)):
            size -= 1
            face = int(s["cards"][size])
            s["hands"][seat, face] = int(s["hands"][seat, face]) + 1
            s["cards"][size] = NONE
            if seat == drawer:
                s["drawn"] = face


@njit
def _fill_solver_answers(v: Any, s: Any, r: Any) -> None:
    """Set what a state caches of the mover's hand."""
    mover, wild = int(v["current_player"]), int(v["wild"])
    if int(v["phase"]) == DISCARD:
        s["declarable"] = int(declarable_kernel(s["hands"][mover], wild, r))
    if int(v["phase"]) == DRAW and int(r["hand_rummy"]) and int(v["drew"][mover]) == 0:
        s["complete"] = int(is_complete_kernel(s["hands"][mover], wild, r))


@njit
def _world_rows(
    views: Views,
    keys: npt.NDArray[np.uint64],
    rules: npt.NDArray[np.void],
    states: States,
    fits: npt.NDArray[np.bool_],
    start: int,
    stop: int,
) -> None:
    for j in range(start, stop):
        fits[j] = world_kernel(views, j, keys[j], rules, states, j)
