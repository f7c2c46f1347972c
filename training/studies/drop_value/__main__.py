"""Runs `measure`: ``python -m training.studies.drop_value``."""

from paplu_env.cli.streams import prepare_streams
from training.studies.drop_value.measure import main

if __name__ == "__main__":
    prepare_streams()
    raise SystemExit(main())
