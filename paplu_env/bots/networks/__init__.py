"""Networks as bots: exported files, people's own models, and what ships with the package."""
