"""The paper's real tables, their permuted copies, and the baselines that the tables compare with."""

import numpy as np
import pytest
from scipy.linalg import fractional_matrix_power
from sklearn.feature_selection import RFE
from sklearn.linear_model import LinearRegression

from benchmarks.paper import permuted
from benchmarks.paper.answer import Answer
from benchmarks.paper.baselines.cart import cart_on_store, tuned_cart, used_by
from benchmarks.paper.baselines.deco import deco_columns, decorrelation, partition, standardised
from benchmarks.paper.baselines.forest import tuned_forest
from benchmarks.paper.baselines.oracle import sparse_regression
from benchmarks.paper.baselines.rfe import eliminate_by_regression, eliminate_by_trees
from benchmarks.paper.chosen_by_chance import by_correlation, by_entropy
from benchmarks.paper.data import MissingDataError
from benchmarks.paper.real import EXPERIMENTS as TABLES
from benchmarks.paper.trees import EXPERIMENTS as FIGURES
from benchmarks.paper.trees import drawn


def table(name):
    try:
        return permuted.load(name)
    except MissingDataError as missing:
        pytest.skip(str(missing))


@pytest.fixture
def few():
    """Eighty samples, two hundred columns, three of which make y."""
    X = np.random.default_rng(0).normal(size=(80, 200))
    return X, X[:, 3] - 2 * X[:, 70] + X[:, 150] + 0.1 * np.random.default_rng(1).normal(size=80)


@pytest.mark.parametrize(
    ("name", "shape"),
    [("communities", (1993, 100)), ("housing", (506, 103)), ("breast cancer", (683, 9)), ("ionosphere", (351, 33))],
)
def test_tables_have_the_shapes_of_the_paper(name, shape):
    found = table(name)
    assert found.X.shape == shape
    assert np.isfinite(found.X).all()
    assert np.isfinite(found.y).all()
    assert (np.ptp(found.X, axis=0) > 0).all()


def test_housing_has_squares_and_products():
    X = table("housing").X
    original = X[:, :13]
    np.testing.assert_array_equal(X[:, 13], original[:, 0] ** 2)
    np.testing.assert_array_equal(X[:, -1], original[:, 11] * original[:, 12])
    assert not any(np.array_equal(column, original[:, 3]) for column in X[:, 13:25].T)


def test_classes_are_zero_and_one_and_of_the_known_sizes():
    assert table("breast cancer").y.sum() == 239
    assert table("ionosphere").y.sum() == 225


def test_a_missing_folder_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("BACKBONE_PAPER_DATA", str(tmp_path))
    with pytest.raises(MissingDataError, match="--data"):
        permuted.load("housing")


def test_copies_are_permutations_of_their_own_column():
    X = np.random.default_rng(0).normal(size=(30, 4)).astype(np.float32).astype(np.float64)
    wide = permuted.with_copies(X, 5, np.random.default_rng(1))
    assert wide.shape == (30, 24)
    np.testing.assert_array_equal(wide[:, :4], X)
    for at in range(4):
        copies = wide[:, 4 + 5 * at : 9 + 5 * at]
        np.testing.assert_array_equal(np.sort(copies, axis=0), np.tile(np.sort(X[:, at])[:, None], 5))
        assert len({column.tobytes() for column in copies.T} | {X[:, at].astype(np.float32).tobytes()}) == 6


def test_splits_are_apart_and_expansions_differ_only_in_copies():
    table("ionosphere")
    first = permuted.expanded("ionosphere", split=1, expansion=0, copies=3)
    other = permuted.expanded("ionosphere", split=1, expansion=1, copies=3)
    assert first.X.shape == (281, 132)
    assert first.X_test.shape == (70, 132)
    np.testing.assert_array_equal(first.original().X, other.original().X)
    np.testing.assert_array_equal(first.y_test, other.y_test)
    assert not np.array_equal(first.X[:, 33:], other.X[:, 33:])
    training, test = permuted.parts(351, 1)
    assert np.intersect1d(training, test).size == 0
    assert training.size + test.size == 351


def test_answers_count_copies_as_false_alarms():
    counts = Answer(np.array([0, 2, 9, 12]), np.empty(0)).counts(n_original=5)
    assert counts == {"accuracy": 0.4, "false alarms": 0.5, "features": 4.0}
    assert Answer(np.array([0, 1]), np.empty(0)).among(np.array([7, 8])).support.tolist() == [7, 8]
    assert Answer(None, np.empty(0)).counts(5) == {}


def test_what_chance_does_not_explain(few):
    X, y = few
    rows = np.zeros((3, X.shape[1]), X.dtype)
    numbers = permuted.Expanded(X, X[:, 70] + 0.01 * y, rows, np.zeros(3), 100)
    classes = permuted.Expanded(X, (X[:, 70] > 0).astype(float), rows, np.zeros(3), 100)
    assert by_correlation(numbers, 50, 0).tolist() == [70]
    assert by_entropy(classes, 50, 0).tolist() == [70]


def test_decorrelation_is_the_inverse_root(few):
    X, _ = few
    rows = standardised(X)
    literal = fractional_matrix_power((rows @ rows.T + np.eye(80)) / 200, -0.5)
    np.testing.assert_allclose(decorrelation(X, at_a_time=64), literal, atol=1e-10)


def test_deco_blocks_cover_all_columns_and_find_what_makes_y(few):
    X, y = few
    blocks = partition(200, 5, seed=0)
    np.testing.assert_array_equal(np.sort(np.concatenate(blocks)), np.arange(200))
    assert {len(block) for block in blocks} == {40}
    chosen = deco_columns(X, y, seed=0)
    assert {3, 70, 150} <= set(chosen.tolist())
    assert np.all(np.diff(chosen) > 0)


@pytest.mark.parametrize("n_samples", [30, 80])
def test_elimination_is_that_of_scikit_learn(few, n_samples):
    X, y = few[0][:n_samples], few[1][:n_samples]
    columns = (X - X.mean(axis=0)) / X.std(axis=0)
    theirs = RFE(LinearRegression(), n_features_to_select=10, step=15).fit(columns, y)
    np.testing.assert_array_equal(eliminate_by_regression(X, y, keep=10, step=15), np.flatnonzero(theirs.support_))


def test_trees_find_the_column_that_decides(few):
    X, _ = few
    y = (X[:, 70] > 0.1).astype(float)
    assert used_by(tuned_cart(X, y, (1, 2), seed=0)).tolist() == [70]
    assert 70 in eliminate_by_trees(X, y, seed=0, keep=100)
    assert tuned_forest(X[:, 65:75], y, seed=0).feature_importances_.argmax() == 5


def test_sparse_regression_proves_its_answer_on_all_columns(few):
    X, y = few
    model = sparse_regression(X[:, :20], y, 12, seed=0)
    assert model.backbone_.size == 12
    assert model.n_nonzero_ == 10
    assert model.gap_ <= 0.05


def test_cart_on_a_store_is_in_units_of_the_data():
    case = {"figure": "F5", "n": 400, "p": 60, "seed": 1}
    train = drawn(case, 0)
    tree, used = cart_on_store(train, (3,), seed=0)
    leaves = tree.leaves(train.gather(used).values)
    counts = np.bincount(leaves[train.target(None) == 1], minlength=tree.n_nodes)
    np.testing.assert_array_equal(counts[~tree.is_split], tree.sums[~tree.is_split][:, 1])


@pytest.mark.parametrize("experiment", [*TABLES.values(), *FIGURES.values()], ids=lambda one: one.id)
def test_cases_have_names_of_their_own_and_the_paper_has_values_for_rows(experiment):
    small, paper = experiment.cases("small"), experiment.cases("paper")
    for cases in (small, paper):
        assert len({tuple(sorted(case.items())) for case in cases}) == len(cases)
    rows = {tuple(case[key] for key in experiment.by) for case in paper}
    assert set(experiment.paper) <= rows


def test_a_table_has_25_runs_of_every_method_but_5_of_the_oracle():
    methods = [case["method"] for case in TABLES["T1"].cases("paper")]
    assert {name: methods.count(name) for name in set(methods)} == {
        "BB": 25,
        "BB as published": 25,
        "SIS-ENET": 25,
        "RFE": 25,
        "DECO": 25,
        "chance + ENET": 25,
        "SR-ORACLE": 5,
    }
