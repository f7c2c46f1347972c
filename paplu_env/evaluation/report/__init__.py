"""Tournaments as text, plots and one page."""
