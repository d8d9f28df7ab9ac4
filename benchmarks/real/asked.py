"""What a call asks for, and why it cannot be had: said before anything is run."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.real.data import STUDIES, present
from benchmarks.real.finished import published
from benchmarks.real.methods import names_of

ABSENT = Path("abess-python")
"""Stands for the interpreter of abess where only names and settings matter."""


class RefusedError(ValueError):
    """A call asks for what there is not."""


@dataclass(frozen=True)
class Asked:
    """Data, results and abess are in these places; all folds and all methods, where none are named."""

    data: Path | None
    out: Path
    folds: int = 5
    repeats: int = 1
    first: int | None = None
    abess_python: Path | None = None
    methods: tuple[str, ...] = ()


def require_possible(studies: Sequence[str], asked: Asked) -> None:
    """Everything that can be known of the call before data are read."""
    _require_numbers(asked)
    _require_interpreter(asked.abess_python)
    _require_methods(studies, asked)
    _require_data(studies, asked.data)
    _require_place(asked.out)
    for study in studies:
        _require_same_folds(study, asked)


def _require_numbers(asked: Asked) -> None:
    least = {"folds": (asked.folds, 2), "repeats": (asked.repeats, 1), "first": (asked.first, 1)}
    for name, (value, smallest) in least.items():
        if value is not None and value < smallest:
            raise RefusedError(f"--{name} is {value}, and has to be at least {smallest}")


def _require_interpreter(python: Path | None) -> None:
    if python is not None and not (python.is_file() and os.access(python, os.X_OK)):
        raise RefusedError(f"--abess-python is {python}, which is no file that can be executed")


def _require_methods(studies: Sequence[str], asked: Asked) -> None:
    sets = [name for study in studies for name in STUDIES[study]]
    every, there = (
        dict.fromkeys(method for name in sets for method in names_of(name, python))
        for python in (ABSENT, asked.abess_python)
    )
    if unknown := [name for name in asked.methods if name not in every]:
        known = ", ".join(map(repr, every))
        raise RefusedError(f"{', '.join(studies)} has no method {unknown[0]!r}; --methods takes {known}")
    if left_out := [name for name in asked.methods if name not in there]:
        raise RefusedError(f"{left_out[0]!r} needs an interpreter that has abess; name it with --abess-python")


def _require_data(studies: Sequence[str], folder: Path | None) -> None:
    if folder is None or not folder.is_dir():
        where = "is not given" if folder is None else f"is {folder}, which is no folder"
        raise RefusedError(f"--data {where}; name the folder that holds mice/, hapmap3/, text/, ...")
    for study in studies:
        for name in STUDIES[study]:
            present(folder, name)


def _require_place(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as problem:
        raise RefusedError(f"--out is {out}, where nothing can be written ({problem.strerror})") from problem


def _require_same_folds(study: str, asked: Asked) -> None:
    """A table of five folds does not go on with three, nor do three write over what five have found."""
    others = {each.get("n_folds") for each in published(asked.out, study)} - {None, asked.folds}
    if others:
        had = " and ".join(sorted(map(str, others)))
        path = asked.out / f"{study}.json"
        raise RefusedError(f"{path} has results of {had} folds and --folds is {asked.folds}; name another --out")
