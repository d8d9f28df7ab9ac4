"""What is run again, what is kept, and what is refused before anything is run."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from benchmarks import machine
from benchmarks.machine import commit
from benchmarks.paper import __main__ as command
from benchmarks.paper import permuted, real_regression, real_trees, simulated, trees
from benchmarks.paper.__main__ import UnknownCaseError, require_known, wanted
from benchmarks.paper.baselines import cart, deco, forest, oracle, sis_enet
from benchmarks.paper.catalogue import experiments
from benchmarks.paper.experiment import Case, Experiment, Metrics, constants
from benchmarks.paper.results import Results, UnreadableResultsError
from benchmarks.paper.runner import attempt, run_cases

CASES: list[Case] = [{"method": "toy", "x": x, "seed": 0} for x in (1, 2, 3)]


def toy(ran: list[int], **changes: Any) -> Experiment:
    """Runs in this process and says what it ran."""

    def run(case: Case) -> Metrics:
        ran.append(case["x"])
        return {"square": case["x"] ** 2}

    known = {"run": run, "by": ("method", "x"), "metrics": ("square",), "x": "x", "whole_machine": lambda case: True}
    return Experiment("X1", "squares", lambda size: CASES, **{**known, **changes})


def go_on(folder: Path, settings: Callable[[Case], dict[str, Any]] = lambda case: {}) -> tuple[list[int], list[str]]:
    """Which cases are run, and what is told, when a folder is gone on with and reported."""
    ran, told = list[int](), list[str]()
    experiment, results = toy(ran, settings=settings), Results(folder, settings, told.append)
    run_cases(experiment, CASES, results, None, told.append)  # type: ignore[arg-type]
    command.report(experiment, CASES, results)
    return ran, [line for line in told if "/3 " not in line]


def reported(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / "results.json").read_text())
    return found


def test_a_case_with_other_settings_is_run_again(tmp_path: Path) -> None:
    def settings(case: Case) -> dict[str, Any]:
        return {"sizes": (1, 2), "x": case["x"]}

    def others(case: Case) -> dict[str, Any]:
        return {**settings(case), "x": 9, "more": 1} if case["x"] == 1 else settings(case)

    assert go_on(tmp_path, settings) == ([1, 2, 3], [])
    assert [each["settings"] for each in reported(tmp_path)] == [{"sizes": [1, 2], "x": x} for x in (1, 2, 3)]
    assert go_on(tmp_path, settings) == ([], [])
    ran, told = go_on(tmp_path, others)
    assert ran == [1]
    assert told == ["method=toy,x=1,seed=0 was run with other settings (more, x); it counts as unfinished"]


def test_a_published_record_with_other_settings_is_run_again(tmp_path: Path) -> None:
    go_on(tmp_path, lambda case: {"folds": 5})
    for file in (tmp_path / "cases").iterdir():
        file.unlink()
    assert go_on(tmp_path, lambda case: {"folds": 5}) == ([], [])
    ran, told = go_on(tmp_path, lambda case: {"folds": 3})
    assert (ran, len(told)) == ([1, 2, 3], 3)


def test_a_record_that_does_not_say_its_settings_is_not_finished(tmp_path: Path) -> None:
    go_on(tmp_path)
    assert "settings" not in reported(tmp_path)[0]
    ran, told = go_on(tmp_path, lambda case: {"folds": 5})
    assert ran == [1, 2, 3]
    assert "was run with other settings (folds)" in told[0]


@pytest.mark.parametrize(
    "changed",
    [{"case": {**CASES[0], "x": 7}}, *({"metrics": metrics} for metrics in ({}, None, [1], {"square": "x"}))],
)
def test_a_record_of_another_case_or_without_numbers_does_not_count(changed: dict[str, Any], tmp_path: Path) -> None:
    go_on(tmp_path)
    (tmp_path / "results.json").unlink()
    path = tmp_path / "cases" / "method=toy,x=1,seed=0.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))
    ran, told = go_on(tmp_path)
    assert ran == [1]
    assert any(f"{path} is not the whole record" in line for line in told)


def test_what_a_case_does_not_have_is_left_out(tmp_path: Path) -> None:
    found = attempt(lambda case: {"R2": 0.5, "gap": math.nan}, CASES[0])
    assert found["metrics"] == {"R2": 0.5}


@pytest.mark.parametrize("experiment", experiments(["all"]), ids=lambda each: each.id)
def test_every_case_says_what_it_is_run_with(experiment: Experiment) -> None:
    for size in ("small", "paper"):
        assert all(experiment.settings(case) for case in experiment.cases(size))


@pytest.mark.parametrize("constant", ["RHO", "SNR", "N_GAMMAS", "TEST_SAMPLES"])
def test_a_change_of_the_simulated_data_is_a_change_of_the_settings(
    constant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (experiment,) = experiments(["F1"])
    case = experiment.cases("small")[0]
    before = experiment.settings(case)
    monkeypatch.setattr(simulated, constant, 17)
    assert experiment.settings(case) != before


def test_what_is_no_case_of_now_is_kept_but_not_shown(tmp_path: Path) -> None:
    ran = list[int]()
    go_on(tmp_path)
    results = Results(tmp_path)
    text = command.report(toy(ran), CASES[:1], results)
    assert "| toy | 1 |" in text
    assert "| toy | 2 |" not in text
    assert [each["case"]["x"] for each in reported(tmp_path)] == [1, 2, 3]


def test_a_record_of_other_settings_stays_until_there_is_a_new_one(tmp_path: Path) -> None:
    go_on(tmp_path, lambda case: {"folds": 5})
    results = Results(tmp_path, lambda case: {"folds": 3})
    assert "toy" not in command.report(toy([]), CASES, results)
    assert [each["settings"] for each in reported(tmp_path)] == [{"folds": 5}] * 3
    go_on(tmp_path, lambda case: {"folds": 3})
    assert [each["settings"] for each in reported(tmp_path)] == [{"folds": 3}] * 3


@pytest.mark.parametrize("left", ["", '{"case": {"method": "to', "[]", "{}"])
def test_a_case_that_is_cut_off_is_named_and_run_again(left: str, tmp_path: Path) -> None:
    go_on(tmp_path)
    (tmp_path / "results.json").unlink()
    cut = tmp_path / "cases" / "method=toy,x=2,seed=0.json"
    cut.write_text(left)
    ran, told = go_on(tmp_path)
    assert (ran, len(reported(tmp_path))) == ([2], 3)
    assert told == [f"{cut} is not the whole record of a case and does not count"]


@pytest.mark.parametrize("left", ["", '[{"case": {"method"', "{}", '[{"case": 1}]', "[1]"])
def test_results_that_are_cut_off_are_one_sentence(left: str, tmp_path: Path) -> None:
    go_on(tmp_path)
    (tmp_path / "results.json").write_text(left)
    with pytest.raises(UnreadableResultsError, match=r"results\.json is not a whole list of records; .*move it away"):
        Results(tmp_path)
    assert (tmp_path / "results.json").read_text() == left


def called(monkeypatch: pytest.MonkeyPatch, *words: str) -> str | int | None:
    """What the command exits with."""
    monkeypatch.setattr(sys, "argv", ["paper", *words])
    with pytest.raises(SystemExit) as ended:
        command.main()
    return ended.value.code


@pytest.mark.parametrize(
    ("only", "sentence"),
    [
        (
            ["metod=backbone"],
            "no case has a metod; --only takes method, kind, n, p, k, screen, beta, M, B_max, limit, seed",
        ),
        (["method=backbon"], "no case has method=backbon; there are method=backbone, SR"),
        (["method=SR", "screen=500"], "no case has method and screen as --only wants them"),
        (["method"], "--only takes key=value, not 'method'"),
    ],
)
def test_a_word_that_chooses_nothing_is_refused(
    only: list[str], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert called(monkeypatch, "F6", "--out", str(tmp_path), "--only", *only) == sentence
    assert list(tmp_path.iterdir()) == []


def test_a_word_of_one_experiment_is_known_and_leaves_the_others_alone(tmp_path: Path) -> None:
    arguments = command.argparse.Namespace(only=["method=SR"], size="small", out=tmp_path)
    jobs = command.planned(experiments(["F1", "F6"]), arguments)
    assert [(job.experiment.id, len(job.cases), len(job.every)) for job in jobs] == [("F6", 15, 30)]
    with pytest.raises(UnknownCaseError, match="x=4; there are x=1, 2, 3"):
        require_known(CASES, wanted(["x=4"]))


def test_missing_data_are_one_sentence_that_names_their_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BACKBONE_PAPER_DATA", "")
    found = called(monkeypatch, "T1", "T2", "--out", str(tmp_path / "out"), "--data", str(tmp_path))
    said = (
        f"uci/communities.data is not in {tmp_path}; name the folder that has it with --data FOLDER, or fetch it with "
    )
    assert found == f"{said}`python -m benchmarks.paper.fetch FOLDER`"
    assert not (tmp_path / "out").exists()


def test_all_and_a_name_are_all_and_each_experiment_comes_once() -> None:
    found = [each.id for each in experiments(["F3", "all", "F8-M"])]
    assert found[0] == "F3"
    assert sorted(found) == sorted(each.id for each in experiments(["all"]))


def test_an_interrupted_run_reports_what_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(case: Case) -> Metrics:
        if case["x"] == 3:
            raise KeyboardInterrupt
        return {"square": 1.0}

    monkeypatch.setattr(command, "experiments", lambda names: [toy([], run=run)])
    monkeypatch.setattr(command, "started", nullcontext)
    assert called(monkeypatch, "X1", "--out", str(tmp_path)) == 130
    assert [each["case"]["x"] for each in reported(tmp_path / "X1" / "small")] == [1, 2]
    out, err = capsys.readouterr()
    assert "| toy | 2 | 1 | 1.000 |" in out
    assert err.splitlines()[-1].startswith("interrupted; ")


def test_a_package_that_is_missing_is_named_by_the_case_that_needs_it() -> None:
    def run(case: Case) -> Metrics:
        from nowhere import nothing

        return {"square": nothing}

    last = attempt(run, {})["error"].splitlines()[-1]
    assert last.startswith("No module named 'nowhere'; pip install -e '.[dev]'")


def test_figures_without_a_net_do_without_glmnet() -> None:
    code = """
import sys
sys.modules["glmnet"] = None
from benchmarks.paper.catalogue import experiments
from benchmarks.paper.runner import attempt
(f6,), (f1,) = experiments(["F6"]), experiments(["F1"])
needs = next(case for case in f1.cases("small") if case["method"] == "SIS-ENET")
print(len(f6.cases("small")), attempt(f1.run, needs)["error"].splitlines()[-1])
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.startswith("30 import of glmnet halted")
    assert "pip install -e '.[dev]'" in found.stdout


def test_the_commit_is_that_of_the_checkout(tmp_path: Path) -> None:
    def git(*asked: str) -> str:
        known = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b.example", *asked]
        return subprocess.run(known, check=True, capture_output=True, text=True).stdout.strip()

    assert commit(tmp_path) is None
    git("init")
    (tmp_path / "a").write_text("1")
    git("add", "a")
    git("commit", "-m", "one")
    head = git("rev-parse", "--short", "HEAD")
    assert commit(tmp_path) == head
    (tmp_path / "a").write_text("2")
    assert commit(tmp_path) == f"{head}+"


def test_a_record_names_the_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "commit", lambda: "abc1234+")
    go_on(tmp_path)
    assert {each["commit"] for each in reported(tmp_path)} == {"abc1234+"}


def recorded(id: str, method: str) -> dict[str, Any]:
    (experiment,) = experiments([id])
    case = next(each for each in experiment.cases("paper") if each["method"] == method)
    return dict(experiment.settings(case))


@pytest.mark.parametrize("id", ["F2", "F5", "F7"])
def test_what_a_tree_is_asked_is_what_is_recorded(id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {each: recorded(each, "BB") for each in ("F2", "F5", "F7")}
    assert trees.SETTINGS[id].items() <= before[id].items()
    monkeypatch.setitem(trees.SETTINGS[id], "n_subproblems", 3)
    assert {each for each in before if recorded(each, "BB") != before[each]} == {id}


@pytest.mark.parametrize(
    ("id", "module", "constant", "reads", "other"),
    [
        ("T1", real_regression, "MIXES", "SIS-ENET", "SR-ORACLE"),
        ("T1", real_regression, "PAPER", "BB as published", "DECO"),
        ("T2", oracle, "RIDGES", "SR-ORACLE", "SIS-ENET"),
        ("T3", real_trees, "DEPTHS", "CART", "RF"),
        ("T4", real_trees, "PAPER", "BB as published", "CART"),
        ("T4", forest, "ROOTS", "RF", "CART"),
        ("F5", cart, "BUCKETS", "CART", "BB"),
    ],
)
def test_a_constant_is_a_setting_of_the_methods_that_read_it(
    id: str, module: Any, constant: str, reads: str, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = recorded(id, reads), recorded(id, other)
    monkeypatch.setattr(module, constant, (0.123,))
    assert recorded(id, reads) != before[0]
    assert recorded(id, other) == before[1]
    assert json.loads(json.dumps(before))


def test_the_parts_of_a_table_are_settings_of_all_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    before = recorded("T4", "RF")
    monkeypatch.setattr(permuted, "TEST_SHARE", 0.5)
    assert {key for key in before if recorded("T4", "RF")[key] != before[key]} == {"permuted.TEST_SHARE"}


def test_defaults_and_classes_count_among_constants() -> None:
    found = constants(sis_enet.fit_net, deco.deco_columns)
    assert found["baselines.deco.deco_columns.blocks"] == 5
    assert constants(real_regression.METHODS["SIS-ENET"])["baselines.sis_enet.DISCARDED"] == 1e-6
