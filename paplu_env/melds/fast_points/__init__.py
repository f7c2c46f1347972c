"""Kernels for what a hand costs and which card finishes it, at tables with the usual groups."""
