"""Features that sampling loses, and whether pricing all columns brings them back.

    python -m benchmarks.scale.lost_features [--seeds 10]

n=1,000, p=100,000 virtual, k=20, rho .9, two workers; each fit once as it is and once with a certificate. "Fewer"
and "sparing" settings examine few candidates, so that relevant features are lost before the exact fit sees them.
"Found" and "in the backbone" are shares of the relevant features. An objective that rises is marked.
"""

from __future__ import annotations

import argparse
from math import sqrt
from statistics import mean
from typing import Any

from distributed import Client

from backbone_dask.launch.local import local_cluster
from backbone_dask.problems.fitting import Fitted, fit_sparse, prepare
from backbone_dask.report.metrics import recovery
from backbone_dask.runtime.executor import DaskExecutor
from backbone_dask.settings import Settings
from backbone_dask.store import Recipe, VirtualStore

N, K, SNR = 1_000, 20, 6.0
SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "fewer": {"n_subproblems": 4, "subproblem_fraction": 0.3, "backbone_max": 100},
    "sparing": {"n_subproblems": 2, "subproblem_fraction": 0.1, "backbone_max": 50},
}
GAMMAS = {"1/n": 1 / N, "0.1/sqrt(n)": 0.1 / sqrt(N)}


def fit(store: VirtualStore, settings: Settings, client: Client) -> Fitted:
    return fit_sparse(prepare(store, store.target(), settings), DaskExecutor(client))


def known(fitted: Fitted, store: VirtualStore) -> tuple[float, float, float]:
    """Share found, share in the backbone, objective."""
    shares = recovery(fitted.model.ids, fitted.finding.backbone, store.truth.ids)  # type: ignore[union-attr]
    return shares["accuracy"], shares["backbone_accuracy"], fitted.finding.outcome.objective


def both(store: VirtualStore, asked: dict[str, Any], client: Client) -> tuple[list[float], str]:
    """Shares and the relative fall of the objective, before and after; and what the certificate says."""
    before = known(fit(store, Settings(n_nonzero=K, **asked), client), store)
    fitted = fit(store, Settings(n_nonzero=K, certify=True, **asked), client)
    after, certificate = known(fitted, store), fitted.finding.certificate
    fall = 1 - after[2] / before[2]
    said = f"{len(certificate.passes)} | {len(certificate.priced)} | {fitted.global_gap:.2%} | {certificate.ended} |"
    said += " ROSE |" if after[2] > before[2] else " |"
    return [before[0], after[0], before[1], after[1], fall, before[2], after[2]], said


def shown(numbers: list[float]) -> str:
    shares = " | ".join(f"{share:.3f}" for share in numbers[:4])
    return f"{shares} | {numbers[5]:.2f} | {numbers[6]:.2f} | {numbers[4]:.2%}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--p", type=int, default=100_000)
    parser.add_argument("--snr", type=float, default=SNR)
    arguments = parser.parse_args()
    print(
        "| settings | gamma | seed | found | after | in the backbone | after | objective | after | fall | passes "
        "| priced in | gap | ended | |\n| :--- | :--- |" + " ---: |" * 11 + " :--- | :--- |"
    )
    with local_cluster(2) as client:
        for name, chosen in SETTINGS.items():
            for called, gamma in GAMMAS.items():
                rows = []
                for seed in range(1, arguments.seeds + 1):
                    recipe = Recipe(
                        kind="linear",
                        n_samples=N,
                        n_features=arguments.p,
                        n_relevant=K,
                        rho=0.9,
                        snr=arguments.snr,
                        seed=seed,
                    )
                    numbers, said = both(VirtualStore(recipe), {"gamma": gamma, "seed": seed, **chosen}, client)
                    print(f"| {name} | {called} | {seed} | {shown(numbers)} | {said}", flush=True)
                    rows.append(numbers)
                means = [mean(column) for column in zip(*rows, strict=True)]
                print(f"| {name} | {called} | mean | {shown(means)} | | | | | |", flush=True)


if __name__ == "__main__":
    main()
