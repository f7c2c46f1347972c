"""``paplu bot NAME``: a bot for other programs, as lines of JSON on standard input and output."""

from __future__ import annotations

import argparse
import json
import sys

from paplu_env.bots.table.protocol import MAX_LINE, PROTOCOL, Conversation
from paplu_env.cli.options import add_match_rules, add_seed

EXAMPLES = f"""\
Every line gets one line back. The first is a hello, which is answered once the bot is ready (the first time ever it
compiles, for a minute); then come the events of a table as one seat sees them. An event that cannot have happened
gets an error with the reason and changes nothing, and so does a line of over {MAX_LINE:,} bytes; a blank line gets no
reply. The bot's own actions are events like those of others.

  {{"type": "hello", "protocol": "{PROTOCOL}", "rules": "points"}}    rules and seed are optional
  {{"type": "deal", "seat": 0, "hand": "4S 5S ...", "indicator": "5D", "open": "QC", "first": 0}}
  {{"type": "decide"}}                                   is answered by  {{"type": "action", "action": "draw", "id": 0}}
  {{"type": "draw", "seat": 0, "card": "KD"}}            others' draws name no card
  {{"type": "take", "seat": 1}}
  {{"type": "discard", "seat": 1, "card": "7H"}}
  {{"type": "drop", "seat": 1}}
  {{"type": "declare", "seat": 1, "card": "7H", "hand": "AS 2S ..."}}
  {{"type": "announce", "seat": 1, "hand": "AS 2S ..."}}
  {{"type": "reshuffle", "open": "9C"}}
  {{"type": "end", "ending": "declared", "returns": [-21, 21]}}         optional
  {{"type": "decide", "milliseconds": 200, "explain": true}}            or worlds: 64, for bots that search
  {{"type": "quit"}}

policies/README.md of the package has every field, and bots in Python and JavaScript that can be copied."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bot", metavar="NAME", help="a bot's name or the path of an exported network")
    add_match_rules(parser)
    add_seed(parser)


def run(options: argparse.Namespace) -> int:
    talk = Conversation(options.bot, options.rules, options.seed)
    while not talk.is_over and (line := _next_line()):
        if line.strip():
            print(json.dumps(talk.answer(line)), flush=True)
    return 0


def _next_line() -> bytes:
    """The next line of standard input, cut off where it is too long to be a message; empty at the end."""
    if sys.stdin is None:  # closed by whoever started the command
        return b""
    line = rest = sys.stdin.buffer.readline(MAX_LINE + 1)
    while rest and not rest.endswith(b"\n"):
        rest = sys.stdin.buffer.readline(MAX_LINE + 1)
    return line
