"""Runs `measure`: ``python -m training.studies.drop_value``."""

from training.studies.drop_value.measure import main

if __name__ == "__main__":
    raise SystemExit(main())
