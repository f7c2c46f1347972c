"""Runs `measure`: ``python -m training.studies.search_strength``."""

from training.studies.search_strength.measure import main

if __name__ == "__main__":
    raise SystemExit(main())
