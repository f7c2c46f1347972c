"""Runs `measure`: ``python -m training.studies.ablation``."""

from paplu_env.cli.streams import prepare_streams
from training.studies.ablation.measure import main

if __name__ == "__main__":
    prepare_streams()
    raise SystemExit(main())
