"""Kernels for how far a hand is from complete and which cards bring it nearer, at tables with the usual groups."""
