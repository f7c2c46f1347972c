"""``paplu play [BOT]``: sit down opposite a bot."""

from __future__ import annotations

import argparse
import secrets

from paplu_env.cli.options import add_force, add_match_rules, need, seat_bots, whole_number
from paplu_env.ui.play import play_deals

EXAMPLES = """\
At the prompt: draw, take, drop; then the card to throw (7H), or declare 7H when the mask allows it.
`?` shows what the solver says, `help` the words, `quit` leaves. Colours follow NO_COLOR.

examples:
  paplu play                      against medium
  paplu play easy --seed 7        the same deal every time
  paplu play runs/demo/demo.onnx"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bot", nargs="?", default="medium", help="a bot's name or an exported network (medium)")
    add_match_rules(parser)
    parser.add_argument(
        "--seed",
        type=whole_number(0, 2**64 - 1),
        metavar="N",
        help="seed of the first deal, from which the bot's chance follows too (both random)",
    )
    parser.add_argument("--deals", type=whole_number(1, 1_000_000), default=1, metavar="N", help="deals to play (1)")
    parser.add_argument("--seat", type=whole_number(0, 9), default=0, metavar="N", help="your seat; 0 begins (0)")
    parser.add_argument("--save", metavar="FILE", help="write the last deal as a record for `paplu replay`")
    add_force(parser)
    parser.add_argument("--watch", action="store_true", help="let the bot play your seat too, and look on")


def run(options: argparse.Namespace) -> int:
    rules, (bot,) = seat_bots([options.bot], options.rules)
    need(options.seat < rules.num_players, f"--seat {options.seat}: the table has seats 0..{rules.num_players - 1}")
    is_fresh = options.seed is None  # then nothing that the bot is given may lead to the cards, not even by trying
    play_deals(
        bot,
        rules,
        seed=secrets.randbits(32) if is_fresh else options.seed,
        deals=options.deals,
        seat=options.seat,
        save=options.save,
        is_watching=options.watch,
        policy_seed=secrets.randbits(64) if is_fresh else None,
        force=options.force,
    )
    return 0
