"""How rare the columns are that each screen of two classes keeps, on the grams of the text: a Markdown table.

python -m benchmarks.real.rare_columns --out FOLDER [--data FOLDER]
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from backbone_dask import screen
from benchmarks.real.data import BESIDE, text
from benchmarks.real.folds import folds, split
from benchmarks.real.methods import SURVIVORS

SCREENS = ("logistic", "logistic-loss", "correlation")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=BESIDE)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--columns", type=int, help="a random sample of so many columns; all, if left out")
    asked = parser.parse_args()
    data = text(asked.data, asked.out)
    part = split(data, next(folds(data, 5, 1)))
    y = (part.y == "positive").astype(np.float64)
    X = part.X if asked.columns is None else part.X[:, _drawn(part.X.shape[1], asked.columns)]
    frequency, keep = np.diff(X.indptr), round(SURVIVORS * X.shape[1] / part.X.shape[1])
    print("| screen | CPU s | sentences with a survivor: median | in at most 10 | in at least 100 |")
    print("|---|---:|---:|---:|---:|")
    for name in SCREENS:
        began = time.process_time()
        (found,) = screen(X, y, screen=name, keep=keep).values()
        seconds, kept = time.process_time() - began, frequency[found.candidates]
        shares = f"{(kept <= 10).mean():.0%} | {(kept >= 100).mean():.0%}"
        print(f"| {name} | {seconds:.0f} | {np.median(kept):.0f} | {shares} |", flush=True)


def _drawn(n_columns: int, size: int) -> NDArray[np.int64]:
    return np.sort(np.random.default_rng(0).choice(n_columns, size, replace=False))


if __name__ == "__main__":
    main()
