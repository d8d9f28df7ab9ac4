"""The files of a run that its page is drawn from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from backbone_dask.errors import RunDirectoryError
from backbone_dask.problems.model import LinearModel
from backbone_dask.problems.prediction import model_from_json
from backbone_dask.problems.tree_model import TreeModel
from backbone_dask.report.summary import FORMAT
from backbone_dask.runtime.checkpoint import kept_screening
from backbone_dask.runtime.files import read_json
from backbone_dask.values import Screening


@dataclass(frozen=True, slots=True)
class Material:
    """What a finished run left: `levels` as its files have them, `restarts` as its events tell."""

    result: dict[str, Any]
    model: LinearModel | TreeModel
    screening: Screening | None
    levels: tuple[dict[str, Any], ...]
    restarts: int

    @property
    def is_tree(self) -> bool:
        return isinstance(self.model, TreeModel)

    @property
    def target(self) -> str:
        return str(self.result.get("target") or "the target")

    @property
    def labels(self) -> tuple[str, ...]:
        """What the classes are called; none in a regression."""
        given = self.result.get("labels")
        if given and len(given) == len(self.model.classes):
            return tuple(str(label) for label in given)
        return tuple(f"{label:g}" for label in self.model.classes)


def read_result(run: Path) -> dict[str, Any]:
    """The result of a finished run of this version."""
    if not (run / "result.json").exists():
        raise RunDirectoryError(f"the run in {run} is not finished; go on with it: backbone-dask fit ... --resume")
    result: dict[str, Any] = read_json(run / "result.json")
    if not isinstance(result, dict) or result.get("format") != FORMAT:
        raise RunDirectoryError(f"{run / 'result.json'} is not a result of this version; fit again with --overwrite")
    return result


def gather(run: Path, result: dict[str, Any]) -> Material:
    """Everything beside the result that lies in the run's directory."""
    model = model_from_json(read_json(run / "model.json"))
    return Material(result, model, kept_screening(run), tuple(_levels(run)), _restarts(run))


def _levels(run: Path) -> Iterator[dict[str, Any]]:
    paths = [path for path in (run / "levels").glob("*.json") if path.stem.isdigit()]
    for path in sorted(paths, key=lambda path: int(path.stem)):
        yield read_json(path)


def _restarts(run: Path) -> int:
    """How often another process went on with the fit: each begins to count its seconds anew.

    One that begins with a pass over all columns bounds a run that was finished.
    """
    path = run / "events.jsonl"
    if not path.exists():
        return 0
    moments = [moment for line in path.read_text().splitlines() if (moment := _moment(line)) is not None]
    return sum(later[0] < earlier[0] and not later[1].startswith("pass") for earlier, later in pairwise(moments))


def _moment(line: str) -> tuple[float, str] | None:
    """Seconds and phase of an event; a process that was killed may have left half a line."""
    try:
        event = json.loads(line)
        return float(event["seconds"]), str(event["phase"])
    except (ValueError, KeyError, TypeError):
        return None
