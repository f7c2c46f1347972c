"""``paplu bots``: what can be named as an opponent."""

from __future__ import annotations

import argparse

from paplu_env.bots import ALIASES, BOTS
from paplu_env.cli.options import add_json, format_table, print_json

EXAMPLES = "A path to an exported network (runs/demo/demo.onnx) is a bot too."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    listed = [{"name": name, "stands for": "", "what it does": meaning} for name, meaning in BOTS.items()]
    listed += [{"name": name, "stands for": bot, "what it does": BOTS[bot]} for name, bot in ALIASES.items()]
    if options.json:
        print_json(listed)
    else:
        print(format_table([list(bot.values()) for bot in listed], list(listed[0])))
    return 0
