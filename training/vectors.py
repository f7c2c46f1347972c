"""Write what an encoder in another language is checked by: ``python -m training.vectors``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

from paplu_env.bots import make_policy
from paplu_env.bots.networks.shipped import policies_folder
from paplu_env.cli.streams import prepare_streams
from paplu_env.errors import PapluError
from paplu_env.files import check_target, json_of
from training.run.encoder_vectors import COUNT, ENCODING, SEED, header, make_vectors, write_vectors
from training.run.folder import check_not_kept

__all__ = ["COUNT", "ENCODING", "header", "main", "make_vectors", "write_vectors"]

FILE: Final = "vectors.jsonl"

_EPILOG: Final = """\
The first line says what the others are of. Each of these is one decision: the events that a seat has seen, the
observation that follows, the legal actions, and the one that the bot chooses. The file that ships was written by the
second example.

examples:
  python -m training.vectors --out vectors.jsonl --count 100
  python -m training.vectors --bot cards-2 --rules points
"""


def main(arguments: list[str] | None = None) -> int:
    """The command line.

    Returns:
        0 when the file is written, 2 if it can't be.
    """
    parser = argparse.ArgumentParser(
        prog="python -m training.vectors",
        description="Write the file by which an encoder in another language is checked.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--bot", default="mindist_opp", help="the bot whose actions are told (mindist_opp)")
    parser.add_argument("--rules", help="rules of the deals (default: the first that the bot is for)")
    parser.add_argument("--count", type=int, default=COUNT, help=f"number of decisions ({COUNT:,})")
    parser.add_argument("--seed", type=int, default=SEED, help=f"seed of the deals, the choice and the bot ({SEED})")
    parser.add_argument("--out", type=Path, help=f"file to write (default: policies/{FILE})")
    parser.add_argument("--force", action="store_true", help="write over a file that this command did not write")
    given = parser.parse_args(arguments)
    out = given.out or policies_folder() / FILE
    try:
        check_not_kept(out)
        check_target(out, json_of("format", "paplu-vectors-"), given.force)
        write_vectors(out, make_policy(given.bot, given.rules), given.count, given.seed)
    except PapluError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{out} ({given.count:,} decisions)")
    return 0


if __name__ == "__main__":
    prepare_streams()
    sys.exit(main())
