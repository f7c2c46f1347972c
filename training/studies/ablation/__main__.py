"""Runs `measure`: ``python -m training.studies.ablation``."""

from training.studies.ablation.measure import main

if __name__ == "__main__":
    raise SystemExit(main())
