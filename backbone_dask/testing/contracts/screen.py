"""The contract of `protocols.Screen`."""

from __future__ import annotations

import numpy as np
import pytest

from backbone_dask.columns import Columns, measured
from backbone_dask.protocols import Screen
from backbone_dask.testing.planted import MISSING, Dtype, Planted, planted, with_constants
from backbone_dask.values import Target

DTYPES: tuple[Dtype, ...] = ("float32", "float64", "int8", "uint8")


_BY_ITSELF = (
    "the bits of a score depend on which columns are in the same block, so that another number of workers may choose "
    "other features. numpy's mean(1), std(1) and @ add a column in an order that depends on the shape of the block: "
    "use columns.mean and columns.scale, which do not, or sum every column by itself in a fixed order, for "
    "example in a loop over the columns"
)


class ScreenContract:
    """Inherit and provide the fixture ``screen``; pytest runs every promise of the protocol.

    A screen that takes labels overrides `target`, which turns a real response into what the screen takes. A screen
    whose float32 arithmetic is coarser than 1e-4 of a score overrides `tolerance`.
    """

    tolerance: float = 1e-4

    @pytest.fixture
    def screen(self) -> Screen:
        raise NotImplementedError("provide the fixture `screen`: a function of (columns, y)")

    def target(self, response: Target) -> Target:
        """What the screen is given for a real response of shape (samples,)."""
        return response

    def table(self, dtype: Dtype = "float32", missing: float = 0.0) -> Planted:
        """40 features, 5 of them relevant and 7 or more constant."""
        return with_constants(planted(n_samples=150, n_features=40, n_relevant=5, dtype=dtype, missing=missing, seed=1))

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_every_feature_gets_a_finite_score_of_at_least_zero(self, screen: Screen, dtype: Dtype) -> None:
        table = self.table(dtype)
        scores = screen(table.columns, self.target(table.y))
        assert scores.shape == (40,)
        assert scores.dtype == np.float64
        assert np.isfinite(scores).all()
        assert (scores >= 0).all()

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_constant_features_score_zero(self, screen: Screen, dtype: Dtype) -> None:
        table = self.table(dtype)
        scores = screen(table.columns, self.target(table.y))
        constant = table.columns.scale == 0
        assert constant.sum() >= 3
        np.testing.assert_array_equal(scores[constant], 0)
        assert (scores[~constant] > 0).any()

    @pytest.mark.parametrize("dtype", DTYPES)
    @pytest.mark.parametrize("missing", [0.0, 0.1])
    def test_splitting_into_blocks_changes_no_bit(self, screen: Screen, dtype: Dtype, missing: float) -> None:
        columns, y = _with_missing(self.table(dtype), missing), self.target(self.table().y)
        whole = screen(columns, y)
        for cuts in ([7], [1, 2, 39], list(range(1, 40))):
            parts = [screen(columns[rows[0] : rows[-1] + 1], y) for rows in np.split(np.arange(40), cuts)]
            np.testing.assert_array_equal(np.concatenate(parts), whole, err_msg=_BY_ITSELF)

    def test_a_score_does_not_depend_on_the_neighbours(self, screen: Screen) -> None:
        table = self.table()
        y, order = self.target(table.y), np.random.default_rng(0).permutation(40)
        np.testing.assert_array_equal(screen(table.columns[order], y), screen(table.columns, y)[order], _BY_ITSELF)

    def test_an_empty_block_has_no_scores(self, screen: Screen) -> None:
        table = self.table()
        assert screen(table.columns[:0], self.target(table.y)).shape == (0,)

    def test_every_dtype_gives_the_same_scores(self, screen: Screen) -> None:
        table = self.table("uint8")
        y = self.target(table.y)
        expected = screen(table.columns, y)
        for dtype in DTYPES:
            found = screen(measured(table.columns.values.astype(dtype))[0], y)
            np.testing.assert_allclose(found, expected, rtol=self.tolerance, atol=self.tolerance)

    @pytest.mark.parametrize("dtype", ["int8", "uint8"])
    def test_a_missing_value_stands_for_the_mean(self, screen: Screen, dtype: Dtype) -> None:
        table = self.table(dtype, missing=0.2)
        y = self.target(table.y)
        columns = table.columns
        filled = np.where(columns.values == columns.missing, columns.mean[:, None], columns.values)
        expected = screen(measured(filled)[0], y)
        np.testing.assert_allclose(screen(columns, y), expected, rtol=self.tolerance, atol=self.tolerance)

    @pytest.mark.parametrize("dtype", ["int8", "uint8"])
    def test_a_feature_without_any_value_scores_zero(self, screen: Screen, dtype: Dtype) -> None:
        values = np.full((3, 150), MISSING[dtype], dtype)
        values[1, :75] = 1
        assert screen(measured(values, MISSING[dtype])[0], self.target(self.table().y)).tolist() == [0, 0, 0]

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_nothing_is_written_to_the_input(self, screen: Screen, dtype: Dtype) -> None:
        table = self.table(dtype)
        columns, y = table.columns, self.target(table.y)
        arrays = (columns.values, columns.mean, columns.scale, y)
        before = [array.copy() for array in arrays]
        screen(columns, y)
        for array, copy in zip(arrays, before, strict=True):
            np.testing.assert_array_equal(array, copy)

    def test_read_only_input_is_accepted(self, screen: Screen) -> None:
        """Arrays that reached a worker over the network can't be written to."""
        table = self.table()
        y = self.target(table.y)
        expected = screen(table.columns, y)
        for array in (table.columns.values, table.columns.mean, table.columns.scale, y):
            array.flags.writeable = False
        np.testing.assert_allclose(screen(table.columns, y), expected, rtol=1e-6)

    @pytest.mark.parametrize("dtype", DTYPES)
    @pytest.mark.parametrize("missing", [0.0, 0.1])
    def test_the_planted_feature_ranks_first(self, screen: Screen, dtype: Dtype, missing: float) -> None:
        table = planted(n_samples=300, n_features=50, n_relevant=1, snr=5, dtype=dtype, seed=2)
        scores = screen(_with_missing(table, missing), self.target(table.y))
        assert int(scores.argmax()) == table.truth[0]

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_equal_input_gives_equal_bits(self, screen: Screen, dtype: Dtype) -> None:
        table = self.table(dtype)
        y = self.target(table.y)
        np.testing.assert_array_equal(screen(table.columns, y), screen(table.columns, y))


def _with_missing(table: Planted, share: float) -> Columns:
    """The table with a share of its values missing, if its dtype has a code for them."""
    values = table.columns.values.copy()
    code = MISSING.get(values.dtype.name)
    if code is None or share == 0:
        return table.columns
    values[np.random.default_rng(3).random(values.shape) < share] = code
    return measured(values, code)[0]
