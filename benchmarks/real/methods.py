"""Which methods meet on which data, with what they choose from."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.real.cart import cart
from benchmarks.real.data import Data
from benchmarks.real.folds import Fold
from benchmarks.real.lasso import as_many_as, covariates_alone, lasso, lasso_of_text, one_against_rest, ridge
from benchmarks.real.mice import CHOICE as MICE
from benchmarks.real.mice import SIZES as MOUSE_SIZES
from benchmarks.real.ours import Method, screened, sparse, tree
from benchmarks.real.pairs import pair_methods
from benchmarks.real.subsets import best_subset

SIZES = (1, 2, 4, 8, 16)
POPULATION_SIZES = (25, 50, 100, 200)
# Five folds where samples are few and fits are fast, three where fits are slower, else a hold-out.
_ARRAY: dict[str, Any] = {"n_nonzero": SIZES, "gamma": (2.0, 0.5, 0.1, 0.02), "validation": 3, "time_limit": 5.0}
OWN: dict[str, dict[str, Any]] = {
    "riboflavin": {"n_nonzero": SIZES, "gamma": "grid", "validation": 5, "time_limit": 30.0},
    "alon": _ARRAY,
    "golub": _ARRAY,
    "singh": _ARRAY,
    "mice": MICE,
}
SURVIVORS = 10_000
TEXT: dict[str, Any] = {"n_nonzero": 100, "time_limit": 30.0}
TEXT_CHOICE: dict[str, Any] = TEXT | {"n_nonzero": (50, 100, 200), "validation": 0.7}
POPULATION: dict[str, Any] = {"gamma": 0.5, "time_limit": 5.0}
POPULATION_CHOICE: dict[str, Any] = {
    "n_nonzero": (20, 50, 100),
    "gamma": (2.0, 0.5, 0.1),
    "validation": 0.7,
    "time_limit": 5.0,
}


def methods(data: Data, fold: Fold, out: Path, abess_python: Path | None) -> dict[str, Method]:
    """By name, in the order in which they run: some lean on what ours found in the same fold."""
    if data.name.startswith("mice-pairs"):
        return pair_methods(out, abess_python, data, fold)
    if data.name == "hapmap":
        return _population_methods(abess_python)
    own = _own_of_text() if data.name == "text" else _own(data)
    same_size = partial(as_many_as, out, data, fold, "backbone", own["backbone"])
    peers = _text_peers(same_size, abess_python) if data.name == "text" else _peers(data, same_size, abess_python)
    return own | peers


def names_of(data: str, abess_python: Path | None) -> list[str]:
    """The methods that meet on a data set, before it is read: names take nothing from it."""
    none = np.empty(0, np.int64)
    return list(methods(Data(data, "", None, none), Fold(0, 0, 0, none, none), Path(), abess_python))


def _own(data: Data) -> dict[str, Method]:
    settings = OWN[data.name.split("-")[0]]
    return {
        "backbone": partial(sparse, **settings),
        "backbone, EBIC": partial(sparse, **settings | {"validation": "ebic"}),
        "backbone, k = 10": partial(sparse, n_nonzero=10, time_limit=settings["time_limit"]),
    }


def _peers(data: Data, same_size: Method, abess_python: Path | None) -> dict[str, Method]:
    mouse = data.name.startswith("mice")
    found: dict[str, Method] = {"lasso": lasso, "lasso, as many features": same_size}
    if mouse:
        found |= {"ridge, all columns": ridge, "covariates alone": covariates_alone}
    if abess_python:
        subset = partial(best_subset, abess_python, MOUSE_SIZES if mouse else SIZES)
        found |= {"abess": subset, "abess, EBIC": partial(subset, cv=False)}
    return found


def _own_of_text() -> dict[str, Method]:
    return {
        "backbone": partial(sparse, **TEXT, screen_size=SURVIVORS),
        "backbone, size by hold-out": partial(sparse, **TEXT_CHOICE, screen_size=SURVIVORS),
        "backbone, k = 200": partial(sparse, **TEXT | {"n_nonzero": 200}, screen_size=SURVIVORS),
        "backbone, screened by slope": partial(screened, by="logistic", keep=SURVIVORS, **TEXT),
    }


def _text_peers(same_size: Method, abess_python: Path | None) -> dict[str, Method]:
    found: dict[str, Method] = {"lasso, as many features": same_size, "lasso": lasso_of_text}
    if abess_python:
        found["abess"] = partial(best_subset, abess_python, (100,), cv=False, screened=SURVIVORS)
    return found


def _population_methods(abess_python: Path | None) -> dict[str, Method]:
    found: dict[str, Method] = {
        "backbone tree": partial(tree, depth=[6, 10], time_limit=60.0),
        "backbone tree, fixed complexity": partial(tree, depth=8, complexity=0.003, min_bucket=5, time_limit=30.0),
        "backbone, one against the rest": partial(sparse, **POPULATION_CHOICE),
        "backbone, one against the rest, k = 20": partial(sparse, n_nonzero=20, **POPULATION),
        "backbone, one against the rest, k = 50": partial(sparse, n_nonzero=50, **POPULATION),
        "backbone, one against the rest, k = 50, no screen": partial(
            sparse, n_nonzero=50, screen_size=20_000, **POPULATION
        ),
        "backbone tree, no screen, fixed complexity": partial(
            tree, depth=10, complexity=0.003, min_bucket=5, screen="none", n_subproblems=5, time_limit=30.0
        ),
        "CART": cart,
        "lasso, one against the rest": one_against_rest,
    }
    if abess_python:
        found["abess, all classes at once"] = partial(best_subset, abess_python, POPULATION_SIZES)
    return found
