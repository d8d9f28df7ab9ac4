"""Finished cases on disk: one JSON file each, named by its case, never half-written, and all of them in one."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.paper.experiment import Case

Record = dict[str, Any]
Settings = Callable[[Case], Mapping[str, Any]]
Tell = Callable[[str], None]


class UnreadableResultsError(ValueError):
    """A file of published results is not what a report writes."""


class UnwritableResultsError(OSError):
    """There is no folder for results, and none can be made."""


def name(case: Case) -> str:
    """The case in words, as the name of its file."""
    return re.sub(r"[^\w.=,+-]", "_", ",".join(f"{key}={value}" for key, value in case.items()))


def require_names(cases: Iterable[Case]) -> None:
    """Two cases of one name would share a result."""
    seen: set[str] = set()
    for case in cases:
        if name(case) in seen:
            raise ValueError(f"two cases are called {name(case)}; give them a key that tells them apart")
        seen.add(name(case))


class Results:
    """The cases of one experiment at one size, in a folder of their own.

    Those that an earlier report has put into `results.json` count as finished, too: it travels without the others.
    What was run with other settings than `settings` has now does not.
    """

    def __init__(self, folder: Path, settings: Settings = lambda case: {}, tell: Tell = lambda line: None) -> None:
        self.folder, self._cases = folder, folder / "cases"
        self._settings, self._tell = settings, tell
        self._reported, self._told = _reported(folder / "results.json"), set[str]()

    def require_writable(self) -> None:
        """Before anything runs whose result could not be kept."""
        probe = self._cases / f"probe.{os.getpid()}"
        try:
            write(probe, "")
            probe.unlink()
        except OSError as problem:
            raise UnwritableResultsError(
                f"{self.folder} cannot be written ({problem}); name another --out"
            ) from problem

    def has(self, case: Case) -> bool:
        return self._record(case) is not None

    def keep(self, case: Case, record: Record) -> None:
        settings = self._wanted(case)
        whole = {"case": dict(case), **record, **({"settings": settings} if settings else {})}
        write(self._path(case), json.dumps(whole, indent=1, allow_nan=False))
        self._failed(case).unlink(missing_ok=True)

    def keep_failure(self, case: Case, error: str) -> None:
        write(self._failed(case), json.dumps({"case": dict(case), "error": error}, indent=1))

    def records(self, cases: Iterable[Case]) -> list[Record]:
        """Those of the given cases that are finished, in their order."""
        return [found for case in cases if (found := self._record(case)) is not None]

    def others(self, records: Iterable[Record]) -> list[Record]:
        """What was reported before besides these: cases of other code or of other settings, which took their time."""
        names = {name(record["case"]) for record in records}
        return [record for own, record in self._reported.items() if own not in names]

    def failures(self, cases: Iterable[Case]) -> list[Record]:
        """The failed ones among the given cases; of a file that is cut off, the case is known all the same."""
        failed = [case for case in cases if self._failed(case).exists()]
        return [_loaded(self._failed(case), "error") or {"case": dict(case), "error": ""} for case in failed]

    def _record(self, case: Case) -> Record | None:
        """The first one kept of a case that has the settings of now."""
        wanted, differing = self._wanted(case), list[str]()
        for record in self._kept(case):
            differing = _differing(record.get("settings", {}), wanted)
            if not differing:
                return record
        if differing:
            self._say(f"{name(case)} was run with other settings ({', '.join(differing)}); it counts as unfinished")
        return None

    def _kept(self, case: Case) -> Iterator[Record]:
        """In its own file, or reported."""
        path = self._path(case)
        if path.exists():
            found = _loaded(path, "metrics")
            if found is None or found["case"] != _plain(case):
                self._say(f"{path} is not the whole record of a case and does not count")
            else:
                yield found
        if name(case) in self._reported:
            yield self._reported[name(case)]

    def _wanted(self, case: Case) -> Record:
        return _plain(self._settings(case))

    def _say(self, line: str) -> None:
        if line not in self._told:
            self._told.add(line)
            self._tell(line)

    def _path(self, case: Case) -> Path:
        return self._cases / f"{name(case)}.json"

    def _failed(self, case: Case) -> Path:
        return self._cases / f"{name(case)}.failed"


def _plain(found: Mapping[str, Any]) -> Record:
    """As JSON gives it back."""
    plain: Record = json.loads(json.dumps(dict(found)))
    return plain


def _reported(path: Path) -> dict[str, Record]:
    if not path.exists():
        return {}
    found = _read(path)
    if not isinstance(found, list) or not all(_is_record(each, "metrics") for each in found):
        advice = "restore it, or move it away to go on with the files of single cases"
        raise UnreadableResultsError(f"{path} is not a whole list of records; {advice}")
    return {name(record["case"]): record for record in found}


def _loaded(path: Path, key: str) -> Record | None:
    """The record of a file; None if it is cut off, empty or something else than a case and what the key names."""
    found = _read(path)
    return found if _is_record(found, key) else None


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except ValueError:
        return None


def _is_record(found: Any, key: str) -> bool:
    if not isinstance(found, dict) or not isinstance(found.get("case"), dict):
        return False
    return bool(found.get(key)) and (key != "metrics" or _are_metrics(found[key]))


def _are_metrics(found: Any) -> bool:
    return isinstance(found, dict) and all(type(value) in (int, float) for value in found.values())


def _differing(kept: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """Names of the settings that are not the same, or are only in one of them."""
    missing = object()
    return sorted(key for key in kept.keys() | wanted.keys() if kept.get(key, missing) != wanted.get(key, missing))


def write(path: Path, text: str) -> None:
    """The whole text or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    scratch.write_text(text)
    scratch.replace(path)
