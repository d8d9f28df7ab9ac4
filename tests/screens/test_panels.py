"""Folds and targets from one pass, against the screen on the samples themselves."""

from __future__ import annotations

import numpy as np
import pytest

from backbone_dask.adjustment import orthonormal
from backbone_dask.columns import measured
from backbone_dask.screens.correlation import correlation
from backbone_dask.screens.panels import FoldsPanel, ScorePanel, SubsetsPanel, TargetsPanel
from backbone_dask.screens.sums import weighted_sums

N, P = 203, 60


def table(kind):
    rng = np.random.default_rng(1)
    values = rng.integers(0, 3, (P, N)) if np.dtype(kind).kind in "iu" else rng.normal(50, 2, (P, N))
    values = values.astype(kind)
    values[3] = 1
    values[4] = 0
    values[4, 7] = 1
    return values


@pytest.fixture(params=["float32", "float64", "int8", "uint8"])
def columns(request):
    return measured(table(request.param))[0]


@pytest.fixture
def targets():
    return np.random.default_rng(2).normal(100, 3, (2, N))


@pytest.fixture
def folds():
    folds = np.random.default_rng(3).integers(-1, 4, N)
    folds[7] = 2
    return folds


def literal(columns, y, inside):
    """numpy's correlation on the samples `inside`; 0 where a column or the target does not vary."""
    found = []
    for column in columns.values.astype(float):
        x = column[inside]
        found.append(abs(np.corrcoef(x, y[inside])[0, 1]) if np.ptp(x) > 0 else 0.0)
    return np.array(found)


def test_targets_by_matrix_product(columns, targets):
    everyone = np.ones(N, bool)
    expected = [literal(columns, y, everyone) for y in targets]
    np.testing.assert_allclose(TargetsPanel(targets)(columns), expected, atol=1e-5)


def test_folds_by_subtraction(columns, targets, folds):
    inside = [np.ones(N, bool), *(folds != fold for fold in range(4))]
    expected = [literal(columns, y, part) for y in targets for part in inside]
    panel = FoldsPanel(targets, folds)
    assert panel.n_questions == 10
    np.testing.assert_allclose(panel(columns), expected, atol=1e-5)


def test_a_column_that_is_constant_outside_a_fold_scores_zero(columns, targets, folds):
    """Column 4 varies in one sample only, which lies in fold 2."""
    found = FoldsPanel(targets, folds)(columns)
    assert (found[[3, 8], 4] == 0).all()
    assert (found[[0, 5], 4] > 0).all()


def test_any_screen_on_subsets(columns, targets, folds):
    inside = (np.ones(N, bool), folds != 1)
    found = SubsetsPanel(correlation, targets, inside)(columns)
    np.testing.assert_allclose(found, [literal(columns, y, part) for y in targets for part in inside], atol=1e-5)


@pytest.mark.parametrize("panel", ["targets", "folds"])
def test_blocks_do_not_change_the_bits(columns, targets, folds, panel):
    made = TargetsPanel(targets) if panel == "targets" else FoldsPanel(targets, folds)
    parts = [made(columns[:7]), made(columns[7:31]), made(columns[31:])]
    np.testing.assert_array_equal(np.concatenate(parts, axis=1), made(columns))


def test_missing_codes_stand_for_the_mean(targets, folds):
    values = table("int8")
    values[:, ::9] = -128
    columns = measured(values, -128)[0]
    filled = np.where(values == -128, columns.mean[:, None], values)
    plain = measured(filled)[0]
    for panel in (TargetsPanel(targets), FoldsPanel(targets, folds)):
        np.testing.assert_allclose(panel(columns), panel(plain), atol=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_partial_correlation_by_regression(columns, targets, weighted, intercept):
    """The literal definition: the correlation of what two weighted regressions leave over."""
    weights = np.random.default_rng(4).exponential(size=N) if weighted else np.ones(N)
    root = np.sqrt(weights)
    ones = [np.ones(N)] if intercept else []
    given = np.vstack([*ones, columns.values[[10, 20, 30]].astype(float)]).T * root[:, None]

    def left_over(v):
        return root * v - given @ np.linalg.lstsq(given, root * v)[0]

    y = left_over(targets[0])
    found = ScorePanel(root, orthonormal(given.T), y, intercept)(columns)[0]
    for j in (0, 5, 40, 59):
        x = left_over(columns.values[j].astype(float))
        assert found[j] == pytest.approx(abs(x @ y) / np.linalg.norm(x) / np.linalg.norm(y), abs=1e-4)
    assert (found[[10, 20, 30]] < 1e-6).all()
    if intercept:
        assert found[3] < 1e-6


def test_nothing_left_to_explain_scores_zero(columns):
    assert (ScorePanel(np.ones(N), np.full((1, N), N**-0.5), np.zeros(N))(columns) == 0).all()


@pytest.mark.parametrize("scale", [1.0, 1e20, 1e36, 1e-25, 1e-30])
def test_folds_of_columns_of_any_scale(scale):
    rng = np.random.default_rng(0)
    X = (scale * rng.normal(size=(5, N))).astype(np.float32)
    y, folds = rng.normal(size=N) + X[0] / scale, np.arange(N) % 4
    found = FoldsPanel(y[None], folds)(measured(X)[0])
    for fold in range(4):
        keep = folds != fold
        expected = [abs(np.corrcoef(x[keep].astype(float) / scale, y[keep])[0, 1]) for x in X]
        np.testing.assert_allclose(found[fold + 1], expected, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [1e5, 1e6])
def test_an_outlier_does_not_spoil_the_folds_that_leave_it_out(dtype, size):
    rng = np.random.default_rng(0)
    X, folds = rng.normal(size=(3, N)), np.arange(N) % 4
    y = X[0] + rng.normal(size=N)
    X[0, 1] = size
    found = FoldsPanel(y[None], folds)(measured(X.astype(dtype))[0])
    keep = folds != 1
    expected = abs(np.corrcoef(X[0].astype(dtype)[keep].astype(float), y[keep])[0, 1])
    assert found[2, 0] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_float_is_taken_for_a_missing_value(dtype):
    values = np.array([[-32768.0, 0.0, 1.0, 5.0]], dtype)
    columns = measured(values)[0]
    centred = values.astype(np.float64) - values.mean(dtype=np.float64)
    np.testing.assert_allclose(weighted_sums(columns, np.eye(4))[:, 0], centred[0], rtol=1e-6)
