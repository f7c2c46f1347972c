"""Several deals with running scores: formats, the score sheet, the series itself, and its record."""
