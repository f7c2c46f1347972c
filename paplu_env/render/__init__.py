"""Placeholder docstring, replaced by the package that owns this folder."""
