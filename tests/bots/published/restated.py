"""The rule agents once more, slowly: read off their definitions, on lists of cards and the oracle's metrics."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from tests import oracle

Cards = tuple[int, ...]

DRAW, TAKE, DROP, DISCARD, DECLARE = 0, 1, 2, 3, 56
NO_CARD, JOKER = 255, 52
CAP = 80  # of the rule sets in these tests


@cache
def points(hand: Cards, wild: int) -> int:
    return oracle.points(hand, wild)


@cache
def distance(hand: Cards, wild: int) -> int:
    return oracle.distance(hand, wild)


def decide(agent: str, view: np.void, legal: set[int]) -> int:
    """What ``minscore``, ``mindist``, ``mindist_minscore`` or ``mindist_opp`` does with a view."""
    hand = tuple(face for face in range(53) for _ in range(view["hand"][face]))
    metric = points if agent == "minscore" else distance
    if view["phase"] == 0:
        return _draw(agent, metric, hand, view, legal)
    return _throw(agent, metric, hand, view, legal)


def _draw(agent: str, metric: Callable[[Cards, int], int], hand: Cards, view: np.void, legal: set[int]) -> int:
    wild = int(view["wild"])
    now = metric(hand, wild)
    hopeless = now >= CAP if agent == "minscore" else now > 4
    if view["drew"][view["seat"]] == 0 and hopeless and DROP in legal:
        return DROP
    if TAKE not in legal:
        return DRAW
    card = int(view["pile"][view["pile_size"] - 1])
    then = min(metric(_without(hand + (card,), thrown), wild) for thrown in set(hand))
    wanted = then <= now - 3 or then == 0 if agent == "minscore" else then < now
    return TAKE if wanted else DRAW


def _throw(agent: str, metric: Callable[[Cards, int], int], hand: Cards, view: np.void, legal: set[int]) -> int:
    wild = int(view["wild"])
    for action in _by_worth(range(53), wild, costly_first=True):
        if DECLARE + action in legal:
            return DECLARE + action
    throwable = [face for face in sorted(set(hand)) if DISCARD + face in legal]
    after = {face: metric(_without(hand, face), wild) for face in throwable}
    left_over = [face for face in throwable if after[face] == min(after.values())]
    drawn, was_taken = int(view["drawn"]), view["taken"] != NO_CARD
    if was_taken or min(after.values()) < after[drawn]:
        costly_first = agent in ("minscore", "mindist")
        return DISCARD + _by_worth(left_over, wild, costly_first)[0]
    if agent == "mindist_minscore":
        counts = {face: points(_without(hand, face), wild) for face in throwable}
        if min(counts.values()) < points(hand, wild):
            fewest = [face for face in throwable if counts[face] == min(counts.values())]
            return DISCARD + _by_worth(fewest, wild, costly_first=True)[0]
    if agent == "mindist_opp":
        took, threw = _history(view)
        safe = [
            face
            for face in left_over
            if any(_related(face, other) for other in threw) or not any(_related(face, other) for other in took)
        ]
        return DISCARD + _by_worth(safe or left_over, wild, costly_first=True)[0]
    return DISCARD + drawn


def _without(hand: Cards, face: int) -> Cards:
    cards = list(hand)
    cards.remove(face)
    return tuple(sorted(cards))


def _by_worth(faces, wild: int, costly_first: bool) -> list[int]:  # type: ignore[no-untyped-def]
    """Faces by points, then rising."""

    def worth(face: int) -> int:
        if wild >> face & 1 or face == JOKER:
            return 0
        return 10 if face % 13 in (0, 9, 10, 11, 12) else face % 13 + 1

    return sorted(faces, key=lambda face: (-worth(face) if costly_first else worth(face), face))


def _related(one: int, other: int) -> bool:
    same_rank = one == other if JOKER in (one, other) else one % 13 == other % 13
    return same_rank or abs(_index(one) - _index(other)) == 1


def _index(face: int) -> int:
    """Place among suits D C H S, ranks 2 … K A; the joker comes last."""
    if face == JOKER:
        return 52
    return 13 * "DCHS".index("SHDC"[face // 13]) + "23456789TJQKA".index("A23456789TJQK"[face % 13])


def _history(view: np.void) -> tuple[set[int], set[int]]:
    """Cards that the other seat took from the pile, and that it threw."""
    took, threw = set(), set()
    for entry in view["log"][: view["log_size"]]:
        seat, source, thrown = int(entry) >> 12, int(entry) >> 6 & 63, int(entry) & 63
        if seat != view["seat"]:
            took |= {source} if source <= JOKER else set()
            threw |= {thrown} if thrown <= JOKER else set()
    return took, threw
