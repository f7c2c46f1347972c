"""The study's agents as BASELINES.md describes them, and the frozen tiers made of them."""
