"""The methods of the tables on a table that is made up, and the parts of F8: are the numbers those of the answers?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.paper import permuted, real, real_regression, real_trees, sensitivity, simulated
from benchmarks.paper.answer import Answer
from benchmarks.paper.baselines import oracle
from benchmarks.paper.experiment import Case
from benchmarks.paper.permuted import Expanded, Table

N, REAL, COPIES = 400, 12, 9
REGRESSION = {"table": "housing", "split": 1, "seed": 1, "copies": COPIES}
CLASSES = {"table": "ionosphere", "split": 1, "seed": 1, "copies": COPIES}


@pytest.fixture(autouse=True)
def made_up(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Twelve columns, eight of which make the response; exact fits have half a second."""
    X = np.random.default_rng(0).normal(size=(N, REAL))
    y = X[:, :8] @ np.linspace(1, 2, 8) + np.random.default_rng(1).normal(size=N)
    tables = {"housing": Table(X, y), "ionosphere": Table(X, (X[:, 0] + 0.3 * y > 0.2).astype(float))}
    monkeypatch.setattr(permuted, "load", tables.__getitem__)
    monkeypatch.setattr(oracle, "SECONDS", 0.5)
    monkeypatch.setattr(real_trees, "DEPTHS", (3,))
    monkeypatch.setitem(real_regression.PAPER, "time_limit", 0.5)
    monkeypatch.setattr(simulated, "warm_up", lambda: None)
    real.drawn.cache_clear()
    yield
    real.drawn.cache_clear()


def r2_of(y: NDArray[Any], predicted: NDArray[Any]) -> float:
    return float(1 - ((y - predicted) ** 2).sum() / ((y - y.mean()) ** 2).sum())


def auc_of(y: NDArray[Any], score: NDArray[Any]) -> float:
    """The share of pairs that are in order; half of those that are equal."""
    positive, negative = score[y > 0][:, None], score[y <= 0][None, :]
    return float((positive > negative).mean() + (positive == negative).mean() / 2)


def answered(case: Case, monkeypatch: pytest.MonkeyPatch) -> tuple[dict[str, float], Expanded, Answer]:
    """The metrics of a case, and what its method was given and answered."""
    seen: list[tuple[Expanded, Answer]] = []
    fit = real.methods(case["table"])[case["method"]]

    def remembered(data: Expanded, seed: int) -> Answer:
        seen.append((data, fit(data, seed)))
        return seen[0][1]

    monkeypatch.setitem(real.methods(case["table"]), case["method"], remembered)  # type: ignore[arg-type]
    found = dict(real.run(case))
    return found, *seen[0]


@pytest.mark.parametrize(
    ("case", "method"),
    [*((REGRESSION, each) for each in real_regression.METHODS), *((CLASSES, each) for each in real_trees.METHODS)],
    ids=lambda part: part if isinstance(part, str) else part["table"],
)
def test_the_numbers_of_a_table_are_those_of_the_answer(
    case: Case, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, data, answer = answered({**case, "method": method}, monkeypatch)
    _, test = permuted.parts(N, 1)
    y, name = permuted.load(case["table"]).y[test], "R2" if case is REGRESSION else "AUC"
    quality = (r2_of if case is REGRESSION else auc_of)(y, answer.predicted)
    assert found[name] == pytest.approx(quality)
    assert 0.5 < quality < 1
    assert found["seconds"] > 0
    assert data.X.shape[1] == (REAL if "ORACLE" in method else REAL * (1 + COPIES))
    if method == "RF":
        assert answer.support is None
        assert "features" not in found
        return
    chosen = {int(each) for each in answer.support}
    own = chosen & set(range(REAL))
    assert found["features"] == len(chosen) > 0
    assert found["accuracy"] == pytest.approx(len(own) / REAL)
    assert found["false alarms"] == pytest.approx(1 - len(own) / len(chosen))


@pytest.mark.parametrize("case", [REGRESSION, CLASSES], ids=lambda case: case["table"])
def test_who_knows_the_training_samples_by_heart_is_not_praised(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """A neighbour of nobody: what was seen is known, and all else is guessed."""

    def heart(data: Expanded, seed: int) -> Answer:
        known = {row.tobytes(): value for row, value in zip(np.ascontiguousarray(data.X), data.y, strict=True)}
        guess = float(data.y.mean())
        return Answer(None, np.array([known.get(row.tobytes(), guess) for row in np.ascontiguousarray(data.X_test)]))

    monkeypatch.setitem(real.methods(case["table"]), "heart", heart)  # type: ignore[arg-type]
    found = real.run({**case, "method": "heart"})
    assert found["R2" if case is REGRESSION else "AUC"] <= 0.5


def test_no_sample_is_in_both_parts_and_copies_are_shuffled_within_theirs() -> None:
    data = permuted.expanded("housing", split=2, expansion=1, copies=2)
    assert (len(data.X), len(data.X_test)) == (320, 80)
    assert not {row.tobytes() for row in data.original().X} & {row.tobytes() for row in data.original().X_test}
    for part in (data.X, data.X_test):
        for column in range(REAL):
            copy = part[:, REAL + 2 * column]
            np.testing.assert_array_equal(np.sort(copy), np.sort(part[:, column]))
            assert not np.array_equal(copy, part[:, column])


@pytest.mark.parametrize("kept", [(2, 60), (60, 2)])
def test_sis_enet_keeps_the_columns_of_the_least_error(kept: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Two columns cannot say what eight make."""
    monkeypatch.setattr(real_regression, "KEPT", kept)
    found = real.run({**REGRESSION, "method": "SIS-ENET"})
    assert found["features"] > 2
    assert found["R2"] > 0.8


BASE = {"method": "backbone", "kind": "linear", "n": 120, "p": 200, "k": 6, "screen": 60, "limit": 0.5, "seed": 1}
PART = {**BASE, "beta": 0.4, "M": 4, "B_max": 12}


def levels(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The fits that a part of F8 makes."""
    seen, known = [], sensitivity.fit

    def fit(case: Case, asked: Any) -> Any:
        seen.append((asked, *known(case, asked)))
        return seen[-1][1:]

    monkeypatch.setattr(sensitivity, "fit", fit)
    return seen


def truth(case: Case) -> set[int]:
    return set(simulated.training(case).truth.ids.tolist())


def run(part: str, **changes: Any) -> dict[str, float]:
    return dict(sensitivity.EXPERIMENTS[f"F8-{part}"].run({**PART, "part": part, **changes}))


def test_recovery_by_subproblem_is_that_of_what_they_found(monkeypatch: pytest.MonkeyPatch) -> None:
    fits, relevant = levels(monkeypatch), truth(PART)
    found, so_far = run("M"), set[int]()
    answers = fits[0][1].finding.levels[0].answers
    assert len(answers) == 4
    for m, answer in enumerate(answers, start=1):
        own = set(answer.relevant.tolist())
        so_far |= own
        assert found[f"selected@{m}"] == pytest.approx(len(own & relevant) / 6)
        assert found[f"selected in total@{m}"] == pytest.approx(len(so_far & relevant) / 6)
    assert found["selected@1"] < found["selected in total@4"]


def test_sampling_by_utility_examines_more_of_what_is_relevant() -> None:
    """A share beta of the screen each, the same for every column or more for those that score better."""
    wide = {"screen": 200, "M": 30, "beta": 0.2}
    by = {name: run("construct", construct=name, **wide) for name in ("random_sample", "screening_sample")}
    mean = {name: np.mean([each[f"sampled@{m}"] for m in range(1, 31)]) for name, each in by.items()}
    assert mean["random_sample"] == pytest.approx(0.2, abs=0.08)
    assert mean["screening_sample"] > mean["random_sample"] + 0.05
    for each in by.values():
        total = [each[f"sampled in total@{m}"] for m in range(1, 31)]
        assert total == sorted(total)
        assert total[0] == each["sampled@1"]


def test_what_subproblems_examine_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [np.array([0, 1]), np.array([1, 150])]
    relevant = truth(PART)
    monkeypatch.setattr(sensitivity, "_drawn", lambda *given: iter(parts))
    found = run("construct", construct="random_sample")
    assert found["sampled in total@2"] == pytest.approx(len({0, 1, 150} & relevant) / 6)
    assert len(found) == 4


def test_a_lasso_keeps_more_than_the_relaxation(monkeypatch: pytest.MonkeyPatch) -> None:
    fits, relevant, so_far = levels(monkeypatch), truth(PART), set[int]()
    relaxed, lasso = run("solve", solve="SR-REL"), run("solve", solve="lasso")
    for m, answer in enumerate(fits[0][1].finding.levels[0].answers, start=1):
        so_far |= set(answer.relevant.tolist())
        assert relaxed[f"backbone size@{m}"] == len(so_far)
        assert relaxed[f"in backbone@{m}"] == pytest.approx(len(so_far & relevant) / 6)
        assert lasso[f"backbone size@{m}"] > relaxed[f"backbone size@{m}"]
    assert len(fits) == 1
    assert 0 < lasso["in backbone@1"] <= lasso["in backbone@4"] <= 1


def test_few_survivors_are_the_backbone_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    fits, train, relevant = levels(monkeypatch), simulated.training(PART), truth(PART)
    found = run("alpha", screen=12)
    X, y = train.gather(np.arange(200)).values, train.target(None)
    best = np.argsort([-abs(np.corrcoef(column, y)[0, 1]) for column in X])[:12]
    assert (found["in backbone"], found["backbone size"], fits) == (len(relevant & set(best.tolist())) / 6, 12, [])
    found = run("alpha", screen=60)
    backbone = set(fits[0][1].finding.backbone.tolist())
    assert (found["in backbone"], found["backbone size"]) == (len(relevant & backbone) / 6, len(backbone))


@pytest.mark.parametrize("part", ["beta", "B_max"])
def test_a_whole_fit_is_counted_and_timed(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fits, relevant = levels(monkeypatch), truth(PART)
    found = run(part)
    asked, fitted, seconds = fits[0]
    backbone = set(fitted.finding.backbone.tolist())
    assert (asked.time_limit, asked.backbone_max, asked.subproblem_fraction) == (0.5, 12, 0.4)
    assert (found["in backbone"], found["backbone size"]) == (len(relevant & backbone) / 6, len(backbone))
    assert (found["gap"], found["seconds"]) == (fitted.finding.outcome.gap, seconds)
    assert found["in backbone"] < 1
