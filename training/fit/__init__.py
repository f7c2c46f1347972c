"""Fits of the numbers that rule bots and measurements ship with."""
