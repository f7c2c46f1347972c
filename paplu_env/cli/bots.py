"""``paplu bots``: what can be named as an opponent."""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any

from paplu_env.bots import ALIASES, BOTS, shipped_policies
from paplu_env.bots.networks.shipped import ShippedPolicy
from paplu_env.cli.options import add_json, format_table, print_json

EXAMPLES = """\
Strength is the share of games won and points per deal on duplicate deals; time is of one decision on one core of
the machine that trained the bot. A path to an exported network (runs/demo/demo.onnx) is a bot too."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    listed: list[dict[str, Any]] = [
        {"name": name, "stands for": "", "what it does": meaning} for name, meaning in BOTS.items()
    ]
    listed += [{"name": name, "stands for": bot, "what it does": BOTS[bot]} for name, bot in ALIASES.items()]
    shipped = shipped_policies().values()
    if options.json:
        networks = [
            {"name": bot.name, "stands for": "", "what it does": bot.about, "network": dataclasses.asdict(bot)}
            for bot in shipped
        ]
        print_json(listed + networks)
        return 0
    print(format_table([list(bot.values()) for bot in listed], list(listed[0])))
    if shipped:
        rows = [_network_row(bot) for bot in shipped]
        print("\n" + format_table(rows, ["network", "rules", "encoding", "size", "time", "strength", "what it is"]))
    return 0


def _network_row(bot: ShippedPolicy) -> list[str]:
    time = "" if bot.microseconds is None else f"{bot.microseconds / 1000:.2f} ms"
    # The first of each fits a line; --json and the card have all.
    strength = str(bot.strength[0]) if bot.strength else ""
    rules = bot.rules[0] if len(bot.rules) == 1 else f"{bot.rules[0]}, {len(bot.rules) - 1} more"
    return [bot.name, rules, bot.encoding, f"{bot.bytes / 1e6:.2f} MB", time, strength, bot.about]
