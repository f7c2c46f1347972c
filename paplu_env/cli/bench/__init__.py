"""``paplu bench``: its command and the rows that it measures."""

from paplu_env.cli.bench.command import EXAMPLES, add_arguments, run

__all__ = ["EXAMPLES", "add_arguments", "run"]
