"""Where the cards of the open pile lie, in a state and in a view. Nothing is checked: there must be such a card."""

from __future__ import annotations

from paplu_env._jit import accessor
from paplu_env.engine.state import PILE_CAPACITY, StateRow, ViewRow


@accessor
def open_card(s: StateRow) -> int:
    """The open card of a state."""
    return int(s["cards"][PILE_CAPACITY - int(s["pile_size"])])


@accessor
def open_card_of_view(v: ViewRow) -> int:
    """The open card as a seat sees it."""
    return int(v["pile"][int(v["pile_size"]) - 1])


@accessor
def pile_card(s: StateRow, place: int) -> int:
    """A card of a state's open pile, by its place from the bottom."""
    return int(s["cards"][PILE_CAPACITY - 1 - place])
