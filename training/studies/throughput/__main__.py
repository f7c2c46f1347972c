"""Runs `measure`: ``python -m training.studies.throughput``."""

from training.studies.throughput.measure import main

if __name__ == "__main__":
    raise SystemExit(main())
