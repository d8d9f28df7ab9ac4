"""What a run is asked; what cannot be done is refused before anything is measured."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.peers.methods import METHODS, methods_for
from benchmarks.peers.problems import PROBLEMS

LARGEST = 1_000_000
"""Seconds, or GiB, of a process: a waiting system call takes no more than twice as many seconds."""


class WrongArgumentError(ValueError):
    """A run that could not do what it is asked."""


def parsed(about: str | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", nargs="+", default=[], help="interpreters of environments that have peers")
    parser.add_argument("--problems", nargs="+", choices=sorted(PROBLEMS), default=[*PROBLEMS][1:])
    parser.add_argument("--methods", nargs="+", help="names as in the table; all that know the problem if not given")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--limit", type=float, default=300.0, help="seconds of one process")
    parser.add_argument("--memory", type=float, default=12.0, help="GiB of one process")
    parser.add_argument("--folder", help="where the tables are written; a temporary folder if not given")
    parser.add_argument("--results", type=Path, help="a file of rows, which is added to")
    parser.add_argument("--show", action="store_true", help="print the rows of --results and measure nothing")
    return parser.parse_args()


def require_sound(asked: argparse.Namespace) -> None:
    require_known(asked.methods or [], asked.problems)
    if min(asked.seeds) < 0:
        raise WrongArgumentError(f"--seeds takes numbers from 0 on, not {min(asked.seeds)}")
    for name, value in (("--limit", asked.limit), ("--memory", asked.memory)):
        # nan is not between any two numbers.
        if not 0 < value <= LARGEST:
            raise WrongArgumentError(f"{name} takes a number above 0 and up to {LARGEST:,}, not {value:g}")
    if asked.show:
        require_there(asked.results)
        return
    for python in asked.python:
        require_python(python)
    if asked.results is not None:
        require_writable(asked.results)
    require_folder(asked.folder)


def require_known(methods: Sequence[str], problems: Sequence[str]) -> None:
    """Names that there are, and that one of the problems at least has a use for."""
    useful = {name for each in problems for name in methods_for(PROBLEMS[each].recipe.kind)}
    for name in methods:
        if name not in METHODS:
            raise WrongArgumentError(f"no method is called {name!r}; there are {'; '.join(METHODS)}")
        if name not in useful:
            raise WrongArgumentError(f"{name!r} fits none of {', '.join(problems)}")


def require_python(python: str) -> None:
    if shutil.which(python) is None:
        raise WrongArgumentError(f"--python: {python} is no executable file")
    try:
        said = subprocess.run([python, "-c", "print(6 * 7)"], capture_output=True, text=True, timeout=60).stdout
    except (OSError, ValueError, subprocess.TimeoutExpired):
        said = ""
    if said.strip() != "42":
        raise WrongArgumentError(f"--python: {python} does not run Python")


def require_there(results: Path | None) -> None:
    if results is None or not results.is_file():
        raise WrongArgumentError("--show needs --results with a file of rows" + (f", not {results}" if results else ""))


def require_writable(results: Path) -> None:
    """A file that was not there is not left behind."""
    new = not os.path.lexists(results)
    try:
        with results.open("a+"):
            pass
        if new:
            results.unlink()
    except OSError as cause:
        raise WrongArgumentError(f"--results: {results} cannot be written: {cause.strerror}") from cause


def require_folder(folder: str | None) -> None:
    try:
        with TemporaryDirectory(dir=folder):
            pass
    except OSError as cause:
        place = folder or "the temporary folder"
        raise WrongArgumentError(f"--folder: {place} cannot be written into: {cause.strerror}") from cause
