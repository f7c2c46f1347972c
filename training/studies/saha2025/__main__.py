"""Runs `measure`: ``python -m training.studies.saha2025``."""

from paplu_env.cli.streams import prepare_streams
from training.studies.saha2025.measure import main

if __name__ == "__main__":
    prepare_streams()
    raise SystemExit(main())
