"""The options of complete hands and of a loser's count, as they show at the table: RULES.md 3.11–3.16."""

from __future__ import annotations

import pytest

from paplu_env import engine
from paplu_env.rules import parse_rules
from tests.engine.tables import BOTH_LIVES, LOOSE, ONE_LIFE, THREE_RUNS, lay_out, legal, play


def lines(text: str) -> list[list[str]]:
    """The cells of a table written in lines, `` ; `` between them."""
    return [[cell.strip() for cell in line.split(" ; ")] for line in text.strip().splitlines()]


# min_sequences, min_pure_sequences, min_naturals, max_set_size, tanala, special_hands, and the wild faces

LONG = "AS 5S 7S 9S JS KS 6H 8H TH QH 5D 7D"  # no two alike, no group, and no face wild under a three of clubs
COMPLETE = """
    points                                 ; AS 2S 3S | 4H 5H 6H | 9C 9D 9S | KC KD KS KH  ; yes
    points                                 ; AS 2S 3S | 4H 4D 4S | 9C 9D 9S | KC KD KS KH  ; no
    points:min_sequences=1                 ; AS 2S 3S | 4H 4D 4S | 9C 9D 9S | KC KD KS KH  ; yes
    one_life                               ; AS 2S 3S | 4H 4D 4S | 9C 9D 9S | KC KD KS KH  ; yes
    points:min_sequences=3                 ; AS 2S 3S | 4H 5H 6H | 9C 9D 9S | KC KD KS KH  ; no
    points:min_sequences=3                 ; AS 2S 3S | 4H 5H 6H | 9C TC PJ | KC KD KS KH  ; yes
    points                                 ; 5S 6S 7S | 4H 5H PJ | 9C 9D 9S | KC KD KS KH  ; yes
    points:min_pure_sequences=2            ; 5S 6S 7S | 4H 5H PJ | 9C 9D 9S | KC KD KS KH  ; no
    points:min_pure_sequences=2            ; 5S 6S 7S | 4H 5H 6H | 9C 9D 9S | KC KD KS KH  ; yes
    points                                 ; 5S 6S PJ | 4H 5H PJ | 9C 9D 9S | KC KD KS KH  ; no
    points:min_pure_sequences=0            ; 5S 6S PJ | 4H 5H PJ | 9C 9D 9S | KC KD KS KH  ; yes
    points:min_pure_sequences=0            ; 5S 5D PJ | 4H 5H PJ | 9C 9D 9S | KC KD KS KH  ; no
    points:min_sequences=0,min_pure_sequences=0 ; 5S 5D 5H | 8H 8D 8C | 9C 9D 9S | KC KD KS KH ; yes
    points                                 ; 5S 6S 7S | 4H 5H 6H | 9C 9D 9S 9H | KC 3H 3D  ; yes
    points:min_naturals=2                  ; 5S 6S 7S | 4H 5H 6H | 9C 9D 9S 9H | KC 3H 3D  ; no
    points:min_naturals=2                  ; 5S 6S 7S | 4H 5H 6H | 9C 9D 9S 9H | KC KH 3D  ; yes
    one_life                               ; 5H 6H 7H 8H | JC JD JS JH 3H | 2C 2D 2S 2H    ; yes
    one_life:max_set_size=4                ; 5H 6H 7H 8H | JC JD JS JH 3H | 2C 2D 2S 2H    ; no
    one_life:max_set_size=4                ; 5H 6H 7H 8H 9H | JC JD JS 3H | 2C 2D 2S 2H    ; yes
    points:num_decks=3                     ; 5S 5S 5S | 4H 5H 6H | 9C 9D 9S | KC KD KS KH  ; no
    tanala                                 ; 5S 5S 5S | 4H 5H 6H | 9C 9D 9S | KC KD KS KH  ; yes
    tanala                                 ; 5S 5S 5S | 4H 5H PJ | 9C 9D 9S | KC KD KS KH  ; yes
    tanala                                 ; 5S 5S PJ | 4H 5H 6H | 9C 9D 9S | KC KD KS KH  ; no
    tanala:min_pure_sequences=2            ; 5S 5S 5S | 3H 3H 3H | 9C 9D 9S | KC KD KS KH  ; yes
    tanala:min_pure_sequences=2            ; 5S 5S 5S | PJ PJ PJ | 9C 9D 9S | KC KD KS KH  ; no
    points                                 ; 5S 6S 7S | 4H 5H 4C | 9C 9D 9S | KC KD KS KH  ; no
    points:wild_neighbours=true            ; 5S 6S 7S | 4H 5H 4C | 9C 9D 9S | KC KD KS KH  ; yes
    points:wild_neighbours=true            ; 5S 6S 7S | 4H 5H 2C | 9C 9D 9S | KC KD KS KH  ; yes
    points:wild_neighbours=true            ; 5S 6S 7S | 4H 5H 4D | 9C 9D 9S | KC KD KS KH  ; no
    points:paplu_wild=true                 ; 5S 6S 7S | 4H 5H 4C | 9C 9D 9S | KC KD KS KH  ; yes
    points:paplu_wild=true                 ; 5S 6S 7S | 4H 5H 2C | 9C 9D 9S | KC KD KS KH  ; no
    paplu_bonus                            ; 5S 6S 7S | 4H 5H 4C | 9C 9D 9S | KC KD KS KH  ; yes
    ten_card                               ; 4H 5H 6H | 9C 9D 9S | KC KD KS KH             ; yes
    ten_card                               ; 4H 5H PJ | 9C 9D 9S | KC KD KS KH             ; no
    ten_card:min_sequences=2               ; 4H 5H 6H | 9C 9D 9S | KC KD KS KH             ; no
    rummy_21 ; 4H 5H 6H | 8S 9S TS | 7D 8D 9D | QC QD QS | JS JH PJ | 6C 6S 3D | AS AD AH  ; yes
    rummy_21 ; 4H 5H 6H | 8S 9S TS | 7D 7D 7D | QC QD QS | JS JH PJ | 6C 6S 3D | AS AD AH  ; yes
    rummy_21 ; 4H 5H 6H | 8S 9S TS | 7D 8D 4C | QC QD QS | JS JH PJ | 6C 6S 3D | AS AD AH  ; no
    rummy_21                               ; 6C 6C 6C | 8C 8C 8C | 9C 9C 9C | LONG         ; yes
    rummy_21                               ; 6C 6C 6C | 8C 8C 8C | 9C 9C JC | LONG         ; no
    rummy_21:special_hands=false           ; 6C 6C 6C | 8C 8C 8C | 9C 9C JC | LONG         ; no
    rummy_21:special_hands=false           ; 6C 6C 6C | 8C 8C 8C | 9C 9C 9C | LONG         ; no
    rummy_21 ; 6C 6C 8C 8C TC TC QC QC 2S 2S 4S 4S 6S 6S 8S 8S | 5H 7H 9H JH KH            ; yes
    rummy_21 ; 6C 6C 8C 8C TC TC QC QC 2S 2S 4S 4S 6S 6S PJ PJ | 5H 7H 9H JH KH            ; no
    rummy_21                               ; 3S 3S 3H 3H 3D 2C 4C PJ | LONG 9D             ; yes
    rummy_21                               ; 3S 3S 3H 3H 3D 2C 4C JD | LONG 9D             ; no
    rummy_21:wild_neighbours=false         ; 3S 3S 3H 3H 3D 2C 4C PJ | LONG 9D             ; no
"""


@pytest.mark.parametrize(("text", "hand", "answer"), lines(COMPLETE))
def test_declare_is_offered_for_complete_hands(text: str, hand: str, answer: str) -> None:
    for more in ("", ",num_players=4"):
        rules = parse_rules(text + (more if ":" in text else more.replace(",", ":")))
        last = rules.num_players - 1
        # The last seat holds the hand and draws a card of no use.
        states = lay_out([""] * last + [hand.replace("LONG", LONG)], "TD", "3C", "TD", rules, first=last)
        play(states, "draw", rules=rules)
        assert ("declare TD" in legal(states, rules)) == (answer == "yes")


# gate, max_points, round_to and the lives of a loser; the counts were added up by hand.

IMPURE = "4H 5H PJ | 9C 9D 9H | KC KD KS | 2S 7D 8C JD"  # no pure sequence; 9, 27, 30 and 27 beside
COUNTS = """
    max_points=255                                     ; one life   ; 73
    max_points=255,gate=all_or_nothing                 ; one life   ; 99
    max_points=255,gate=pure_opens_all                 ; one life   ; 16
    max_points=255,gate=every_meld                     ; one life   ; 16
    max_points=255,min_sequences=1                     ; one life   ; 16
    max_points=255                                     ; impure     ; 93
    max_points=255,gate=all_or_nothing                 ; impure     ; 93
    max_points=255,gate=pure_opens_all                 ; impure     ; 93
    max_points=255,gate=every_meld                     ; impure     ; 27
    max_points=255                                     ; both lives ; 32
    max_points=255,gate=all_or_nothing                 ; both lives ; 32
    max_points=255,gate=pure_opens_all                 ; both lives ; 32
    max_points=255,gate=every_meld                     ; both lives ; 32
    max_points=255,min_sequences=3                     ; both lives ; 49
    max_points=255,min_pure_sequences=2                ; both lives ; 68
    max_points=255,min_sequences=3,gate=all_or_nothing ; both lives ; 86
    max_points=255,min_sequences=3,gate=pure_opens_all ; both lives ; 32
    max_points=80                                      ; one life   ; 73
    max_points=80,gate=all_or_nothing                  ; one life   ; 80
    max_points=60                                      ; one life   ; 60
    max_points=80,round_to=5                           ; one life   ; 75
    max_points=72,round_to=5                           ; one life   ; 72
    max_points=80,round_to=5                           ; both lives ; 30
"""


@pytest.mark.parametrize(("options", "name", "count"), lines(COUNTS))
def test_a_loser_owes_what_the_gate_leaves_rounded_and_then_capped(options: str, name: str, count: str) -> None:
    hand = {"one life": ONE_LIFE, "impure": IMPURE, "both lives": BOTH_LIVES}[name]
    for hands in ([THREE_RUNS, hand], [THREE_RUNS, hand, LOOSE]):
        rules = parse_rules(f"points:num_players={len(hands)},num_decks=3,{options}")
        states = lay_out(hands, "7H", "3C", stock="TD", rules=rules)
        play(states, "draw", "declare TD", rules=rules)
        assert -engine.returns(states, 0)[1] == int(count)
