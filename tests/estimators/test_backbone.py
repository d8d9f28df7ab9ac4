"""The backbone method around scikit-learn's estimators, against the loop that it stands for."""

from __future__ import annotations

import pickle
from itertools import product

import numpy as np
import pytest
import sklearn
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import ElasticNet, Lars, Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.fixes import parse_version
from threadpoolctl import threadpool_limits

from backbone_dask import Backbone, BackboneRegressor, write_store
from backbone_dask.algorithm.sampling import Sampler
from backbone_dask.errors import InvalidDataError, InvalidSettingError
from backbone_dask.launch.local import local_cluster
from backbone_dask.problems import learner_fitting
from backbone_dask.store import MemoryStore
from backbone_dask.values import Screening

# scikit-learn 1.8 renamed the way to ask for it.
L1 = {"l1_ratio": 1.0} if parse_version(sklearn.__version__) >= parse_version("1.8") else {"penalty": "l1"}
SPARSE_LOGISTIC = LogisticRegression(C=0.1, solver="liblinear", **L1)
REGRESSORS = {
    "lasso": Lasso(alpha=0.5),
    "elastic net": ElasticNet(alpha=0.8),
    "lasso in a pipeline": make_pipeline(StandardScaler(), Lasso(alpha=0.5)),
    "forest": RandomForestRegressor(5, max_depth=2),
}
TWO_CLASSES = {
    "logistic": SPARSE_LOGISTIC,
    "logistic in a pipeline": make_pipeline(StandardScaler(), SPARSE_LOGISTIC),
}
CLASSIFIERS = {
    "tree": DecisionTreeClassifier(max_depth=2, max_features=0.5),
    "forest": RandomForestClassifier(5, max_depth=2),
    "svm": LinearSVC(penalty="l1", C=0.01),
}
P, BACKBONE_MAX, COUNT = 120, 50, 3
FEW = {"n_subproblems": COUNT, "backbone_max": BACKBONE_MAX, "patience": None, "sampling": "uniform"}


@parametrize_with_checks(
    [
        Backbone(Lasso(alpha=0.01), LinearRegression()),
        Backbone(Lasso(alpha=0.01), n_nonzero=1),
        Backbone(DecisionTreeClassifier(max_depth=3), DecisionTreeClassifier()),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    X = rng.normal(2.0, 3.0, (120, P))
    return X, 2 * X[:, 5] - X[:, 33] + rng.normal(0, 1.0, 120)


@pytest.fixture(scope="module")
def classes(data):
    X, y = data
    return X, np.array(["low", "middle", "tall"])[np.digitize(y, [-2, 5])]


def by_hand(estimator, X, y):
    """The literal loop: clone, seed, fit on the sampled columns, union."""
    everything = Screening(np.arange(P), np.ones(P), P, 0)
    backbone = set()
    for subproblem in Sampler("uniform", 0.5, BACKBONE_MAX, 0)(everything, level=0, count=COUNT):
        model = clone(estimator)
        model.set_params(**{name: subproblem.seed for name in model.get_params() if name.endswith("random_state")})
        with threadpool_limits(1, "blas"):
            model.fit(np.asfortranarray(X[:, subproblem.candidates]), y)
        last = model[-1] if hasattr(model, "steps") else model
        weights = np.atleast_2d(last.coef_ if hasattr(last, "coef_") else last.feature_importances_)
        backbone |= set(subproblem.candidates[np.any(weights != 0, axis=0)].tolist())
    return sorted(backbone)


def is_the_loop(model, estimator, X, y):
    first = model.levels_[0].backbone.tolist()
    assert first == by_hand(estimator, X, y)
    assert {5, 33} & set(first)
    assert set(model.backbone_.tolist()) <= set(first) < set(range(P))
    assert (model.objective_, model.bound_, model.gap_, model.termination_) == (None, None, None, None)


@pytest.mark.parametrize("name", REGRESSORS)
def test_the_backbone_of_a_regressor_is_that_of_the_literal_loop(data, name):
    X, y = data
    model = Backbone(REGRESSORS[name], LinearRegression(), **FEW).fit(X, y)
    is_the_loop(model, REGRESSORS[name], X, y)
    assert (is_regressor(model), is_classifier(model)) == (True, False)


@pytest.mark.parametrize(
    ("name", "two"), [*((name, True) for name in TWO_CLASSES), *product(CLASSIFIERS, (True, False))]
)
def test_the_backbone_of_a_classifier_is_that_of_the_literal_loop(classes, name, two):
    X, y = classes
    y, estimator = y == "tall" if two else y, {**TWO_CLASSES, **CLASSIFIERS}[name]
    model = Backbone(estimator, DecisionTreeClassifier(max_depth=2), **FEW).fit(X, y)
    is_the_loop(model, estimator, X, y)
    assert (is_regressor(model), is_classifier(model)) == (False, True)
    assert model.classes_.tolist() == np.unique(y).tolist()


@pytest.mark.parametrize("reduced", [Lasso(alpha=0.1), ElasticNet(), RandomForestRegressor(5), Ridge()])
def test_the_reduced_model_is_the_estimator_on_the_columns_of_the_backbone(data, reduced):
    X, y = data
    model = Backbone(Lasso(alpha=0.5), reduced, **FEW, random_state=7).fit(X, y)
    expected = clone(reduced)
    if hasattr(expected, "random_state") and expected.random_state is None:
        expected.set_params(random_state=7)
    with threadpool_limits(1, "blas"):
        expected.fit(np.asfortranarray(X[:, model.backbone_]), y)
    np.testing.assert_array_equal(model.predict(X), expected.predict(np.asfortranarray(X[:, model.backbone_])))
    assert model.score(X, y) == expected.score(X[:, model.backbone_], y)
    name = "coef_" if hasattr(expected, "coef_") else "feature_importances_"
    dense = getattr(model, name)
    np.testing.assert_array_equal(dense[model.backbone_], getattr(expected, name))
    np.testing.assert_array_equal(np.flatnonzero(dense), model.support_)
    assert dense.shape == (P,)


@pytest.mark.parametrize("reduced", [SPARSE_LOGISTIC, DecisionTreeClassifier(), RandomForestClassifier(5), LinearSVC()])
def test_a_reduced_classifier_keeps_its_methods(classes, reduced):
    X, y = classes[0], classes[1] == "tall"
    with pytest.raises(NotFittedError):
        Backbone(CLASSIFIERS["tree"], reduced).predict(X)
    unfitted, model = (Backbone(CLASSIFIERS["tree"], reduced, **FEW) for _ in range(2))
    model.fit(X, y)
    for method in ("predict_proba", "decision_function"):
        assert hasattr(unfitted, method) == hasattr(model, method) == hasattr(reduced, method)
        if hasattr(model, method):
            table = np.asfortranarray(X[:, model.backbone_])
            np.testing.assert_array_equal(getattr(model, method)(X), getattr(model.reduced_, method)(table))
    assert model.predict(X).dtype == bool


def test_three_classes_have_coefficients_each(classes):
    model = Backbone(CLASSIFIERS["svm"], LinearSVC(), **FEW).fit(*classes)
    assert model.coef_.shape == (3, P)
    assert model.intercept_.shape == (3,)
    np.testing.assert_array_equal(model.coef_[:, model.backbone_], model.reduced_.coef_)


def test_our_exact_solver_after_their_subproblems(data):
    X, y = data
    model = Backbone(Lasso(alpha=0.5), "branch-and-bound", n_nonzero=2, gamma=0.1, **FEW).fit(X, y)
    own = BackboneRegressor(2, gamma=0.1).fit(X, y)
    assert model.support_.tolist() == own.support_.tolist() == [5, 33]
    np.testing.assert_allclose(model.coef_, own.coef_, rtol=1e-5)
    np.testing.assert_allclose(model.predict(X), own.predict(X), rtol=1e-5)
    assert model.bound_ <= model.objective_
    assert model.gap_ <= 1e-4
    assert model.termination_ == "proven"


def test_our_exact_solver_proves_for_classes_too(classes):
    X, y = classes[0], classes[1] == "tall"
    model = Backbone(SPARSE_LOGISTIC, n_nonzero=2).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-model.decision_function(X))))
    np.testing.assert_array_equal(model.predict(X), model.decision_function(X) > 0)
    assert model.support_.tolist() == [5, 33]
    assert model.gap_ is not None
    with pytest.raises(InvalidSettingError, match="y holds 3 classes, and our own solvers take two"):
        Backbone(CLASSIFIERS["tree"], n_nonzero=2, **FEW).fit(*classes)


@pytest.mark.parametrize("own", [None, "relaxation", "rounding"])
def test_our_subproblems_before_their_model(data, own):
    X, y = data
    model = Backbone(own, Ridge(), n_nonzero=2, n_subproblems=COUNT).fit(X, y)
    same = BackboneRegressor(2, subproblem=own or "relaxation", n_subproblems=COUNT).fit(X, y)
    np.testing.assert_array_equal(model.backbone_, same.backbone_)
    assert isinstance(model.reduced_, Ridge)


def test_of_a_model_that_is_not_sparse_the_largest_are_taken(data):
    """Largest in the spread of their column, whatever its units."""
    X, y = data
    scaled = X * np.where(np.arange(P) == 5, 1e6, 1.0)
    model = Backbone(Ridge(), LinearRegression(), max_features=2, **FEW | {"sampling": "covering"}).fit(scaled, y)
    assert all(answer.relevant.size == 2 for answer in model.levels_[0].answers)
    assert {5, 33} <= set(model.backbone_.tolist())


def test_a_threshold_is_a_share_of_the_largest(data):
    X, y = data
    loose, strict = (
        Backbone(Lasso(alpha=0.5), LinearRegression(), threshold=at, **FEW).fit(X, y).levels_[0].backbone
        for at in (1e-10, 0.3)
    )
    assert set(strict.tolist()) < set(loose.tolist())


@pytest.mark.parametrize("name", ["lasso", "forest", "lasso in a pipeline"])
def test_weights_reach_the_estimators(data, name):
    """Samples of weight 0 are as if they were not there."""
    X, y = data
    weights = np.where(np.arange(120) < 80, 1.0, 0.0)
    settings = FEW | {"subproblem_fraction": 1.0, "backbone_max": P}
    weighted = Backbone(REGRESSORS[name], Ridge(), **settings).fit(X, np.where(weights > 0, y, -y), weights)
    if name == "lasso":
        fewer = Backbone(REGRESSORS[name], Ridge(), **settings).fit(X[:80], y[:80])
        np.testing.assert_array_equal(weighted.backbone_, fewer.backbone_)
        np.testing.assert_allclose(weighted.coef_, fewer.coef_, rtol=1e-6)
    assert weighted.score(X[:80], y[:80]) > 0.8


def test_serial_equals_two_workers(data, classes, tmp_path):
    X, y = data
    write_store(MemoryStore(X.astype(np.float32), targets={"y": y}), tmp_path / "s.zarr")
    labels = (classes[1] == "tall").astype(float)
    cases = [
        (Backbone(REGRESSORS["forest"], RandomForestRegressor(5), **FEW), y),
        (Backbone(REGRESSORS["lasso in a pipeline"], n_nonzero=2, **FEW), y),
        (Backbone(CLASSIFIERS["svm"], SPARSE_LOGISTIC, **FEW), labels),
    ]
    serial = [clone(model).set_params(executor="serial").fit(tmp_path / "s.zarr", target) for model, target in cases]
    with local_cluster(2):
        for (model, target), expected in zip(cases, serial, strict=True):
            model.set_params(executor="dask").fit(tmp_path / "s.zarr", target)
            np.testing.assert_array_equal(model.backbone_, expected.backbone_)
            np.testing.assert_array_equal(model.predict(tmp_path / "s.zarr"), expected.predict(tmp_path / "s.zarr"))
        with pytest.raises(InvalidSettingError, match="Lasso found no relevant feature in any subproblem"):
            Backbone(Lasso(alpha=1e6), Ridge(), executor="dask").fit(X, y)


def test_parameters_copies_and_pickles(data):
    X, y = data
    model = Backbone(Lasso(), Ridge(), **FEW).set_params(subproblem__alpha=0.5, reduced__alpha=2.0)
    assert model.get_params()["subproblem__alpha"] == 0.5
    given = model.subproblem
    model.fit(X, y)
    assert model.subproblem is given
    assert not hasattr(given, "coef_")
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    assert not hasattr(clone(model), "reduced_")
    search = GridSearchCV(Backbone(Lasso(), Ridge(), **FEW), {"subproblem__alpha": [0.5, 1.0]}, cv=2).fit(X, y)
    assert search.best_params_["subproblem__alpha"] in (0.5, 1.0)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (Backbone(), "give a scikit-learn estimator for subproblem, for reduced or for both"),
        (Backbone(Lasso), "give an instance"),
        (Backbone(StandardScaler()), "give an instance of a regressor or classifier"),
        (Backbone("lasso", Ridge()), "use an estimator or 'relaxation', 'elastic-net', 'rounding'"),
        (Backbone(Lasso(), "relaxation"), "use an estimator or 'branch-and-bound', 'outer-approximation'"),
        (Backbone(Lasso(), DecisionTreeClassifier()), "one of subproblem and reduced is a classifier"),
        (Backbone(Lasso(), Ridge(), n_nonzero=3), "n_nonzero is for our own solvers"),
        (Backbone(Lasso(), n_nonzero=[1, 2]), "GridSearchCV can choose"),
        (Backbone(None, Ridge(), max_features=3), "max_features is for estimators"),
        (Backbone(Lasso(), Ridge(), max_features=0), "max_features is 0; it must be at least 1"),
        (Backbone(Lasso(), Ridge(), threshold=1.0), r"threshold is 1.0; it must be a number in \[0, 1\)"),
        (Backbone(Lasso(alpha=1e6), Ridge()), "Lasso found no relevant feature"),
        (Backbone(KNeighborsRegressor(), Ridge()), "KNeighborsRegressor has neither coef_ nor feature_importances_"),
        (Backbone(make_pipeline(PCA(3), Lasso()), Ridge()), "Pipeline was fitted to 120 columns, and has .* for 3"),
    ],
)
def test_what_cannot_work_is_refused_with_a_sentence(data, model, words):
    with pytest.raises(InvalidSettingError, match=words):
        model.fit(*data)


def test_weights_that_an_estimator_does_not_take_are_refused(data):
    for model in (Backbone(Lars(), Ridge()), Backbone(make_pipeline(StandardScaler(), Lars()), Ridge())):
        with pytest.raises(InvalidSettingError, match="Lars takes no sample_weight"):
            model.fit(*data, sample_weight=np.ones(120))


def test_one_class_is_refused(data):
    with pytest.raises(InvalidDataError, match="one class only"):
        Backbone(DecisionTreeClassifier(), DecisionTreeClassifier()).fit(data[0], np.ones(120, int))


def test_a_reduced_model_without_coefficients_uses_the_whole_backbone(classes):
    model = Backbone(CLASSIFIERS["tree"], KNeighborsClassifier(), **FEW).fit(*classes)
    np.testing.assert_array_equal(model.support_, model.backbone_)
    assert not hasattr(model, "coef_")


def test_the_screen_is_chosen_by_name(data):
    """A feature that acts by its square has no correlation; splines find it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 200))
    y = X[:, 7] ** 2 + 0.1 * rng.normal(size=300)
    forest = RandomForestRegressor(5, max_depth=3)
    blind, seeing = (
        Backbone(forest, forest, screen=name, screen_size=5).fit(X, y) for name in ("correlation", "splines")
    )
    assert 7 in seeing.backbone_
    assert 7 not in blind.backbone_
    every = Backbone(Lasso(alpha=0.5), Ridge(), screen="none", **FEW).fit(*data)
    assert every.levels_[0].n_candidates == P


def test_whole_numbers_with_missing_values_are_filled_with_the_mean_of_the_training(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 3, (80, 20)).astype(np.float64)
    y = X[:, 4] + 0.1 * rng.normal(size=80)
    coded = X.astype(np.int8)
    coded[:8, 4] = -128
    source = MemoryStore(coded)
    source.missing = "mean"
    write_store(source, tmp_path / "s.zarr")
    filled = np.where(coded == -128, X[8:, 4].mean(), X)
    model, expected = (Backbone(Lasso(alpha=0.05), Ridge()).fit(table, y) for table in (tmp_path / "s.zarr", filled))
    np.testing.assert_array_equal(model.backbone_, expected.backbone_)
    np.testing.assert_allclose(model.predict(tmp_path / "s.zarr"), expected.predict(filled), rtol=1e-9)


@pytest.mark.parametrize("reduced", [None, LinearRegression()])
def test_phases_are_logged_and_no_gap_of_what_is_not_proven(reduced, caplog):
    X = np.random.default_rng(0).normal(size=(60, 40))
    with caplog.at_level("INFO"):
        Backbone(Lasso(0.1), reduced, n_nonzero=2 if reduced is None else None).fit(X, 3 * X[:, 7] - 2 * X[:, 30])
    said = [record.getMessage() for record in caplog.records]
    for phase in ("screen", "compact", "levels", "reduced"):
        assert any(each.startswith(phase) for each in said), said
    assert "nan" not in " ".join(said)
    assert any("gap" in each for each in said) == (reduced is None)
    assert any("proven" in each or "limit" in each for each in said) == (reduced is None)


def test_a_solver_of_ours_that_finds_nothing_is_called_what_people_call_it(monkeypatch):
    monkeypatch.setattr(learner_fitting, "relevant_of", lambda fit: np.zeros(20, np.bool_))
    X = np.random.default_rng(0).normal(size=(60, 20))
    model = Backbone("elastic-net", LinearRegression(), n_nonzero=2, subproblem_fraction=1.0)
    for each, called in ((model, "elastic-net"), (clone(model).set_params(subproblem=None), "relaxation")):
        with pytest.raises(InvalidSettingError, match=f"subproblem='{called}' found no relevant feature"):
            each.fit(X, X[:, 3])
