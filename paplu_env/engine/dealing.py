"""The deal: from a seed or a given deck to a state in which the first seat is to move.

A deck lies in ``cards`` with its top at the end. From a seed it is the pack in rising face order, each
face as often as the packs hold it, shuffled as `chance.shuffle` says. Cards go round one at a time from
the first seat in the table's direction, then the open card, then the indicator; under
``indicator_first`` the indicator comes before all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import njit, run_slices
from paplu_env.cards import NUM_FACES, PRINTED_JOKER, format_card
from paplu_env.engine.arguments import as_seats, as_seed, as_seeds, as_whole, whole_numbers
from paplu_env.engine.chance import Purpose, mix, shuffle
from paplu_env.engine.state import (
    DRAW,
    IN,
    NO_SEAT,
    NONE,
    NOT_ACTIVE,
    PILE_CAPACITY,
    UNFINISHED,
    StateRow,
    States,
    check_row_dtype,
    empty_states,
)
from paplu_env.errors import InvalidHand, InvalidRules
from paplu_env.melds.fast_points.declarable_kernels import is_complete_kernel
from paplu_env.rules import RuleSet, RulesRow, choice_code

_REDRAW: Final = choice_code("printed_joker_indicator", "redraw")
_LATER: Final = np.uint64(Purpose.NEXT_SHUFFLE)  # mixed into the deal's seed it gives the seed of later shuffles


def deal(rules: RuleSet, seed: int, first: int = 0, active: Iterable[int] | None = None) -> States:
    """Deal one game.

    Args:
        seed: 0..2**64-1.
        first: seat that has the first turn.
        active: seats that are dealt in; all if not given.

    Returns:
        ``(1,)`` states, a new array.

    Raises:
        InvalidRules: a seed or seat out of range, or fewer than two active seats.
    """
    states = empty_states(rules, 1)
    deal_into(states, 0, rules, seed, first, active)
    return states


def deal_into(
    states: States, i: int, rules: RuleSet, seed: int, first: int = 0, active: Iterable[int] | None = None
) -> None:
    """Deal a game into row ``i``, whatever it held before; see `deal`.

    Raises:
        InvalidRules: as `deal` does, and for rows of another size of table.
        IndexError: there is no such row.
    """
    check_row_dtype(states, rules)
    states[i]  # the kernel would write anywhere
    bits = active_bits(rules, first, active)
    deal_kernel(states, i, rules.packed, as_seed(seed), int(first), bits)


def deal_many(
    rules: RuleSet,
    seeds: npt.ArrayLike,
    first: int | npt.ArrayLike = 0,
    active: Iterable[int] | None = None,
    threads: int = 1,
) -> States:
    """Deal a game for every seed, each exactly as `deal` does.

    Args:
        seeds: ``(B,)`` uint64.
        first: one seat for all, or ``(B,)``.

    Returns:
        ``(B,)`` states.

    Raises:
        InvalidRules: a seed or seat out of range, or fewer than two active seats.
        PapluError: seeds that are not one row of numbers, or another number of first seats.
    """
    each_seed = as_seeds(seeds)
    firsts = [int(first)] * len(each_seed) if isinstance(first, int | np.integer) else first
    each_first = whole_numbers(firsts, "first", len(each_seed))
    seats = None if active is None else list(active)
    bits = [active_bits(rules, int(seat), seats) for seat in np.unique(each_first)]
    states = empty_states(rules, len(each_seed))
    if bits:
        run_slices(
            lambda start, stop: _deal_rows(states, rules.packed, each_seed, each_first, bits[0], start, stop),
            len(each_seed),
            threads,
        )
    return states


def deal_from(
    rules: RuleSet, deck: Sequence[int], first: int = 0, active: Iterable[int] | None = None, seed: int = 0
) -> States:
    """Deal one game from a given deck.

    Args:
        deck: every card of the table's packs, faces in the order they are dealt.
        seed: of the shuffles that may follow the deal, see `deal`.

    Returns:
        ``(1,)`` states.

    Raises:
        InvalidHand: the deck is not the table's pack.
        InvalidRules: a seed or seat out of range, or fewer than two active seats.
    """
    try:
        faces = [as_whole(face) for face in deck]
    except TypeError:
        raise InvalidHand("a deck is whole numbers: faces in the order they are dealt") from None
    _check_deck(rules, faces)
    states = empty_states(rules, 1)
    bits = active_bits(rules, first, active)
    clear_row(states[0])
    states["cards"][0, : rules.num_cards] = faces[::-1]
    _deal_out(states, 0, rules.packed, as_seed(seed), int(first), bits)
    return states


def active_bits(rules: RuleSet, first: int, active: Iterable[int] | None) -> int:
    """The active seats as a bitmask, checked together with the first seat.

    Raises:
        InvalidRules: a seat out of range, the first seat not active, or fewer than two active seats.
    """
    (first,) = as_seats([first], "first")
    seats = set(range(rules.num_players)) if active is None else set(as_seats(active, "active"))
    if not seats <= set(range(rules.num_players)):
        raise InvalidRules(f"active={sorted(seats)}: the seats of this table are 0..{rules.num_players - 1}")
    if len(seats) < 2:
        raise InvalidRules(f"active={sorted(seats)}: a deal needs two seats or more")
    if first not in seats:
        raise InvalidRules(f"first={first}: the first turn belongs to one of the active seats {sorted(seats)}")
    return sum(1 << seat for seat in seats)


@njit
def deal_kernel(states: States, i: int, rules: npt.NDArray[np.void], seed: np.uint64, first: int, active: int) -> None:
    """Deal row ``i`` from a seed; ``active`` is the bitmask of the seats dealt in. Nothing is checked."""
    s = states[i]
    r = rules[0]
    clear_row(s)
    cards = s["cards"]
    place = 0
    for face in range(NUM_FACES):
        copies = int(r["printed_jokers"]) if face == PRINTED_JOKER else int(r["num_decks"])
        for _ in range(copies):
            cards[place] = face
            place += 1
    shuffle(cards, place, seed)
    _deal_out(states, i, rules, seed, first, active)


@njit
def _deal_out(states: States, i: int, rules: npt.NDArray[np.void], seed: np.uint64, first: int, active: int) -> None:
    """Deal from the deck that lies in ``cards`` of a cleared row."""
    s = states[i]
    r = rules[0]
    cards, hands, status = s["cards"], s["hands"], s["status"]
    players = int(r["num_players"])
    top = int(r["num_cards"])
    if int(r["indicator_first"]):
        top = _turn_indicator(s, top, r)
    num_active = 0
    for seat in range(players):
        status[seat] = IN if (active >> seat) & 1 else NOT_ACTIVE
        num_active += (active >> seat) & 1
    seat, step, left = first, int(r["step"]), int(r["hand_size"]) * num_active
    while left > 0:
        if int(status[seat]) == IN:
            top -= 1
            hands[seat, int(cards[top])] += 1
            cards[top] = NONE
            left -= 1
        seat += step
        seat -= players if seat >= players else 0
    top -= 1
    open_card = int(cards[top])
    cards[top] = NONE
    if not int(r["indicator_first"]):
        top = _turn_indicator(s, top, r)
    cards[PILE_CAPACITY - 1] = open_card
    s["wild"] = int(r["wild_of"][int(s["indicator"])])
    s["num_players"] = players
    s["first"] = first
    s["taken"] = NONE
    s["drawn"] = NONE
    s["stock_size"] = top
    s["pile_size"] = 1
    s["ending"] = UNFINISHED
    s["winner"] = NO_SEAT
    s["finisher"] = NO_SEAT
    s["seed"] = mix(seed, _LATER)
    s["rules_id"] = int(r["id"])
    s["current_player"] = first
    s["phase"] = DRAW
    if int(r["hand_rummy"]):
        s["complete"] = int(is_complete_kernel(hands[first], int(s["wild"]), r))


@njit
def _turn_indicator(s: StateRow, top: int, r: RulesRow) -> int:
    """Take the indicator from a deck of ``top`` cards and return how many are left.

    Under ``redraw`` it is the next card that isn't a printed joker, and the jokers before it stay.
    """
    cards = s["cards"]
    place = top - 1
    if int(r["printed_joker_indicator"]) == _REDRAW:
        while int(cards[place]) == PRINTED_JOKER:
            place -= 1
    s["indicator"] = int(cards[place])
    for above in range(place, top - 1):
        cards[above] = cards[above + 1]
    cards[top - 1] = NONE
    return top - 1


@njit
def clear_row(s: StateRow) -> None:
    """Set every field that a deal does not set itself."""
    s["log"][:] = 0
    s["returns"][:] = 0
    s["known"][:] = 0
    s["hands"][:] = 0
    s["drew"][:] = 0
    s["status"][:] = NOT_ACTIVE
    s["cards"][:] = NONE
    s["log_size"] = 0
    s["pile_log"] = 0
    s["draws"] = 0
    s["declarable"] = 0
    s["complete"] = 0
    s["reshuffles"] = 0


@njit
def _deal_rows(
    states: States,
    rules: npt.NDArray[np.void],
    seeds: npt.NDArray[np.uint64],
    firsts: npt.NDArray[np.int64],
    active: int,
    start: int,
    stop: int,
) -> None:
    for i in range(start, stop):
        deal_kernel(states, i, rules, seeds[i], firsts[i], active)


def _check_deck(rules: RuleSet, faces: list[int]) -> None:
    """Refuse a deck that is not exactly the table's pack."""
    if len(faces) != rules.num_cards:
        raise InvalidHand(f"a deck of {len(faces)} cards: the pack of this table has {rules.num_cards}")
    for face in faces:
        if not 0 <= face < NUM_FACES:
            raise InvalidHand(f"there is no face {face}: faces are 0..{PRINTED_JOKER}")
    for face in range(NUM_FACES):
        if faces.count(face) != rules.copies(face):
            raise InvalidHand(
                f"the deck holds {faces.count(face)} of {format_card(face)}, the pack {rules.copies(face)}"
            )
