"""Bots that compare moves in likely worlds: `search`, `expert`, and the player that they play on with."""
