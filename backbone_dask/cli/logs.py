"""Messages of the package on standard error, as lines; those of other libraries stay as they are."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

PACKAGE = "backbone_dask"
LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)
"""By how often --verbose is given."""

log = logging.getLogger(__name__)


class _Lines(logging.Handler):
    """Writes to what standard error is at the moment: a display in the way moves down."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            sys.stderr.write(self.format(record) + "\n")
        except Exception:
            self.handleError(record)


class _Format(logging.Formatter):
    """The time, and what kind of message it is where it is no plain one."""

    def format(self, record: logging.LogRecord) -> str:
        kind = "" if record.levelno == logging.INFO else f"{record.levelname.lower()}: "
        return f"{self.formatTime(record, '%H:%M:%S')} {kind}{record.getMessage()}"


@contextmanager
def log_lines() -> Iterator[None]:
    """While the block runs, warnings are shown, and more where it is asked for."""
    logger, handler = logging.getLogger(PACKAGE), _Lines()
    handler.setFormatter(_Format())
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(LEVELS[0])
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


@contextmanager
def informed() -> Iterator[None]:
    """Show what phases do, in this block."""
    logger = logging.getLogger(PACKAGE)
    before = logger.level
    logger.setLevel(min(logger.getEffectiveLevel(), logging.INFO))
    try:
        yield
    finally:
        logger.setLevel(before)


def _raise_verbosity(context: click.Context, parameter: click.Parameter, times: int) -> None:
    """Given to the group and to the command, the larger counts."""
    if times:
        logger = logging.getLogger(PACKAGE)
        logger.setLevel(min(logger.level, LEVELS[min(times, len(LEVELS) - 1)]))


verbose = click.Option(
    ["-v", "--verbose"],
    count=True,
    expose_value=False,
    callback=_raise_verbosity,
    help="Also log what phases do; twice, every task.",
)
