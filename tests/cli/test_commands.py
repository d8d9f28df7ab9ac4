"""Every command, its output for people and for machines, and its refusals."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys

import numpy as np
import pytest

from backbone_dask.problems.model import LinearModel
from backbone_dask.store import open_store


def test_fit_finds_the_truth_and_keeps_everything(demo):
    result = json.loads((demo.folder / "run" / "result.json").read_text())
    truth = open_store(demo.folder / "data.zarr").truth
    assert result["support"]["ids"] == truth.ids.tolist()
    assert result["support"]["names"] == [f"x{j}" for j in truth.ids]
    assert result["recovery"]["accuracy"] == 1.0
    assert result["recovery"]["false_alarm"] == 0.0
    assert result["recovery"]["backbone_accuracy"] == 1.0
    bound = result["reduced"]["bound"]
    assert bound <= result["objective"]
    assert result["reduced"]["gap"] == pytest.approx((result["objective"] - bound) / result["objective"])
    assert result["termination"] == "proven"
    assert set(result["support"]["ids"]) <= set(result["backbone"])
    assert set(result["seconds"]) == {"screen", "compact", "levels", "reduced", "total"}
    assert result["seed"] == 0
    assert result["settings"]["gamma"] == pytest.approx(300**-0.5)
    assert {"python", "numpy", "zarr", "highspy", "dask"} <= set(result["versions"])
    assert len(result["peak_bytes"]["workers"]) == 2
    np.testing.assert_allclose(result["coefficients"], truth.coefficients, atol=0.2)


def test_the_trace_of_the_exact_solve_ends_with_its_answer(demo):
    result = json.loads((demo.folder / "run" / "result.json").read_text())
    assert result["trace"][0]["seconds"] >= 0
    last = result["trace"][-1]
    assert set(last) == {"seconds", "objective", "bound"}
    assert (last["objective"], last["bound"]) == (result["objective"], result["reduced"]["bound"])
    assert last["seconds"] <= result["seconds"]["reduced"]


def test_objective_is_the_papers_on_scaled_columns(demo):
    """1/2 |y - Xw|^2 + 1/(2 gamma) |w|^2 with X_j'X_j = n, recomputed from the raw columns."""
    result = json.loads((demo.folder / "run" / "result.json").read_text())
    store = open_store(demo.folder / "data.zarr")
    raw = store.gather(np.array(result["support"]["ids"])).values.astype(float)
    weights = np.array(result["coefficients"]) * raw.std(axis=1)
    residual = store.target() - result["intercept"] - np.array(result["coefficients"]) @ raw
    objective = residual @ residual / 2 + weights @ weights / (2 * result["settings"]["gamma"])
    assert objective == pytest.approx(result["objective"], rel=1e-5)


def test_run_directory_holds_levels_events_model_and_report(demo):
    run = demo.folder / "run"
    level = json.loads((run / "levels" / "0.json").read_text())
    assert level["n_solved"] == len(level["answers"]) >= 3
    events = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
    assert {event["phase"] for event in events} == {"screen", "compact", "levels", "reduced"}
    assert "certified gap" in (run / "report.md").read_text()
    assert not list(run.rglob("*.pkl"))
    assert not [path.name for path in run.iterdir() if path.name.startswith(".r")]


def test_model_loads_from_json_alone(demo):
    content = json.loads((demo.folder / "run" / "model.json").read_text())
    model = LinearModel.from_json(content)
    assert model.to_json() == content


def test_text_of_fit_names_features_recovery_gap_times_and_report(demo, tmp_path):
    text = demo.ok("fit", "recipe.json", "-k", 5, "--out", tmp_path / "run", "--workers", 0)
    for words in ("| x", "coefficient", "5 of 5 relevant features found", "certified gap", "| screen |", "report: "):
        assert words in text


def test_recipe_and_store_give_the_same_result(demo, tmp_path):
    result = demo.json("fit", "recipe.json", "-k", 5, "--out", tmp_path / "run", "--workers", 0)
    stored = json.loads((demo.folder / "run" / "result.json").read_text())
    for same in ("support", "coefficients", "intercept", "backbone", "objective", "reduced", "termination"):
        assert result[same] == stored[same]


def test_info_describes_stores_and_runs(demo):
    store = demo.json("info", "data.zarr")
    assert (store["n_features"], store["n_samples"], store["targets"], store["kind"]) == (5000, 300, ["y"], "ZarrStore")
    assert demo.json("info", "recipe.json")["kind"] == "VirtualStore"
    assert demo.json("info", "run")["task"] == "regression"
    assert "5000" in demo.ok("info", "data.zarr")
    assert "certified gap" in demo.ok("info", "run")


def test_plan_says_what_a_fit_needs(demo):
    plan = demo.json("plan", "recipe.json", "-k", 5, "--workers", 2)
    assert plan["bytes_to_read"] == (5000 + 1200) * 300 * 4
    assert plan["fits"] is True
    assert plan["tasks"] > 10
    assert plan["memory_per_worker"] > 1200 * 300 * 4 / 2
    assert plan["seconds"]["total"] > plan["seconds"]["reduced_at_most"] == 60
    text = demo.ok("plan", "recipe.json", "-k", 5)
    for words in ("memory per worker", "bytes to read", "tasks", "time"):
        assert words in text


def test_predict_by_name_as_csv_and_npy(demo, tmp_path):
    demo.ok("predict", "run", "test.zarr", "--out", tmp_path / "p.csv")
    answer = demo.json("predict", "run", "test.zarr", "--out", tmp_path / "p.npy")
    assert answer["n_samples"] == 300
    table = np.genfromtxt(tmp_path / "p.csv", delimiter=",", names=True)
    np.testing.assert_array_equal(table["prediction"], np.load(tmp_path / "p.npy"))
    y = open_store(demo.folder / "test.zarr").target()
    assert np.corrcoef(table["prediction"], y)[0, 1] ** 2 > 0.7
    assert "exists" in demo.refused("predict", "run", "test.zarr", "--out", tmp_path / "p.csv")


@pytest.mark.parametrize("kind", ["logistic", "tree"])
def test_simulate_makes_every_kind(shell, kind):
    shell.ok("simulate", kind, "s.zarr", "--n", 60, "--p", 50, "--k", 3, "--depth", 2, "--seed", 1)
    store = open_store(shell.folder / "s.zarr")
    assert set(np.unique(store.target())) == ({-1.0, 1.0} if kind == "logistic" else {0.0, 1.0})
    assert store.truth.ids.size == 3


def test_tree_data_report_the_fraction_of_relevant_features(shell):
    shell.ok("simulate", "tree", "s.zarr", "--n", 400, "--p", 300, "--k", 3, "--depth", 2, "--seed", 1)
    known = shell.json("fit", "s.zarr", "-k", 4, "--out", "run", "--workers", 0)["recovery"]
    assert known["fraction_relevant"] == 1 - known["false_alarm"] > 0
    assert known["depth"] is None


def test_simulate_says_what_it_made(shell):
    made = shell.json("simulate", "linear", "v.json", "--n", 10, "--p", 100000000, "--k", 3, "--virtual")
    assert made == {"store": "v.json", "virtual": True, "n_samples": 10, "n_features": 100000000}
    assert os.path.getsize(shell.folder / "v.json") < 500
    assert "exists" in shell.refused("simulate", "linear", "v.json", "--n", 10, "--p", 10, "--k", 3)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("fit", "nothing.zarr", "-k", 5, "--out", "r"), "no store at nothing.zarr"),
        (("fit", "data.zarr", "-k", 301, "--out", "r"), "only 300 samples"),
        (("fit", "recipe.json", "-k", 5, "--target", "z", "--out", "r"), "no target 'z'"),
        (("fit", "data.zarr", "-k", 5, "--backbone-max", 3, "--out", "r"), "backbone_max"),
        (("fit", "data.zarr", "-k", 5, "--time-limit", "inf", "--out", "r"), "time_limit"),
        (("fit", "data.zarr", "-k", 5, "--out", "memory://r"), "local folder"),
        (("simulate", "linear", "s", "--n", 10**14, "--p", 10, "--k", 3), "memory"),
        (("info", "run/levels"), "no store at run/levels"),
        (("predict", "run", "recipe.json", "--out", "no/such/folder/p.csv"), "there is no folder no/such/folder"),
        (("simulate", "linear", "s", "--n", 10, "--p", 10, "--k", 30), "n_relevant is 30"),
    ],
)
def test_refusals_are_one_line(demo, arguments, words):
    assert words in demo.refused(*arguments)
    assert not (demo.folder / "r").exists()


def test_usage_errors_exit_with_2(demo):
    assert demo("fit", "data.zarr", "--out", "r").returncode == 2
    assert demo("frobnicate").returncode == 2


def test_a_run_directory_that_is_not_empty(demo, tmp_path):
    (tmp_path / "precious.txt").write_text("x")
    base = ("fit", "data.zarr", "-k", 5, "--workers", 0, "--out")
    assert "not empty" in demo.refused(*base, tmp_path)
    # Overwriting removes runs, never a folder of something else.
    assert "not empty" in demo.refused(*base, tmp_path, "--overwrite")
    assert (tmp_path / "precious.txt").exists()
    assert "not empty" in demo.refused(*base, "run")
    assert "n_nonzero 5 -> 4" in demo.refused("fit", "data.zarr", "-k", 4, "--workers", 0, "--out", "run", "--resume")


def test_overwrite_removes_runs_only(demo, tmp_path):
    """A folder with some settings.json is not a run."""
    (tmp_path / "settings.json").write_text("{}")
    (tmp_path / "chapter.tex").write_text("years of work")
    words = demo.refused("fit", "data.zarr", "-k", 5, "--workers", 0, "--out", tmp_path, "--overwrite")
    assert "it is not a run" in words
    assert (tmp_path / "chapter.tex").exists()


def test_a_folder_with_nothing_but_a_lock_is_empty(demo, tmp_path):
    (tmp_path / ".lock").touch()
    demo.ok("fit", "data.zarr", "-k", 5, "--workers", 0, "--out", tmp_path)


def test_a_fit_that_cannot_start_costs_nothing(demo, tmp_path, monkeypatch):
    base = ("fit", "recipe.json", "-k", 5, "--out", tmp_path / "r", "--workers", 1)
    before = demo.json(*base)
    monkeypatch.setattr("backbone_dask.cli.fit.local_worker_bytes", lambda count: 1000)
    assert "a worker has" in demo.refused(*base, "--overwrite", "--seed", 1)
    monkeypatch.undo()
    assert demo.json(*base, "--resume") == before


def test_resume_refuses_other_data_of_the_same_name(shell):
    make = ("simulate", "linear", "s.zarr", "--n", 60, "--p", 500, "--k", 3, "--seed")
    fit = ("fit", "s.zarr", "-k", 3, "--workers", 0, "--out", "run")
    shell.ok(*make, 1)
    shell.ok(*fit)
    (shell.folder / "run" / "result.json").unlink()
    shell.ok(*make, 2, "--overwrite")
    assert "other settings" in shell.refused(*fit, "--resume")


def test_resume_knows_the_same_store_by_another_path(shell):
    shell.ok("simulate", "linear", "s.zarr", "--n", 60, "--p", 500, "--k", 3)
    shell.ok("fit", "s.zarr", "-k", 3, "--workers", 0, "--out", "run")
    shell.ok("fit", shell.folder / "s.zarr", "-k", 3, "--workers", 0, "--out", "run", "--resume", "--target", "y")


@pytest.mark.parametrize(
    ("name", "content"),
    [("screening.npz", b""), ("levels/0/0000.json", b"{}"), ("levels/0/0000.json", b"["), ("screening.npz", b"PK")],
)
def test_a_damaged_journal_is_named(demo, tmp_path, name, content):
    base = ("fit", "recipe.json", "-k", 5, "--workers", 0, "--out", tmp_path / "r")
    demo.ok(*base)
    (tmp_path / "r" / "result.json").unlink()
    (tmp_path / "r" / name).write_bytes(content)
    words = demo.refused(*base, "--resume")
    assert "damaged" in words
    assert name.split("/")[-1] in words


def test_damaged_results_and_models_are_named(shell, demo):
    run = shell.folder / "run"
    run.mkdir()
    (run / "settings.json").write_text('{"format": "backbone-dask-run"}')
    (run / "result.json").write_text("{}")
    assert "not a result" in shell.refused("info", "run")
    (run / "model.json").write_text("[]")
    assert "model format" in demo.refused("predict", run, "data.zarr", "--out", shell.folder / "p.csv")
    (run / "model.json").write_text('{"format": "backbone-dask-linear-model", "version": 2}')
    assert "has no intercept" in demo.refused("predict", run, "data.zarr", "--out", shell.folder / "p.csv")


def test_results_can_be_read_by_whoever_may_read_the_folder(demo):
    mask = os.umask(0)
    os.umask(mask)
    assert (demo.folder / "run" / "result.json").stat().st_mode & 0o777 == 0o666 & ~mask


def test_contradictions_are_usage_errors(demo):
    assert demo("fit", "data.zarr", "-k", 5, "--out", "run", "--resume", "--overwrite").returncode == 2


def test_resume_of_a_finished_run_prints_it_and_overwrite_replaces_it(demo, tmp_path):
    base = ("fit", "data.zarr", "-k", 5, "--workers", 0, "--out", tmp_path / "r")
    first = demo.json(*base)
    assert demo.json(*base, "--resume") == first
    assert demo.json(*base, "--overwrite")["seconds"] != first["seconds"]


def test_damaged_block_is_named(demo, tmp_path):
    demo.ok("simulate", "linear", tmp_path / "s.zarr", "--n", 300, "--p", 20000, "--k", 5)
    chunk = tmp_path / "s.zarr" / "X" / "c" / "1" / "0"
    raw = bytearray(chunk.read_bytes())
    raw[99] ^= 1
    chunk.write_bytes(raw)
    for workers in (0, 1):
        words = demo.refused(
            "fit", tmp_path / "s.zarr", "-k", 5, "--workers", workers, "--out", tmp_path / f"r{workers}"
        )
        assert "checksum" in words
        assert "features" in words


def test_unfinished_run_is_named_by_info(shell):
    (shell.folder / "run").mkdir()
    (shell.folder / "run" / "settings.json").write_text('{"format": "backbone-dask-run"}')
    assert "--resume" in shell.refused("info", "run")


def test_no_space_leaves_nothing_under_the_final_name(shell):
    """A real limit of the system: files may not grow past a few kilobytes."""
    code = "import resource, sys; from backbone_dask.cli.main import main; sys.argv[0] = 'x'; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "simulate", "linear", "s.zarr", "--n", "500", "--p", "5000", "--k", "5"],
        cwd=shell.folder,
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)),
    )
    assert done.returncode != 0
    assert not (shell.folder / "s.zarr").exists()
    assert "error: " in done.stderr
    assert "Traceback" not in done.stderr


def test_import_is_light():
    """Commands that only read metadata must not pull in plotting or cluster launchers."""
    heavy = ["matplotlib", "kubernetes", "dask_jobqueue", "pyomo", "sklearn"]
    code = f"import sys, backbone_dask.cli.info; print([m for m in {heavy} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
