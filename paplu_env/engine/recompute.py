"""What follows from the cards, the log and the ending of a deal: every other field of a state.

The log is walked turn by turn in plain Python: a position read from text is filled in here, and
`consistency.check` holds a played one against it. This file is the check on `transition`, so it tells the rules of a
turn once more in its own words and asks neither `transition`, `legal` nor `blocked`.
"""

from __future__ import annotations

import numpy as np

from paplu_env.cards import NUM_FACES, format_card, is_wild
from paplu_env.engine.log import log_face, log_seat, log_source
from paplu_env.engine.scoring import count_hands, settle
from paplu_env.engine.state import (
    ANNOUNCED,
    DECLARED,
    DISCARD,
    DRAW,
    DROPPED_FIRST,
    DROPPED_MIDDLE,
    ENDED_BY_DROP,
    ENDING_NAMES,
    IN,
    LOG_ANNOUNCED,
    LOG_CLOSED,
    LOG_DROPPED,
    LOG_NOTHING,
    LOG_WRONG,
    LOWER_DEADWOOD,
    NO_SEAT,
    NONE,
    NOT_ACTIVE,
    OVER,
    PILE_CAPACITY,
    TRUNCATED,
    UNFINISHED,
    VOID,
    WRONG_DECLARE,
    WRONG_DECLARED,
    StateRow,
    States,
)
from paplu_env.errors import InvalidHand, InvalidNotation
from paplu_env.melds.fast_points.declarable_kernels import declarable_kernel, is_complete_kernel
from paplu_env.rules import MAX_PLAYERS, RuleSet


def derive(states: States, i: int, rules: RuleSet, seats: list[int]) -> None:
    """Fill in row ``i``, which holds only what cannot be derived.

    Args:
        states: the row has ``first``, ``indicator``, ``hands``, ``cards`` with both sizes, ``seed``,
            ``log`` with its size, ``ending``, and ``drawn`` if it came from the stock; the rest is 0.
        seats: the active seats.

    Raises:
        InvalidHand: cards missing or too many, or a hand of a wrong size.
        InvalidNotation: a log or an ending that the rules don't allow, or that the cards contradict.
    """
    if len(seats) < 2:
        raise InvalidNotation(f"active seats {seats}: a deal needs two seats or more")
    s = states[i]
    walk = _Walk(s, rules, seats)
    walk.follow()
    last = walk.entries[-1][0] if walk.entries else NO_SEAT
    s["rules_id"] = int(rules.packed["id"][0])
    s["num_players"] = rules.num_players
    s["wild"] = walk.wild
    s["pile_log"], s["reshuffles"] = walk.pile_log, walk.reshuffles
    s["status"], s["drew"], s["known"], s["draws"] = walk.status, walk.drew, walk.known, sum(walk.drew)
    s["taken"] = walk.taken
    if walk.taken != NONE:
        s["drawn"] = walk.taken
    is_over = int(s["ending"]) != UNFINISHED
    s["phase"] = OVER if is_over else DISCARD if walk.is_turn_open else DRAW
    s["current_player"] = NO_SEAT if is_over else walk.mover
    s["finisher"] = last if is_over else NO_SEAT
    s["winner"] = NO_SEAT
    _check_cards(s, rules, seats, walk)
    record = rules.packed[0]
    if is_over:
        counts = np.zeros(MAX_PLAYERS, dtype=np.int64)
        count_hands(s, int(s["ending"]), counts, record)
        s["winner"] = settle(s, int(s["ending"]), last, counts, s["returns"], record)
    elif walk.is_turn_open:
        s["declarable"] = declarable_kernel(s["hands"][walk.mover], int(s["wild"]), record)
    elif rules.hand_rummy and walk.drew[walk.mover] == 0:
        s["complete"] = is_complete_kernel(s["hands"][walk.mover], int(s["wild"]), record)


def active_seats(s: StateRow) -> list[int]:
    """Seats that were dealt in."""
    return [seat for seat, status in enumerate(s["status"]) if int(status) != NOT_ACTIVE]


def loose_cards(s: StateRow, rules: RuleSet) -> list[int]:
    """The cards of the pack that lie in no hand, not in the pile and not as indicator, rising faces.

    Raises:
        InvalidHand: more copies of a face lie there than the pack holds.
    """
    loose = []
    for face in range(NUM_FACES):
        left = rules.copies(face) - _copies_laid(s, face)
        if left < 0:
            raise InvalidHand(f"{rules.copies(face) - left} of {format_card(face)}: the pack has {rules.copies(face)}")
        loose += [face] * left
    return loose


class _Walk:
    """The log followed turn by turn: what everybody at the table has seen."""

    def __init__(self, s: StateRow, rules: RuleSet, seats: list[int]) -> None:
        self.s = s
        self.rules = rules
        self.wild = rules.wild_of(int(s["indicator"]))
        capacity = len(s["status"])
        self.status = [IN if seat in seats else NOT_ACTIVE for seat in range(capacity)]
        self.drew = [0] * capacity
        self.known = [[0] * NUM_FACES for _ in range(capacity)]
        self.stock = rules.num_cards - len(seats) * rules.hand_size - 2
        self.pile: list[int | None] = [None]  # bottom first; None: a card that the log doesn't name
        self.pile_log = 0
        self.reshuffles = 0
        self.mover = int(s["first"])
        self.taken = NONE
        self.is_turn_open = False  # a card has been drawn and none thrown
        self.entries = [
            (log_seat(entry), log_source(entry), log_face(entry)) for entry in map(int, s["log"][: int(s["log_size"])])
        ]

    def follow(self) -> None:
        """Walk the whole log and hold the ending against it."""
        ending = int(self.s["ending"])
        forced = UNFINISHED
        for at, (seat, source, thrown) in enumerate(self.entries):
            if forced != UNFINISHED:
                raise InvalidNotation(f"the log goes on after turn {at}, which ends the deal")
            if seat != self.mover or self.is_turn_open:
                raise InvalidNotation(f"turn {at + 1} of the log: seat {self.mover} is to move, not seat {seat}")
            is_last = at + 1 == len(self.entries)
            forced = self._turn(source, thrown, at, is_last and ending == DECLARED)
        if ending != forced and not (ending == DECLARED and self._can_be_declared()):
            raise InvalidNotation(f"ending {ENDING_NAMES[ending]}: by the log the deal is {ENDING_NAMES[forced]}")

    def _turn(self, source: int, thrown: int, at: int, is_declared: bool) -> int:
        """One entry; returns the ending that it forces."""
        seat = self.mover
        if source in (LOG_DROPPED, LOG_ANNOUNCED, LOG_WRONG):
            self._check_cardless(source, thrown, at)
        if source == LOG_DROPPED:
            returns_cards = self.rules.first_drop_returns_cards and self.drew[seat] == 0
            self.status[seat] = DROPPED_MIDDLE if self.drew[seat] else DROPPED_FIRST
            self.stock += self.rules.hand_size if returns_cards else 0
            return ENDED_BY_DROP if self.status.count(IN) == 1 else self._pass_on()
        if source == LOG_ANNOUNCED:
            return ANNOUNCED
        if source == LOG_WRONG:
            self.status[seat] = WRONG_DECLARED
            return WRONG_DECLARE if self.status.count(IN) == 1 else self._end_turn(at)
        if source > LOG_CLOSED or NUM_FACES <= thrown != LOG_NOTHING:
            raise InvalidNotation(f"turn {at + 1} of the log: no such move")
        self._pick_up(seat, source, at)
        if thrown == LOG_NOTHING:
            self.is_turn_open = True
            return UNFINISHED
        self._throw(seat, thrown)
        is_wrong = at + 1 < len(self.entries) and self.entries[at + 1][1] == LOG_WRONG
        return UNFINISHED if is_declared or is_wrong else self._end_turn(at)

    def _check_cardless(self, source: int, thrown: int, at: int) -> None:
        """Refuse a drop, an announcement or a wrong declaration that the rules don't allow there.

        An announced hand and one wrongly declared have not changed since, so that they can be judged now.
        """
        seat, rules = self.mover, self.rules
        if thrown != LOG_NOTHING:
            wrong = "no card moves in this turn"
        elif source == LOG_DROPPED:
            wrong = "" if rules.drop_allowed else "nobody may drop at this table (drop_allowed=false)"
        elif source == LOG_ANNOUNCED and not rules.hand_rummy:
            wrong = "hands are not announced at this table (hand_rummy=false)"
        elif source == LOG_ANNOUNCED:
            may = self.drew[seat] == 0 and self._is_complete(seat)
            wrong = "" if may else "only a complete hand is announced, at the seat's first turn"
        elif rules.wrong_declare == "masked":
            wrong = "wrong declarations are not possible at this table (wrong_declare=masked)"
        elif at == 0 or self.entries[at - 1][0] != seat:
            wrong = "a wrong declaration follows the discard of its own seat"
        else:
            wrong = "the hand is complete: the declaration was right" if self._is_complete(seat) else ""
        if wrong:
            raise InvalidNotation(f"turn {at + 1} of the log: {wrong}")

    def _check_wild_taken(self, seat: int, face: int, at: int) -> None:
        """Refuse a wild card taken from the open pile where `open_joker` doesn't let it be taken."""
        option = self.rules.open_joker
        if option == "any" or not is_wild(face, self.wild):
            return
        is_turned_up = sum(self.drew) == 0 and seat == int(self.s["first"])
        if option == "never" or not is_turned_up:
            raise InvalidNotation(
                f"turn {at + 1} of the log takes the wild card {format_card(face)}: open_joker={option}"
            )

    def _is_complete(self, seat: int) -> bool:
        return bool(is_complete_kernel(self.s["hands"][seat], self.wild, self.rules.packed[0]))

    def _pick_up(self, seat: int, source: int, at: int) -> None:
        if source != LOG_CLOSED:
            self._check_wild_taken(seat, source, at)
        self.drew[seat] += 1
        self.taken = NONE
        if source == LOG_CLOSED:
            self.stock -= 1
            return
        top = self.pile.pop() if self.pile else NONE
        if top is not None and top != source:
            raise InvalidNotation(f"turn {at + 1} of the log takes {format_card(source)}, which is not the open card")
        self.taken = source
        self.known[seat][source] += 1

    def _throw(self, seat: int, face: int) -> None:
        stays = 1 if face == self.taken and self.rules.block_taken_card else 0
        self.known[seat][face] = max(stays, self.known[seat][face] - 1)
        self.pile.append(face)
        self.taken = NONE

    def _end_turn(self, at: int) -> int:
        can_reshuffle = self.rules.stock_out != "void" and len(self.pile) > 1
        if self.stock == 0 and not can_reshuffle:
            return VOID
        if sum(self.drew) >= self.rules.max_turns:
            return TRUNCATED if self.rules.turn_limit_result == "truncate" else LOWER_DEADWOOD
        if self.stock == 0:
            self.stock = len(self.pile) - 1
            self.pile = [self.pile[-1]] if self.rules.stock_out == "reshuffle_keep_top" else [None]
            self.pile_log = at + 1
            self.reshuffles += 1
        return self._pass_on()

    def _pass_on(self) -> int:
        step = 1 if self.rules.direction == "clockwise" else -1
        self.mover = (self.mover + step) % self.rules.num_players
        while self.status[self.mover] != IN:
            self.mover = (self.mover + step) % self.rules.num_players
        return UNFINISHED

    def _can_be_declared(self) -> bool:
        """Whether the last turn threw a card and left a complete hand."""
        if not self.entries or self.entries[-1][2] == LOG_NOTHING:
            return False
        return self._is_complete(self.mover)


def _check_cards(s: StateRow, rules: RuleSet, seats: list[int], walk: _Walk) -> None:
    """Refuse cards that contradict the log: every card in one place, every hand and pile of its size."""
    for face in range(NUM_FACES):
        laid = _copies_laid(s, face) + int((s["cards"][: int(s["stock_size"])] == face).sum())
        if laid != rules.copies(face):
            raise InvalidHand(f"{laid} of {format_card(face)} lie about: the pack has {rules.copies(face)}")
    for seat in seats:
        size = rules.hand_size + (walk.is_turn_open and seat == walk.mover)
        if rules.first_drop_returns_cards and walk.status[seat] == DROPPED_FIRST:
            size = 0
        held = s["hands"][seat]
        if int(held.sum()) != size:
            raise InvalidHand(f"seat {seat} holds {int(held.sum())} cards: it must hold {size}")
        if (held < s["known"][seat]).any():
            raise InvalidHand(f"seat {seat} does not hold a card that it took from the open pile")
    if int(s["stock_size"]) != walk.stock:
        raise InvalidHand(f"{int(s['stock_size'])} closed cards: by the log there must be {walk.stock}")
    pile = s["cards"][PILE_CAPACITY - int(s["pile_size"]) :][::-1]
    fits = len(pile) == len(walk.pile) and all(
        named is None or named == face for named, face in zip(walk.pile, map(int, pile), strict=True)
    )
    if not fits:
        raise InvalidHand("the open pile is not what the log says was thrown")
    drawn = int(s["drawn"])
    if walk.is_turn_open:
        fits = drawn < NUM_FACES and int(s["hands"][walk.mover, drawn]) > 0
    else:
        fits = drawn == NONE
    if not fits:
        raise InvalidNotation("the card drawn this turn must be named, and held, while a turn is under way only")


def _copies_laid(s: StateRow, face: int) -> int:
    """Copies of a face in hands, in the pile and as indicator."""
    pile = s["cards"][PILE_CAPACITY - int(s["pile_size"]) :]
    return int(s["hands"][:, face].sum()) + int((pile == face).sum()) + (int(s["indicator"]) == face)
