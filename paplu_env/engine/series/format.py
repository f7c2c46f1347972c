"""Formats of several deals: what ends a series, what it costs to be out, and their notation.

RULES.md 4 is the law of the formats. A `SeriesFormat` checks itself when it is made.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from paplu_env.errors import InvalidRules
from paplu_env.rules import CHOICES, RuleSet, as_rules
from paplu_env.rules.options_text import parse_options

FormatName = Literal["deals", "pool_61", "pool_101", "pool_201", "session"]

FORMATS: Final[Mapping[str, str]] = {
    "deals": "2, 3 or 6 deals, the lowest total wins; a tie for the lead is played off",
    "pool_61": "a seat whose total reaches 61 is out, the last seat in wins",
    "pool_101": "a seat whose total reaches 101 is out, the last seat in wins",
    "pool_201": "a seat whose total reaches 201 is out, the last seat in wins",
    "session": "a given number of deals, points settled after every one",
}

_DEALS_CHOICES: Final = (2, 3, 6)
_SESSION_DEALS: Final = (1, 10_000)  # the upper end only keeps a mistyped number from running for ever
# Between players who never declare neither a pool nor a tie need ever end. The longest series between
# players who try to win (ten seats, pool_201, rejoins) take a few dozen deals.
_MAX_DEALS: Final = 250
# What numbers are where they are not given; a number that is missing here means nothing in that format.
_NUMBERS: Final[Mapping[str, Mapping[str, int]]] = {
    "deals": {"num_deals": 2, "max_deals": _MAX_DEALS},
    "pool_61": {"max_deals": _MAX_DEALS},
    "pool_101": {"max_deals": _MAX_DEALS},
    "pool_201": {"max_deals": _MAX_DEALS},
    "session": {"num_deals": 10},
}
_CHIPS_A_DEAL: Final = 80  # what each seat of a series of deals brings to the table for each of them


@dataclass(frozen=True)
class Pool:
    """What one pool costs, in points."""

    limit: int  # a seat whose total reaches it is out
    first_drop: int
    middle_drop: int
    max_points: int  # the most that a hand costs, and the price of a wrong declaration
    rejoin_limit: int  # nobody else may be above it when a seat comes back
    split_from: int  # the pool may be shared once every seat left has at least this total


POOLS: Final[Mapping[str, Pool]] = {
    "pool_61": Pool(limit=61, first_drop=15, middle_drop=30, max_points=60, rejoin_limit=44, split_from=45),
    "pool_101": Pool(limit=101, first_drop=20, middle_drop=40, max_points=80, rejoin_limit=79, split_from=80),
    "pool_201": Pool(limit=201, first_drop=25, middle_drop=50, max_points=80, rejoin_limit=174, split_from=175),
}


def _option(default: Any, meaning: str) -> Any:
    """A field with its meaning, which error messages quote."""
    return dataclasses.field(default=default, metadata={"meaning": meaning})


@dataclass(frozen=True, kw_only=True)
class SeriesFormat:
    """How several deals make one result.

    Instances are immutable, hashable and comparable; numbers that a format needs and that are not given
    are filled in.

    Raises:
        InvalidRules: an option out of its range, or one that means nothing in this format, by name.

    >>> SeriesFormat(name="deals").num_deals, SeriesFormat(name="pool_101").num_deals
    (2, None)
    """

    name: FormatName
    num_deals: int | None = _option(None, "deals: 2, 3 or 6 (2 unless given), session: 1..10000 (10), pools: none")
    strict_pool: bool = _option(False, "pools: a seat is out when its total exceeds the limit, not when it reaches it")
    rejoin: bool = _option(False, "pools: a seat that is out comes back while nobody else has too many points")
    split: bool = _option(False, "pools: the pool is shared once everybody left has many points")
    max_deals: int | None = _option(None, "deals, pools: a series that is undecided after this many deals is cut (250)")

    def __post_init__(self) -> None:
        if self.name not in get_args(FormatName):
            raise InvalidRules(f"unknown format {self.name!r} of a series: choose one of {', '.join(FORMATS)}")
        for field in dataclasses.fields(self)[1:]:
            _check_kind(field, getattr(self, field.name))
        # The only writes to a frozen instance: equal formats are equal however they were named.
        for option, number in _NUMBERS[self.name].items():
            if getattr(self, option) is None:
                object.__setattr__(self, option, number)
        self._check_together()

    def _check_together(self) -> None:
        """Refuse options that contradict the format or each other, naming them."""
        if self.is_pool:
            if self.num_deals is not None:
                raise InvalidRules(f"num_deals={self.num_deals} contradicts {self.name}: a pool ends when one is left")
        else:
            for name in ("strict_pool", "rejoin", "split"):
                if getattr(self, name):
                    raise InvalidRules(f"{name}=true contradicts {self.name}: it is an option of pools")
        if self.name == "deals" and self.num_deals not in _DEALS_CHOICES:
            raise InvalidRules(f"num_deals={self.num_deals}: deals are played by 2, 3 or 6")
        low, high = _SESSION_DEALS
        if self.name == "session" and not low <= (self.num_deals or 0) <= high:
            raise InvalidRules(f"num_deals={self.num_deals}: a session has {low} to {high} deals")
        if self.name == "session" and self.max_deals is not None:
            raise InvalidRules(f"max_deals={self.max_deals} contradicts session: it ends after num_deals anyway")
        if self.max_deals is not None and self.max_deals < (self.num_deals or 1):
            raise InvalidRules(f"max_deals={self.max_deals}: {self} needs {self.num_deals or 1} deals or more")

    @property
    def is_pool(self) -> bool:
        """Whether seats are out at a limit."""
        return self.name in POOLS

    @property
    def pool(self) -> Pool | None:
        """What the pool costs; None if it is none."""
        return POOLS.get(self.name)

    @property
    def starting_chips(self) -> int | None:
        """Chips that each seat of a series of deals begins with; None in other formats."""
        return _CHIPS_A_DEAL * (self.num_deals or 0) if self.name == "deals" else None

    def is_out(self, total: int) -> bool:
        """Whether a seat with this total is out."""
        pool = self.pool
        return pool is not None and (total > pool.limit if self.strict_pool else total >= pool.limit)

    def table(self, rules: RuleSet | str | Mapping[str, Any]) -> RuleSet:
        """The rules of every deal: a pool has prices of its own in place of the default game's (RULES.md 4.5).

        Args:
            rules: of the table, in any form that `as_rules` reads.

        Raises:
            InvalidRules: the other options contradict the pool's prices, or a text or mapping writes out a price of
                the default game where the pool has another.

        >>> SeriesFormat(name="pool_201").table("points").middle_drop
        50
        >>> SeriesFormat(name="pool_201").table("points:first_drop=10").first_drop
        10
        """
        table, pool = as_rules(rules), self.pool
        if pool is None:
            return table
        prices: dict[str, Any] = {
            "first_drop": pool.first_drop,
            "middle_drop": pool.middle_drop,
            "max_points": pool.max_points,
            "wrong_declare_points": pool.max_points,
        }
        replaced = {
            option: price
            for option, price in prices.items()
            if getattr(table, option) == _DEFAULT_PRICES[option] and price != _DEFAULT_PRICES[option]
        }
        for option in replaced:
            if option in _written(rules):
                raise InvalidRules(
                    f"{option}={_DEFAULT_PRICES[option]} contradicts {self.name}: this price of the default game is "
                    f"{replaced[option]} in this pool; leave it out, or give any other"
                )
        # Where nothing differs it is the same object, which has its packed record already.
        return dataclasses.replace(table, **replaced) if replaced else table

    def __str__(self) -> str:
        return format_series(self)


_DEFAULT_PRICES: Final[Mapping[str, int]] = {
    option: getattr(RuleSet(), option) for option in ("first_drop", "middle_drop", "max_points", "wrong_declare_points")
}


def _written(rules: RuleSet | str | Mapping[str, Any]) -> set[str]:
    """The options that somebody wrote out; a mapping of all of them is a rule set's own, which says nothing."""
    if isinstance(rules, str):
        return set(parse_options(rules, CHOICES)[1])
    if isinstance(rules, Mapping) and len(rules) < len(dataclasses.fields(RuleSet)):
        return set(rules)
    return set()


_DEFAULTS: Final = {field.name: field.default for field in dataclasses.fields(SeriesFormat)[1:]}


def _check_kind(field: dataclasses.Field[Any], value: Any) -> None:
    """Refuse a value of the wrong kind."""
    meaning = field.metadata["meaning"]
    if isinstance(field.default, bool):
        if not isinstance(value, bool):
            raise InvalidRules(f"{field.name}={value!r}: must be true or false ({meaning})")
    elif value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise InvalidRules(f"{field.name}={value!r}: must be a whole number ({meaning})")


def parse_series(text: str) -> SeriesFormat:
    """A format from ``format`` or ``format:option=value,option=value``.

    Raises:
        InvalidRules: the text doesn't follow this form, or names something unknown.

    >>> parse_series("pool_101:rejoin=true,split=true").rejoin
    True
    """
    name, _, rest = text.strip().partition(":")
    options: dict[str, Any] = {}
    for part in filter(None, (part.strip() for part in rest.split(","))):
        option, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not value:
            raise InvalidRules(f"cannot read {part!r} in {text!r}: write format:option=value,option=value")
        if option in options:
            raise InvalidRules(f"{option} is given twice in {text!r}")
        options[option] = _parse_value(value)
    return _make(name.strip(), options)


def _parse_value(text: str) -> Any:
    """A bool or whole number as written in a format; any other word stays a text, which no option takes."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return int(text)
    except ValueError:
        return text


def _make(name: Any, options: Mapping[str, Any]) -> SeriesFormat:
    unknown = sorted(set(options) - set(_DEFAULTS))
    if unknown:
        raise InvalidRules(f"unknown option {unknown[0]!r} of a series: the options are {', '.join(_DEFAULTS)}")
    return SeriesFormat(name=name, **options)


def format_series(series: SeriesFormat) -> str:
    """The shortest text that `parse_series` reads back to an equal format.

    >>> format_series(SeriesFormat(name="pool_61", rejoin=True))
    'pool_61:rejoin=true'
    """
    numbers = _NUMBERS[series.name]
    changes = [
        f"{option}={str(value).lower()}"
        for option in _DEFAULTS
        if (value := getattr(series, option)) != numbers.get(option, _DEFAULTS[option])
    ]
    return series.name + (":" + ",".join(changes) if changes else "")


def as_series(series: SeriesFormat | str | Mapping[str, Any]) -> SeriesFormat:
    """A format from whatever a user may name it by: itself, a text, or a mapping with its ``"name"``.

    Raises:
        InvalidRules: it cannot be read.
    """
    if isinstance(series, SeriesFormat):
        return series
    if isinstance(series, str):
        return parse_series(series)
    if isinstance(series, Mapping):
        options = dict(series)
        return _make(options.pop("name", None), options)
    raise InvalidRules(f"{series!r} names no series: give a text such as 'pool_101', a mapping or a SeriesFormat")
