"""Every ending with drops, wrong declarations, rates and bonuses among two seats and more, worked out by hand.

A line is ``options | seats | returns``. A seat is how it stands, and what it holds:

- ``win`` a complete hand, ``7``, ``24`` and ``cap`` hands that cost so much, ``28PP`` one of 28 with two Paplus;
- ``first``, ``later``, ``wrong``: out by a first drop, a later one or a wrong declaration; ``-``: not dealt in;
- ``+P``: with that many Paplus; ``~``: has not drawn yet; ``'``: has drawn once (others three times);
- ``*``: the winner.

Drops cost 20 and 40, wrong declarations 80, and the cap is 80, unless the options say otherwise.
"""

from __future__ import annotations

import numpy as np
import pytest

from paplu_env import engine
from paplu_env.cards import parse_card, parse_hand
from paplu_env.engine.scoring import count_hands, settle
from paplu_env.engine.state import (
    DROPPED_FIRST,
    DROPPED_MIDDLE,
    ENDING_NAMES,
    IN,
    NO_SEAT,
    NOT_ACTIVE,
    WRONG_DECLARED,
    empty_states,
)
from paplu_env.rules import MAX_PLAYERS, parse_rules
from tests import oracle

INDICATOR = "3C"  # threes are wild, the four of clubs is the Paplu
HANDS = {
    "win": "AS 2S 3S | 4H 5H 6H | 9C 9D 9S | KC KD KS KH",
    "win+P": "AS 2S 3S | 4H 5H 6H | 9C 9D 9S | 4C 4D 4S 4H",
    "7": "AS 2S 3S | 4H 5H 6H | 9C 9D 9S | KC KD KS | 7D",
    "24": "AS 2S 3S | 4H 5H 6H | 9C 9D 9S | KC 2D 4D 8S",
    "28PP": "AS 2S 3S | 4H 5H 6H | 9C 9D 9S | KC KD 4C 4C",
    "cap": "AS 5S 9S KS 2H 6H TH 4D 8D QD 2C 7C JC",
    "cap+PP": "AS 5S 9S KS 2H 6H TH 4C 4C 8D QD 2C JC",
    "cap+PPP": "AS 5S 9S KS 2H 6H TH 4C 4C 4C QD 2C JC",
}
OUT = {"first": DROPPED_FIRST, "later": DROPPED_MIDDLE, "wrong": WRONG_DECLARED, "-": NOT_ACTIVE}

TABLE = {
    "declared": """
                                                | *win 24                         | 24 -24
                                                | 24 *win                         | -24 24
                                                | *win win                        | 0 0
                                                | first *win 24                   | -20 44 -24
                                                | *win later cap                  | 120 -40 -80
                                                | wrong 7 *win                    | -80 -7 87
                                                | first later wrong *win 24       | -20 -40 -80 164 -24
                                                | *win - first - 7                | 27 0 -20 0 -7
                                                | 7 7 7 7 7 7 7 7 7 *win            | -7 -7 -7 -7 -7 -7 -7 -7 -7 63
        direction=anticlockwise                 | first *win 24                   | -20 44 -24
        first_drop=5,middle_drop=25,wrong_declare_points=60 | first later wrong *win 7 | -5 -25 -60 97 -7
        wrong_declare_points=100                | wrong *win 7                    | -100 107 -7
        round_to=5                              | *win 24 7 28PP                  | 60 -25 -5 -30
        max_points=23,middle_drop=23            | *win 24 7                       | 30 -23 -7
        max_points=23,middle_drop=23,round_to=5 | *win 24 7                       | 28 -23 -5
        loser_complete=2                        | *win win 7                      | 9 -2 -7
        loser_complete=2,round_to=5             | *win win 7                      | 7 -2 -5
        half_rate=true                          | *win' 24~ 7                     | 19 -12 -7
        half_rate=true                          | *win' 7~ 7~                     | 8 -4 -4
        half_rate=true                          | *win' cap~                      | 40 -40
        half_rate=true                          | *win 24~ 7~                     | 31 -24 -7
        half_rate=true                          | first~ *win' wrong 7~           | -20 104 -80 -4
        half_rate=true,round_to=5               | *win' 24~                       | 13 -13
        half_rate=true,loser_complete=1         | *win' win~                      | 1 -1
        half_rate=true,hand_rummy=true          | *win' 24~ 24                    | 36 -12 -24
        hand_rummy=true                         | *win' 24~ 24                    | 48 -24 -24
        full_count_if_never_drawn=true          | *win 24~ 7                      | 87 -80 -7
        full_count_if_never_drawn=true          | *win win~ first~                | 100 -80 -20
        full_count_if_never_drawn=true          | *win wrong' 7~                  | 160 -80 -80
        paplu_bonus=held                        | *win+P 24                       | 34 -34
        paplu_bonus=held                        | *win 28PP                       | 3 -3
        paplu_bonus=held                        | *win+P cap                      | 90 -90
        paplu_bonus=held                        | *win+P - 24                     | 34 0 -34
        paplu_bonus=held                        | *win+P 28PP first               | 43 12 -55
        paplu_bonus=held                        | *win later+PP 7                 | 47 -40 -7
        paplu_bonus=held                        | *win wrong+PP 7                 | 87 -80 -7
        paplu_bonus=held                        | *win cap+PPP 7                  | 37 20 -57
        paplu_bonus=held,half_rate=true         | *win+P' 24~                     | 22 -22
        paplu_bonus=declared                    | *win+P 24                       | 34 -34
        paplu_bonus=declared                    | *win 28PP                       | 28 -28
        paplu_bonus=declared                    | *win+P 28PP first               | 68 -38 -30
        paplu_bonus=declared                    | *win+P wrong later 24           | 174 -90 -50 -34
    """,
    "announced": """
        hand_rummy=true                         | *win~ 24~                       | 24 -24
        hand_rummy=true                         | 24 *win~                        | -48 48
        hand_rummy=true                         | cap *win~ 7~                    | -160 167 -7
        hand_rummy=true                         | first~ later wrong *win~ 7 24~  | -20 -40 -80 178 -14 -24
        hand_rummy=true,round_to=5              | 24 *win~                        | -50 50
        hand_rummy=true,loser_complete=2        | win *win~ win~                  | -4 6 -2
        hand_rummy=true,half_rate=true          | 24~ *win~                       | -24 24
        hand_rummy=true,full_count_if_never_drawn=true | 24~ *win~ 7              | -80 94 -14
        hand_rummy=true,paplu_bonus=held        | 28PP *win+P~                    | -41 41
        hand_rummy=true,paplu_bonus=declared    | 24 *win+P~ first                | -58 88 -30
    """,
    "drop": """
                                                | first *cap                      | -20 20
                                                | *cap later                      | 40 -40
                                                | first later wrong *cap          | -20 -40 -80 140
                                                | - first *7                      | 0 -20 20
        half_rate=true,hand_rummy=true          | first~ *cap~                    | -20 20
        full_count_if_never_drawn=true          | first~ *cap~                    | -20 20
        loser_complete=2,round_to=5             | later *win                      | -40 40
        paplu_bonus=held                        | first *28PP                     | -45 45
        paplu_bonus=held                        | first+PP *28PP wrong            | -45 150 -105
        paplu_bonus=declared                    | first *28PP                     | -20 20
    """,
    "wrong_declare": """
                                                | wrong *cap                      | -80 80
                                                | wrong first~ *24                | -80 -20 100
                                                | wrong wrong *24 later           | -80 -80 200 -40
        half_rate=true,hand_rummy=true          | wrong' *24~                     | -80 80
        full_count_if_never_drawn=true          | wrong' *24~                     | -80 80
        paplu_bonus=held                        | wrong *28PP                     | -105 105
        paplu_bonus=held                        | wrong+PP *7 first               | -80 100 -20
        paplu_bonus=declared                    | wrong *28PP                     | -80 80
    """,
    "void": """
                                                | 24 7                            | 0 0
                                                | first later wrong 24            | 0 0 0 0
        paplu_bonus=held                        | 28PP wrong 7                    | 0 0 0
        paplu_bonus=declared                    | win+P 24                        | 0 0
        full_count_if_never_drawn=true          | 24~ 7 later                     | 0 0 0
    """,
    "truncated": """
                                                | 24 7                            | 0 0
                                                | first later wrong 24            | 0 0 0 0
        paplu_bonus=held                        | 28PP wrong 7                    | 0 0 0
        paplu_bonus=declared                    | win+P 24                        | 0 0
    """,
    "lower_deadwood": """
                                                | 24 *7                           | -24 24
                                                | first *7 wrong 24               | -20 124 -80 -24
                                                | later *7 -                      | -40 40 0
                                                | *win 24 24                      | 48 -24 -24
                                                | 24 24                           | 0 0
                                                | 7 24 7                          | 0 0 0
                                                | first 7 7                       | 0 0 0
        round_to=5                              | *7 24                           | 25 -25
        max_points=20,middle_drop=20            | 24 28PP                         | 0 0
        loser_complete=2                        | win win                         | 0 0
        loser_complete=7                        | *win 7                          | 7 -7
        half_rate=true,hand_rummy=true          | *7' 24~ 24                      | 48 -24 -24
        full_count_if_never_drawn=true          | *7~ 24~ 24                      | 104 -80 -24
        paplu_bonus=held                        | *7 28PP                         | 3 -3
        paplu_bonus=held                        | 24 24 28PP                      | -25 -25 50
        paplu_bonus=held                        | 24 24 first+PP                  | 0 0 0
        paplu_bonus=declared                    | *win+P 28PP                     | 28 -28
    """,
}
CASES = [
    (ending, *(part.strip() for part in line.split("|")))
    for ending, lines in TABLE.items()
    for line in lines.strip().splitlines()
]


@pytest.mark.parametrize(("ending", "options", "seats", "expected"), CASES)
def test_every_seat_gets_what_is_written_here(ending: str, options: str, seats: str, expected: str) -> None:
    words = seats.split()
    rules = parse_rules(f"points:num_decks=3,wrong_declare=allowed,num_players={len(words)},{options}")
    states = empty_states(rules, 1)
    s = states[0]
    s["num_players"] = len(words)
    s["indicator"] = parse_card(INDICATOR)
    s["wild"] = rules.wild_of(int(s["indicator"]))
    for seat, word in enumerate(words):
        name = word.strip("*~'")
        standing, plus, paplus = name.partition("+")
        s["status"][seat] = OUT.get(standing, IN)
        s["drew"][seat] = 0 if word.endswith("~") else 1 if word.endswith("'") else 3
        if standing != "-":
            s["hands"][seat] = parse_hand(HANDS["cap" + plus + paplus if standing in OUT else name])
    winner = next((seat for seat, word in enumerate(words) if word.startswith("*")), NO_SEAT)
    counts, code = np.zeros(MAX_PLAYERS, dtype=np.int64), ENDING_NAMES.index(ending)
    count_hands(s, code, counts, rules.packed[0])
    assert settle(s, code, winner, counts, s["returns"], rules.packed[0]) == winner
    assert engine.returns(states, 0).tolist() == [int(number) for number in expected.split()]
    assert states["returns"].sum() == 0


def test_every_ending_is_in_the_table() -> None:
    assert set(TABLE) == set(ENDING_NAMES[1:])


@pytest.mark.parametrize(
    ("name", "cost", "paplus"),
    [
        ("win", 0, 0),
        ("win+P", 0, 1),
        ("7", 7, 0),
        ("24", 24, 0),
        ("28PP", 28, 2),
        ("cap", 80, 0),
        ("cap+PP", 80, 2),
        ("cap+PPP", 80, 3),
    ],
)
def test_the_hands_cost_and_hold_what_their_names_say(name: str, cost: int, paplus: int) -> None:
    cards = oracle.read(HANDS[name])
    assert oracle.points(cards, oracle.wild_rank("3")) == cost
    assert cards.count(parse_card("4C")) == paplus
