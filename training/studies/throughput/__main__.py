"""Runs `measure`: ``python -m training.studies.throughput``."""

from paplu_env.cli.streams import prepare_streams
from training.studies.throughput.measure import main

if __name__ == "__main__":
    prepare_streams()
    raise SystemExit(main())
