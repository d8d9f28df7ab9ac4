"""Hypothesis without a stopwatch: a busy machine is no counterexample."""

from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
