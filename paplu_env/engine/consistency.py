"""A state checked against itself: every card in one place, every cached value as it would be computed."""

from __future__ import annotations

import numpy as np

from paplu_env.engine.recompute import active_seats, derive
from paplu_env.engine.state import NONE, States, check_table, empty_states
from paplu_env.errors import PapluError
from paplu_env.rules import RuleSet

# The fields that a position follows from; all others are recomputed.
_SOURCES = ("first", "indicator", "hands", "cards", "stock_size", "pile_size", "seed", "log", "log_size", "ending")


def check(states: States, i: int, rules: RuleSet) -> list[str]:
    """Recompute every cached value of row ``i`` and say what differs.

    Returns:
        One sentence per difference; an empty list if the state is right.

    Raises:
        InvalidRules: the row was dealt under other rules.
    """
    check_table(states, rules, i)
    s = states[i]
    again = empty_states(rules, 1)
    for name in _SOURCES:
        again[0][name] = s[name]
    again["drawn"] = s["drawn"] if int(s["taken"]) == NONE else NONE
    try:
        derive(again, 0, rules, active_seats(s))
    except PapluError as error:
        return [str(error)]
    return [
        f"{name} is {s[name]}, and must be {again[0][name]}"
        for name in states.dtype.names or ()
        if not np.array_equal(s[name], again[0][name])
    ]
