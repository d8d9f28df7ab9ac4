"""Solvers of the reduced problem: an answer and a proof of how good it is."""
