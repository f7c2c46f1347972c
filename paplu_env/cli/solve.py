"""``paplu solve HAND``: the best arrangement, what it leaves, what is missing, and what to throw."""

from __future__ import annotations

import argparse
import dataclasses
import textwrap
from collections.abc import Iterable
from typing import Any, Final, get_args

import numpy as np

from paplu_env import melds
from paplu_env.cards import (
    NUM_FACES,
    PRINTED_JOKER,
    Counts,
    format_card,
    parse_card,
    parse_hand,
    parse_rank,
    wild_of_rank,
)
from paplu_env.cli.options import add_json, add_rules, format_table, need, print_json
from paplu_env.errors import InvalidHand, InvalidRules
from paplu_env.melds.arrangement import Arrangement
from paplu_env.melds.groups import (
    PURE_KINDS,
    SEQUENCE_KINDS,
    SPECIAL_DUBLEES,
    SPECIAL_TUNNELAS,
    SPECIAL_WILDS,
)
from paplu_env.rules import Gate, RuleSet, as_rules

EXAMPLES = """\
Outs are the cards that bring the hand closer, by the copies that the hand and the
indicator leave unseen. A hand with one card more is shown with its discards, the
best first: closest, then most outs, then fewest points.

examples:
  paplu solve "AS 2S 3S 5H 6H PJ 9C 9D KS KH 4D 7C 8C" --wild 7
  paplu solve "4S 5S 6S 8H 9H TH 7C 7D 7H KS KH KD KC 2D" --indicator 3C --json
  paplu solve "4S 5S 6S 7H 7D 7C KS KH KD 2S" --rules ten_card"""

_WIDTH: Final = 80  # columns of a narrow terminal
_LABEL: Final = 17  # columns of what a line is about


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("hand", help="the cards, as in 'AS 2S 10H PJ': a whole hand, or one more to throw a card")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--wild", metavar="RANK", help="the wild rank, A 2 … 9 T J Q K or none (default: none)")
    which.add_argument("--indicator", metavar="CARD", help="the indicator, from which the wild cards follow")
    add_rules(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    rules = as_rules(options.rules)
    hand = parse_hand(options.hand)
    size = int(hand.sum())
    need(size in (rules.hand_size, rules.hand_size + 1), _wrong_size(size, rules))
    wild = wild_of_rank(-1)
    unseen = np.array([rules.copies(face) for face in range(NUM_FACES)]) - hand
    if options.indicator is not None:
        indicator = parse_card(options.indicator)
        wild = rules.wild_of(indicator)
        unseen[indicator] -= 1
        if unseen[indicator] < 0:
            raise InvalidHand(f"{format_card(indicator)} is the indicator: the hand holds more copies than are left")
    elif options.wild is not None:
        wild = wild_of_rank(parse_rank(options.wild))
    answer = solve(hand, wild, np.maximum(unseen, 0).astype(np.uint8), rules)
    if options.json:
        print_json(answer)
    else:
        _print(answer)
    return 0


def solve(hand: Counts, wild: int, unseen: Counts, rules: RuleSet) -> dict[str, Any]:
    """Everything that the solver says of a hand, as plain data.

    Args:
        hand: ``(53,)`` uint8, ``rules.hand_size`` cards or one more.
        wild: bitmask of wild faces.
        unseen: copies of each face that may still come, ``(53,)`` uint8.
    """
    arrangement = melds.arrange(hand, wild, rules)
    distance = melds.distance(hand, wild, rules)
    answer: dict[str, Any] = {
        "rules": str(rules),
        "wild": [format_card(face) for face in range(NUM_FACES) if wild >> face & 1],
        "melds": [{"kind": str(meld.kind), "cards": meld.cards} for meld in arrangement.melds],
        "leftovers": [format_card(face) for face in arrangement.leftovers],
        "deadwood": arrangement.deadwood,
        "points": arrangement.points,
        "points_by_gate": _points_by_gate(hand, wild, rules),
        "complete": arrangement.complete,
        "distance": distance,
        "missing": _missing(arrangement, rules) if distance else [],
    }
    if rules.special_hands:
        answer["special_hands"] = _special_hands(hand, wild)
    if int(hand.sum()) == rules.hand_size:
        answer["outs"] = _outs(hand, wild, unseen, rules)
        return answer
    finishes = melds.declarable(hand, wild, rules)
    answer["declarable"] = [format_card(face) for face in range(NUM_FACES) if finishes[face]]
    answer["discards"] = _discards(hand, wild, unseen, rules)
    return answer


def _points_by_gate(hand: Counts, wild: int, rules: RuleSet) -> dict[str, int]:
    """What a loser pays under every gate that goes with the other options."""
    points = {}
    for gate in get_args(Gate):
        try:
            points[gate] = melds.points(hand, wild, dataclasses.replace(rules, gate=gate))
        except InvalidRules:  # no pure sequence is asked for that could open the others
            continue
    return points


def _missing(arrangement: Arrangement, rules: RuleSet) -> list[str]:
    """What the best arrangement lacks for a declaration."""
    kinds = [meld.kind for meld in arrangement.melds]
    pure = sum(kind in PURE_KINDS for kind in kinds)
    sequences = sum(kind in SEQUENCE_KINDS for kind in kinds)
    missing = []
    if pure < rules.min_pure_sequences:
        missing.append(f"pure sequences: {pure} of {rules.min_pure_sequences}")
    if sequences < rules.min_sequences > rules.min_pure_sequences:
        missing.append(f"sequences: {sequences} of {rules.min_sequences}")
    if arrangement.leftovers:
        missing.append(f"cards in no group: {len(arrangement.leftovers)}")
    return missing


def _special_hands(hand: Counts, wild: int) -> dict[str, list[int]]:
    """How many of the groups of every special hand are held, and how many are needed."""
    standard = hand[:PRINTED_JOKER]
    return {
        "tunnelas": [int((standard // 3).sum()), SPECIAL_TUNNELAS],
        "dublees": [int((standard // 2).sum()), SPECIAL_DUBLEES],
        "wild cards": [sum(int(hand[face]) for face in range(NUM_FACES) if wild >> face & 1), SPECIAL_WILDS],
    }


def _outs(hand: Counts, wild: int, unseen: Counts, rules: RuleSet) -> dict[str, int]:
    """Copies left of every card that brings the hand closer, by card."""
    outs = melds.outs(hand, wild, unseen, rules)
    return {format_card(face): int(outs[face]) for face in range(NUM_FACES) if outs[face]}


def _discards(hand: Counts, wild: int, unseen: Counts, rules: RuleSet) -> list[dict[str, Any]]:
    """What each discard leaves, the best first: lowest distance, then most outs, then fewest points."""
    found = []
    for face in np.flatnonzero(hand).tolist():
        rest = hand.copy()
        rest[face] -= 1
        found.append(
            {
                "discard": format_card(face),
                "distance": melds.distance(rest, wild, rules),
                "outs": sum(_outs(rest, wild, unseen, rules).values()),
                "points": melds.points(rest, wild, rules),
                "deadwood": melds.deadwood(rest, wild, rules),
            }
        )
    return sorted(found, key=lambda row: (row["distance"], -row["outs"], row["points"], row["deadwood"]))


def _wrong_size(size: int, rules: RuleSet) -> str:
    return f"{size} cards: {rules.hand_size} are a hand of {rules}, {rules.hand_size + 1} a hand with one to throw"


def _print(answer: dict[str, Any]) -> None:
    """The answer in words, in the order in which one asks: what lies there, what it costs, what it lacks."""
    _line("rules", [answer["rules"]])
    _line("wild", answer["wild"])
    print()
    for meld in answer["melds"]:
        _line(meld["kind"], meld["cards"])
    if answer["leftovers"]:
        _line("left over", [*answer["leftovers"], f"({answer['deadwood']} points)"])
    print()
    _line("a loser pays", [f"{answer['points']}"])
    gates = answer["points_by_gate"]
    _line("by gate", [f"{gate} {points}" for gate, points in gates.items()], between=", ")
    distance = answer["distance"]
    _line("distance", ["complete" if distance == 0 else f"{distance} card{'s' if distance > 1 else ''} from complete"])
    if answer["missing"]:
        _line("missing", answer["missing"], between=", ")
    if "special_hands" in answer:
        held = [f"{name} {number} of {wanted}" for name, (number, wanted) in answer["special_hands"].items()]
        _line("special hands", held, between=", ")
    if "outs" in answer:
        _print_outs(answer["outs"])
    else:
        finishes = answer["declarable"]
        _line("declare", [f"with {' or '.join(finishes)}" if finishes else "not yet"])
        rows = [[str(row[name]) for name in row] for row in answer["discards"]]
        print("\n" + format_table(rows, list(answer["discards"][0]), right=(1, 2, 3, 4)))


def _print_outs(outs: dict[str, int]) -> None:
    """The outs, those with most copies left first."""
    if outs:
        _line("outs", [f"{sum(outs.values())} unseen cards bring it closer"])
    for copies in sorted(set(outs.values()), reverse=True):
        _line(f"  {copies} left", [card for card, left in outs.items() if left == copies])


def _line(label: str, words: Iterable[str], between: str = " ") -> None:
    """A labelled line; what doesn't fit goes below, between two words."""
    print(
        textwrap.fill(
            between.join(words),
            _WIDTH,
            initial_indent=f"{label:<{_LABEL}}",
            subsequent_indent=" " * _LABEL,
            break_long_words=False,
            break_on_hyphens=False,
        )
    )
