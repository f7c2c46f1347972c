"""Settlement: who wins a deal that has ended, and what every seat pays or gets.

The winner collects what every other seat owes: its drop, a wrong declaration, or the count of its hand,
rounded, capped, and only then halved or doubled; drops and wrong declarations are never halved or doubled.
Paplus are settled after and outside of that, in a tie at the turn limit too. Nobody pays after a void or a
truncation.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import njit
from paplu_env.engine.state import (
    ANNOUNCED,
    DECLARED,
    DROPPED_FIRST,
    DROPPED_MIDDLE,
    IN,
    LOWER_DEADWOOD,
    NO_SEAT,
    NOT_ACTIVE,
    TRUNCATED,
    VOID,
    WRONG_DECLARED,
    StateRow,
    States,
)
from paplu_env.melds.fast_points.deadwood_kernels import points_kernel
from paplu_env.melds.fast_points.declarable_kernels import is_complete_kernel
from paplu_env.rules import RulesRow, choice_code

Returns = npt.NDArray[np.int16]
Points = npt.NDArray[np.int64]  # (10,) points of each seat's hand

_HELD: Final = choice_code("paplu_bonus", "held")
_NONE: Final = choice_code("paplu_bonus", "none")
_HELD_BONUS: Final = (0, 10, 25, 50)  # points from every other seat, by Paplus held
_DECLARED_BONUS: Final = 10  # points from every other seat for each Paplu of the winner


def returns(states: States, i: int) -> npt.NDArray[np.int64]:
    """Points of every seat in row ``i``: 0 until the deal is over, sum 0 always.

    Returns:
        ``(num_players,)`` int64, a new array.
    """
    row = states[i]
    points: npt.NDArray[np.int64] = row["returns"][: int(row["num_players"])].astype(np.int64)
    return points


def is_over(states: States, i: int) -> bool:
    """Whether the deal in row ``i`` has ended."""
    return int(states["current_player"][i]) == NO_SEAT


@njit
def count_hands(s: StateRow, ending: int, counts: Points, r: RulesRow) -> None:
    """Fill ``counts``, ``(10,)`` int64 zeros, with what each hand costs under this ending.

    The cost of a seat still in, at the ordinary rate, if the ending compares hands at all.
    """
    is_declared = ending in (DECLARED, ANNOUNCED)
    if not is_declared and ending != LOWER_DEADWOOD:
        return
    wild = int(s["wild"])
    for seat in range(int(r["num_players"])):
        if int(s["status"][seat]) == IN:
            hand = s["hands"][seat]
            counts[seat] = int(points_kernel(hand, wild, r))
            # A tie at the turn limit is between counts, so the price of a lost complete hand stays out of it.
            if is_declared and int(r["loser_complete"]) and is_complete_kernel(hand, wild, r):
                counts[seat] = int(r["loser_complete"])


@njit
def settle(s: StateRow, ending: int, finisher: int, counts: Points, returns: Returns, r: RulesRow) -> int:
    """Fill ``returns``, ``(P,)`` int16, for a deal that ``finisher`` has just ended, and name the winner.

    ``counts`` is what `count_hands` said; statuses, draws and Paplus are read from the state.
    """
    returns[:] = 0
    if ending in (VOID, TRUNCATED):
        return NO_SEAT
    if ending in (DECLARED, ANNOUNCED):
        winner = finisher
    elif ending == LOWER_DEADWOOD:
        winner = _lowest_seat(s, counts, r)
    else:
        winner = _last_seat_in(s, r)
    if winner != NO_SEAT:
        for seat in range(int(r["num_players"])):
            if seat != winner:
                _pay(returns, seat, winner, _owed(s, seat, ending, finisher, int(counts[seat]), r))
    if int(r["paplu_bonus"]) != _NONE:
        _settle_paplus(s, ending, winner, returns, r)
    return winner


@njit
def forfeit(returns: Points, payer: int, collector: int, r: RulesRow) -> None:
    """Fill ``returns``, ``(P,)`` int64, for a deal that an illegal action of ``payer`` ended.

    It costs what a wrong declaration costs, paid to ``collector``. Nobody else pays.
    """
    returns[:] = 0
    _pay(returns, payer, collector, int(r["wrong_declare_points"]))


@njit
def _pay(returns: Returns | Points, payer: int, collector: int, amount: int) -> None:
    returns[payer] = int(returns[payer]) - amount
    returns[collector] = int(returns[collector]) + amount


@njit
def _owed(s: StateRow, seat: int, ending: int, finisher: int, count: int, r: RulesRow) -> int:
    """What a seat that did not win owes the winner."""
    status = int(s["status"][seat])
    if status == NOT_ACTIVE:
        return 0
    if status == DROPPED_FIRST:
        return int(r["first_drop"])
    if status == DROPPED_MIDDLE:
        return int(r["middle_drop"])
    if status == WRONG_DECLARED:
        return int(r["wrong_declare_points"])
    has_drawn = int(s["drew"][seat]) > 0
    if int(r["full_count_if_never_drawn"]) and not has_drawn:
        return int(r["max_points"])
    if ending == DECLARED and int(r["half_rate"]) and int(s["drew"][finisher]) == 1 and not has_drawn:
        return (count + 1) // 2
    if ending == ANNOUNCED and has_drawn:
        return 2 * count
    return count


@njit
def _lowest_seat(s: StateRow, counts: Points, r: RulesRow) -> int:
    """The seat still in whose hand counts least, `NO_SEAT` if two share the lowest count."""
    winner, lowest = NO_SEAT, -1
    for seat in range(int(r["num_players"])):
        if int(s["status"][seat]) == IN:
            count = int(counts[seat])
            if lowest < 0 or count < lowest:
                winner, lowest = seat, count
            elif count == lowest:
                winner = NO_SEAT
    return winner


@njit
def _last_seat_in(s: StateRow, r: RulesRow) -> int:
    """The only seat still in."""
    for seat in range(int(r["num_players"])):
        if int(s["status"][seat]) == IN:
            return seat
    return NO_SEAT


@njit
def _settle_paplus(s: StateRow, ending: int, winner: int, returns: Returns, r: RulesRow) -> None:
    """Pay for Paplus: to every holder still in, or to the winner for those it declared."""
    paplu = int(r["paplu_of"][int(s["indicator"])])
    if paplu < 0:
        return
    players = int(r["num_players"])
    for holder in range(players):
        if int(s["status"][holder]) != IN:
            continue
        paplus = int(s["hands"][holder, paplu])
        if int(r["paplu_bonus"]) == _HELD:
            bonus = _HELD_BONUS[paplus]
        elif holder == winner and ending in (DECLARED, ANNOUNCED):
            bonus = _DECLARED_BONUS * paplus
        else:
            bonus = 0
        for payer in range(players):
            if payer != holder and int(s["status"][payer]) != NOT_ACTIVE:
                _pay(returns, payer, holder, bonus)
