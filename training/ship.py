"""Ship a run's best network with the package: ``python -m training.ship RUN --name NAME --about TEXT``."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import Final

from paplu_env.bots.networks.shipped import policies_folder
from paplu_env.cli.streams import prepare_streams
from paplu_env.errors import PapluError
from training.run.shipping import DEALS, SEED, read_card, ship, write_index

__all__ = ["main", "read_card", "ship", "write_index"]

_EPILOG: Final = """\
The network that did best goes into policies/ as NAME.onnx, NAME.json (its card) and NAME.safetensors (its weights, to
go on training from) and is measured on fresh duplicate deals. Then the index is written again from the cards. Without
RUN only the index is written.

examples:
  python -m training.ship runs/points --name points-2 --about "self-play, 2 x 256" --against mindist_opp outs
  python -m training.ship
"""


def main(arguments: list[str] | None = None) -> int:
    """The command line.

    Returns:
        0 when the files are written, 2 if they can't be.
    """
    parser = argparse.ArgumentParser(
        prog="python -m training.ship",
        description="Ship a run's best network with the package.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("run", nargs="?", type=Path, help="a run's folder, as runs/NAME")
    parser.add_argument("--name", help="what people will call it")
    parser.add_argument("--about", help="what it is, in one line")
    parser.add_argument("--against", nargs="*", default=[], metavar="BOT", help="bots that it is measured against")
    parser.add_argument("--deals", type=int, default=DEALS, help=f"duplicate deals of each match ({DEALS:,})")
    parser.add_argument("--seed", type=int, default=SEED, help=f"seed of the matches ({SEED})")
    parser.add_argument("--last", action="store_true", help="the network of the last checkpoint instead of the best")
    parser.add_argument("--folder", type=Path, help="folder to write into (default: the package's own policies/)")
    parser.add_argument("--force", action="store_true", help="write over a file that this command did not write")
    given = parser.parse_args(arguments)
    if given.run is not None and (given.name is None or given.about is None):
        parser.error("a run is shipped with --name and --about")
    try:
        if given.run is None:
            print(write_index(given.folder or policies_folder()))
            return 0
        path = ship(
            given.run,
            given.name,
            given.about,
            given.against,
            given.deals,
            given.seed,
            given.folder,
            given.last,
            given.force,
        )
    except PapluError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{path} ({path.stat().st_size / 1e6:.2f} MB); play it with: paplu play {shlex.quote(path.stem)}")
    return 0


if __name__ == "__main__":
    prepare_streams()
    sys.exit(main())
