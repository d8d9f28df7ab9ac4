"""Small finished runs, written by hand or by the real fit in this process."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from backbone_dask import write_report
from backbone_dask.cli.main import cli
from backbone_dask.store import MemoryStore, write_store

SCRIPT = "<script>alert(1)</script>"
LONG = "n" * 1000
N, P = 160, 300
TRACE = [
    {"seconds": 0.0, "objective": 12.0, "bound": None},
    {"seconds": 0.5, "objective": 10.0, "bound": 6.0},
    {"seconds": 2.0, "objective": 8.0, "bound": 7.9},
]


def write_table(path: Path) -> None:
    """Features of which two matter: one with a hostile name and large values, one with a long name and small ones."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, P)).astype(np.float32)
    X[:, 7] *= 40
    X[:, 11] *= 0.01
    score = X[:, 7] / 40 + 80 * X[:, 11] + 0.3 * rng.standard_normal(N)
    names = [f"g{at}" for at in range(P)]
    names[7], names[11] = SCRIPT, LONG
    targets = {
        "stage <b>": np.digitize(score, [-0.7, 0.7]).astype(float),
        "relapse": (score > 0).astype(float),
        "weight": 3 * score,
        "age": rng.standard_normal(N),
    }
    write_store(MemoryStore(X, names=names, targets=targets), path)


def fit(store: Path, out: Path, *options: object) -> Path:
    arguments = ["fit", store, "--out", out, "--quiet", "--json", "--workers", 0, "--n-subproblems", 4, *options]
    cli.main([str(each) for each in arguments], standalone_mode=False)
    return out


def make_runs(folder: Path) -> Path:
    """Puts the runs `linear`, `certified`, `logistic` and `tree` into the folder."""
    store = folder / "table.zarr"
    write_table(store)
    fit(store, folder / "linear", "--target", "weight", "-k", 3, "--covariate", "age")
    change_result(folder / "linear", trace=TRACE)
    write_report(folder / "linear")
    losing = ("--n-subproblems", 1, "--subproblem-fraction", 0.02, "--backbone-max", 5, "--gamma", 0.02, "--certify")
    fit(store, folder / "certified", "--target", "weight", "-k", 3, *losing)
    grid = ("-k", "1,2,4", "--gamma", "0.01,0.1")
    fit(store, folder / "logistic", "--target", "relapse", "--task", "classification", *grid)
    fit(store, folder / "tree", "--target", "stage <b>", "--task", "tree", "--depth", "1,2", "--n-starts", 1)
    return folder


def result_of(run: Path) -> dict:
    return json.loads((run / "result.json").read_text())


def change_result(run: Path, **changes: object) -> dict:
    """The run with another result, as an older or a later version may have left it; None takes a field out."""
    result = {name: value for name, value in (result_of(run) | changes).items() if value is not None}
    (run / "result.json").write_text(json.dumps(result))
    return result
