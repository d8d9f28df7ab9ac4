"""A study: what is not finished is run, and all that is finished is written."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from benchmarks.machine import stamp, today
from benchmarks.real.asked import ABSENT, Asked, RefusedError
from benchmarks.real.data import LOADERS, STUDIES, Data
from benchmarks.real.finished import Result, about, is_whole, kept, publish, published, write
from benchmarks.real.folds import Fold, folds
from benchmarks.real.methods import methods
from benchmarks.real.ours import Method
from benchmarks.real.runs import result_of
from benchmarks.real.subsets import PeerFailedError
from benchmarks.real.tables import table


def perform(study: str, asked: Asked) -> list[Result]:
    """Run, write and print, even if it is interrupted; returns what failed."""
    seen: dict[str, Data] = {}
    failed: list[Result] = []
    try:
        for name in STUDIES[study]:
            data = LOADERS[name](asked.data, asked.out)
            # Who is in which fold needs no table, and the memory is another's.
            seen[name] = replace(data, X=None)
            for result in _run(data, asked):
                failed += [result] if "failed" in result else []
    finally:
        print(report(study, seen, failed, asked), flush=True)
    return failed


def _run(data: Data, asked: Asked) -> Iterator[Result]:
    for fold in _folds(data, asked, asked.repeats)[: asked.first]:
        known = methods(data, fold, asked.out, asked.abess_python)
        for name in known:
            if not asked.methods or name in asked.methods:
                yield attempted(asked, data, name, known[name], fold)


def _folds(data: Data, asked: Asked, repeats: int) -> list[Fold]:
    try:
        return list(folds(data, asked.folds, repeats))
    except ValueError as problem:
        raise RefusedError(f"{data.name} cannot be cut into {asked.folds} folds: {problem}") from problem


def attempted(asked: Asked, data: Data, name: str, method: Method, fold: Fold) -> Result:
    """The result, or why there is none: it is tried again next time, and the others go on."""
    try:
        return _told(result_of(asked.out, data, name, method, fold))
    except PeerFailedError as failed:
        print(f"{data.name} {fold.label} {name}: failed, {failed}", file=sys.stderr, flush=True)
        return about(data, name, method, fold) | {"failed": str(failed)} | stamp() | {"date": today()}


def _told(result: Result) -> Result:
    scores = ", ".join(
        f"{name} {'undefined' if value is None else format(value, '.3f')}" for name, value in result["scores"].items()
    )
    print(
        f"{result['data']} r{result['repeat']} f{result['fold']} {result['method']}: {scores}, "
        f"{result['n_features']} features, {result['seconds']:.1f} s",
        file=sys.stderr,
        flush=True,
    )
    return result


def report(study: str, seen: dict[str, Data], failed: Sequence[Result], asked: Asked) -> str:
    """Write all that is finished, as it is and as a table; returns the table.

    Results of a data set that was not read, as after Ctrl-C, cannot be judged, and stay.
    """
    former = published(asked.out, study)
    results: list[Result] = []
    for name in STUDIES[study]:
        own = [each for each in former if each.get("data") == name and (is_whole(each) or "failed" in each)]
        results += _valid(seen[name], own, failed, asked) if name in seen else own
    _say_left_out(study, former, results)
    text = table(results)
    publish(asked.out / f"{study}.json", results)
    write(asked.out / f"{study}.md", text + "\n")
    return text


def _valid(data: Data, former: Sequence[Result], failed: Sequence[Result], asked: Asked) -> list[Result]:
    """Of the methods and settings of now: what is finished, and what failed and was not made since; by method."""
    known: dict[str, Method] = {}
    found: list[Result] = []
    repeats = [each["repeat"] + 1 for each in former if type(each.get("repeat")) is int]
    for fold in _folds(data, asked, max([asked.repeats, *repeats])):
        known = methods(data, fold, asked.out, asked.abess_python or ABSENT)
        for name, method in known.items():
            result = kept(asked.out, data, name, method, fold) or _failure(
                [*failed, *former], about(data, name, method, fold)
            )
            found += [] if result is None else [result]
    return sorted(found, key=lambda result: list(known).index(result["method"]))


def _failure(among: Sequence[Result], asked: Result) -> Result | None:
    """Also one that an earlier call had, so that a table does not hide it."""
    return next((each for each in among if "failed" in each and asked.items() <= each.items()), None)


def _say_left_out(study: str, former: Sequence[Result], results: Sequence[Result]) -> None:
    there = set(map(_who, results))
    lost = Counter(_who(each)[:2] for each in former if _who(each) not in there)
    for (data, method), count in lost.items():
        words = f"{study}.json had {count} of {data}, {method!r}, of other samples or settings: left out"
        print(words, file=sys.stderr, flush=True)


def _who(result: Result) -> tuple[str, ...]:
    return tuple(str(result.get(name)) for name in ("data", "method", "repeat", "fold"))
