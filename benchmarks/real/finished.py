"""What is finished: a file for each (data set, method, fold), and a file for each study with all of its results.

Either counts, if it is about the same samples and the same settings. So a folder that has only the files of the
studies, as the published one, is gone on with like one that has all.
"""

from __future__ import annotations

import json
import math
import os
import sys
from pathlib import Path
from typing import Any

from benchmarks.real.data import Data, study_of
from benchmarks.real.describing import described
from benchmarks.real.folds import Fold
from benchmarks.real.ours import Method

Result = dict[str, Any]
_NUMBER = (int, float)
_FIGURES = {
    "scores": (dict,),
    "n_features": (int,),
    "gap": (*_NUMBER, type(None)),
    "seconds": _NUMBER,
    "waited": _NUMBER,
    "peak_megabytes": _NUMBER,
    "chosen": (dict,),
}


class UnreadableResultsError(ValueError):
    """A file of a study would be written over, but what it has cannot be read."""


class NotFinishedError(FileNotFoundError):
    """A method needs what another one finds, and that is not there."""


def place(out: Path, data: Data, method: str, fold: Fold) -> Path:
    words = "".join(letter if letter.isalnum() else " " for letter in method).split()
    return out / data.name / f"{'-'.join(words)}-{fold.label}.json"


def about(data: Data, name: str, method: Method, fold: Fold) -> Result:
    """What tells a result from all others."""
    who = {"data": data.name, "method": name, "repeat": fold.repeat, "fold": fold.index, "n_folds": fold.n_folds}
    return strict(who | {"samples": fold.digest, "settings": described(method)})


def kept(out: Path, data: Data, name: str, method: Method, fold: Fold) -> Result | None:
    """What is finished of this method with these settings on this fold; None, and a word on a file, otherwise."""
    asked, path = about(data, name, method, fold), place(out, data, name, fold)
    found, why = _of_its_own(path, asked)
    if found is None:
        every = published(out, study_of(data.name))
        found = next((each for each in every if unfit(each, asked) is None), None)
    if found is None and why is not None:
        print(f"{path} {why}; it does not count", file=sys.stderr, flush=True)
    return found


def _of_its_own(path: Path, asked: Result) -> tuple[Result | None, str | None]:
    """What its file has, or why that does not count."""
    if not path.exists():
        return None, None
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError) as problem:
        return None, f"cannot be read ({problem})"
    why = unfit(found, asked)
    return (found, None) if why is None else (None, why)


def unfit(found: Any, asked: Result) -> str | None:
    """Why this is not the result that is asked for; None, if it is."""
    if not isinstance(found, dict) or any(key not in found or found[key] != value for key, value in asked.items()):
        return "is of other folds or other settings"
    if not is_whole(found):
        return "lacks figures"
    return None


def is_whole(found: Result) -> bool:
    """All that tables show is there, in its type; a truth value is no number."""
    if any(type(found.get(name)) not in types for name, types in _FIGURES.items()) or "gap" not in found:
        return False
    scores = found["scores"].values()
    return bool(scores) and all(value is None or type(value) in _NUMBER for value in scores)


def published(out: Path, study: str) -> list[Result]:
    """All that the file of a study has; nothing, if there is none yet."""
    path = out / f"{study}.json"
    if not path.exists():
        return []
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError) as problem:
        raise UnreadableResultsError(f"{path} cannot be read ({problem}); mend it, or move it away") from problem
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise UnreadableResultsError(f"{path} is no list of results; mend it, or move it away")
    return found


def publish(path: Path, content: Any) -> None:
    write(path, json.dumps(strict(content), indent=1, allow_nan=False))


def write(path: Path, text: str) -> None:
    """A file is there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(f".{os.getpid()}")
    scratch.write_text(text)
    scratch.replace(path)


def strict(content: Any) -> Any:
    """As JSON has it: a number that is not finite is null, a tuple is a list."""
    if isinstance(content, dict):
        return {str(name): strict(value) for name, value in content.items()}
    if isinstance(content, list | tuple):
        return [strict(each) for each in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content
