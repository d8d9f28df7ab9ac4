"""Every method on data of its own, through the function that the runner calls: are its numbers those of its model?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from backbone_dask.store import Recipe, VirtualStore
from backbone_dask.trees.tree import Tree
from benchmarks.paper import linear, simulated, trees
from benchmarks.paper.baselines import exact, sis_enet
from benchmarks.paper.experiment import Case

LINEAR = {"n": 150, "p": 300, "k": 6, "screen": 60, "beta": 0.5, "M": 3, "B_max": 12, "limit": 1.0, "seed": 2}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels need not be warm: no time is compared."""
    monkeypatch.setattr(simulated, "warm_up", lambda: None)
    monkeypatch.setattr(sis_enet, "warm_up", lambda: None)
    monkeypatch.setattr(exact, "warm_up", lambda: None)
    monkeypatch.setattr(trees, "_compile", lambda: None)


def other_draw(case: Case) -> VirtualStore:
    """2,000 samples that no method has seen."""
    shape = {"n_samples": 2000, "n_features": case["p"], "n_relevant": case["k"]}
    return VirtualStore(Recipe(kind=case["kind"], rho=0.9, snr=2.0, seed=case["seed"], draw=1, **shape))


def r2_of(y: NDArray[Any], predicted: NDArray[Any]) -> float:
    return float(1 - ((y - predicted) ** 2).sum() / ((y - y.mean()) ** 2).sum())


def auc_of(y: NDArray[Any], score: NDArray[Any]) -> float:
    """The share of pairs that are in order; half of those that are equal."""
    positive, negative = score[y > 0][:, None], score[y <= 0][None, :]
    return float((positive > negative).mean() + (positive == negative).mean() / 2)


def spied(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> list[Any]:
    """What a function of a module is given and returns, while it does what it does."""
    seen, known = [], getattr(module, name)

    def call(*given: Any, **asked: Any) -> Any:
        answer = known(*given, **asked)
        seen.append((given, answer))
        return answer

    monkeypatch.setattr(module, name, call)
    return seen


HOMES = {"backbone": simulated, "SR": exact, "SIS-ENET": sis_enet, "SIS-ENET apart": sis_enet}


@pytest.mark.parametrize(
    ("method", "kind"),
    [*((method, "linear") for method in HOMES), ("backbone", "logistic"), ("SIS-ENET apart", "logistic")],
)
def test_the_numbers_of_a_method_are_those_of_its_model_on_another_draw(
    method: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case, judged = {"method": method, "kind": kind, **LINEAR}, spied(monkeypatch, HOMES[method], "judged")
    found = linear.run(case)
    _, ids, coefficients, intercept = judged[0][0]
    other = other_draw(case)
    predicted = other.gather(ids).values.T.astype(np.float64) @ coefficients + intercept
    quality = {"linear": ("R2", r2_of), "logistic": ("AUC", auc_of)}[kind]
    assert found[quality[0]] == pytest.approx(quality[1](other.target(None), predicted), abs=1e-6)
    hits = set(ids.tolist()) & set(other.truth.ids.tolist())
    assert found["accuracy"] == pytest.approx(len(hits) / 6)
    assert found["false alarms"] == pytest.approx(1 - len(hits) / len(ids))
    assert found["features"] == len(ids)
    assert found["seconds"] > 0
    assert found["accuracy"] > 0
    assert (found["accuracy"], found["false alarms"]) != (1, 0)


def test_what_is_in_screen_and_backbone_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    fits = spied(monkeypatch, simulated, "fit")
    case = {"method": "backbone", "kind": "linear", **LINEAR}
    found, finding = linear.run(case), fits[0][1][0].finding
    truth = set(other_draw(case).truth.ids.tolist())
    assert found["in backbone"] == len(truth & set(finding.backbone.tolist())) / 6 < 1
    assert found["in screen"] == len(truth & set(finding.screening.candidates.tolist())) / 6
    assert found["backbone size"] == len(finding.backbone) <= 12
    assert found["gap"] == finding.outcome.gap


def test_a_model_that_knows_the_training_draw_by_heart_is_not_praised() -> None:
    case = {"kind": "linear", **LINEAR, "n": 100}
    train, ids = simulated.training(case), np.arange(300)
    weights = np.linalg.lstsq(train.gather(ids).values.T.astype(np.float64), train.target(None), rcond=None)[0]
    heart = train.gather(ids).values.T @ weights
    assert r2_of(train.target(None), heart) > 0.999
    assert simulated.judged(case, ids, weights, 0.0)["R2"] < 0.8


@pytest.mark.parametrize("best", range(5))
def test_sr_takes_the_ridge_weight_of_the_least_error(best: int, monkeypatch: pytest.MonkeyPatch) -> None:
    case = {"method": "SR", "kind": "linear", **LINEAR, "p": 40, "k": 2, "limit": 0.5}
    errors = iter([0.0 if at == best else 1.0 for at in range(5)])
    monkeypatch.setattr(exact.SquaredLearner, "error", lambda *given: next(errors))
    known, used = exact.fit_branch_and_bound, []

    def solved(*given: Any, **asked: Any) -> Any:
        used.append(asked)
        return known(*given, **asked)

    monkeypatch.setattr(exact, "fit_branch_and_bound", solved)
    linear.run(case)
    assert used[-1]["gamma"] == pytest.approx(np.geomspace(1 / 300, 150**-0.5, 5)[best])
    assert [each["seconds"] for each in used] == pytest.approx([0.1] * 5 + [0.5])


@pytest.mark.parametrize("method", ["SIS-ENET", "SIS-ENET apart"])
def test_the_net_chooses_from_the_columns_that_correlate_most(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = {"method": method, "kind": "linear", **LINEAR}
    screened, train = spied(monkeypatch, sis_enet, "_screened"), simulated.training(case)
    found = linear.run(case)
    (_, _, judges), (everyone, blind) = screened[0]
    X, y = train.gather(np.arange(300)).values, train.target(None)
    for ids, rows in ((everyone, np.ones(150, bool)), (blind, ~judges)):
        strength = np.abs([np.corrcoef(column[rows], y[rows])[0, 1] for column in X])
        np.testing.assert_array_equal(ids, np.sort(np.argsort(strength)[-60:]))
    assert found["in screen"] == np.isin(train.truth.ids, everyone).mean()


TREE = {"n": 300, "p": 40, "seed": 1}


@pytest.mark.parametrize(("figure", "method"), [("F5", "BB"), ("F7", "BB"), ("F5", "CART"), ("F7", "OCT")])
def test_the_numbers_of_a_tree_are_those_of_its_predictions(
    figure: str, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case, kept = {"figure": figure, "method": method, **TREE}, []
    fit = trees.METHODS[method]

    def remembered(train: VirtualStore, case: Case) -> Any:
        kept.append(fit(train, case))
        return kept[0]

    monkeypatch.setitem(trees.METHODS, method, remembered)
    found, (tree, ids) = trees.run(case), kept[0]
    shape = {"F5": {"n_relevant": 7, "rho": 0.6, "depth": 3}, "F7": {"n_relevant": 31, "rho": 0.9, "depth": 5}}[figure]
    other = VirtualStore(Recipe(kind="tree", n_samples=2000, n_features=40, seed=1, draw=1, **shape))
    score = [leaf_share(tree, sample) for sample in other.gather(np.asarray(ids)).values.T.astype(np.float64)]
    columns = {int(ids[feature]) for feature in tree.features[:, 0] if feature >= 0}
    assert found["AUC"] == pytest.approx(auc_of(other.target(None), np.array(score)))
    assert found["relevant"] == pytest.approx(len(columns & set(other.truth.ids.tolist())) / len(columns))
    assert (found["features"], found["depth"]) == (len(columns), longest_way(tree))
    assert found["seconds"] > 0


def leaf_share(tree: Any, sample: NDArray[Any], node: int = 0) -> float:
    """The share of the second class where a sample ends."""
    if tree.left[node] < 0:
        return float(tree.sums[node, 1] / tree.sums[node].sum())
    value = tree.weights[node, 0] * sample[tree.features[node, 0]]
    return leaf_share(tree, sample, int((tree.left if value <= tree.thresholds[node] else tree.right)[node]))


def longest_way(tree: Any, node: int = 0) -> int:
    return 0 if tree.left[node] < 0 else 1 + max(longest_way(tree, side[node]) for side in (tree.left, tree.right))


def as_ours(tree: Any) -> Tree:
    features = np.maximum(tree.feature, -1)[:, None]
    weights, sums = np.ones((tree.node_count, 1)), tree.value[:, 0]
    return Tree(features, weights, tree.threshold, tree.children_left, tree.children_right, sums)


def test_a_tree_that_knows_the_training_draw_by_heart_is_not_praised(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its leaves are pure, and it splits by columns that have nothing to do with the classes, too."""
    used = []

    def heart(train: VirtualStore, case: Case) -> Any:
        X, y = train.gather(np.arange(40)).values.T, train.target(None)
        grown = DecisionTreeClassifier(random_state=0).fit(X, y)
        assert auc_of(y, grown.predict_proba(X)[:, 1]) == 1
        used.append(np.flatnonzero(grown.feature_importances_))
        return as_ours(grown.tree_), np.arange(40)

    monkeypatch.setitem(trees.METHODS, "heart", heart)
    case = {"figure": "F5", "method": "heart", **TREE}
    found, truth = trees.run(case), trees.drawn(case, 1).truth.ids
    assert found["AUC"] < 0.95
    assert found["relevant"] == pytest.approx(np.isin(used[0], truth).mean())
    assert found["relevant"] < 1
