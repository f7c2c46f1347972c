"""Hand-written deals and seeded play for the tests of the engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

import numpy as np

from paplu_env import engine
from paplu_env.cards import NUM_FACES, format_card, parse_card, parse_cards
from paplu_env.engine.playout import random_actions
from paplu_env.engine.state import PILE_CAPACITY, States
from paplu_env.rules import RuleSet, parse_rules

POINTS = parse_rules("points")
COMPLETE = "AS 2S 3S | 4H 5H 6H | 9C 9D 9S | KC KD KS KH"  # with any wild rank

# Hands for a deal with a three as indicator.
LOOSE = "AS 5S 9S KS | 2H 6H TH | 4D 8D QD | 2C 7C JC"  # no group, no wild card
THREE_RUNS = "AD 2D 3D 4D | 6D 7D 8D | TD JD QD | QS QH QC"  # complete with three pure sequences
ONE_LIFE = "5S 6S 7S 8S | 9C 9D 9H | KC KD KS | 2H 4C TH"  # 26 in the run, 27 and 30 in sets, 16 beside
# 18 pure, 9 impure, 27 in a set and 32 beside; where sequences alone are free, 9C TC PJ saves more than 4H 5H PJ.
BOTH_LIVES = "5S 6S 7S | 4H 5H PJ | 9C 9D 9H | KC JS TC 2S"

# Tables that between them use every option that deals, turns or settlements depend on.
TABLES = (
    "points",
    "points:drop_allowed=false",
    "saha2025",
    "one_pack",
    "points:open_joker=first_turn,block_taken_card=false",
    "points:open_joker=never,wrong_declare=allowed,num_players=3",
    "classic:num_players=6,num_decks=3",
    "pagat:num_players=3",
    "pagat:num_players=10",
    "online:num_players=4,num_decks=3,max_turns=250",
    "paplu_bonus:num_players=3",
    "paplu_bonus:paplu_wild=false,paplu_bonus=declared,wrong_declare=allowed",
    "saha2025:max_turns=9,num_decks=1",
    "ten_card",
    "tanala:num_players=4",
    "rummy_21:num_players=4",
)


def lay_out(
    hands: Sequence[str],
    open_card: str,
    indicator: str,
    stock: str = "",
    rules: RuleSet = POINTS,
    first: int = 0,
) -> States:
    """A deal in which each seat holds the hand written for it, filled up with cards of no plan.

    Args:
        stock: the closed cards, the first to be drawn first; the others follow in any order.
    """
    left = [face for face in range(NUM_FACES) for _ in range(rules.copies(face))]
    laid = [parse_cards(hand) for hand in hands] + [[] for _ in range(rules.num_players - len(hands))]
    face_up, turned, closed = parse_card(open_card), parse_card(indicator), parse_cards(stock)
    for face in (*(face for hand in laid for face in hand), face_up, turned, *closed):
        left.remove(face)
    Random(1).shuffle(left)
    for hand in laid:
        while len(hand) < rules.hand_size:
            hand.append(left.pop())
    step = 1 if rules.direction == "clockwise" else -1
    order = [(first + step * turn) % rules.num_players for turn in range(rules.num_players)]
    dealt = [laid[seat][place] for place in range(rules.hand_size) for seat in order]
    deck = [turned, *dealt, face_up] if rules.indicator_first else [*dealt, face_up, turned]
    return engine.deal_from(rules, deck + closed + left, first=first)


def play(states: States, *actions: str, rules: RuleSet = POINTS) -> States:
    """Do actions written in words in row 0; the same rows are returned.

    ``drawn`` stands for the card drawn this turn, ``any`` for the lowest face that may be thrown.
    """
    for action in actions:
        if action.endswith(" drawn"):
            action = action.replace("drawn", format_card(int(states["drawn"][0])))
        if action.endswith(" any"):
            throwable = np.flatnonzero(engine.legal_action_mask(states, 0, rules)[engine.DISCARD_BASE :])
            action = action.replace("any", format_card(int(throwable[0])))
        engine.apply_action(states, 0, engine.parse_action(action), rules)
    return states


def legal(states: States, rules: RuleSet = POINTS) -> list[str]:
    """What may be done in row 0, in words."""
    return [engine.format_action(int(a)) for a in np.flatnonzero(engine.legal_action_mask(states, 0, rules))]


def draw_and_throw_back(states: States, rules: RuleSet = POINTS, until_closed: int = 0) -> States:
    """Every seat draws from the stock and throws what it drew, until ``until_closed`` closed cards are left."""
    while int(states["stock_size"][0]) > until_closed:
        play(states, "draw", "discard drawn", rules=rules)
    return states


def random_steps(rules: RuleSet, games: int, seed: int, steps: int = 1000, longest: bool = False) -> Iterator[States]:
    """Many deals played by random legal actions at once: the rows after the deal and after every step.

    Args:
        longest: leave out drops and wrong declarations where something else may be done.
    """
    firsts = np.arange(games) % rules.num_players
    states = engine.deal_many(rules, np.arange(seed, seed + games, dtype=np.uint64), first=firsts)
    yield states
    for step in range(steps):
        if (states["current_player"] < 0).all():
            return
        masks = engine.legal_action_masks(states, rules)
        if longest:
            masks[:, engine.DROP] &= masks.sum(axis=1) == 1
            masks[:, engine.DECLARE_BASE : engine.ANNOUNCE] = False
        keys = engine_keys(seed + step, games)
        engine.apply_actions(states, random_actions(masks, keys), rules)
        yield states


def engine_keys(seed: int, number: int) -> np.ndarray:
    """Keys that differ from row to row and from seed to seed."""
    return np.random.default_rng(seed).integers(0, 1 << 63, number).astype(np.uint64)


def pile_of(states: States, i: int = 0) -> list[int]:
    """Faces of the open pile, bottom first."""
    return [int(face) for face in states["cards"][i, PILE_CAPACITY - int(states["pile_size"][i]) :][::-1]]


def stock_of(states: States, i: int = 0) -> list[int]:
    """Faces of the closed stock, the next to be drawn last."""
    return [int(face) for face in states["cards"][i, : int(states["stock_size"][i])]]


def cards_in_all_places(states: States) -> np.ndarray:
    """How often each face lies somewhere, ``(B, C)``: in hands, in the stock, in the pile, as indicator."""
    rows = np.arange(len(states))
    places = np.arange(PILE_CAPACITY)[None, :]
    is_used = (places < states["stock_size"][:, None]) | (places >= PILE_CAPACITY - states["pile_size"][:, None])
    counts = states["hands"].astype(np.int64).sum(axis=1)
    for place in range(PILE_CAPACITY):
        used = is_used[:, place]
        np.add.at(counts, (rows[used], states["cards"][used, place]), 1)
    np.add.at(counts, (rows, states["indicator"]), 1)
    return counts
