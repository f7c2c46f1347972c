"""The study's agents as coded: with every switch off they are ours, and the search keeps the order that it claims."""

from __future__ import annotations

import functools
from itertools import combinations

import numpy as np
import pytest

from paplu_env.bots import make_policy
from paplu_env.cards import parse_card, wild_of_rank
from paplu_env.errors import PapluError
from paplu_env.evaluation import play_games
from training.studies.saha2025 import agents
from training.studies.saha2025.first_arrangement import SCRATCH_DTYPE, first_arrangement
from training.studies.saha2025.table import play_study


@pytest.mark.parametrize("drops", [False, True])
@pytest.mark.parametrize(("a", "b"), [("mindist_opp", "minscore"), ("mindist", "mindist_minscore")])
def test_with_every_switch_off_the_games_are_those_of_the_legal_bots_card_by_card(a, b, drops):
    rules = "saha2025" if drops else "saha2025:drop_allowed=false"
    legal = play_games([make_policy(a, rules), make_policy(b, rules)], 150, 5, 512, luck=False)
    games = play_study(a, b, 150, 5, drops, switches=0)
    for field in ("deal", "rotation", "first", "winner", "finisher", "ending", "turns", "returns"):
        assert np.array_equal(games[field], legal[field]), field


def is_group(faces: tuple[int, ...], blanks: int, wild: int, kind: str) -> bool:
    """By definition: the naturals stand in a run or a set that the others fill up."""
    size = len(faces) + blanks
    naturals = [face for face in faces if kind == "pure" or not wild >> face & 1]
    if kind == "pure" and 52 in faces:
        return False
    if kind == "set":
        return len({face % 13 for face in naturals}) <= 1 and len(set(naturals)) == len(naturals)
    if len({face // 13 for face in naturals}) > 1 or len(set(naturals)) < len(naturals):
        return False
    ranks = {face % 13 for face in naturals}
    runs = [{place % 13 for place in range(start, start + size)} for start in range(14 - size + 1)]
    return any(ranks <= run for run in runs)


def slow_first(cards: list[int], blanks: int, wild: int) -> int:
    """The places left over, by trying subsets in the order of their binary numbers."""
    held = [*cards, *[None] * blanks]
    groups = []
    for mask in range(1, 1 << len(held)):
        places = [place for place in range(len(held)) if mask >> place & 1]
        faces = tuple(held[place] for place in places if held[place] is not None)
        if 3 <= len(places) <= 5:
            kinds = [k for k in ("pure", "run", "set") if is_group(faces, len(places) - len(faces), wild, k)]
            groups += [(mask, kinds)] if kinds else []

    @functools.cache
    def best(left: int, number: int) -> tuple[int, int]:
        """Fewest cards left over, and what they are when the first fitting groups are taken."""
        found = (left.bit_count(), left)
        for mask, kinds in groups:
            if (
                number < 4
                and not mask & ~left
                and {0: "pure" in kinds, 1: bool({"pure", "run"} & set(kinds))}.get(number, True)
            ):
                deeper = best(left & ~mask, number + 1)
                if deeper[0] < found[0]:
                    found = deeper
        return found

    return best((1 << len(held)) - 1, 0)[1] & (1 << len(cards)) - 1


@pytest.mark.parametrize("blanks", [0, 1, 2])
def test_the_search_meets_the_arrangement_that_trying_every_subset_in_order_meets(blanks):
    scratch = np.zeros(1, dtype=SCRATCH_DTYPE)
    generator = np.random.default_rng(blanks)
    grouped = 0
    for _ in range(25):
        # Two suits and few ranks, so that there are many arrangements to choose from.
        faces = [13 * suit + rank for suit in (0, 1) for rank in (0, 1, 2, 3, 11, 12)] * 2 + [52]
        cards = generator.permutation(faces)[:9].tolist()
        wild = wild_of_rank(3)
        expected = slow_first(cards, blanks, wild)
        target = expected.bit_count()
        found = first_arrangement(np.array([*cards, 0, 0, 0, 0, 0]), 9, wild, blanks, 0, target, scratch[0])
        assert found == expected, cards
        grouped += target < 9
    assert grouped > 15


def test_natural_runs_stay_together_and_the_newest_card_is_left():
    hand = "4S 5S 6S 8H 9H TH 7C 7D 7H 2D 2H KS QS 3C"
    cards = np.array([parse_card(card) for card in hand.split()])
    scratch = np.zeros(1, dtype=SCRATCH_DTYPE)
    left = first_arrangement(cards, 14, wild_of_rank(-1), 2, 0, 3, scratch[0])
    assert [k for k in range(14) if left >> k & 1] == [11, 12, 13], "the pair of twos is older than king and queen"


def test_every_switch_changes_some_games_and_losing_cards_needs_a_thrifty_agent():
    def points(a: str, b: str, switches: int) -> np.ndarray:
        return play_study(a, b, 150, 3, True, switches)["returns"]

    plain = points("mindist_opp", "minscore", 0)
    for name, switch in agents.SWITCHES.items():
        assert (points("mindist_opp", "minscore", switch) != plain).any(), name
    thriftless = points("mindist", "minscore", 0)
    assert np.array_equal(points("mindist", "minscore", agents.LOSES_CARDS), thriftless)


def test_points_are_even_between_an_agent_and_itself_but_for_what_a_winner_pays():
    games = play_study("mindist_opp", "mindist_opp", 20, 1, False)
    assert games["returns"][..., 0].mean(axis=1).tolist() == [0.0] * 20
    assert (games["returns"].sum(axis=-1) == 0).all()


def test_all_pairs_of_the_study_have_names():
    assert len(list(combinations(agents.AGENTS, 2))) == 6
    with pytest.raises(PapluError, match="no agent 'random'"):
        play_study("random", "mindist", 2)
