"""Export a run's best network as one ONNX file with its card: ``python -m training.export RUN``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

from paplu_env.cli.streams import prepare_streams
from paplu_env.errors import PapluError
from training.run.policy_file import (
    CARD_FORMAT,
    OPSET,
    add_evaluation,
    card_path,
    export_module,
    export_run,
    play_command,
)

__all__ = [
    "CARD_FORMAT",
    "OPSET",
    "add_evaluation",
    "card_path",
    "export_module",
    "export_run",
    "main",
    "play_command",
]

_EPILOG: Final = """\
Three files are written: NAME.onnx, which `paplu play` and any ONNX runtime plays, NAME.json, a card that says who
trained it on what, and NAME.safetensors, the weights to go on training from. The ONNX file is compared with the network
on thousands of positions before anything is written.

examples:
  python -m training.export runs/demo
  python -m training.export runs/demo --last --out bots/demo.onnx
"""


def main(arguments: list[str] | None = None) -> int:
    """The command line.

    Returns:
        0 when the files are written, 2 if they can't be.
    """
    parser = argparse.ArgumentParser(
        prog="python -m training.export",
        description="Export a run's best network as one ONNX file with its card.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("run", type=Path, help="a run's folder, as runs/NAME")
    parser.add_argument("--out", type=Path, help="the ONNX file to write (default: RUN/NAME.onnx)")
    parser.add_argument("--last", action="store_true", help="the network of the last checkpoint instead of the best")
    parser.add_argument("--force", action="store_true", help="write over a file that this command did not write")
    given = parser.parse_args(arguments)
    try:
        path = export_run(given.run, given.out, given.last, given.force)
    except PapluError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{path} ({path.stat().st_size / 1e6:.2f} MB); play it with: {play_command(path)}")
    return 0


if __name__ == "__main__":
    prepare_streams()
    sys.exit(main())
