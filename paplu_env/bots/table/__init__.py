"""A bot at a table that isn't ours: events in, actions out, and the same as lines of JSON."""
