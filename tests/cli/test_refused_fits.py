"""backbone-dask fit: what cannot be fitted is refused in a sentence, before anything is written."""

from __future__ import annotations

import numpy as np
import pytest

from backbone_dask.store import MemoryStore, write_store

N, P = 60, 20


@pytest.fixture
def table(shell):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, P))
    targets = {
        "y": X[:, 3] + rng.normal(size=N),
        "bin": (X[:, 3] + rng.normal(size=N) > 0) * 1.0,
        "three": np.digitize(X[:, 3], [-0.5, 0.5]) * 1.0,
    }
    write_store(MemoryStore(X, targets=targets), shell.folder / "m.zarr")


def refused(shell, *asked):
    words = shell.refused("fit", "m.zarr", "-k", 2, "--workers", 0, "--out", "run", *asked)
    assert not (shell.folder / "run").exists()
    return words


def test_weights_that_leave_one_class(shell, table):
    words = refused(shell, "--task", "classification", "--target", "bin", "--weights", "bin")
    assert "only class 1 has samples of positive weight" in words


def test_more_than_two_classes(shell, table):
    words = refused(shell, "--task", "classification", "--target", "three")
    assert "fit --task classification" in words
    assert "takes two classes, and y holds 3 (0, 1, 2)" in words
    assert "BackboneClassifier" in words
    assert "svm" not in words


def test_class_weights_of_a_regression(shell, table):
    assert "for classification" in refused(shell, "--target", "y", "--class-weight", "balanced")


def test_a_constant_target_is_explained_without_an_intercept(shell, table):
    """And its result is JSON: R2 has no denominator there."""
    X = np.random.default_rng(0).normal(2, 1, (N, P))
    write_store(MemoryStore(X, targets={"one": np.ones(N)}), shell.folder / "one.zarr")
    result = shell.json("fit", "one.zarr", "-k", 2, "--no-intercept", "--workers", 0, "--out", "run")
    assert len(result["coefficients"]) == 2
    assert result["training"]["r2"] == 0


def test_the_target_as_a_covariate(shell, table):
    assert "is the target itself" in refused(shell, "--target", "y", "--covariate", "y")
    assert "is the target itself" in refused(shell, "--target", "y", "--covariate", "bin", "--covariate", "y")
    done = shell.refused("plan", "m.zarr", "-k", 2, "--target", "y", "--covariate", "y")
    assert "is the target itself" in done


@pytest.mark.parametrize(("option", "one"), [("--subproblem-gamma", "float|grid"), ("--n-subproblems", "integer|auto")])
def test_help_promises_no_list_where_one_number_is_taken(shell, table, option, one):
    words = " ".join(shell.ok("fit", "--help").split()).lower()
    assert f"{option} {one}" in words
    assert "--n-nonzero integer[,...]|auto" in words
    done = shell("fit", "m.zarr", "-k", 2, "--target", "y", "--out", "run", option, "1,2")
    assert done.returncode == 2
    assert "'1,2' is neither a number nor" in done.stderr


@pytest.mark.parametrize("groups", ["[[0.7, 1], [2]]", "[[true, 9]]"])
def test_ids_of_groups_that_are_no_whole_numbers(shell, table, groups):
    (shell.folder / "groups.json").write_text(groups)
    assert "an id is a whole number" in refused(shell, "--target", "y", "--groups", "groups.json")
