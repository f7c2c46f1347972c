"""Train a bot by masked self-play: ``python -m training.train configs/demo.toml``."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import Any, Final

from paplu_env.cli.streams import prepare_streams
from paplu_env.errors import PapluError
from training.learn.config import BUDGET, load_config
from training.run.interrupt import exit_status, signals_stop

__all__ = ["main", "train"]  # noqa: F822 - `train` is looked up when it is asked for

_EPILOG: Final = """\
One TOML file is one run, and one run is one folder. The network that does best against the fixed bot of the file's
[evaluation] is kept there, to be exported by training.export. Ctrl-C, SIGTERM and SIGHUP finish the update under way
and save it.

examples:
  python -m training.train configs/demo.toml
      about five minutes, into runs/demo
  python -m training.train configs/demo.toml --resume
      go on from the last checkpoint, or extend a finished run whose budget was raised in the file
  python -m training.train configs/points-2/part_2.toml --from runs/points
      begin with the best network of another run; policies/NAME begins with a bot that ships
"""


def main(arguments: list[str] | None = None) -> int:
    """The command line.

    Returns:
        0 when the run is finished, 2 if it can't be done as asked, 130 after Ctrl-C, 143 after SIGTERM, 129 after
        SIGHUP.
    """
    parser = argparse.ArgumentParser(
        prog="python -m training.train",
        description="Train a bot by masked self-play.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("config", type=Path, help="TOML file of the run, see configs/ and training/learn/config.py")
    parser.add_argument(
        "--resume",
        action="store_true",
        help=f"go on from the last checkpoint in the run's folder; with larger {' or '.join(BUDGET)} in the "
        "configuration a finished run is extended",
    )
    parser.add_argument("--out", type=Path, help="the run's folder (default: runs/NAME)")
    parser.add_argument(
        "--from",
        dest="start_from",
        type=Path,
        metavar="PATH",
        help="weights to begin with: policies/NAME, an exported NAME.onnx, a run's folder, or a .safetensors file",
    )
    given = parser.parse_args(arguments)
    out = given.out
    try:
        config = load_config(given.config)
        out = out or Path("runs") / config.name
        # Only now, so that help and mistakes don't wait for torch.
        from training.run.training_loop import train

        with signals_stop():
            folder = train(config, out, given.resume, given.start_from)
    except PapluError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as error:
        command = shlex.join(["python", "-m", "training.train", str(given.config), "--out", str(out), "--resume"])
        print(f"stopped; go on with: {command}", file=sys.stderr)
        return exit_status(error)
    print(f"done; export the best network with: python -m training.export {shlex.quote(str(folder.path))}")
    return 0


def __getattr__(name: str) -> Any:
    """`train`, when it is asked for: it brings torch."""
    if name != "train":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from training.run import training_loop

    return training_loop.train


if __name__ == "__main__":
    prepare_streams()
    sys.exit(main())
