"""Our fits beside those of other libraries: time, memory, recovery and prediction; prints Markdown tables.

    python -m venv PEERS && PEERS/bin/pip install -r benchmarks/peers/requirements.txt
    python -m venv OLDER && OLDER/bin/pip install -r benchmarks/peers/requirements-older.txt
    python -m benchmarks.peers --python PEERS/bin/python OLDER/bin/python [--problems linear-5k] [--seeds 1 2 3]

Every method runs in a process of its own, on one thread, on the same files, in the first of the interpreters that has
its library. A method that is not installed, fails, or runs out of time or memory is a row that says so. With
`--results FILE` rows are kept, each with its date and machine. What the file has as done, or as out of time at this
limit or a larger one, is not measured again; the rest is, and its new row replaces the old one. `--show` only prints.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.peers.harness import Limits, Row, run
from benchmarks.peers.methods import methods_for
from benchmarks.peers.problems import PROBLEMS, Problem
from benchmarks.peers.rows import is_measured, keep, known, latest
from benchmarks.peers.table import page


def measure(problem: Problem, methods: list[str], asked: argparse.Namespace) -> Iterator[Row]:
    """One row for each method, on files that are written once and removed."""
    limits = Limits(asked.limit, asked.memory)
    with TemporaryDirectory(dir=asked.folder) as folder:
        problem.write(Path(folder))
        for method in methods:
            row = run(problem, method, [*asked.python, sys.executable], Path(folder), limits)
            told(row)
            if asked.results is not None:
                keep(asked.results, row)
            yield row


def told(row: Row) -> None:
    print(f"{row.problem} {row.seed} {row.method}: {row.outcome}, {row.seconds:.2f} s", file=sys.stderr, flush=True)


def wanted(problem: Problem, asked: argparse.Namespace, rows: list[Row]) -> list[str]:
    """Methods that no row has measured yet."""
    own = [row for row in rows if (row.problem, row.seed) == (problem.name, problem.recipe.seed)]
    have = {row.method for row in own if is_measured(row, asked.limit)}
    chosen = [name for name in methods_for(problem.recipe.kind) if not asked.methods or name in asked.methods]
    return [name for name in chosen if name not in have]


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
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


def main() -> None:
    asked = parsed()
    rows = known(asked.results) if asked.results else []
    for problem in (PROBLEMS[name].seeded(seed) for name in asked.problems for seed in asked.seeds):
        methods = [] if asked.show else wanted(problem, asked, rows)
        rows += measure(problem, methods, asked) if methods else []
    print(page([PROBLEMS[name] for name in asked.problems], latest(rows)))


if __name__ == "__main__":
    main()
