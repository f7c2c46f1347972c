"""``paplu describe``: the action table, the rules and the encodings, printed from the code."""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any

from paplu_env import encoding, engine
from paplu_env.cli.options import add_json, add_rules, format_table, print_json
from paplu_env.presets import PRESETS
from paplu_env.rules import RuleSet, as_rules, preset, seats_of

EXAMPLES = """\
examples:
  paplu describe actions
  paplu describe rules
  paplu describe features-v1 --rules one_pack --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=["actions", "rules", *encoding.layouts()], help="what to print")
    add_rules(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    rules = as_rules(options.rules)  # whatever is described: a mistyped option should never pass unnoticed
    if options.what == "actions":
        rows = [{"id": action, "action": engine.format_action(action)} for action in range(engine.NUM_ACTIONS)]
        _print(rows, options.json)
    elif options.what == "rules":
        if options.json:
            print_json({name: preset(name).to_dict() for name in PRESETS})
        else:
            _print_rules()
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


def _print_rules() -> None:
    """The presets and what each changes, then every option with its default."""
    print("presets\n")
    rows = []
    for name, chosen in PRESETS.items():
        low, high = seats_of(name)
        changes = ", ".join(f"{option}={value}" for option, value in chosen.options.items()) or "–"
        rows.append([name, f"{low}–{high}", chosen.meaning, changes])
    print(format_table(rows, ["preset", "players", "what it is", "differs from points in"]))
    print("\noptions\n")
    options = [
        [field.name, str(field.default).lower() if isinstance(field.default, bool) else str(field.default)]
        + [str(field.metadata["meaning"])]
        for field in dataclasses.fields(RuleSet)
    ]
    print(format_table(options, ["option", "default", "meaning"]))


def _print(rows: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        print_json(rows)
        return
    header = list(rows[0])
    numbers = [place for place, name in enumerate(header) if isinstance(rows[0][name], int)]
    print(format_table([[str(row[name]) for name in header] for row in rows], header, right=numbers))
