"""The cards that a seat has not seen, by face: those of the closed stock and of hidden hands."""

from __future__ import annotations

import numpy as np

from paplu_env._jit import njit
from paplu_env.cards import NUM_FACES, PRINTED_JOKER, Counts
from paplu_env.engine.state import Views
from paplu_env.rules import RuleSet, RulesRow


def unseen(views: Views, j: int, rules: RuleSet) -> Counts:
    """Copies of each face whose place the seat of a view doesn't know.

    Seen are its own hand, the indicator, the open pile, what others took from the pile and still hold,
    and hands that lie open. After a reshuffle the cards of the old pile are unseen again.

    Returns:
        ``(53,)`` uint8, a new array.
    """
    out = np.zeros(NUM_FACES, dtype=np.uint8)
    unseen_kernel(views, j, rules.packed[0], out)
    return out


@njit
def unseen_kernel(views: Views, j: int, r: RulesRow, out: Counts) -> None:
    """`unseen` for kernels: writes row ``j``'s ``(53,)`` counts into ``out``."""
    view = views[j]
    hand, known, shown, pile = view["hand"], view["known"], view["shown"], view["pile"]
    seat = int(view["seat"])
    packs, jokers = int(r["num_decks"]), int(r["printed_jokers"])
    for face in range(NUM_FACES):
        out[face] = packs
    out[PRINTED_JOKER] = jokers
    for face in range(NUM_FACES):
        out[face] -= hand[face]
    for other in range(int(r["num_players"])):
        if other != seat:
            for face in range(NUM_FACES):
                # A hand that lies open holds what its seat was known to hold.
                out[face] -= max(known[other, face], shown[other, face])
    out[int(view["indicator"])] -= 1
    for place in range(int(view["pile_size"])):
        out[int(pile[place])] -= 1
