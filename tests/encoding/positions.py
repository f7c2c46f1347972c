"""Views for the tests of encodings: from whole random games, and from a position written by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from paplu_env import engine
from paplu_env.cards import parse_card
from paplu_env.encoding import permute_faces
from paplu_env.engine.state import (
    LOG_FACE_MASK,
    LOG_SEAT_SHIFT,
    LOG_SOURCE_SHIFT,
    States,
    Views,
)
from paplu_env.rules import RuleSet, as_rules


def random_games(rules: RuleSet | str, games: int, seed: int = 0, steps: int = 10_000) -> Iterator[States]:
    """The states of some games under random legal play, before every action and after the last."""
    table = as_rules(rules)
    rng = np.random.default_rng(seed)
    states = engine.deal_many(table, rng.integers(0, 2**63, games, dtype=np.uint64))
    for _ in range(steps):
        yield states
        masks = engine.legal_action_masks(states, table)
        if not masks.any():
            return
        # Drops would end most games at once: one in twenty is left.
        masks[:, engine.DROP] &= rng.random(games) < 0.05
        choices = (masks * rng.random(masks.shape)).argmax(axis=1)
        engine.apply_actions(states, np.where(masks.any(axis=1), choices, -1), table)


def movers(states: States) -> np.ndarray:
    """The seats to move, seat 0 where the deal is over."""
    return np.maximum(states["current_player"], 0)


def sampled_views(rules: RuleSet | str, games: int, seed: int = 0, every: int = 7) -> Views:
    """Views of every seat at regular steps of random games, one array."""
    table = as_rules(rules)
    chosen = [
        engine.player_views(states, np.full(games, seat))
        for step, states in enumerate(random_games(table, games, seed))
        if step % every == 0
        for seat in range(table.num_players)
    ]
    return np.concatenate(chosen)


def dealt(
    hands: Sequence[str],
    turned_up: str,
    indicator: str,
    stock: str = "",
    rules: RuleSet | str = "points",
    first: int = 0,
) -> States:
    """A deal with these hands, open card, indicator and the first closed cards; the rest in rising order."""
    table = as_rules(rules)
    seats = [[parse_card(card) for card in hand.split()] for hand in hands]
    around = [seats[(first + turn) % len(seats)][card] for card in range(table.hand_size) for turn in range(len(seats))]
    start = [*around, parse_card(turned_up), parse_card(indicator), *(parse_card(card) for card in stock.split())]
    rest = [face for face in range(53) for _ in range(table.copies(face) - start.count(face))]
    return engine.deal_from(table, start + rest, first)


def play(states: States, actions: str, rules: RuleSet | str = "points") -> States:
    """A copy of the deal after actions in words, separated by commas."""
    table = as_rules(rules)
    after = engine.copy(states)
    for word in actions.split(","):
        if word.strip():
            engine.apply_action(after, 0, engine.parse_action(word.strip()), table)
    return after


def relabelled(views: Views, permutation: Sequence[int]) -> Views:
    """The same views with suit ``s`` called ``permutation[s]`` everywhere."""
    faces = permute_faces(permutation)
    renamed = np.append(faces, np.arange(len(faces), 256))  # codes that are not faces stay
    after = views.copy()
    for name in ("hand", "known", "shown"):
        after[name][..., faces] = views[name]
    for name in ("indicator", "taken", "drawn", "pile"):
        after[name] = renamed[views[name]]
    for name in ("wild", "declarable"):
        after[name] = sum((views[name] >> face & 1) << int(faces[face]) for face in range(len(faces)))
    log = views["log"].astype(np.int64)
    seat, source, card = log >> LOG_SEAT_SHIFT, log >> LOG_SOURCE_SHIFT & LOG_FACE_MASK, log & LOG_FACE_MASK
    after["log"] = seat << LOG_SEAT_SHIFT | renamed[source] << LOG_SOURCE_SHIFT | renamed[card]
    return after
