"""Algorithms 1 and 3 of the paper as pure functions of small values."""
