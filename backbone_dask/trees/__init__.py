"""Classification trees: what the greedy, the searching and the exact solvers share."""
