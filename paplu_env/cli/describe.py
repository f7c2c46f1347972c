"""``paplu describe``: the action table, the rules, the series and the encodings, printed from the code."""

from __future__ import annotations

import argparse
import dataclasses
import shutil
import textwrap
from collections.abc import Mapping
from typing import Any, Final, get_args, get_type_hints

from paplu_env import encoding, engine
from paplu_env.cli.options import add_json, add_rules, format_table, print_json
from paplu_env.engine.series.format import FORMATS
from paplu_env.rules import RuleSet, as_rules, preset, seats_of
from paplu_env.rules.presets import PRESETS

EXAMPLES = """\
examples:
  paplu describe actions
  paplu describe rules                    every preset and every option
  paplu describe rules --rules rummy_21   all options of one table
  paplu describe series                   formats of several deals
  paplu describe features-v1 --rules one_pack --json"""

_WIDTH: Final = 80  # columns of a narrow terminal
_LABEL: Final = 13  # columns of a preset's name


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=["actions", "rules", "series", *encoding.layouts()], help="what to print")
    add_rules(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    rules = as_rules(options.rules)  # whatever is described: a mistyped option should never pass unnoticed
    if options.what == "actions":
        rows = [{"id": action, "action": engine.format_action(action)} for action in range(engine.NUM_ACTIONS)]
        _print(rows, options.json)
    elif options.what == "rules":
        if options.json:
            print_json(_rules_data(rules))
        elif rules == RuleSet():
            _print_presets()
            _print_options(rules)
        else:
            print(f"{rules}\n")
            _print_options(rules)
    elif options.what == "series":
        _print([{"format": name, "meaning": meaning} for name, meaning in FORMATS.items()], options.json)
    else:
        chosen = encoding.layouts()[options.what]
        fields = [_field_row(field) for field in chosen.fields(rules)]
        if options.json:
            data = {"encoding": chosen.name, "rules": str(rules), "num_features": chosen.num_features(rules)}
            print_json({**data, "fields": fields})
        else:
            print(f"{chosen.name} for {rules}: {chosen.num_features(rules)} numbers in [0, 1], float32\n")
            _print(fields, False)
    return 0


def _field_row(field: encoding.Field) -> dict[str, Any]:
    shape = list(field.shape)
    return {"name": field.name, "start": field.start, "size": field.size, "shape": shape, "meaning": field.meaning}


def _rules_data(rules: RuleSet) -> dict[str, Any]:
    """Every preset, and the rules that are asked about: what differs from ``points``, and all the options."""
    presets = {
        name: {
            "meaning": chosen.meaning,
            "players": list(_tables(name)),
            "differs": _differences(preset(name)),
            "options": preset(name).to_dict(),
        }
        for name, chosen in PRESETS.items()
    }
    return {"rules": str(rules), "options": rules.to_dict(), "presets": presets}


def _differences(rules: RuleSet, base: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The options that aren't those of another table, ``points`` if none is given."""
    default = RuleSet().to_dict() if base is None else base
    return {option: value for option, value in rules.to_dict().items() if value != default[option]}


def _print_presets() -> None:
    """What every preset is and what differs in it from ``points``."""
    print("presets, and what differs in them from points\n")
    for name, chosen in PRESETS.items():
        tables = _tables(name)
        low, high = min(tables), max(tables)
        players = f"{low}" if low == high else f"{low}–{high}"
        _print_entry(name, f"{chosen.meaning} ({players} players)", _format_options(_differences(tables[low])))
        for seats in range(low + 1, high + 1):
            changes = _differences(tables[seats], {**tables[seats - 1].to_dict(), "num_players": seats})
            if changes:
                _print_entry("", f"from {seats} players: {_format_options(changes)}")


def _tables(name: str) -> dict[int, RuleSet]:
    """A preset for every number of seats for which its packs are enough."""
    low, high = seats_of(name)
    return {seats: preset(name, num_players=seats) for seats in range(low, high + 1)}


def _print_options(rules: RuleSet) -> None:
    """Every option with its value, its meaning and what else it may be; * where it isn't the default."""
    differing = _differences(rules)
    print("\noptions and their defaults\n" if not differing else "options; * differs from points\n")
    for field in dataclasses.fields(RuleSet):
        value = _format_options({field.name: getattr(rules, field.name)})
        mark = "* " if field.name in differing else ""
        meaning = str(field.metadata["meaning"])
        print(f"{mark}{value}")
        _print_entry("", f"{meaning}; {values}" if (values := _values(field)) else meaning)


def _values(field: dataclasses.Field[Any]) -> str:
    """The values that an option may have, where they aren't just true and false."""
    choices = [choice for choice in get_args(get_type_hints(RuleSet)[field.name]) if isinstance(choice, str)]
    if choices:
        return " | ".join(choices)
    low, high, few = field.metadata["low"], field.metadata["high"], field.metadata["numbers"]
    if few:
        return " or ".join(str(number) for number in few)
    if low is None:
        return ""
    numbers = f"{low}" if low == high else f"{low}..{high}"
    return f"none or {numbers}" if field.default is None else numbers


def _format_options(options: Mapping[str, Any]) -> str:
    """Options as a rules string writes them, with room to break the line."""
    return ", ".join(
        f"{option}={str(value).lower() if value is None or isinstance(value, bool) else value}"
        for option, value in options.items()
    )


def _print_entry(name: str, *texts: str) -> None:
    """A name and what there is to say of it, folded to the width of a narrow terminal."""
    for place, text in enumerate(filter(None, texts)):
        label = "" if place else name
        print(
            textwrap.fill(
                text,
                _WIDTH,
                initial_indent=f"{label:<{_LABEL}}",
                subsequent_indent=" " * _LABEL,
                break_on_hyphens=False,
            )
        )


def _print(rows: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        print_json(rows)
        return
    header = list(rows[0])
    numbers = [place for place, name in enumerate(header) if isinstance(rows[0][name], int)]
    cells = [[str(row[name]) for name in header] for row in rows]
    print(format_table(cells, header, right=numbers, fold=max(_WIDTH, shutil.get_terminal_size((_WIDTH, 24)).columns)))
