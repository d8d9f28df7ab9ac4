"""Our fits beside those of other libraries: time, memory, recovery and prediction; prints Markdown tables.

    python -m venv PEERS && PEERS/bin/pip install -r benchmarks/peers/requirements.txt
    python -m venv OLDER && OLDER/bin/pip install -r benchmarks/peers/requirements-older.txt
    python -m benchmarks.peers --python PEERS/bin/python OLDER/bin/python [--problems linear-5k] [--seeds 1 2 3]

Every method runs in a process of its own, on one thread, on the same files, in the first of the interpreters that has
its library. A method that is not installed, fails, or runs out of time or memory is a row that says so. With
`--results FILE` rows are kept, each with its date and machine. What the file has as done, or as out of time at this
limit or a larger one, is not measured again; the rest is, and its new row replaces the old one. `--show` only prints.
After Ctrl-C or SIGTERM the tables of what is done are printed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.peers.arguments import WrongArgumentError, parsed, require_sound
from benchmarks.peers.harness import Limits, Row, run
from benchmarks.peers.methods import methods_for
from benchmarks.peers.problems import PROBLEMS, Problem
from benchmarks.peers.rows import is_measured, keep, known, latest
from benchmarks.peers.stopping import Stopped, heed_signals
from benchmarks.peers.table import page


def measure(problem: Problem, asked: argparse.Namespace, rows: list[Row]) -> None:
    """Add a row for each method that is still to be measured, on files that are written once and removed."""
    methods = wanted(problem, asked, rows)
    if not methods:
        return
    limits = Limits(asked.limit, asked.memory)
    with TemporaryDirectory(dir=asked.folder) as folder:
        problem.write(Path(folder))
        for method in methods:
            row = run(problem, method, [*asked.python, sys.executable], Path(folder), limits)
            rows.append(row)
            if asked.results is not None:
                keep(asked.results, row)
            tell(f"{row.problem} {row.seed} {row.method}: {row.outcome}, {row.seconds:.2f} s")


def tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def wanted(problem: Problem, asked: argparse.Namespace, rows: list[Row]) -> list[str]:
    """Methods that no row has measured yet."""
    own = [row for row in rows if (row.problem, row.seed) == (problem.name, problem.recipe.seed)]
    have = {row.method for row in own if is_measured(row, asked.limit)}
    chosen = [name for name in methods_for(problem.recipe.kind) if not asked.methods or name in asked.methods]
    return [name for name in chosen if name not in have]


def measure_all(asked: argparse.Namespace, rows: list[Row]) -> int:
    """Add all rows that are wanted; returns the exit code, which is not 0 if a signal came first."""
    try:
        for problem in (PROBLEMS[name].seeded(seed) for name in asked.problems for seed in asked.seeds):
            measure(problem, asked, rows)
    except Stopped as stop:
        kept = f"what is done is in {asked.results}" if asked.results else "only --results would have kept what is done"
        tell(f"interrupted; {kept}")
        return stop.exit_code
    return 0


def main() -> None:
    asked = parsed(__doc__)
    heed_signals()
    try:
        require_sound(asked)
    except WrongArgumentError as wrong:
        raise SystemExit(str(wrong)) from None
    rows = known(asked.results) if asked.results else []
    code = 0 if asked.show else measure_all(asked, rows)
    print(page([PROBLEMS[name] for name in asked.problems], latest(rows)), flush=True)
    raise SystemExit(code)


if __name__ == "__main__":
    main()
