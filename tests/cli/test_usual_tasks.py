"""backbone-dask fit and plan without --task: what suits the target."""

from __future__ import annotations

import numpy as np
import pytest

from backbone_dask import ingest

N = 80


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    X = np.random.default_rng(3).normal(size=(N, 20))
    place = tmp_path_factory.mktemp("tasks") / "s.zarr"
    two, three = (
        np.where(X[:, 3] > 0, "ill", "well"),
        np.array(["low", "mid", "top"])[np.digitize(X[:, 5], [-0.5, 0.5])],
    )
    ingest(X, place, target={"two": two, "three": three, "number": X[:, 3], "coded": (X[:, 3] > 0) * 1.0})
    return place


@pytest.mark.parametrize(
    ("target", "option", "task"),
    [
        ("number", ("-k", 2), "regression"),
        ("coded", ("-k", 2), "regression"),
        ("two", ("-k", 2), "classification"),
        ("three", ("--depth", 2), "tree"),
    ],
)
def test_the_task_suits_the_target(shell, place, target, option, task):
    asked = (place, "--target", target, *option, "--workers", 0)
    assert shell.json("plan", *asked)["task"] == task
    assert shell.json("fit", *asked, "--out", "run")["task"] == task
    assert shell.json("fit", *asked, "--out", "run", "--resume", "--task", task)["task"] == task


@pytest.mark.parametrize(("target", "words"), [("two", "2 classes by name (ill, well)"), ("three", "(low, mid, top)")])
@pytest.mark.parametrize("command", [("plan",), ("fit", "--out", "run")])
def test_words_are_no_numbers(shell, place, command, target, words):
    said = shell.refused(*command, place, "--target", target, "--task", "regression", "-k", 2, "--workers", 0)
    assert words in said
    assert "--task classification (two classes) or --task tree" in said
    assert not (shell.folder / "run").exists()


def test_classes_that_are_too_many_are_named(shell, place):
    said = shell.refused("fit", place, "--target", "three", "--task", "classification", "-k", 2, "--out", "run")
    assert "takes two classes, and y holds 3 (low, mid, top); use --task tree" in said


def test_options_of_another_task_say_why_it_is_the_task(shell, place):
    done = shell("fit", place, "--target", "three", "-k", 2, "--out", "run")
    assert done.returncode == 2
    assert "--n-nonzero does not go with --task tree (the usual one of a target of 3 classes by name)" in done.stderr
    done = shell("fit", place, "--target", "two", "--out", "run")
    assert "--task classification (the usual one of a target of 2 classes by name) needs -k" in done.stderr


def test_help_says_so(shell):
    for command in ("fit", "plan"):
        words = " ".join(shell.ok(command, "--help").split())
        assert "regression for numbers, classification for two classes by name, tree for more" in words
