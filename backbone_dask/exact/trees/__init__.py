"""Solvers of the reduced tree problem: local search, hyperplanes, mixed-integer, dynamic programming; and prices."""
