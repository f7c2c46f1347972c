"""What a tournament is to play, as a TOML file says it, with the published figures to hold the results against."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

from paplu_env.engine.arguments import as_seed
from paplu_env.engine.chance import policy_seed_of
from paplu_env.errors import InvalidFile, PapluError
from paplu_env.evaluation.games import check_deals
from paplu_env.evaluation.sequential import check_until
from paplu_env.reading import read_toml
from paplu_env.rules import as_rules

_CELL: Final = 4  # parts of a published cell: row, column, win %, points


@dataclass(frozen=True)
class Published:
    """A figure that somebody else published for a pair.

    Attributes:
        a, b: names of the policies.
        win_rate: share of games that ``a`` won.
        points: ``a``'s points per deal.
        source: who says so.
    """

    a: str
    b: str
    win_rate: float
    points: float
    source: str

    def turned(self) -> Published:
        """The same figure seen from ``b``; a win rate counts every game as won by somebody."""
        return Published(self.b, self.a, 1 - self.win_rate, -self.points, self.source)


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """A round robin: every pair of policies under every rule set, all on the deals of one seed.

    Attributes:
        policies: names of bots or paths of exported ones, at least two, all different.
        rules: rules strings, each of a table of two.
        deals: distinct deals per pair, each played from both seats; with ``until`` the most that are played.
        seed: of the deals.
        policy_seed: of the policies' chance; made of ``seed`` if None, see `engine.chance.policy_seed_of`.
        until: stop a pair at this 95 % half-width in points per deal; None: play all deals.
        published: by rules string, figures to compare with.

    Raises:
        PapluError: a schedule that can't be played, and why.
    """

    policies: tuple[str, ...]
    rules: tuple[str, ...] = ("points",)
    deals: int = 2000
    seed: int = 0
    until: float | None = None
    policy_seed: int | None = None
    published: Mapping[str, tuple[Published, ...]] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.policies) < 2:
            raise PapluError(f"{len(self.policies)} policies: a tournament needs at least two")
        for name in self.policies:
            if self.policies.count(name) > 1:
                raise PapluError(f"{name} is named twice: a policy against itself is even on duplicate deals")
        if not self.rules:
            raise PapluError("rules=[]: name at least one rule set")
        for text in self.rules:
            players = as_rules(text).num_players
            if players != 2:
                raise PapluError(f"{text} is a table of {players}: a round robin is played by pairs, at tables of two")
        check_deals(self.deals)
        as_seed(self.seed)
        if self.policy_seed is not None:
            as_seed(self.policy_seed, "policy_seed")
        check_until(self.until)
        for text, cells in self.published.items():
            if text not in self.rules:
                raise PapluError(f"published figures for {text!r}, which is not among the rules {list(self.rules)}")
            for cell in cells:
                unknown = {cell.a, cell.b} - set(self.policies)
                if unknown:
                    raise PapluError(f"a published figure of {sorted(unknown)[0]!r}, which is not among the policies")

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Every pair once, in the order of the policies."""
        return list(combinations(self.policies, 2))

    @property
    def chance(self) -> int:
        """The seed that the policies' chance follows from."""
        return policy_seed_of(self.seed) if self.policy_seed is None else self.policy_seed

    def published_of(self, rules: str, a: str, b: str) -> Published | None:
        """The published figure of a pair, seen from ``a``; None without one."""
        for cell in self.published.get(rules, ()):
            if (cell.a, cell.b) == (a, b):
                return cell
            if (cell.a, cell.b) == (b, a):
                return cell.turned()
        return None

    def to_dict(self) -> dict[str, Any]:
        """What decides the games, as plain values: everything but the published figures."""
        return {
            "policies": list(self.policies),
            "rules": list(self.rules),
            "deals": self.deals,
            "seed": self.seed,
            "policy_seed": self.chance,
            "until": self.until,
        }


def read_schedule(path: str | os.PathLike[str], **overrides: Any) -> Schedule:
    """A schedule from a TOML file.

    Keys are the attributes of `Schedule`. Each ``[[published]]`` table has ``source``, ``rules`` and ``cells``,
    a list of ``[row, column, win %, points per deal]``.

    Args:
        overrides: values instead of the file's; those that are None change nothing. With other rules the figures
            published for the file's own are left out.

    Raises:
        InvalidFile: it can't be read, isn't TOML, or has an unknown key or a value of the wrong kind.
        PapluError: a schedule that can't be played.
    """
    values = read_toml(path)
    known = {field.name for field in dataclasses.fields(Schedule)}
    for key in values:
        if key not in known:
            raise InvalidFile(f"{os.fspath(path)}: unknown key {key!r}; the keys are {', '.join(sorted(known))}")
    try:
        values["policies"] = tuple(_texts(values.get("policies", [])))
        values["rules"] = tuple(_texts(values.get("rules", ["points"])))
        values["published"] = _published(values.get("published", []))
        for key, kinds in (("deals", (int,)), ("seed", (int,)), ("policy_seed", (int,)), ("until", (int, float))):
            if key in values and (not isinstance(values[key], kinds) or isinstance(values[key], bool)):
                raise TypeError(f"{key} = {values[key]!r} is not a number")
    except (TypeError, KeyError, ValueError) as error:
        raise InvalidFile(f"{os.fspath(path)}: {error}") from None
    values |= {key: value for key, value in overrides.items() if value is not None}
    values["published"] = {rules: cells for rules, cells in values["published"].items() if rules in values["rules"]}
    return Schedule(**values)


def _texts(values: Any) -> list[str]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise TypeError(f"{values!r} is not a list of texts")
    return values


def _published(tables: Sequence[Mapping[str, Any]]) -> dict[str, tuple[Published, ...]]:
    """The published figures by rules string."""
    found: dict[str, tuple[Published, ...]] = {}
    for table in tables:
        if set(table) != {"source", "rules", "cells"}:
            raise KeyError(f"[[published]] has the keys source, rules and cells, not {', '.join(sorted(table))}")
        cells = []
        for cell in table["cells"]:
            if len(cell) != _CELL:
                raise ValueError(f"cells are [row, column, win %, points], not {cell}")
            cells.append(Published(cell[0], cell[1], cell[2] / 100, float(cell[3]), table["source"]))
        found[table["rules"]] = (*found.get(table["rules"], ()), *cells)
    return found
