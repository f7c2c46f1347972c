"""``cards-v1``: what the table shows a seat, and nothing that would have to be worked out from it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env._jit import njit
from paplu_env.cards import MAX_JOKERS, NUM_FACES, PRINTED_JOKER, Counts
from paplu_env.encoding.base import RECENCY, Encoding, Observations, starts_of
from paplu_env.encoding.fields import FieldSpec
from paplu_env.engine.blocked import blocked_face
from paplu_env.engine.log import log_face, log_seat, log_source
from paplu_env.engine.piles import open_card_of_view
from paplu_env.engine.state import (
    DISCARD,
    DROPPED_FIRST,
    DROPPED_MIDDLE,
    IN,
    LOG_CLOSED,
    NONE,
    PHASE_NAMES,
    WRONG_DECLARED,
    Views,
)
from paplu_env.engine.unseen_cards import unseen_kernel
from paplu_env.rules import HAND_SIZES, MAX_DECKS, MAX_PLAYERS, MAX_TURNS, RuleSet

# A typical deal between good players takes this many rounds: then `clock` stands at one half.
TYPICAL_ROUNDS: Final = 6
# A drawn card that may be thrown again; one that may not is marked 1.
MAY_BE_THROWN: Final = 0.5
# Points options are validated to be at most this.
_POINTS_LIMIT: Final = 255


def _share(points: int, rules: RuleSet) -> float:
    """Points as a share of the most that one hand can cost at this table."""
    return points / _most_points(rules)


def _most_points(rules: RuleSet) -> int:
    return max(rules.max_points, rules.wrong_declare_points)


# Entries of the field `rules`, each in [0, 1]: what tells one table's game from another's. Which faces
# are wild, who is next and what a seat that is out owes stand in fields of their own.
RULE_ENTRIES: Final[tuple[tuple[str, Callable[[RuleSet], float]], ...]] = (
    ("num_decks / 3", lambda r: r.num_decks / MAX_DECKS),
    ("printed_jokers / 9", lambda r: r.num_jokers / MAX_JOKERS),
    ("hand_size / 21", lambda r: r.hand_size / max(HAND_SIZES)),
    ("open_joker any", lambda r: r.open_joker == "any"),
    ("open_joker first_turn", lambda r: r.open_joker == "first_turn"),
    ("block_taken_card", lambda r: r.block_taken_card),
    ("stock_out reshuffle_keep_top", lambda r: r.stock_out == "reshuffle_keep_top"),
    ("stock_out reshuffle_all", lambda r: r.stock_out == "reshuffle_all"),
    ("min_sequences / 3", lambda r: r.min_sequences / 3),
    ("min_pure_sequences / 3", lambda r: r.min_pure_sequences / 3),
    ("min_naturals 2", lambda r: r.min_naturals == 2),
    ("max_set_size 4", lambda r: r.max_set_size == 4),
    ("tanala", lambda r: r.tanala),
    ("special_hands", lambda r: r.special_hands),
    ("gate all_or_nothing", lambda r: r.gate == "all_or_nothing"),
    ("gate pure_opens_all", lambda r: r.gate == "pure_opens_all"),
    ("gate every_meld", lambda r: r.gate == "every_meld"),
    ("max_points / 255", lambda r: r.max_points / _POINTS_LIMIT),
    ("round_to / 5", lambda r: r.round_to / 5),
    ("drop_allowed", lambda r: r.drop_allowed),
    ("first_drop, 0 without drops", lambda r: _share(r.first_drop, r) if r.drop_allowed else 0),
    ("middle_drop, 0 without drops", lambda r: _share(r.middle_drop, r) if r.drop_allowed else 0),
    ("first_drop_returns_cards", lambda r: r.first_drop_returns_cards),
    ("wrong_declare allowed", lambda r: r.wrong_declare == "allowed"),
    ("wrong_declare_points", lambda r: _share(r.wrong_declare_points, r)),
    ("half_rate", lambda r: r.half_rate),
    ("hand_rummy", lambda r: r.hand_rummy),
    ("paplu_bonus held", lambda r: r.paplu_bonus == "held"),
    ("paplu_bonus declared", lambda r: r.paplu_bonus == "declared"),
    ("loser_complete", lambda r: _share(r.loser_complete, r)),
    ("full_count_if_never_drawn", lambda r: r.full_count_if_never_drawn),
    ("max_turns / 250", lambda r: r.max_turns / MAX_TURNS),
    ("turn_limit_result lower_deadwood", lambda r: r.turn_limit_result == "lower_deadwood"),
)


def _by_seat(rules: RuleSet) -> tuple[int, ...]:
    return (rules.num_players,)


def _by_face(rules: RuleSet) -> tuple[int, ...]:
    return (NUM_FACES,)


def _by_seat_and_face(rules: RuleSet) -> tuple[int, ...]:
    return (rules.num_players, NUM_FACES)


_POINTS: Final = "points as a share of the most that one hand can cost, max_points or wrong_declare_points"

CARDS_SPECS: Final = (
    FieldSpec(
        "hand",
        lambda rules: (rules.num_decks, NUM_FACES),
        "own cards: row k is 1 where more than k copies are held; printed jokers beyond the packs are a share "
        "in the last row",
    ),
    FieldSpec("unseen", _by_face, "copies in the closed stock or in unknown hands, as a share of all copies"),
    FieldSpec("wild", _by_face, "1 for the faces that are wild"),
    FieldSpec("indicator", _by_face, "1 for the face of the indicator"),
    FieldSpec("open", _by_face, "1 for the top card of the open pile"),
    FieldSpec(
        "drawn", _by_face, "the card that this seat drew this turn: 1 if it may not be thrown back, 1/2 if it may"
    ),
    FieldSpec(
        "thrown",
        _by_seat_and_face,
        "per relative seat, what it threw: 1/2 + 1/2 / (1 + n) when it has thrown n cards since, by its latest "
        "throw of the face; stays when the card is taken or the pile reshuffled",
    ),
    FieldSpec(
        "held",
        _by_seat_and_face,
        "per relative seat, what everybody knows it holds: copies taken from the pile and kept, or lying open, as "
        "a share of all copies",
    ),
    FieldSpec(
        "refused",
        lambda rules: (rules.num_players - 1, NUM_FACES),
        "per opponent by relative seat, open cards it left to draw from the stock, since the last reshuffle: "
        "1/2 + 1/2 / (1 + n) when it has drawn n times since",
    ),
    FieldSpec("phase", lambda rules: (len(PHASE_NAMES),), "1 for the phase of the deal: " + ", ".join(PHASE_NAMES)),
    FieldSpec("turn", _by_seat, "1 for the relative seat to move, none when the deal is over"),
    FieldSpec("first", _by_seat, "1 for the relative seat that had the first turn"),
    FieldSpec("in_play", _by_seat, "1 for the relative seats still in"),
    FieldSpec("has_drawn", _by_seat, "1 for the relative seats that have drawn: a drop costs them more"),
    FieldSpec("owes", _by_seat, "what relative seats that are out will pay: " + _POINTS),
    FieldSpec("drop_cost", lambda rules: (1,), "what a drop would cost this seat, 0 if none is allowed: " + _POINTS),
    FieldSpec(
        "stock", lambda rules: (2,), "closed cards left n: as a share of all cards; 1 / (1 + n), which tells the last"
    ),
    FieldSpec(
        "clock",
        lambda rules: (3,),
        f"draws d by all seats: d / (d + {TYPICAL_ROUNDS} rounds); draws left before the deal is cut, as a share of "
        "max_turns; reshuffles k: k / (1 + k)",
    ),
    FieldSpec(
        "rules",
        lambda rules: (len(RULE_ENTRIES),),
        "options of the table, in this order (1 if so, points as in drop_cost): "
        + "; ".join(name for name, _ in RULE_ENTRIES),
    ),
)
(
    _HAND,
    _UNSEEN,
    _WILD,
    _INDICATOR,
    _OPEN,
    _DRAWN,
    _THROWN,
    _HELD,
    _REFUSED,
    _PHASE,
    _TURN,
    _FIRST,
    _IN_PLAY,
    _HAS_DRAWN,
    _OWES,
    _DROP_COST,
    _STOCK,
    _CLOCK,
    _RULES,
) = range(len(CARDS_SPECS))


class CardsV1(Encoding):
    """The cards as the table shows them; made for networks that find out the rest by themselves."""

    name = "cards-v1"
    specs = CARDS_SPECS

    def _encode_rows(self, views: Views, rules: RuleSet, out: Observations, start: int, stop: int) -> None:
        starts, rule_entries = cards_plan(rules)
        _cards_rows(views, rules.packed, starts, rule_entries, out, start, stop)


@functools.lru_cache(maxsize=256)
def cards_plan(rules: RuleSet) -> tuple[npt.NDArray[np.int64], Observations]:
    """What `encode_cards` needs beside a view: the starts of the fields and the entries of ``rules``."""
    entries = np.array([entry(rules) for _, entry in RULE_ENTRIES], dtype=np.float32)
    return starts_of(CARDS_SPECS, rules), entries


@njit
def _cards_rows(
    views: Views, rules: Any, starts: Any, rule_entries: Any, out: Observations, start: int, stop: int
) -> None:
    """Encode a slice of rows."""
    r = rules[0]
    unseen = np.zeros(NUM_FACES, dtype=np.uint8)
    seats = np.zeros((3, MAX_PLAYERS), dtype=np.int64)
    for j in range(start, stop):
        unseen_kernel(views, j, r, unseen)
        encode_cards(views, j, r, starts, rule_entries, unseen, seats, out[j])


@njit
def encode_cards(
    views: Views, j: int, r: Any, starts: Any, rule_entries: Any, unseen: Counts, seats: Any, row: Observations
) -> None:
    """Write the fields of ``cards-v1`` of one view into the first entries of ``row``.

    Args:
        unseen: what `unseen_kernel` says of this view.
        seats: ``(3, 10)`` int64 scratch: relative seats, then a count per relative seat for each kind of mark.
    """
    row[: starts[_RULES]] = np.float32(0)
    me, step, players = int(views[j]["seat"]), int(r["step"]), int(r["num_players"])
    for seat in range(players):
        seats[0, seat] = (seat - me + players) * step % players
    _encode_faces(views, j, r, starts, unseen, seats, row)
    _encode_log(views, j, starts, seats, row)
    _encode_table(views, j, r, starts, seats, row)
    row[starts[_RULES] : starts[_RULES] + len(rule_entries)] = rule_entries


@njit
def _plane(row: Observations, start: int, index: int) -> Observations:
    """The 53 entries of one row of a field by face; loops over a slice of their own compile to vector code."""
    first = start + NUM_FACES * index
    return row[first : first + NUM_FACES]


@njit
def _encode_faces(views: Views, j: int, r: Any, starts: Any, unseen: Counts, seats: Any, row: Observations) -> None:
    """Where the cards are."""
    view = views[j]
    hand, known, shown = view["hand"], view["known"], view["shown"]
    packs, jokers, wild = int(r["num_decks"]), int(r["printed_jokers"]), int(view["wild"])
    for copies in range(packs):
        plane = _plane(row, starts[_HAND], copies)
        for face in range(NUM_FACES):
            plane[face] = np.float32(hand[face] > copies)
    extra = int(hand[PRINTED_JOKER]) - (packs - 1)
    if extra > 0:
        # With more printed jokers than packs the last row has to tell several copies apart.
        row[starts[_HAND] + NUM_FACES * packs - 1] = np.float32(extra / (jokers - (packs - 1)))
    per_card, per_joker = np.float32(1 / packs), np.float32(1 / max(jokers, 1))
    plane = _plane(row, starts[_UNSEEN], 0)
    for face in range(PRINTED_JOKER):
        plane[face] = np.float32(unseen[face]) * per_card
    plane[PRINTED_JOKER] = np.float32(unseen[PRINTED_JOKER]) * per_joker
    plane = _plane(row, starts[_WILD], 0)
    for face in range(NUM_FACES):
        plane[face] = np.float32(wild >> face & 1)
    for seat in range(int(r["num_players"])):
        plane = _plane(row, starts[_HELD], seats[0, seat])
        for face in range(PRINTED_JOKER):
            plane[face] = np.float32(max(known[seat, face], shown[seat, face])) * per_card
        count = max(known[seat, PRINTED_JOKER], shown[seat, PRINTED_JOKER])
        plane[PRINTED_JOKER] = np.float32(count) * per_joker
    row[starts[_INDICATOR] + int(view["indicator"])] = np.float32(1)
    if int(view["pile_size"]) > 0:
        row[starts[_OPEN] + open_card_of_view(view)] = np.float32(1)
    if int(view["drawn"]) != NONE:
        row[starts[_DRAWN] + int(view["drawn"])] = np.float32(MAY_BE_THROWN)
        if blocked_face(int(view["taken"]), r) != NONE:
            # A second copy in hand may be thrown, but that is for the mask to say.
            row[starts[_DRAWN] + int(view["taken"])] = np.float32(1)


@njit
def _encode_log(views: Views, j: int, starts: Any, seats: Any, row: Observations) -> None:
    """Who threw and who refused what, in one pass over the log; the latest mark of a face overwrites others."""
    view = views[j]
    log, log_size, pile_log = view["log"], int(view["log_size"]), int(view["pile_log"])
    drew = view["drew"]
    thrown, refused = int(starts[_THROWN]), int(starts[_REFUSED]) - NUM_FACES
    for seat in range(int(view["num_players"])):
        seats[1, seat] = seats[2, seat] = int(drew[seat])  # cards to be thrown, draws to be made, after the turn
    if int(view["phase"]) == DISCARD:
        seats[1, int(view["current_player"])] -= 1  # it has drawn, and has yet to throw
    top = int(view["pile"][0])  # the card that was turned up, unless it is gone; then nobody refused it
    for turn in range(log_size):
        entry = int(log[turn])
        seat, source, card = log_seat(entry), log_source(entry), log_face(entry)
        relative = int(seats[0, seat])
        if turn == pile_log:
            top = int(view["pile"][0])
        if source <= LOG_CLOSED:
            seats[2, seat] -= 1
            if source == LOG_CLOSED and relative > 0 and turn >= pile_log:
                row[refused + NUM_FACES * relative + top] = RECENCY[int(seats[2, seat])]
        if card < NUM_FACES:
            seats[1, seat] -= 1
            row[thrown + NUM_FACES * relative + card] = RECENCY[int(seats[1, seat])]
            top = card


@njit
def _encode_table(views: Views, j: int, r: Any, starts: Any, seats: Any, row: Observations) -> None:
    """Turn, seats, stock and what it costs to leave."""
    view = views[j]
    players, me = int(r["num_players"]), int(view["seat"])
    most = max(int(r["max_points"]), int(r["wrong_declare_points"]))
    row[starts[_PHASE] + int(view["phase"])] = np.float32(1)
    if int(view["current_player"]) >= 0:
        row[starts[_TURN] + seats[0, int(view["current_player"])]] = np.float32(1)
    row[starts[_FIRST] + seats[0, int(view["first"])]] = np.float32(1)
    for seat in range(players):
        status = int(view["status"][seat])
        owed = 0
        if status == DROPPED_FIRST:
            owed = int(r["first_drop"])
        elif status == DROPPED_MIDDLE:
            owed = int(r["middle_drop"])
        elif status == WRONG_DECLARED:
            owed = int(r["wrong_declare_points"])
        row[starts[_IN_PLAY] + seats[0, seat]] = np.float32(status == IN)
        row[starts[_HAS_DRAWN] + seats[0, seat]] = np.float32(int(view["drew"][seat]) > 0)
        row[starts[_OWES] + seats[0, seat]] = np.float32(owed / most)
    if int(r["drop_allowed"]) == 1:
        cost = int(r["first_drop"]) if int(view["drew"][me]) == 0 else int(r["middle_drop"])
        row[starts[_DROP_COST]] = np.float32(cost / most)
    stock, draws = int(view["stock_size"]), int(view["draws"])
    row[starts[_STOCK]] = np.float32(stock / int(r["num_cards"]))
    row[starts[_STOCK] + 1] = np.float32(1 / (1 + stock))
    row[starts[_CLOCK]] = np.float32(draws / (draws + TYPICAL_ROUNDS * players))
    row[starts[_CLOCK] + 1] = np.float32(1 - draws / int(r["max_turns"]))
    reshuffles = int(view["reshuffles"])
    row[starts[_CLOCK] + 2] = np.float32(reshuffles / (1 + reshuffles))
