"""A run's directory: what is finished is kept, so that a run that was cut off goes on where it stopped."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, Protocol
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from backbone_dask.errors import RunDirectoryError
from backbone_dask.runtime.events import Event
from backbone_dask.runtime.files import full_disk_explained, published, read_json, write_json
from backbone_dask.values import Answer, LevelRecord, Ranking, Screening


class Journal(Protocol):
    """Where a run keeps what is finished, and finds what an earlier one finished."""

    def rankings(self, name: str, start: int, stop: int) -> tuple[Ranking, ...] | None: ...

    def keep_rankings(self, name: str, start: int, stop: int, rankings: tuple[Ranking, ...]) -> None: ...

    def screening(self) -> Screening | None: ...

    def keep_screening(self, screening: Screening) -> None: ...

    def answer(self, level: int, index: int) -> Answer | None: ...

    def keep_answer(self, answer: Answer) -> None: ...

    def keep_level(self, record: LevelRecord) -> None: ...

    def part(self, name: str) -> Journal:
        """A journal of its own for a run within the run."""
        ...


class NoJournal:
    """Keeps nothing."""

    def rankings(self, name: str, start: int, stop: int) -> tuple[Ranking, ...] | None:
        return None

    def keep_rankings(self, name: str, start: int, stop: int, rankings: tuple[Ranking, ...]) -> None:
        pass

    def screening(self) -> Screening | None:
        return None

    def keep_screening(self, screening: Screening) -> None:
        pass

    def answer(self, level: int, index: int) -> Answer | None:
        return None

    def keep_answer(self, answer: Answer) -> None:
        pass

    def keep_level(self, record: LevelRecord) -> None:
        pass

    def part(self, name: str) -> NoJournal:
        return self


class RunDirectory:
    """A directory of one run; one process writes it at a time.

    settings.json, screening.npz, levels/, events.jsonl while it runs; model.json, reports and result.json at the end.
    """

    def __init__(self, path: Path, lock: IO[str], identity: dict[str, Any]) -> None:
        self.path = path
        self._identity = identity
        # Held open for the life of the run: the system lets go of it when the process ends, however it ends.
        self._lock = lock
        self._began = time.time()

    def begin(self, *, overwrite: bool) -> None:
        """Say what the run is, in the place of an earlier one where that is to go."""
        if overwrite:
            for entry in _content(self.path):
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        write_json(self.path / "settings.json", self._identity)

    def close(self) -> None:
        self._lock.close()

    def __enter__(self) -> RunDirectory:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def rankings(self, name: str, start: int, stop: int) -> tuple[Ranking, ...] | None:
        path = self._rankings_path(name, start, stop)
        if not path.exists():
            return None
        with _damage_explained(path), np.load(path) as kept:
            return tuple(_ranking(kept, question) for question in range(int(kept["n_questions"])))

    def keep_rankings(self, name: str, start: int, stop: int, rankings: tuple[Ranking, ...]) -> None:
        path = self._rankings_path(name, start, stop)
        _make(path.parent)
        arrays = {f"{field}-{at}": value for at, each in enumerate(rankings) for field, value in asdict(each).items()}
        with published(path) as stream:
            np.savez(stream, allow_pickle=False, n_questions=len(rankings), **arrays)

    def screening(self) -> Screening | None:
        return kept_screening(self.path)

    def keep_screening(self, screening: Screening) -> None:
        with published(self.path / "screening.npz") as stream:
            known = {name: value for name, value in asdict(screening).items() if value is not None}
            np.savez(stream, allow_pickle=False, **known)

    def answer(self, level: int, index: int) -> Answer | None:
        path = self._answer_path(level, index)
        if not path.exists():
            return None
        kept = read_json(path)
        with _damage_explained(path):
            objective = np.nan if kept["objective"] is None else kept["objective"]
            return Answer(level, index, np.array(kept["relevant"], np.int64), objective, kept["seconds"])

    def keep_answer(self, answer: Answer) -> None:
        path = self._answer_path(answer.level, answer.index)
        _make(path.parent)
        write_json(path, answer_json(answer))

    def keep_level(self, record: LevelRecord) -> None:
        _make(self.path / "levels")
        write_json(self.path / "levels" / f"{record.level}.json", level_json(record))

    def part(self, name: str) -> RunDirectory:
        _make(self.path / name)
        return RunDirectory(self.path / name, self._lock, self._identity)

    def log(self, event: Event) -> None:
        """Listener: append the event, with the seconds since this process began the run."""
        content = asdict(event)
        line = {"seconds": round(time.time() - self._began, 3), **content.pop("facts"), **content}
        path = self.path / "events.jsonl"
        with full_disk_explained(path), path.open("a") as stream:
            stream.write(json.dumps(line) + "\n")

    def _rankings_path(self, name: str, start: int, stop: int) -> Path:
        return self.path / "screen" / f"{name}-{start}-{stop}.npz"

    def _answer_path(self, level: int, index: int) -> Path:
        return self.path / "levels" / f"{level}" / f"{index:04d}.json"


def kept_screening(run: Path) -> Screening | None:
    """What a run's screen found, if it is finished."""
    path = run / "screening.npz"
    if not path.exists():
        return None
    with _damage_explained(path), np.load(path) as kept:
        chance = float(kept["chance"]) if "chance" in kept else None
        n_features, n_constant = int(kept["n_features"]), int(kept["n_constant"])
        return Screening(kept["candidates"], kept["utilities"], n_features, n_constant, chance)


FORMAT = "backbone-dask-run"
LOCK = ".lock"


def open_run(path: str | os.PathLike[str], identity: dict[str, Any], *, resume: bool, overwrite: bool) -> RunDirectory:
    """Begin a run in `path`, or go on with the same one."""
    directory = claim_run(path, identity, resume=resume, overwrite=overwrite)
    try:
        directory.begin(overwrite=overwrite)
    except BaseException:
        directory.close()
        raise
    return directory


def claim_run(path: str | os.PathLike[str], identity: dict[str, Any], *, resume: bool, overwrite: bool) -> RunDirectory:
    """The directory of a run, which no other process can have meanwhile; nothing in it is changed until it begins.

    `identity` is what makes two runs the same: data, task, settings. A directory that holds something else is refused,
    and `overwrite` is for a run that nobody is running, never for another folder.
    """
    folder = Path(path)
    # pathlib turns the // of a URL into /.
    if ":/" in os.fspath(path) or (folder.exists() and not folder.is_dir()):
        raise RunDirectoryError(f"{path} cannot be the directory of a run; name a local folder")
    if _content(folder) and not ((resume or overwrite) and _is_run(folder)):
        way_out = "it is not a run: choose another" if not _is_run(folder) else "use --resume to go on, or --overwrite"
        raise RunDirectoryError(f"{folder} is not empty; {way_out}")
    folder.mkdir(parents=True, exist_ok=True)
    directory = RunDirectory(folder, _locked(folder), {"format": FORMAT, **identity})
    try:
        if _content(folder) and not overwrite:
            _require_same(folder, {"format": FORMAT, **identity})
    except BaseException:
        directory.close()
        raise
    return directory


def _make(folder: Path) -> None:
    with full_disk_explained(folder):
        folder.mkdir(parents=True, exist_ok=True)


def digest(y: NDArray[Any]) -> str:
    """An array in a few characters, for the identity of a run."""
    return hashlib.sha256(np.ascontiguousarray(y).tobytes()).hexdigest()[:16]


def _content(folder: Path) -> list[Path]:
    return [entry for entry in folder.iterdir() if entry.name != LOCK] if folder.exists() else []


def _is_run(folder: Path) -> bool:
    """Whether the folder is one of ours: overwriting removes all that is in it."""
    try:
        kept = json.loads((folder / "settings.json").read_text())
    except (OSError, ValueError):
        return False
    return isinstance(kept, dict) and kept.get("format") == FORMAT


def _locked(folder: Path) -> IO[str]:
    lock = (folder / LOCK).open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as cause:
        lock.close()
        raise RunDirectoryError(
            f"another process is running in {folder}; wait for it, or choose another --out"
        ) from cause
    return lock


def _require_same(folder: Path, identity: dict[str, Any]) -> None:
    kept = read_json(folder / "settings.json")
    wanted = json.loads(json.dumps(identity))
    changed = sorted(name for name in {*kept, *wanted} if kept.get(name) != wanted.get(name))
    # What was finished while missing values were refused had none: it is the same if they are imputed from now on.
    imputes_now = changed == ["missing"] and (kept["missing"], wanted["missing"]) == ("refuse", "mean")
    if changed and not imputes_now:
        words = ", ".join(f"{name} {kept.get(name)!r} -> {wanted.get(name)!r}" for name in changed)
        raise RunDirectoryError(
            f"{folder} holds a run with other settings ({words}); resume with the same, or use another --out"
        )


@contextmanager
def _damage_explained(path: Path) -> Iterator[None]:
    try:
        yield
    except (EOFError, ValueError, KeyError, TypeError, OSError, BadZipFile) as cause:
        raise RunDirectoryError(f"{path} is damaged ({cause}); start again with --overwrite") from cause


def _ranking(kept: Any, question: int) -> Ranking:
    candidates, utilities = kept[f"candidates-{question}"], kept[f"utilities-{question}"]
    return Ranking(candidates, utilities, int(kept[f"n_scored-{question}"]), int(kept[f"n_constant-{question}"]))


def answer_json(answer: Answer) -> dict[str, Any]:
    return {
        "level": answer.level,
        "index": answer.index,
        "relevant": answer.relevant.tolist(),
        "objective": None if np.isnan(answer.objective) else answer.objective,
        "seconds": answer.seconds,
    }


def level_json(record: LevelRecord) -> dict[str, Any]:
    return {
        "level": record.level,
        "n_candidates": record.n_candidates,
        "n_planned": record.n_planned,
        "n_solved": len(record.answers),
        "coverage": record.coverage,
        "examined": list(record.examined),
        "backbone": record.backbone.tolist(),
        "answers": [answer_json(answer) for answer in record.answers],
    }
