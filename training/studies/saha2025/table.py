"""The study's agents at a table outside the legal engine: whole games of two of them, by kernels.

With `LOSES_CARDS` hands change in a way that no rule allows, so the players here know nothing of `engine` and can't be
met by other bots. With every switch off the table plays the same games, card by card, as `bots.published` under
``saha2025`` (a test holds that).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import as_int64, njit
from paplu_env.bots.published.kernels import MAX_DISTANCE, MIN_GAIN
from paplu_env.cards import NUM_FACES, PRINTED_JOKER
from paplu_env.engine.chance import Purpose, match_deal_seeds, mix, shuffle
from paplu_env.engine.state import DECLARED, DROPPED_FIRST, ENDED_BY_DROP, LOWER_DEADWOOD
from paplu_env.errors import PapluError
from paplu_env.evaluation.games import NOBODY, Games, games_dtype
from paplu_env.melds.fast_distance.distance_kernels import distance_kernel
from paplu_env.melds.fast_distance.distance_table import distance_table
from paplu_env.melds.fast_points.deadwood_kernels import points_kernel
from paplu_env.rules import as_rules
from training.studies.saha2025.agents import (
    AGENTS,
    AS_CODED,
    CAP,
    LOSES_CARDS,
    MINDIST_MINSCORE,
    MINDIST_OPP,
    MINSCORE,
    ONE_ARRANGEMENT,
    PILE_HEIGHT,
    WINNER_PAYS,
    count,
    lowest_place,
    metric,
    pick,
    pick_safe,
    points_after,
)
from training.studies.saha2025.first_arrangement import HAND_SIZE, MAX_HELD, SCRATCH_DTYPE

_TURNS: Final = 200
_FIRST_DROP: Final = 20
_LATER: Final = np.uint64(Purpose.NEXT_SHUFFLE)  # as in `engine.deal`
_PACK: Final = 106


def play_study(a: str, b: str, deals: int, seed: int = 0, drops: bool = False, switches: int = AS_CODED) -> Games:
    """Play duplicate deals between two of the study's agents.

    Args:
        a, b: of `agents.AGENTS`.
        deals: distinct deals, the same cards as in a match under ``saha2025`` with this seed.
        drops: whether the agents may drop.
        switches: sum of switches of `agents`.

    Returns:
        ``(deals, 2)`` of `games.games_dtype`; the luck of the draws isn't estimated.

    Raises:
        PapluError: no such agent.
    """
    for name in (a, b):
        if name not in AGENTS:
            raise PapluError(f"the study has no agent {name!r}: its agents are {', '.join(AGENTS)}")
    games = np.zeros((deals, 2), dtype=games_dtype(2))
    numbers = np.arange(deals)
    games["deal"] = numbers[:, None]
    games["rotation"] = np.arange(2)
    games["luck"] = np.nan
    seeds = match_deal_seeds(seed, numbers)
    rules = as_rules("saha2025")
    scratch = np.zeros(1, dtype=SCRATCH_DTYPE)
    flat = games.reshape(-1)
    agents = (AGENTS.index(a), AGENTS.index(b))
    _play_all(flat, seeds, agents[0], agents[1], drops, switches, rules.packed, distance_table(), scratch)
    return games


@njit
def _play_all(
    games: npt.NDArray[np.void],
    seeds: npt.NDArray[np.uint64],
    a: int,
    b: int,
    drops: bool,
    switches: int,
    rules: npt.NDArray[np.void],
    table: Any,
    scratch: npt.NDArray[np.void],
) -> None:
    for i in range(len(games)):
        game = games[i]
        deal, rotation = int(game["deal"]), int(game["rotation"])
        agent_0, agent_1 = (a, b) if rotation == 0 else (b, a)
        first = deal % 2
        _play(game, seeds[deal], first, rotation, agent_0, agent_1, drops, switches, rules[0], table, scratch[0])


@njit
def _play(
    game: Any,
    seed: np.uint64,
    first: int,
    rotation: int,
    agent_0: int,
    agent_1: int,
    drops: bool,
    switches: int,
    r: Any,
    table: Any,
    scratch: Any,
) -> None:
    """One game; seats are those of the engine, and what is written counts by player."""
    stock = np.empty(_PACK, dtype=np.uint8)
    hands = np.zeros((2, MAX_HELD), dtype=np.int64)  # faces, the oldest first
    pile = np.zeros(2 * _PACK, dtype=np.int64)  # bottom first; the lost and doubled cards may swell it
    took = np.zeros(2, dtype=np.int64)  # by seat: faces that the other is thought to have taken
    threw = np.zeros(2, dtype=np.int64)  # by seat: faces that the other is thought to have thrown
    own_last = np.full(2, -1, dtype=np.int64)  # last card that a seat threw
    height = np.ones(2, dtype=np.int64)  # of the pile, as a seat remembers it
    moved = np.zeros(2, dtype=np.int64)
    current = np.full(2, -1, dtype=np.int64)  # the metric that a seat remembers
    counts = np.zeros(NUM_FACES, dtype=np.uint8)
    after = np.zeros(NUM_FACES, dtype=np.uint8)
    top, wild = _deal(stock, seed, first, hands, pile, r)
    seed = mix(seed, _LATER)
    pile_size = 1
    seat = first
    draws = 0
    winner, ending, finisher = NOBODY, LOWER_DEADWOOD, first
    while draws < _TURNS:
        agent = agent_0 if seat == 0 else agent_1
        other = 1 - seat
        hand = hands[seat]
        opened = int(pile[pile_size - 1])
        # What the other did is noticed before the own move.
        if switches & PILE_HEIGHT:
            if moved[seat]:
                threw[seat] |= 1 << opened
                if pile_size == height[seat] + 1:
                    took[seat] |= 1 << own_last[seat]
                    height[seat] += 1
                else:
                    height[seat] += 2
            elif pile_size > 1:
                threw[seat] |= 1 << opened
                height[seat] = pile_size
        count(hand, HAND_SIZE, counts)
        if agent == MINSCORE:
            if not switches & ONE_ARRANGEMENT or current[seat] < 0:
                current[seat] = int(points_kernel(counts, wild, r))
            is_hopeless = int(current[seat]) >= CAP
        else:
            current[seat] = int(distance_kernel(counts, wild, r, table))
            is_hopeless = int(current[seat]) > MAX_DISTANCE
        if drops and not moved[seat] and is_hopeless:
            winner, ending, finisher = other, ENDED_BY_DROP, seat
            break
        moved[seat] = 1
        # The open card, tried.
        hand[HAND_SIZE] = opened
        counts[opened] += 1
        now = int(current[seat])
        new, left = metric(agent, hand, counts, wild, after, switches, opened, r, table, scratch)
        takes = new == 0 or new <= now - MIN_GAIN if agent == MINSCORE else new < now
        drawn = opened
        if takes:
            pile_size -= 1
            if not switches & PILE_HEIGHT:
                took[other] |= 1 << opened
        else:
            top -= 1
            drawn = int(stock[top])
            counts[opened] -= 1
            counts[drawn] += 1
            hand[HAND_SIZE] = drawn
            new, left = metric(agent, hand, counts, wild, after, switches, -1, r, table, scratch)
        draws += 1
        # The discard: which place in the hand goes, and which card is shown.
        improved = takes or new < now
        is_thrifty = agent in (MINDIST_MINSCORE, MINDIST_OPP)
        place = HAND_SIZE
        if new == 0:
            place = pick(hand, left, wild, True, switches)
        elif improved:
            place = pick(hand, left, wild, not is_thrifty, switches)
        elif agent == MINDIST_MINSCORE:
            whole = int(points_kernel(counts, wild, r))
            fewest, left = points_after(hand, counts, wild, after, switches, -1, r, scratch)
            if fewest < whole:
                place = pick(hand, left, wild, True, switches)
        elif agent == MINDIST_OPP:
            place = pick_safe(hand, left, wild, int(took[seat]), int(threw[seat]), switches)
        shown = int(hand[place])
        if switches & LOSES_CARDS and takes and is_thrifty and new > 0:
            shown = int(hand[lowest_place(left)])
        for k in range(place, HAND_SIZE):
            hand[k] = hand[k + 1]
        if improved:
            current[seat] = new
        pile[pile_size] = shown
        pile_size += 1
        own_last[seat] = shown
        if not switches & PILE_HEIGHT:
            threw[other] |= 1 << shown
        if new == 0:
            winner, ending, finisher = seat, DECLARED, seat
            break
        if top == 0 and draws < _TURNS:
            # The pile, top first, is shuffled and its last card opens the new pile, as in `engine.transition`.
            for k in range(min(pile_size, _PACK)):
                stock[k] = pile[pile_size - 1 - k]
            top = min(pile_size, _PACK)
            shuffle(stock, top, seed)
            seed = mix(seed, _LATER)
            top -= 1
            pile[0] = int(stock[top])
            pile_size = 1
        seat = other
    _write(game, hands, wild, first, rotation, draws, winner, ending, finisher, switches, counts, r)


@njit
def _deal(stock: npt.NDArray[np.uint8], seed: np.uint64, first: int, hands: Any, pile: Any, r: Any) -> tuple[int, int]:
    """Deal as `engine.deal` does under ``saha2025``, the hands in order; the stock's size and the wild faces."""
    place = 0
    for face in range(NUM_FACES):
        for _ in range(2):
            stock[place] = face
            place += 1
    shuffle(stock, as_int64(_PACK), seed)
    turned = _PACK - 1
    while int(stock[turned]) == PRINTED_JOKER:
        turned -= 1
    wild = int(r["wild_of"][int(stock[turned])])
    for above in range(turned, _PACK - 1):
        stock[above] = stock[above + 1]
    top = _PACK - 1
    for k in range(HAND_SIZE):
        for turn in range(2):
            top -= 1
            hands[(first + turn) % 2, k] = int(stock[top])
    top -= 1
    pile[0] = int(stock[top])
    return top, wild


@njit
def _write(
    game: Any,
    hands: Any,
    wild: int,
    first: int,
    rotation: int,
    draws: int,
    winner: int,
    ending: int,
    finisher: int,
    switches: int,
    counts: npt.NDArray[np.uint8],
    r: Any,
) -> None:
    """Settle the game and note how it ended, seats turned into players."""
    owed_0 = owed_1 = 0
    for seat in range(2):
        count(hands[seat], as_int64(HAND_SIZE), counts)
        owed = int(points_kernel(counts, wild, r))
        if ending == ENDED_BY_DROP and seat == finisher:
            owed = _FIRST_DROP
        elif seat == winner and not (ending == ENDED_BY_DROP and switches & WINNER_PAYS):
            owed = 0
        owed_0, owed_1 = (owed, owed_1) if seat == 0 else (owed_0, owed)
    if ending == LOWER_DEADWOOD:
        winner = 0 if owed_0 < owed_1 else 1 if owed_1 < owed_0 else NOBODY
        lost = max(owed_0, owed_1) if winner != NOBODY else 0
        owed_0, owed_1 = (0, lost) if winner == 0 else (lost, 0)
    gain = owed_1 - owed_0 if rotation == 0 else owed_0 - owed_1
    game["returns"][0] = gain
    game["returns"][1] = -gain
    game["first"] = (first - rotation) % 2
    game["winner"] = winner if winner == NOBODY else (winner - rotation) % 2
    game["finisher"] = (finisher - rotation) % 2
    game["ending"] = ending
    game["turns"] = draws
    if ending == ENDED_BY_DROP:
        game["status"][(finisher - rotation) % 2] = DROPPED_FIRST
