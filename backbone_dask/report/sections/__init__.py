"""The parts of a run's page: facts in words, drawings and tables."""
