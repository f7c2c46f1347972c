"""Single hands: how their times are spread, and a search for the hand that takes longest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from paplu_env.cards import NUM_FACES, NUM_RANKS, PRINTED_JOKER, format_card, format_hand
from paplu_env.cli.bench.hands import pack_of
from paplu_env.cli.bench.instructions import count_instructions
from paplu_env.cli.bench.rows import CLOCK, Hands, Solver, Wilds
from paplu_env.rules import RuleSet, preset

_COPIES: Final = 256  # of one hand in a batch, so that the call itself doesn't count
_TRIES: Final = 3  # timings of a hand, of which the fastest counts
_SPREAD: Final = 256  # hands whose times are taken one by one
_FIRST_HANDS: Final = 200  # hands that are tried first; the search starts with the slowest of them
_KEPT: Final = 4  # hands that go on to the next round
_CHILDREN: Final = 8  # of each of them, a card or two replaced
_ROUNDS: Final = 12


@dataclass(frozen=True)
class Spread:
    """Microseconds that 50, 90 and 99 % of the hands stay below, each timed by itself."""

    p50: float
    p90: float
    p99: float


@dataclass(frozen=True)
class Worst:
    """The slowest hand that a search met."""

    name: str
    microseconds: float
    instructions: float | None  # per call, where they can be counted
    hand: str
    wild: str


def spread_of(solver: Solver, hands: Hands, wilds: Wilds) -> Spread:
    """How the times of the first hands are spread. A hand is repeated, so that its branches are well predicted."""
    times = [_microseconds(solver, hands[row], int(wilds[row])) for row in range(min(_SPREAD, len(hands)))]
    p50, p90, p99 = np.percentile(times, [50, 90, 99])
    return Spread(float(p50), float(p90), float(p99))


def find_worst(solver: Solver, seed: int) -> Worst:
    """Search for a slow hand: from many wild cards and long runs that overlap in three suits, by small changes.

    What is met depends on the machine and on the clock; the hand that is shown can be timed again anywhere.
    """
    random = np.random.Generator(np.random.PCG64([seed, solver.size]))
    rules = preset("points")
    met = [_timed(solver, *_nasty_hand(solver.size, rules, random)) for _ in range(_FIRST_HANDS)]
    for _ in range(_ROUNDS):
        met = sorted(met, key=lambda found: -found[0])[:_KEPT]
        met += [
            _timed(solver, _changed(hand, rules, random), wild)
            for _, hand, wild in met[:_KEPT]
            for _ in range(_CHILDREN)
        ]
    _, hand, wild = max(met, key=lambda found: found[0])
    hands, wilds = np.repeat(hand[np.newaxis], _COPIES, axis=0), np.full(_COPIES, wild)
    instructions = count_instructions(lambda: solver.ask(hands, wilds, rules))
    faces = [face for face in range(NUM_FACES) if wild >> face & 1 and face != PRINTED_JOKER]
    return Worst(
        solver.name,
        _microseconds(solver, hand, wild),
        None if instructions is None else instructions / _COPIES,
        format_hand(hand),
        format_card(faces[0])[0],
    )


def _timed(solver: Solver, hand: np.ndarray, wild: int) -> tuple[float, np.ndarray, int]:
    return _microseconds(solver, hand, wild), hand, wild


def _microseconds(solver: Solver, hand: np.ndarray, wild: int) -> float:
    """Time of one hand."""
    rules = preset("points")
    hands, wilds = np.repeat(hand[np.newaxis], _COPIES, axis=0), np.full(_COPIES, wild)
    best = float("inf")
    for _ in range(_TRIES):
        start = CLOCK()
        solver.ask(hands, wilds, rules)
        best = min(best, CLOCK() - start)
    return 1e6 * best / _COPIES


def _nasty_hand(size: int, rules: RuleSet, random: np.random.Generator) -> tuple[np.ndarray, int]:
    """A hand of one to six wild cards and of neighbouring ranks in three suits, and the wild mask."""
    pack = pack_of(rules)
    wild = rules.wild_of(int(random.integers(NUM_RANKS)))
    low, width, suits = int(random.integers(NUM_RANKS)), int(random.integers(4, 9)), random.choice(4, 3, replace=False)
    is_wild = (wild >> pack & 1).astype(bool)
    near = (pack - low) % NUM_RANKS < width  # the wild ones among them don't matter
    near &= np.isin(pack // NUM_RANKS, suits) & ~is_wild
    number = min(int(random.integers(1, 7)), size)
    drawn = [
        *random.choice(pack[is_wild], number, replace=False),
        *random.choice(pack[near], size - number, replace=False),
    ]
    hand = np.zeros(NUM_FACES, np.uint8)
    np.add.at(hand, drawn, 1)
    return hand, wild


def _changed(hand: np.ndarray, rules: RuleSet, random: np.random.Generator) -> np.ndarray:
    """The hand with one or two cards replaced."""
    hand = hand.copy()
    for _ in range(int(random.integers(1, 3))):
        hand[int(random.choice(np.flatnonzero(hand)))] -= 1
        free = [face for face in range(NUM_FACES) if hand[face] < rules.copies(face)]
        hand[int(random.choice(free))] += 1
    return hand
