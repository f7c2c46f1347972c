"""The ``paplu`` command: one subcommand a file, one sentence for every mistake."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Final

from paplu_env import __version__
from paplu_env.cli.streams import prepare_streams
from paplu_env.errors import PapluError
from paplu_env.workers import left_behind

# Subcommands in the order of the help page; each module has HELP, add_arguments(parser) and run(arguments) -> int.
COMMANDS: Final = ("solve", "play", "match", "tournament", "replay", "bots", "bot", "describe", "bench")
EPILOG: Final = """\
examples:
  paplu solve "AS 2S 3S 5H 6H PJ 9C 9D KS KH 4D 7C 8C" --wild 7
  paplu play medium                       play a deal against a bot
  paplu match medium easy --deals 2000    who is better, by how much, how sure is that
  paplu tournament easy medium random     everybody against everybody, with ratings
  paplu describe actions                  the action table, from the code

Rules are named by a preset, with overrides: --rules points:drop_allowed=false. `paplu COMMAND --help` says more.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand; returns the exit status: 0 done, 1 failed, 2 the input can't be used."""
    prepare_streams()
    given = list(sys.argv[1:] if arguments is None else arguments)
    parser = _parser(given)
    options = parser.parse_args(given)
    if options.command is None:
        parser.print_help()
        return 2
    try:
        return int(importlib.import_module(f"paplu_env.cli.{options.command}").run(options))
    except PapluError as error:
        print(f"paplu {options.command}: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            # The reader went away (head, less): stop without a word, and keep Python from flushing again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        print(f"paplu {options.command}: {error.filename or ''}: {error.strerror or error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as stop:
        print(f"\n{stop or 'stopped'}", file=sys.stderr)
        if left_behind():
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(130)
        return 130


def _parser(given: Sequence[str]) -> argparse.ArgumentParser:
    """The parser, with the arguments of the one subcommand that is asked for: the others aren't imported."""
    parser = argparse.ArgumentParser(
        prog="paplu",
        description="Indian Rummy (Paplu) for reinforcement learning.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"paplu-env {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND")
    asked = next((word for word in given if not word.startswith("-")), None)
    for name in COMMANDS:
        summary = _SUMMARIES[name]
        subparser = subparsers.add_parser(
            name, help=summary, description=summary, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        if name == asked:
            module = importlib.import_module(f"paplu_env.cli.{name}")
            subparser.epilog = module.EXAMPLES
            module.add_arguments(subparser)
    return parser


_SUMMARIES: Final = {
    "solve": "best arrangement of a hand, its points, distance, outs and best discards",
    "play": "play deals against a bot in the terminal",
    "match": "play two bots against each other on duplicate deals, with intervals",
    "tournament": "play many bots against each other, with ratings, intervals and a report",
    "replay": "show a recorded deal move by move",
    "bots": "list the bots that can be named",
    "bot": "let a bot sit at another program's table, by lines of JSON",
    "describe": "print actions, rules or an encoding, from the code",
    "bench": "measure solver, engine, encodings, environments and bots on this machine",
}


if __name__ == "__main__":
    sys.exit(main())
