"""The file by which an encoder in another language is checked.

The first line of the file says what the others are of. Each of these is one decision: the events that a seat has
seen (see `bots.table.events`), the observation that follows (indices and values of the entries that are not 0), the
actions that are legal, and the one that the bot chooses.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env import encoding as encodings
from paplu_env import engine
from paplu_env.bots import Policy, Seat, make_policy
from paplu_env.bots.policy import decision_keys
from paplu_env.bots.table.events import Event, events_after, opening_event
from paplu_env.engine.actions import NUM_ACTIONS
from paplu_env.engine.chance import below, keys_for
from paplu_env.errors import PapluError
from paplu_env.files import write_atomically

FORMAT: Final = "paplu-vectors-1"
ENCODING: Final = "cards-v1"  # the one that needs no solver
COUNT: Final = 1_000
SEED: Final = 2026
# Who plays the deals, in turn: between them they drop, take, throw what nobody wants, and go on for long. None of
# them changes with a later fit, so that the file is made again as it was.
_PLAYERS: Final = (("medium-1", "hard-1"), ("easy-1", "minscore"), ("mindist", "random"), ("hard-1", "easy-1"))
_PER_DEAL: Final = 2  # decisions taken of each deal: more would repeat its events too often
_CHOICE_SEAT: Final = 254  # keys of this choice: no table has a seat of this number


def make_vectors(bot: Policy, count: int = COUNT, seed: int = SEED) -> Iterator[dict[str, Any]]:
    """The values of each line after the first.

    Args:
        bot: whose actions are told; it must play a table for two.
        count: how many.
        seed: of the deals, of the choice of decisions and of the bot, as in a match.
    """
    made = number = 0
    while made < count:
        decisions = list(_decisions(bot, number, seed))
        for place in _choose(len(decisions), number, seed)[: count - made]:
            yield decisions[place]
            made += 1
        number += 1


def header(bot: Policy, count: int, seed: int) -> dict[str, Any]:
    """The values of the first line."""
    return {
        "format": FORMAT,
        "rules": str(bot.rules),
        "options": bot.rules.to_dict(),
        "encoding": ENCODING,
        "num_features": encodings.by_name(ENCODING).num_features(bot.rules),
        "num_actions": NUM_ACTIONS,
        "bot": bot.name,
        "seed": seed,
        "vectors": count,
    }


def write_vectors(path: Path, bot: Policy, count: int = COUNT, seed: int = SEED) -> None:
    """Write the file, whole or not at all.

    Raises:
        PapluError: it can't be written, or the bot plays no table for two.
    """
    if bot.rules.num_players != 2:
        raise PapluError(f"{bot.name} plays {bot.rules}: vectors are of tables for two")
    lines = [header(bot, count, seed), *make_vectors(bot, count, seed)]
    write_atomically(path, "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines).encode())


def _decisions(bot: Policy, number: int, seed: int) -> Iterator[dict[str, Any]]:
    """Every decision of one seat in one deal, with all that it has seen before."""
    rules, coder = bot.rules, encodings.by_name(ENCODING)
    players = [make_policy(name, rules) for name in _PLAYERS[number % len(_PLAYERS)]]
    place = number // len(_PLAYERS) % 2
    states = engine.deal(rules, int(keys_for(seed, number, _CHOICE_SEAT, 0)[0]), first=number % 2)
    seat = Seat(bot, rules, place, seed)
    view = engine.player_view(states, 0, place)
    events = [opening_event(view, number)]
    seat.see(events[0])
    while not engine.is_over(states, 0):
        if seat.is_to_move:
            yield _vector(events, coder.encode(seat.view, rules)[0], seat)
        mover = int(states["current_player"][0])
        of_mover = engine.player_view(states, 0, mover)
        masks = engine.legal_action_masks(states, rules)
        action = int(players[mover].act(of_mover, masks, decision_keys(seed, [number], of_mover))[0])
        engine.apply_action(states, 0, action, rules)
        after = engine.player_view(states, 0, place)
        for event in events_after(view, action, after):
            events.append(event)
            seat.see(event)
        view = after


def _vector(events: list[Event], observation: npt.NDArray[np.float32], seat: Seat) -> dict[str, Any]:
    indices = np.flatnonzero(observation)
    return {
        "events": events.copy(),
        "indices": indices.tolist(),
        # The shortest text that is this float32 again, as 0.6 and not 0.60000002384185791.
        "values": [float(str(value)) for value in observation[indices]],
        "legal": np.flatnonzero(seat.mask()[0]).tolist(),
        "action": seat.decide(),
    }


def _choose(decisions: int, number: int, seed: int) -> list[int]:
    """Which decisions of a deal are taken: the last, by which many a deal is declared, and others by chance."""
    chosen = {decisions - 1} if decisions else set()
    for key in keys_for(seed, number, _CHOICE_SEAT, np.arange(1, min(_PER_DEAL, decisions))):
        chosen.add(below(key, decisions))
    return sorted(chosen)
