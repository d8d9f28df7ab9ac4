"""backbone-dask fit beyond the plain regression: classes, choices, weights, covariates, groups."""

from __future__ import annotations

import csv
import json
import time
from dataclasses import asdict, replace

import numpy as np
import pytest

from backbone_dask import BackboneClassifier, BackboneRegressor, recommend
from backbone_dask.problems import linear
from backbone_dask.store import MemoryStore, write_store
from backbone_dask.values import Termination

N, P, TRUTH = 250, 400, [3, 50, 100]


@pytest.fixture
def table(shell):
    """A store with several targets, and its matrix."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, P)).astype(np.float32)
    signal = X[:, TRUTH] @ [2.0, -1.5, 1.5]
    age = rng.normal(50, 10, N)
    targets = {
        "y": signal + rng.normal(size=N) + 0.5 * age,
        "case": (signal + rng.logistic(size=N) > 0) * 1.0 + 1.0,
        "age": age,
        "often": rng.integers(1, 4, N).astype(float),
    }
    write_store(MemoryStore(X, targets=targets, names=[f"g{j}" for j in range(P)]), shell.folder / "s.zarr")
    return X, targets


def test_classes(shell, table):
    X, targets = table
    asked = ("--task", "classification", "--target", "case", "-k", 3, "--workers", 0)
    result = shell.json("fit", "s.zarr", *asked, "--out", "run")
    assert result["support"]["ids"] == TRUTH
    assert result["training"]["auc"] > 0.9
    assert result["reduced"]["bound"] <= result["objective"]
    assert "AUC" in (shell.folder / "run" / "report.md").read_text()
    shell.ok("predict", "run", "s.zarr", "--out", "p.csv")
    with (shell.folder / "p.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    model = BackboneClassifier(3).fit(X, targets["case"])
    assert [float(row["prediction"]) for row in rows] == model.predict(X).tolist()
    np.testing.assert_allclose([float(row["probability"]) for row in rows], model.predict_proba(X)[:, 1], rtol=1e-6)


def test_balanced_classes(shell, table):
    X, targets = table
    asked = ("--task", "classification", "--target", "case", "-k", 3, "--weights", "often", "--workers", 0)
    result = shell.json("fit", "s.zarr", *asked, "--class-weight", "balanced", "--out", "run")
    model = BackboneClassifier(3, class_weight="balanced")
    model.fit(X, targets["case"], sample_weight=targets["often"])
    assert result["coefficients"] == model.models_[0].coefficients.tolist()
    assert result["intercept"] != shell.json("fit", "s.zarr", *asked, "--out", "other")["intercept"]


def test_weights_and_covariates_of_the_store(shell, table):
    X, targets = table
    asked = ("--target", "y", "-k", 3, "--weights", "often", "--covariate", "age", "--workers", 0)
    result = shell.json("fit", "s.zarr", *asked, "--out", "run")
    model = BackboneRegressor(3).fit(X, targets["y"], sample_weight=targets["often"], covariates=targets["age"])
    assert result["support"]["ids"] == model.support_.tolist() == TRUTH
    assert result["coefficients"] == model.coefficients_.tolist()
    assert result["covariates"]["beside"] == model.model_.beside.tolist()
    assert result["covariates"]["beside"][0] == pytest.approx(0.5, abs=0.05)
    assert "| age " in (shell.folder / "run" / "report.md").read_text()
    assert "covariate 0" not in (shell.folder / "run" / "report.md").read_text()
    refusal = shell.refused("predict", "run", "s.zarr", "--out", "p.csv")
    assert "covariates beside its table (age)" in refusal
    assert "--covariate" in refusal
    shell.ok("predict", "run", "s.zarr", "--covariate", "age", "--out", "p.csv")


def test_covariates_among_the_features(shell, table):
    result = shell.json(
        "fit", "s.zarr", "--target", "case", "-k", 2, "--covariate", "g50", "--out", "run", "--workers", 0
    )
    assert list(result["covariates"]["features"]) == ["g50"]
    assert result["support"]["ids"] == [3, 100]
    assert "| g50" in (shell.folder / "run" / "report.md").read_text()
    shell.ok("predict", "run", "s.zarr", "--out", "p.csv")


def test_the_size_is_chosen_and_a_killed_choice_goes_on(shell, table):
    asked = ("fit", "s.zarr", "--target", "y", "--covariate", "age", "-k", "1,3,12", "--gamma", "grid", "--workers", 0)
    result = shell.json(*asked, "--validation", 3, "--out", "run")
    assert result["n_nonzero"] == 3
    assert len(result["validation"]) == 21
    assert len(result["validation"][0]["errors"]) == 3
    assert "Chosen: 3 features" in (shell.folder / "run" / "report.md").read_text()
    assert result["advice"] == asdict(recommend(N, P, 3))
    (shell.folder / "run" / "result.json").unlink()
    again = shell.json(*asked, "--validation", 3, "--out", "run", "--resume")
    assert again["validation"] == result["validation"]
    assert again["coefficients"] == result["coefficients"]


def test_the_time_of_a_choice_is_counted(shell, table):
    """All but the opening of the store and the writing of the result."""
    began = time.perf_counter()
    asked = ("--target", "y", "--covariate", "age", "-k", "1,3", "--gamma", "grid", "--validation", 5, "--workers", 0)
    seconds = shell.json("fit", "s.zarr", *asked, "--out", "run")["seconds"]
    wall = time.perf_counter() - began
    assert {"validation", "screen", "compact", "levels", "reduced"} < set(seconds)
    assert seconds["validation"] > 2 * seconds["reduced"]
    assert seconds["total"] == pytest.approx(sum(seconds.values()) / 2)
    assert 0.3 * wall < seconds["total"] <= wall
    assert "| validation |" in (shell.folder / "run" / "report.md").read_text()


def test_a_choice_that_a_time_limit_cut_is_reported(shell, table, monkeypatch):
    real = linear.exact_solvers["branch-and-bound"]

    def solver(X, y, *, n_nonzero, **given):
        done = real(X, y, n_nonzero=n_nonzero, **given)
        return replace(done, termination=Termination.TIME_LIMIT) if n_nonzero == 1 else done

    asked = ("fit", "s.zarr", "--target", "y", "--covariate", "age", "-k", "1,3", "--workers", 0, "--out")
    shell.ok(*asked, "whole")
    monkeypatch.setattr(linear, "exact_solvers", {"branch-and-bound": solver})
    result = shell.json(*asked, "cut")
    assert [point["termination"] for point in result["validation"]] == ["time_limit", "proven"]
    report = (shell.folder / "cut" / "report.md").read_text()
    assert "time limit cut 1 of 2 points" in report
    assert [line.split("|")[-2].strip() for line in report.splitlines() if line.startswith(("| 1 |", "| 3 |"))] == [
        "time limit",
        "proven",
    ]
    assert "time limit" not in (shell.folder / "whole" / "report.md").read_text()


def test_groups_and_signs(shell, table):
    (shell.folder / "groups.json").write_text(json.dumps([["g3", "g4"], ["g50", "g51"], ["g100", "g7"]]))
    asked = ("--target", "y", "--covariate", "age", "-k", 2, "--groups", "groups.json", "--nonnegative", "--workers", 0)
    result = shell.json("fit", "s.zarr", *asked, "--out", "run")
    assert {3, 100} <= set(result["support"]["ids"]) <= {3, 4, 7, 100}
    assert min(result["coefficients"]) >= 0


def test_groups_of_a_classification(shell, table):
    """Sizes to choose from, in a run that is killed and goes on."""
    X, targets = table
    (shell.folder / "groups.json").write_text(json.dumps([["g3", "g4"], ["g50", "g51"], ["g100", "g7"]]))
    asked = ("--task", "classification", "--target", "case", "--groups", "groups.json", "--validation", "ebic")
    command = ("fit", "s.zarr", *asked, "-k", "1,3", "--out", "run", "--workers", 0)
    result = shell.json(*command)
    assert result["n_nonzero"] == 3
    assert result["support"]["ids"] == [3, 4, 7, 50, 51, 100]
    (shell.folder / "run" / "result.json").unlink()
    assert shell.json(*command, "--resume")["coefficients"] == result["coefficients"]
    model = BackboneClassifier([1, 3], groups=[[3, 4], [50, 51], [100, 7]], validation="ebic")
    assert result["coefficients"] == model.fit(X, targets["case"]).models_[0].coefficients.tolist()


def test_signs_of_a_classification(shell, table):
    asked = ("--task", "classification", "--target", "case", "--covariate", "age", "-k", 3, "--nonnegative")
    result = shell.json("fit", "s.zarr", *asked, "--out", "run", "--workers", 0)
    assert {3, 100} <= set(result["support"]["ids"])
    assert 50 not in result["support"]["ids"]
    assert min(result["coefficients"]) > 0
    assert result["reduced"]["bound"] <= result["objective"]


def test_other_extras_are_another_run(shell, table):
    asked = ("fit", "s.zarr", "--target", "y", "-k", 2, "--out", "run", "--workers", 0)
    shell.ok(*asked)
    assert "other settings (extras" in shell.refused(*asked, "--weights", "often", "--resume")


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        (("-k", "two"), "neither a number"),
        (("-k", 2, "--validation", "most"), "neither a share"),
        (("-k", 2, "--exact", "magic"), "magic"),
    ],
)
def test_words_that_mean_nothing_are_refused(shell, table, wrong, complaint):
    done = shell("fit", "s.zarr", "--target", "y", "--out", "run", *wrong)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert not (shell.folder / "run").exists()
