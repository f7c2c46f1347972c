"""Studies: each with its configuration, its measurement and its result in one folder."""
