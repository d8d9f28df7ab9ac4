"""The paper's experiments: what is run again, what a failure costs, how results are counted and shown."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from distributed import Client

from backbone_dask.launch.local import local_cluster
from backbone_dask.settings import Settings
from benchmarks.paper.__main__ import chosen, report, wanted
from benchmarks.paper.baselines.sis_enet import fit_net
from benchmarks.paper.catalogue import UnknownExperimentError, experiments
from benchmarks.paper.data import MissingDataError, data_file, use_data
from benchmarks.paper.experiment import Case, Experiment, Metrics
from benchmarks.paper.figure import _from_nothing, is_geometric, plt, series
from benchmarks.paper.metrics import accuracy, auc, false_alarms, r2
from benchmarks.paper.results import Results, name
from benchmarks.paper.runner import run_cases
from benchmarks.paper.sensitivity import after_each
from benchmarks.paper.simulated import settings
from benchmarks.paper.summary import Mean, Row, rows
from benchmarks.paper.table import mean, table


def square(case: Case) -> Metrics:
    """Leaves a line for every time it runs."""
    with open(case["log"], "a") as log:
        log.write(f"{case['x']} {os.getpid()}\n")
    if case["x"] == 2:
        raise ValueError("two is not allowed")
    return {"square": case["x"] ** 2 + case["seed"], "pid": os.getpid()}


def toy(**changes: object) -> Experiment:
    known = Experiment("X1", "squares", lambda size: [], square, by=("method", "x"), metrics=("square",), x="x")
    return replace(known, **changes)


def cases_of(log: Path, *xs: int) -> list[Case]:
    return [{"method": "toy", "x": x, "seed": seed, "log": str(log)} for x in xs for seed in (0, 1)]


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with local_cluster(1) as client:
        yield client


def test_finished_cases_are_not_run_again(client: Client, tmp_path: Path) -> None:
    log, results = tmp_path / "log", Results(tmp_path / "out")
    run_cases(toy(), cases_of(log, 1), results, client, lambda line: None)
    run_cases(toy(), cases_of(log, 1, 3), results, client, lambda line: None)
    assert sorted(line.split()[0] for line in log.read_text().splitlines()) == ["1", "1", "3", "3"]


def test_a_failing_case_is_named_and_the_others_go_on(client: Client, tmp_path: Path) -> None:
    cases, results, told = cases_of(tmp_path / "log", 1, 2, 3), Results(tmp_path / "out"), []
    run_cases(toy(), cases, results, client, told.append)
    assert [record["case"]["x"] for record in results.records(cases)] == [1, 1, 3, 3]
    failed = results.failures(cases)
    assert [each["case"]["x"] for each in failed] == [2, 2]
    assert "two is not allowed" in failed[0]["error"]
    assert sum("failed: ValueError: two is not allowed" in line for line in told) == 2


def test_a_failed_case_is_tried_again_and_then_no_failure(client: Client, tmp_path: Path) -> None:
    cases, results = cases_of(tmp_path / "log", 2), Results(tmp_path / "out")
    run_cases(toy(), cases, results, client, lambda line: None)
    run_cases(toy(run=lambda case: {"square": 4.0}), cases, results, client, lambda line: None)
    assert (len(results.records(cases)), results.failures(cases)) == (2, [])


def test_a_case_with_the_machine_for_itself_runs_here_and_others_in_workers(client: Client, tmp_path: Path) -> None:
    cases, results = cases_of(tmp_path / "log", 1, 3), Results(tmp_path / "out")
    run_cases(toy(whole_machine=lambda case: case["x"] == 3), cases, results, client, lambda line: None)
    here = {record["case"]["x"]: record["metrics"]["pid"] == os.getpid() for record in results.records(cases)}
    assert here == {1: False, 3: True}


def test_a_record_says_where_and_when_it_was_measured(client: Client, tmp_path: Path) -> None:
    cases, results = cases_of(tmp_path / "log", 1), Results(tmp_path / "out")
    run_cases(toy(), cases, results, client, lambda line: None)
    record = results.records(cases)[0]
    assert record["machine"]["cores"] >= 1
    assert record["versions"]["numpy"] == np.__version__
    assert record["date"].startswith("20")


def test_two_cases_of_one_name_are_refused(client: Client, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="two cases are called"):
        run_cases(toy(), [{"x": 1}, {"x": 1}], Results(tmp_path), client, lambda line: None)


def test_the_name_of_a_case_is_a_file_name() -> None:
    assert (
        name({"method": "SIS-ENET", "p": 1000, "beta": 0.5, "by": "a/b c"})
        == "method=SIS-ENET,p=1000,beta=0.5,by=a_b_c"
    )


def test_support_recovery_as_the_paper_defines_it() -> None:
    selected, relevant = np.array([1, 5, 7, 9, 11]), np.array([1, 2, 7, 11])
    hits = sum(j in selected for j in relevant)
    assert accuracy(selected, relevant) == hits / len(relevant) == 0.75
    assert false_alarms(selected, relevant) == pytest.approx((len(selected) - hits) / len(selected))
    assert (accuracy(selected[:0], relevant), false_alarms(selected[:0], relevant)) == (0.0, 0.0)


def test_r2_and_auc_by_their_formulas() -> None:
    rng = np.random.default_rng(0)
    y, predicted = rng.normal(size=50), rng.normal(size=50)
    assert r2(y, predicted) == pytest.approx(1 - ((y - predicted) ** 2).sum() / ((y - y.mean()) ** 2).sum())
    positive, negative = predicted[y > 0], predicted[y <= 0]
    assert auc(y > 0, predicted) == pytest.approx((positive[:, None] > negative[None, :]).mean())


def record(seed: int, **metrics: float) -> dict[str, object]:
    return {"case": {"method": "toy", "x": 1, "seed": seed}, "metrics": metrics}


def test_rows_are_means_and_deviations_over_seeds() -> None:
    (row,) = rows(toy(), [record(0, square=1.0), record(1, square=3.0), record(2, square=float("nan"))])
    assert (row.key, row.runs) == (("toy", 1), 3)
    assert row.means["square"] == Mean(2.0, pytest.approx(2**0.5))


def test_metrics_along_the_axis_become_rows() -> None:
    few = rows(
        toy(), [record(0, **{"square@1": 1.0, "square@2": 4.0}), record(1, **{"square@1": 1.0, "square@2": 4.0})]
    )
    assert [(row.key, row.means["square"].value) for row in few] == [(("toy", 1), 1.0), (("toy", 2), 4.0)]
    assert series(toy(), few, "square") == {"toy": [(1, 1.0, 0.0), (2, 4.0, 0.0)]}


def test_the_paper_stands_beside_ours() -> None:
    experiment = toy(metrics=("square", "seconds"), paper={("toy", 1000): {"square": 0.98}})
    shown = [Row(("toy", 1000), 2, {"square": Mean(0.99, 0.01), "seconds": Mean(1234.5, None)}), Row(("b", 2), 1, {})]
    assert table(experiment, shown) == (
        "| method | x | runs | square | paper | seconds |\n"
        "| ---: | ---: | ---: | ---: | ---: | ---: |\n"
        "| toy | 1,000 | 2 | 0.990 ± 0.010 | 0.980 | 1,234 |\n"
        "| b | 2 | 1 |  |  |  |\n"
    )


def test_digits_follow_the_mean() -> None:
    assert [mean(Mean(value, 0.5)) for value in (0.25, 12.34, 250.4)] == ["0.250 ± 0.500", "12.3 ± 0.5", "250 ± 0"]


def test_a_report_is_a_table_a_figure_and_all_records(tmp_path: Path) -> None:
    results, cases = Results(tmp_path), [{"method": "toy", "x": x, "seed": 0} for x in (1, 2)]
    results.keep(cases[0], {"metrics": {"square": 1.0}})
    assert "| toy | 1 | 1 | 1.000 |" in report(toy(), cases, results)
    assert (tmp_path / "figure.png").read_bytes()[:4] == b"\x89PNG"
    assert [each["case"] for each in json.loads((tmp_path / "results.json").read_text())] == cases[:1]


def test_a_published_report_is_gone_on_with(client: Client, tmp_path: Path) -> None:
    """`results.json` travels without the files of single cases."""
    log, first = tmp_path / "log", Results(tmp_path / "first")
    run_cases(toy(), cases_of(log, 1), first, client, lambda line: None)
    report(toy(), cases_of(log, 1), first)
    (tmp_path / "second").mkdir()
    (tmp_path / "second" / "results.json").write_bytes((first.folder / "results.json").read_bytes())
    second = Results(tmp_path / "second")
    run_cases(toy(), cases_of(log, 1, 3), second, client, lambda line: None)
    assert sorted(line.split()[0] for line in log.read_text().splitlines()) == ["1", "1", "3", "3"]
    assert second.records(cases_of(log, 1)) == first.records(cases_of(log, 1))
    assert "| toy | 1 | 2 |" in report(toy(), cases_of(log, 1, 3), second)


def test_shares_are_drawn_between_nothing_and_all(tmp_path: Path) -> None:
    figure, panel = plt.subplots()
    panel.plot([1, 2], [0.99, 1.0])
    _from_nothing(panel, "accuracy")
    assert panel.get_ylim() == (-0.03, 1.05)
    _from_nothing(panel, "gap")
    assert panel.get_ylim()[0] == 0
    plt.close(figure)


def test_an_axis_is_logarithmic_where_its_values_are() -> None:
    assert [is_geometric(each) for each in ([10**6, 3 * 10**6, 10**7, 10**8], list(range(1, 31)), [1, 2, 3])] == [
        True,
        False,
        False,
    ]


def test_only_takes_several_values_of_a_key() -> None:
    cases = [{"p": p, "seed": seed} for p in (10, 20, 30) for seed in (1, 2)]
    assert chosen(cases, wanted(["p=10", "p=30", "seed=2"])) == [{"p": 10, "seed": 2}, {"p": 30, "seed": 2}]


def test_an_unknown_experiment_is_one_sentence() -> None:
    with pytest.raises(UnknownExperimentError, match="there is no experiment F99; there are F1, "):
        experiments(["F99"])


def test_missing_data_are_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BACKBONE_PAPER_DATA", "elsewhere")
    use_data(tmp_path)
    with pytest.raises(
        MissingDataError, match=r"uci/housing.data is not in .*; name the folder that has it with --data"
    ):
        data_file("uci/housing.data")


def test_the_first_figure_has_the_papers_settings() -> None:
    (f1,) = experiments(["F1"])
    cases = f1.cases("paper")
    assert sorted({case["p"] for case in cases}) == [10**6, 3 * 10**6, 10**7, 3 * 10**7, 10**8, 3 * 10**8]
    assert {case["seed"] for case in cases} == set(range(1, 11))
    asked = settings(cases[0])
    ends = asked.gamma[0], asked.gamma[-1]
    assert (len(asked.gamma), ends) == (5, (pytest.approx(1 / (50 * 5000)), pytest.approx(5000**-0.5)))
    assert replace(asked, gamma=None) == Settings(
        n_nonzero=50,
        screen_size=20_000,
        subproblem_fraction=0.5,
        n_subproblems=10,
        subproblem_size="grid",
        backbone_max=250,
        patience=None,
        time_limit=300.0,
        seed=1,
    )


def test_the_parts_of_an_experiment_have_its_name() -> None:
    assert [each.id for each in experiments(["F8"])] == [
        f"F8-{part}" for part in ("M", "construct", "solve", "alpha", "beta", "B_max")
    ]


def test_recovery_after_each_subproblem() -> None:
    parts = [np.array([1, 2, 9]), np.array([2, 3]), np.array([8])]
    assert after_each(parts, np.array([1, 2, 3, 4]), "one", "all") == {
        "one@1": 0.5,
        "all@1": 0.5,
        "one@2": 0.5,
        "all@2": 0.75,
        "one@3": 0.0,
        "all@3": 0.75,
    }


@pytest.mark.parametrize("kind", ["linear", "logistic"])
def test_an_elastic_net_is_chosen_on_a_hold_out(kind: str) -> None:
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.normal(5.0, 2.0, size=(400, 60)))
    y = X[:, 3] - X[:, 40] + rng.normal(size=400)
    net = fit_net(X, y if kind == "linear" else np.where(y > 0, 1.0, -1.0), kind, seed=1)
    predicted = X @ net.weights + net.intercept
    assert {3, 40} <= set(net.support.tolist())
    assert net.support.size < 60
    assert np.corrcoef(predicted, y)[0, 1] > 0.8
    assert np.abs(net.weights).argsort()[-2:].tolist() in ([3, 40], [40, 3])
