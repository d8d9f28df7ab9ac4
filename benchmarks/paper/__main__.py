"""The paper's experiments: run what is not finished yet, then a table and a figure.

    python -m benchmarks.paper F1 F3 --size small
    python -m benchmarks.paper all --size small --data FOLDER
    python -m benchmarks.paper F1 --size paper --only p=1000000 p=10000000 seed=1

Every finished case is a file in OUT/ID/SIZE/cases and is not run again. OUT is runs/paper; `--out
benchmarks/paper/results` goes on with what is published there. `--only` may name several values of a key.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from distributed import Client

from backbone_dask.launch.local import local_cluster
from benchmarks.paper.catalogue import IDS, UnknownExperimentError, experiments
from benchmarks.paper.data import use_data
from benchmarks.paper.experiment import Case, Experiment
from benchmarks.paper.figure import draw
from benchmarks.paper.results import Results, name, write
from benchmarks.paper.runner import run_cases
from benchmarks.paper.summary import rows
from benchmarks.paper.table import table

OUT = Path("runs") / "paper"


def chosen(cases: Sequence[Case], only: Sequence[str]) -> list[Case]:
    """The cases that have one of the wanted values for every key that is named."""
    wanted: dict[str, set[str]] = {}
    for each in only:
        key, equals, value = each.partition("=")
        if not equals:
            raise SystemExit(f"--only takes key=value, not {each!r}")
        wanted.setdefault(key, set()).add(value)
    return [case for case in cases if all(str(case.get(key)) in values for key, values in wanted.items())]


def report(experiment: Experiment, cases: Sequence[Case], results: Results) -> str:
    """Write the table, the figure and all records of what is finished; returns the table."""
    records = results.records(cases)
    found = rows(experiment, records)
    text = table(experiment, found)
    write(results.folder / "table.md", text)
    write(results.folder / "results.json", json.dumps(records, indent=1))
    if found:
        draw(experiment, found, results.folder / "figure.png")
    return text


def perform(experiment: Experiment, arguments: argparse.Namespace, client: Client) -> list[str]:
    """Run an experiment and print its table; returns the names of the cases that failed."""
    results = Results(arguments.out / experiment.id / arguments.size)
    every = experiment.cases(arguments.size)
    cases = chosen(every, arguments.only)
    run_cases(experiment, cases, results, client, lambda line: print(line, file=sys.stderr, flush=True))
    print(
        f"\n{experiment.id}: {experiment.title} ({arguments.size})\n\n{report(experiment, every, results)}", flush=True
    )
    return [f"{experiment.id} {name(each['case'])}" for each in results.failures(cases)]


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiments", nargs="+", metavar="ID", help=f"{', '.join(IDS)}, or all")
    parser.add_argument("--size", choices=["small", "paper"], default="small")
    parser.add_argument("--data", type=Path, help="the folder with the real data sets")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--only", nargs="+", action="extend", default=[], metavar="KEY=VALUE")
    parser.add_argument("--workers", type=int, help="worker processes; one per core if not given")
    return parser.parse_args()


def main() -> None:
    arguments = parsed()
    use_data(arguments.data)
    try:
        wanted = experiments(arguments.experiments)
    except UnknownExperimentError as unknown:
        raise SystemExit(str(unknown)) from None
    with local_cluster(arguments.workers) as client:
        failed = [each for experiment in wanted for each in perform(experiment, arguments, client)]
    if failed:
        raise SystemExit("failed, and will be tried again next time:\n" + "\n".join(failed))


if __name__ == "__main__":
    main()
