"""Runs `measure`: ``python -m training.studies.search_strength``."""

from paplu_env.cli.streams import prepare_streams
from training.studies.search_strength.measure import main

if __name__ == "__main__":
    prepare_streams()
    raise SystemExit(main())
