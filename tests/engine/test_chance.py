"""SplitMix64, the shuffle and keys, against the same in a few lines of plain integers."""

import hashlib
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from paplu_env.engine import chance

MASK = (1 << 64) - 1
SEEDS = (0, 1, 1234567, 0x9E3779B97F4A7C15, MASK - 1, MASK)


def outputs(state: int) -> Iterator[int]:
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        yield z ^ z >> 31


def below(stream: Iterator[int], n: int) -> int:
    while True:
        product = (next(stream) >> 32) * n
        if product % 2**32 >= 2**32 % n:
            return product >> 32


def test_first_output_is_the_published_one() -> None:
    # The reference implementation at https://prng.di.unimi.it/splitmix64.c with seed 0.
    assert int(chance.splitmix64(np.uint64(0))) == 0xE220A8397B1DCDAF


@pytest.mark.parametrize("seed", SEEDS)
def test_splitmix64_is_exact_on_64_bits(seed: int) -> None:
    assert int(chance.splitmix64(np.uint64(seed))) == next(outputs(seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_shuffle_is_the_one_written_down(seed: int) -> None:
    cards = np.arange(165, dtype=np.uint8)
    expected = list(range(165))
    stream = outputs(seed)
    for place in range(158, 0, -1):
        other = below(stream, place + 1)
        expected[place], expected[other] = expected[other], expected[place]
    chance.shuffle(cards, 159, np.uint64(seed))
    assert cards.tolist() == expected


def test_rejected_outputs_are_skipped() -> None:
    # Just above 2**30 a quarter of all outputs is refused: without that, low numbers would come more often.
    n = (1 << 30) + 1
    state, stream = 5, outputs(5)
    for _ in range(200):
        state, number = chance.draw_below(np.uint64(state), n)
        assert number == below(stream, n)


def test_all_numbers_below_n_are_equally_likely() -> None:
    keys = chance.keys_for(1, np.arange(70_000), 0, 0)
    counts = Counter(int(chance.below(key, 7)) for key in keys)
    assert sorted(counts) == list(range(7))
    assert sum((count - 10_000) ** 2 / 10_000 for count in counts.values()) < 22.5  # chi-square, 6 df, p = 0.001


def test_keys_depend_on_every_part_and_on_their_order() -> None:
    keys = {
        int(chance.keys_for(seed, deal, seat, decision)[0])
        for seed in range(4)
        for deal in range(4)
        for seat in range(4)
        for decision in range(4)
    }
    assert len(keys) == 4**4


def test_keys_of_a_batch_are_the_keys_of_its_rows() -> None:
    batch = chance.keys_for(9, np.arange(5), [0, 1, 0, 1, 0], 3)
    assert batch.dtype == np.uint64
    assert [int(chance.keys_for(9, i, i % 2, 3)[0]) for i in range(5)] == batch.tolist()


def test_purposes_have_numbers_of_their_own_that_stay() -> None:
    numbers = {purpose.name: int(purpose) for purpose in chance.Purpose}
    assert len(set(numbers.values())) == len(chance.Purpose.__members__)  # no two names of one number
    assert numbers == {
        "NEXT_SHUFFLE": 1,
        "TURNS_PLAYED_OVER": 2,
        "LEARNER_SEAT": 101,
        "LINE_UP": 102,
        "SERIES_DEAL": 2**32,
    }
    assert [int(choice) for choice in chance.Choice] == [0, 1]


def test_keys_of_decisions_are_hashes_of_seed_deal_seat_and_number() -> None:
    keys = chance.decision_keys(9, [0, 1, 2], [0, 1, 0], [3, 4, 4], [0, 1, 0])
    for key, deal, seat, draws, phase in zip(keys, (0, 1, 2), (0, 1, 0), (3, 4, 4), (0, 1, 0), strict=True):
        assert key == chance.keys_for(9, deal, seat, 2 * draws + phase)[0]


def test_the_policies_seed_is_a_hash_written_down_to_the_byte() -> None:
    text = b"paplu-env: the seed of the policies of 2026"
    assert chance.policy_seed_of(2026) == int.from_bytes(hashlib.sha256(text).digest()[:8], "big")
    assert len({chance.policy_seed_of(seed) for seed in range(1000)}) == 1000
