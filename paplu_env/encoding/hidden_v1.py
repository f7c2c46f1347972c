"""``hidden-v1``: what a seat may not know, for a critic that is thrown away after training.

It is made from states, not views, and is no encoding of observations: an environment refuses its name.
"""

from __future__ import annotations

import abc
import functools
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import njit, run_slices
from paplu_env.cards import NUM_FACES, PRINTED_JOKER
from paplu_env.encoding.base import Layout, Observations, starts_of
from paplu_env.encoding.fields import FieldSpec
from paplu_env.engine.arguments import whole_numbers
from paplu_env.engine.state import States, check_table
from paplu_env.errors import InvalidRules
from paplu_env.rules import RuleSet, as_rules

# Closed cards told one by one: what the next round or two of draws will bring. Those below are only counted.
TOP_CARDS: Final = 4

HIDDEN_SPECS: Final = (
    FieldSpec(
        "hands",
        lambda rules: (rules.num_players - 1, rules.num_decks, NUM_FACES),
        "per opponent by relative seat, its cards: row k is 1 where more than k copies are held; printed jokers "
        "beyond the packs are a share in the last row",
    ),
    FieldSpec("stock", lambda rules: (NUM_FACES,), "copies in the closed stock, as a share of all copies"),
    FieldSpec(
        "top", lambda rules: (TOP_CARDS, NUM_FACES), "row k is 1 for the card that the draw after k others gives"
    ),
)
_HANDS, _STOCK, _TOP = range(len(HIDDEN_SPECS))


class HiddenLayout(Layout):
    """A layout of what states hide from their seats."""

    def encode(
        self,
        states: States,
        seats: npt.ArrayLike,
        rules: RuleSet | str | Mapping[str, Any],
        out: Observations | None = None,
        threads: int = 1,
    ) -> Observations:
        """What each row hides from one of its seats.

        Args:
            states: ``(B,)`` of the table's state dtype. Not modified.
            seats: ``(B,)`` whole numbers, the seat of each row that it is hidden from.
            out: ``(B, F)`` float32, C-contiguous, every entry is overwritten; a new array if not given.
            threads: slices of rows that run at the same time; the result doesn't depend on it.

        Returns:
            ``(B, F)`` float32 in [0, 1]: ``out``.

        Raises:
            InvalidRules: states of a game under other rules, or a seat that the table does not have.
            PapluError: an ``out`` of another shape, dtype or memory order.
        """
        table = as_rules(rules)
        check_table(states, table)
        chosen = whole_numbers(seats, "seats", len(states))
        if (chosen < 0).any() or (chosen >= table.num_players).any():
            raise InvalidRules(f"seats of a table of {table.num_players} are 0..{table.num_players - 1}")
        if out is None:
            out = np.empty((len(states), self.num_features(table)), dtype=np.float32)
        else:
            self.check_out(out, len(states), table)
        encode = functools.partial(self._encode_rows, states, chosen, table, starts_of(self.specs, table), out)
        run_slices(encode, len(states), threads)
        return out

    @abc.abstractmethod
    def _encode_rows(
        self, states: States, seats: Any, rules: RuleSet, starts: Any, out: Observations, start: int, stop: int
    ) -> None:
        """Write rows ``start`` to ``stop``; all arguments are checked."""


class HiddenV1(HiddenLayout):
    """The other hands and the closed stock."""

    name = "hidden-v1"
    specs = HIDDEN_SPECS

    def _encode_rows(
        self, states: States, seats: Any, rules: RuleSet, starts: Any, out: Observations, start: int, stop: int
    ) -> None:
        _hidden_rows(states, seats, rules.packed, starts, out, start, stop)


HIDDEN_V1: Final = HiddenV1()


@njit
def _hidden_rows(states: States, seats: Any, rules: Any, starts: Any, out: Observations, start: int, stop: int) -> None:
    """Encode a slice of rows."""
    r = rules[0]
    for j in range(start, stop):
        out[j, :] = np.float32(0)
        encode_hidden(states, j, int(seats[j]), r, starts, out[j])


@njit
def encode_hidden(states: States, j: int, me: int, r: Any, starts: Any, row: Observations) -> None:
    """Write the fields of ``hidden-v1`` into a row of zeros."""
    _encode_hands(states, j, me, r, int(starts[_HANDS]), row)
    _encode_stock(states, j, r, starts, row)


@njit
def _encode_hands(states: States, j: int, me: int, r: Any, first: int, row: Observations) -> None:
    hands = states[j]["hands"]
    packs, players, step = int(r["num_decks"]), int(r["num_players"]), int(r["step"])
    for seat in range(players):
        if seat == me:
            continue
        start = first + ((seat - me + players) * step % players - 1) * packs * NUM_FACES
        for copies in range(packs):
            for face in range(NUM_FACES):
                row[start + copies * NUM_FACES + face] = np.float32(int(hands[seat, face]) > copies)
        extra = int(hands[seat, PRINTED_JOKER]) - (packs - 1)
        if extra > 0:
            share = extra / (int(r["printed_jokers"]) - (packs - 1))
            row[start + packs * NUM_FACES - 1] = np.float32(share)


@njit
def _encode_stock(states: States, j: int, r: Any, starts: Any, row: Observations) -> None:
    cards, size = states[j]["cards"], int(states[j]["stock_size"])
    stock, top = int(starts[_STOCK]), int(starts[_TOP])
    for place in range(size):
        face = int(cards[place])
        row[stock + face] += np.float32(1)
        if size - 1 - place < TOP_CARDS:
            row[top + NUM_FACES * (size - 1 - place) + face] = np.float32(1)
    for face in range(NUM_FACES):
        copies = int(r["printed_jokers"]) if face == PRINTED_JOKER else int(r["num_decks"])
        row[stock + face] /= np.float32(max(copies, 1))
