"""The options of a table: one frozen `RuleSet`, and the record of it that kernels read.

RULES.md 3 is the law of the options; `presets` has the named tables. A `RuleSet` checks itself when it is made,
so whoever holds one holds a game that can be played.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args, get_type_hints

import numpy as np
import numpy.typing as npt

from paplu_env.cards import (
    ACE,
    JOKER_BIT,
    MAX_JOKERS,
    NUM_FACES,
    NUM_RANKS,
    PRINTED_JOKER,
    wild_of_rank,
)
from paplu_env.errors import InvalidRules
from paplu_env.rules.options_text import format_options
from paplu_env.rules.presets import preset_options

RulesRow = np.void  # a row of RULES_DTYPE, ``RuleSet.packed[0]``

JokerIndicator = Literal["aces", "twin", "redraw"]
OpenJoker = Literal["any", "first_turn", "never"]
StockOut = Literal["void", "reshuffle_keep_top", "reshuffle_all"]
Gate = Literal["lives", "all_or_nothing", "pure_opens_all", "every_meld"]
WrongDeclare = Literal["masked", "allowed"]
PapluBonus = Literal["none", "held", "declared"]
Direction = Literal["clockwise", "anticlockwise"]
TurnLimitResult = Literal["truncate", "lower_deadwood"]

MAX_PLAYERS: Final = 10
MAX_DECKS: Final = 3
MAX_TURNS: Final = 250
MAX_CARDS: Final = 52 * MAX_DECKS + MAX_JOKERS  # cards of the largest table
HAND_SIZES: Final = (10, 13, 21)  # the sizes that real tables deal, and that the solver is proved for


def _option(
    default: Any, meaning: str, low: int | None = None, high: int | None = None, numbers: tuple[int, ...] = ()
) -> Any:
    """A field with its meaning and, for numbers, its range or the few that it may be, for ``paplu describe``."""
    return dataclasses.field(
        default=default, metadata={"meaning": meaning, "low": low, "high": high, "numbers": numbers}
    )


@dataclass(frozen=True, kw_only=True)
class RuleSet:
    """Every rule of one table that can differ between tables; the defaults are the preset ``points``.

    Instances are immutable, hashable and comparable; `dataclasses.replace` gives a changed copy, which
    is checked again. Seats are numbered 0..num_players-1 and ``direction`` says which way play goes.

    Raises:
        InvalidRules: an option out of its range, or options that contradict each other, by name.

    >>> RuleSet().max_points, RuleSet(num_players=3).num_cards
    (80, 106)
    """

    num_players: int = _option(2, "seats at the table", 2, MAX_PLAYERS)
    num_decks: int = _option(2, "packs of 52 shuffled together", 1, MAX_DECKS)
    printed_jokers: int | None = _option(None, "printed jokers in all; one per pack unless given", 0, MAX_JOKERS)
    hand_size: int = _option(13, "cards dealt to each seat", numbers=HAND_SIZES)
    printed_joker_indicator: JokerIndicator = _option(
        "aces",
        "a printed joker as indicator: aces are wild, only its twins (the other printed jokers) are, or the "
        "next card in deck order that isn't one is the indicator",
    )
    indicator_first: bool = _option(False, "the indicator is drawn before the hands are dealt")
    wild_neighbours: bool = _option(False, "the faces one above and one below the indicator in its suit are wild too")
    open_joker: OpenJoker = _option(
        "any",
        "wild cards may be taken from the open pile: always, only the turned-up card by the first player, never",
    )
    block_taken_card: bool = _option(True, "the card just taken from the open pile may not be thrown in the same turn")
    stock_out: StockOut = _option(
        "void",
        "when the last closed card is gone: the deal is void, or the pile is reshuffled (its top kept, or all)",
    )
    min_sequences: int = _option(2, "sequences that a complete hand needs, pure ones included", 0, 3)
    min_pure_sequences: int = _option(1, "pure sequences that a complete hand needs", 0, 3)
    min_naturals: int = _option(1, "natural cards that a group needs", 1, 2)
    max_set_size: int | None = _option(None, "largest set: none, or 4 (one card a suit, wild cards included)", 4, 4)
    tanala: bool = _option(False, "three natural copies of one face are a group that counts as a pure sequence")
    special_hands: bool = _option(
        False, "three tunnelas, eight dublees or eight wild cards are complete, whatever the rest"
    )
    gate: Gate = _option("lives", "what a loser's groups need before they count as free")
    max_points: int = _option(80, "points: the most that a hand can cost", 1, 255)
    round_to: int = _option(
        0, "points: a count is rounded to a multiple of this before it is capped; 0: not", numbers=(0, 5)
    )
    drop_allowed: bool = _option(True, "a seat may give up at the start of its turn")
    first_drop: int = _option(20, "points paid for dropping before the first draw", 0, 255)
    middle_drop: int = _option(40, "points paid for dropping later", 0, 255)
    first_drop_returns_cards: bool = _option(False, "the cards of a first drop are shuffled and go under the stock")
    wrong_declare: WrongDeclare = _option("masked", "a declaration that isn't complete is never offered, or it is")
    wrong_declare_points: int = _option(80, "points paid for a wrong declaration", 0, 255)
    half_rate: bool = _option(False, "a declaration on the very first draw costs seats that haven't drawn half")
    hand_rummy: bool = _option(False, "a complete hand may be announced at the first turn, at double rate")
    paplu_wild: bool = _option(False, "the Paplu, one rank above the indicator in its suit, is wild too")
    paplu_bonus: PapluBonus = _option(
        "none", "who collects for Paplus: nobody, holders (10, 25, 50), the winner (10 each)"
    )
    loser_complete: int = _option(0, "points paid by a loser whose hand is complete", 0, 255)
    full_count_if_never_drawn: bool = _option(False, "a loser who never drew pays max_points")
    direction: Direction = _option("clockwise", "play passes to the next higher (clockwise) or lower seat number")
    max_turns: int = _option(200, "draws by all seats together after which a deal is cut", 1, MAX_TURNS)
    turn_limit_result: TurnLimitResult = _option("truncate", "a deal that is cut: no result, or the lowest hand wins")

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            _check_value(field, getattr(self, field.name))
        _check_together(self)

    @functools.cached_property
    def num_jokers(self) -> int:
        """Printed jokers in the pack, with the default filled in."""
        return self.num_decks if self.printed_jokers is None else self.printed_jokers

    @functools.cached_property
    def num_cards(self) -> int:
        """Cards of all packs together, printed jokers included."""
        return 52 * self.num_decks + self.num_jokers

    def copies(self, face: int) -> int:
        """Physical copies of a face in the whole pack."""
        return self.num_jokers if face == PRINTED_JOKER else self.num_decks

    def wild_of(self, indicator: int) -> int:
        """Bitmask of the wild faces under an indicator face (RULES.md 1.3, 3.6 and 3.7).

        Raises:
            InvalidRules: a face that cannot be the indicator of this table.

        >>> RuleSet().wild_of(52) == wild_of_rank(ACE)
        True
        """
        if not 0 <= indicator < NUM_FACES:
            raise InvalidRules(f"there is no face {indicator}: an indicator is a face 0..{PRINTED_JOKER}")
        if indicator == PRINTED_JOKER:
            if self.printed_joker_indicator == "redraw":
                raise InvalidRules("a printed joker is never the indicator under printed_joker_indicator=redraw")
            return wild_of_rank(ACE) if self.printed_joker_indicator == "aces" else JOKER_BIT
        wild = wild_of_rank(indicator % NUM_RANKS)
        if self.wild_neighbours:
            wild |= 1 << _shift_rank(indicator, 1) | 1 << _shift_rank(indicator, -1)
        if self.paplu_wild:
            wild |= 1 << self.paplu_of(indicator)
        return wild

    def paplu_of(self, indicator: int) -> int:
        """The Paplu under an indicator: one rank above it in its suit, ace above king; -1 if it is a joker."""
        return -1 if indicator == PRINTED_JOKER else _shift_rank(indicator, 1)

    @functools.cached_property
    def has_standard_groups(self) -> bool:
        """Whether groups and lives are those of RULES.md 1, which the fast kernels are written for.

        The largest set doesn't matter to them: wild cards to spare lengthen the second sequence.
        """
        return (
            self.hand_size == 13
            and self.num_decks <= 2
            and self.num_jokers <= 2  # so that three wild cards are a sequence: one has a place of its own
            and (self.min_sequences, self.min_pure_sequences) == (2, 1)
            and self.min_naturals == 1
            and not self.tanala
            and not self.special_hands
            and self.gate in ("lives", "all_or_nothing")
        )

    @functools.cached_property
    def packed(self) -> npt.NDArray[np.void]:
        """``(1,)`` record array of dtype `RULES_DTYPE`, read-only: what kernels take for a rule set."""
        record = np.zeros(1, dtype=RULES_DTYPE)
        for field in dataclasses.fields(self):
            record[field.name] = _code(field.name, getattr(self, field.name))
        record["printed_jokers"] = self.num_jokers
        record["num_cards"] = self.num_cards
        record["standard_groups"] = self.has_standard_groups
        record["step"] = 1 if self.direction == "clockwise" else self.num_players - 1
        record["id"] = int(self.hash[:8], 16)
        for face in range(NUM_FACES):
            if face != PRINTED_JOKER or self.printed_joker_indicator != "redraw":
                record["wild_of"][0, face] = self.wild_of(face)
            record["paplu_of"][0, face] = self.paplu_of(face)
        record.setflags(write=False)
        return record

    def to_dict(self) -> dict[str, Any]:
        """All options as plain values, `from_dict` reads them back."""
        is_default = self.num_jokers == self.num_decks
        return {**dataclasses.asdict(self), "printed_jokers": None if is_default else self.num_jokers}

    @classmethod
    def from_dict(cls, options: Mapping[str, Any]) -> RuleSet:
        """A rule set from options by name, the rest as in the preset under ``"preset"`` or in ``points``.

        Raises:
            InvalidRules: an unknown option or preset, or a value that doesn't fit.
        """
        given = dict(options)
        unknown = sorted(str(name) for name in given if name != "preset" and name not in _HINTS)
        if unknown:
            raise InvalidRules(f"unknown option {unknown[0]!r}: the options are preset, {', '.join(_HINTS)}")
        return preset(str(given.pop("preset", "points")), **given)

    @functools.cached_property
    def hash(self) -> str:
        """64 hex digits that two rule sets share exactly when every option means the same in both."""
        options = {**self.to_dict(), "printed_jokers": self.num_jokers}
        return hashlib.sha256(json.dumps(options, sort_keys=True).encode()).hexdigest()

    def __str__(self) -> str:
        return _text_of(self)

    def __eq__(self, other: object) -> bool:
        # One printed joker a pack is the same table whether it was written out or not; and layouts are cached by
        # rule set, where comparing thirty options at every look-up would be slow.
        return isinstance(other, RuleSet) and self.hash == other.hash

    def __hash__(self) -> int:
        return hash(self.hash)

    def __reduce__(self) -> tuple[Any, ...]:
        # Copies carry the options alone: a copied record would be writable, for which kernels compile again.
        return _rule_set_of, (self.to_dict(),)


def _rule_set_of(options: dict[str, Any]) -> RuleSet:
    """What a pickle of rules calls, by its name in `paplu_env.rules`, where pickles of every version look for it.

    Raises:
        InvalidRules: options that this version doesn't know, or that contradict each other by now.
    """
    unknown = sorted(set(options) - set(_HINTS))
    if unknown:
        raise InvalidRules(
            f"these rules were pickled by another version of paplu_env, this one has no option {unknown[0]!r}: "
            "make them again, and keep str(rules) rather than a pickle"
        )
    return RuleSet(**options)


_rule_set_of.__module__ = "paplu_env.rules"  # so that files may move without leaving old pickles behind


def _shift_rank(face: int, step: int) -> int:
    """The face ``step`` ranks further in its suit, wrapping K-A-2."""
    return face - face % NUM_RANKS + (face % NUM_RANKS + step) % NUM_RANKS


_HINTS: Final = get_type_hints(RuleSet)
CHOICES: Final[dict[str, tuple[str, ...]]] = {
    name: get_args(hint) for name, hint in _HINTS.items() if get_args(hint) and isinstance(get_args(hint)[0], str)
}

# The record that kernels read: every option as an int64 (a choice is its place in its Literal, None is
# 0 for max_set_size), and what follows from them.
RULES_DTYPE: Final = np.dtype(
    [(field.name, np.int64) for field in dataclasses.fields(RuleSet)]
    + [
        ("num_cards", np.int64),  # cards of all packs
        ("standard_groups", np.int64),  # 1: the fast kernels apply
        ("step", np.int64),  # the next seat is (seat + step) % num_players
        ("id", np.int64),  # first 32 bits of the hash, kept in states and records
        ("wild_of", np.int64, (NUM_FACES,)),  # wild mask by indicator face
        ("paplu_of", np.int64, (NUM_FACES,)),  # Paplu by indicator face, -1 none
    ]
)


def _code(name: str, value: Any) -> int:
    """An option as the int that kernels see."""
    if name in CHOICES:
        return CHOICES[name].index(value)
    return 0 if value is None else int(value)


def choice_code(name: str, value: str) -> int:
    """The int by which a record names a choice, for constants of kernels.

    >>> choice_code("stock_out", "reshuffle_all")
    2
    """
    return CHOICES[name].index(value)


def _check_value(field: dataclasses.Field[Any], value: Any) -> None:
    """Refuse a value of the wrong kind or out of range."""
    name, meaning = field.name, field.metadata["meaning"]
    if name in CHOICES:
        if value not in CHOICES[name]:
            raise InvalidRules(f"{name}={value!r}: choose one of {', '.join(CHOICES[name])} ({meaning})")
        return
    if isinstance(field.default, bool):
        if not isinstance(value, bool):
            raise InvalidRules(f"{name}={value!r}: must be true or false ({meaning})")
        return
    if value is None and field.default is None:
        return
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidRules(f"{name}={value!r}: must be a whole number ({meaning})")
    low, high, numbers = field.metadata["low"], field.metadata["high"], field.metadata["numbers"]
    if numbers and value not in numbers:
        few = " or ".join(map(str, numbers))
        raise InvalidRules(f"{name}={value}: must be {few} ({meaning})")
    if low is not None and not low <= value <= high:
        raise InvalidRules(f"{name}={value}: must be {low}..{high} ({meaning})")


def _check_together(rules: RuleSet) -> None:
    """Refuse options that contradict each other, naming them."""
    closed = rules.num_cards - rules.num_players * rules.hand_size - 2
    highest_drop = rules.middle_drop if rules.drop_allowed else 0
    contradictions: list[tuple[bool, str]] = [
        (
            closed < rules.num_players,
            f"num_players={rules.num_players}, num_decks={rules.num_decks}, hand_size={rules.hand_size}: of "
            f"{rules.num_cards} cards {closed} would be left closed, fewer than seats; use more packs or fewer players",
        ),
        (
            rules.printed_joker_indicator == "redraw" and not rules.indicator_first and closed < rules.num_jokers,
            f"printed_joker_indicator=redraw contradicts printed_jokers={rules.num_jokers}: the {closed + 1} cards "
            "left by hands and open card may all be jokers; use more packs or indicator_first=true",
        ),
        (
            rules.min_pure_sequences > rules.min_sequences,
            f"min_pure_sequences={rules.min_pure_sequences} is more than min_sequences={rules.min_sequences}: "
            "a pure sequence is a sequence",
        ),
        (
            rules.gate == "pure_opens_all" and rules.min_pure_sequences == 0,
            "gate=pure_opens_all contradicts min_pure_sequences=0: no pure sequence is asked for",
        ),
        (
            rules.tanala and rules.num_decks < 3,
            f"tanala=true contradicts num_decks={rules.num_decks}: three copies of a face need three packs",
        ),
        (
            rules.special_hands and (rules.hand_size, rules.num_decks) != (21, 3),
            f"special_hands=true contradicts hand_size={rules.hand_size}, num_decks={rules.num_decks}: special hands "
            "are of 21 cards from three packs",
        ),
        (
            rules.half_rate and rules.full_count_if_never_drawn,
            "half_rate=true contradicts full_count_if_never_drawn=true: a seat that never drew can't pay both",
        ),
        (
            rules.drop_allowed and rules.first_drop > rules.middle_drop,
            f"first_drop={rules.first_drop} is more than middle_drop={rules.middle_drop}: waiting can't be cheaper",
        ),
        (
            rules.drop_allowed and rules.middle_drop > rules.max_points,
            f"middle_drop={rules.middle_drop} is more than max_points={rules.max_points}: nobody could cost that much",
        ),
        (
            rules.wrong_declare == "allowed" and rules.wrong_declare_points < highest_drop,
            f"wrong_declare_points={rules.wrong_declare_points} is less than middle_drop={rules.middle_drop}: "
            "a wrong declaration would be the cheaper way to drop",
        ),
        (
            rules.wrong_declare == "allowed" and rules.wrong_declare_points == 0,
            "wrong_declare=allowed contradicts wrong_declare_points=0: a wrong declaration would cost nothing",
        ),
        (
            rules.loser_complete > rules.max_points,
            f"loser_complete={rules.loser_complete} is more than max_points={rules.max_points}",
        ),
    ]
    for is_wrong, message in contradictions:
        if is_wrong:
            raise InvalidRules(message)


def preset(name: str, **overrides: Any) -> RuleSet:
    """The rule set of a preset, with some options given other values.

    Raises:
        InvalidRules: an unknown preset or option, or a value that doesn't fit.

    >>> preset("pagat", num_players=8).num_cards
    159
    """
    options = preset_options(name, overrides.get("num_players", 2))
    unknown = sorted(set(overrides) - set(_HINTS))
    if unknown:
        raise InvalidRules(f"unknown option {unknown[0]!r}: the options are {', '.join(_HINTS)}")
    return RuleSet(**{**options, **overrides})


@functools.lru_cache(maxsize=256)  # every position and many a message names its rules
def _text_of(rules: RuleSet) -> str:
    """The shortest rules string."""
    return format_options(rules.to_dict(), RuleSet().to_dict())
