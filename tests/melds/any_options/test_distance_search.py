"""Distance under the options that change groups: worked hands, and how the options bound each other."""

from __future__ import annotations

import os
import subprocess
import sys
from random import Random

import numpy as np
import pytest

from paplu_env.cards import NUM_FACES, counts_of, format_hand, parse_hand, parse_rank, wild_of_rank
from paplu_env.melds.fast_distance.distance_kernels import discard_distances_kernel, distance_kernel
from paplu_env.melds.fast_distance.distance_table import distance_table
from paplu_env.melds.fast_distance.outs_kernels import discard_outs_kernel, outs_kernel
from paplu_env.rules import RuleSet, preset
from tests.melds.samples import KINDS, draw_hand, run_as_plain_python

OPTIONS = {
    "min_naturals": RuleSet(min_naturals=2),
    "two_pure": RuleSet(min_pure_sequences=2),
    "one_life": RuleSet(min_sequences=1),
    "one_life_small_sets": RuleSet(min_sequences=1, max_set_size=4),
    "three_packs": RuleSet(num_decks=3),
    "tanala": RuleSet(num_decks=3, tanala=True),
}


def distance(counts: np.ndarray, wild: int, rules: RuleSet) -> int:
    return int(distance_kernel(counts, wild, rules.packed[0], distance_table()))


@pytest.mark.parametrize(
    ("hand", "wild", "rules", "expected"),
    [
        ("4H 5H 6H 7H 8H 9H KS KH KD KC 2S 2H 2D", "-", RuleSet(min_pure_sequences=2), 0),
        ("4H 5H 6H 7S 8S PJ KS KH KD KC 2S 2H 2D", "-", RuleSet(min_pure_sequences=2), 1),
        ("4H 5H 6H 7S 8S PJ KS PJ JD JC 2S 2H 2D", "-", RuleSet(), 1),
        ("4H 5H 6H 8S 9S TS KC PJ 3D 2C 2S 2H 2D", "3", RuleSet(), 0),
        ("4H 5H 6H 8S 9S TS KC PJ 3D 2C 2S 2H 2D", "3", RuleSet(min_naturals=2), 1),
        ("4H 5H 6H KS KH KD 2S 2H 2D 2C 9S 9H 9D", "-", RuleSet(min_sequences=1), 0),
        ("4H 5H 6H KS KH KD 2S 2H 2D 2C 9S 9H 9D", "-", RuleSet(), 2),
        ("9S 9S 9S 4H 5H PJ KS KH KD KC 2S 2H 2D", "-", RuleSet(num_decks=3, tanala=True), 0),
        ("9S 9S 9S 4H 5H PJ KS KH KD KC 2S 2H 2D", "-", RuleSet(num_decks=3), 2),
        ("4H 5H 6H KS KH KD 2S 2H 2D 2C", "-", preset("ten_card"), 0),
        # Runs of five beside a third sequence would be more than ten places.
        ("9D PJ PJ KD KC JC 9S 9C 9H 9H", "2", preset("ten_card", min_sequences=3), 4),
        ("2H AC 3H AD 5S 4C 5D AS 5C 3D", "2", preset("ten_card", min_sequences=3), 4),
        ("AS JH 5S 5S 3H 6S 8D 9C 5D QC 4D QD 9S", "7", preset("points", min_sequences=3), 6),
        ("9S 9S 9S 4H 4H 4H KS KS KS 2C 4C 6C 8C TC QC 2D 4D 6D 8D TD QD", "-", preset("rummy_21"), 0),
        # Three pure sequences and four sets of three: no groups among them have thirteen places together.
        ("7H 8H 9H 6S 7S 8S 6C 7C 8C TS TD TC 8S 8H 8D 5S 5H 5D 4H 4D 4C", "A", preset("rummy_21"), 0),
        ("9S 9S 4H 4H KS KS 2C 2C 8C 8C TC TC QD QD 5D 6S 3H 7C AS JH 3D", "-", preset("rummy_21"), 1),
        ("PJ PJ PJ 7S 7H 7D 9C 2C 4C 6S JC QC 2D 4D 6H 8D TD QD KS 3S 5H", "7", preset("rummy_21"), 2),
    ],
)
def test_distance_of_worked_hands(hand: str, wild: str, rules: RuleSet, expected: int) -> None:
    assert distance(parse_hand(hand), wild_of_rank(parse_rank(wild)), rules) == expected


@pytest.mark.parametrize("name", OPTIONS)
def test_discards_and_outs_are_those_of_the_single_hands(name: str) -> None:
    rules = OPTIONS[name]
    record, table = rules.packed[0], distance_table()
    rng = Random(f"options {name}")
    distances, totals, found = (np.zeros(NUM_FACES, dtype=np.uint8) for _ in range(3))
    for number in range(60):
        counts, wild = draw_hand(rng, KINDS[number % len(KINDS)], 14)
        unseen = (rules.num_decks - np.minimum(counts, rules.num_decks)).astype(np.uint8)
        lowest = discard_outs_kernel(counts, wild, unseen, record, table, distances, totals)
        assert lowest == discard_distances_kernel(counts, wild, record, table, found)
        assert np.array_equal(distances, found)
        face = int(rng.choice(np.flatnonzero(counts)))
        counts[face] -= 1
        assert distances[face] == distance(counts, wild, rules), (format_hand(counts), wild)
        outs_kernel(counts, wild, unseen, record, table, found)
        if distances[face] == lowest:
            assert totals[face] == found.sum()
        for drawn in rng.sample(range(NUM_FACES), 8):
            if unseen[drawn]:
                counts[drawn] += 1
                nearer = distance(counts, wild, rules) < distances[face]
                counts[drawn] -= 1
                assert found[drawn] == (unseen[drawn] if nearer else 0), (format_hand(counts), wild, drawn)


@pytest.mark.parametrize("kind", KINDS)
def test_stricter_rules_are_never_nearer(kind: str) -> None:
    rng = Random(f"stricter {kind}")
    for _ in range(100):
        counts, wild = draw_hand(rng, kind, 13)
        plain = distance(counts, wild, RuleSet())
        assert distance(counts, wild, RuleSet(max_set_size=4)) == plain
        assert distance(counts, wild, RuleSet(min_sequences=1)) <= plain
        assert distance(counts, wild, RuleSet(min_naturals=2)) >= plain
        assert distance(counts, wild, RuleSet(min_pure_sequences=2)) >= plain
        assert distance(counts, wild, RuleSet(num_decks=3, tanala=True)) <= plain
        assert distance(counts, wild, RuleSet(num_decks=3)) == plain


def test_a_hand_of_21_cards_and_one_more_has_the_distance_of_its_best_discard() -> None:
    rng = Random("21 cards")
    rules = preset("rummy_21")
    pack = [face for face in range(NUM_FACES) for _ in range(3)]
    out = np.zeros(NUM_FACES, dtype=np.uint8)
    for _ in range(5):
        counts = counts_of(rng.sample(pack, 22))
        wild = rules.wild_of(rng.randrange(52))
        lowest = discard_distances_kernel(counts, wild, rules.packed[0], distance_table(), out)
        assert lowest == distance(counts, wild, rules), (format_hand(counts), wild)


def test_compiled_and_plain_python_give_the_same_distances() -> None:
    rng = Random("plain general")
    assert run_as_plain_python(
        [draw_hand(rng, kind, 13) for kind in KINDS for _ in range(3)],
        """
        from paplu_env.melds.fast_distance.distance_kernels import distance_kernel
        from paplu_env.melds.fast_distance.distance_table import distance_table
        from paplu_env.rules import RuleSet

        OPTIONS = (
            RuleSet(min_naturals=2),
            RuleSet(min_pure_sequences=2),
            RuleSet(min_sequences=1),
            RuleSet(num_decks=3, tanala=True),
        )

        def answer(counts, wild):
            return [distance_kernel(counts, wild, rules.packed[0], distance_table()) for rules in OPTIONS]
        """,
    )


def test_kernels_read_back_from_the_cache_work(tmp_path: os.PathLike[str]) -> None:
    program = (
        "from paplu_env.cards import parse_hand\n"
        "from paplu_env.melds.fast_distance.distance_kernels import distance_kernel\n"
        "from paplu_env.melds.fast_distance.distance_table import distance_table\n"
        "from paplu_env.rules import RuleSet\n"
        "hand = parse_hand('4H 5H 6H KS KH KD 2S 2H 2D 2C 9S 9H 9D')\n"
        "options = (RuleSet(), RuleSet(min_sequences=1), RuleSet(min_naturals=2), RuleSet(min_pure_sequences=2))\n"
        "print([distance_kernel(hand, 1 << 52, rules.packed[0], distance_table()) for rules in options])\n"
    )
    # What the compiler leaves behind in one process, the next has to run without the parts that it doesn't load.
    for _process in range(2):
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PAPLU_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout.strip()) == (0, "[2, 0, 2, 2]"), done.stderr
