"""What ``make demo`` runs: a bot is trained, exported and measured, and plays a deal move by move on the screen."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from paplu_env import engine
from paplu_env.bots import Policy, make_policy
from paplu_env.bots.networks.onnx import OnnxPolicy
from paplu_env.bots.playing import play_steps
from paplu_env.bots.policy import decision_keys
from paplu_env.cards import format_card, format_hand
from paplu_env.cli.streams import prepare_streams
from paplu_env.engine.actions import format_action
from paplu_env.engine.chance import policy_seed_of
from paplu_env.engine.state import ENDING_NAMES
from paplu_env.errors import PapluError
from paplu_env.evaluation import MatchResult, play_match
from training.learn.config import TrainConfig, load_config
from training.run.folder import RunFolder
from training.run.interrupt import exit_status, signals_stop
from training.run.policy_file import add_evaluation, export_run, play_command
from training.run.progress import Progress
from training.run.training_loop import train

CONFIG: Final = Path(__file__).resolve().parent.parent / "configs" / "demo.toml"
RIVALS: Final = ("random", "minscore")
DEALS: Final = 2_000  # of each match, each played from both seats
SPARRING: Final = "medium"  # who plays the deal on the screen

_MATCH_SEED: Final = 2_000_003  # other deals than those by which training chose its best network
_SHOWN_DEAL: Final = 7


def demo(config: TrainConfig, out: Path) -> Path:
    """Train, export, measure and show; a demo that was stopped goes on where it was.

    Returns:
        The path of the exported policy.
    """
    with _stage(1, f"training {config.name} on {config.rules}"):
        train(config, out, resume=RunFolder(out).holds_run)
    with _stage(2, "exporting its best network"):
        path = export_run(out)
        print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
    with _stage(3, f"measuring the exported file, {DEALS:,} deals from both seats"):
        bot = OnnxPolicy(path)
        results = [_match(bot, rival) for rival in RIVALS]
        add_evaluation(path, [result.to_dict() for result in results])
    with _stage(4, f"one deal against {SPARRING}"):
        show_deal(bot, make_policy(SPARRING, bot.rules), _SHOWN_DEAL)
    print(f"\n{bot.name}, trained in this demo, plays {bot.rules}:")
    for result in results:
        print(_line(result))
    print(f"\nPlay against it:  {play_command(path)}")
    return path


def show_deal(bot: Policy, rival: Policy, seed: int) -> None:
    """Play one deal and print every move, with the bot's cards in sight; the bot sits at seat 0."""
    rules, names = bot.rules, (bot.name, rival.name)
    states = engine.deal(rules, seed)
    indicator = format_card(int(states[0]["indicator"]))
    print(f"{names[0]} holds {format_hand(states[0]['hands'][0])}; indicator {indicator}")
    chance = policy_seed_of(seed)
    for step in play_steps(states, [bot, rival], lambda rows, due: decision_keys(chance, rows, due)):
        print(f"  {names[step.seats[0]]:>10}: {format_action(int(step.actions[0]))}")
    ending = ENDING_NAMES[int(states[0]["ending"])]
    points = engine.returns(states, 0)
    print(f"  {ending}: " + ", ".join(f"{name} {int(point):+d}" for name, point in zip(names, points, strict=True)))
    for name, hand in zip(names, states[0]["hands"], strict=False):
        print(f"  {name:>10} held {format_hand(hand)}")


def _match(bot: Policy, rival: str) -> MatchResult:
    with Progress(f"against {rival}", 2 * DEALS) as progress:
        return play_match(
            bot,
            rival,
            deals=DEALS,
            seed=_MATCH_SEED,
            rules=bot.rules,
            progress=lambda finished, _: progress.show(finished),
        )


def _line(result: MatchResult) -> str:
    low, high = result.points_interval
    return (
        f"  against {result.b:<9} won {result.win_rate:6.1%} of {result.games:,} games, "
        f"{result.points_per_deal:+.2f} points per deal (95 %: {low:+.2f} to {high:+.2f})"
    )


@contextmanager
def _stage(number: int, title: str) -> Iterator[None]:
    """Says what comes now, and afterwards how long it took."""
    print(f"\n[{number}/4] {title}", flush=True)
    start = time.monotonic()
    yield
    print(f"[{number}/4] done in {time.monotonic() - start:.0f} s", flush=True)


def main(arguments: list[str] | None = None) -> int:
    """The command line.

    Returns:
        0 when the bot has been shown, 2 if it can't be done as asked, 128 plus the signal's number after
        Ctrl-C, SIGTERM or SIGHUP.
    """
    parser = argparse.ArgumentParser(
        prog="python -m training.demo",
        description="Train a bot, export it, measure it, and show it play a deal: about ten minutes. A demo that was "
        "stopped goes on where it was.",
    )
    parser.add_argument("config", type=Path, nargs="?", default=CONFIG, help="TOML file of the run (configs/demo.toml)")
    parser.add_argument("--out", type=Path, help="the run's folder (default: runs/NAME)")
    given = parser.parse_args(arguments)
    try:
        config = load_config(given.config)
        with signals_stop():
            demo(config, given.out or Path("runs") / config.name)
    except PapluError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as error:
        print("stopped; the same command goes on from the last checkpoint", file=sys.stderr)
        return exit_status(error)
    return 0


if __name__ == "__main__":
    prepare_streams()
    sys.exit(main())
