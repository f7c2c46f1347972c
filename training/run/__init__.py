"""A run of training on disk: its folder, record, checkpoints and curves."""
