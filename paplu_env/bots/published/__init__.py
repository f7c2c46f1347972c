"""The study's agents as BASELINES.md 2 describes them, and the frozen tiers made of them."""
