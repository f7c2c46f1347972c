"""``paplu bots``: what can be named as an opponent."""

from __future__ import annotations

import argparse

from paplu_env import bots
from paplu_env.cli.options import add_json, format_table, print_json

EXAMPLES = "A path to an exported network (runs/demo/demo.onnx) is a bot too."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    listed = bots.list_bots()
    if options.json:
        print_json(listed)
        return 0
    rows = [[bot["name"], bot["kind"], bot["description"]] for bot in listed]
    print(format_table(rows, ["name", "kind", "what it does"]))
    return 0
