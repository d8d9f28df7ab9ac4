"""All products of two SNPs of the mice: ours screens every one of them, its peers take what is left of that screen.

Samples that are held out are in no part of it: the store of products is made from the training mice alone.
"""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.problems.extras import Extras
from backbone_dask.problems.fitting import Fitted, fit_sparse, prepare
from backbone_dask.problems.prediction import predict_store
from backbone_dask.runtime.executor import SerialExecutor
from backbone_dask.settings import Settings
from backbone_dask.store import InteractionStore, MemoryStore
from backbone_dask.store.pairs import pairs_of
from benchmarks.real.answers import Answer
from benchmarks.real.data import Data
from benchmarks.real.folds import Fold, Split
from benchmarks.real.lasso import lasso
from benchmarks.real.mice import CHOICE, SIZES
from benchmarks.real.ours import Method, sparse
from benchmarks.real.runs import forget_peak
from benchmarks.real.subsets import best_subset

N_NONZERO = 10
SCREENING: dict[str, Any] = {"n_nonzero": N_NONZERO, "time_limit": 30.0}


def pair_methods(out: Path, abess_python: Path | None, data: Data, fold: Fold) -> dict[str, Method]:
    """Ours comes first: it leaves its survivors for the others, all of which choose their size on them."""
    survivors = _place(out, data, fold)
    choosers: dict[str, Method] = {"backbone on survivors": partial(sparse, **CHOICE), "lasso on survivors": lasso}
    if abess_python:
        choosers["abess on survivors"] = partial(best_subset, abess_python, SIZES)
    all_pairs: dict[str, Method] = {f"backbone on all pairs, k = {N_NONZERO}": partial(_all_pairs, survivors)}
    return all_pairs | {name: partial(_on_survivors, survivors, each) for name, each in choosers.items()}


def _place(out: Path, data: Data, fold: Fold) -> Path:
    """Of the survivors that ours leaves: other folds or settings have others."""
    asked = hashlib.sha256(json.dumps([fold.digest, SCREENING]).encode()).hexdigest()
    return out / data.name / f"survivors-{fold.label}-{asked[:12]}.npy"


def _all_pairs(kept: Path, split: Split) -> Answer:
    began = time.process_time()
    store = InteractionStore(MemoryStore(split.X))
    ready = prepare(store, split.y, Settings(**SCREENING, seed=split.seed), extras=Extras(covariates=split.covariates))
    found: Fitted = fit_sparse(ready, SerialExecutor())
    seconds = time.process_time() - began
    _keep(kept, found.finding.screening.candidates)
    predicted = predict_store(found.model, InteractionStore(MemoryStore(split.X_new)), split.covariates_new)
    chosen = {"n_nonzero": found.n_nonzero, "gamma": found.gamma, "columns": store.n_features, **_phases(found)}
    return Answer(predicted, found.model.ids.size, gap=found.finding.outcome.gap, chosen=chosen, seconds=seconds)


def _keep(path: Path, ids: NDArray[np.int64]) -> None:
    """Whole or not at all, for others build on it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f"unfinished-{path.name}")
    np.save(scratch, ids)
    scratch.replace(path)


def _phases(found: Fitted) -> dict[str, Any]:
    return {"pairs": found.model.names, "phases": found.finding.seconds}


def _on_survivors(kept: Path, method: Method, split: Split) -> Answer:
    """Survivors that no file has are found again, and that is no part of what the method takes."""
    if not kept.exists():
        _all_pairs(kept, split)
    ids, began = np.load(kept), time.process_time()
    forget_peak()
    answer = method(replace(split, X=products(split.X, ids), X_new=products(split.X_new, ids)))
    return replace(answer, seconds=time.process_time() - began if answer.seconds is None else answer.seconds)


def products(X: NDArray[np.int8], ids: NDArray[np.int64]) -> NDArray[np.float64]:
    a, b = pairs_of(ids, X.shape[1])
    return np.asarray(X[:, a] * X[:, b], np.float64)
