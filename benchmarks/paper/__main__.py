"""The paper's experiments: run what is not finished yet, then a table and a figure.

    python -m benchmarks.paper F1 F3 --size small
    python -m benchmarks.paper all --size small --data FOLDER
    python -m benchmarks.paper F1 --size paper --only p=1000000 p=10000000 seed=1

Every finished case is a file in OUT/ID/SIZE/cases and is not run again, unless its settings have changed. OUT is
runs/paper; `--out benchmarks/paper/results` goes on with what is published there. `--only` may name several values of a
key. After Ctrl-C there is a report of what is finished. Cases run side by side on the workers of `--cluster`; those on
other machines need this checkout as their folder, and the data under the same path.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from distributed import Client

from backbone_dask import cluster
from backbone_dask.errors import BackboneError
from benchmarks.machine import INSTALL
from benchmarks.paper.catalogue import IDS, MissingPackageError, UnknownExperimentError, experiments
from benchmarks.paper.data import MissingDataError, data_file, other_content, use_data
from benchmarks.paper.experiment import Case, Experiment
from benchmarks.paper.results import Results, UnreadableResultsError, UnwritableResultsError, name, write
from benchmarks.paper.runner import run_cases
from benchmarks.paper.summary import rows
from benchmarks.paper.table import table

OUT = Path("runs") / "paper"
INTERRUPTED = 130
"""What a shell expects of a command that Ctrl-C has ended."""
Wanted = dict[str, set[str]]


class UnknownCaseError(ValueError):
    """No experiment has a case of what `--only` names."""


@dataclass(frozen=True, slots=True)
class Job:
    """An experiment at one size: all of its cases, those that are wanted, and where results are kept."""

    experiment: Experiment
    every: list[Case]
    cases: list[Case]
    results: Results


def wanted(only: Sequence[str]) -> Wanted:
    """Values by key."""
    found: Wanted = {}
    for each in only:
        key, equals, value = each.partition("=")
        if not equals:
            raise UnknownCaseError(f"--only takes key=value, not {each!r}")
        found.setdefault(key, set()).add(value)
    return found


def chosen(cases: Sequence[Case], asked: Wanted) -> list[Case]:
    """The cases that have one of the wanted values for every key that is named."""
    return [case for case in cases if all(key in case and str(case[key]) in asked[key] for key in asked)]


def require_known(cases: Sequence[Case], asked: Wanted) -> None:
    """A word that no case has would choose nothing, and so would words that no case has together."""
    known: dict[str, list[str]] = {}
    for key, value in dict.fromkeys((key, str(value)) for case in cases for key, value in case.items()):
        known.setdefault(key, []).append(value)
    for key, values in asked.items():
        if key not in known:
            raise UnknownCaseError(f"no case has a {key}; --only takes {', '.join(known)}")
        if unknown := sorted(values - set(known[key])):
            raise UnknownCaseError(f"no case has {key}={unknown[0]}; there are {key}={', '.join(known[key])}")
    if not chosen(cases, asked):
        raise UnknownCaseError(f"no case has {' and '.join(sorted(asked))} as --only wants them")


def planned(experiments: Sequence[Experiment], arguments: argparse.Namespace) -> list[Job]:
    """What there is to do, or why not, before anything is run or written; without a wanted case there is no job."""
    asked = wanted(arguments.only)
    every = {each.id: each.cases(arguments.size) for each in experiments}
    require_known([case for cases in every.values() for case in cases], asked)
    jobs = [_job(each, every[each.id], asked, arguments) for each in experiments]
    drawer()
    wanted_jobs = [job for job in jobs if job.cases]
    for job in wanted_jobs:
        require_data(job)
    for job in wanted_jobs:
        job.results.require_writable()
    return wanted_jobs


def _job(experiment: Experiment, every: list[Case], asked: Wanted, arguments: argparse.Namespace) -> Job:
    results = Results(arguments.out / experiment.id / arguments.size, experiment.settings, tell)
    return Job(experiment, every, chosen(every, asked), results)


def require_data(job: Job) -> None:
    """Only what is still to be run reads data."""
    if not all(job.results.has(case) for case in job.cases):
        for file in job.experiment.files:
            data_file(file)
            if other_content(file) is not None:
                tell(f"{file} is not the file that the paper's table is made from; its results are kept apart")


def tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def report(experiment: Experiment, cases: Sequence[Case], results: Results) -> str:
    """Write the table and the figure of what is finished, and all records that there are; returns the table."""
    records = results.records(cases)
    found = rows(experiment, records)
    text = table(experiment, found)
    write(results.folder / "table.md", text)
    write(results.folder / "results.json", json.dumps([*records, *results.others(records)], indent=1, allow_nan=False))
    if found:
        drawer()(experiment, found, results.folder / "figure.png", results.folder.name)
    return text


def drawer() -> Callable[..., None]:
    """What draws figures; asked for before anything runs that could not be drawn."""
    try:
        from benchmarks.paper.figure import draw
    except ImportError as missing:
        raise MissingPackageError(f"figures: {missing}; {INSTALL}") from missing
    return draw


def perform(job: Job, size: str, client: Client) -> list[str]:
    """Run an experiment and print its table, even if it is interrupted; returns the names of the cases that failed."""
    experiment, results = job.experiment, job.results
    try:
        run_cases(experiment, job.cases, results, client, tell)
    finally:
        text = report(experiment, job.every, results)
        print(f"\n{experiment.id}: {experiment.title} ({size})\n\n{text}", flush=True)
    return [f"{experiment.id} {name(each['case'])}" for each in results.failures(job.cases)]


@contextmanager
def started(arguments: argparse.Namespace) -> Iterator[Client]:
    """The cluster that is asked for; its workers, also those that come later, are told of the data folder."""
    with cluster(arguments.cluster, workers=arguments.workers, config=arguments.cluster_config) as client:
        client.register_worker_callbacks(partial(use_data, arguments.data))
        yield client


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiments", nargs="+", metavar="ID", help=f"{', '.join(IDS)}, or all")
    parser.add_argument("--size", choices=["small", "paper"], default="small")
    parser.add_argument("--data", type=Path, help="the folder with the real data sets")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--only", nargs="+", action="extend", default=[], metavar="KEY=VALUE")
    parser.add_argument("--workers", type=int, help="worker processes; one per core if not given")
    parser.add_argument(
        "--cluster", default="local", help="where cases run, as in `backbone-dask fit`: slurm, tcp://..."
    )
    parser.add_argument("--cluster-config", help="a YAML file with the launcher's options")
    return parser.parse_args()


def main() -> None:
    arguments = parsed()
    use_data(arguments.data)
    try:
        jobs = planned(experiments(arguments.experiments), arguments)
    except REFUSALS as refusal:
        raise SystemExit(str(refusal)) from None
    try:
        with started(arguments) as client:
            failed = [each for job in jobs for each in perform(job, arguments.size, client)]
    except BackboneError as refusal:
        raise SystemExit(str(refusal)) from None
    except KeyboardInterrupt:
        tell(f"interrupted; what is finished is in {arguments.out}, and the rest runs next time")
        raise SystemExit(INTERRUPTED) from None
    if failed:
        raise SystemExit("failed, and will be tried again next time:\n" + "\n".join(failed))


REFUSALS = (
    UnknownExperimentError,
    UnknownCaseError,
    UnreadableResultsError,
    UnwritableResultsError,
    MissingDataError,
    MissingPackageError,
)

if __name__ == "__main__":
    main()
