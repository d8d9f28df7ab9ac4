"""How a point of the validation curve is chosen: by the least error, and as folds do by one standard error.

    python -m benchmarks.real.choices riboflavin [--data FOLDER] [--repeats 2]

Out of sample, over five folds of each repeat; both choices are made on the same curve.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean, stdev
from tempfile import TemporaryDirectory
from typing import Any

from backbone_dask import BackboneClassifier, BackboneRegressor
from backbone_dask.problems.selection import best_point
from backbone_dask.values import GridPoint
from benchmarks.real.answers import judged
from benchmarks.real.data import BESIDE, LOADERS, NUMBERS, Data
from benchmarks.real.folds import Fold, Split, folds, split
from benchmarks.real.methods import OWN
from benchmarks.real.one_thread import one_thread
from benchmarks.real.ours import sparse

FEW = ("riboflavin", "alon", "golub", "singh")
SECONDS = 5.0
Rule = Callable[[Sequence[GridPoint]], GridPoint]
RULES: dict[str, Rule] = {
    "least error": lambda curve: min(curve, key=lambda point: (point.error, point.n_nonzero, point.gamma)),
    "one standard error": lambda curve: best_point(tuple(curve)),
}


def curve_of(data: Data, part: Split) -> Sequence[GridPoint]:
    """Of the first fit if there are several classes."""
    estimator: Any = BackboneRegressor if data.task == NUMBERS else BackboneClassifier
    found = estimator(**OWN[data.name], random_state=part.seed).fit(part.X, part.y).validation_curve_
    return found if isinstance(found[0], GridPoint) else found[0]


def score(data: Data, fold: Fold, part: Split, point: GridPoint) -> float:
    answer = sparse(part, n_nonzero=point.n_nonzero, gamma=point.gamma, time_limit=SECONDS)
    return judged(data.task, data.y[fold.test], answer)["r2" if data.task == NUMBERS else "auc"]


def scores_of(data: Data, fold: Fold) -> dict[str, float]:
    part = split(data, fold)
    with one_thread():
        curve = curve_of(data, part)
        return {name: score(data, fold, part, rule(curve)) for name, rule in RULES.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=FEW)
    parser.add_argument("--data", type=Path, default=BESIDE)
    parser.add_argument("--repeats", type=int, default=1)
    asked = parser.parse_args()
    with TemporaryDirectory() as scratch:
        data = LOADERS[asked.name](asked.data, Path(scratch))
    every = [scores_of(data, fold) for fold in folds(data, 5, asked.repeats)]
    for rule in RULES:
        values = [each[rule] for each in every]
        print(f"{asked.name}, {rule}: {fmean(values):.3f} ± {stdev(values):.3f} over {len(values)} folds")


if __name__ == "__main__":
    main()
