"""Finished cases on disk: one JSON file each, named by its case, never half-written, and all of them in one."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.paper.experiment import Case

Record = dict[str, Any]


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
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self._cases = folder, folder / "cases"
        kept = folder / "results.json"
        reported: list[Record] = json.loads(kept.read_text()) if kept.exists() else []
        self._reported = {name(record["case"]): record for record in reported}

    def has(self, case: Case) -> bool:
        return self._path(case).exists() or name(case) in self._reported

    def keep(self, case: Case, record: Record) -> None:
        write(self._path(case), json.dumps({"case": dict(case), **record}, indent=1))
        self._failed(case).unlink(missing_ok=True)

    def keep_failure(self, case: Case, error: str) -> None:
        write(self._failed(case), json.dumps({"case": dict(case), "error": error}, indent=1))

    def records(self, cases: Iterable[Case]) -> list[Record]:
        """Those of the given cases that are finished, in their order."""
        return [self._record(case) for case in cases if self.has(case)]

    def failures(self, cases: Iterable[Case]) -> list[Record]:
        return [json.loads(self._failed(case).read_text()) for case in cases if self._failed(case).exists()]

    def _record(self, case: Case) -> Record:
        path = self._path(case)
        return json.loads(path.read_text()) if path.exists() else self._reported[name(case)]

    def _path(self, case: Case) -> Path:
        return self._cases / f"{name(case)}.json"

    def _failed(self, case: Case) -> Path:
        return self._cases / f"{name(case)}.failed"


def write(path: Path, text: str) -> None:
    """The whole text or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    scratch.write_text(text)
    scratch.replace(path)
