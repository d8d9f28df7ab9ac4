"""Real data beyond the paper, cross-validated against the lasso and abess.

    python -m benchmarks.real riboflavin|microarray|mice|hapmap|text|mice-pairs|all --out FOLDER [--data FOLDER]
        [--folds 5] [--repeats 1] [--first N] [--abess-python PATH] [--methods NAME ...]

A result for each (data set, method, fold) is a JSON file in --out; a call that is repeated goes on after the last one.
Results of other folds or other settings do not count, and are made again.
The tables are printed, and written to --out as Markdown, beside all results of a study in one file.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.real.data import LOADERS, Data
from benchmarks.real.folds import Fold, folds
from benchmarks.real.methods import methods
from benchmarks.real.ours import Method
from benchmarks.real.runs import Result, publish, result_of
from benchmarks.real.subsets import PeerFailedError
from benchmarks.real.tables import table

BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data"
STUDIES = {
    "riboflavin": ["riboflavin"],
    "microarray": ["alon", "golub", "singh"],
    "mice": ["mice-length", "mice-bmi"],
    "hapmap": ["hapmap"],
    "text": ["text"],
    "mice-pairs": ["mice-pairs-length", "mice-pairs-bmi"],
}


def main() -> None:
    asked = _arguments()
    for study in STUDIES if asked.study == "all" else [asked.study]:
        results = [result for name in STUDIES[study] for result in _studied(name, asked)]
        text = table(results)
        (asked.out / f"{study}.md").write_text(text + "\n")
        publish(asked.out / f"{study}.json", results)
        print(text, flush=True)


def _studied(name: str, asked: argparse.Namespace) -> list[Result]:
    asked.out.mkdir(parents=True, exist_ok=True)
    data = LOADERS[name](asked.data, asked.out)
    results: list[Result] = []
    for fold in list(folds(data, asked.folds, asked.repeats))[: asked.first]:
        known = methods(data, fold, asked.out, asked.abess_python)
        wanted = [name for name in known if not asked.methods or name in asked.methods]
        results += [_attempted(asked.out, data, each, known[each], fold) for each in wanted]
    return sorted(results, key=lambda result: list(known).index(result["method"]))


def _attempted(out: Path, data: Data, name: str, method: Method, fold: Fold) -> Result:
    """The result, or why there is none: it is tried again next time, and the others go on."""
    try:
        return _told(result_of(out, data, name, method, fold))
    except PeerFailedError as failed:
        print(f"{data.name} {fold.label} {name}: failed, {failed}", file=sys.stderr, flush=True)
        return {"data": data.name, "method": name, "repeat": fold.repeat, "fold": fold.index, "failed": str(failed)}


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


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", choices=[*STUDIES, "all"])
    parser.add_argument("--data", type=Path, default=BESIDE if BESIDE.exists() else None)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--first", type=int, help="only so many of the folds of each data set")
    parser.add_argument("--abess-python", type=Path, help="the interpreter that has abess; without one it is left out")
    parser.add_argument("--methods", nargs="+", help="only these")
    asked = parser.parse_args()
    if asked.data is None or not asked.data.is_dir():
        parser.error(f"--data is {asked.data}; name the folder that holds mice/, hapmap3/, text/, ...")
    return asked


if __name__ == "__main__":
    main()
