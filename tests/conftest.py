"""Hypothesis without a stopwatch: a busy machine is no counterexample. Ctrl-C works in a background run, too."""

import signal

from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

# A shell starts background jobs with SIGINT ignored, and so would be the commands that tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)
