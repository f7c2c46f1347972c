"""Learning code, run from a checkout: train, export, demonstrate. Nothing in `paplu_env` imports it."""
