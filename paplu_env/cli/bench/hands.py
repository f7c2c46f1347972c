"""Hands to measure on, each kind from a seed."""

from __future__ import annotations

from typing import Final

import numpy as np

from paplu_env import engine
from paplu_env.bots import make_policy
from paplu_env.cards import NUM_FACES
from paplu_env.engine.chance import keys_for
from paplu_env.engine.state import DECLARED, DRAW, OVER
from paplu_env.rules import RuleSet, preset

HAND_KINDS: Final = ("random", "dense", "wild-heavy", "near-complete", "from play")


def make_hands(kind: str, size: int, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Hands to measure on: ``(count, 53)`` uint8 and their wild masks ``(count,)`` int64, from a seed.

    *random*: dealt. *dense*: from five neighbouring ranks. *wild-heavy*: at least four wild cards.
    *near-complete*: the ends of declared deals with up to two cards replaced. *from play*: what two
    ``mindist_opp`` hold in the middle of their deals.
    """
    random = np.random.Generator(np.random.PCG64([seed, size, HAND_KINDS.index(kind)]))
    rules = preset("points")
    pack = pack_of(rules)
    hands, wilds = np.zeros((count, NUM_FACES), np.uint8), np.zeros(count, np.int64)
    if kind in ("near-complete", "from play"):
        source, masks = _played_hands(rules, seed, complete=kind == "near-complete")
    for row in range(count):
        if kind in ("near-complete", "from play"):
            place = int(random.integers(len(source)))
            hand, wild = source[place].astype(np.int64), int(masks[place])
            if kind == "near-complete":
                for _ in range(int(random.integers(3))):
                    _swap_card(hand, pack, rules, random)
            while hand.sum() < size:
                _add_card(hand, pack, rules, random)
            hands[row], wilds[row] = hand, wild
            continue
        rank = int(random.integers(13))
        wild = rules.wild_of(rank)
        cards = pack[np.arange(len(pack)) != np.flatnonzero(pack == rank)[0]]
        if kind == "dense":
            low = int(random.integers(9))
            cards = cards[(cards == NUM_FACES - 1) | ((cards % 13 >= low) & (cards % 13 < low + 5))]
        if kind == "wild-heavy":
            is_wild = (wild >> cards & 1).astype(bool)
            number = int(random.integers(4, 8))
            chosen = [random.choice(cards[is_wild], number, replace=False)]
            chosen.append(random.choice(cards[~is_wild], size - number, replace=False))
            drawn = np.concatenate(chosen)
        else:
            drawn = random.choice(cards, size, replace=False)
        np.add.at(hands[row], drawn, 1)
        wilds[row] = wild
    return hands, wilds


def pack_of(rules: RuleSet) -> np.ndarray:
    """All cards of the packs, in order."""
    return np.repeat(np.arange(NUM_FACES), [rules.copies(face) for face in range(NUM_FACES)])


def _played_hands(rules: RuleSet, seed: int, complete: bool) -> tuple[np.ndarray, np.ndarray]:
    """Hands of 13 from deals between two ``mindist_opp``: those that declared, or those held on the way."""
    policy = make_policy("mindist_opp", "points:drop_allowed=false")
    table = policy.rules
    states = engine.deal_many(table, np.arange(seed, seed + 2000, dtype=np.uint64))
    hands, wilds = [], []
    for decision in range(2 * table.max_turns):
        live = np.flatnonzero(states["phase"] != OVER)
        if not len(live):
            break
        seats = states["current_player"]
        views = engine.player_views(states, np.maximum(seats, 0))
        masks = engine.legal_action_masks(states, table)
        actions = np.full(len(states), -1, np.int64)
        keys = keys_for(seed, live, seats[live], decision)
        actions[live] = policy.act(views[live], masks[live], keys)
        engine.apply_actions(states, actions, table)
        if complete:
            chosen = live[states["ending"][live] == DECLARED]
        else:
            chosen = live[(states["phase"][live] == DRAW) & (states["draws"][live] > 4)]
        hands += [states["hands"][i, int(seats[i])].copy() for i in chosen]
        wilds += [int(states["wild"][i]) for i in chosen]
    return np.array(hands), np.array(wilds)


def _add_card(hand: np.ndarray, pack: np.ndarray, rules: RuleSet, random: np.random.Generator) -> None:
    """One more card that the packs still hold."""
    while True:
        face = int(random.choice(pack))
        if hand[face] < rules.copies(face):
            hand[face] += 1
            return


def _swap_card(hand: np.ndarray, pack: np.ndarray, rules: RuleSet, random: np.random.Generator) -> None:
    """One held card for another."""
    hand[int(random.choice(np.flatnonzero(hand)))] -= 1
    _add_card(hand, pack, rules, random)
