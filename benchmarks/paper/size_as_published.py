"""What larger models are worth with the paper's settings: `python -m benchmarks.paper.size_as_published`.

On Housing with 1,000 permuted copies of every column.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from backbone_dask import BackboneRegressor
from benchmarks.paper.data import use_data
from benchmarks.paper.metrics import r2
from benchmarks.paper.permuted import Expanded, expanded
from benchmarks.paper.real_regression import PAPER

SIZES = (10, 30, 50)
SPLITS = (0, 1)
COPIES = 1000
HEAD = (
    "| split | k | R2 | real columns in the model | in the backbone | gap |",
    "| ---: | ---: | ---: | ---: | ---: | ---: |",
)


def row(data: Expanded, split: int, k: int) -> str:
    """Out of sample, and how many of the columns in model and backbone are no copies."""
    model = BackboneRegressor(executor="serial", **PAPER | {"n_nonzero": k}).fit(data.X, data.y)
    quality = r2(data.y_test, model.predict(data.X_test))
    real = [int((ids < data.n_original).sum()) for ids in (model.support_, model.backbone_)]
    found = f"{real[0]} of {model.support_.size} | {real[1]} of {model.backbone_.size}"
    return f"| {split} | {k} | {quality:.3f} | {found} | {model.gap_:.1%} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="the folder with the real data sets")
    use_data(parser.parse_args().data)
    print("\n".join(HEAD))
    for split in SPLITS:
        data = expanded("housing", split=split, expansion=0, copies=COPIES)
        for k in SIZES:
            print(row(data, split, k), flush=True)


if __name__ == "__main__":
    main()
