"""Runs `measure`: ``python -m training.studies.search_ceiling``."""

from training.studies.search_ceiling.measure import main

if __name__ == "__main__":
    raise SystemExit(main())
