from __future__ import annotations

import numpy as np
import pytest

from backbone_dask.columns import Columns
from backbone_dask.protocols import Screen
from backbone_dask.screens.correlation import correlation
from backbone_dask.screens.entropy import Entropy
from backbone_dask.screens.logistic import logistic, logistic_loss
from backbone_dask.screens.multicategory_svm import multicategory_svm
from backbone_dask.screens.splines import Splines
from backbone_dask.testing.contracts import ScreenContract
from backbone_dask.values import Target, Utilities


class TestCorrelation(ScreenContract):
    @pytest.fixture
    def screen(self) -> Screen:
        return correlation


class TwoClasses(ScreenContract):
    def target(self, response: Target) -> Target:
        return np.where(response > 0, 1.0, -1.0)


class TestLogistic(TwoClasses):
    @pytest.fixture
    def screen(self) -> Screen:
        return logistic


class TestLogisticLoss(TwoClasses):
    @pytest.fixture
    def screen(self) -> Screen:
        return logistic_loss


class ThreeClasses(ScreenContract):
    def target(self, response: Target) -> Target:
        return np.searchsorted(np.quantile(response, [0.3, 0.7]), response).astype(np.float64)


class TestMulticategorySVM(ThreeClasses):
    @pytest.fixture
    def screen(self) -> Screen:
        return multicategory_svm


class TestEntropy(ThreeClasses):
    @pytest.fixture
    def screen(self) -> Screen:
        return Entropy()


class TestSplines(ScreenContract):
    @pytest.fixture
    def screen(self) -> Screen:
        return Splines()


def by_its_place(columns: Columns, y: Target) -> Utilities:
    """A screen whose scores depend on the block."""
    return np.arange(1.0, len(columns.values) + 1)


class TestAScreenThatDependsOnTheBlock:
    """The contract says what is wrong, and the way out."""

    advice = r"(?s)columns.mean and columns.scale.*in a loop over the columns"

    def test_it_hears_why_blocks_must_not_matter(self) -> None:
        with pytest.raises(AssertionError, match=self.advice):
            ScreenContract().test_splitting_into_blocks_changes_no_bit(by_its_place, "float64", 0.0)
        with pytest.raises(AssertionError, match=self.advice):
            ScreenContract().test_a_score_does_not_depend_on_the_neighbours(by_its_place)
