"""The study's agents as its code plays them, on a table outside the legal engine: what moves the published figures.

``python -m training.studies.saha2025`` prints it. This is an experiment, not a bot: with `LOSES_CARDS` hands
change in a way that no rule allows, so the players here know nothing of `engine` and can't be met by other bots.
Every way in which the study's code differs from the agents of BASELINES.md is a switch of its own; with all of
them off the table plays the same games, card by card, as `bots.RuleAgent` under ``saha2025`` (a test holds that).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import as_int64, njit
from paplu_env.bots.published.kernels import RELATED
from paplu_env.cards import FACE_POINTS, NUM_FACES, PRINTED_JOKER
from paplu_env.engine.chance import keys_for, mix, shuffle
from paplu_env.engine.state import DECLARED, DROPPED_FIRST, ENDED_BY_DROP, LOWER_DEADWOOD
from paplu_env.errors import PapluError
from paplu_env.evaluation.games import DEAL_SEAT, NOBODY, Games, games_dtype
from paplu_env.evaluation.stats import mean_interval
from paplu_env.files import write_atomically
from paplu_env.melds.fast_distance.distance_kernels import discard_distances_kernel, distance_kernel
from paplu_env.melds.fast_distance.distance_table import distance_table
from paplu_env.melds.fast_points.deadwood_kernels import deadwood_kernel, points_kernel
from paplu_env.rules import as_rules
from training.studies.saha2025.first_arrangement import HAND_SIZE, MAX_HELD, SCRATCH_DTYPE, Cards, first_arrangement

AGENTS: Final = ("minscore", "mindist", "mindist_minscore", "mindist_opp")
_MINSCORE, _MINDIST, _MINDIST_MINSCORE, _MINDIST_OPP = range(len(AGENTS))

# What the study's code does in another way than BASELINES.md has it.
ONE_ARRANGEMENT: Final = 1  # left over is what lies outside the one arrangement that its search meets first
NEWEST: Final = 2  # of equally dear cards the one held for the shortest time goes, of equally cheap the oldest
LOSES_CARDS: Final = 4  # after a pile pick the thrifty agents lose their cheapest left-over card and show the oldest
PILE_HEIGHT: Final = 8  # what the opponent took is guessed from the height of the pile, often wrongly
AS_CODED: Final = ONE_ARRANGEMENT | NEWEST | LOSES_CARDS | PILE_HEIGHT
# After a drop the study's code counts the winner's own hand as well. Its published points don't: this would
# move those against `minscore`, which drops nearly half its hands, by more than twenty.
WINNER_PAYS: Final = 16
# By the name under which the experiment reports them; the last one means nothing without drops.
SWITCHES: Final = {
    "one arrangement": ONE_ARRANGEMENT,
    "newest first": NEWEST,
    "loses cards": LOSES_CARDS,
    "pile height": PILE_HEIGHT,
    "winner pays": WINNER_PAYS,
}

_CAP: Final = 80  # points
_MIN_GAIN: Final = 3  # as in `rule_kernels`
_MAX_DISTANCE: Final = 4
_TURNS: Final = 200
_FIRST_DROP: Final = 20
_LATER: Final = np.uint64(1)  # as in `engine.deal`: mixed into the deal's seed it gives that of the first reshuffle
_PACK: Final = 106


def play_study(a: str, b: str, deals: int, seed: int = 0, drops: bool = False, switches: int = AS_CODED) -> Games:
    """Play duplicate deals between two of the study's agents.

    Args:
        a, b: of `AGENTS`.
        deals: distinct deals, the same cards as in a match under ``saha2025`` with this seed.
        drops: whether the agents may drop.
        switches: sum of the constants above.

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
    seeds = keys_for(seed, numbers, DEAL_SEAT, 0)
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
        _count(hand, HAND_SIZE, counts)
        if agent == _MINSCORE:
            if not switches & ONE_ARRANGEMENT or current[seat] < 0:
                current[seat] = int(points_kernel(counts, wild, r))
            is_hopeless = int(current[seat]) >= _CAP
        else:
            current[seat] = int(distance_kernel(counts, wild, r, table))
            is_hopeless = int(current[seat]) > _MAX_DISTANCE
        if drops and not moved[seat] and is_hopeless:
            winner, ending, finisher = other, ENDED_BY_DROP, seat
            break
        moved[seat] = 1
        # The open card, tried.
        hand[HAND_SIZE] = opened
        counts[opened] += 1
        now = int(current[seat])
        new, left = _metric(agent, hand, counts, wild, after, switches, opened, r, table, scratch)
        takes = new == 0 or new <= now - _MIN_GAIN if agent == _MINSCORE else new < now
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
            new, left = _metric(agent, hand, counts, wild, after, switches, -1, r, table, scratch)
        draws += 1
        # The discard: which place in the hand goes, and which card is shown.
        improved = takes or new < now
        is_thrifty = agent in (_MINDIST_MINSCORE, _MINDIST_OPP)
        place = HAND_SIZE
        if new == 0:
            place = _pick(hand, left, wild, True, switches)
        elif improved:
            place = _pick(hand, left, wild, not is_thrifty, switches)
        elif agent == _MINDIST_MINSCORE:
            whole = int(points_kernel(counts, wild, r))
            fewest, left = _points_after(hand, counts, wild, after, switches, -1, r, scratch)
            if fewest < whole:
                place = _pick(hand, left, wild, True, switches)
        elif agent == _MINDIST_OPP:
            place = _pick_safe(hand, left, wild, int(took[seat]), int(threw[seat]), switches)
        shown = int(hand[place])
        if switches & LOSES_CARDS and takes and is_thrifty and new > 0:
            shown = int(hand[_lowest_place(left)])
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
def _metric(
    agent: int,
    hand: Cards,
    counts: npt.NDArray[np.uint8],
    wild: int,
    after: npt.NDArray[np.uint8],
    switches: int,
    kept: int,
    r: Any,
    table: Any,
    scratch: Any,
) -> tuple[int, int]:
    """An agent's metric of fourteen cards after the best discard, and the places of the cards left over.

    Args:
        kept: a face of which a single copy may not be thrown, since it is the open card; -1: none.
    """
    if agent == _MINSCORE:
        return _points_after(hand, counts, wild, after, switches, kept, r, scratch)
    best = int(distance_kernel(counts, wild, r, table))
    if switches & ONE_ARRANGEMENT:
        left = int(first_arrangement(hand, as_int64(MAX_HELD), wild, best, as_int64(0), best + 1, scratch))
        if left >= 0:
            return best, left
    discard_distances_kernel(counts, wild, r, table, after)
    return best, _places_at(hand, counts, after, best, kept)


@njit
def _points_after(
    hand: Cards,
    counts: npt.NDArray[np.uint8],
    wild: int,
    after: npt.NDArray[np.uint8],
    switches: int,
    kept: int,
    r: Any,
    scratch: Any,
) -> tuple[int, int]:
    """Points after the best discard, and the places of the cards left over.

    The study arranges all fourteen cards with as little left over as possible and throws the dearest of that.
    """
    if switches & ONE_ARRANGEMENT:
        least = int(deadwood_kernel(counts, wild, r))
        left = -1
        while left < 0:  # with groups of at most thirteen cards a little more may have to be left over
            left = int(first_arrangement(hand, as_int64(MAX_HELD), wild, as_int64(0), as_int64(1), least, scratch))
            least += 1
        thrown = _worth(int(hand[_pick(hand, left, wild, True, switches)]), wild)
        return min(_CAP, least - 1 - thrown), left
    best = 255
    for k in range(MAX_HELD):
        face = int(hand[k])
        if face == kept and int(counts[face]) == 1:
            after[face] = 255
            continue
        counts[face] -= 1
        after[face] = int(points_kernel(counts, wild, r))
        counts[face] += 1
        best = min(best, int(after[face]))
    return best, _places_at(hand, counts, after, best, kept)


@njit
def _places_at(hand: Cards, counts: npt.NDArray[np.uint8], after: npt.NDArray[np.uint8], best: int, kept: int) -> int:
    """Bits of the places whose card leaves the lowest metric when it is thrown."""
    places = 0
    for k in range(MAX_HELD):
        face = int(hand[k])
        if int(after[face]) == best and not (face == kept and int(counts[face]) == 1):
            places |= 1 << k
    return places


@njit
def _worth(face: int, wild: int) -> int:
    return 0 if wild >> face & 1 else int(FACE_POINTS[face])


@njit
def _lowest_place(places: int) -> int:
    place = 0
    while not places >> place & 1:
        place += 1
    return place


@njit
def _pick(hand: Cards, places: int, wild: int, is_dearest: bool, switches: int) -> int:
    """The place of the dearest or the cheapest card; of equals the newest or the oldest, or the lowest face."""
    chosen = -1
    for k in range(MAX_HELD):
        if not places >> k & 1:
            continue
        if chosen < 0:
            chosen = k
            continue
        gain = _worth(int(hand[k]), wild) - _worth(int(hand[chosen]), wild)
        gain = gain if is_dearest else -gain
        is_first_of_equals = is_dearest if switches & NEWEST else int(hand[k]) < int(hand[chosen])
        if gain > 0 or (gain == 0 and is_first_of_equals):
            chosen = k
    return chosen


@njit
def _pick_safe(hand: Cards, places: int, wild: int, took: int, threw: int, switches: int) -> int:
    """The dearest card that is related to what the other threw, or to nothing that it took; else the dearest."""
    unwanted = related = 0
    for k in range(MAX_HELD):
        if not places >> k & 1:
            continue
        near = int(RELATED[int(hand[k])])
        if switches & PILE_HEIGHT:
            near &= ~(1 << PRINTED_JOKER)  # the study's printed joker is related to nothing
        if not near & took:
            unwanted |= 1 << k
        if near & threw:
            related |= 1 << k
    safe = unwanted | related
    if not safe:
        return _pick(hand, places, wild, True, switches)
    chosen = _pick(hand, safe, wild, True, switches)
    if switches & NEWEST and unwanted:  # the study puts these last, so they win ties
        other = _pick(hand, unwanted, wild, True, switches)
        if _worth(int(hand[other]), wild) == _worth(int(hand[chosen]), wild):
            chosen = other
    return chosen


@njit
def _count(hand: Cards, size: int, counts: npt.NDArray[np.uint8]) -> None:
    counts[:] = 0
    for k in range(size):
        counts[int(hand[k])] += 1


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
        _count(hands[seat], as_int64(HAND_SIZE), counts)
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


def effects(a: str, b: str, deals: int, seed: int, drops: bool) -> list[str]:
    """One row of the experiment: wins and points of ``a`` by BASELINES.md, what each switch adds, and all together.

    What a switch adds is a difference over the same deals, so it is surer than either figure.
    """
    plain = play_study(a, b, deals, seed, drops, 0)
    coded = play_study(a, b, deals, seed, drops, AS_CODED)
    row = [a, b, _figures(plain)]
    for switch in SWITCHES.values():
        if switch == WINNER_PAYS and not drops:
            row.append("–")
            continue
        changed = play_study(a, b, deals, seed, drops, switch)
        low, high = mean_interval(_points(changed) - _points(plain))
        row.append(f"{(low + high) / 2:+.2f} ±{(high - low) / 2:.2f}")
    return [*row, _figures(coded)]


def _points(games: Games) -> npt.NDArray[np.float64]:
    """The first player's points, a mean for each deal."""
    points: npt.NDArray[np.float64] = games["returns"][..., 0].mean(axis=1)
    return points


def _figures(games: Games) -> str:
    """Wins in % and points per deal, with the reach of its interval."""
    low, high = mean_interval(_points(games))
    return f"{100 * (games['winner'] == 0).mean():.1f} / {(low + high) / 2:+.2f} ±{(high - low) / 2:.2f}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the experiment and print it as Markdown."""
    parser = argparse.ArgumentParser(
        prog="python -m training.studies.saha2025", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--deals", type=int, default=2000, help="duplicate deals of each cell (2000)")
    parser.add_argument("--seed", type=int, default=2025, help="of the deals (2025)")
    parser.add_argument("--out", type=Path, help="write the tables to this file too")
    options = parser.parse_args(arguments)
    lines: list[str] = []
    header = ["row", "column", "by BASELINES.md", *SWITCHES, "as coded"]
    for drops in (False, True):
        lines += [
            "",
            f"{'Drops' if drops else 'No drops'}, {options.deals:,} deals from both seats, seed {options.seed}:",
        ]
        lines += ["", f"| {' | '.join(header)} |", "|" + " --- |" * len(header)]
        print("\n".join(lines[-4:]), flush=True)
        for b, a in combinations(AGENTS, 2):
            lines.append(f"| {' | '.join(effects(a, b, options.deals, options.seed, drops))} |")
            print(lines[-1], flush=True)
    if options.out is not None:
        write_atomically(options.out, ("\n".join(lines[1:]) + "\n").encode())
