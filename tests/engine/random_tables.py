"""Tables with options drawn at random, and decks that deal their seats hands worth finishing."""

from __future__ import annotations

from random import Random
from typing import Any, Final

from paplu_env.errors import InvalidRules
from paplu_env.rules import RuleSet

# What each option is drawn from: every value of a choice, the ends and the middle of a range.
VALUES: Final[dict[str, tuple[Any, ...]]] = {
    "num_players": (2, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10),
    "num_decks": (1, 2, 3),
    "printed_jokers": (0, 1, 2, 3, 9),
    "hand_size": (10, 13, 21),
    "printed_joker_indicator": ("aces", "twin", "redraw"),
    "indicator_first": (False, True),
    "wild_neighbours": (False, True),
    "open_joker": ("any", "first_turn", "never"),
    "block_taken_card": (False, True),
    "stock_out": ("void", "reshuffle_keep_top", "reshuffle_all"),
    "min_sequences": (0, 1, 2, 3),
    "min_pure_sequences": (0, 1, 2, 3),
    "min_naturals": (1, 2),
    "max_set_size": (None, 4),
    "tanala": (False, True),
    "special_hands": (False, True),
    "gate": ("lives", "all_or_nothing", "pure_opens_all", "every_meld"),
    "max_points": (1, 60, 80, 101, 255),
    "round_to": (0, 5),
    "drop_allowed": (False, True, True, True),
    "first_drop": (0, 10, 20, 25),
    "middle_drop": (20, 30, 40, 50),
    "first_drop_returns_cards": (False, True),
    "wrong_declare": ("masked", "allowed"),
    "wrong_declare_points": (60, 80, 120, 255),
    "half_rate": (False, True),
    "hand_rummy": (False, True),
    "paplu_wild": (False, True),
    "paplu_bonus": ("none", "held", "declared"),
    "loser_complete": (0, 1, 2),
    "full_count_if_never_drawn": (False, True),
    "direction": ("clockwise", "anticlockwise"),
    "max_turns": (1, 2, 7, 30, 60, 200, 250),
    "turn_limit_result": ("truncate", "lower_deadwood"),
}


def random_rules(random: Random, **fixed: Any) -> RuleSet:
    """A table with some options fixed and the others drawn, until they don't contradict each other."""
    while True:
        drawn = {name: random.choice(values) for name, values in VALUES.items() if random.random() < 0.5}
        try:
            return RuleSet(**{**drawn, **fixed})
        except InvalidRules:
            continue


def random_seats(rules: RuleSet, random: Random) -> list[int]:
    """Seats that are dealt in: all of them mostly, else two or more."""
    seats = list(range(rules.num_players))
    return seats if random.random() < 0.8 else sorted(random.sample(seats, random.randint(2, len(seats))))


def likely_deck(rules: RuleSet, seats: list[int], first: int, random: Random) -> list[int]:
    """A deck that deals most seats a hand that is complete or close to it."""
    left = [face for face in range(53) for _ in range(rules.copies(face))]
    random.shuffle(left)
    indicator = left.pop()
    hands = {seat: _likely_hand(rules.hand_size, left, random) if random.random() < 0.7 else [] for seat in seats}
    for hand in hands.values():
        while len(hand) < rules.hand_size:
            hand.append(left.pop())
        random.shuffle(hand)
    step = 1 if rules.direction == "clockwise" else -1
    order = [(first + step * turn) % rules.num_players for turn in range(rules.num_players)]
    dealt = [hands[seat][place] for place in range(rules.hand_size) for seat in order if seat in hands]
    return [indicator, *dealt, *left] if rules.indicator_first else [*dealt, left.pop(), indicator, *left]


def _likely_hand(size: int, left: list[int], random: Random) -> list[int]:
    """Cards taken from those left: runs and sets as long as they can be had, one card spoilt now and then."""
    hand: list[int] = []
    for tries in range(60):
        room = size - len(hand)
        length = room if room in (3, 4, 5) else random.choice((3, 3, 4))
        if room < 3:
            break
        suit, rank = random.randrange(4), random.randrange(13)
        if tries % 2 == 0 or random.random() < 0.3:
            group = [13 * suit + (rank + place) % 13 for place in range(length) if rank + place < 14]
        else:
            group = [13 * (suit + place) % 52 + rank for place in range(min(length, 4))]
        if len(group) == length and all(face in left for face in group) and room - length not in (1, 2):
            for face in group:
                left.remove(face)
            hand += group
    if hand and random.random() < 0.5:
        left.insert(random.randrange(len(left)), hand.pop())
    return hand
