"""Worlds that a seat holds possible: full states drawn from a view, and hidden cards dealt anew in a state.

`sample_world` is the only sampler. Known pick-ups and hands that lie open are where the view has them; every other
card that the seat cannot see is equally likely to be in any hidden place. The order of the stock and the seed of
later shuffles are new in every world.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import njit, run_slices
from paplu_env.cards import NUM_FACES, Counts
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
    StateRow,
    States,
    ViewRow,
    Views,
    check_views,
    empty_states,
)
from paplu_env.engine.unseen_cards import unseen_kernel
from paplu_env.engine.view import copy_public, is_shown
from paplu_env.errors import InvalidHand
from paplu_env.melds.fast_points.declarable_kernels import declarable_kernel, is_complete_kernel
from paplu_env.rules import RuleSet, RulesRow

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
        PapluError: not one key per view.
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


def sample_world_holding(
    views: Views, key: int, rules: RuleSet, held: Mapping[int, npt.NDArray[np.integer]], j: int = 0
) -> States:
    """A world as `sample_world` draws it, in which other seats hold at least the cards given.

    Args:
        held: ``(53,)`` copies by seat.

    Returns:
        ``(1,)`` states, a new array, which looks to the seat of view ``j`` exactly as that view does.

    Raises:
        InvalidRules: as for `sample_world`.
        InvalidHand: no world is like that.
    """
    pinned = views[j:][:1].copy()
    public = pinned["known"].copy()
    for seat, cards in held.items():
        pinned["known"][0, seat] = np.maximum(public[0, seat], cards)
    world = sample_world(pinned, key, rules)
    world["known"] = public
    return world


def with_stocks(state: States, stocks: npt.NDArray[np.uint8], seeds: npt.ArrayLike) -> States:
    """Copies of one deal, the closed stock of each dealt anew.

    Args:
        state: ``(1,)``.
        stocks: ``(B, S)`` faces for the ``S`` closed cards, the top last: the same cards in another order, else the
            copies aren't whole.
        seeds: ``(B,)`` uint64, of the shuffles that may follow.

    Returns:
        ``(B,)`` states, a new array.
    """
    copies = np.repeat(state, len(stocks))
    copies["cards"][:, : int(state["stock_size"][0])] = stocks
    copies["seed"] = as_seeds(seeds, rows=len(stocks))
    return copies


@njit
def lay_hidden(s: StateRow, seat: int, hand: Counts, stock: Counts) -> None:
    """Lay another hand for a seat and other cards as the closed stock. Nothing is checked.

    What the state caches of the mover's hand is left as it is: the seat is another, or the caller knows better.

    Args:
        hand: ``(53,)``, as many cards as the seat holds.
        stock: faces, the top last, as many at least as are closed; with the hand, the same cards as before.
    """
    for face in range(NUM_FACES):
        s["hands"][seat, face] = hand[face]
    for place in range(int(s["stock_size"])):
        s["cards"][place] = stock[place]


@njit
def bring_to_top(s: StateRow, place: int) -> None:
    """Let the closed card at a place, from the bottom, and the top one change places."""
    cards, top = s["cards"], int(s["stock_size"]) - 1
    face = int(cards[place])
    cards[place] = int(cards[top])
    cards[top] = face


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
def _lay_known_cards(v: ViewRow, s: StateRow) -> None:
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
def _missing(v: ViewRow, s: StateRow, seat: int, r: RulesRow) -> int:
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
def _hidden_places(v: ViewRow, s: StateRow, r: RulesRow) -> int:
    """Places whose cards the seat cannot know, -1 if a hand holds too much or a visible one too little."""
    places = int(v["stock_size"])
    for seat in range(int(v["num_players"])):
        missing = _missing(v, s, seat, r)
        if missing < 0 or (missing > 0 and (seat == int(v["seat"]) or is_shown(v, seat))):
            return -1
        places += missing
    return places


@njit
def _deal_unseen(v: ViewRow, s: StateRow, size: int, r: RulesRow) -> None:
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
def _fill_solver_answers(v: ViewRow, s: StateRow, r: RulesRow) -> None:
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
