"""fit --certify and certify RUN: the bound over all columns on the command line."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time

import numpy as np
import pytest

from backbone_dask.runtime import screening
from backbone_dask.store import MemoryStore, write_store

N, P, TRUTH = 120, 600, [3, 50, 100, 300]
LOSING = ("--n-subproblems", 1, "--subproblem-fraction", 0.02, "--backbone-max", 12)
FIT = ("fit", "s.zarr", "--target", "y", "-k", 4, "--gamma", 1 / N, "--workers", 0, *LOSING)
FOUND = ("support", "coefficients", "intercept", "backbone", "objective", "reduced", "termination", "training")
PROVEN = ("bound", "gap", "passes", "ended", "relaxed", "priced", "support", "advised_gamma")


@pytest.fixture
def table(shell):
    """A store with several targets, and its matrix."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, P)).astype(np.float32)
    signal_ = X[:, TRUTH] @ [2.0, -1.5, 1.5, 1.0]
    targets = {
        "y": signal_ + rng.normal(size=N),
        "case": (signal_ + rng.logistic(size=N) > 0) * 1.0,
        "age": rng.normal(50, 10, N),
        "often": rng.integers(0, 4, N).astype(float),
    }
    write_store(MemoryStore(X, targets=targets), shell.folder / "s.zarr")
    return X, targets


def test_a_fit_that_lost_features_gets_them_back(shell, table):
    lost = shell.json(*FIT, "--out", "lost")
    found = shell.json(*FIT, "--out", "found", "--certify")
    assert not set(TRUTH) <= set(lost["support"]["ids"])
    assert found["support"]["ids"] == TRUTH
    assert found["objective"] < lost["objective"]
    assert "global" not in lost
    assert set(found["global"]["support"]) == set(found["support"]["ids"]) - set(lost["backbone"])
    assert set(found["backbone"]) == set(lost["backbone"]) | set(found["global"]["priced"])


def test_the_two_gaps_have_names_of_their_own(shell, table):
    text = shell.ok(*FIT, "--out", "run", "--certify")
    result = json.loads((shell.folder / "run" / "result.json").read_text())
    assert "gap" not in result
    assert "bound" not in result
    for proven in (result["reduced"], result["global"]):
        gap = max(result["objective"] - proven["bound"], 0) / result["objective"]
        assert proven["gap"] == pytest.approx(gap, abs=1e-15)
    assert f"certified gap on the backbone {result['reduced']['gap']:.4%}" in text
    assert f"gap over all columns {result['global']['gap']:.4%} after {result['global']['passes']} pass" in text
    page = (shell.folder / "run" / "report.html").read_text()
    assert "gap on the backbone" in page
    assert "gap over all columns" in page
    assert 'id="certificate"' in page
    assert result["global"]["passes"] == len(result["global"]["trace"])


@pytest.mark.parametrize(
    "options",
    [
        FIT,
        (*FIT, "--covariate", "age", "--weights", "often"),
        (*FIT, "--no-intercept"),
        ("fit", "s.zarr", "--task", "classification", "--target", "case", *FIT[4:], "--class-weight", "balanced"),
        ("fit", "s.zarr", "--target", "y", "-k", "2,4", "--gamma", f"{1 / N},{4 / N}", *FIT[8:]),
    ],
)
def test_certifying_later_is_certifying_at_once(shell, table, options):
    at_once = shell.json(*options, "--out", "at-once", "--certify")
    shell.ok(*options, "--out", "later")
    later = shell.json("certify", "later", "--workers", 0)
    assert {name: later[name] for name in FOUND} == {name: at_once[name] for name in FOUND}
    assert {name: later["global"][name] for name in PROVEN} == {name: at_once["global"][name] for name in PROVEN}
    assert later == json.loads((shell.folder / "later" / "result.json").read_text())
    models = [(shell.folder / run / "model.json").read_text() for run in ("at-once", "later")]
    assert models[0] == models[1]
    assert shell.json("info", "later") == later
    assert later["seconds"]["total"] == pytest.approx(sum(later["seconds"].values()) - later["seconds"]["total"])


def test_certifying_again_proves_no_less(shell, table):
    shell.ok(*FIT, "--gamma", 0.1, "--out", "run")
    first = shell.json("certify", "run", "--workers", 0)["global"]
    again = shell.json("certify", "run", "--workers", 0, "--passes", 1)["global"]
    assert again["bound"] >= first["bound"]
    assert set(again["priced"]) >= set(first["priced"])
    assert again["asked"]["passes"] == 1
    assert again["passes"] == len(again["trace"]) == first["passes"] + 1
    assert again["trace"][:-1] == first["trace"]
    assert again["relaxed"] <= first["relaxed"]
    assert "resumed" not in (shell.folder / "run" / "report.html").read_text()


def test_finished_passes_are_not_made_again(shell, table, monkeypatch):
    shell.ok(*FIT, "--out", "run")
    run = shell.folder / "run"
    before = {name: (run / name).read_bytes() for name in ("result.json", "model.json")}
    first = shell.json("certify", "run", "--workers", 0)
    for name, content in before.items():
        (run / name).write_bytes(content)

    def refuse(*arguments):
        raise AssertionError("a column was priced again")

    monkeypatch.setattr(screening, "screen_span", refuse)
    again = shell.json("certify", "run", "--workers", 0)
    assert {name: again["global"][name] for name in PROVEN} == {name: first["global"][name] for name in PROVEN}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_certificate_goes_on(shell, number):
    shape = ("--n", 1000, "--p", 400_000, "--k", 8, "--rho", 0.5, "--snr", 3, "--virtual")
    shell.ok("simulate", "linear", "v.json", *shape)
    fit = ("fit", "v.json", "-k", 8, "--gamma", 1e-3, "--certify", "--certify-tolerance", 0, "--out")
    process = shell.start(*fit, "run", "--workers", 2)
    kept = shell.folder / "run" / "screen"
    deadline = time.monotonic() + 120
    while not list(kept.glob("price-0-*.npz")):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.02)
    os.kill(process.pid, number)
    _, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors
    assert not (shell.folder / "run" / "result.json").exists()
    resumed = shell.json(*fit, "run", "--workers", 2, "--resume")
    straight = shell.json(*fit, "other", "--workers", 0)
    assert {name: resumed[name] for name in FOUND} == {name: straight[name] for name in FOUND}
    assert {name: resumed["global"][name] for name in PROVEN} == {name: straight["global"][name] for name in PROVEN}


def test_what_was_given_is_in_the_result(shell, table):
    result = shell.json(*FIT, "--covariate", "age", "--weights", "often", "--no-intercept", "--out", "run")
    given = {"weights": "often", "covariates": ["age"], "no_intercept": True, "class_weight": None, "missing": None}
    assert given.items() <= result["given"].items()


def test_a_weak_bound_says_at_which_gamma_it_would_not_be(shell, table):
    text = shell.ok(*FIT, "--gamma", 0.3, "--out", "run", "--certify")
    result = json.loads((shell.folder / "run" / "result.json").read_text())
    advised = result["global"]["advised_gamma"]
    assert result["global"]["gap"] > 0.01
    assert advised < 0.3
    assert "The bound is weak because gamma is large" in text
    better = shell.json(*FIT, "--gamma", advised, "--out", "better", "--certify", "--certify-passes", 20)
    assert better["global"]["gap"] < 0.015
    assert better["global"]["advised_gamma"] is None


def test_passes_of_other_limits_are_not_taken_for_these(shell, table):
    shell.ok(*FIT, "--out", "run")
    run = shell.folder / "run"
    before = {name: (run / name).read_bytes() for name in ("result.json", "model.json")}
    shutil.copytree(run, shell.folder / "fresh")
    shell.ok("certify", "run", "--workers", 0, "--columns", 1, "--passes", 1, "--tolerance", 0)
    for name, content in before.items():
        (run / name).write_bytes(content)
    again, fresh = (
        shell.json("certify", each, "--workers", 0, "--tolerance", 0)["global"] for each in ("run", "fresh")
    )
    assert {name: again[name] for name in PROVEN} == {name: fresh[name] for name in PROVEN}


def test_a_bound_is_about_the_table_that_was_priced(shell, table):
    """Another table in which the model costs the same, and a column that it lacks explains nearly everything."""
    X, targets = table
    shell.ok(*FIT, "--out", "run")
    first = shell.json("certify", "run", "--workers", 0)
    changed = X.copy()
    other = next(j for j in range(P) if j not in first["backbone"])
    changed[:, other] = targets["y"]
    write_store(MemoryStore(changed, targets=targets), shell.folder / "other.zarr")
    result = shell.json("certify", "run", "--workers", 0, "--store", "other.zarr")
    assert result["objective"] < 0.9 * first["global"]["bound"]
    assert result["global"]["bound"] <= result["objective"]
    assert other in result["support"]["ids"]
    assert result["store"]["location"].endswith("other.zarr")
    assert shell.json("certify", "run", "--workers", 0)["global"]["bound"] == result["global"]["bound"]


def test_a_plan_counts_the_passes(shell, table):
    asked = ("plan", "s.zarr", "--target", "y", "-k", 4, "--workers", 1)
    plain, more = shell.json(*asked), shell.json(*asked, "--certify", "--certify-passes", 3)
    assert more["bytes_to_read"] - plain["bytes_to_read"] == 3 * 4 * N * P
    assert "certify_at_most" not in plain["seconds"]
    assert more["seconds"]["certify_at_most"] > 0


class TestRefused:
    def test_a_tree(self, shell, table):
        tree = ("fit", "s.zarr", "--task", "tree", "--target", "case", "--depth", 2, "--workers", 0)
        shell.ok(*tree, "--out", "run")
        assert "is a tree" in shell.refused("certify", "run", "--workers", 0)
        assert "--certify does not go with --task tree" in shell(*tree, "--certify", "--out", "other").stderr

    def test_limits_without_the_certificate(self, shell, table):
        assert "--certify-passes needs --certify" in shell(*FIT, "--out", "run", "--certify-passes", 2).stderr

    @pytest.mark.parametrize(("limit", "value"), [("passes", 0), ("tolerance", 1), ("columns", 0), ("seconds", 0)])
    def test_limits_out_of_range(self, shell, table, limit, value):
        assert f"{limit} is {value}" in shell.refused(*FIT, "--out", "run", "--certify", f"--certify-{limit}", value)

    @pytest.mark.parametrize("option", ["--nonnegative"])
    def test_signs(self, shell, table, option):
        assert "does not go with groups or nonnegative" in shell.refused(*FIT, "--out", "run", "--certify", option)
        shell.ok(*FIT, "--out", "signed", option)
        assert "does not go with groups or nonnegative" in shell.refused("certify", "signed", "--workers", 0)

    def test_a_run_that_is_not_finished(self, shell, table):
        shell.ok(*FIT, "--out", "run")
        (shell.folder / "run" / "result.json").unlink()
        assert "is not finished" in shell.refused("certify", "run", "--workers", 0)

    def test_a_table_that_is_gone_or_another(self, shell, table):
        X, targets = table
        shell.ok(*FIT, "--out", "run")
        before = (shell.folder / "run" / "result.json").read_bytes()
        shutil.move(shell.folder / "s.zarr", shell.folder / "moved.zarr")
        shell.refused("certify", "run", "--workers", 0)
        write_store(MemoryStore(X[:, ::-1].copy(), targets=targets), shell.folder / "s.zarr")
        assert "the table changed since the run" in shell.refused("certify", "run", "--workers", 0)
        complaint = shell.refused("certify", "run", "--workers", 0, "--store", "s.zarr")
        assert "it is another table" in complaint
        assert (shell.folder / "run" / "result.json").read_bytes() == before
        assert shell.json("certify", "run", "--workers", 0, "--store", "moved.zarr")["global"]["gap"] < 0.01

    def test_a_table_with_more_columns(self, shell, table):
        X, targets = table
        shell.ok(*FIT, "--out", "run")
        write_store(MemoryStore(np.column_stack([X, X[:, 0]]), targets=targets), shell.folder / "wider.zarr")
        refused = shell.refused("certify", "run", "--workers", 0, "--store", "wider.zarr")
        assert "the number of columns changed since the run" in refused

    def test_another_target(self, shell, table):
        X, targets = table
        shell.ok(*FIT, "--out", "run")
        changed = {**targets, "y": targets["y"] + 1}
        write_store(MemoryStore(X, targets=changed), shell.folder / "other.zarr")
        assert "its target changed" in shell.refused("certify", "run", "--workers", 0, "--store", "other.zarr")
