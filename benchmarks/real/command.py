"""The command: arguments, studies one after the other, and how it ends."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.real.asked import Asked, RefusedError, require_possible
from benchmarks.real.data import BESIDE, STUDIES, MissingDataError
from benchmarks.real.finished import NotFinishedError, UnreadableResultsError
from benchmarks.real.studies import perform

INTERRUPTED = 130
"""What a shell expects of a command that Ctrl-C has ended."""
REFUSALS = (RefusedError, MissingDataError, NotFinishedError, UnreadableResultsError)


def run(description: str | None) -> None:
    """Every refusal is one sentence; fits that failed end the command, but only after everything else is done."""
    studies, asked = _arguments(description)
    try:
        require_possible(studies, asked)
        failed = [each for study in studies for each in perform(study, asked)]
    except REFUSALS as refusal:
        raise SystemExit(str(refusal)) from None
    except KeyboardInterrupt:
        print(f"interrupted; what is finished is in {asked.out}, and the rest runs next time", file=sys.stderr)
        raise SystemExit(INTERRUPTED) from None
    if failed:
        lines = [f"{each['data']} r{each['repeat']} f{each['fold']} {each['method']}" for each in failed]
        raise SystemExit("failed, and will be tried again next time:\n" + "\n".join(lines))


def _arguments(description: str | None) -> tuple[list[str], Asked]:
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", choices=[*STUDIES, "all"])
    parser.add_argument("--data", type=Path, default=BESIDE if BESIDE.exists() else None)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--first", type=int, help="only so many of the folds of each data set")
    parser.add_argument("--abess-python", type=Path, help="the interpreter that has abess; without one it is left out")
    parser.add_argument("--methods", nargs="+", default=(), help="only these")
    given = vars(parser.parse_args())
    study = given.pop("study")
    return list(STUDIES) if study == "all" else [study], Asked(**given)
