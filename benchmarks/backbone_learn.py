"""A whole fit against BackboneLearn's BackboneSparseRegression on growing tables in memory; prints a Markdown table.

    python -m benchmarks.backbone_learn --peer /path/to/python [--features 500 1000] [--timeout 300]

``--peer`` is the interpreter of an environment with backbone-learn==0.1.3 and scikit-learn<1.9, which it needs. Both
run in one process on one thread of BLAS, and fit twice: the second fit is the one reported, for both compile during the
first. The tables stop growing when the peer's process runs into the timeout.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from backbone_dask.store.synthetic import Recipe
from backbone_dask.store.virtual import VirtualStore

SAMPLES, NONZERO, RHO, SNR = 500, 10, 0.5, 5.0
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

TIMED = """
import sys, time
import numpy as np
data = np.load(sys.argv[1])
X, y = data["X"], data["y"]
def report(fit, X, y):
    start, used = time.perf_counter(), time.process_time()
    support = fit(X, y)
    print(time.perf_counter() - start, time.process_time() - used, *support)
"""

OURS = (
    TIMED
    + """
from backbone_dask import BackboneRegressor
def fit(X, y):
    return BackboneRegressor(n_nonzero=10, executor="serial", random_state=0).fit(X, y).support_
report(fit, X, y)
report(fit, X, y)
"""
)

# The arguments are those of its README; ``num_iterations``, there 1, can be given.
THEIRS = (
    TIMED
    + """
from backbone_learn.backbone.backbone_sparse_regression import BackboneSparseRegression
def fit(X, y):
    np.random.seed(0)
    model = BackboneSparseRegression(
        alpha=0.5, beta=0.5, num_subproblems=5, num_iterations=int(sys.argv[2]), lambda_2=0.001, max_nonzeros=10
    )
    model.fit(X, y)
    kept = np.asarray(model.screen_selector.indices_keep)[model.variables_exact_idx]
    return kept[np.flatnonzero(model.exact_solver._model.coefficients)]
report(fit, X, y)
report(fit, X, y)
"""
)


@dataclass(frozen=True)
class Measured:
    """Seconds by the clock and of the processor, relevant features found, and features in the model."""

    seconds: float
    cpu: float
    hits: int
    size: int

    def show(self) -> str:
        return f"{self.hits} of {self.size} | {self.seconds:.2f} | {self.cpu:.2f}"


def measure(command: list[str], relevant: np.ndarray, timeout: float) -> Measured | None:
    """None where the fit does not end in time."""
    environment = {**os.environ, **ONE_THREAD}
    try:
        done = subprocess.run(
            command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=timeout, env=environment
        )
    except subprocess.TimeoutExpired:
        return None
    seconds, cpu, *support = done.stdout.decode().splitlines()[-1].split()
    return Measured(float(seconds), float(cpu), int(np.isin(relevant, np.array(support, int)).sum()), len(support))


def compare(asked: argparse.Namespace, features: int, seed: int) -> bool:
    """Prints one line; whether the peer ended in time."""
    recipe = Recipe(
        kind="linear", n_samples=SAMPLES, n_features=features, n_relevant=NONZERO, rho=RHO, snr=SNR, seed=seed
    )
    store = VirtualStore(recipe)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "table.npz")
        X = store.gather(np.arange(features)).standardised().T.astype(np.float64)
        np.savez(path, X=X, y=store.targets["y"])
        ours = measure([sys.executable, "-c", OURS, path], store.truth.ids, asked.timeout)
        peer = [asked.peer, "-c", THEIRS, path, str(asked.iterations)]
        theirs = measure(peer, store.truth.ids, asked.timeout)
    print(line(features, seed, ours, theirs, asked.timeout), flush=True)
    return theirs is not None


def line(features: int, seed: int, ours: Measured | None, theirs: Measured | None, timeout: float) -> str:
    late = f"| over {timeout:g} |"
    ratio = f"{theirs.seconds / ours.seconds:.0f}" if ours and theirs else ""
    cells = [one.show() if one else late for one in (ours, theirs)]
    return f"| {features:,} | {seed} | {' | '.join(cells)} | {ratio} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", required=True)
    parser.add_argument("--features", type=int, nargs="+", default=[500, 1_000, 2_000, 5_000, 10_000, 20_000])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--iterations", type=int, default=1, help="the peer's num_iterations")
    asked = parser.parse_args()
    print("| p | seed | ours: found of chosen | s | cpu s | BackboneLearn: found of chosen | s | cpu s | ratio |")
    print("|" + "---|" * 9)
    for features in asked.features:
        in_time = [compare(asked, features, seed) for seed in asked.seeds]
        if not all(in_time):
            return


if __name__ == "__main__":
    main()
