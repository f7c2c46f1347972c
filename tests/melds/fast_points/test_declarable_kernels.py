"""The finish cards of fourteen: worked traps, each against the hand without it, and as plain Python."""

from __future__ import annotations

from random import Random

import pytest

from paplu_env.cards import JOKER_BIT, NUM_FACES, format_cards, format_hand, parse_hand, parse_rank, wild_of_rank
from paplu_env.melds.any_options.layout_search import declarable_general
from paplu_env.melds.fast_points.declarable_kernels import declarable_kernel, is_complete_kernel
from paplu_env.rules import RuleSet
from tests.melds.samples import KINDS, draw_hand, run_as_plain_python

RULES = RuleSet().packed[0]


@pytest.mark.parametrize(
    ("hand", "wild", "finishes"),
    [
        ("AS 2S 3S 4H 5H 6H 7H 9C 9D 9S KC KD KS 2D", "-", "2D"),
        ("AS 2S 3S 4H 5H 6H 7H 9C 9D 9S KC KD KS 9H", "-", "4H 7H 9S 9H 9D 9C"),
        # The joker is to spare, so that any card can go, in the pure sequence only one that it can do without.
        ("AS 2S 3S 4H 5H 6H 7H 9C 9D 9S KC KD KS PJ", "-", "AS 2S 3S 4H 5H 6H 7H 9S 9D 9C KS KD KC PJ"),
        ("AS 2S 3S 4H 6H 7H 9H JC JD JS PJ TD KC KS", "-", ""),
        # A wild five outside one pure sequence is inside another, and free all the same.
        ("8S 8S 5H 8H 8H 5D 6D 7D 8D 5C 8C 8C 9C PJ", "5", "8S 5H 8H 5D 8D 5C 8C 9C PJ"),
        ("7S 7S 7H 7H 7D 7D 7C 7C PJ PJ 2S 2H 2D 2C", "7", ""),  # no pure sequence
    ],
)
def test_finish_cards_of_worked_hands(hand: str, wild: str, finishes: str) -> None:
    found = declarable_kernel(parse_hand(hand), wild_of_rank(parse_rank(wild)), RULES)
    faces = [face for face in range(NUM_FACES) if int(found) >> face & 1]
    assert format_cards(faces).split() == format_hand(parse_hand(finishes)).split()


@pytest.mark.parametrize("kind", KINDS)
def test_a_finish_card_leaves_a_complete_hand_and_no_other_card_does(kind: str) -> None:
    rng = Random(f"declarable {kind}")
    for _ in range(400):
        counts, wild = draw_hand(rng, kind, 14)
        found = int(declarable_kernel(counts, wild, RULES))
        assert found == declarable_general(counts, wild, RULES), (format_hand(counts), wild)
        for face in range(NUM_FACES):
            complete = False
            if counts[face]:
                counts[face] -= 1
                complete = bool(is_complete_kernel(counts, wild, RULES))
                counts[face] += 1
            assert complete == bool(found >> face & 1), (format_hand(counts), wild, face)


def test_a_hand_of_wild_cards_alone_needs_a_pure_sequence() -> None:
    every_face = (1 << NUM_FACES) - 1
    without = parse_hand("AS AS 3S 3S 5S 5S 7S 7S 9S 9S JS JS KS")
    assert not is_complete_kernel(without, every_face, RULES)
    assert is_complete_kernel(parse_hand("AS 2S 3S 3S 5S 5S 7S 7S 9S 9S JS JS KS"), every_face, RULES)
    assert declarable_kernel(parse_hand("2S 3S 4S 6H 7H 8H 9H JC JD JS 2C 2D 2H PJ"), JOKER_BIT, RULES) >> 52 & 1


def test_compiled_and_plain_python_find_the_same_finish_cards() -> None:
    rng = Random("plain declarable")
    hands = [draw_hand(rng, kind, 13 + number % 2) for kind in KINDS for number in range(10)]
    assert run_as_plain_python(
        hands,
        """
        from paplu_env.melds.fast_points.declarable_kernels import declarable_kernel, is_complete_kernel
        from paplu_env.rules import RuleSet

        def answer(counts, wild):
            kernel = declarable_kernel if counts.sum() == 14 else is_complete_kernel
            return [kernel(counts, wild, RuleSet().packed[0])]
        """,
    )
