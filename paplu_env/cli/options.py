"""Arguments that several subcommands share, and tables for the terminal."""

from __future__ import annotations

import argparse
import json
import os
import reprlib
import sys
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, Final, TextIO

from paplu_env.bots import Policy, exported_file, make_policy
from paplu_env.cli.streams import is_unicode
from paplu_env.errors import PapluError
from paplu_env.rules import RuleSet, as_rules

_NARROWEST: Final = 20  # columns that folded texts get at least


def add_rules(parser: argparse.ArgumentParser) -> None:
    """``--rules PRESET[:option=value,…]``."""
    parser.add_argument(
        "--rules",
        default="points",
        metavar="RULES",
        help="a preset, with overrides: points:drop_allowed=false (default: points; see `paplu describe rules`)",
    )


def add_match_rules(parser: argparse.ArgumentParser) -> None:
    """``--rules`` of a command with bots: an exported bot brings its own."""
    parser.add_argument(
        "--rules",
        metavar="RULES",
        help="a preset, with overrides: points:drop_allowed=false (default: what an exported bot was trained for, "
        "otherwise points)",
    )


def seat_bots(names: Sequence[str], rules: str | None) -> tuple[RuleSet, list[Policy]]:
    """The rules of a table and its bots: the rules given, or those of the first exported bot, or ``points``.

    Raises:
        PapluError: unknown rules or bots, or a bot that doesn't play the rules.
    """
    exported = [name for name in names if exported_file(name) is not None]
    if rules is None and exported:
        rule_set = make_policy(exported[0], None).rules
    else:
        rule_set = as_rules("points" if rules is None else rules)
    return rule_set, [make_policy(name, rule_set) for name in names]


def add_seed(parser: argparse.ArgumentParser) -> None:
    """``--seed N``, 0 by default: everything that is random follows from it."""
    parser.add_argument(
        "--seed",
        type=whole_number(0, 2**64 - 1),
        default=0,
        metavar="N",
        help="seed, from which everything random follows (default: 0)",
    )


def add_policy_seed(parser: argparse.ArgumentParser) -> None:
    """``--policy-seed N``: the chance of the bots, apart from that of the deals."""
    parser.add_argument(
        "--policy-seed",
        type=whole_number(0, 2**64 - 1),
        metavar="N",
        help="seed of the bots' chance (made of --seed, one way)",
    )


def add_force(parser: argparse.ArgumentParser) -> None:
    """``--force``: write over files of others."""
    parser.add_argument("--force", action="store_true", help="write over a file that this command did not write")


def add_json(parser: argparse.ArgumentParser) -> None:
    """``--json``: the same as data."""
    parser.add_argument("--json", action="store_true", help="print the same as JSON")


def whole_number(low: int, high: int | None = None) -> Callable[[str], int]:
    """A type for argparse: a whole number in a range, with a sentence for anything else."""

    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{reprlib.repr(text)} is not a whole number") from None
        if value < low or (high is not None and value > high):
            limit = f"at least {low}" if high is None else f"{low} to {high:,}"
            raise argparse.ArgumentTypeError(f"{value} is out of range: {limit}")
        return value

    return parse


def print_json(data: Any) -> None:
    """Data as indented JSON on standard output, exact in every encoding."""
    print(json.dumps(data, indent=2, ensure_ascii=not is_unicode(sys.stdout)))


def format_table(
    rows: Sequence[Sequence[str]], header: Sequence[str], right: Sequence[int] = (), fold: int | None = None
) -> str:
    """Aligned columns; the columns numbered in ``right`` are flush right.

    Args:
        fold: columns of the whole table, into which the texts of the last one are folded.
    """
    table = [list(header), *[list(row) for row in rows]]
    widths = [max(len(row[column]) for row in table) for column in range(len(header))]
    if fold is not None:
        width = max(fold - sum(widths[:-1]) - 2 * (len(header) - 1), _NARROWEST)
        folded = [(row, textwrap.wrap(row[-1], width, break_on_hyphens=False) or [""]) for row in table]
        table = [
            [*(row[:-1] if place == 0 else [""] * (len(header) - 1)), line]
            for row, lines in folded
            for place, line in enumerate(lines)
        ]
        widths[-1] = max(len(row[-1]) for row in table)
    lines = []
    for row in table:
        cells = [
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def progress_printer(what: str, terminal: TextIO | None = None) -> Callable[[int, int], None] | None:
    """A function ``(done, total)`` that keeps one line on a terminal up to date; None where there is no terminal.

    Args:
        terminal: standard error if not given, as it is now.
    """
    stream = sys.stderr if terminal is None else terminal
    if not stream.isatty() or os.environ.get("TERM") == "dumb":
        return None

    def show(done: int, total: int) -> None:
        filled = 30 * done // max(total, 1)
        stream.write(f"\r{what} [{'#' * filled}{'.' * (30 - filled)}] {done:,}/{total:,}")
        if done >= total:
            stream.write("\r" + " " * (len(what) + 60) + "\r")
        stream.flush()

    return show


def need(condition: bool, sentence: str) -> None:
    """Refuse an argument with a sentence.

    Raises:
        PapluError: the condition doesn't hold.
    """
    if not condition:
        raise PapluError(sentence)
