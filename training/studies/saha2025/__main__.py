"""Runs `measure`: ``python -m training.studies.saha2025``."""

from training.studies.saha2025.measure import main

if __name__ == "__main__":
    main()
