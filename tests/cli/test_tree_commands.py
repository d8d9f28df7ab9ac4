"""Trees from the command line: fit, resume, predict, plan, and options that do not go together."""

from __future__ import annotations

import json
import signal
import time
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from backbone_dask import open_store

SHAPE = ("--p", 400, "--k", 3, "--depth", 2, "--rho", 0.3, "--seed", 5)
CHEAP = ("--depth", 3, "--n-starts", 1, "--n-subproblems", 4, "--workers", 0)


@pytest.fixture(scope="module")
def grown(demo, tmp_path_factory):
    """A folder with tree data, another draw of it, and a finished run."""
    shell = replace(demo, folder=tmp_path_factory.mktemp("trees"))
    shell.ok("simulate", "tree", "data.zarr", "--n", 600, *SHAPE)
    shell.ok("simulate", "tree", "test.zarr", "--n", 300, *SHAPE, "--draw", 1)
    shell.ok("fit", "data.zarr", "--task", "tree", *CHEAP, "--out", "run")
    return shell


def result_of(shell, run):
    return json.loads((shell.folder / run / "result.json").read_text())


def test_a_simulated_tree_is_found(grown):
    result = result_of(grown, "run")
    assert result["recovery"]["accuracy"] == 1
    assert result["recovery"]["fraction_relevant"] == 1
    assert result["depth"] == result["recovery"]["depth"] <= 3
    assert result["training"]["accuracy"] > 0.98
    assert result["reduced"]["bound"] <= result["objective"]
    assert set(result["seconds"]) == {"validation", "screen", "compact", "levels", "extend", "reduced", "total"}


def test_the_tree_is_nested_plain_data_whose_leaves_hold_every_sample(grown):
    def leaves(node):
        return [node] if "class" in node else leaves(node["left"]) + leaves(node["right"])

    result = result_of(grown, "run")
    assert sum(sum(leaf["samples"].values()) for leaf in leaves(result["tree"])) == 600
    assert len(leaves(result["tree"])) == result["n_splits"] + 1


def test_the_page_shows_the_tree_and_what_was_tried(grown):
    report = (grown.folder / "run" / "report.md").read_text()
    result = result_of(grown, "run")
    assert result["text"] in report
    assert f"{len(result['validation'])} were tried" in report
    assert grown.ok("info", "run").strip() == report.strip()


def test_the_drawing_is_one_picture_with_every_node_in_it(grown):
    root = ElementTree.parse(grown.folder / "run" / "tree.svg").getroot()
    boxes = root.findall("{http://www.w3.org/2000/svg}rect")
    assert len(boxes) == 2 * result_of(grown, "run")["n_splits"] + 1
    assert root.get("role") == "img"
    width = float(root.get("width"))
    for box in boxes:
        assert float(box.get("x")) >= 0
        assert float(box.get("x")) + float(box.get("width")) <= width


def test_predictions_follow_the_tree(grown):
    grown.ok("predict", "run", "test.zarr", "--out", "p.csv", "--overwrite")
    table = np.genfromtxt(grown.folder / "p.csv", delimiter=",", names=True)
    truth = open_store(grown.folder / "test.zarr").target(None)
    assert table.dtype.names == ("sample", "prediction", "probability_0", "probability_1")
    assert (table["prediction"] == truth).mean() > 0.95
    np.testing.assert_allclose(table["probability_0"] + table["probability_1"], 1)


def test_workers_give_the_same_tree(grown):
    arguments = [*CHEAP[:-1], 2]
    grown.ok("fit", "data.zarr", "--task", "tree", *arguments, "--out", "workers")
    alone, several = result_of(grown, "run"), result_of(grown, "workers")
    for same in ("tree", "objective", "backbone", "validation", "chosen"):
        assert alone[same] == several[same]


def test_a_killed_fit_goes_on(grown):
    command = ("fit", "data.zarr", "--task", "tree", *CHEAP, "--out", "killed")
    with grown.start(*command) as process:
        deadline = time.monotonic() + 60
        while not list(grown.folder.glob("killed/**/0/0001.json")) and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    assert not (grown.folder / "killed" / "result.json").exists()
    grown.ok(*command, "--resume")
    assert result_of(grown, "killed")["tree"] == result_of(grown, "run")["tree"]


def test_a_plan_counts_ranks_of_two_bytes(grown):
    plan = grown.json("plan", "data.zarr", "--task", "tree", *CHEAP)
    assert plan["task"] == "tree"
    assert plan["seconds"]["levels"] > 0
    parts = [plan["seconds"][name] for name in ("screen", "compact", "levels", "extend")]
    assert plan["seconds"]["validation"] == pytest.approx(sum(parts))
    assert plan["fits"]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--task", "tree", "--gamma", "1"], "--gamma does not go with --task tree"),
        (["--task", "tree", "-k", "3"], "--n-nonzero does not go with --task tree"),
        (["--task", "tree", "--nonnegative"], "--nonnegative does not go with --task tree"),
        (["--task", "classification", "-k", "3", "--depth", "2"], "--depth does not go with --task classification"),
        (["--task", "regression"], "needs -k"),
        (["--task", "tree", "--depth", "2,x"], "neither a number nor several"),
    ],
)
def test_options_of_another_task_are_refused(grown, options, complaint):
    done = grown("fit", "data.zarr", *options, "--out", "refused")
    assert done.returncode == 2
    assert complaint in done.stderr
    assert not (grown.folder / "refused").exists()


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--depth", "-1"], "depth is -1"),
        (["--exact", "branch-and-bound"], "exact is 'branch-and-bound'; use 'local-search'"),
        (["--split-features", "2", "--exact", "mio"], "hyperplane splits need exact='local-search'"),
        (["--screen", "none", "--screen-size", "10"], "screen='none' keeps every column"),
        (["--validation", "ebic"], "validation is 'ebic'"),
    ],
)
def test_settings_that_cannot_be_are_refused(grown, options, complaint):
    assert complaint in grown.refused("fit", "data.zarr", "--task", "tree", *options, "--out", "refused")


@pytest.mark.parametrize("exact", ["dynamic-programming", "mio"])
def test_solvers_with_a_proof(grown, exact):
    grown.ok(
        "fit", "data.zarr", "--task", "tree", "--depth", 1, "--complexity", 0.01, "--min-bucket", 5, "--exact", exact,
        "--n-thresholds", 2, "--backbone-max", 10, "--n-subproblems", 2, "--time-limit", 20, "--workers", 0,
        "--out", f"run-{exact}",
    )  # fmt: skip
    result = result_of(grown, f"run-{exact}")
    assert result["termination"] == "proven"
    assert result["reduced"]["gap"] == pytest.approx(0, abs=1e-9)
