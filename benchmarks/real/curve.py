"""Out of sample, at every number of features and ridge weight: what a better choice of the two could have given.

    python -m benchmarks.real.curve riboflavin --out FOLDER [--data FOLDER] [--folds 5] [--first N]

The scores of the samples held out are looked at here to understand a result, never to make one.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from statistics import fmean

from benchmarks.real.data import BESIDE, LOADERS, NUMBERS, Data
from benchmarks.real.folds import Fold, folds
from benchmarks.real.ours import sparse
from benchmarks.real.runs import result_of

SIZES = (2, 4, 8, 16, 32)
SHARES = (4.0, 1.0, 0.25, 0.05, 0.01)
"""Times the usual ridge weight, 1/sqrt(n)."""


def main() -> None:
    asked = _arguments()
    data = LOADERS[asked.name](asked.data, asked.out)
    chosen = list(folds(data, asked.folds, 1))[: asked.first]
    print("| features | " + " | ".join(f"{share:g} / sqrt(n)" for share in SHARES) + " |")
    print("|---:|" + "---:|" * len(SHARES))
    for size in SIZES:
        cells = [fmean(_score(asked.out, data, fold, size, share) for fold in chosen) for share in SHARES]
        print(f"| {size} | " + " | ".join(f"{cell:.3f}" for cell in cells) + " |", flush=True)


def _score(out: Path, data: Data, fold: Fold, size: int, share: float) -> float:
    gamma = share / fold.train.size**0.5
    method = partial(sparse, n_nonzero=size, gamma=gamma, time_limit=5.0)
    result = result_of(out / "curve", data, f"k = {size}, share = {share:g}", method, fold)
    score = result["scores"]["r2" if data.task == NUMBERS else "auc"]
    return float("nan") if score is None else float(score)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=list(LOADERS))
    parser.add_argument("--data", type=Path, default=BESIDE)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--first", type=int)
    return parser.parse_args()


if __name__ == "__main__":
    main()
