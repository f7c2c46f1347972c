"""``paplu solve HAND``: the best arrangement, what it leaves, what is missing, and what to throw."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from paplu_env import melds
from paplu_env.cards import NUM_FACES, Counts, format_card, parse_card, parse_hand, parse_rank, wild_of_rank
from paplu_env.cli.options import add_json, add_rules, format_table, need, print_json
from paplu_env.errors import InvalidHand
from paplu_env.rules import RuleSet, as_rules

EXAMPLES = """\
Outs are counted over the copies that the hand and the indicator leave unseen.

examples:
  paplu solve "AS 2S 3S 5H 6H PJ 9C 9D KS KH 4D 7C 8C" --wild 7
  paplu solve "4S 5S 6S 8H 9H TH 7C 7D 7H KS KH KD KC 2D" --indicator 3C --json"""


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
    if options.indicator:
        indicator = parse_card(options.indicator)
        wild = rules.wild_of(indicator)
        unseen[indicator] -= 1
        if unseen[indicator] < 0:
            raise InvalidHand(f"{format_card(indicator)} is the indicator: the hand holds more copies than are left")
    elif options.wild:
        wild = wild_of_rank(parse_rank(options.wild))
    answer = solve(hand, wild, np.maximum(unseen, 0).astype(np.uint8), rules)
    if options.json:
        print_json(answer)
    else:
        _print(answer, rules)
    return 0


def solve(hand: Counts, wild: int, unseen: Counts, rules: RuleSet) -> dict[str, Any]:
    """Everything that the solver says of a hand, as plain data.

    Args:
        hand: ``(53,)`` uint8, ``rules.hand_size`` cards or one more.
        wild: bitmask of wild faces.
        unseen: copies of each face that may still come, ``(53,)`` uint8.
    """
    arrangement = melds.arrange(hand, wild, rules)
    answer: dict[str, Any] = {
        "rules": str(rules),
        "wild": [format_card(face) for face in range(NUM_FACES) if wild >> face & 1],
        "melds": [{"kind": str(meld.kind), "cards": meld.cards} for meld in arrangement.melds],
        "leftovers": [format_card(face) for face in arrangement.leftovers],
        "deadwood": arrangement.deadwood,
        "points": arrangement.points,
        "complete": arrangement.complete,
        "distance": melds.distance(hand, wild, rules),
    }
    if int(hand.sum()) == rules.hand_size:
        answer["outs"] = _outs(hand, wild, unseen, rules)
        return answer
    finishes = melds.declarable(hand, wild, rules)
    answer["declarable"] = [format_card(face) for face in range(NUM_FACES) if finishes[face]]
    answer["discards"] = _discards(hand, wild, unseen, rules)
    return answer


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


def _print(answer: dict[str, Any], rules: RuleSet) -> None:
    print(f"{'wild':<16} {' '.join(answer['wild'])}")
    for meld in answer["melds"]:
        print(f"{meld['kind']:<16} {' '.join(meld['cards'])}")
    if answer["leftovers"]:
        print(f"{'left over':<16} {' '.join(answer['leftovers'])}")
    print(f"\ndeadwood {answer['deadwood']}, a loser pays {answer['points']}")
    distance = answer["distance"]
    print("complete" if distance == 0 else f"{distance} card{'s' if distance > 1 else ''} from complete")
    if "outs" in answer and distance:
        outs = answer["outs"]
        print(f"{sum(outs.values())} outs: " + ", ".join(f"{card}×{copies}" for card, copies in outs.items()))
    if "declarable" in answer:
        finishes = answer["declarable"]
        print(f"declare with {' or '.join(finishes)}" if finishes else "cannot be declared")
        rows = [[str(row[name]) for name in row] for row in answer["discards"]]
        print("\n" + format_table(rows, list(answer["discards"][0]), right=(1, 2, 3, 4)))
