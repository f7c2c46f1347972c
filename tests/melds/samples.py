"""Hands for the tests of the kernels, and a way to run a kernel both compiled and as plain Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from random import Random

import numpy as np

from paplu_env.cards import JOKER_BIT, NUM_FACES, PRINTED_JOKER, Counts, counts_of, wild_of_rank

KINDS = ("random", "dense", "wild_heavy", "near_complete", "odd_wilds")


def draw_hand(rng: Random, kind: str, size: int) -> tuple[Counts, int]:
    """A hand of two packs, and a wild mask: of a rank, or under ``odd_wilds`` of any faces."""
    wild = wild_of_rank(rng.randrange(-1, 13))
    if kind == "odd_wilds":
        wild = JOKER_BIT | sum(1 << face for face in rng.sample(range(52), rng.randrange(9)))
    pack = [face for face in range(NUM_FACES) for _ in range(2)]
    if kind == "dense":
        lowest = rng.randrange(13)
        near = [face for face in pack if face == PRINTED_JOKER or (face % 13 - lowest) % 13 < 5]
        return counts_of(rng.sample(near, size)), wild
    if kind == "wild_heavy":
        held = rng.sample([face for face in pack if wild >> face & 1], rng.randint(2, 2 if wild == JOKER_BIT else 8))
        others = [face for face in pack if not wild >> face & 1]
        return counts_of(held + rng.sample(others, size - len(held))), wild
    if kind == "near_complete":
        return _near_complete(rng, pack, size), wild
    return counts_of(rng.sample(pack, size)), wild


def _near_complete(rng: Random, pack: list[int], size: int) -> Counts:
    """A complete hand of thirteen without wild cards, up to two cards of it replaced."""
    while True:
        cards: list[int] = []
        for number, length in enumerate(rng.choice(((3, 3, 3, 4), (4, 3, 3, 3), (5, 4, 4), (4, 5, 4), (3, 5, 5)))):
            if number < 2 or length > 4 or rng.random() < 0.5:
                first, suit = rng.randrange(15 - length), rng.randrange(4)
                cards += [13 * suit + (first + step) % 13 for step in range(length)]
            else:
                rank = rng.randrange(13)
                cards += [13 * suit + rank for suit in rng.sample(range(4), length)]
        if max(cards.count(card) for card in cards) <= 2:
            break
    left = list(pack)
    for card in cards:
        left.remove(card)
    rng.shuffle(left)
    for place in rng.sample(range(13), rng.randrange(3)):
        cards[place] = left.pop()
    return counts_of((cards + left)[:size])


def run_as_plain_python(hands: list[tuple[Counts, int]], source: str) -> bool:
    """Whether ``answer(counts, wild)``, defined by the source, is the same where nothing is compiled."""
    source = textwrap.dedent(source)
    program = (
        "import json, sys\nimport numpy as np\nnp.seterr(all='raise')\n"
        + source
        + "\nhands = json.load(sys.stdin)\n"
        + "print(json.dumps([[int(x) for x in answer(np.array(c, dtype=np.uint8), w)] for c, w in hands]))\n"
    )
    given = json.dumps([(counts.tolist(), wild) for counts, wild in hands])
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], input=given, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    names: dict[str, object] = {"np": np}
    exec(source, names)
    answer = names["answer"]
    compiled = [[int(x) for x in answer(counts, wild)] for counts, wild in hands]  # type: ignore[operator]
    return compiled == json.loads(done.stdout)
