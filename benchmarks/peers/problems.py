"""The problems: the paper's simulated data, written once for all methods."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from backbone_dask.store.synthetic import Recipe, gather, target, truth

TEST_SAMPLES = 2_000


@dataclass(frozen=True)
class Problem:
    """A recipe, and the size that methods are told: features of a linear model, depth of a tree."""

    name: str
    recipe: Recipe

    @property
    def size(self) -> int:
        return self.recipe.depth if self.recipe.kind == "tree" else self.recipe.n_relevant

    @property
    def relevant(self) -> np.ndarray:
        return truth(self.recipe).ids

    @property
    def metric(self) -> str:
        return "R2" if self.recipe.kind == "linear" else "AUC"

    def seeded(self, seed: int) -> Problem:
        return replace(self, recipe=replace(self.recipe, seed=seed))

    @property
    def test_target(self) -> np.ndarray:
        return labels(replace(self.recipe, n_samples=TEST_SAMPLES, draw=1))

    def write(self, folder: Path) -> None:
        """A table of each draw, features x samples, the response of the first one, and what is asked; no truth."""
        ids = np.arange(self.recipe.n_features)
        np.save(folder / "X.npy", gather(self.recipe, ids).astype(np.float64))
        np.save(folder / "y.npy", labels(self.recipe))
        np.save(folder / "X_test.npy", gather(replace(self.recipe, n_samples=TEST_SAMPLES, draw=1), ids))
        (folder / "problem.json").write_text(json.dumps({"kind": self.recipe.kind, "size": self.size}))


def labels(recipe: Recipe) -> np.ndarray:
    """The response; classes are 0.0 and 1.0."""
    y = np.asarray(target(recipe), np.float64)
    return y if recipe.kind == "linear" else (y > y.mean()).astype(np.float64)


def _linear(n: int, p: int, k: int, rho: float, snr: float) -> Recipe:
    return Recipe(kind="linear", n_samples=n, n_features=p, n_relevant=k, rho=rho, snr=snr)


PROBLEMS = {
    each.name: each
    for each in (
        Problem("tiny", _linear(100, 200, 3, 0.5, 5.0)),
        Problem("linear-5k", _linear(500, 5_000, 10, 0.5, 5.0)),
        Problem("linear-20k", _linear(1_000, 20_000, 20, 0.9, 2.0)),
        Problem("linear-200k", _linear(1_000, 200_000, 20, 0.9, 2.0)),
        Problem(
            "logistic-10k",
            Recipe(kind="logistic", n_samples=1_000, n_features=10_000, n_relevant=10, rho=0.9, snr=5.0),
        ),
        Problem("tree-2k", Recipe(kind="tree", n_samples=1_000, n_features=2_000, n_relevant=7, rho=0.6, depth=3)),
    )
}
