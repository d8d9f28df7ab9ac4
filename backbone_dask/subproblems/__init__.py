"""Solvers of subproblems: fast, sparse, without proof."""
