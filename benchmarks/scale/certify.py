"""The bound over all columns: what passes prove, what they cost, and what they cost next to a screen.

    python -m benchmarks.scale.certify fits 1000000 10000000 --tolerances 0.01 0.0001
    python -m benchmarks.scale.certify gammas 1000000 --seeds 1 2 3
    python -m benchmarks.scale.certify ratios 1000000 --folder /tmp

n=5,000, k=50, SNR 2, rho .9, two workers. A fit is a process of its own, as a user starts it, and its numbers are
those of its result.json. "ratios" times the screen of a store, a ranking of all columns by their prices, and a whole
pass (the ranking, and the dearest columns once more by their samples) in turns in one process: medians and ranges over
the rounds. One of its stores is on disk, 2 GB in `--folder`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client

from backbone_dask.algorithm.hierarchy import union
from backbone_dask.launch.local import local_cluster
from backbone_dask.problems.extras import Extras
from backbone_dask.problems.fitting import Preparation, certifier, prepare
from backbone_dask.protocols import Panel
from backbone_dask.runtime.checkpoint import NoJournal
from backbone_dask.runtime.events import silent
from backbone_dask.runtime.executor import DaskExecutor
from backbone_dask.runtime.screening import Screener
from backbone_dask.runtime.site import settle
from backbone_dask.screens.correlation import CorrelationPanel
from backbone_dask.settings import Settings
from backbone_dask.store import FeatureStore, Recipe, VirtualStore, open_store
from benchmarks.timing import Case, in_turns, ratio, speed, timed

COMMAND = [sys.executable, "-m", "backbone_dask.cli"]
N, K, ON_DISK = 5_000, 50, 100_000
SHAPE = ["--n", str(N), "--k", str(K), "--rho", "0.9", "--snr", "2"]
LINEAR = Recipe(kind="linear", n_samples=N, n_features=ON_DISK, n_relevant=K, rho=0.9, snr=2.0, seed=1)
GAMMAS = {"1/n": 1 / N, "0.1/sqrt(n)": 0.1 / sqrt(N), "1/sqrt(n)": 1 / sqrt(N)}
GIB = 2**30


def simulate(path: Path, p: int, seed: int, *options: str) -> Path:
    made = [*COMMAND, "simulate", "linear", path, "--p", str(p), "--seed", str(seed), *SHAPE, "--quiet", *options]
    subprocess.run(made, check=True, stdout=subprocess.DEVNULL)
    return path


def fit(folder: Path, p: int, seed: int, options: list[str]) -> dict[str, Any]:
    recipe, run = simulate(folder / f"{p}-{seed}.json", p, seed, "--virtual", "--overwrite"), folder / "run"
    asked = ["--task", "regression", "-k", str(K), "--seed", str(seed), "--workers", "2", "--certify", "--overwrite"]
    done = subprocess.run(
        [*COMMAND, "fit", recipe, "--out", run, *asked, "--json", "--quiet", *options],
        check=True,
        stdout=subprocess.PIPE,
    )
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def row(result: dict[str, Any]) -> str:
    """Passes are separated by commas: gap, columns entering, and seconds of each."""
    proven, peak = result["global"], result["peak_bytes"]
    trace, advised = proven["trace"], proven["advised_gamma"]
    gaps = ", ".join(f"{1 - each['bound'] / each['objective']:.2%}" for each in trace)
    entering = ", ".join(str(each["entering"]) for each in trace)
    ends = [0.0, *(each["seconds"] for each in trace)]
    seconds = ", ".join(f"{end - begin:.1f}" for begin, end in pairwise(ends))
    return (
        f"{gaps} | {entering} | {proven['ended']} | {len(proven['priced'])} | {proven['gap']:.3%} "
        f"| {result['reduced']['gap']:.3%} | {result['recovery']['n_found']} "
        f"| {'' if advised is None else f'{advised:.1e}'} "
        f"| {result['seconds']['screen']:.1f} | {seconds} | {result['seconds']['certify']:.1f} "
        f"| {max(peak['workers']) / GIB:.2f} | {peak['coordinator'] / GIB:.2f} |"
    )


HEAD = (
    "gaps | entering | ended | priced in | gap | reduced gap | found | advised gamma | screen s | passes s | certify s "
    "| worker GiB | coordinator GiB |"
)


def fits(arguments: argparse.Namespace, options: list[str]) -> None:
    print(f"| p | seed | tolerance | {HEAD}\n|" + " ---: |" * 16)
    with tempfile.TemporaryDirectory() as folder:
        for p in arguments.p:
            for tolerance in arguments.tolerances:
                for seed in arguments.seeds:
                    asked = ["--gamma", str(1 / N), "--certify-tolerance", str(tolerance), *options]
                    print(f"| {p:,} | {seed} | {tolerance} | {row(fit(Path(folder), p, seed, asked))}", flush=True)


def gammas(arguments: argparse.Namespace, options: list[str]) -> None:
    print(f"| p | seed | gamma | {HEAD}\n|" + " ---: |" * 16)
    with tempfile.TemporaryDirectory() as folder:
        for p in arguments.p:
            for name, gamma in GAMMAS.items():
                for seed in arguments.seeds:
                    asked = ["--gamma", str(gamma), *options]
                    print(f"| {p:,} | {seed} | {name} | {row(fit(Path(folder), p, seed, asked))}", flush=True)


def cases(ready: Preparation, client: Client, screens: dict[str, Panel]) -> dict[str, Case]:
    """The screens, the ranking by prices and the whole pass, against a relaxation on relevant and well-ranked columns.

    A `Screener` with new handles each time: nothing is left from the time before.
    """

    def rank(panel: Panel, keep: int) -> Any:
        executor = DaskExecutor(client)
        site = settle(ready.store, executor).weighted(ready.task.adjusted.weights)
        return Screener(site, site.serve(), NoJournal(), silent).rank(panel, keep, name="pass")

    certify = certifier(ready, settle(ready.store, DaskExecutor(client)), NoJournal(), silent)
    (best,) = rank(ready.problem.screen, 100)
    relevant = ready.store.truth.ids  # type: ignore[union-attr]
    working = certify._relaxed(union([best.candidates, relevant]), np.sort(relevant))
    keep = working.ids.size + certify.asked.columns + K
    priced = ready.task.pricing(working.solved.a)
    each: dict[str, Callable[[], object]] = {
        name: lambda panel=panel: rank(panel, ready.settings.screen_size) for name, panel in screens.items()
    }
    each |= {"prices": lambda: rank(priced, keep), "whole pass": lambda: certify._pass(working, 0)}
    return {name: timed(work) for name, work in each.items()}


def compare(
    name: str, ready: Preparation, client: Client, rounds: int, screens: dict[str, Panel] | None = None
) -> None:
    """Ratios are to every screen, in the order in which they are given."""
    screens = screens or {"its screen": ready.problem.screen}
    taken = in_turns(cases(ready, client, screens), rounds)
    for work, seconds in taken.items():
        against = " | ".join(ratio(taken[screen], seconds).show(2) for screen in screens)
        print(
            f"| {name} | {work} | {speed(1.0, [1 / s for s in seconds]).show(2)} | {against} |"
            + (" | |" if len(screens) == 1 else ""),
            flush=True,
        )


def ready_for(store: FeatureStore, task: str = "regression", extras: Extras | None = None) -> Preparation:
    return prepare(store, store.target(), Settings(n_nonzero=K, gamma=1 / N, certify=True), task=task, extras=extras)


def ratios(arguments: argparse.Namespace, _: list[str]) -> None:
    print(
        "| store | pass | seconds | range | times the first screen | range | times the second | range |\n"
        "| :--- | :--- |" + " ---: |" * 6
    )
    rng = np.random.default_rng(1)
    extras = Extras(covariates=rng.standard_normal((N, 3)), sample_weight=rng.uniform(0.5, 2.0, N))
    with local_cluster(2) as client, tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        for p in arguments.p:
            linear = VirtualStore(replace(LINEAR, n_features=p))
            compare(f"{p:,} virtual", ready_for(linear), client, arguments.rounds)
            adjusted = ready_for(linear, extras=extras)
            compare(f"{p:,} virtual, covariates and weights", adjusted, client, arguments.rounds)
            labels = ready_for(VirtualStore(replace(LINEAR, kind="logistic", n_features=p)), "classification")
            both = {"correlation": CorrelationPanel(labels.task.response), "logistic": labels.problem.screen}
            compare(f"{p:,} virtual, logistic loss", labels, client, arguments.rounds, both)
        store = open_store(simulate(Path(folder) / "store", ON_DISK, 1))
        compare(f"{ON_DISK:,} float32 on disk", ready_for(store), client, arguments.rounds)
        adjusted = ready_for(store, extras=extras)
        compare(f"{ON_DISK:,} float32 on disk, covariates and weights", adjusted, client, arguments.rounds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["fits", "gammas", "ratios"])
    parser.add_argument("p", type=int, nargs="+")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--tolerances", type=float, nargs="+", default=[0.01])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", help="Where the store on disk is written; a temporary folder if not given.")
    arguments, options = parser.parse_known_args()
    {"fits": fits, "gammas": gammas, "ratios": ratios}[arguments.what](arguments, options)


if __name__ == "__main__":
    main()
