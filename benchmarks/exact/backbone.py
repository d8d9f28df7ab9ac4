"""Save the reduced problem of a pipeline run: n=5,000, p=10^6, k=50, SNR 2, rho .9, filled up to 250 columns.

    python -m benchmarks.exact.backbone /tmp/backbone.npz

A backbone with fewer columns is filled up with the best of the screen that are not in it, which are neighbours of
relevant columns and so the harder kind. It takes a few minutes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from backbone_dask import open_store

COMMAND = [sys.executable, "-m", "backbone_dask.cli"]
SHAPE = ["--n", "5000", "--p", "1000000", "--k", "50", "--rho", "0.9", "--snr", "2", "--seed", "1", "--virtual"]
COLUMNS, NONZERO = 250, 50


def run(folder: Path) -> tuple[Path, np.ndarray, np.ndarray]:
    """The store, the backbone, and the screen's survivors from the best on."""
    recipe, out = folder / "recipe.json", folder / "run"
    subprocess.run([*COMMAND, "simulate", "linear", recipe, *SHAPE], check=True)
    done = subprocess.run(
        [*COMMAND, "fit", recipe, "-k", str(NONZERO), "--out", out, "--workers", "2", "--time-limit", "5", "--json"],
        check=True,
        stdout=subprocess.PIPE,
    )
    screening = np.load(out / "screening.npz")
    order = np.argsort(-screening["utilities"], kind="stable")
    return recipe, np.array(json.loads(done.stdout)["backbone"]), screening["candidates"][order]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    file = parser.parse_args().file
    with tempfile.TemporaryDirectory() as folder:
        recipe, ids, ranked = run(Path(folder))
        store = open_store(str(recipe))
        others = ranked[~np.isin(ranked, ids)][: COLUMNS - ids.size]
        X = store.gather(np.sort(np.concatenate([ids, others]))).standardised()
        y = np.asarray(store.target("y"), np.float64)
        np.savez(file, X=X, y=y - y.mean(), n_nonzero=NONZERO)
    print(f"{ids.size} columns of the backbone and {others.size} others in {file}")


if __name__ == "__main__":
    main()
